"""Puzzles: their places, labels and moves, and notations that read, write and draw positions."""
