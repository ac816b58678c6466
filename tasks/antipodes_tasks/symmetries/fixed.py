"""The positions that a symmetry leaves as they are, listed without looking at the others.

What is on one place decides what is on all places that the symmetry takes in turn to each other, so such a position is
a choice for each circle of places.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.symmetries.symmetry import Numbers, Symmetry

BATCH = 1 << 16
"""Positions that are completed together."""


class Circle(NamedTuple):
    """Places that a symmetry takes in turn to each other."""

    places: tuple[int, ...]
    contents: tuple[tuple[tuple[int, ...], Numbers], ...]
    """Of places with pieces each choice of labels, and how many pieces of each label of all parts it takes."""


def fixed_positions(symmetry: Symmetry) -> Iterator[Labels]:
    """All contents of the places that the symmetry leaves as they are, in batches ``(n, places)``, reachable or not."""
    rules = symmetry.rules
    counts = [np.array(part.counts or (), dtype=np.int64) for part in rules.parts]
    ends = np.cumsum([len(count) for count in counts])
    first_label = np.repeat(ends - [len(count) for count in counts], [part.places for part in rules.parts])
    has_piece = np.repeat([part.holds_pieces for part in rules.parts], [part.places for part in rules.parts])
    circles = [
        Circle(places, _choices(symmetry, places, first_label, int(ends[-1])) if has_piece[places[0]] else ())
        for places in sorted(circles_of(symmetry.places), key=lambda places: (not has_piece[places[0]], -len(places)))
    ]
    empty = np.zeros((1, rules.places), dtype=np.uint8)
    yield from _completed(symmetry, empty, np.concatenate(counts)[np.newaxis], circles)


def circles_of(places: Numbers) -> list[tuple[int, ...]]:
    """The cycles of a permutation ``(places,)``, those of one place among them."""
    found, seen = [], set[int]()
    for first in range(len(places)):
        if first not in seen:
            circle = [first]
            while (after := int(places[circle[-1]])) != first:
                circle.append(after)
            seen.update(circle)
            found.append(tuple(circle))
    return found


def _choices(
    symmetry: Symmetry, places: tuple[int, ...], first_label: Numbers, labels: int
) -> tuple[tuple[tuple[int, ...], Numbers], ...]:
    """The labels that the places of a circle can have, by the label on its first place."""
    found = []
    for label in range(int(symmetry.moduli[places[0]])):
        chosen = [label]
        for place in places:
            chosen.append(int(symmetry.labels[place, chosen[-1]]))
        if chosen.pop() == label:
            taken = np.bincount([int(first_label[place]) + one for place, one in zip(places, chosen, strict=True)])
            found.append((tuple(chosen), np.pad(taken, (0, labels - len(taken)))))
    return tuple(found)


def _completed(symmetry: Symmetry, positions: Labels, left: Numbers, circles: Sequence[Circle]) -> Iterator[Labels]:
    """The positions ``(n, places)`` with all choices for the circles; ``left`` are the pieces not yet on a place."""
    if not circles:
        yield positions
        return
    circle, *rest = circles
    chosen = (
        _with_pieces(positions, left, circle) if circle.contents else _with_values(symmetry, positions, left, circle)
    )
    found, still_left = chosen
    for begin in range(0, len(found), BATCH):
        yield from _completed(symmetry, found[begin : begin + BATCH], still_left[begin : begin + BATCH], rest)


def _with_pieces(positions: Labels, left: Numbers, circle: Circle) -> tuple[Labels, Numbers]:
    found, still_left = [positions[:0]], [left[:0]]
    for labels, taken in circle.contents:
        fitting = (left >= taken).all(axis=1)
        found.append(positions[fitting])
        found[-1][:, circle.places] = labels
        still_left.append(left[fitting] - taken)
    return np.concatenate(found), np.concatenate(still_left)


def _with_values(symmetry: Symmetry, positions: Labels, left: Numbers, circle: Circle) -> tuple[Labels, Numbers]:
    found, still_left = [positions[:0]], [left[:0]]
    for value in range(int(symmetry.moduli[circle.places[0]])):
        chosen = positions.copy()
        contents = np.full(len(chosen), value, dtype=np.int64)
        for place in circle.places:
            chosen[:, place] = contents
            turned = symmetry.turns[place, chosen[:, symmetry.carriers[place]]].astype(np.int64)
            contents = (symmetry.labels[place, contents] + turned) % symmetry.moduli[place]
        same = contents == value
        found.append(chosen[same])
        still_left.append(left[same])
    return np.concatenate(found), np.concatenate(still_left)
