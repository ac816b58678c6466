"""The command line: `main` runs it, `commands` has the commands, a module for several of one kind."""
