"""Sets of millions of packed positions, moves of many positions at once, and the graph of reachable positions."""
