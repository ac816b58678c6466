import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Bytes
from antipodes_tasks.bfs import encoded_layers
from antipodes_tasks.bfs.bitmaps import Bitmap, bitmap_bytes, count_bits, expand, words
from antipodes_tasks.bfs.encoded_layers import has_bits, push, remove, tally
from antipodes_tasks.bfs.segments import BITS, GAPS, KEYS, Segment, encode, fill, set_bits
from antipodes_tasks.move_tables import MoveTables

Flags = NDArray[np.bool_]
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
widths = st.sampled_from([1, 2, 7, 63, 64, 65, 200, 11_880, 100_000])
densities = st.sampled_from([0.00003, 0.001, 0.01, 0.05, 0.12, 0.3, 1.0])


def to_bits(flags: Flags) -> Bitmap:
    padded = np.zeros((flags.shape[0], words(flags.shape[1]) * 64), dtype=bool)
    padded[:, : flags.shape[1]] = flags
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def random_flags(rng: np.random.Generator, rows: int, width: int, density: float) -> Flags:
    """At least one position."""
    flags = rng.random((rows, width)) < density
    flags.flat[rng.integers(flags.size)] = True
    return flags


def leb128(numbers: list[int]) -> Bytes:
    found = []
    for number in numbers:
        while number >= 128:
            found.append(number & 127 | 128)
            number >>= 7
        found.append(number)
    return np.array(found, dtype=np.uint8)


def gaps_of(flags: Flags) -> Bytes:
    return leb128(np.diff(np.flatnonzero(flags), prepend=-1).tolist())


def encoded(flags: Flags, max_gaps: float = 1.0) -> tuple[int, Bytes]:
    out = np.full(bitmap_bytes(*flags.shape), 99, dtype=np.uint8)
    kind, length = encode(to_bits(flags), flags.shape[1], int(flags.sum()), out, max_gaps)
    return kind, out[:length].copy()


def filled(depths: Flags | NDArray[np.uint16], width: int, segments: list[tuple[int, int, int, Bytes]]) -> int:
    """`fill` with (kind, depth, count, data) of each segment, and some bytes between them that are in none."""
    begins, pieces = [], [np.full(3, 1, dtype=np.uint8)]
    for *_, data in segments:
        begins.append(sum(map(len, pieces)))
        pieces += [data, np.full(1, 1, dtype=np.uint8)]
    kinds, numbers, counts = (np.array([segment[place] for segment in segments], dtype=np.int64) for place in range(3))
    starts = np.array(begins, dtype=np.int64)
    ends = starts + np.array([len(segment[3]) for segment in segments], dtype=np.int64)
    return fill(depths, width, kinds.astype(np.uint8), numbers, counts, starts, ends, np.concatenate(pieces))


def guarded(size: int, dtype: type) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """An array and, around it, memory that must keep its zeros."""
    memory = np.zeros(size + 2000, dtype=dtype)
    return memory[1000:-1000], memory


def assert_guards_intact(memory: NDArray[np.uint16]) -> None:
    assert not memory[:1000].any()
    assert not memory[-1000:].any()


@given(seeds, widths, st.integers(1, 6), densities, st.sampled_from([0.5, 1.0]))
def test_encode_writes_gaps_up_to_a_fraction_of_the_bitmap(
    rng: np.random.Generator, width: int, rows: int, density: float, max_gaps: float
) -> None:
    flags = random_flags(rng, rows, width, density)
    kind, data = encoded(flags, max_gaps)
    gaps, bitmap = gaps_of(flags), to_bits(flags).view(np.uint8).ravel()
    expected = GAPS if len(gaps) <= max_gaps * len(bitmap) else BITS
    assert kind == expected
    assert np.array_equal(data, bitmap if kind == BITS else gaps)


@given(seeds, widths, st.integers(1, 6), densities, st.sampled_from([GAPS, BITS]))
def test_set_bits(rng: np.random.Generator, width: int, rows: int, density: float, kind: int) -> None:
    flags, before = random_flags(rng, rows, width, density), rng.random((rows, width)) < 0.2
    data = gaps_of(flags) if kind == GAPS else to_bits(flags).view(np.uint8).ravel()
    layer = to_bits(before)
    assert set_bits(Segment(0, 1, kind, int(flags.sum()), data), width, layer)
    assert np.array_equal(layer, to_bits(before | flags))


def test_set_bits_reads_data_at_any_address() -> None:
    flags = np.ones((2, 64), dtype=bool)
    data = np.concatenate([np.zeros(1, dtype=np.uint8), to_bits(flags).view(np.uint8).ravel()])[1:]
    layer = np.zeros((2, 1), dtype=np.uint64)
    assert set_bits(Segment(0, 1, BITS, 128, data), 64, layer)
    assert np.array_equal(layer, to_bits(flags))


