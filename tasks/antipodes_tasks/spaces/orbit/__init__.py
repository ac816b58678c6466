"""The space of puzzles of several parts: a product of arrangements and values, cut into row and column."""
