"""Positions as keys: what each place can hold, packed, and back."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_moves import hanoi, near

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import FieldError, SizeLimitError
from antipodes_tasks.keys.bit_fields import MIN_POSITIONS_TO_COMPILE
from antipodes_tasks.keys.packing import Packing, packing_of


def check(puzzle: Puzzle) -> None:
    """Keys and back, few positions and many."""
    packing, labels = Packing.of(puzzle.rules), near(puzzle)
    keys = packing.pack(labels)
    assert packing.fit(labels).all()
    assert keys.shape == ((len(labels),) if packing.words == 1 else (len(labels), packing.words))
    assert len(np.unique(keys, axis=0)) == len(labels)
    assert (packing.unpack(keys) == labels).all()
    many = np.resize(labels, (MIN_POSITIONS_TO_COMPILE, puzzle.places))
    for stored in (many, np.asfortranarray(many)):
        assert (packing.pack(stored) == np.resize(keys, (MIN_POSITIONS_TO_COMPILE, *keys.shape[1:]))).all()
    assert (packing.unpack(packing.pack(many)) == many).all()
    assert packing_of(json.loads(json.dumps(packing.record()))) == packing
    if packing.words == 1:
        assert int(keys.max()) < 1 << packing.bits


@pytest.mark.parametrize("name", ["klotski", "two-blanks", "three-colours"])
def test_many_positions_are_packed_as_few(name: str) -> None:
    check(load_config(name).puzzle)


def test_places_have_bits_for_what_they_can_hold() -> None:
    assert Packing.of(load_config("three-colours").puzzle.rules).bits == 32
    cars = puzzle_from({"name": "p", "family": "blocks", "start": "AA./..B/..B", "axis": True})
    empty, a, b = range(3)
    first, second, last = (empty, a), (empty, a), (empty, b)
    assert Packing.of(cars.rules).contents == (first, second, last, *[(empty,)] * 2, last, *[(empty,)] * 3)


@pytest.mark.parametrize(
    ("settings", "bits"),
    [
        ({"start": "BCDDE./BCF.EG/B.FAAG/HHHI.G/..JIKK/LLJMM.", "axis": True}, 30),  # a card of M. Fogleman's
        ({"start": "ABBC/ABBC/DEEF/DGHF/I..J"}, 31),  # klotski: 886, 12, 15 and 4,845 sets are 10 + 4 + 4 + 13 bits
        ({"start": "AABCC/DDBEE/FFGHH/IJGKK/L.M.."}, 35),
        ({"start": "A.../..../..../...."}, 4),
        ({"start": "AB../...C/..../....", "distinct": True}, 12),
        ({"start": "ABCDEFGH/IJKLMNOP/QRSTUVWX/......../......../......../......../........"}, 64),
    ],
)
def test_blocks_take_the_fewest_bits(settings: dict[str, Any], bits: int) -> None:
    """Equal blocks are sets of places; twenty-four on an 8 x 8 board have too many, so that each place has a bit."""
    assert Packing.of(puzzle_from({"name": "p", "family": "blocks", **settings}).rules).bits == bits


def test_neighbours_share_fields_where_that_saves_a_word() -> None:
    """Two kinds of tiles and empty places on 36 squares: 2 bits each, or five in 8 bits and ten in 16."""
    start = " ".join(["1 2 1 2 1 2"] * 5 + ["1 1 2 2 0 0"])
    packing = Packing.of(puzzle_from({"name": "p", "family": "sliding", "rows": 6, "columns": 6, "start": start}).rules)
    assert (packing.words, packing.bits) == (1, 58)
    assert replace(packing, groups=()).words == 2


def test_what_cannot_be_reached_does_not_fit() -> None:
    cars = puzzle_from({"name": "p", "family": "blocks", "start": "AA./..B/..B", "axis": True})
    others = np.array([cars.start_labels[0], [0, 0, 2, 1, 3, 3, 0, 0, 0]], dtype=np.uint8)
    assert Packing.of(cars.rules).fit(others).tolist() == [True, False]


def test_large_positions_have_several_words() -> None:
    puzzle = hanoi(7, 64)
    assert Packing.of(puzzle.rules).words == 4


def test_positions_of_too_many_words_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes_tasks.keys.packing.MAX_WORDS", 3)
    with pytest.raises(SizeLimitError, match=r"64 places of .* 192 bits, hence 4 words of 64 bits .* limit is 3 words"):
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
        {"rest": 3, "every": [[0, 1, []], [0, 1, [2]]]},
    ],
)
def test_records_of_other_footprints_are_refused(footprints: object) -> None:
    with pytest.raises(FieldError, match="footprints: expected"):
        packing_of({"version": 2, "contents": [2, 2, 2, 2], "footprints": footprints})


@pytest.mark.parametrize("content", [0, 257, True, [], [1, 0], [1, 1], [-1], [256], "3", None])
def test_records_of_something_else_are_refused(content: object) -> None:
    with pytest.raises(FieldError, match="contents: expected labels from 0 to 255"):
        packing_of({"version": 2, "contents": [2, content]})


def test_records_without_contents_are_refused() -> None:
    with pytest.raises(FieldError, match="contents: expected a list, found None"):
        packing_of({"version": 2})


def test_records_of_another_version_are_refused() -> None:
    for version in (None, 1, True, 2.0):
        with pytest.raises(FieldError, match=f"version: expected 2, found {version}; another version wrote the store"):
            packing_of({"version": version, "contents": [2, 2]})


@pytest.mark.parametrize("groups", [3, [0, 2], [1, 2], [True, 1], None])
def test_records_of_other_groups_are_refused(groups: object) -> None:
    with pytest.raises(FieldError, match="groups: expected"):
        packing_of({"version": 2, "contents": [2, 2], "groups": groups})


@pytest.mark.parametrize(
    "pieces", [3, [1], [[1]], [[1, 0]], [[1, 3]], [[1, 1], [1, 1]], [[2, 1]], [[True, 1]], [[1, 10**12]], None]
)
def test_records_of_other_pieces_are_refused(pieces: object) -> None:
    footprints = {"rest": 2, "every": [[0, 1, []], [1, 1, []]]}
    with pytest.raises(FieldError, match=r"pieces: (expected|blocks)"):
        packing_of({"version": 2, "contents": [2, 2], "groups": [2], "footprints": footprints, "pieces": pieces})


def test_groups_of_too_many_bits_are_refused() -> None:
    with pytest.raises(FieldError, match="groups: expected fields of at most 10 bits, found"):
        packing_of({"version": 2, "contents": [256] * 9, "groups": [9]})


def test_pieces_need_fields_after_those_of_places() -> None:
    footprints = {"rest": 2, "every": [[0, 1, []], [1, 1, []]]}
    with pytest.raises(FieldError, match="groups: the groups of places are missing, but pieces needs them"):
        packing_of({"version": 2, "contents": [2, 2], "footprints": footprints, "pieces": [[1, 1]]})
