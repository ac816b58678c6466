"""Puzzles whose pieces all differ: their positions are numbered without gaps, and their tables follow their moves."""

from dataclasses import replace
from math import factorial
from typing import Any

import numpy as np
import pytest
from brute_force import layers_of
from group_puzzles import KNOWN, group_space, of_parts, pancakes_of, twisty
from hypothesis import given
from hypothesis import strategies as st
from oracles import ORACLES
from search_problems import pancakes, tiles
from strategies import any_contents
from table_search import layers_by_engine, layers_by_tables

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.base.errors import ConfigError, FieldError, InputError
from antipodes_tasks.rules.parts import pieces, values
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.group_points import points_of
from antipodes_tasks.spaces.selection import index_size, stored_space
from antipodes_tasks.spaces.space import NOT_NUMBERED


def test_labels_that_no_position_has_are_not_numbered() -> None:
    space = group_space(pancakes((0, 1, 2, 3)))
    labels = np.array([[0, 1, 2, 200], [0, 0, 0, 0], [0, 1, 1, 3], [0, 1, 2, 3]], dtype=np.uint8)
    assert space.rank(labels).tolist() == [NOT_NUMBERED] * 3 + [0]


TWO = group_space(KNOWN["2x2x2"][0])


@pytest.mark.parametrize("name", KNOWN)
def test_known_numbers_of_positions(name: str) -> None:
    puzzle, order = KNOWN[name]
    space = group_space(puzzle)
    assert space.size == Group.size_for(puzzle.rules) == order
    assert space.filler.table_bytes < 20e6
    sample = np.random.default_rng(1).integers(0, order, 200)
    positions = puzzle.checked(space.unrank(sample))
    assert (space.rank(positions) == sample).all()
    by_tables = space.filler.filled().successors(sample)
    assert not len(space.successors(sample).differing(by_tables))


@pytest.mark.slow
def test_published_layers_of_the_2x2x2() -> None:
    space = group_space(twisty("2x2x2.tws", turns="quarter"))
    assert layers_by_engine(space.filler.filled()) == ORACLES["twisty"]["2x2x2 no fixed corner, quarter turns"]


def test_connected_starts_share_a_space() -> None:
    one, parts = pancakes((0, 1, 2)), [pieces((0, 1, 2), tuple("ABC"))]
    both = of_parts(parts, [0, 1, 2], one.moves, [2, 1, 0])  # type: ignore[arg-type]
    assert Group.can_number(both.rules)
    assert sorted(group_space(both).rank(both.start_labels).tolist())[0] == 0


def test_unconnected_starts_have_no_group() -> None:
    rotation = Transforms.permuting({"R": [1, 2, 0]}, 3)
    parts = [pieces((0, 1, 2), tuple("ABC"))]
    assert Group.can_number(of_parts(parts, [0, 1, 2], rotation, [1, 2, 0]).rules)
    assert not Group.can_number(of_parts(parts, [0, 1, 2], rotation, [1, 0, 2]).rules)


UNSUITED = {
    "equal pieces": pancakes((0, 0, 1)),
    "swaps": tiles(2, 2, "1 2 3 0"),
    "values that move": of_parts([values(2, 2)], [0, 1], Transforms("A", [[1, 0]], [2, 2])),
    "labels that are added to": of_parts(
        [pieces((0, 1), tuple("AB"))], [0, 1], Transforms("A", [[0, 1]], [2, 2], [[1, 1]])
    ),
    "twists that go elsewhere": of_parts(
        [pieces((0, 1), tuple("AB")), values(2, 2, twists=True)],
        [0, 1, 0, 0],
        Transforms("A", [[1, 0, 2, 3]], [2, 2, 2, 2]),
    ),
    "conditions": of_parts([pieces((0, 1), tuple("AB"))], [0, 1], Transforms("A", [[1, 0]], [2, 2], None, [[1, 3]])),
}


@pytest.mark.parametrize("name", UNSUITED)
def test_puzzles_that_are_no_groups(name: str) -> None:
    assert not Group.can_number(UNSUITED[name].rules)
    with pytest.raises(FieldError):
        Group.restored(UNSUITED[name].rules, group_space(pancakes((0, 1, 2))).record)


def test_the_order_of_a_group_beyond_64_bits() -> None:
    assert Group.size_for(pancakes_of(30).rules) == factorial(30)
    with pytest.raises(ConfigError, match=r"expected at most 2\^63 - 1 positions, found more than 10\^38"):
        Group.size_for(pancakes_of(200).rules)


def test_a_group_too_large_to_search_is_left_to_the_other_spaces() -> None:
    count = 40
    turned = [*range(2, 2 * count), 0, 1]
    moves = {"turn": turned, "swap": [2, 3, 0, 1, *range(4, 2 * count)], "flip": [1, 0, *range(2, 2 * count)]}
    puzzle = puzzle_from({"name": "pairs", "family": "generators", "n": 2 * count, "moves": moves})
    assert not Group.can_number(puzzle.rules)
    assert index_size(puzzle.rules) == factorial(2 * count)


def test_a_puzzle_without_a_group_has_no_order() -> None:
    with pytest.raises(InputError, match="do not form a group"):
        Group.size_for(tiles(2, 2, "1 2 3 0").rules)


def test_a_bound_of_the_bytes_in_use() -> None:
    assert sum(array.nbytes for array in TWO.filler.filled()[:3]) == TWO.filler.table_bytes
    assert TWO.filler.building_bytes(2) < 20e6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": 7}, "rows: 7 rows of 648 columns match no row/column split"),
        ({"rows": 648, "width": 136080}, "match no row/column split"),
        ({"details": {}}, "base: expected lists of integers, found None"),
        (
            {"details": {**TWO.record.details, "base": [0, 3]}},
            "generators: they are not strong generators for the base",
        ),
        ({"details": {**TWO.record.details, "generators": []}}, "the group does not contain all moves"),
        ({"details": {"base": [], "generators": []}}, "the group does not contain all moves"),
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


@pytest.mark.slow
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


@pytest.mark.parametrize("name", ["skewb", "lights-out-5x5", "pyraminx-faces", "m12"])
def test_compiled_code_writes_the_same_permutations(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = load_config(name).puzzle
    points = points_of(puzzle.rules)
    assert points is not None
    labels = any_contents(puzzle, 300)
    labels[::3, 2] = 200  # no label of the puzzle
    found = []
    for few in (0, 1 << 60):
        monkeypatch.setattr("antipodes_tasks.spaces.group_points.MAX_NUMPY_IMAGES", few)
        found.append(points.permutations(labels))
    assert np.array_equal(*found)
    assert not found[0][::3].any()
