"""Distances by breadth-first search with a dictionary, by the rules of the puzzles and without the program."""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Position = tuple[str, ...]
Rows = NDArray[np.uint8]
P = TypeVar("P", bound=Hashable)
KNIGHT = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]


def distances(starts: Iterable[P], after: Callable[[P], Iterable[P]]) -> dict[P, int]:
    """Return the distance of every reachable position."""
    found = dict.fromkeys(starts, 0)
    waiting = deque(found)
    while waiting:
        here = waiting.popleft()
        for there in after(here):
            if there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    return found


def layers(found: Mapping[P, int]) -> list[int]:
    """Return the number of positions at each depth."""
    return [count for _, count in sorted(Counter(found.values()).items())]


def arrangements(pieces: Sequence[str]) -> set[Position]:
    """Return all positions with these pieces, reachable or not."""
    return set(permutations(pieces))


def sliding_distances(settings: Mapping[str, Any]) -> dict[Position, int]:
    """Return the distances of a sliding puzzle, given as its ``[puzzle]`` table with separated symbols.

    A position lists the symbols of all squares except holes. Moves of the ``free`` tiles cost nothing.
    """
    columns, starts = settings["columns"], [start.split() for start in as_list(settings["start"])]
    squares = [divmod(square, columns) for square, symbol in enumerate(starts[0]) if symbol != "#"]
    walls = [set(pair) for pair in settings.get("walls", ())]
    touching = [
        (a, b)
        for a, (row, column) in enumerate(squares)
        for b, (other_row, other_column) in enumerate(squares)
        if abs(row - other_row) + abs(column - other_column) == 1 and {a, b} not in walls
    ]

    def moved(position: Position, free: bool) -> Iterable[Position]:
        for a, b in touching:
            if position[a] != "0" and position[b] == "0" and (position[a] in settings.get("free", ())) == free:
                yield exchanged(position, a, b)

    found = dict[Position, int]()
    layer = {tuple(symbol for symbol in start if symbol != "#") for start in starts}
    if settings.get("metric") == "slides":
        return distances(layer, lambda position: _pushed(position, squares, touching))
    depth = 0
    while layer:
        layer = set(distances(layer, lambda position: moved(position, free=True))) - found.keys()
        found.update(dict.fromkeys(layer, depth))
        layer = {after for position in layer for after in moved(position, free=False)}
        depth += 1
    return found


def _pushed(
    position: Position, squares: Sequence[tuple[int, int]], touching: Sequence[tuple[int, int]]
) -> Iterable[Position]:
    """Yield the positions after the empty square has moved past any number of tiles in one direction."""
    for empty in (square for square, tile in enumerate(position) if tile == "0"):
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            after, here = position, empty
            while (
                following := next(
                    (
                        b
                        for a, b in touching
                        if a == here and squares[b] == (squares[a][0] + down, squares[a][1] + right)
                    ),
                    None,
                )
            ) is not None and after[following] != "0":
                after, here = exchanged(after, here, following), following
                yield after


def jump_distances(settings: Mapping[str, Any]) -> dict[Position, int]:
    """Return the distances of a jump puzzle with single-character pieces; positions list all squares except holes."""
    drawings = [start.split("/") for start in as_list(settings["start"])]
    squares = [(r, c) for r, row in enumerate(drawings[0]) for c, symbol in enumerate(row) if symbol != "#"]
    jumps = jump_pairs(settings, squares)

    def after(position: Position) -> Iterable[Position]:
        for a, b in jumps:
            if position[a] != "-" and position[b] == "-":
                yield exchanged(position, a, b)

    return distances([tuple("".join(drawing).replace("#", "")) for drawing in drawings], after)


