"""The interface to the place of a store's bytes: a directory, or objects in a bucket."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from typing import Any

from antipodes.storage.lock import StoreLock
from antipodes_tasks.errors import StoreDamagedError, StoreError

MANIFEST = "commit.json"
"""The key of the manifest: without it there is no store."""
GROUP = "zarr.json"
"""The key that is written first in a store."""

MAX_METADATA = 1 << 16
"""Bytes of a ``zarr.json``, at most: those of stores have some thousand."""

Version = Mapping[str, str]
"""The version of a key's content, which later content does not have; empty where the storage has no versions."""
Content = bytes | bytearray | memoryview
"""Bytes to be written; an array is given as its ``data``."""


class TooLargeError(StoreDamagedError):
    """A file, or an object of a bucket, that is larger than any that was written; nothing of it was read."""

    @classmethod
    def of(cls, name: str, most: int, size: int) -> "TooLargeError":
        """The error of a file with a name: its size and the greatest expected one, in bytes."""
        return cls(f"{name} is corrupt: expected at most {most:,} bytes, found {size:,}")


class Storage(ABC):
    """Bytes by their keys, which are paths with slashes.

    It may be sent to other processes, since nothing in it is open. Content replaces older content atomically, and is
    durable when the call that writes it returns, except after a `put` that need not be durable. Methods raise
    FileNotFoundError and StoreErrors; `staged`, and the zarr stores of `arrays`, raise OSErrors too, which `writing`
    translates.
    """

    address: str
    """The path or the URL, as a person writes it."""
    lock: StoreLock

    @contextmanager
    def writing(self, key: str = "") -> Iterator[None]:
        """Turn OSErrors into StoreErrors that name the key, if one is given, or the storage."""
        try:
            yield
        except StoreError:
            raise
        except OSError as error:
            name = self.name_of(key) if key else self.address
            raise StoreError(f"cannot write {name}: {error.strerror or error}") from error

    def watched(
        self, tell: Callable[[str], None], stop: Callable[[], bool], run: str = ""
    ) -> AbstractContextManager[None]:
        """In the block, report waits to ``tell`` if the storage is slow to answer, and end them on ``stop``.

        Both are called in any thread. A wait that ends raises StoreSilentError. Copies of the storage in other
        processes report their waits under the name of the ``run``, if it has one; see `antipodes.waits`.
        """
        return nullcontext()

    @abstractmethod
    def expect_failures(self) -> None:
        """Wait only for a moment for what is still to be done, since the storage has failed elsewhere."""

    def name_of(self, key: str) -> str:
        """The name of a key in messages."""
        return f"{self.address}/{key}"

    @abstractmethod
    def exists(self) -> bool:
        """Whether there is anything except leftovers of a store that was being created or removed."""

    @abstractmethod
    def has(self, key: str) -> bool:
        """Whether there is anything at a key."""

    @abstractmethod
    def read(self, key: str, most: int) -> tuple[bytes, Version]:
        """The content of a key, and its version.

        FileNotFoundError where there is nothing at the key; TooLargeError where there are more than ``most`` bytes.
        """

    @abstractmethod
    def read_range(self, key: str, first: int, count: int) -> bytes:
        """``count`` bytes from byte ``first`` of a key's content, or fewer where the content ends before.

        FileNotFoundError where there is nothing at the key.
        """

    def group_format(self) -> str | None:
        """The format in the attributes of the zarr group; None where there is none."""
        try:
            return str(json.loads(self.read(GROUP, MAX_METADATA)[0])["attributes"]["format"])
        except (FileNotFoundError, TooLargeError, ValueError, KeyError, TypeError, RecursionError):
            return None

    @abstractmethod
    def replace(self, key: str, content: bytes, version: Version | None) -> Version:
        """Write the content of a key if the old content has this version, or there is none (None); the new version.

        A storage without versions writes without this condition.

        StoreError where the content cannot be written, or the key has another version.
        """

    @abstractmethod
    def put(self, key: str, parts: Sequence[Content], token: str | None = None, durable: bool = True) -> None:
        """Write the content of a key, one part after the other; older content, as of an earlier try, is replaced.

        Parameters
        ----------
        token
            The fencing token that the lock must contain; None: a lock that is held here must still be held.
        durable
            False: the content may be lost in a crash of the machine until `make_durable`, if the storage gains by that.

        Raises
        ------
        StoreError
            The content cannot be written; nothing of it is left.
        StoreLockedError
            The lock contains another token, or was taken over.
        """

    @abstractmethod
    def make_durable(self, keys: Iterable[str]) -> None:
        """Make durable what `put` has written at these keys; StoreError where that fails or nothing is at a key."""

    @abstractmethod
    def delete(self, folder: str) -> None:
        """Delete all keys in a folder, if there are any."""

    @abstractmethod
    def delete_keys(self, keys: Iterable[str]) -> None:
        """Delete some keys, whether there is anything at them or not."""

    @abstractmethod
    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder."""

    @abstractmethod
    def sizes(self, folder: str) -> dict[str, int]:
        """The bytes at each key directly in a folder; unfinished files are left out."""

    @abstractmethod
    def size(self) -> int:
        """The bytes at all keys together."""

    @abstractmethod
    def free_bytes(self) -> int | None:
        """The bytes that still fit where the store is or will be; None where that is unknown."""

    @abstractmethod
    def modified(self, key: str) -> datetime | None:
        """When the content of a key was written; None where there is none."""

    @abstractmethod
    def identity(self, key: str) -> tuple[object, ...]:
        """A value that changes when the content of a key is replaced, even by equal content; empty for no content."""

    @abstractmethod
    def staged(self, overwrite: bool = False) -> AbstractContextManager["Storage"]:
        """An empty storage, the staging place of a new store, which is published here atomically after the block.

        If the storage can hold two stores, the one to be overwritten stays until then. After an error, nothing of the
        new one is left.
        """

    @abstractmethod
    def has_leftovers(self) -> bool:
        """Whether there is no store, but a part of one, as a killed removal leaves it."""

    @abstractmethod
    def remove(self) -> int:
        """Delete a store, or leftovers of one; the bytes freed.

        If this is killed, the store is there as it was, or there is none and `has_leftovers`.

        StoreError where content of another origin is in the store, and nothing is deleted; or something cannot be
        deleted.
        """

    @property
    def is_link(self) -> bool:
        """Whether the address is a link to the store, which has another address."""
        return False

    def remove_link(self) -> None:
        """Delete the link at the address; the store stays."""
        raise NotImplementedError(self.address)

    @abstractmethod
    def remove_leftovers(self) -> None:
        """Delete what a crashed run was writing."""

    @abstractmethod
    def sync(self, folder: str) -> None:
        """Make the names of an array's folder and of its files as durable as their content."""

    @abstractmethod
    def probe(self) -> None:
        """Write a key and delete it; StoreError where that fails."""

    def known_missing(self, key: str) -> bool:
        """Whether nothing is at a key; False where a check costs as much as reading the array."""
        return False

    @abstractmethod
    def arrays(
        self,
        folder: str = "",
        read_only: bool = False,
        token: str | None = None,
        most: int = MAX_METADATA,
        check_chunk: Callable[[Content], None] = lambda chunk: None,
    ) -> Any:
        """A folder as a zarr store; with a fencing token, it writes only while the lock contains the token.

        Reading content of more than ``most`` bytes raises TooLargeError. Chunks are given to ``check_chunk`` before
        they are decompressed.
        """
