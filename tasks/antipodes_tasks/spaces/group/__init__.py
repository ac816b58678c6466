"""The space of puzzles whose pieces all differ: exactly the elements of a permutation group."""
