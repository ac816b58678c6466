"""Random puzzles with pieces of several places, and their distances, found with dictionaries and no code of ours."""

import random
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import ConfigError

Symbols = tuple[str, ...]


class Bandaged(NamedTuple):
    """A puzzle of the family generators: the start, the generators, the pieces and the metric."""

    start: Sequence[str]
    moves: dict[str, list[int]]
    pieces: list[list[int]]
    turns: str = "half"

    @property
    def settings(self) -> dict[str, Any]:
        """The table of a config."""
        given = {"moves": self.moves, "pieces": self.pieces, "turns": self.turns}
        return {"name": "bandaged", "family": "generators", "start": " ".join(self.start), **given}

    def distances(self) -> dict[Symbols, int]:
        """Return the distance of every reachable position."""
        piece_of = {place: number for number, piece in enumerate(self.pieces) for place in piece}
        start = tuple((symbol, piece_of.get(place)) for place, symbol in enumerate(self.start))
        depths, frontier = {start: 0}, [start]
        for depth in count(1):
            frontier = [after for before in frontier for after in self._after(before) if after not in depths]
            if not frontier:
                nearest_last = reversed(depths.items())  # identical pieces may be exchanged
                return {tuple(symbol for symbol, _ in position): depth for position, depth in nearest_last}
            depths.update(dict.fromkeys(frontier, depth))
            frontier = list(dict.fromkeys(frontier))
        raise AssertionError

    def class_distances(self, free: Collection[str]) -> dict[Symbols, tuple[int, Symbols]]:
        """Return the distance of every reachable position if some generators are free, and the first of its class."""
        piece_of = {place: number for number, piece in enumerate(self.pieces) for place in piece}
        start = tuple((symbol, piece_of.get(place)) for place, symbol in enumerate(self.start))
        counted = self.moves.keys() - set(free)
        layer, depths, first = [start], dict[Symbols, int](), dict[Symbols, Symbols]()
        seen = {start}
        for depth in count():
            for position in layer:  # it grows by free moves
                new = [after for after in self._after(position, free) if after not in seen]
                layer += dict.fromkeys(new)
                seen.update(new)
            if not layer:
                break
            for position in layer:
                depths.setdefault(_symbols(position), depth)
                joined = {_symbols(position)}
                waiting = [position]
                while waiting and _symbols(position) not in first:
                    near = {after for after in self._after(waiting.pop(), free) if _symbols(after) not in joined}
                    joined |= set(map(_symbols, near))
                    waiting += near
                for one in joined - first.keys():
                    first[one] = min(joined)
            layer = list(
                dict.fromkeys(after for one in layer for after in self._after(one, counted) if after not in seen)
            )
            seen.update(layer)
        return {position: (depth, first[position]) for position, depth in depths.items()}

    def _after(self, before: tuple[Any, ...], names: Collection[str] | None = None) -> list[tuple[Any, ...]]:
        after = []
        for origin in (self.moves[name] for name in (self.moves if names is None else names)):
            moved = [place for place in range(len(origin)) if origin[place] != place]
            cut = {before[place][1] for place in moved} & {
                piece for place, (_, piece) in enumerate(before) if place not in moved
            }
            if cut <= {None}:
                powers = [tuple(before[place] for place in origin)]
                while powers[-1] != before:
                    powers.append(tuple(powers[-1][place] for place in origin))
                every = powers[:-1] or powers
                after += {"half": every, "quarter": [every[0], every[-1]], "single": every[:1]}[self.turns]
        return after


def _symbols(position: tuple[Any, ...]) -> Symbols:
    return tuple(symbol for symbol, _ in position)


def random_puzzle(seed: int, largest: int = 6) -> tuple[Bandaged, Puzzle]:
    """Return a random puzzle whose moves are all legal in some position, and whose symbols are unambiguous."""
    for number in count():
        bandaged = _random(seed << 10 | number, largest)
        with suppress(ConfigError):
            return bandaged, puzzle_from(bandaged.settings)
    raise AssertionError


def _random(seed: int, largest: int) -> Bandaged:
    chosen = random.Random(seed)
    size = chosen.randint(5, largest)
    moves = {name: _origin(chosen, size) for name in "ABC"[: chosen.randint(2, 3)]}
    places = chosen.sample(range(size), size)
    sizes = [chosen.randint(2, 3)] * chosen.randint(1, 2)
    pieces = [[places.pop() for _ in range(min(size, len(places)))] for size in sizes]
    symbols = [str(place) for place in range(size)]
    for place in places:
        symbols[place] = chosen.choice([symbols[place], "x"])
    if len({len(piece) for piece in pieces}) == 1 and chosen.random() < 0.5:
        for place, other in zip(pieces[0], pieces[-1], strict=True):
            symbols[other] = symbols[place]
    return Bandaged(symbols, moves, pieces, chosen.choice(["half", "quarter", "single"]))


def _origin(chosen: random.Random, size: int) -> list[int]:
    moved = chosen.sample(range(size), chosen.randint(2, size))
    shift = chosen.randint(1, len(moved) - 1)
    origin = list(range(size))
    for number, place in enumerate(moved):
        origin[place] = moved[number - shift]
    return origin


def from_cycles(moves: dict[str, str], places: int) -> dict[str, list[int]]:
    """Return the place from which each place gets its symbol, for moves written as cycles."""
    origins = {name: list(range(places)) for name in moves}
    for name, text in moves.items():
        for cycle in text.strip("()").split(")("):
            through = [int(place) for place in cycle.split()]
            for place, after in zip(through, [*through[1:], through[0]], strict=True):
                origins[name][after] = place
    return origins


TURNS = {
    "U": "(0 1 3 2)(4 16 12 8)(5 17 13 9)",
    "R": "(1 18 21 9)(3 16 23 11)(12 13 15 14)",
    "F": "(2 12 21 7)(3 14 20 5)(8 9 11 10)",
}
"""Turns of the 2x2x2 as cycles of its 24 stickers, in the reading order of the faces U, L, F, R, B and D."""
FRONT_RIGHT = [9, 21]
"""Stickers of the two cubies on the edge between the front and the right face, one sticker of each."""
CUBE = Bandaged([str(sticker) for sticker in range(24)], from_cycles(TURNS, 24), [FRONT_RIGHT])
"""The 2x2x2 with these two cubies glued together."""
