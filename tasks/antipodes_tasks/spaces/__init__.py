"""State spaces: the numbering of a puzzle's positions, and its moves as tables of numbers."""
