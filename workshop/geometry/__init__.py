"""Twisty puzzles from their geometry: ``python -m workshop.geometry`` writes ``configs/twisty`` and its configs."""
