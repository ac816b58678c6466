"""Stores of every kind: found by the names that a person gives them, and opened by the format that they have."""
