"""What the service says of positions: distances, moves and where they lead, shortest paths, the layers."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.sequences import names_along
from antipodes.service.counted_paths import MAX_DIGITS, ShortestPaths
from antipodes.service.drawing import drawn, pictures_of
from antipodes.service.limits import MAX_SCANNED, MAX_SHOWN, TooMuchError
from antipodes.tables.drawing import moves_back
from antipodes.tables.queries import parsed
from antipodes.tables.table import UNKNOWN, UNREACHABLE, Table
from antipodes_tasks.errors import InputError, NumberError
from antipodes_tasks.quoting import counted, quote, shorten
from antipodes_tasks.rules.moves import Labels

Values = dict[str, Any]
Distances = NDArray[np.int32]


def position_asked(table: Table, position: str | None = None, index: int | None = None) -> Labels:
    """The position ``(places,)`` that a person writes, or numbers; the start without any.

    InputError where it is both written and numbered; PositionError and InputError where no position is named.
    """
    if position is not None and index is not None:
        raise InputError("expected a position or an index, found both")
    if position is not None:
        return table.puzzle.parse(position)
    if index is not None:
        return table.space.unrank([index]).reshape(-1)
    return table.puzzle.rules.first


def path_number(text: str | None) -> int | None:
    """The number of a path as a person writes it; InputError if it is not a whole number."""
    if text is None:
        return None
    if len(text) > MAX_DIGITS or not re.fullmatch("[0-9]+", text):
        expected = f"a whole number of at most {MAX_DIGITS:,} digits"
        raise InputError(f"number: expected {expected}, found {quote(shorten(text))}")
    return int(text)


def distance_view(table: Table, position: Labels) -> Values:
    """The distance of one position."""
    return {
        "position": table.puzzle.format(position),
        **_reached(table, int(table.distances(position[np.newaxis])[0])),
    }


def distances_view(table: Table, texts: Sequence[str]) -> list[Values]:
    """The distance of each position that is written in a text; InputError, which names it, if one is not."""
    positions, errors = parsed(table.puzzle, texts)
    for number, error in errors.items():
        raise InputError(f"positions[{number}]: {error}")
    distances = table.distances(positions).tolist()
    return [
        {"position": table.puzzle.format(position), **_reached(table, distance)}
        for position, distance in zip(positions, distances, strict=True)
    ]


def _reached(table: Table, distance: int) -> Values:
    """The distance, None for an unreachable position; how far an unfinished table is that has not reached it."""
    known: Values = {"distance": distance if distance >= 0 else None}
    return {**known, "reached": False, "depth": table.radius} if distance == UNKNOWN else known


def table_view(table: Table, position: Labels) -> Values:
    """All that a page shows of a position: its picture, its distance, and where each move leads."""
    after, names = _successors(table, position)
    before = _predecessors(table, position)
    around = np.concatenate((position[np.newaxis], after, before))
    indices, distances = _ranked(table, around)
    here, last = int(distances[0]), 1 + len(after)
    successors = _neighbours(table, position, after, indices[1:last], distances[:last], names)
    shown: Values = {
        "position": table.puzzle.format(position),
        "index": _index(int(indices[0])),
        "distance": here if here >= 0 else None,
        "reached": here != UNKNOWN,
        "depth": table.radius,
        "picture": drawn(table.puzzle.picture(position)),
        "successors": successors,
    }
    nearer = distances[1:last] if table.puzzle.moves.reversible else distances[last:]
    shown["shortest_moves"] = int((nearer == here - 1).sum()) if here > 0 else 0
    if not table.puzzle.moves.reversible:
        shown["predecessors"] = _neighbours(
            table, position, before, indices[last:], np.concatenate((distances[:1], distances[last:])), None
        )
    return shown


def followed_view(table: Table, begin: Labels, moves: str) -> Values:
    """As `table_view` of the position to which moves lead from another; and each of at most MAX_SHOWN steps."""
    way = table.puzzle.follow(moves, begin)
    return {**table_view(table, way[-1]), "steps": _steps(table, way) if len(way) <= MAX_SHOWN + 1 else None}


def _steps(table: Table, way: Labels) -> list[Values]:
    """The positions after the first one of ``way`` ``(1 + n, places)``, and the moves that lead there, if single."""
    names = names_along(table.puzzle.moves, way)
    distances = table.distances(way[1:]).tolist()
    return [
        {"position": table.puzzle.format(one), "move": name, "distance": distance if distance >= 0 else None}
        for one, name, distance in zip(way[1:], names, distances, strict=True)
    ]


def _ranked(table: Table, labels: Labels) -> tuple[NDArray[np.int64], Distances]:
    """The indices ``(n,)`` of positions ``(n, places)``, less than 0 for those without one, and the distances."""
    indices = table.space.unchecked.rank(labels)
    numbered = indices >= 0
    distances = np.full(len(indices), UNREACHABLE, dtype=np.int32)
    distances[numbered] = table.distances_by_index(indices[numbered])
    return indices, distances


def successors_view(table: Table, position: Labels) -> list[Values]:
    """Where each move leads, and how much nearer or farther that is."""
    after, names = _successors(table, position)
    distances = table.distances(np.concatenate((position[np.newaxis], after)))
    return [
        {"position": table.puzzle.format(one), "move": name, "distance": distance, "change": change}
        for one, name, (distance, change) in zip(after, names, _changes(distances), strict=True)
    ]


def _neighbours(
    table: Table,
    position: Labels,
    others: Labels,
    indices: NDArray[np.int64],
    distances: Distances,
    names: Sequence[str | None] | None,
) -> list[Values]:
    """The positions ``(n, places)`` one move away, drawn with the names that pieces have in this one.

    ``distances`` ``(1 + n,)`` begin with that of the position itself; predecessors have no ``names`` of moves.
    """
    shown = []
    for number, (distance, change) in enumerate(_changes(distances)):
        puzzle = table.puzzle.followed(position, others[number])
        one: Values = {"position": table.puzzle.format(others[number]), "index": _index(int(indices[number]))}
        if names is not None:
            one["move"] = names[number]
        picture = drawn(puzzle.picture(others[number]))
        shown.append({**one, "distance": distance, "change": change, "picture": picture})
    return shown


def _changes(distances: Distances) -> list[tuple[int | None, int | None]]:
    """The distance of each position after the first one, and how much greater it is; None where that is not known."""
    here, *others = distances.tolist()
    return [(None, None) if distance < 0 else (distance, distance - here if here >= 0 else None) for distance in others]


def _index(index: int) -> int | None:
    """The index of a position; None for one without an entry in the table."""
    return index if index >= 0 else None


def _successors(table: Table, position: Labels) -> tuple[Labels, list[str | None]]:
    """The positions ``(n, places)`` after each legal move and its name; of moves alike the first."""
    moves = table.puzzle.moves
    found = moves.successors_many(position[np.newaxis])
    numbers = np.flatnonzero(found.legal[0]).tolist()
    once: dict[tuple[str | None, bytes], int] = {}
    for number in numbers:
        name = moves.names[number] if moves.names else None
        once.setdefault((name, found.positions[0, number].tobytes()), number)
    return found.positions[0, list(once.values())], [name for name, _ in once]


def _predecessors(table: Table, position: Labels) -> Labels:
    """The positions ``(n, places)`` one move before, each once, where moves cannot be undone; else none."""
    moves = table.puzzle.moves
    if moves.reversible or not moves.invertible:
        return position[np.newaxis][:0]
    return np.unique(moves.predecessors(position), axis=0)


def path_view(
    table: Table, position: Labels, paths_at: Callable[[int], ShortestPaths | None], number: int | None = None
) -> Values:
    """A shortest path from a position to the start, its moves, its pictures, and how many shortest paths there are.

    Where moves cannot be undone, each position of the path is one move *before* the one that it follows, and the moves
    are those from the start. ``paths_at`` finds all paths of the position at its distance. A ``number`` chooses one of
    them if they are counted; by default it is 1.

    NumberError if there is no path of the number; TooMuchError if predecessors are not known and the table is large.
    """
    shown = distance_view(table, position)
    if shown["distance"] is None:
        if number is not None:
            raise NumberError("expected no number, as no path to this position is known, found one")
        return {**shown, "path": None, "moves": None, "pictures": None, "count": "0", "number": None}
    puzzle = table.puzzle
    if not puzzle.moves.invertible and len(table) > MAX_SCANNED:
        raise TooMuchError(
            f"expected a table of at most {counted(MAX_SCANNED, 'position')}, as the moves of {puzzle.name} have "
            f"no inverses, found {len(table):,}: antipodes query --path"
        )
    paths = _countable(paths_at(shown["distance"]))
    path = table.path(position) if paths is None else paths.path(_existing(number, paths.count))
    if paths is None and number is not None:
        raise NumberError("expected no number, as there are too many shortest paths to count, found one")
    names = moves_back(puzzle, path)
    boards = list(puzzle.along(path))
    return {
        **shown,
        "path": [one.format(labels) for one, labels in boards],
        "moves": [None] * (len(path) - 1) if names is None else names,
        "pictures": [drawn(one.picture(labels)) for one, labels in boards],
        "count": None if paths is None else str(paths.count),
        "number": None if paths is None else str(number or 1),
    }


def _countable(paths: ShortestPaths | None) -> ShortestPaths | None:
    """The paths, if their number has few digits; a store without any is damaged, which `Table.path` reports."""
    return paths if paths is not None and 0 < paths.count < 10**MAX_DIGITS else None


def _existing(number: int | None, count: int) -> int:
    """The number of a path, by default 1; NumberError if there are fewer paths."""
    if number is not None and not 1 <= number <= count:
        raise NumberError(f"expected the number of a shortest path, from 1 to {count:,}, found {number:,}")
    return number or 1


def positions_view(table: Table, depth: int, first: int, limit: int) -> Values:
    """Positions at a depth in the order of their indices, after the first ones, and their pictures."""
    positions = table.positions_at(depth, first + limit)[first:]
    return {"depth": depth, "count": table.layers[depth], "first": first, **_shown(table, positions)}


def _shown(table: Table, positions: Labels) -> Values:
    texts = [table.puzzle.format(one) for one in positions]
    return {"positions": texts, "pictures": pictures_of(table.puzzle, positions)}


def random_view(table: Table, depth: int | None, seed: int | None) -> Values:
    """A position drawn from those at a depth, or from all that are reached."""
    return distance_view(table, table.random_position(depth, np.random.default_rng(seed)))
