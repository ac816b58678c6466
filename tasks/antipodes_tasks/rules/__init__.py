"""What a puzzle is to a worker: its parts, starts and moves, without names, texts and drawings."""
