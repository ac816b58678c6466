"""Tilings: all ways to fill a board with pieces, searched for, stored, browsed and verified."""
