"""``python -m antipodes``: runs the program installed for this Python, even if ``PATH`` leads to another one."""

from antipodes.cli.program import main

if __name__ == "__main__":  # processes started by a run also import this file
    main()
