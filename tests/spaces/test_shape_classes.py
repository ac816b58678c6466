"""Classes of positions under free moves: distances and tables against dictionaries that use no code of ours."""

from collections import Counter

import numpy as np
import pytest
from bandaged import Bandaged, from_cycles, random_puzzle

from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.selection import best_space
from antipodes_tasks.spaces.shape_classes import ShapeClasses
from antipodes_tasks.spaces.space import Space


def _depths(space: Space) -> dict[int, int]:
    """Return the distance of each reached entry that a search with the move tables finds."""
    tables, depths = space.filler.filled(), dict[int, int]()
    frontier, depth = np.unique(space.rank(space.starts)), 0
    while len(frontier):
        depths |= dict.fromkeys(frontier.tolist(), depth)
        frontier = np.unique(tables.successors(frontier).indices)
        frontier = frontier[[one not in depths for one in frontier.tolist()]]
        depth += 1
    return depths


def _space(rules: Rules) -> Space:
    space = best_space(rules)
    assert isinstance(space.numbering, ShapeClasses)
    return space


def _compare(bandaged: Bandaged, free: list[str]) -> Space:
    """Compare every reachable position and class of a puzzle with those found with dictionaries."""
    rules = puzzle_from({**bandaged.settings, "free": free}).rules
    expected, space = bandaged.class_distances(free), _space(rules)
    numbers = {symbol: number for number, symbol in enumerate(rules.symbols)}
    labels = np.array([[numbers[symbol] for symbol in position] for position in expected], dtype=np.uint8)
    entries = space.rank(labels).tolist()
    found = _depths(space)
    assert [found[entry] for entry in entries] == [depth for depth, _ in expected.values()]
    by_entry = dict(zip(entries, expected.values(), strict=True))
    assert [by_entry[entry] for entry in entries] == list(expected.values())
    assert len(found) == len({first for _, first in expected.values()})  # one entry for each class
    one_of_each = space.unrank(np.array(sorted(found)))
    assert space.rank(one_of_each).tolist() == sorted(found)
    return space


ROTATING = from_cycles({"T": "(0 1 2 3 4 5)", "S": "(0 6)(1 7)(2 8)"}, 9)
PUZZLES: dict[str, tuple[Bandaged, list[str]]] = {
    "every rotation of a shape": (Bandaged(list("aAbBcC123"), ROTATING, [[0, 1], [2, 3], [4, 5]]), ["T"]),
    "identical pieces": (Bandaged(list("xyxyxy123"), ROTATING, [[0, 1], [2, 3], [4, 5]]), ["T"]),
    "identical pieces of one place": (Bandaged(list("aAbBcCxxy"), ROTATING, [[0, 1], [2, 3], [4, 5]]), ["T"]),
    "two free generators": (
        Bandaged(
            list("aA12bB34"), from_cycles({"T": "(0 1 2 3)", "B": "(4 5 6 7)", "S": "(0 4)(1 5)"}, 8), [[0, 1], [4, 5]]
        ),
        ["T", "B"],
    ),
    "free moves that are not always legal": (Bandaged(list("aAbBcC123"), ROTATING, [[0, 1], [2, 3], [4, 5]]), ["S"]),
    "free moves that generate everything": (
        Bandaged(list("aA123"), from_cycles({"T": "(0 2)(1 3)", "U": "(2 3)", "V": "(3 4)"}, 5), [[0, 1]]),
        ["T", "U"],
    ),
    "no larger pieces": (Bandaged(list("123456"), from_cycles({"T": "(0 1 2 3)", "S": "(2 3 4 5)"}, 6), []), ["T"]),
    "identical pieces, none larger": (
        Bandaged(list("112233"), from_cycles({"T": "(0 1 2 3)", "S": "(2 3 4 5)"}, 6), []),
        ["T"],
    ),
    "only the empty word": (
        Bandaged(list("aA123"), from_cycles({"T": "(2 3)", "U": "(0 1 2 3 4)"}, 5), [[0, 1]]),
        ["U"],
    ),
    "no legal move": (
        Bandaged(list("aA123"), from_cycles({"T": "(0 2)(1 3 4)", "S": "(0 2 3)"}, 5), [[0, 1], [2, 4]]),
        ["T"],
    ),
}


@pytest.mark.parametrize("name", PUZZLES)
def test_classes_and_distances_equal_those_found_with_dictionaries(name: str) -> None:
    _compare(*PUZZLES[name])


@pytest.mark.parametrize("seed", range(12))
def test_classes_of_random_puzzles(seed: int) -> None:
    bandaged, _ = random_puzzle(seed)
    metric = "half" if bandaged.turns == "single" else bandaged.turns
    _compare(bandaged._replace(turns=metric), ["A"])


def test_a_small_relative_of_square_1_in_the_twist_metric() -> None:
    settings = {"name": "small", "family": "square-1", "start": "A1B23C4D-"}
    whole, puzzle = puzzle_from(settings), puzzle_from({**settings, "metric": "twist"})
    space = _space(puzzle.rules)
    found = _depths(space)
    assert list(Counter(found.values()).values()) == [1, 16, 61, 96, 58, 8]
    seen = {bytes(whole.rules.start_labels[0])}
    for position in (waiting := list(seen)):
        for after in map(bytes, whole.moves.successors(np.frombuffer(position, dtype=np.uint8))):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    entries = space.rank(np.array([list(position) for position in seen], dtype=np.uint8))
    assert len(entries) == 8640
    assert Counter(entries.tolist()) == dict.fromkeys(found, 36)  # a class consists of 6 * 6 turns of a position


@pytest.mark.slow
def test_the_classes_and_the_first_layers_of_square_1() -> None:
    space = _space(puzzle_from({"name": "square-1-twist", "family": "square-1", "metric": "twist"}).rules)
    assert space.size == 435_891_456_000
    seen = layer = np.unique(space.rank(space.starts))
    sizes = [len(layer)]
    for _ in range(3):
        layer = np.setdiff1d(space.successors(layer).indices, seen)
        seen = np.union1d(seen, layer)
        sizes.append(len(layer))
    assert sizes == [1, 64, 1153, 17050]  # published layers of Square-1 in the twist metric
