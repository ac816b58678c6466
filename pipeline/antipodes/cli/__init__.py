"""The command line: `main` runs it, and `commands` contains the commands."""
