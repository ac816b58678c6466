"""The components of puzzles, against brute force over all their positions, and what is published."""

from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest
from brute_force import distances
from hypothesis import given
from strategies import additive_settings, blocks_settings, sliding_settings
from transform_puzzles import transform_puzzles

import antipodes as ap
from antipodes.graphs.components import Component, components
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.families.blocks import placements
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.errors import InputError

SQUARES = 8
"""Squares of boards on which all labels are tried."""


def all_labels(puzzle: Puzzle) -> Iterator[tuple[int, ...]]:
    """All labels with the pieces of a puzzle."""
    symbols = [range(len(part.symbols)) for part in puzzle.parts for _ in range(part.places)]
    return (labels for labels in product(*symbols) if puzzle.rules.holds(list(labels)))


def check(puzzle: Puzzle) -> None:
    left = {bytes(puzzle.checked([labels])[0]) for labels in all_labels(puzzle)}
    expected = Counter[int]()
    while left:
        reached = distances([next(iter(left))], lambda here: map(bytes, puzzle.successors(list(here))))
        assert left >= reached.keys()
        left -= reached.keys()
        expected[len(reached)] += 1
    found = Counter[int]()
    for one in components(puzzle):
        found[one.size] += one.count
        reached = distances([bytes(puzzle.parse(one.example))], lambda here: map(bytes, puzzle.successors(list(here))))
        assert (len(reached), max(reached.values())) == (one.size, one.radius)
    assert found == expected


@given(sliding_settings() | additive_settings())
def test_boards(settings: dict[str, object]) -> None:
    check(puzzle_from(settings))


@given(transform_puzzles().filter(lambda puzzle: puzzle.moves.reversible))
def test_transforms(puzzle: Puzzle) -> None:
    check(puzzle)


@given(blocks_settings().filter(lambda settings: puzzle_from(settings).places <= SQUARES))
def test_blocks_are_placed_in_every_way(settings: dict[str, object]) -> None:
    puzzle = puzzle_from(settings)
    written = [labels for labels in all_labels(puzzle) if is_written(puzzle, labels)]
    assert sorted(placements(puzzle.notation, puzzle.counts)) == sorted(written)


def is_written(puzzle: Puzzle, labels: tuple[int, ...]) -> bool:
    """Whether labels stand for whole blocks: then they can be written, and what is written is read as them."""
    try:
        return puzzle.parse(puzzle.format(labels)).tolist() == list(labels)
    except (InputError, LookupError):
        return False


def test_klotski_has_898_components() -> None:
    found = ap.components("klotski")
    assert (sum(one.count for one in found), sum(one.size * one.count for one in found)) == (898, 65_880)
    assert [one.size for one in found[:2]] == [25_955, 25_955]


def test_half_of_the_eight_puzzle_is_out_of_reach() -> None:
    assert ap.components("eight-puzzle") == [Component(181_440, 31, 2, "0 1 2 3 4 5 6 7 8")]


def test_the_corners_of_the_2x2x2_are_twisted_in_three_ways() -> None:
    assert [(one.size, one.count) for one in ap.components("2x2x2-corner")] == [(3_674_160, 3)]


@pytest.mark.parametrize("settings", [{"family": "jump", "start": "AB-", "offsets": [[0, 1]]}])
def test_moves_that_lead_one_way_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InputError, match="expected moves that can all be undone, found others in one-way"):
        components(puzzle_from({"name": "one-way", **settings}))
