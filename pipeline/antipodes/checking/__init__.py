"""Checks of a puzzle's definition: its moves and their inverses, how positions are written, and a small search."""
