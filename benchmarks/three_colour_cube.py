"""Check the antipodes of the 3-colour cube by its stickers, and draw them.

    python -m benchmarks.three_colour_cube PUZZLE docs/explanation/large-runs/three-colour-cube-antipodes.csv

The search knows nothing of pieces, orientations, indices or symmetries: a position is the colours of 48 stickers, and a
move permutes them. It prints the layers up to depth 7, and up to depth 6 also the number of positions up to the 48
symmetries. For each antipode that is checked, it prints how many positions at distance 7 from the antipode are at
distance 6 or 7 from the start (none, unless the antipode is nearer than 15 moves), and whether one at distance 8 is at
distance 7 from the start, that is, in the middle of a path of 15 moves.
"""

import csv
import itertools
import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import antipodes as ap

Stickers = NDArray[np.uint8]
"""``(n, 48)``: the colour of each sticker, which is the axis of the face that has it at the start: 0, 1 or 2."""
Packed = NDArray[np.uint64]
"""``(n, 2)``: stickers with two bits each."""
SHIFTS = np.arange(0, 48, 2, dtype=np.uint64)
FACES = {"U": (2, 1), "D": (2, -1), "F": (1, -1), "B": (1, 1), "R": (0, 1), "L": (0, -1)}
"""The axis of each face and its side."""
NET = {"U": (3, 0), "L": (0, 3), "F": (3, 3), "R": (6, 3), "B": (9, 3), "D": (3, 6)}
"""Column and row of the first sticker of each face in a net of 12 columns and 9 rows."""
COLOURS = "#e8e8e8", "#d55e00", "#0072b2"
AT_ONCE = 200_000
"""Positions that are expanded at a time."""
CLASSES_DEPTH = 6
"""Depth up to which symmetry classes are counted."""
DEPTH = 7
"""Depth of the layers around the start and around an antipode."""
CHECKED = 6
"""Number of antipodes that are checked: those with the most and with the fewest symmetries."""
PARTS = 40
"""Number of parts in which the neighbours of a layer are searched for a position of a path of 15 moves."""
SEQUENCES, SEQUENCE = 3000, 26
"""Number of random sequences from which the notation is learnt, and limit of their length."""
ACROSS = 10
"""Number of nets in a row of the picture."""

Vector = tuple[int, ...]


def turned(vector: Vector, axis: int, quarters: int) -> Vector:
    """Return a vector turned about an axis."""
    found, (one, other) = list(vector), ((1, 2), (2, 0), (0, 1))[axis]
    for _ in range(quarters):
        found[one], found[other] = -found[other], found[one]
    return tuple(found)


