"""Depth-first searches to one depth after another, which `iddfs` and `ida_star` share; kernels by kinds of moves."""
