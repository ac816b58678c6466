"""Permutations and arrangements: their ranks, parity and cycles, and the groups that they generate."""
