"""Strategies of a search: what its shards contain, and how its layers are committed. The plan chooses them once."""
