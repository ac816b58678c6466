"""``python -m antipodes``: runs the program installed for this Python, whatever ``antipodes`` is on the path."""

from antipodes.cli.program import main

if __name__ == "__main__":  # processes started by a run also import this file
    main()
