"""Towers of Hanoi, of which two pegs can be exchanged: a small puzzle whose tables symmetries reduce."""

from antipodes.puzzles.config import Config

TOWERS = Config({"name": "towers", "family": "hanoi", "pegs": 3, "discs": 6})
