"""Benchmarks with target times: ``python -m benchmarks``."""
