"""The commands, some of one kind in a module: each reads its arguments, calls one function and prints."""