class Cube:
    """The stickers of the cube, without the centres, and its 18 moves by name."""

    def __init__(self) -> None:
        places = [place for place in itertools.product((-1, 0, 1), repeat=3) if sum(map(abs, place)) > 1]
        self.stickers = [
            (place, tuple(place[at] if at == axis else 0 for at in range(3)))
            for place in places
            for axis in range(3)
            if place[axis]
        ]
        """The place of the piece and the direction of each sticker."""
        self.number = {sticker: at for at, sticker in enumerate(self.stickers)}
        self.start = np.array([[abs(x) for x in direction].index(1) for _, direction in self.stickers], dtype=np.uint8)
        self.moves = {name: self._move(name) for name in (face + turn for face in FACES for turn in ("", "2", "'"))}
        signs = itertools.product((1, -1), repeat=3)
        self.symmetries = [
            self._symmetry(axes, sign) for axes, sign in itertools.product(itertools.permutations(range(3)), signs)
        ]
        """The 48 symmetries: where the colour of each sticker comes from, and what each colour becomes."""

    def _symmetry(self, axes: Vector, signs: Vector) -> tuple[NDArray[np.int64], Stickers]:
        """Return the symmetry that makes coordinate ``axes[i]`` of an image from coordinate ``i``, with its sign."""

        def image(vector: Vector) -> Vector:
            found = [0, 0, 0]
            for axis, sign, value in zip(axes, signs, vector, strict=True):
                found[axis] = sign * value
            return tuple(found)

        source = np.empty(len(self.stickers), dtype=np.int64)
        for at, (place, direction) in enumerate(self.stickers):
            source[self.number[image(place), image(direction)]] = at
        return source, np.array(axes, dtype=np.uint8)

    def classes(self, positions: Packed) -> int:
        """Return the number of symmetry classes of some positions: of different least images."""
        least = []
        for few in np.array_split(positions, max(1, len(positions) // AT_ONCE)):
            stickers = unpacked(few)
            images = [packed(colours[stickers[:, source]]) for source, colours in self.symmetries]
            first = images[0]
            for image in images[1:]:
                same = image[:, 0] == first[:, 0]
                smaller = (image[:, 0] < first[:, 0]) | (same & (image[:, 1] < first[:, 1]))
                first = np.where(smaller[:, np.newaxis], image, first)
            least.append(unique(first))
        return len(unique(np.concatenate(least)))

    def _move(self, name: str) -> NDArray[np.int64]:
        """Return for each sticker where its colour comes from."""
        axis, side = FACES[name[0]]
        quarters = {"": 1, "2": 2, "'": 3}[name[1:]] * -side % 4  # clockwise, seen from outside
        source = np.arange(len(self.stickers))
        for at, (place, direction) in enumerate(self.stickers):
            if place[axis] == side:
                source[self.number[turned(place, axis, quarters), turned(direction, axis, quarters)]] = at
        return source

    def after(self, sequence: Iterable[str]) -> Stickers:
        """Return the colours ``(48,)`` after a sequence of moves."""
        found = self.start
        for name in sequence:
            found = found[self.moves[name]]
        return found

    def layers(self, start: Stickers, depth: int) -> list[Packed]:
        """Return the positions at each distance from a position ``(48,)``, up to ``depth``, sorted."""
        found = [np.empty((0, 2), dtype=np.uint64), packed(start[np.newaxis])]
        for _ in range(depth):
            found.append(without(without(self.neighbours(found[-1]), found[-1]), found[-2]))
        return found[1:]

    def neighbours(self, positions: Packed) -> Packed:
        """Return all positions one move away from some positions."""
        found = []
        for few in np.array_split(positions, max(1, len(positions) // AT_ONCE)):
            stickers = unpacked(few)
            found.append(unique(np.concatenate([packed(stickers[:, source]) for source in self.moves.values()])))
        return unique(np.concatenate(found))


def packed(stickers: Stickers) -> Packed:
    """Pack the colours of stickers into two numbers per position, the first half into the first number."""
    return stickers.reshape(len(stickers), 2, 24).astype(np.uint64) @ (np.uint64(1) << SHIFTS)


def unpacked(positions: Packed) -> Stickers:
    """Return the colours of packed stickers."""
    return (positions[:, :, np.newaxis] >> SHIFTS & np.uint64(3)).astype(np.uint8).reshape(len(positions), 48)


def unique(positions: Packed) -> Packed:
    """Sort positions, and remove those that are there twice."""
    ordered = positions[np.lexsort(positions.T)]
    return ordered[np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))] if len(ordered) else ordered


def without(positions: Packed, others: Packed) -> Packed:
    """Return the positions that are not among ``others``; each array contains a position at most once."""
    both, is_other = np.concatenate([positions, others]), np.repeat([False, True], [len(positions), len(others)])
    order = np.lexsort((is_other, *both.T))
    both, is_other = both[order], is_other[order]
    has_twin = np.append((both[1:] == both[:-1]).all(axis=1), False)
    kept: Packed = both[~is_other & ~has_twin]
    return kept


def common(positions: Packed, others: Packed) -> int:
    """Return the number of positions that are also among ``others``."""
    return len(positions) - len(without(positions, others))


class Notation:
    """The stickers of positions in the notation of the puzzle's pieces and orientations.

    The colour of a sticker depends only on the piece and the orientation in one place. Which place that is, and how the
    colour depends on them, is learnt from random positions.
    """

    def __init__(self, cube: Cube, puzzle: ap.Puzzle) -> None:
        self.puzzle = puzzle
        chosen = random.Random(0)
        sequences = [chosen.choices(list(cube.moves), k=chosen.randrange(SEQUENCE)) for _ in range(SEQUENCES)]
        values = self._values(np.stack([puzzle.follow(" ".join(sequence))[-1] for sequence in sequences]))
        colours = np.stack([cube.after(sequence) for sequence in sequences])
        self._learnt = [self._learn(values, colour) for colour in colours.T]

    def stickers(self, position: str) -> Stickers:
        """Return the colours of the stickers of a position ``(48,)``."""
        (values,) = self._values(self.puzzle.parse(position)[np.newaxis])
        return np.array([colour_of[values[place]] for place, colour_of in self._learnt], dtype=np.uint8)

    @staticmethod
    def _values(labels: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return ``(n, 20)`` for each place a number for its piece and orientation."""
        corners, twists, edges, flips = np.split(labels.astype(np.int64), [8, 16, 28], axis=1)
        return np.concatenate([3 * corners + twists, 3 * edges + flips], axis=1)

    @staticmethod
    def _learn(values: NDArray[np.int64], colours: NDArray[np.uint8]) -> tuple[int, dict[int, int]]:
        """Return the place that determines a sticker, and its colour for each value of the place."""
        found = []
        for place, value in enumerate(values.T):
            seen = set(zip(value.tolist(), colours.tolist(), strict=True))
            if len(seen) == len({one for one, _ in seen}):
                found.append((place, dict(seen)))
        (only,) = found
        return only


def check(cube: Cube, notation: Notation, antipodes: Iterable[str]) -> None:
    """Print the layers around the start, and how those around each antipode meet them."""
    home = cube.layers(cube.start, DEPTH)
    print("layers:", *map(len, home))
    print("up to symmetry:", *map(cube.classes, home[: CLASSES_DEPTH + 1]), flush=True)
    for position in antipodes:
        there = cube.layers(notation.stickers(position), DEPTH)
        nearer = common(there[-1], home[-1]) + common(there[-1], home[-2])
        parts = np.array_split(there[-1], PARTS)
        meets = any(common(cube.neighbours(part), home[-1]) for part in parts)
        print(f"{position}: {nearer} positions in the middle of 14 moves, a path of 15 moves: {meets}", flush=True)


def drawn(cube: Cube, notation: Notation, antipodes: Sequence[str]) -> str:
    """Return a picture with a net of each position as SVG."""
    across, down = ACROSS * 13 + 1, -(-len(antipodes) // ACROSS) * 10 + 1
    paths = [""] * 3
    for at, position in enumerate(antipodes):
        column, row = at % ACROSS * 13 + 1, at // ACROSS * 10 + 1
        for colour, (x, y) in zip(notation.stickers(position), map(in_net, cube.stickers), strict=True):
            paths[colour] += f"M{column + x} {row + y}h.9v.9h-.9z"
        for face, (x, y) in NET.items():
            paths[FACES[face][0]] += f"M{column + x + 1} {row + y + 1}h.9v.9h-.9z"
    size = f'viewBox="0 0 {across} {down}" width="{across * 6}" height="{down * 6}"'
    shapes = "".join(f'<path fill="{colour}" d="{path}"/>' for colour, path in zip(COLOURS, paths, strict=True))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect width="100%" height="100%" fill="#333"/>{shapes}</svg>\n'
    )


def in_net(sticker: tuple[Vector, Vector]) -> tuple[int, int]:
    """Return the column and row of a sticker in the net."""
    (x, y, z), direction = sticker
    axis = [abs(one) for one in direction].index(1)
    face = next(name for name, place in FACES.items() if place == (axis, direction[axis]))
    across, down = {"U": (x, -y), "D": (x, y), "F": (x, -z), "B": (-x, -z), "R": (y, -z), "L": (-y, -z)}[face]
    return NET[face][0] + across + 1, NET[face][1] + down + 1


def main() -> None:
    """Check some antipodes, and draw all of them."""
    puzzle, table = sys.argv[1:]
    with Path(table).open(encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: -int(row["symmetries"]))
    positions = [row["positions"] for row in rows]
    cube = Cube()
    notation = Notation(cube, ap.load_puzzle(puzzle))
    Path(table).with_suffix(".svg").write_text(drawn(cube, notation, positions), encoding="utf-8")
    check(cube, notation, positions[: CHECKED // 2] + positions[-CHECKED // 2 :])


if __name__ == "__main__":
    main()
