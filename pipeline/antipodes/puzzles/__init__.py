"""Puzzles: places, the labels on them, and the moves that permute the places; how positions are read and drawn."""
