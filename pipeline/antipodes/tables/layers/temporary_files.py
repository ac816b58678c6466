"""Temporary files for data that do not fit into memory during a search. Unnamed, they vanish with the process."""

import os
import tempfile
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from antipodes.storage.backend import Storage
from antipodes.storage.directory import DirectoryStorage
from antipodes.system.file_errors import file_errors
from antipodes_tasks.base.array_types import Bytes
from antipodes_tasks.base.errors import StoreError


@dataclass(frozen=True)
class Folder:
    """The folder of the files: the store itself, whose disk has space for a table, or the system's temporary folder."""

    path: str

    @classmethod
    def for_store(cls, storage: Storage) -> "Folder":
        """Return the folder of a store, or the system's if the store is in a bucket or not writable."""
        path = os.path.abspath(storage.path) if isinstance(storage, DirectoryStorage) else ""
        return cls(path if os.access(path, os.W_OK) else tempfile.gettempdir())

    def file(self) -> "PieceFile":
        """Create a file that vanishes when it is no longer referenced, or when the process ends for any reason.

        Raises StoreError if it cannot be created.
        """
        return PieceFile(self.path)


class PieceFile:
    """A file to which bytes are appended, and which is read at any offset. Threads may read at the same time."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        with self._errors("write"):
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._end = 0

    def put(self, content: Bytes) -> int:
        """Append bytes; return the offset where they begin. Raises StoreError if the disk is full."""
        begin = end = self._end
        with self._errors("write"):
            while end < begin + len(content):
                end += os.pwrite(self._file.fileno(), content[end - begin :].data, end)
        self._end = end
        return begin

    def read(self, begin: int, end: int) -> Bytes:
        """Return the bytes from offset ``begin`` to ``end``."""
        content = np.empty(end - begin, dtype=np.uint8)
        left, at = content.data, begin
        while left:
            with self._errors("read"):
                count = os.preadv(self._file.fileno(), [left], at)
            if not count:
                raise StoreError(f"a temporary file in {self._folder} ends at byte {at:,} instead of {end:,}")
            left, at = left[count:], at + count
        return content

    def _errors(self, verb: str) -> AbstractContextManager[None]:
        return file_errors(verb, f"a temporary file in {self._folder}")
