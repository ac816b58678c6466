"""Show that Square-1 has positions 27 moves from the start in the metric of the World Cube Association.

A *class* contains the positions that turns of the layers lead to from each other. Let s be the class of the start, and
x the class after one slash of the start itself. The program gets a class C and shows, with complete layers of six
slashes around x and around C, that no path of 12 slashes leads from x to C. The middle of C is flipped, so a path from
s to C has an odd number of slashes. One of 11 slashes or fewer would give a path of 12 from x, whose first slash leads
to s. One of 13 slashes begins with a turn, since otherwise its first slash leads to x. Consider a position of C in
which a corner lies across the cut. Its paths also end with a turn, so that 13 slashes and at least 14 turns lead there.
Two slashes in a row cancel, so with 15 slashes a path has at least 14 turns. It remains to print a path of 27 moves.

This program shares no code with the package. It needs numpy, 4 GB of memory and some minutes:

    python benchmarks/square_1.py G5DA6BC H834127EF
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Cells = NDArray[np.uint8]
NAMES = "ABCDEFGH12345678"
"""Pieces by number: eight corners, which cover two cells each, and eight edges."""
CORNERS = 8
CELLS, HALF = 12, 6
START = "A1B2C3D4", "5E6F7G8H"
"""The layers of the start, clockwise from the front of the cut, as seen from outside."""
RADIUS = 6


def cells_of(layer: str) -> Cells:
    """Return the cells of a layer; a corner covers two of them. Shape (1, 12)."""
    pieces = [NAMES.index(name) for name in layer]
    return np.array([[piece for piece in pieces for _ in range(2 if piece < CORNERS else 1)]], np.uint8)


def first_cells(layer: Cells) -> NDArray[np.bool_]:
    """Return a mask of the cells that are the first of their piece, clockwise; shape (n, 12)."""
    first: NDArray[np.bool_] = layer != np.roll(layer, 1, axis=1)
    return first


def pack(upper: Cells, lower: Cells) -> Keys:
    """Return the keys of classes: the pieces of each layer, beginning with the smallest one, in four bits each."""
    keys = np.zeros(len(upper), np.uint64)
    for layer in (upper, lower):
        first = first_cells(layer)
        begin = np.argmin(np.where(first, layer, 2 * CORNERS), axis=1)
        order = (begin[:, None] + np.arange(CELLS)) % CELLS
        layer, first = np.take_along_axis(layer, order, axis=1), np.take_along_axis(first, order, axis=1)
        for cell in range(CELLS):
            keys = np.where(first[:, cell], keys << np.uint64(4) | layer[:, cell], keys)
    return keys


def unpack(keys: Keys) -> tuple[Cells, Cells]:
    """Return the cells of the layers of classes; two arrays of shape (n, 12)."""
    cells = np.zeros((len(keys), 2 * CELLS), np.uint8)
    at, every = np.zeros(len(keys), np.int64), np.arange(len(keys))
    for digit in range(len(NAMES)):
        piece = (keys >> np.uint64(60 - 4 * digit) & np.uint64(15)).astype(np.uint8)
        is_corner = piece < CORNERS
        cells[every, at] = piece
        cells[every[is_corner], at[is_corner] + 1] = piece[is_corner]
        at += 1 + is_corner
    return cells[:, :CELLS], cells[:, CELLS:]


def slash(upper: Cells, lower: Cells, above: int, below: int) -> tuple[Cells, Cells]:
    """Exchange the six cells that begin at `above` in the upper layer and at `below` in the lower one."""
    places, others = (above + np.arange(HALF)) % CELLS, (below + np.arange(HALF)) % CELLS
    new_upper, new_lower = upper.copy(), lower.copy()
    new_upper[:, places], new_lower[:, others] = lower[:, others], upper[:, places]
    return new_upper, new_lower


def cuts(layer: Cells) -> NDArray[np.bool_]:
    """Return a mask of the cells at which a half can begin: no corner lies across either end of the cut."""
    first = first_cells(layer)
    whole: NDArray[np.bool_] = first & np.roll(first, -HALF, axis=1)
    return whole


def successors_by_parts(keys: Keys, part: int = 100_000) -> Iterator[Keys]:
    """Yield the classes one slash away from `keys`, sorted within each part."""
    for begin in range(0, len(keys), part):
        upper, lower = unpack(keys[begin : begin + part])
        cuts_above, cuts_below = cuts(upper), cuts(lower)
        found = []
        for above in range(CELLS):
            for below in range(CELLS):
                legal = cuts_above[:, above] & cuts_below[:, below]
                found.append(pack(*slash(upper[legal], lower[legal], above, below)))
        yield np.unique(np.concatenate(found))


def layers_around(start: Keys, radius: int) -> list[Keys]:
    """Return the classes at 0 to `radius` slashes from `start`; slashes flip the middle, so parities do not mix."""
    layers = [start]
    for _ in range(radius):
        new = np.unique(np.concatenate(list(successors_by_parts(layers[-1]))))
        for earlier in layers[-2::-2]:
            new = np.setdiff1d(new, earlier, assume_unique=True)
        layers.append(new)
    return layers


def meetings(some: list[Keys], others: list[Keys]) -> int:
    """Return how many classes are in a layer of an even number of slashes of both balls."""
    return sum(len(np.intersect1d(one, other, assume_unique=True)) for one in some[::2] for other in others[::2])


def back(key: Keys, layers: list[Keys]) -> list[Keys]:
    """Return the classes on a path from `key`, one slash from the last layer, to the middle of `layers`."""
    path = [key]
    for layer in reversed(layers):
        path.append(np.intersect1d(next(successors_by_parts(path[-1])), layer)[:1])
    return path


def path_of_13(around_s: list[Keys], around_c: list[Keys]) -> list[Keys]:
    """Return the classes on a path of 13 slashes from s to C; raise LookupError if there is none."""
    for new in successors_by_parts(around_c[RADIUS]):
        common = np.intersect1d(new, around_s[RADIUS], assume_unique=True)
        if len(common):
            return back(common[:1], around_s[:RADIUS])[::-1] + back(common[:1], around_c)[1:]
    raise LookupError("no path of 13 slashes leads from the start to this class")


def moves_along(path: list[Keys]) -> str:
    """Return the turns and slashes from the start along `path`, ending with a corner across the cut."""
    upper, lower = (cells_of(layer) for layer in START)
    words: list[str] = []

    def turned(above: int, below: int) -> tuple[Cells, Cells]:
        return np.roll(upper, above, axis=1), np.roll(lower, below, axis=1)

    turns = [(above, below) for above in range(-5, 7) for below in range(-5, 7)]
    turns.sort(key=lambda turn: (abs(turn[0]) + abs(turn[1]), turn))
    for key in path[1:]:
        for above, below in turns:
            layers = turned(above, below)
            if cuts(layers[0])[0, HALF] and cuts(layers[1])[0, 0]:
                after = slash(*layers, HALF, 0)
                if pack(*after) == key:
                    break
        words += [f"({above},{below})"] * ((above, below) != (0, 0)) + ["/"]
        upper, lower = after
    above, below = next(turn for turn in turns if not (cuts(turned(*turn)[0])[0, 0] and cuts(turned(*turn)[1])[0, 0]))
    return " ".join([*words, f"({above},{below})"])


def main(upper: str, lower: str) -> None:
    """Check the class with these layers; raise SystemExit if a path of 12 slashes leads there from x."""
    above, below = cells_of(START[0]), cells_of(START[1])
    s, x = pack(above, below), pack(*slash(above, below, HALF, 0))
    around_x, around_c = layers_around(x, RADIUS), layers_around(pack(cells_of(upper), cells_of(lower)), RADIUS)
    report("x", around_x)
    report("C", around_c)
    if common := meetings(around_x, around_c):
        raise SystemExit(f"{common} classes are at most 6 slashes from both")
    print("no class is at most 6 slashes from both, so no path of 12 slashes leads from x to C", flush=True)
    around_s = layers_around(s, RADIUS)
    report("s", around_s)
    moves = moves_along(path_of_13(around_s, around_c))
    print(f"a path of {len(moves.split())} moves: {moves}")


def report(name: str, layers: list[Any]) -> None:
    """Print the number of classes at each distance from a class."""
    print(f"from {name}:", *(f"{len(layer):,}" for layer in layers), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
