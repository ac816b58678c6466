"""Runs: sorted arrays of distinct keys, encoded as bytes for journals and for sets of visited positions.

One-word keys are encoded as LEB128 numbers: 7 bits per byte, lowest bits first, with 128 added to every byte except the
last byte of a number. The first number is the first key, and each further number is the difference from the previous
key. Keys of several words are stored as little-endian words, the first word first.
"""

from collections.abc import Sequence

import numpy as np

from antipodes_tasks.base.array_types import Bytes, Numbers
from antipodes_tasks.base.jit import integer, kernel, trailing_zeros
from antipodes_tasks.keys.packing import Keys
from antipodes_tasks.keys.sorted_keys import difference

WORD, WORD_BYTES = 64, 8
AHEAD = 4
"""Number of bytes that are always written or read together, whether they are needed or not."""
_SEVEN, _LOW, _MORE, _FIVE_BYTES = np.uint64(7), np.uint64(127), np.uint64(128), np.uint64(1 << 28)


def no_keys(words: int) -> Keys:
    """Return an empty array of keys with this number of words."""
    return np.empty(0 if words == 1 else (0, words), dtype=np.uint64)


def integers(keys: Keys | Numbers) -> list[int]:
    """Return the keys as Python integers."""
    if keys.ndim == 1:
        found: list[int] = keys.tolist()
        return found
    content, size = keys.astype(">u8").tobytes(), WORD_BYTES * keys.shape[1]
    return [int.from_bytes(content[at : at + size], "big") for at in range(0, len(content), size)]


def of_integers(numbers: Sequence[int], words: int) -> Keys:
    """Return Python integers as keys."""
    content = b"".join(number.to_bytes(WORD_BYTES * words, "big") for number in numbers)
    rows = np.frombuffer(content, dtype=">u8").astype(np.uint64).reshape(len(numbers), words)
    return rows[:, 0].copy() if words == 1 else rows


def encode(keys: Keys) -> Bytes:
    """Return the bytes of sorted distinct keys."""
    return encode_parts(keys, np.array([0, len(keys)]))[0]


def encode_parts(keys: Keys, begins: Numbers) -> tuple[Bytes, Numbers]:
    """Encode consecutive parts of sorted keys as separate runs; return the bytes, and the offset of each part's bytes.

    ``begins`` contains the index of each part's first key, and then the number of keys; the offsets end with the number
    of bytes. Both are int64 arrays ``(parts + 1,)``.
    """
    if keys.ndim > 1:
        return np.frombuffer(keys.astype("<u8").tobytes(), dtype=np.uint8), begins * (WORD_BYTES * keys.shape[1])
    places = np.zeros(len(begins), dtype=np.int64)
    _measure(keys, begins, places)
    out = np.empty(places[-1] + AHEAD, dtype=np.uint8)
    _write(keys, begins, out)
    return out[: places[-1]], places


def decode(data: Bytes, count: int, words: int) -> Keys | None:
    """Return ``count`` sorted keys from their encoding; None if the bytes do not encode exactly this many keys."""
    if words > 1:
        if len(data) != count * words * WORD_BYTES:
            return None
        return np.frombuffer(data.tobytes(), dtype="<u8").astype(np.uint64).reshape(count, words)
    if count > len(data):
        return None
    keys = np.empty(count, dtype=np.uint64)
    return keys if _read(data, keys) else None


def without_run(keys: Keys, data: Bytes, count: int) -> Keys:
    """Return the sorted keys that are not in a run of ``count`` encoded keys; the run must be valid."""
    if keys.ndim > 1:
        run = decode(data, count, keys.shape[1])
        assert run is not None
        return difference(keys, run)
    out = np.empty_like(keys)
    return out[: _subtract(keys, data, out)]


@kernel
def _measure(keys: Keys, begins: Numbers, places: Numbers) -> None:
    """Write the end of each part's bytes to ``places``."""
    length = 0
    for part in range(len(begins) - 1):
        before = np.uint64(0)
        for i in range(begins[part], begins[part + 1]):
            number = keys[np.uint64(i)] - before
            before = keys[np.uint64(i)]
            length += 1
            for bits in range(7, WORD, 7):
                length += number >= np.uint64(1) << np.uint64(bits)
        places[part + 1] = length


