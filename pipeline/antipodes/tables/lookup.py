"""Positions given as texts, looked up in a table batch by batch: there may be more than fit into memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from antipodes.puzzles.puzzle import Puzzle
from antipodes.tables.store.chunks import UNKNOWN, UNREACHABLE
from antipodes.tables.table import Table
from antipodes_tasks.errors import PositionError, UnfinishedError
from antipodes_tasks.rules.moves import Labels


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """A position and its distance."""

    position: Labels
    """``(places,)``."""
    distance: int | None
    """None if the position is unreachable."""
    path: Labels | None
    """``(distance + 1, places)``: a shortest path back to a start, if it was asked for and there is one."""


def look_up(table: Table, texts: Sequence[str], with_path: bool = False) -> list[Found]:
    """The distance of each position, in order, and a shortest path to each that is reachable, if asked for.

    Raises
    ------
    PositionError
        A text is not a position of the puzzle.
    UnfinishedError
        The table is unfinished, and does not reach a position yet.
    """
    found = look_up_each(table, texts, with_path)
    return [_answer(one) for one in found]


def look_up_each(
    table: Table, texts: Sequence[str], with_path: bool = False
) -> Iterator[Found | PositionError | UnfinishedError]:
    """As `look_up`; for a text that has no answer the error, and the others are answered all the same."""
    labels, errors = _parsed(table.puzzle, texts)
    pairs = zip(labels, table.distances(labels).tolist(), strict=True)
    for number in range(len(texts)):
        yield errors[number] if number in errors else _found(table, *next(pairs), with_path)


def _answer(found: Found | PositionError | UnfinishedError) -> Found:
    if isinstance(found, Found):
        return found
    raise found


def _found(table: Table, position: Labels, distance: int, with_path: bool) -> Found | UnfinishedError:
    if distance == UNREACHABLE:
        return Found(position, None, None)
    if distance == UNKNOWN:
        try:
            table.distance(position)
        except UnfinishedError as error:
            return error
    return Found(position, distance, table.path(position) if with_path else None)


def _parsed(puzzle: Puzzle, texts: Sequence[str]) -> tuple[Labels, dict[int, PositionError]]:
    """The positions among the texts, ``(n, places)``, and the errors of the others by their number."""
    try:
        return puzzle.parse_many(texts), {}
    except PositionError:
        pass
    positions, errors = [np.empty((0, puzzle.places), dtype=np.uint8)], {}
    for number, text in enumerate(texts):
        try:
            positions.append(puzzle.parse(text)[np.newaxis])
        except PositionError as error:
            errors[number] = error
    return np.concatenate(positions), errors
