"""Segments of the journal: the new positions of a chunk in one layer, in one of two encodings.

Each position is new in exactly one layer, so all segments together are the table.

GAPS: for each position, the difference between its flat index in the chunk (row * width + column) and the index of the
previous position, or -1 for the first position. The differences are LEB128 numbers: 7 bits per byte, lowest bits first,
with 128 added to every byte except the last byte of a number.

BITS: the chunk's bitmap as little-endian 64-bit words.

Decoders check all bytes that they read. `Segment.decode` and the kernel `_fill` choose the decoder of a segment.
"""

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Bytes, Numbers
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.base.jit import integer, kernel, leading_zeros, popcount, trailing_zeros
from antipodes_tasks.bfs.bitmaps import WORD, Bitmap, Depths, bitmap_bytes, count_bits

FlatDepths = NDArray[np.uint8] | NDArray[np.uint16]

GAPS, BITS, KEYS = 0, 1, 2
"""The kinds of segments. KEYS contains the keys of a range instead of the positions of a chunk; see
`encoded_runs.encode`."""
MAX_SPARSE = 0.5
"""Maximum size of encoded positions that are sent, as a fraction of the size of their bitmap.

Encoding denser rows takes about as long as it saves on a network of 1 Gbit/s."""
_WORD_BYTES = WORD // 8
_NUMBER_BYTES = 5
"""Maximum number of bytes of a LEB128 number: 35 bits, enough for the positions of any chunk."""
_BLOCK = 1 << 15
"""Number of positions that `fill` completes at a time, so that their depths stay in a fast cache."""
_AHEAD = 4
"""Number of gaps of a word that are always written together, since a branch per gap would take longer."""
_ROOM = _NUMBER_BYTES + WORD + _AHEAD
"""Upper bound on the number of bytes written for one word."""


class Segment(NamedTuple):
    """The positions of a chunk that are new at a depth."""

    chunk: int
    depth: int
    kind: int
    """GAPS, BITS or KEYS."""
    positions: int
    """Number of positions."""
    data: NDArray[np.uint8]

    def decode(
        self, width: int, shape: tuple[int, ...], gaps: Callable[[], bool], bitmap: Callable[[Bitmap], object]
    ) -> bool:
        """Call one of two functions: ``gaps`` decodes a GAPS segment, ``bitmap`` gets a copy of the bitmap of another.

        ``shape`` is the shape of the chunk's bitmap ``(rows, words)``, and ``width`` its number of columns. Return
        False if the segment does not contain its number of positions; ``gaps`` returns the same.
        """
        if self.kind == GAPS:
            return bool(gaps())
        bits = _read_bitmap(self, width, shape)
        if bits is not None:
            bitmap(bits)
        return bits is not None


_of_thread = threading.local()


class SegmentLog:
    """Segments in memory, in the order in which they were found."""

    def __init__(self, max_gaps: float = 1.0) -> None:
        """Create a log; ``max_gaps`` is the maximum length of encoded gaps, as a fraction of that of the bitmap."""
        self.segments: list[Segment] = []
        self.size = 0
        """Number of bytes of all segments."""
        self._max_gaps = max_gaps

    def add(self, chunk: int, depth: int, layer: Bitmap, width: int, count: int) -> None:
        """Add a segment with the ``count`` positions of a chunk in ``layer`` ``(rows, words)``, unless it is empty."""
        if count:
            out = _scratch(bitmap_bytes(len(layer), width))
            kind, length = encode(layer, width, count, out, self._max_gaps)
            self.append(Segment(chunk, depth, kind, count, out[:length].copy()))

    def append(self, segment: Segment) -> None:
        """Add a segment."""
        self.segments.append(segment)
        self.size += len(segment.data)

    def of_chunks(self, first_chunk: int, end_chunk: int) -> list[Segment]:
        """Return the segments of chunks ``first_chunk`` to ``end_chunk - 1``."""
        return [one for one in self.segments if first_chunk <= one.chunk < end_chunk]


def _scratch(size: int) -> NDArray[np.uint8]:
    """Return a buffer of at least ``size`` bytes. A thread reuses its buffer, since allocating takes as long as filling
    it.
    """
    if len(getattr(_of_thread, "out", ())) < size:
        _of_thread.out = np.empty(size, dtype=np.uint8)
    out: NDArray[np.uint8] = _of_thread.out
    return out


