"""Millions of positions at a time: packed into words, stored in sets, and moved; and the graph of reachable ones."""
