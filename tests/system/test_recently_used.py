"""The cache of recently used values."""

import gc
import weakref

import pytest

from antipodes.system.recently_used import RecentlyUsed
from antipodes_tasks.base.errors import ClosedError


def test_the_least_recently_used_value_is_dropped() -> None:
    cache, made = RecentlyUsed[int, int | None](2), list[int]()

    def make(key: int) -> int | None:
        made.append(key)
        return key or None

    assert [cache.get(key, make) for key in (0, 1, 0, 2, 0, 1)] == [None, 1, None, 2, None, 1]
    assert made == [0, 1, 2, 1]


def test_a_value_that_is_made_while_the_cache_is_closed_is_not_kept() -> None:
    cache = RecentlyUsed[int, int](2)

    def make(key: int) -> int:
        cache.close("closed now")
        return key

    for _ in range(2):
        with pytest.raises(ClosedError, match="closed now"):
            cache.get(1, make)
    with pytest.raises(ClosedError, match="closed now"):
        cache.check_open()


def test_a_closed_cache_holds_no_values() -> None:
    cache = RecentlyUsed[int, set[int]](2)
    value = weakref.ref(cache.get(1, lambda key: {key}))
    assert value() == {1}
    cache.close("closed now")
    gc.collect()
    assert value() is None
