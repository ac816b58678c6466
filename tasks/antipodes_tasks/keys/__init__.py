"""Positions packed into keys of one or several 64-bit words: packing, moves on keys, and sets of keys."""
