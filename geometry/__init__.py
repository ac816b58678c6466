"""Twisty puzzles from geometry: ``python -m geometry`` writes ``configs/twisty`` and the configs that use it."""
