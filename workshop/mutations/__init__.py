"""How many random changes of the program do its tests find? Run ``python -m workshop.mutations --help``."""
