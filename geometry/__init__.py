"""Twisty puzzles from their geometry: ``python -m geometry`` writes ``configs/twisty`` and the configs beside it."""
