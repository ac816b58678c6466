"""The towers of Hanoi, a small puzzle whose table is reduced by a symmetry, which exchanges two pegs."""

from antipodes.puzzles.config import Config

TOWERS = Config({"name": "towers", "family": "hanoi", "pegs": 3, "discs": 6})
