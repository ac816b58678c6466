"""The moves from keys to keys, against the rules, position by position."""

import pickle
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_moves import hanoi, near

from antipodes.puzzles.config import load_config
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.kernels import drop_recent, no_recent
from antipodes_tasks.keys.packing import Packing, rows_of
from antipodes_tasks.keys.sorted_keys import difference, sorted_unique
from antipodes_tasks.rules.parts import MIN_POSITIONS_TO_COMPILE


def check(puzzle: Puzzle, words: int | None = None) -> None:
    packing = Packing.of(puzzle.rules)
    assert packing.words == (words or packing.words)
    expansion, some = Expansion(puzzle.rules, packing), near(puzzle)
    expected = packing.pack(np.concatenate([puzzle.moves.successors(one) for one in some]))
    found = expansion.successors(packing.pack(some))
    assert found.shape[1:] == expected.shape[1:]
    assert (np.unique(rows_of(found), axis=0) == np.unique(rows_of(expected), axis=0)).all()
    assert len(found) <= len(some) * expansion.moves


@pytest.mark.parametrize(("pegs", "discs", "words"), [(3, 5, 1), (4, 40, 2)])
def test_keys_of_several_words(pegs: int, discs: int, words: int) -> None:
    check(hanoi(pegs, discs), words)


@pytest.mark.parametrize(
    ("card", "positions"),
    [("BCDDE./BCF.EG/B.FAAG/HHHI.G/..JIKK/LLJMM.", 4780), ("BB.C../.D.CEE/.DAAFG/H.IIFG/H.JKK./LLJ...", 541_934)],
)
def test_cards_of_rush_hour(card: str, positions: int) -> None:
    """The positions that M. Fogleman's program counts, https://github.com/fogleman/rush."""
    rules = puzzle_from({"name": "card", "family": "blocks", "start": card, "axis": True, "moves": "slides"}).rules
    packing = Packing.of(rules)
    expansion = Expansion(rules, packing)
    before, layer, count = np.zeros(0, dtype=np.uint64), packing.pack(rules.start_labels), 0
    while len(layer):
        count += len(layer)
        before, layer = layer, difference(sorted_unique(expansion.successors(layer)), layer, before)
    assert count == positions


@given(st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1)), max_size=50))
def test_repeats_that_are_dropped_are_repeats(listed: list[int]) -> None:
    keys = np.array(listed, dtype=np.uint64)
    kept = keys[: drop_recent(keys, len(keys), no_recent(1))].tolist()
    assert set(kept) == set(listed)
    assert len(kept) <= len(listed)


@pytest.mark.parametrize("name", ["klotski", "two-blanks", "skewb"])
def test_many_keys_lose_most_repeats(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = load_config(name).puzzle
    packing = Packing.of(puzzle.rules)
    keys, expansion = packing.pack(near(puzzle)), Expansion(puzzle.rules, packing)
    every = expansion.successors(keys)
    monkeypatch.setattr("antipodes_tasks.keys.expansion.MIN_KEYS_TO_FILTER", 1)
    fewer = expansion.successors(keys)
    assert set(fewer.tolist()) == set(every.tolist())
    assert len(set(every.tolist())) <= len(fewer) < len(every)


@pytest.mark.slow
def test_functions_that_are_compiled() -> None:
    """Each is called once for many positions, also where another process got it."""
    compiled = numba.njit(nogil=True)(up)
    three = define_puzzle(name="up", start=[0, 1, 2, 3, 4, 5], moves={"up": compiled})
    check(three)
    check(replace(three, rules=pickle.loads(pickle.dumps(three.rules))))


def up(tiles: Any) -> Any:
    """The tile below the empty square of a board of 3 x 2 moves up."""
    legal = np.zeros(len(tiles), dtype=np.bool_)
    for i in range(len(tiles)):
        for place in range(4):
            if tiles[i, place] == 0:
                tiles[i, place], tiles[i, place + 2] = tiles[i, place + 2], 0
                legal[i] = True
                break
    return tiles, legal


def test_many_positions_are_moved_by_functions_together() -> None:
    """As many as a kernel checks: dials that turn, and one that would turn too far."""

    def turn(dials: Any) -> Any:
        dials[:, 0] += 1
        return dials, dials[:, 0] < 2 if legal else np.ones(len(dials), dtype=np.bool_)

    start = [0] * 15
    rules = define_puzzle(name="dials", radices=[2] * 15, start=start, moves={"turn": turn}).rules
    every = np.arange(MIN_POSITIONS_TO_COMPILE, dtype=np.uint64)
    legal = True
    found = Expansion(rules, Packing.of(rules)).successors(every)
    assert (np.sort(found) == every[every % 2 == 1]).all()
    legal = False
    with pytest.raises(InputError, match="move 'turn': expected labels 0 to 1, found 2"):
        Expansion(rules, Packing.of(rules)).successors(every)


def test_no_positions_have_no_successors() -> None:
    rules = load_config("klotski").puzzle.rules
    packing = Packing.of(rules)
    nothing = packing.pack(rules.start_labels[:0])
    assert Expansion(rules, packing).successors(nothing).shape == nothing.shape == (0,)


def test_moves_that_cannot_be_undone_are_known() -> None:
    there = {"name": "p", "family": "generators", "n": 4, "moves": {"a": [1, 2, 3, 0]}, "turns": "single"}
    for settings, one_way in ((there, True), ({**there, "turns": "quarter"}, False)):
        rules = puzzle_from(settings).rules
        assert Expansion(rules, Packing.of(rules)).one_way == one_way
