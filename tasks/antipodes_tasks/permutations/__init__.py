"""Permutations and arrangements: their ranks, parities and cycles, and the groups that permutations generate."""
