"""A cache of recently used values, which threads can share."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from antipodes_tasks.base.errors import ClosedError

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class RecentlyUsed(Generic[Key, Value]):
    """A cache of at most ``capacity`` values. The least recently used value is dropped first.

    A value is made outside of the lock, so threads that need different values do not wait for each other. Two threads
    that need the same value may both make it.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._closed: str | None = None

    def get(self, key: Key, make: Callable[[Key], Value]) -> Value:
        """Return the value of a key; make it if it is not cached. Raise ClosedError after `close`."""
        with self._lock:
            self.check_open()
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make(key)
        with self._lock:
            self.check_open()
            self._values[key] = value
            if len(self._values) > self._capacity:
                self._values.popitem(last=False)
        return value

    def close(self, message: str) -> None:
        """Drop all values permanently. From now on, `get` raises ClosedError with this message."""
        with self._lock:
            self._closed = message
            self._values.clear()

    def check_open(self) -> None:
        """Raise ClosedError after `close`."""
        if self._closed is not None:
            raise ClosedError(self._closed)