@kernel
def _write(keys: Keys, begins: Numbers, out: Bytes) -> None:
    """Write the parts of the keys to ``out``, which must have room for them and AHEAD more bytes.

    Numbers of up to 28 bits, which are nearly all, are written without branches, since their lengths are unpredictable.
    """
    length, one = np.uint64(0), np.uint64(1)
    for part in range(len(begins) - 1):
        before = np.uint64(0)
        for i in range(begins[part], begins[part + 1]):
            number = keys[np.uint64(i)] - before
            before = keys[np.uint64(i)]
            while number >= _FIVE_BYTES:
                out[length] = (number & _LOW) | _MORE
                number >>= _SEVEN
                length += one
            second, third, fourth = number >> _SEVEN, number >> np.uint64(14), number >> np.uint64(21)
            more, third_more, fourth_more = (
                np.uint64(second > np.uint64(0)),
                np.uint64(third > np.uint64(0)),
                np.uint64(fourth > np.uint64(0)),
            )
            out[length] = (number & _LOW) | more << _SEVEN
            out[length + one] = (second & _LOW) | third_more << _SEVEN
            out[length + np.uint64(2)] = (third & _LOW) | fourth_more << _SEVEN
            out[length + np.uint64(3)] = fourth
            length += one + more + third_more + fourth_more


@kernel
def _number(data: Bytes, at: int) -> tuple[np.uint64, int]:
    """Return the number at an offset, and the offset after it.

    The offset is ``len(data) + 1`` if the number is truncated or has more than 64 bits.
    """
    if at + AHEAD <= len(data):
        place = np.uint64(at)
        word = np.uint64(data[place]) | np.uint64(data[place + np.uint64(1)]) << np.uint64(8)
        word |= np.uint64(data[place + np.uint64(2)]) << np.uint64(16)
        word |= np.uint64(data[place + np.uint64(3)]) << np.uint64(24)
        ends = ~word & np.uint64(0x80808080)
        if ends != np.uint64(0):
            last = trailing_zeros(ends)
            word &= (np.uint64(1) << last) - np.uint64(1)
            number = word & _LOW | word >> np.uint64(1) & np.uint64(127 << 7)
            number |= word >> np.uint64(2) & np.uint64(127 << 14) | word >> np.uint64(3) & np.uint64(127 << 21)
            return number, at + integer(last >> np.uint64(3)) + 1
    number, shift = np.uint64(0), np.uint64(0)
    while at < len(data) and data[np.uint64(at)] > 127 and shift < np.uint64(63):
        number |= (np.uint64(data[np.uint64(at)]) & _LOW) << shift
        shift += _SEVEN
        at += 1
    if at >= len(data):
        return number, len(data) + 1
    if shift >= np.uint64(63) and data[np.uint64(at)] > 1:
        return number, len(data) + 1
    return number | np.uint64(data[np.uint64(at)]) << shift, at + 1


@kernel
def _read(data: Bytes, keys: Keys) -> bool:
    """Decode the bytes into ``keys``; return False if there are more or fewer keys, or the keys are not ascending."""
    at, key = 0, np.uint64(0)
    for i in range(len(keys)):
        number, at = _number(data, at)
        if i > 0 and (number == np.uint64(0) or key + number < key):
            return False
        key += number
        keys[np.uint64(i)] = key
        if at > len(data):
            return False
    return at == len(data)


@kernel
def _subtract(keys: Keys, data: Bytes, out: Keys) -> int:
    """Write the keys that are not in a run to ``out``, ascending; return their number."""
    count, at, other, begun = 0, 0, np.uint64(0), False
    for i in range(len(keys)):
        key = keys[np.uint64(i)]
        while at < len(data) and (not begun or other < key):
            begun = True
            number, at = _number(data, at)
            other += number
        out[np.uint64(count)] = key  # without a branch, which would often be mispredicted
        count += not (begun and other == key)
    return count
