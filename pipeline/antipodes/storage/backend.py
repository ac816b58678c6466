"""What a store asks of the place where its bytes lie, whatever kind of place it is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Protocol

MANIFEST = "commit.json"
"""The key of what says that there is a store, and what of it counts."""
GROUP = "zarr.json"
"""The key that is the first to be written in a store."""

Version = Mapping[str, str]
"""What tells the content of a key from what it is replaced with; empty where nothing does."""


class LockHandle(Protocol):
    """A lock that is held."""

    @property
    def token(self) -> str:
        """What the lock bears now; whoever writes with an older one was given up for lost, and is refused."""

    def rotate_token(self) -> None:
        """Give the lock another token: from now on no writer with the old one gets through.

        Raises
        ------
        StoreLockedError
            Another run has taken the lock over.
        """

    def confirm(self) -> None:
        """Make sure that no other run has taken the lock over, nor will while the next request is made.

        Raises
        ------
        StoreLockedError
            One has.
        """


class Storage(ABC):
    """Bytes by their keys, which are paths with slashes.

    It may be sent to other processes, since nothing in it is open. What is written is safe when the call returns, and
    replaces what was there as a whole. Nothing but FileNotFoundError and StoreErrors leaves its methods.

    From `lock` on, until it is let go of, whatever is written or deleted here is so only if the lock is still held:
    who was taken over while it was cut off or suspended raises StoreLockedError, and leaves its successor's data alone.
    """

    _hold: LockHandle | None = None

    @contextmanager
    def lock(self) -> Iterator[LockHandle]:
        """Keep other runs from the store; StoreLockedError where one holds it."""
        with self._lock() as hold:
            self._hold = hold
            try:
                yield hold
            finally:
                self._hold = None

    def check_lock(self) -> None:
        """Raise StoreLockedError where the lock, which is held here, was taken over by another run."""
        if self._hold is not None:
            self._hold.confirm()

    def fence(self, token: str | None) -> Callable[[], None]:
        """What is to be called before a write on behalf of a token, if any, else of who holds the lock here."""
        return self.check_lock if token is None else partial(self.check_token, token)

    @property
    @abstractmethod
    def address(self) -> str:
        """Where it is, as a person writes it."""

    @abstractmethod
    def name_of(self, key: str) -> str:
        """What a key is called in messages."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether there is anything but the remains of a store that was not created or removed to the end."""

    @abstractmethod
    def has(self, key: str) -> bool:
        """Whether there is anything at a key."""

    @abstractmethod
    def read(self, key: str) -> tuple[bytes, Version]:
        """What is at a key, and its version; FileNotFoundError where nothing is."""

    @abstractmethod
    def replace(self, key: str, content: bytes, version: Version | None) -> Version:
        """Put ``content`` in place of what is at a key, in this version if the storage can tell; None: of nothing.

        Raises
        ------
        StoreError
            It cannot be written, or there is another version at the key.
        """

    @abstractmethod
    def delete(self, folder: str) -> None:
        """Delete all keys in a folder, if there are any."""

    @abstractmethod
    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder."""

    @abstractmethod
    def size(self) -> int:
        """How many bytes there are at all keys."""

    @abstractmethod
    def identity(self, key: str) -> tuple[object, ...]:
        """What tells the thing at a key from another that takes its place, even an equal one; empty: there is none."""

    @abstractmethod
    def begin(self, overwrite: bool = False) -> "Storage":
        """An empty storage to create a store in, which then comes to be here by `publish`.

        What is here stays until then if it can, where it is to be overwritten.
        """

    @abstractmethod
    def publish(self, new: "Storage", overwrite: bool = False) -> None:
        """Make the store that was created in `begin`'s storage the one that is here, as a whole."""

    @abstractmethod
    def discard(self, new: "Storage") -> None:
        """Leave nothing to be seen of a store that was begun in `begin`'s storage, and could not be created."""

    @abstractmethod
    def remove_leftovers(self) -> None:
        """Clear away what was being written in a run that died."""

    @abstractmethod
    def sync(self, folder: str) -> None:
        """Make sure that the names of an array's folder and its files are as durable as what is in them."""

    @abstractmethod
    def probe(self) -> None:
        """Write something and delete it; StoreError where that cannot be done."""

    @abstractmethod
    def _lock(self) -> AbstractContextManager[LockHandle]:
        """LockHandle the lock; StoreLockedError where another run does."""

    @abstractmethod
    def check_token(self, token: str) -> None:
        """Raise StoreLockedError unless the lock bears this token."""

    @abstractmethod
    def known_missing(self, key: str) -> bool:
        """Whether nothing is at a key, if asking is cheap; else it is found missing when an array is read."""

    @abstractmethod
    def arrays(self, folder: str = "", read_only: bool = False, token: str | None = None) -> Any:
        """A folder as zarr takes it; with a token, what is set goes through only while the lock bears it."""
