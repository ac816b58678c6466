"""A twisty puzzle with several parts that is small enough for brute force."""

TWO_PARTS = """
Set CORNERS 4 3
Set EDGES 3 1
Solved
CORNERS
1 2 3 4
EDGES
1 1 2
End
Move U
CORNERS
2 3 1 4
1 0 2 0
EDGES
2 3 1
End
Move F
CORNERS
1 4 2 3
End
"""
"""Corners with orientations, and edges of which two are identical; U moves both, F moves only corners."""
