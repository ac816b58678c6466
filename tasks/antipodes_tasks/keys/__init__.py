"""Positions as keys, numbers of one word or several: their packing, their moves, and sorted sets of them."""
