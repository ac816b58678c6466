"""Random symmetric puzzles whose moves are functions: they also have all symmetric images of each move."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from own_puzzles import random_puzzle

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.functions import Function, Functions
from antipodes_tasks.rules.parts import Part, ranges_of

MOST = 24
"""Maximum number of symmetries in a random group."""


class Map:
    """A map of positions: the label on each place is renamed and goes to another place."""

    def __init__(self, places: NDArray[np.int64], labels: NDArray[np.int64]) -> None:
        """``places`` ``(places,)`` are the new places, ``labels`` ``(places, labels)`` the new labels on each place."""
        self.places, self.labels = places, labels
        self.key = places.tobytes() + labels.tobytes()

    def __call__(self, positions: Any) -> Any:
        images = np.empty_like(positions)
        images[:, self.places] = self.labels[np.arange(len(self.places)), positions]
        return images

    def after(self, first: "Map") -> "Map":
        """Return the map that applies ``first`` and then this map."""
        to = first.places
        return Map(self.places[to], np.take_along_axis(self.labels[to], first.labels, axis=1))

    @property
    def inverse(self) -> "Map":
        """The inverse map."""
        places = np.argsort(self.places)
        return Map(places, np.argsort(self.labels, axis=1)[places])


def random_map(parts: Sequence[Part], rng: np.random.Generator) -> Map:
    """Return a map that permutes places within parts and renames values, and pieces if all kinds are equally many."""
    count = sum(part.places for part in parts)
    places, labels = np.arange(count), np.tile(np.arange(max(len(part.symbols) for part in parts)), (count, 1))
    for part, at in zip(parts, ranges_of(parts), strict=True):
        if rng.integers(3):
            places[at] = rng.permutation(places[at])
        if part.counts is None:
            for place in range(at.start, at.stop):
                labels[place, : len(part.symbols)] = rng.permutation(len(part.symbols))
        elif len(set(part.counts)) == 1:
            labels[at, : len(part.counts)] = rng.permutation(len(part.counts))
    return Map(places, labels)


def group_of(one: Map) -> list[Map]:
    """Return the powers of a map, the identity first; an empty list if there are more than MOST."""
    count, most = one.labels.shape
    found = [Map(np.arange(count), np.tile(np.arange(most), (count, 1)))]
    while len(found) < MOST:
        power = one.after(found[-1])
        if power.key == found[0].key:
            return found
        found.append(power)
    return []


def symmetric_function_puzzle(seed: int) -> Puzzle | None:
    """Return a random symmetric puzzle; None if its group is too large or contains only the identity."""
    puzzle, rng = random_puzzle(seed), np.random.default_rng(seed)
    group = group_of(random_map(puzzle.parts, rng))
    if len(group) < 2:
        return None
    functions = puzzle.moves
    assert isinstance(functions, Functions)
    moves = {
        f"{name}-{number}": _conjugated(functions, at, each)
        for at, name in enumerate(functions.names)
        for number, each in enumerate(group)
    }
    starts = np.unique(np.concatenate([each(puzzle.start_labels) for each in group]), axis=0)
    symmetric = Functions(moves, puzzle.parts, symmetries={"one": group[1]})
    rules = replace(puzzle.rules, moves=symmetric)
    return Puzzle.of("own-symmetric", "python", "", puzzle.notation, rules.parts, tuple(map(tuple, starts)), symmetric)


def _conjugated(functions: Functions, number: int, by: Map) -> Function:
    back = by.inverse

    def moved(positions: Any) -> Any:
        after, legal = functions.move(number, back(positions).astype(np.uint8))
        return by(after.astype(np.int64)), legal

    return moved
