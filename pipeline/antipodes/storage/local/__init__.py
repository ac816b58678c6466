"""Stores in the file system."""
