"""The state space of a store is built again from its record; all spaces of a puzzle number its positions alike."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import puzzle_settings, spaces_of

from antipodes.errors import FieldError
from antipodes.puzzles.families import puzzle_from
from antipodes.spaces.selection import best_space, numbering_space, stored_space


@settings(deadline=None, max_examples=60)
@given(puzzle_settings())
def test_a_space_is_built_again_from_its_record(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    for space in spaces_of(puzzle):
        again = stored_space(puzzle, space.record)
        assert (again.rows, again.width) == (space.rows, space.width)
    assert best_space(puzzle) in spaces_of(puzzle)


@settings(deadline=None, max_examples=60)
@given(puzzle_settings())
def test_all_spaces_of_a_puzzle_have_the_same_indices(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    labels = numbering_space(puzzle).unrank(np.arange(numbering_space(puzzle).size))
    for space in spaces_of(puzzle):
        assert space.rank(labels).tolist() == list(range(space.size))
        assert space.rows % space.block_rows == 0


def test_a_record_of_no_space() -> None:
    puzzle = puzzle_from({"name": "p", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0"})
    with pytest.raises(FieldError, match="match no row/column split"):
        stored_space(puzzle, replace(best_space(puzzle).record, rows=7))


def test_a_space_can_be_sent_to_other_processes() -> None:
    space = best_space(puzzle_from({"name": "p", "family": "sliding", "rows": 2, "columns": 3, "start": "1 1 2 3 4 0"}))
    sent = pickle.loads(pickle.dumps(space))
    assert sent == space
    assert all(map(np.array_equal, sent.move_tables(), space.move_tables()))