def depths_of(segments: Sequence[Segment], depths: Depths) -> Depths:
    """Write the depths of the positions of a chunk to ``depths`` ``(rows, width)``, and return this array.

    Initially, all positions in it must be unreached.

    Raises
    ------
    StoreDamagedError
        A segment does not contain the stated number of positions.
    """
    lengths = [len(one.data) for one in segments]
    ends = np.cumsum(lengths, dtype=np.int64)
    wrong = fill(
        depths.reshape(-1),
        depths.shape[1],
        np.array([one.kind for one in segments], dtype=np.uint8),
        np.array([one.depth for one in segments], dtype=np.int64),
        np.array([one.positions for one in segments], dtype=np.int64),
        ends - lengths,
        ends,
        np.concatenate([one.data for one in segments]) if segments else np.empty(0, dtype=np.uint8),
    )
    if wrong >= 0:
        raise no_segment(segments[wrong])
    return depths


def no_segment(segment: Segment) -> StoreDamagedError:
    """Return the error for bytes that are not a valid segment."""
    return StoreDamagedError(
        f"the journal is corrupt: the segment of chunk {segment.chunk} at depth {segment.depth} does not contain "
        f"its {segment.positions:,} positions"
    )


@kernel
def _write_number(number: int, out: Bytes, length: int) -> int:
    """Write a LEB128 number after the first ``length`` bytes of ``out``; return the new length."""
    while number >= 128:
        out[np.uint64(length)] = number & 127 | 128  # unsigned: no check for negative indices
        number >>= 7
        length += 1
    out[np.uint64(length)] = number
    return length + 1


@kernel
def _append(gap: int, bits: np.uint64, out: Bytes, length: int) -> int:
    """Append the positions of a word; return the new length. The first position is ``gap`` after the previous one.

    Up to `_ROOM` bytes are written, but not all of them are used.
    """
    one, top = np.uint64(1), np.uint64(1) << np.uint64(WORD - 1)
    bit = integer(trailing_zeros(bits))
    length = _write_number(gap, out, length)
    end = length + integer(popcount(bits)) - 1
    while length < end:  # the gaps within a word are less than 64: one byte each
        for ahead in range(_AHEAD):
            bits &= bits - one
            before, bit = bit, integer(trailing_zeros(bits | top))
            out[np.uint64(length + ahead)] = bit - before
        length += _AHEAD
    return end


@kernel
def _encode_gaps(layer: Bitmap, width: int, out: Bytes, last_word: Bytes) -> int:
    """Write the gaps to the beginning of ``out``; return their length in bytes, or -1 if they do not fit.

    ``last_word`` is a buffer for the gaps of one word. If the kernel allocated this buffer, or assigned to a slice of
    ``out``, compiling it would take seconds longer, because of messages for errors that cannot occur.
    """
    length, previous = integer(0), integer(-1)  # a literal 0 would cause another compilation of _append
    for row in range(layer.shape[0]):
        for word in range(layer.shape[1]):
            bits = layer[row, word]
            if bits == 0:
                continue
            begin = row * width + word * WORD
            gap = begin + integer(trailing_zeros(bits)) - previous
            previous = begin + WORD - 1 - integer(leading_zeros(bits))
            if length + _ROOM <= len(out):
                length = _append(gap, bits, out, length)
                continue
            added = _append(gap, bits, last_word, integer(0))
            if length + added > len(out):
                return -1
            for place in range(added):
                out[length + place] = last_word[place]
            length += added
    return length


def encode(layer: Bitmap, width: int, count: int, out: Bytes, max_gaps: float = 1.0) -> tuple[int, int]:
    """Write a chunk's positions in a layer to the beginning of ``out``, as gaps or as a bitmap.

    ``layer`` ``(rows, words)`` must have ``count`` > 0 bits set, none of them past the last column, and ``out`` must
    have room for `bitmap_bytes`. Gaps are written if their length is at most ``max_gaps`` times that of the bitmap.
    Return the kind of segment and its length in bytes. The rest of ``out`` is undefined.
    """
    size = bitmap_bytes(layer.shape[0], width)
    last_word, most = np.empty(_ROOM, dtype=np.uint8), int(max_gaps * size)
    length = _encode_gaps(layer, width, out[:most], last_word) if count <= most else -1  # a gap takes a byte or more
    if length >= 0:
        return GAPS, length
    out[:size] = layer.reshape(-1).view(np.uint8)
    return BITS, size


