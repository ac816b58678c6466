"""Random small puzzles of several parts whose moves are transforms, and their spaces."""

from collections.abc import Iterable, Sequence
from itertools import chain
from math import prod

import numpy as np
from hypothesis import strategies as st

from antipodes.puzzles.notation import Lists
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.parts import Part, pieces, values
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.selection import every_cut
from antipodes_tasks.spaces.space import Space

MAX_POSITIONS = 700


def puzzle_of(parts: tuple[Part, ...], starts: list[tuple[int, ...]], moves: Transforms) -> Puzzle:
    """Return a puzzle without a family."""
    return Puzzle.of("random", "random", "", Lists(tuple(part.places for part in parts)), parts, tuple(starts), moves)


@st.composite
def transform_puzzles(draw: st.DrawFn) -> Puzzle:
    """Draw a puzzle of one to three parts with pieces or values, some starts, and moves that may have conditions.

    Moves may share names, even moves that are legal in the same position.
    """
    parts = draw(st.lists(_parts(), min_size=1, max_size=3).filter(_is_small))
    starts = [_joined(draw(_contents(part)) for part in parts) for _ in range(draw(st.integers(1, 2)))]
    count = draw(st.integers(1, 4))
    moduli = [len(part.symbols) for part in parts for _ in range(part.places)]
    origin = [_joined(draw(_origins(parts, number)) for number in range(len(parts))) for _ in range(count)]
    added = [_joined(draw(_added(part)) for part in parts) for _ in range(count)]
    allowed = draw(st.none() | st.just([[draw(_masks(modulus)) for modulus in moduli] for _ in range(count)]))
    names = draw(st.lists(st.sampled_from("AB"), min_size=count, max_size=count))
    moves = Transforms(names, origin, moduli, added, allowed)
    return puzzle_of(tuple(parts), starts, moves)


def _joined(parts: Iterable[Sequence[int]]) -> tuple[int, ...]:
    return tuple(chain.from_iterable(parts))


def _is_small(parts: list[Part]) -> bool:
    return prod(part.size for part in parts) <= MAX_POSITIONS


@st.composite
def _parts(draw: st.DrawFn) -> Part:
    if draw(st.booleans()):
        counts = draw(
            st.sampled_from([(1, 1, 1, 1), (1,) * 5, (2, 1, 1), (2, 2), (1, 3, 1), (1, 0, 2), (1, 1, 1), (2,)])
        )
        return pieces(tuple(np.repeat(range(len(counts)), counts).tolist()), tuple("abcdefg"[: len(counts)]))
    return values(draw(st.integers(1, 4)), draw(st.integers(2, 3)))


def _contents(part: Part) -> st.SearchStrategy[tuple[int, ...]]:
    if part.counts is not None:
        return st.permutations(np.repeat(range(len(part.counts)), part.counts).tolist()).map(tuple)
    return st.tuples(*[st.integers(0, len(part.symbols) - 1)] * part.places)


def _origins(parts: list[Part], number: int) -> st.SearchStrategy[list[int]]:
    """Return a strategy for permutations of the places of a part, often the identity."""
    first = sum(part.places for part in parts[:number])
    still = list(range(first, first + parts[number].places))
    even = [*still[1:3], still[0], *still[3:]] if len(still) > 2 else still
    return st.one_of(st.just(still), st.just(even), st.permutations(still))


def _added(part: Part) -> st.SearchStrategy[list[int]]:
    """Return a strategy for the numbers that a move adds: 0 for pieces; for values, often with the sum 0."""
    nothing = [0] * part.places
    if part.holds_pieces or part.places < 2:
        return st.just(nothing)
    radix = len(part.symbols)
    balanced = [1, radix - 1, *nothing[2:]]
    any_value = st.integers(0, radix - 1)
    return st.one_of(
        st.just(nothing), st.just(balanced), st.lists(any_value, min_size=part.places, max_size=part.places)
    )


def _masks(modulus: int) -> st.SearchStrategy[int]:
    """Return a strategy for masks of allowed values: often all, only 0 or all but 0, sometimes with unused bits."""
    every = (1 << modulus) - 1
    return st.one_of(st.just(every), st.just((1 << 64) - 1), st.sampled_from((1, every - 1)), st.integers(1, every))


def orbit_spaces(puzzle: Puzzle) -> list[Space]:
    """Return the spaces with all possible cuts."""
    return every_cut(puzzle.rules, Orbits.of(puzzle.rules))
