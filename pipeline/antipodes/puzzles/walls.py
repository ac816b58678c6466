"""The setting ``walls``: walls between adjacent squares of a board, which no piece passes."""

from collections.abc import Collection, Mapping
from typing import Any

from antipodes.puzzles.settings import pairs_in
from antipodes_tasks.base import values
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.rules.squares import Square, square_of, squares_of

Pair = tuple[int, int]
"""Two places."""


def neighbours(rows: int, columns: int, holes: Collection[int] = ()) -> list[Pair]:
    """Return all ordered pairs of adjacent places, in reading order; ``holes`` are squares without a place."""
    squares = squares_of(rows, columns, holes)
    place = {square: number for number, square in enumerate(squares)}
    beside = [((row, column), after) for row, column in squares for after in ((row, column + 1), (row + 1, column))]
    pairs = [(place[one], place[other]) for one, other in beside if other in place]
    return sorted(pair for a, b in pairs for pair in ((a, b), (b, a)))


def walls_in(settings: Mapping[str, Any], rows: int, columns: int, holes: Collection[int] = ()) -> frozenset[Pair]:
    """Return the pairs of places of a board with a wall between them, in both orders.

    A wall is given by the names of the two squares, ``a3|b3``, or by the numbers of the two places.

    Raises ConfigError if the value of ``walls`` is not a list of pairs of adjacent squares.
    """
    squares = squares_of(rows, columns, holes)
    given, walls = settings.get("walls", []), set[Pair]()
    if not values.LIST.fits(given):
        raise ConfigError(f'walls: expected a list of walls such as "a3|b3" or [0, 1], found {quote(given)}')
    place, touching = {square: number for number, square in enumerate(squares)}, set(neighbours(rows, columns, holes))
    for wall in given:
        named = isinstance(wall, str)
        (pair,) = [_named_wall(wall, place, rows)] if named else pairs_in([wall], "walls")
        if pair not in touching:
            numbers = f" (numbered from 0 to {len(squares) - 1} in reading order, holes not counted)"
            found = quote(wall) if named else f"{pair[0]} and {pair[1]}"
            raise ConfigError(f"walls: expected two adjacent squares{'' if named else numbers}, found {found}")
        walls |= {pair, pair[::-1]}
    return frozenset(walls)


def _named_wall(wall: str, place: Mapping[Square, int], rows: int) -> Pair:
    """Return the two places that are separated by a wall such as ``a3|b3``."""
    squares = [square_of(name.strip(), rows) for name in wall.split("|")]
    if len(squares) != 2 or None in squares:
        raise ConfigError(f'walls: expected two squares such as "a3|b3", found {quote(wall)}')
    places = [place.get(square) for square in squares if square is not None]
    if None in places:
        name = wall.split("|")[places.index(None)].strip()
        row, column = squares[places.index(None)] or (-1, -1)
        is_hole = 0 <= row < rows and 0 <= column <= max(square[1] for square in place)
        problem = f"{name} is a hole of the board" if is_hole else f"the board has no square {quote(name)}"
        raise ConfigError(f"walls: {problem}, in {quote(wall)}")
    one, other = (number for number in places if number is not None)
    return one, other
