"""The interface to the storage behind a store: a directory, or objects in a bucket."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime

from antipodes.storage.lock import StoreLock
from antipodes.system.file_errors import file_errors
from antipodes_tasks.base.errors import StoreDamagedError

MANIFEST = "commit.json"
"""The key of the manifest. A storage without a manifest is not a store."""
GROUP = "zarr.json"
"""The key of the zarr group, which is written first when a store is created."""

MAX_METADATA = 1 << 16
"""Maximum size of a ``zarr.json`` in bytes. In stores these files have a few thousand bytes."""

Version = Mapping[str, str]
"""The version of a key's content, which changes with the content. Empty if the storage has no versions."""
Content = bytes | bytearray | memoryview
"""Bytes to be written. For an array, pass its ``data``."""


class TooLargeError(StoreDamagedError):
    """A file or object is larger than any that this program writes. Nothing of it was read."""

    @classmethod
    def of(cls, name: str, max_bytes: int, size: int) -> "TooLargeError":
        """Return the error for the file ``name``, with its size and the maximum size in bytes."""
        return cls(f"{name} is corrupt: expected at most {max_bytes:,} bytes, found {size:,}")


class Storage(ABC):
    """A storage that maps keys, which are paths with slashes, to bytes.

    A storage can be sent to other processes, since it has no open files or connections. New content replaces old
    content atomically, and is durable when the call that writes it returns, except after a `put` with
    ``durable=False``. Methods raise FileNotFoundError and StoreError. `staged` also raises OSError, which `writing`
    translates.
    """

    address: str
    """The path or the URL, as the user writes it."""
    lock: StoreLock

    @contextmanager
    def writing(self, key: str = "") -> Iterator[None]:
        """Turn each OSError into a StoreError that names the key, or the storage if no key is given."""
        with file_errors("write", self.name_of(key) if key else self.address):
            yield

    def watched(
        self, tell: Callable[[str], None], stop: Callable[[], bool], run: str = ""
    ) -> AbstractContextManager[None]:
        """Report waits in the block to ``tell`` if the storage is slow to answer; end them when ``stop`` returns True.

        Both functions may be called in any thread. A wait that is ended raises StoreSilentError. Copies of the storage
        in other processes report their waits under the name ``run``, unless it is empty (see `antipodes.system.waits`).
        """
        return nullcontext()

    @abstractmethod
    def expect_failures(self) -> None:
        """Keep later waits short, because the storage has already failed in another process."""

    def name_of(self, key: str) -> str:
        """Return the name of a key for messages."""
        return f"{self.address}/{key}"

    @abstractmethod
    def exists(self) -> bool:
        """Return whether anything exists here, apart from leftovers of an interrupted creation or removal."""

    @abstractmethod
    def has(self, key: str) -> bool:
        """Return whether a key exists."""

    @abstractmethod
    def read(self, key: str, max_bytes: int) -> tuple[bytes, Version]:
        """Return the content of a key and its version.

        Raises FileNotFoundError if the key does not exist, and TooLargeError if it has more than ``max_bytes``.
        """

    @abstractmethod
    def read_range(self, key: str, first: int, count: int) -> bytes:
        """Return ``count`` bytes of a key's content from byte ``first``, or fewer if the content ends earlier.

        Raises FileNotFoundError if the key does not exist.
        """

    def group_format(self) -> str | None:
        """Return the format in the attributes of the zarr group, or None if there is none."""
        try:
            return str(json.loads(self.read(GROUP, MAX_METADATA)[0])["attributes"]["format"])
        except (FileNotFoundError, TooLargeError, ValueError, KeyError, TypeError, RecursionError):
            return None

    @abstractmethod
    def replace(self, key: str, content: bytes, version: Version | None) -> Version:
        """Write a key if its content still has this version, or if it does not exist (None); return the new version.

        A storage without versions writes unconditionally.

        Raises StoreError if the content cannot be written or the key has another version.
        """

    @abstractmethod
    def put(self, key: str, parts: Sequence[Content], token: str | None = None, durable: bool = True) -> None:
        """Write the content of a key as the concatenation of ``parts``, replacing any older content.

        Parameters
        ----------
        token
            The fencing token that the lock must contain. None: if the lock is held here, it must still be held.
        durable
            False: the storage may delay durability until `make_durable`, so a crash of the machine may lose the
            content.

        Raises
        ------
        StoreError
            The content cannot be written. Nothing of it remains.
        StoreLockedError
            The lock contains another token or was taken over.
        """

    @abstractmethod
    def make_durable(self, keys: Iterable[str]) -> None:
        """Make the content that `put` wrote at these keys durable.

        Raises StoreError if that fails or a key is missing.
        """

    @abstractmethod
    def delete(self, folder: str) -> None:
        """Delete all keys in a folder, if any exist."""

    @abstractmethod
    def delete_keys(self, keys: Iterable[str]) -> None:
        """Delete these keys; missing keys are ignored."""

    @abstractmethod
    def names_in_folder(self, folder: str) -> list[str]:
        """Return the names of all files and folders directly in a folder."""

    @abstractmethod
    def sizes(self, folder: str) -> dict[str, int]:
        """Return the size in bytes of each key directly in a folder, without unfinished files."""

    @abstractmethod
    def size(self) -> int:
        """Return the total size of all keys in bytes."""

    @abstractmethod
    def free_bytes(self) -> int | None:
        """Return the free space in bytes where the store is or will be, or None if it is unknown."""

    @abstractmethod
    def modified(self, key: str) -> datetime | None:
        """Return when the content of a key was written, or None if the key does not exist."""

    @abstractmethod
    def identity(self, key: str) -> tuple[object, ...]:
        """Return a value that changes whenever a key is replaced, even by equal content. Empty if there is no key."""

    @abstractmethod
    def staged(self, overwrite: bool = False) -> AbstractContextManager["Storage"]:
        """Yield an empty storage for a new store, and publish its content here atomically after the block.

        An overwritten store remains until then if the storage can hold both stores. After an error, nothing of the new
        store remains.
        """

    @abstractmethod
    def has_leftovers(self) -> bool:
        """Return whether only a part of a store is left, for example after a killed removal."""

    @abstractmethod
    def remove(self, first: Callable[[], int] = lambda: 0) -> int:
        """Delete a store or its leftovers; return the bytes freed.

        ``first`` is called before, once it is known that the store can be removed; it frees bytes elsewhere.

        If the process is killed, either the store is unchanged, or the store is gone and `has_leftovers` is true.

        Raises StoreError if the store contains foreign files, in which case nothing is deleted, or if something cannot
        be deleted.
        """

    @property
    def is_link(self) -> bool:
        """Whether the address is a link to a store at another address."""
        return False

    def remove_link(self) -> bool:
        """Delete the address if it is a link to a store, which remains. Return whether it was a link."""
        return False

    @abstractmethod
    def remove_leftovers(self) -> None:
        """Delete the files that a crashed run was writing."""

    @abstractmethod
    def sync(self, folder: str) -> None:
        """Make the directory entries of an array's folder and files as durable as their content."""

    @abstractmethod
    def probe(self) -> None:
        """Check that the storage is writable: write a key and delete it. Raises StoreError if that fails."""
