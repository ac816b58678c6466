"""All positions of a puzzle as a graph: for other programs, and its components."""
