"""Runs: what a run of any kind is, whether it searches a puzzle or a board."""
