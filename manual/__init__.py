"""The man page and the completions of the wheel: ``python -m manual`` writes them."""
