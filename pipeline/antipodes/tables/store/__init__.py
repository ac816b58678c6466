"""A table on disk: its manifest, its arrays, and the chunks that queries read."""
