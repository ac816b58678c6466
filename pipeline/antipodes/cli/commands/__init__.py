"""The commands, one a file: each parses its arguments, calls one function and prints."""
