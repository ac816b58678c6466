"""Random small symmetric puzzles whose moves are transforms: their moves and starts are closed under a map."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from transform_puzzles import puzzle_of, transform_puzzles

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.parts import Part, moduli_of, ranges_of
from antipodes_tasks.rules.transforms import Transforms

MAX_MOVES, MAX_STARTS = 14, 6
Move = tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Name, origins, added numbers, and masks of the allowed labels."""


@dataclass(frozen=True)
class Map:
    """A map of positions: the label ``v`` on place ``i`` becomes ``names[i][v]`` on ``places[i]``."""

    places: Sequence[int]
    names: Sequence[Sequence[int]]
    """For each place, the new label of each label."""
    signs: Sequence[int]
    """For each place, the sign with which values are mapped; 0 for pieces."""
    moduli: Sequence[int]

    def start(self, start: Sequence[int]) -> tuple[int, ...]:
        image = list(start)
        for place, content in enumerate(start):
            image[self.places[place]] = self.names[place][content]
        return tuple(image)

    def move(self, move: Move) -> Move:
        """Return the image of a move, which connects the images of positions."""
        name, origin, added, allowed = move
        origins, adds, masks = list(origin), list(added), list(allowed)
        for place, source in enumerate(origin):
            to = self.places[place]
            origins[to] = self.places[source]
            change = self.names[place][0] - self.names[source][0] if self.signs[place] else 0
            adds[to] = (self.signs[place] * added[place] + change) % self.moduli[place]
            masks[to] = sum(1 << self.names[place][v] for v in range(self.moduli[place]) if allowed[place] >> v & 1)
        return name, tuple(origins), tuple(adds), tuple(masks)


@st.composite
def symmetric_puzzles(draw: st.DrawFn) -> Puzzle:
    """Draw a puzzle of up to three parts; its moves and starts are the images of a few under a random map."""
    rules = draw(transform_puzzles()).rules
    moves = rules.moves
    assert isinstance(moves, Transforms)
    one = draw(_maps(rules.parts))
    every = np.array([(1 << modulus) - 1 for modulus in one.moduli], dtype=np.uint64)
    masks: NDArray[np.uint64] = (
        np.tile(every, (len(moves), 1)) if moves.conditions is None else moves.conditions & every
    )
    given: list[Move] = [
        (name, tuple(origin), tuple(added), tuple(mask))
        for name, origin, added, mask in zip(
            moves.names, moves.origin.tolist(), moves.added.tolist(), masks.tolist(), strict=True
        )
    ]
    closed = _closed(given, one.move, MAX_MOVES)
    starts = _closed(list(rules.starts), one.start, MAX_STARTS)
    conditions = None if moves.conditions is None else [move[3] for move in closed]
    names, origins, added, _ = zip(*closed, strict=True)
    return puzzle_of(rules.parts, starts, Transforms(names, origins, one.moduli, added, conditions))


@st.composite
def _maps(draw: st.DrawFn, parts: Sequence[Part]) -> Map:
    places, names, signs = list[int](), list[list[int]](), list[int]()
    for part, at in zip(parts, ranges_of(parts), strict=True):
        here = list(range(at.start, at.stop))
        places += draw(st.one_of(st.just(here), st.permutations(here)))
        if part.counts is not None:
            names += [draw(_renamed(part.counts))] * part.places
            signs += [0] * part.places
            continue
        radix, sign = len(part.symbols), draw(st.sampled_from([1, -1]))
        for _ in here:
            first = draw(st.integers(0, radix - 1))
            names.append([(first + sign * value) % radix for value in range(radix)])
            signs.append(sign)
    return Map(places, names, signs, moduli_of(parts))


@st.composite
def _renamed(draw: st.DrawFn, counts: Sequence[int]) -> list[int]:
    """Draw new names for labels; a label can become any label that is equally frequent."""
    names = list(range(len(counts)))
    for count in set(counts):
        alike = [label for label, one in enumerate(counts) if one == count]
        for label, name in zip(alike, draw(st.permutations(alike)), strict=True):
            names[label] = name
    return names


def _closed(given, image, most):  # type: ignore[no-untyped-def]
    """Return the closure of some items under a map, or only a part of it if it has more than ``most`` items.

    In that case, the map is not a symmetry.
    """
    found = dict.fromkeys(given)
    waiting = list(found)
    while waiting and len(found) < most:
        new = image(waiting.pop())
        if new not in found:
            found[new] = None
            waiting.append(new)
    return list(found)
