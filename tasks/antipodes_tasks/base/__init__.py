"""Types of arrays, errors, checks of arguments, quoting for messages, machine code, and threads: used everywhere."""