def encode_sparse(layer: Bitmap) -> Segment | None:
    """Return a GAPS segment with the positions of a bitmap ``(rows, words)``, or None if it is not much smaller."""
    count, out = count_bits(layer), np.empty(int(MAX_SPARSE * layer.nbytes), dtype=np.uint8)
    flat, last_word = layer.reshape(1, -1), np.empty(_ROOM, dtype=np.uint8)  # one row: no divisions by the width
    length = _encode_gaps(flat, 0, out, last_word) if count <= len(out) else -1  # a gap takes a byte or more
    return None if length < 0 else Segment(0, 0, GAPS, count, out[:length].copy())


def decode_sparse(segment: Segment, shape: tuple[int, ...]) -> Bitmap:
    """Return the bitmap ``(rows, words)`` of a segment made by `encode_sparse`."""
    layer = np.zeros(shape, dtype=np.uint64)
    if not set_bits(segment, WORD * layer.size, layer.reshape(1, -1)):
        raise no_segment(segment)
    return layer


@kernel
def _read_number(data: Bytes, begin: int) -> tuple[int, int]:
    """Return the LEB128 number at ``begin`` and the end of its bytes.

    The number is 0 if it is truncated, too long, or not encoded in the fewest possible bytes.
    """
    number, end = 0, begin
    while end < len(data) and end - begin < _NUMBER_BYTES:
        byte = integer(data[end])
        number |= (byte & 127) << 7 * (end - begin)
        end += 1
        if byte < 128:
            return (number if byte > 0 else 0), end
    return 0, end


@kernel
def read_gap(data: Bytes, begin: int) -> tuple[int, int]:
    """Read as `_read_number` does, with a fast path for numbers of one byte; there must be at least one byte."""
    number = integer(data[np.uint64(begin)])
    return (number, begin + 1) if 0 < number < 128 else _read_number(data, begin)


@kernel
def _set_gaps(data: Bytes, count: int, width: int, layer: Bitmap) -> bool:
    """Set the positions of a GAPS segment, as `set_bits` does."""
    row, column, end = 0, -1, 0
    while end < len(data):
        gap, end = read_gap(data, end)
        column += gap
        if column >= width:
            row += column // width
            column %= width
        if gap == 0 or row >= layer.shape[0]:
            return False
        layer[np.uint64(row), np.uint64(column >> 6)] |= np.uint64(1) << np.uint64(column & 63)
        count -= 1
    return count == 0


def _read_bitmap(one: Segment, width: int, shape: tuple[int, ...]) -> Bitmap | None:
    """Return a copy of the bitmap of a BITS segment; None if the segment does not contain its number of positions."""
    if one.kind != BITS or len(one.data) != shape[0] * shape[1] * _WORD_BYTES:
        return None
    bits = np.frombuffer(one.data, dtype=np.uint64).reshape(shape).copy()  # aligned, as kernels expect
    last_words, padding = bits[:, -1], np.uint64(-width % WORD)
    count = np.bitwise_count(bits).sum(dtype=np.int64)
    return None if (last_words << padding >> padding != last_words).any() or count != one.positions else bits


def set_bits(one: Segment, width: int, layer: Bitmap) -> bool:
    """Set the positions of a segment in its chunk's bitmap; return False if it does not contain its positions.

    If it is malformed, some positions of the chunk may have been set, but nothing else.
    """
    return one.decode(
        width,
        layer.shape,
        lambda: _set_gaps(one.data, one.positions, width, layer),
        lambda bits: np.bitwise_or(layer, bits, out=layer),
    )


@kernel
def _fill_short_gaps(
    depths: FlatDepths, depth: int, data: Bytes, end: int, position: int, stop: int
) -> tuple[int, int]:
    """Fill as `_fill_gaps` does while four consecutive gaps take one byte each, checking four at a time."""
    inside = len(depths) - 4 * 127
    while position < stop and position < inside and end + 4 <= len(data):
        place = np.uint64(end)
        first, second = integer(data[place]), integer(data[place + np.uint64(1)])
        third, fourth = integer(data[place + np.uint64(2)]), integer(data[place + np.uint64(3)])
        if first | second | third | fourth >= 128 or first == 0 or second == 0 or third == 0 or fourth == 0:
            break
        two = position + (first + second)  # this order of additions gives the shortest dependency chain
        four = two + (third + fourth)
        depths[np.uint64(position + first)] = depth
        depths[np.uint64(two)] = depth
        depths[np.uint64(two + third)] = depth
        depths[np.uint64(four)] = depth
        position = four
        end += 4
    return end, position


