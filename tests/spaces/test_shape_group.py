"""Reachable positions as shapes and group elements: each combination is listed and compared with other searches."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bandaged import CUBE, Bandaged, from_cycles, random_puzzle
from brute_force import distances

from antipodes.puzzles.config import load_puzzle
from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Packing
from antipodes_tasks.keys.ranges import layers
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.group import Elements
from antipodes_tasks.spaces.shape_group import ShapeGroup, shape_group
from antipodes_tasks.spaces.uniform_sample import uniform_sample

TWINS = Bandaged(
    ["a", "b", "a", "b", "c", "d", "6", "7", "8"],
    from_cycles({"A": "(0 1 2 3 4 5 6 7 8)", "B": "(0 3)(1 4)"}, 9),
    [[0, 1], [2, 3], [4, 5]],
)
WHEELS = {"family": "generators", "moves": {"L": "(0 1 2 3)", "R": "(3 4 5 6)"}}


def _found(rules: Rules) -> ShapeGroup:
    group = shape_group(rules)
    assert group is not None
    return group


def _how_often(rules: Rules) -> Counter[bytes]:
    """Return how many combinations of a shape and an element of the group lead to each position.

    A draw takes all combinations with the same probability.
    """
    group = _found(rules)
    elements = Elements(group.chain).unrank(np.arange(group.chain.order))
    shapes, which = np.divmod(np.arange(len(group.graph.keys) * len(elements)), len(elements))
    return Counter(map(bytes, group.positions(shapes, elements[which])))


def _reachable(rules: Rules) -> set[bytes]:
    def after(here: bytes) -> list[bytes]:
        return [bytes(row) for row in rules.moves.elementary.successors(np.frombuffer(here, dtype=np.uint8))]

    return set(distances(list(map(bytes, rules.given_starts)), after))


def _compare(bandaged: Bandaged) -> None:
    rules = puzzle_from(bandaged.settings).rules
    numbers = {symbol: number for number, symbol in enumerate(rules.symbols)}
    found = _how_often(rules)
    assert found.keys() == {bytes(numbers[symbol] for symbol in position) for position in bandaged.distances()}
    assert len(set(found.values())) == 1


@pytest.mark.parametrize("seed", range(20))
def test_random_puzzles(seed: int) -> None:
    _compare(random_puzzle(seed)[0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_larger_random_puzzles(seed: int) -> None:
    _compare(random_puzzle(seed, largest=8)[0])


def test_identical_pieces_of_several_places() -> None:
    _compare(TWINS)


def test_several_elements_lead_to_each_position_of_identical_pieces() -> None:
    rules = puzzle_from({"name": "p", "family": "square-1", "start": "A1A11B1B-"}).rules
    assert set(_how_often(rules).values()) == {2 * 2}


@pytest.mark.parametrize(
    "settings",
    [
        {"family": "square-1", "start": "A1B23C4D-"},
        {"family": "square-1", "start": "A1B23C4D-", "metric": "twist"},
        {"family": "square-1", "start": "A1A11B1B-"},
        {"family": "square-1", "start": ["A1B23C4D-", "A13CB24D/"]},
        {**WHEELS, "start": "1 2 3 4 5 6 X", "conditions": {"R": "? ? ? [^X] ? ? ?", "L": "[^X] ? ? ? ? ? ?"}},
        {**WHEELS, "start": "A A 2 3 4 5 6", "pieces": [[0, 1]], "free": ["L"]},
    ],
    ids=["square-1", "twist", "identical pieces", "two starts", "conditions", "free moves"],
)
def test_all_combinations_are_the_reachable_positions(settings: dict[str, Any]) -> None:
    rules = puzzle_from({"name": "p", **settings}).rules
    found = _how_often(replace(rules, moves=rules.moves.elementary))
    assert found.keys() == _reachable(rules)
    assert len(set(found.values())) == 1


@pytest.mark.parametrize(
    ("name", "positions"), [("bandaged-2x2x2", 29_160), ("bandaged-2x2x3", 5_760), ("square-1-small", 8_640)]
)
def test_bundled_puzzles(name: str, positions: int) -> None:
    """The same positions are found by the search that lists keys."""
    rules = load_puzzle(name).rules
    packing = Packing.of(rules)
    listed = np.concatenate(list(layers(Expansion(rules, packing), packing.pack(rules.start_labels))))
    found = _how_often(rules)
    assert found == Counter(map(bytes, packing.unpack(listed)))
    assert len(found) == positions


@pytest.mark.slow
def test_published_number_of_positions_of_square_1() -> None:
    """Source: https://www.jaapsch.net/puzzles/square1.htm."""
    group = _found(load_puzzle("square-1").rules)
    assert len(group.graph.keys) * group.chain.order == 62_768_369_664_000


def test_starts_in_different_orbits() -> None:
    start = np.array(CUBE.start)
    other = start.copy()
    other[[0, 4, 17]], other[[1, 16, 13]] = start[[1, 16, 13]], start[[0, 4, 17]]  # exchanges two cubies
    rules = puzzle_from({**CUBE.settings, "start": [" ".join(start), " ".join(other)]}).rules
    assert shape_group(replace(rules, starts=rules.starts[:1])) is not None
    assert shape_group(rules) is None
    drawn = uniform_sample(rules, 2000, np.random.default_rng(1))
    first = _how_often(replace(rules, starts=rules.starts[:1]))
    assert 900 < sum(bytes(one) in first for one in drawn) < 1100


def test_one_way_moves() -> None:
    one_way = {
        "name": "p",
        "family": "generators",
        "turns": "single",
        "start": "1 2 3 X",
        "conditions": {"L": "? 2 ? ?"},
    }
    rules = puzzle_from({**one_way, "moves": {"L": "(0 1 2)", "R": "(2 3)"}}).rules
    assert shape_group(rules) is None
    drawn = uniform_sample(rules, 500, np.random.default_rng(1))
    assert set(map(bytes, drawn)) == _reachable(rules)
