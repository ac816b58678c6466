import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from antipodes_tasks.bfs.bitmaps import (
    Bitmap,
    boundary_lines,
    count_bits,
    expand,
    first_positions,
    mark,
    pull,
    settle,
    visit_marked,
    words,
)
from antipodes_tasks.move_tables import ILLEGAL

Flags = NDArray[np.bool_]
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
widths = st.sampled_from([1, 2, 63, 64, 65, 128, 130, 200])


def to_bits(flags: Flags) -> Bitmap:
    padded = np.zeros((flags.shape[0], words(flags.shape[1]) * 64), dtype=bool)
    padded[:, : flags.shape[1]] = flags
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def to_flags(bits: Bitmap, width: int) -> Flags:
    flags = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little").astype(bool)
    assert not flags[:, width:].any(), "bits behind the last column"
    return flags[:, :width]


def masked(rng: np.random.Generator, flags: Flags) -> tuple[Bitmap, Bitmap | None]:
    """Bits and a mask that have these flags together, or the bits alone."""
    if rng.random() < 0.5:
        return to_bits(flags), None
    others = rng.random(flags.shape) < 0.5
    return to_bits(flags | others), to_bits(flags | (~others & (rng.random(flags.shape) < 0.5)))


@given(seeds, widths, st.integers(1, 6), st.integers(0, 4))
def test_expand(rng: np.random.Generator, width: int, rows: int, moves: int) -> None:
    first, covered = 2, 5
    flags = rng.random((rows, width)) < rng.random()
    target = -np.sort(-rng.integers(-1, 10, (rows + 3, moves), dtype=np.int32), axis=1)  # illegal ones last
    column_map = rng.integers(0, 3, (rows + 3, moves), dtype=np.int16)
    lines = rng.permutation(rows + 3)[:rows].astype(np.int32)
    column_maps = np.array([np.arange(width), rng.permutation(width), rng.permutation(width)], dtype=np.int32)
    column_maps[2, rng.random(width) < 0.3] = ILLEGAL
    before = rng.random((covered, width)) < 0.1
    expected = before.copy()
    for line, column in np.argwhere(flags):
        row = lines[line]
        for to_row, number in zip(target[row], column_map[row], strict=True):
            if first <= to_row < first + covered and column_maps[number, column] != ILLEGAL:
                expected[to_row - first, column_maps[number, column]] = True
    incoming = to_bits(before)
    expand(incoming, first, *masked(rng, flags), lines, target, column_map, column_maps)
    assert np.array_equal(to_flags(incoming, width), expected)


@given(seeds, widths, st.integers(0, 6), st.integers(0, 4))
def test_pull(rng: np.random.Generator, width: int, rows: int, moves: int) -> None:
    first, covered = 2, 5
    flags, visited = rng.random((rows, width)) < rng.random(), rng.random((covered, width)) < rng.random()
    target = -np.sort(-rng.integers(-1, 10, (first + covered, moves), dtype=np.int32), axis=1)  # illegal ones last
    column_map = rng.integers(0, 3, (first + covered, moves), dtype=np.int16)
    lines = np.sort(rng.permutation(10)[:rows]).astype(np.int32)
    column_maps = np.array([np.arange(width), rng.permutation(width), rng.permutation(width)], dtype=np.int32)
    column_maps[2, rng.random(width) < 0.3] = ILLEGAL
    before = rng.random((covered, width)) < 0.1
    expected = before.copy()
    frontier = dict(zip(lines.tolist(), flags, strict=True))
    for row, column in np.argwhere(~visited):
        for to_row, number in zip(target[first + row], column_map[first + row], strict=True):
            to_column = column_maps[number, column]
            if to_row in frontier and to_column != ILLEGAL and frontier[to_row][to_column]:
                expected[row, column] = True
    incoming = to_bits(before)
    pull(incoming, to_bits(visited), first, *masked(rng, flags), lines, target, column_map, column_maps)
    assert np.array_equal(to_flags(incoming, width), expected)


@given(seeds, widths, st.integers(1, 6))
def test_marks(rng: np.random.Generator, width: int, rows: int) -> None:
    flags, visited, last = (rng.random((rows, width)) < rng.random() for _ in range(3))
    last &= visited
    incoming, old, marks = to_bits(flags), to_bits(visited), to_bits(last)
    new = flags & ~visited
    assert mark(incoming, old, marks) == np.count_nonzero(new)
    assert np.array_equal(to_flags(incoming, width), new)
    assert np.array_equal(to_flags(old, width), visited), "others read the last layer by it"
    assert np.array_equal(to_flags(marks & old, width), last)
    visit_marked(old, marks)
    assert np.array_equal(to_flags(old, width), visited | flags)
    assert np.array_equal(to_flags(marks, width), new)


@given(seeds, widths, st.integers(1, 6))
def test_settle(rng: np.random.Generator, width: int, rows: int) -> None:
    reached, known = rng.random((2, rows, width)) < 0.4
    incoming, visited = to_bits(reached), to_bits(known)
    assert settle(incoming, visited) == (reached & ~known).sum()
    assert np.array_equal(to_flags(incoming, width), reached & ~known)
    assert np.array_equal(to_flags(visited, width), known | reached)


@given(seeds, st.integers(1, 8), st.integers(0, 4))
def test_boundary_lines(rng: np.random.Generator, rows: int, moves: int) -> None:
    flags = rng.random((rows, 70)) < rng.choice([0, 0.01])
    target = -np.sort(-rng.integers(-1, 10, (rows + 3, moves), dtype=np.int32), axis=1)  # illegal ones last
    lines = rng.permutation(rows + 3)[:rows].astype(np.int32)
    into = ((target >= 1) & (target < 3)) | ((target >= 6) & (target < 7))
    expected = [line for line in range(rows) if flags[line].any() and into[lines[line]].any()]
    ranges = np.array([(1, 3), (6, 7)], dtype=np.int32)
    assert boundary_lines(to_bits(flags), lines, target, ranges).tolist() == expected


@given(seeds, widths, st.integers(1, 6), st.integers(0, 30))
def test_bits_are_counted_and_listed(rng: np.random.Generator, width: int, rows: int, limit: int) -> None:
    flags = rng.random((rows, width)) < rng.random()
    assert count_bits(to_bits(flags)) == flags.sum()
    assert first_positions(to_bits(flags), width, limit).tolist() == np.flatnonzero(flags)[:limit].tolist()
