"""Symmetries of a puzzle: maps of positions that take starts to starts and moves to moves, preserving distances."""
