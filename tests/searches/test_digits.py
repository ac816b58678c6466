"""The digits of an index, which searches follow from move to move."""

from dataclasses import replace

import numpy as np
import pytest
from search_problems import scrambled

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.searches.digits import digits_of, split
from antipodes_tasks.spaces.keyed import Keyed
from antipodes_tasks.spaces.selection import numbering_of


@pytest.mark.parametrize("name", ["2x2x2-corner", "m12", "pyraminx", "listed"])
def test_digits_are_those_of_the_index_after_each_move(name: str) -> None:
    listed = {"family": "generators", "name": "p", "n": 6, "moves": {"A": "(0 1 2)", "B": "(2 3)(4 5)"}}
    puzzle = puzzle_from(listed) if name == "listed" else load_config(name).puzzle
    rules = replace(puzzle.rules, enumerated=True) if name == "listed" else puzzle.rules
    numbering = Keyed.of(rules) if name == "listed" else numbering_of(rules)
    digits = digits_of(numbering, rules)
    labels = scrambled(puzzle, 40)
    for one, index in zip(labels, numbering.rank(labels).tolist(), strict=True):
        own = split(index, digits)
        assert sum(digit.weight * value for digit, value in zip(digits, own, strict=True)) == index
        for move in range(len(puzzle.moves)):
            expected = int(numbering.rank(puzzle.moves.move(move, one[np.newaxis])[0])[0])
            made = 0
            for digit, value in zip(digits, own, strict=True):
                if digit.maps is None:
                    made += digit.weight * int(digit.after[value, move])
                else:
                    made += digit.weight * int(digit.after[digit.maps[own[digit.row], move], value])
            assert made == expected