def jump_pairs(settings: Mapping[str, Any], squares: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the origin and the destination of each possible jump."""
    if "edges" in settings:
        return [pair for a, b in settings["edges"] for pair in ((a, b), (b, a))]
    offsets = KNIGHT if settings.get("moves") == "knight" else [tuple(offset) for offset in settings["offsets"]]
    return [
        (a, b)
        for a, origin in enumerate(squares)
        for b, target in enumerate(squares)
        if a != b and (target[0] - origin[0], target[1] - origin[1]) in offsets
    ]


def exchanged(position: Position, a: int, b: int) -> Position:
    """Return the position with two places swapped."""
    changed = list(position)
    changed[a], changed[b] = changed[b], changed[a]
    return tuple(changed)


def as_list(value: str | list[str]) -> list[str]:
    """Return a string or a list of strings as a list."""
    return value if isinstance(value, list) else [value]


def positions_by(starts: Rows, after: Callable[[Rows], Rows], most: int = 1000) -> list[Rows]:
    """Return the positions at each depth up to ``most``; a position is a row of bytes."""
    seen, frontier, found = _keys(starts)[:0], starts, list[Rows]()
    while len(frontier) and len(found) <= most:
        known = len(seen)
        seen, first = np.unique(np.concatenate((seen, _keys(frontier))), return_index=True)
        frontier = frontier[first[first >= known] - known]
        if len(frontier):
            found.append(frontier)
            frontier = after(frontier)
    return found


def layers_by(starts: Rows, after: Callable[[Rows], Rows], most: int = 1000) -> list[int]:
    """Return the number of positions at each depth up to ``most``; a position is a row of bytes."""
    return list(map(len, positions_by(starts, after, most)))


def _keys(rows: Rows) -> NDArray[np.void]:
    return np.ascontiguousarray(rows).view(f"V{rows.shape[1]}").ravel()


def positions_of(puzzle: Any, most: int = 1000) -> list[Rows]:
    """Return the positions at each depth up to ``most``, by the puzzle's own moves."""

    def after(rows: Rows) -> Rows:
        moved = (puzzle.moves.move(number, rows) for number in range(len(puzzle.moves)))
        return np.concatenate([rows[:0], *(labels[legal] for labels, legal in moved)])

    return positions_by(puzzle.start_labels, after, most)


def layers_of(puzzle: Any, most: int = 1000) -> list[int]:
    """Return the number of positions at each depth up to ``most``, by the puzzle's own moves."""
    return list(map(len, positions_of(puzzle, most)))


def blocks_distances(settings: Mapping[str, Any]) -> dict[Position, int]:
    """Return the distances of a block puzzle; a position is the sorted list of its blocks, as text."""
    drawings = [start.split("/") for start in as_list(settings["start"])]
    squares = [(r, c) for r, row in enumerate(drawings[0]) for c, symbol in enumerate(row) if symbol != "#"]
    board, walls = set(squares), [{squares[a], squares[b]} for a, b in settings.get("walls", ())]

    def after(position: Position) -> Iterable[Position]:
        blocks = [_block_in(text) for text in position]
        for letter, cells in blocks:
            free = board.difference(*(other for _, other in blocks)) | cells
            for moved in _slid(cells, free, settings, walls):
                others = [text for text in position if text != _block_text(letter, cells)]
                yield tuple(sorted([*others, _block_text(letter, moved)]))

    return distances([blocks_position(drawing, settings) for drawing in drawings], after)


def blocks_position(rows: Sequence[str], settings: Mapping[str, Any]) -> Position:
    """Return a position, given as a drawing, in the form of `blocks_distances`."""
    letters = sorted(set("".join(rows)) - set(".#"))
    cells = {
        letter: frozenset((r, c) for r, row in enumerate(rows) for c, symbol in enumerate(row) if symbol == letter)
        for letter in letters
    }
    return tuple(sorted(_block_text(letter if settings.get("distinct") else "", cells[letter]) for letter in letters))


def _block_text(letter: str, cells: frozenset[tuple[int, int]]) -> str:
    return f"{letter}:{' '.join(f'{r},{c}' for r, c in sorted(cells))}"


def _block_in(text: str) -> tuple[str, frozenset[tuple[int, int]]]:
    letter, _, cells = text.partition(":")
    return letter, frozenset((int(r), int(c)) for r, c in (cell.split(",") for cell in cells.split()))


def _slid(
    cells: frozenset[tuple[int, int]],
    free: set[tuple[int, int]],
    settings: Mapping[str, Any],
    walls: Sequence[set[tuple[int, int]]],
) -> set[frozenset[tuple[int, int]]]:
    """Yield the places to which one move takes a block."""
    height, width = (max(one) - min(one) for one in zip(*cells, strict=True))
    directions = {(0, 1), (0, -1), (1, 0), (-1, 0)}
    if settings.get("axis"):
        directions = {(0, 1), (0, -1)} if width > height else {(1, 0), (-1, 0)}
    found, waiting = {cells}, [cells]
    while waiting:
        here = waiting.pop()
        moved = {
            frozenset((r + down, c + right) for r, c in here)
            for down, right in directions
            if all({(r, c), (r + down, c + right)} not in walls for r, c in here)
        }
        new = {one for one in moved if one <= free and not any(wall <= one for wall in walls)} - found
        found |= new
        waiting += new if settings.get("moves") == "slides" else ()
    return found - {cells}
