"""The man page and the completions of the wheel: ``python -m workshop.manual`` writes them."""
