"""Which state space a puzzle gets: for a new store, for a store that exists, or just to number its positions."""

from math import prod

from antipodes import arguments
from antipodes.errors import ConfigError, FieldError, ResourceLimitError
from antipodes.puzzles.puzzle import Puzzle
from antipodes.spaces.arrangement_space import ArrangementSpace
from antipodes.spaces.arrangements import Index, radices
from antipodes.spaces.space import SpaceRecord, StateSpace

MAX_ROWS = 2**31 - 1
"""Rows, and columns, that the 32-bit numbers of the move tables can name."""
ROW_COST, COLUMN_COST = 5, 1
"""Relative time to build an entry of the row tables, and of a column map; measured with seven-tiles."""


def best_space(puzzle: Puzzle) -> StateSpace:
    """The space whose move tables are built fastest; it depends on the puzzle alone.

    Raises
    ------
    ConfigError
        The puzzle has more positions than 64 bits can number.
    ResourceLimitError
        No space has rows and columns that the move tables can number.
    """
    _check_size(puzzle)
    spaces = _arrangement_spaces(puzzle, puzzle.counts)
    fitting = [space for space in spaces if max(space.rows, space.width) <= MAX_ROWS]
    if not fitting:
        best = min(spaces, key=lambda space: max(space.rows, space.width))
        raise ResourceLimitError(
            f"expected positions that a cut divides into at most {MAX_ROWS:,} rows and columns; "
            f"the best of {best.size:,} positions has {best.rows:,} rows of {best.width:,} columns"
        )
    return min(fitting, key=_building_cost)


def stored_space(puzzle: Puzzle, record: SpaceRecord) -> StateSpace:
    """The space with the rows and columns of a store, which another version may have chosen otherwise.

    Raises
    ------
    FieldError
        No cut of the positions gives these rows and columns.
    """
    for space in _arrangement_spaces(puzzle, record.counts):
        if (space.rows, space.width) == (record.rows, record.width):
            return space
    raise FieldError(f"rows: {record.rows} rows of {record.width} columns match no row/column split of {record.counts}")


def index_size(puzzle: Puzzle) -> int:
    """The number of positions, reachable or not, even if it is more than 64 bits can number."""
    return prod(radices(puzzle.counts))


def numbering_space(puzzle: Puzzle) -> StateSpace:
    """A space with the same indices as every table of the puzzle, even if the table would be too large.

    Raises
    ------
    ConfigError
        The puzzle has more positions than 64 bits can number.
    """
    _check_size(puzzle)
    return ArrangementSpace(puzzle, Index(puzzle.counts, 1))


def _arrangement_spaces(puzzle: Puzzle, counts: tuple[int, ...]) -> list[StateSpace]:
    """The spaces of all cuts between two labels."""
    return [ArrangementSpace(puzzle, Index(counts, leading)) for leading in range(1, max(2, len(counts)))]


def _check_size(puzzle: Puzzle) -> None:
    size = index_size(puzzle)
    if size > arguments.GREATEST:
        raise ConfigError(f"expected at most 2^63 - 1 positions, found some 10^{len(str(size)) - 1}")


def _building_cost(space: StateSpace) -> int:
    return ROW_COST * space.rows * space.most_moves + COLUMN_COST * space.width * space.most_column_maps
