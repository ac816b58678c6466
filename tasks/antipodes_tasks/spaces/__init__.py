"""State spaces: the numbers of a puzzle's positions, and its moves as tables of numbers."""