@given(seeds, widths, st.integers(1, 6), st.integers(1, 12), st.sampled_from([np.uint8, np.uint16]))
def test_fill(rng: np.random.Generator, width: int, rows: int, layers: int, dtype: type) -> None:
    unreached = np.iinfo(dtype).max
    shares = rng.dirichlet(np.full(layers + 1, 0.3))
    depths = rng.choice(layers + 1, (rows, width), p=shares).astype(dtype)
    depths[depths == layers] = unreached
    segments = []
    for depth in np.unique(depths[depths != unreached]):
        flags = depths == depth
        kind, data = encoded(flags)
        if rng.random() < 0.2:
            kind, data = BITS, to_bits(flags).view(np.uint8).ravel()
        segments.append((kind, int(depth), int(flags.sum()), data))
    flat = np.full(rows * width, unreached, dtype=dtype)
    assert filled(flat, width, segments) == -1
    assert np.array_equal(flat.reshape(rows, width), depths)


GOOD = leb128([1, 300, 1, 5])  # positions 0, 300, 301, 306 of 4 rows of 100
MALFORMED = {
    "cut": (GAPS, GOOD[:-1], 4),
    "cut in a number": (GAPS, GOOD[:2], 2),
    "too long": (GAPS, leb128([1, 300, 1, 5, 1]), 4),
    "empty": (GAPS, GOOD[:0], 1),
    "a gap past the end": (GAPS, leb128([1, 400]), 2),
    "a gap far past the end": (GAPS, leb128([1, 2**34]), 2),
    "a short gap past the end": (GAPS, leb128([400, 1]), 2),
    "many short gaps past the end": (GAPS, leb128([390] + [3] * 40), 41),
    "no gap": (GAPS, leb128([1, 0, 5, 1]), 4),
    "no gap among short ones": (GAPS, leb128([1] * 9 + [0] + [1] * 20), 30),
    "a number not in its shortest form": (GAPS, np.array([0x81, 0x00], dtype=np.uint8), 1),
    "a number too long": (GAPS, np.array([0x80, 0x80, 0x80, 0x80, 0x80, 0x01], dtype=np.uint8), 1),
    "an endless number": (GAPS, np.full(20, 0x80, dtype=np.uint8), 1),
    "a bitmap that is cut": (BITS, np.ones(63, dtype=np.uint8), 63),
    "a bitmap of more rows": (BITS, np.ones(80, dtype=np.uint8), 80),
    "a bitmap with bits past the last column": (BITS, np.full(64, 255, dtype=np.uint8), 512),
    "a bitmap of another count": (BITS, to_bits(np.ones((4, 100), dtype=bool)).view(np.uint8).ravel(), 399),
    "an unknown kind": (2, GOOD, 4),
}


