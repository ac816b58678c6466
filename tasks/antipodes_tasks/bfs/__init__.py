"""Breadth-first search over bitmaps: kernels, partitions, groups of partitions, and the check of finished depths."""
