"""``python -m antipodes``: the program of this Python, whatever ``antipodes`` is on the path."""

from antipodes.program import main

if __name__ == "__main__":  # processes that a run starts import this file, too
    main()
