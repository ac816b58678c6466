"""Sets of keys in ranges: what a set holds is the same as an array, encoded and on disk."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes.tables.layers.temporary_files import Folder
from antipodes_tasks.keys.encoded_runs import of_integers
from antipodes_tasks.keys.packing import Keys
from antipodes_tasks.keys.sets import KeySet, PlainSet

BOUNDS = [10, 11, 40, 90]
RANGES = range(3, 4 + len(BOUNDS))
"""The first range of the sets has the number 3."""


def as_plain(found: PlainSet, folder: Path) -> KeySet:
    return found


def as_encoded(found: PlainSet, folder: Path) -> KeySet:
    return found.encoded()


def as_stored(found: PlainSet, folder: Path) -> KeySet:
    disk = Folder(str(folder)).file()
    disk.put(np.zeros(7, dtype=np.uint8))
    return found.to_disk(disk)


@pytest.mark.parametrize("kind", [as_plain, as_encoded, as_stored])
@pytest.mark.parametrize("words", [1, 2])
@given(numbers=st.sets(st.integers(0, 120)), chosen=st.sets(st.integers(0, 9)))
def test_only_some_ranges(
    kind: Callable[[PlainSet, Path], KeySet],
    words: int,
    tmp_path_factory: pytest.TempPathFactory,
    numbers: set[int],
    chosen: set[int],
) -> None:
    keys, bounds = (of_integers(sorted(one), words) for one in (numbers, BOUNDS))
    whole = kind(PlainSet.of(keys, RANGES.start, bounds), tmp_path_factory.getbasetemp())
    some = whole.select_ranges([range(one, one + 1) for one in sorted(chosen)])
    for number in RANGES:
        here = range(number, number + 1)
        expected: Keys = whole.keys_of_ranges(here) if number in chosen else keys[:0]
        assert np.array_equal(some.keys_of_ranges(here), expected)
        assert some.count_in(here) == len(expected)
    assert some.ranges == whole.ranges
    assert some.nbytes <= keys.nbytes
