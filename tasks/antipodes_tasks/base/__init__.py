"""Errors, checks of arguments, quoting for messages, machine code, and work on threads: used by all other packages."""
