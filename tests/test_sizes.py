"""Sizes of memory as people write them."""

import pytest

from antipodes.sizes import memory_size
from antipodes_tasks.errors import (
    InputError,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [("800MB", 800_000_000), ("1.5 GiB", 3 << 29), ("2GiB", 2 << 30), (1000, 1000), ("1e6", 1_000_000), ("1kB", 1000)],
)
def test_memory_size(text: str | int, size: int) -> None:
    assert memory_size(text) == size


@pytest.mark.parametrize(
    "text", ["much", "-5GB", "0", 0, -1, "1e400", "5 parsecs", "1.2.3", "nan", "inf", "GB GB", 2**63]
)
def test_no_memory_sizes(text: str | int) -> None:
    with pytest.raises(InputError, match=r"memory limit: expected |expected a memory limit in bytes"):
        memory_size(text)
