"""Positions by the million: packed into words, held in sets, moved together; and all that can be reached."""
