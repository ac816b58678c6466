"""Tilings: all ways to fill a board with a set of pieces, found by exact-cover search."""
