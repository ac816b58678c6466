"""Searches that solve one position at a time, without a table."""
