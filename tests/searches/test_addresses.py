"""Bytes at memory addresses."""

import numpy as np
import pytest
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.searches.pointers import address_of, byte_at


@kernel
def bytes_at(address: np.uint64, count: int) -> NDArray[np.uint8]:
    """The bytes from an address on, read in machine code."""
    found = np.empty(count, dtype=np.uint8)
    for i in range(np.uint64(count)):
        found[i] = byte_at(address + i)
    return found


@pytest.mark.parametrize("first", [0, 1, 250])
def test_python_and_machine_code_read_the_bytes_of_an_array(first: int) -> None:
    values = np.arange(256, dtype=np.uint8)
    address = np.uint64(address_of(values[first:]))
    expected = list(range(first, first + 6))
    assert [byte_at(address + np.uint64(i)) for i in range(6)] == expected
    assert bytes_at(address, 6).tolist() == expected