@pytest.mark.parametrize(("kind", "data", "count"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_segments_are_found(kind: int, data: Bytes, count: int) -> None:
    layer, memory = guarded(8, np.uint64)
    assert not set_bits(Segment(0, 1, kind, count, data), 100, layer.reshape(4, 2).view(np.uint64))
    assert_guards_intact(memory)
    depths, memory = guarded(400, np.uint8)
    good = GAPS, 7, 4, GOOD
    assert filled(depths, 100, [good, (kind, 8, count, data), good]) == 1
    assert_guards_intact(memory)


def test_the_first_malformed_segment_is_named() -> None:
    cut_gaps, cut_bitmap = (GAPS, 8, 4, GOOD[:-1]), (BITS, 9, 63, np.ones(63, dtype=np.uint8))
    for segments in ([cut_gaps, cut_bitmap], [cut_bitmap, cut_gaps]):
        assert filled(np.zeros(400, dtype=np.uint8), 100, [(GAPS, 7, 4, GOOD), *segments]) == 1


def test_segments_that_are_not_in_the_data_are_found() -> None:
    depths, one, zero = np.zeros(400, dtype=np.uint8), np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for begin, end in [(-1, 2), (3, 2), (0, len(GOOD) + 1)]:
        bounds = np.array([begin]), np.array([end])
        assert fill(depths, 100, np.zeros(1, dtype=np.uint8), zero, one, *bounds, GOOD) == 0


@given(seeds, widths, st.integers(1, 4), st.sampled_from([GAPS, BITS]), densities)
def test_damaged_bytes_stay_within_the_chunk(
    rng: np.random.Generator, width: int, rows: int, kind: int, density: float
) -> None:
    flags = random_flags(rng, rows, width, density)
    data = gaps_of(flags) if kind == GAPS else to_bits(flags).view(np.uint8).ravel().copy()
    damaged = rng.integers(len(data), size=3)
    data[damaged] = rng.integers(256, size=3)
    layer, memory = guarded(rows * words(width), np.uint64)
    segment = Segment(0, 1, kind, int(flags.sum()), data)
    accepted = set_bits(segment, width, layer.reshape(rows, -1).view(np.uint64))
    assert_guards_intact(memory)
    depths, memory = guarded(rows * width, np.uint8)
    assert (filled(depths, width, [(kind, 1, int(flags.sum()), data)]) == -1) == accepted
    assert_guards_intact(memory)
    assert depths.any() or not accepted


ROWS, WIDTH = 12, 130


def random_tables(rng: np.random.Generator) -> MoveTables:
    """Return tables with up to four moves per row, some of them illegal in some columns."""
    target = rng.integers(0, ROWS, (ROWS, 4)).astype(np.int32)
    target[np.arange(4) >= rng.integers(0, 5, ROWS)[:, np.newaxis]] = -1
    maps = np.array([np.arange(WIDTH), *(rng.permutation(WIDTH) for _ in range(3))], dtype=np.int32)
    maps[2, rng.random(WIDTH) < 0.3] = -1
    return MoveTables(target, rng.integers(0, 4, (ROWS, 4)).astype(np.int16), maps, False)


def segment_of(flags: NDArray[np.bool_], kind: int, chunk: int = 0) -> Segment:
    data = gaps_of(flags) if kind == GAPS else to_bits(flags).view(np.uint8).ravel()
    return Segment(chunk, 3, kind, int(flags.sum()), data)


@pytest.mark.parametrize("columns", [1, 3, encoded_layers.MAX_COLUMNS])
@given(seeds, st.sampled_from([0.002, 0.05, 0.6]), st.sampled_from([GAPS, BITS]))
def test_push(columns: int, rng: np.random.Generator, density: float, kind: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded_layers, "MAX_COLUMNS", columns)
        check_push(rng, density, kind)


def check_push(rng: np.random.Generator, density: float, kind: int) -> None:
    tables, rows = random_tables(rng), range(4, 9)
    flags = random_flags(rng, len(rows), WIDTH, density)
    expected: Bitmap = np.zeros((6, words(WIDTH)), dtype=np.uint64)
    found = expected.copy()
    expand(expected, 5, to_bits(flags), None, np.arange(4, 9, dtype=np.int32), *tables[:3])
    assert push(segment_of(flags, kind), rows, WIDTH, found, 5, tables)
    assert np.array_equal(found, expected)


@given(seeds, st.sampled_from([0.002, 0.05, 0.6]), st.sampled_from([GAPS, BITS]))
def test_remove_and_tally(rng: np.random.Generator, density: float, kind: int) -> None:
    flags, before = random_flags(rng, ROWS, WIDTH, density), rng.random((ROWS, WIDTH)) < 0.3
    layer, weights = to_bits(before), rng.integers(1, 48, ROWS)
    assert remove(segment_of(flags, kind), WIDTH, layer)
    left = before & ~flags
    assert np.array_equal(layer, to_bits(left))
    assert has_bits(layer) == left.any()
    assert tally(layer, None) == (count_bits(layer), count_bits(layer))
    assert tally(layer, weights) == (left.sum(), left.sum(axis=1) @ weights)


@pytest.mark.parametrize("damage", ["count", "truncated", "zero", "beyond", "padding", "kind"])
@pytest.mark.parametrize("kind", [GAPS, BITS])
def test_malformed_segments_are_refused(kind: int, damage: str) -> None:
    rng = np.random.default_rng(1)
    one, tables = segment_of(random_flags(rng, 5, WIDTH, 0.1), kind), random_tables(rng)
    data = one.data.copy()
    if damage == "count":
        one = one._replace(positions=one.positions + 1)
    elif damage == "truncated":
        one = one._replace(data=data[:-1])
    elif damage == "kind":
        one = one._replace(kind=KEYS)
    else:
        data[{"zero": 0, "beyond": -1, "padding": -1}[damage]] = {"zero": 0, "beyond": 127, "padding": 255}[damage]
        if damage == "beyond":
            data = np.concatenate([data, np.full(8, 127, dtype=np.uint8)])
        one = one._replace(data=data)
        if damage == "zero" and kind == BITS:
            one = one._replace(positions=one.positions + 99)
    layer = np.zeros((5, words(WIDTH)), dtype=np.uint64)
    assert not push(one, range(5), WIDTH, layer, 0, tables)
    assert not remove(one, WIDTH, layer)