@kernel
def _fill_gaps(
    depths: FlatDepths, depth: int, data: Bytes, begin: int, position: int, stop: int, dense: bool
) -> tuple[int, int, int]:
    """Decode gaps from byte ``begin`` on, until a position reaches ``stop`` or ``data`` ends.

    ``position`` is the previous position. Return the next byte, the last position and the number of positions, which is
    -1 if the bytes are malformed. ``dense`` is only a hint that nearly all gaps take one byte.
    """
    found, end = 0, begin
    while end < len(data) and position < stop:
        if dense:
            before = end
            end, position = _fill_short_gaps(depths, depth, data, end, position, stop)
            found += end - before  # one position per byte
            if end == len(data) or position >= stop:
                break
        gap, end = read_gap(data, end)
        position += gap
        if gap == 0 or position >= len(depths):
            return end, position, -1
        depths[np.uint64(position)] = depth
        found += 1
    return end, position, found


@kernel
def _word(data: Bytes, begin: int) -> np.uint64:
    """Return the 8 bytes at ``begin`` as a word."""
    word = np.uint64(0)
    for byte in range(8):
        word |= np.uint64(data[np.uint64(begin + byte)]) << np.uint64(8 * byte)
    return word


@kernel
def _fill_bitmap(depths: FlatDepths, depth: int, data: Bytes, width: int, begin: int, stop: int) -> tuple[int, int]:
    """Decode a bitmap from byte ``begin`` on, until a word begins at or after position ``stop``, or ``data`` ends.

    Return the next byte and the number of positions, which is -1 if there are bits past the last column.
    """
    one = np.uint64(1)
    row_bytes = (width + WORD - 1) // WORD * _WORD_BYTES
    row, column = begin // row_bytes, begin % row_bytes * 8
    found, end = 0, begin
    while end < len(data) and row * width + column < stop:
        rest = _word(data, end)
        if column + WORD > width and rest >> np.uint64(width - column) != 0:
            return end, -1
        found += integer(popcount(rest))
        while rest != 0:
            depths[np.uint64(row * width + column + integer(trailing_zeros(rest)))] = depth
            rest &= rest - one
        end += _WORD_BYTES
        column += WORD
        if column >= width:
            row, column = row + 1, 0
    return end, found


def fill(
    depths: FlatDepths,
    width: int,
    kinds: Bytes,
    segment_depths: Numbers,
    counts: Numbers,
    begins: Numbers,
    ends: Numbers,
    data: Bytes,
) -> int:
    """Write the depth of every position in a chunk's segments; return the index of the first malformed segment, or -1.

    ``depths`` ``(rows * width,)`` must initially contain the depth of unreached positions. Segment i consists of the
    bytes ``begins[i]`` to ``ends[i] - 1`` of ``data``, and has ``counts[i]`` positions at depth ``segment_depths[i]``.
    If a segment is malformed, the depths are undefined.
    """
    inside = (begins >= 0) & (begins <= ends) & (ends <= len(data))
    whole = (kinds == GAPS) | ((kinds == BITS) & (ends - begins == bitmap_bytes(len(depths) // width, width)))
    found = np.where(inside & whole, 0, -1)
    decoded, positions = np.zeros(len(kinds), dtype=np.int64), np.full(len(kinds), -1)
    _fill(depths, width, kinds, segment_depths, counts, begins, ends, data, decoded, positions, found)
    wrong = np.flatnonzero((found != counts) | (decoded != ends - begins))
    return int(wrong[0]) if len(wrong) else -1


@kernel
def _fill(
    depths: FlatDepths,
    width: int,
    kinds: Bytes,
    segment_depths: Numbers,
    counts: Numbers,
    begins: Numbers,
    ends: Numbers,
    data: Bytes,
    decoded: Numbers,
    positions: Numbers,
    found: Numbers,
) -> None:
    """Fill as `fill` does, block by block.

    The state of each segment consists of the number of bytes ``decoded``, the last position decoded (in ``positions``),
    and the number of positions ``found``, which is -1 if the segment is malformed.
    """
    for block in range(0, len(depths), _BLOCK):
        stop = block + _BLOCK
        for i in range(len(kinds)):
            if found[i] < 0:
                continue
            segment, depth = data[begins[i] : ends[i]], segment_depths[i]
            if kinds[i] == GAPS:
                dense = len(segment) - counts[i] < counts[i] >> 4
                at = decoded[i], positions[i], stop
                decoded[i], positions[i], new = _fill_gaps(depths, depth, segment, *at, dense)
            else:
                decoded[i], new = _fill_bitmap(depths, depth, segment, width, decoded[i], stop)
            found[i] = found[i] + new if new >= 0 else -1
