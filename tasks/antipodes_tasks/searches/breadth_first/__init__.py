"""Layers of positions in hash tables, which `bfs` and `bidirectional` share."""
