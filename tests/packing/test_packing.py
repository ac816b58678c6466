"""Positions as keys: what each place can hold, packed, and back."""

import json
from typing import Any

import numpy as np
import pytest
from brute_force import blocks_distances
from hypothesis import given
from random_moves import hanoi, puzzles
from strategies import blocks_settings, sliding_settings

from antipodes.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.errors import FieldError, SizeLimitError
from antipodes_tasks.keys.fields import MANY
from antipodes_tasks.keys.packing import Packing, packing_of
from antipodes_tasks.reachability.move_graph import move_graph
from antipodes_tasks.rules.moves import Labels

MOST = 20_000


def reached(puzzle: Puzzle) -> Labels:
    return move_graph(puzzle.start_labels, puzzle.moves, puzzle.parts, MOST).labels


def check(puzzle: Puzzle) -> None:
    """Keys and back, few positions and many."""
    packing, labels = Packing.of(puzzle.rules), reached(puzzle)
    keys = packing.pack(labels)
    assert packing.fit(labels).all()
    assert keys.shape == ((len(labels),) if packing.words == 1 else (len(labels), packing.words))
    assert len(np.unique(keys, axis=0)) == len(labels)
    assert (packing.unpack(keys) == labels).all()
    many = np.resize(labels, (MANY, puzzle.places))
    assert (packing.pack(many) == np.resize(keys, (MANY, *keys.shape[1:]))).all()
    assert (packing.unpack(packing.pack(many)) == many).all()
    assert packing_of(json.loads(json.dumps(packing.record()))) == packing
    if packing.words == 1:
        assert int(keys.max()) < 1 << packing.bits


@given(puzzles())
def test_transforms(puzzle: Puzzle) -> None:
    check(puzzle)


@given(sliding_settings())
def test_tiles(settings: dict[str, Any]) -> None:
    check(puzzle_from(settings))


@given(blocks_settings())
def test_blocks(settings: dict[str, Any]) -> None:
    check(puzzle_from(settings))
    assert len(reached(puzzle_from(settings))) == len(blocks_distances(settings))


def test_places_have_bits_for_what_they_can_hold() -> None:
    assert Packing.of(load_config("three-colours").puzzle.rules).bits == 32
    assert Packing.of(load_config("klotski").puzzle.rules).words == 1
    cars = puzzle_from({"name": "p", "family": "blocks", "start": "AA./..B/..B", "axis": True})
    empty, a, b = range(3)
    first, second, last = (empty, a), (empty, a), (empty, b)
    assert Packing.of(cars.rules).contents == (first, second, last, *[(empty,)] * 2, last, *[(empty,)] * 3)
    card = puzzle_from({"name": "p", "family": "blocks", "start": FOGLEMAN, "axis": True})
    assert Packing.of(card.rules).bits == 52


FOGLEMAN = "BCDDE./BCF.EG/B.FAAG/HHHI.G/..JIKK/LLJMM."
"""A card of Rush Hour that takes 51 moves (M. Fogleman)."""


def test_what_cannot_be_reached_does_not_fit() -> None:
    cars = puzzle_from({"name": "p", "family": "blocks", "start": "AA./..B/..B", "axis": True})
    others = np.array([cars.start_labels[0], [0, 0, 2, 1, 3, 3, 0, 0, 0]], dtype=np.uint8)
    assert Packing.of(cars.rules).fit(others).tolist() == [True, False]


def test_large_positions_have_several_words() -> None:
    puzzle = hanoi(7, 64)
    assert Packing.of(puzzle.rules).words == 4


def test_positions_of_too_many_words_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes_tasks.keys.packing.MOST_WORDS", 3)
    with pytest.raises(SizeLimitError, match=r"at most 3 words of 64 bits, found 4 words: 64 places of .* 192 bits"):
        Packing.of(hanoi(7, 64).rules)


@pytest.mark.parametrize(
    "footprints",
    [
        3,
        {},
        {"rest": 3},
        {"rest": 256, "every": []},
        {"rest": 3, "every": [[0, 1]]},
        {"rest": 3, "every": [[0, 1, [4]]]},
    ],
)
def test_records_of_other_footprints_are_refused(footprints: object) -> None:
    with pytest.raises(FieldError, match="footprints: expected"):
        packing_of({"contents": [2, 2, 2, 2], "footprints": footprints})


@pytest.mark.parametrize("content", [0, 257, True, [], [1, 0], [1, 1], [-1], [256], "3", None])
def test_records_of_something_else_are_refused(content: object) -> None:
    with pytest.raises(FieldError, match="contents: expected labels from 0 to 255"):
        packing_of({"contents": [2, content]})


def test_records_without_contents_are_refused() -> None:
    with pytest.raises(FieldError, match="contents: expected a list, found None"):
        packing_of({})
