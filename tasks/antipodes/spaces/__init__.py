"""State spaces: how the positions of a puzzle are numbered, and what its moves do to the numbers."""
