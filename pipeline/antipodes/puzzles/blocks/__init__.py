"""Blocks: pieces of one or more squares that slide on a board."""
