"""Breadth-first search over bitmaps and over keys: kernels, partitions, segments, and the check of finished depths."""
