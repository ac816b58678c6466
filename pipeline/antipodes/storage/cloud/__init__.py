"""Stores in object storage."""
