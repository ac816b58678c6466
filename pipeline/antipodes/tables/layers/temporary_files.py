"""Files of what does not fit into memory while layers are searched: without names, so gone when the process ends."""

import os
import tempfile
from dataclasses import dataclass

import numpy as np

from antipodes.storage.backend import Storage
from antipodes.storage.directory import DirectoryStorage
from antipodes_tasks.errors import StoreError
from antipodes_tasks.keys.encoded_runs import Bytes


@dataclass(frozen=True)
class Folder:
    """Where the files are: beside the table, where there is room for it, or in the system's folder for such files."""

    path: str

    @classmethod
    def for_store(cls, storage: Storage) -> "Folder":
        """The folder of a store, or the system's if the store is in a bucket or may not be changed."""
        path = os.path.abspath(storage.path) if isinstance(storage, DirectoryStorage) else ""
        return cls(path if os.access(path, os.W_OK) else tempfile.gettempdir())

    def file(self) -> "PieceFile":
        """A new file, of which nothing is left when nothing refers to it, or when the process ends in any way.

        StoreError where it cannot be made.
        """
        return PieceFile(self.path)


class PieceFile:
    """A file of bytes, which are written at its end and read from anywhere; threads may read at the same time."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        try:
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self._error(error) from error
        self._end = 0

    def put(self, content: Bytes) -> int:
        """Write bytes at the end; the place where they begin. StoreError where the disk is full."""
        begin = end = self._end
        try:
            while end < begin + len(content):
                end += os.pwrite(self._file.fileno(), content[end - begin :].data, end)
        except OSError as error:
            raise self._error(error) from error
        self._end = end
        return begin

    def read(self, begin: int, end: int) -> Bytes:
        """The bytes from one place to another."""
        content = np.empty(end - begin, dtype=np.uint8)
        left, at = content.data, begin
        while left:
            try:
                count = os.preadv(self._file.fileno(), [left], at)
            except OSError as error:
                raise self._error(error, "read") from error
            if not count:
                raise StoreError(f"a temporary file in {self._folder} ends at {at:,} of {end:,} bytes")
            left, at = left[count:], at + count
        return content

    def _error(self, error: OSError, what: str = "write") -> StoreError:
        return StoreError(f"cannot {what} a temporary file in {self._folder}: {error.strerror or error}")
