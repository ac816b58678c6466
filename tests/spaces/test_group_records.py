"""The record of a group's space: it makes the same space again, and damaged ones are refused."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from brute_force import layers_of
from group_puzzles import KNOWN, group_space, puzzles
from hypothesis import given
from hypothesis import strategies as st
from search_problems import pancakes
from table_search import layers_by_tables

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.errors import FieldError
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.selection import every_cut, stored_space


@given(puzzles())
def test_a_space_is_built_again_from_its_record(puzzle: Puzzle) -> None:
    for space in every_cut(puzzle.rules, Group.of(puzzle.rules)):
        again = stored_space(puzzle.rules, space.record)
        assert again == space
        assert (again.unrank(np.arange(space.size)) == space.unrank(np.arange(space.size))).all()


TWO = group_space(KNOWN["2x2x2"][0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": 7}, "rows: 7 rows of 648 columns match no row/column split"),
        ({"rows": 648, "width": 136080}, "match no row/column split"),
        ({"details": {}}, "base: expected lists of integers, found None"),
        ({"details": {**TWO.record.details, "base": [0, 3]}}, "expected strong generators"),
        ({"details": {**TWO.record.details, "generators": []}}, "expected those of a group that has all moves"),
        ({"details": {"base": [], "generators": []}}, "expected those of a group that has all moves"),
    ],
)
def test_records_of_other_spaces_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError, match=message):
        stored_space(KNOWN["2x2x2"][0].rules, replace(TWO.record, **changes))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=8,
)


@given(st.data())
def test_damaged_records_are_refused_or_number_the_same_group(data: st.DataObject) -> None:
    puzzle = pancakes((0, 1, 2, 3))
    record = group_space(puzzle).record
    details = {name: list(values) for name, values in record.details.items()}
    name = data.draw(st.sampled_from(sorted(details)))
    if data.draw(st.booleans()):
        details[name] = data.draw(anything)
    elif details[name]:
        details[name][data.draw(st.integers(0, len(details[name]) - 1))] = data.draw(
            anything | st.permutations(range(4)).map(list)
        )
    try:
        space = stored_space(puzzle.rules, replace(record, details=details))
    except FieldError:
        return
    assert space.rank(space.unrank(np.arange(space.size))).tolist() == list(range(24))
    assert layers_by_tables(space.filler.filled()) == layers_of(puzzle)


def test_a_record_of_another_puzzle_is_refused() -> None:
    with pytest.raises(FieldError, match="expected permutations of 24 points"):
        stored_space(KNOWN["2x2x2"][0].rules, group_space(KNOWN["dino"][0]).record)


def test_a_space_is_sent_to_other_processes_without_its_tables() -> None:
    TWO.filler.filled()
    sent = pickle.loads(pickle.dumps(TWO))
    assert sent == TWO
    assert len(pickle.dumps(TWO)) < 20_000
    assert (sent.unrank(np.arange(100)) == TWO.unrank(np.arange(100))).all()
