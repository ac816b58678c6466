"""A table on disk: its manifest, its array of depths, and the chunks that queries read."""
