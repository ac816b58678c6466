"""Tilings: all ways to fill a board with pieces, searched for, counted, stored, browsed, verified and drawn."""
