"""What the project promises about speed, measured: ``python -m benchmarks``."""
