"""Solvers: searches for shortest solutions of single positions, without a table of all positions."""
