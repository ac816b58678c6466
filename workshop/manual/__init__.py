"""The man page and completions of the wheel, and parts of the reference: ``python -m workshop.manual`` writes them."""
