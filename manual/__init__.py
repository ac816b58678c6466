"""The man page and the shell completions in the wheel; ``python -m manual`` writes them."""
