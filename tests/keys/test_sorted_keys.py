"""Sorted arrays of keys, of one word and of several, against sets of tuples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes_tasks.keys.packing import Keys, rows_of, squeezed
from antipodes_tasks.keys.sorted_keys import cut, difference, find, merge, sorted_unique
from antipodes_tasks.keys.sums import mixed

Tuples = list[tuple[int, ...]]


def tuples(keys: Keys) -> Tuples:
    return [tuple(row) for row in rows_of(keys).tolist()]


def keys_of(listed: Tuples | set[tuple[int, ...]], words: int) -> Keys:
    return squeezed(np.array(sorted(listed), dtype=np.uint64).reshape(-1, words))


def any_keys(count: int, words: int, values: int = 1 << 64) -> Keys:
    """Random keys, whose words have so many values: of few, keys agree in words and repeat."""
    rng = np.random.default_rng(count)
    return squeezed(rng.integers(values, size=(count, words), dtype=np.uint64))


@st.composite
def several(draw: st.DrawFn) -> tuple[int, list[Tuples]]:
    """Up to five lists of keys of so many words."""
    words = draw(st.integers(1, 3))
    number = st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1))
    keys = st.lists(st.tuples(*[number] * words), max_size=30)
    return words, draw(st.lists(keys, min_size=1, max_size=5))


@given(several())
def test_each_key_is_once_in_its_place(given: tuple[int, list[Tuples]]) -> None:
    words, lists = given
    keys = squeezed(np.array(lists[0], dtype=np.uint64).reshape(-1, words))
    assert tuples(sorted_unique(keys)) == sorted(set(lists[0]))


@pytest.mark.parametrize("values", [3, 50, 30_000, 1 << 64])
@pytest.mark.parametrize(("count", "words"), [(40_000, 1), (3_000, 2), (40_000, 2), (2_000, 3)])
def test_many_keys_are_sorted(count: int, words: int, values: int) -> None:
    keys = any_keys(count, words, values)
    expected = sorted(set(tuples(keys)))
    assert tuples(sorted_unique(keys.copy())) == expected


@given(several())
def test_merging(given: tuple[int, list[Tuples]]) -> None:
    words, lists = given
    merged = merge([keys_of(set(one), words) for one in lists])
    assert tuples(merged) == sorted({key for one in lists for key in one})


@given(several())
def test_what_was_seen_is_taken_away(given: tuple[int, list[Tuples]]) -> None:
    words, (first, *others) = given
    keys, seen = keys_of(set(first), words), [keys_of(set(one), words) for one in others]
    before = keys.copy()
    assert tuples(difference(keys, *seen)) == sorted(set(first).difference(*others))
    assert (keys == before).all()


def test_few_keys_are_found_among_many() -> None:
    many = sorted_unique(any_keys(5_000, 1))
    few = sorted_unique(
        np.concatenate((many[[0, 7, 4_000, len(many) - 1]], any_keys(5, 1), np.array([0, 2**64 - 1], np.uint64)))
    )
    assert tuples(difference(few, many)) == sorted(set(tuples(few)) - set(tuples(many)))


@given(several())
def test_cuts(given: tuple[int, list[Tuples]]) -> None:
    words, lists = given
    keys, bounds = keys_of(set(lists[0]), words), keys_of(set(lists[-1]), words)
    pieces = cut(keys, bounds)
    assert [key for piece in pieces for key in tuples(piece)] == tuples(keys)
    assert len(pieces) == len(bounds) + 1
    for piece, bound in zip(pieces[1:], tuples(bounds), strict=True):
        assert all(key >= bound for key in tuples(piece))
    assert find(keys, bounds) == [sum(key < bound for key in tuples(keys)) for bound in tuples(bounds)]


@pytest.mark.parametrize("bits", [1, 2, 5, 8, 13, 16])
def test_mixing_permutes_the_keys(bits: int) -> None:
    every = np.arange(1 << bits, dtype=np.uint64)
    assert (np.sort(mixed(every, bits)) == every).all()


@pytest.mark.parametrize(("bits", "words"), [(33, 1), (64, 1), (100, 2), (190, 3)])
def test_mixed_keys_are_even_and_different(bits: int, words: int) -> None:
    keys = np.arange(words * 4096, dtype=np.uint64).reshape(-1, words)
    keys = squeezed(keys)
    there = mixed(keys, bits)
    assert len(np.unique(rows_of(there), axis=0)) == len(keys)
    counts = np.bincount((rows_of(there)[:, 0] >> np.uint64(min(bits, 64) - 4)).astype(np.int64), minlength=16)
    assert len(counts) == 16
    assert counts.min() > 180, "of 256 on average"
