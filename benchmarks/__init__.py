"""Benchmarks of the promised speeds: ``python -m benchmarks``."""
