"""The folder of a search on disk that keeps its layers outside of its store, because ``--spill`` names a directory.

A store may come from somebody else, so it contains no path: only the fact that its layers are outside, and a random
identifier, which the folder contains as well. The path comes from the command, or from a record of the path that this
user named for the store in an earlier command. In the folder, a run deletes only the files that runs write, one by one,
and follows no links.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from antipodes.storage.backend import Storage
from antipodes.storage.directory import DirectoryStorage
from antipodes.system.file_errors import file_errors
from antipodes.system.output_files import PARTIAL, replacing
from antipodes.system.user_records import UserRecords, hashed
from antipodes.tables.journal import CHECKPOINTS, FOLDER, SEGMENT_FILE
from antipodes_tasks.base.errors import StoreError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.regular_file import NotAFileError, kind_of, open_file

OWNER = "store.txt"
"""The file with the identifier and the address of the store to which the folder belongs."""
MAX_OWNER_BYTES = 1 << 14
RECORDS = UserRecords("spill")
"""The paths of folders that the user has named, by the addresses and identifiers of their stores."""
UNFINISHED = re.compile(r".*\.[0-9a-f]{32}" + re.escape(PARTIAL), re.DOTALL)
"""Names of files that a killed run was writing."""


class Owner(NamedTuple):
    """The store that owns a folder, according to the folder's owner file."""

    identifier: str
    address: str

    def described(self, store: "Owner") -> str:
        """Return what a folder of this owner contains, for messages about another ``store``."""
        which = "an earlier store at this path" if self.address == store.address else f"another store, {self.address}"
        return f"the layers of {which}"


class FolderStorage(DirectoryStorage):
    """The storage of a folder outside of a store, in which only files that runs write are deleted."""

    def remove_path(self, path: Path) -> None:
        """Delete a file, or the files of segments in a folder, and the folder if it contains nothing else."""
        if path.is_dir() and not path.is_symlink():
            _delete_files(path, _is_segment_file)
        else:
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class LayerFolder:
    """The folder with the layers of one store."""

    path: str
    owner: Owner

    @classmethod
    def named(cls, directory: str, store: Storage, identifier: str) -> Self:
        """Return the folder of a store in the ``directory`` that the user names."""
        address = _address(store)
        name = address.rstrip("/").rpartition("/")[2]
        return cls(os.path.join(os.path.abspath(directory), f"{name}.spill"), Owner(identifier, address))

    @classmethod
    def recorded(cls, store: Storage, identifier: str) -> Self | None:
        """Return the folder that this user named for the store in an earlier command, or None without a record."""
        owner = Owner(identifier, _address(store))
        path = RECORDS.read(hashed(*owner))
        return cls(path, owner) if path and os.path.isabs(path) and "\0" not in path else None

    def storage(self, store: Storage) -> DirectoryStorage:
        """Return the storage of the folder, which shares the lock of the store."""
        storage = FolderStorage(Path(self.path))
        storage.lock = store.lock
        if isinstance(store, DirectoryStorage):
            storage.waits = store.waits
        return storage

    def check_present(self) -> None:
        """Raise StoreError unless this is the store's folder. It is missing, for example, if its disk is unmounted."""
        if (found := self._found_owner()) != self.owner:
            problem = "is missing" if found is None else f"contains {found.described(self.owner)}"
            raise StoreError(f"the layers of {self.owner.address} are in {self.path}, which {problem}")

    @property
    def is_present(self) -> bool:
        """Whether this is the store's folder. Raises StoreError if it cannot be read."""
        return self._found_owner() == self.owner

    def check_usable(self) -> None:
        """Raise StoreError unless the folder can be written and is new, empty, or the store's own; leave it unchanged.

        The folder must not be inside the store or contain it.
        """
        path, store = os.path.realpath(self.path), os.path.realpath(self.owner.address)
        if f"{path}/".startswith(f"{store}/") or f"{store}/".startswith(f"{path}/"):
            raise StoreError(f"{self.path} is inside the store, or contains it; choose another {option('spill')}")
        with file_errors("write", self.path), self._new_folder_removed():
            if not self._is_empty:
                self._check_owner()
            DirectoryStorage(Path(self.path)).probe()

    def _check_owner(self) -> None:
        """Raise StoreError if the folder belongs to something else than the store."""
        try:
            found = self._found_owner()
        except StoreError as error:
            raise StoreError(f"{error}; choose another {option('spill')}") from error
        if found not in (None, self.owner):
            raise StoreError(f"{self.path} contains {found.described(self.owner)}; choose another {option('spill')}")

    def _found_owner(self) -> Owner | None:
        """Return the owner of the folder that exists at the path, or None if there is none.

        Raises StoreError if something else exists there, or if it cannot be read.
        """
        with file_errors("read", self.path):
            try:
                self._check_folder(self.path)
                for name in (FOLDER, CHECKPOINTS):
                    with suppress(FileNotFoundError):
                        self._check_folder(os.path.join(self.path, name))
            except (FileNotFoundError, NotADirectoryError):
                return None
            try:
                with open_file(Path(self.path, OWNER), links=False) as file:
                    written = file.read(MAX_OWNER_BYTES).decode("utf-8", "surrogateescape")
            except FileNotFoundError:
                raise StoreError(f"{self.path} does not belong to a run: it has no file {OWNER}") from None
            except NotAFileError as error:
                raise StoreError(f"{self.path} does not belong to a run: {OWNER}: {error.strerror}") from None
        identifier, _, address = written.partition("\n")
        return Owner(identifier, address)

    @staticmethod
    def _check_folder(path: str) -> None:
        """Raise StoreError if something other than a directory exists at the path; a link is not followed."""
        if not stat.S_ISDIR(mode := os.lstat(path).st_mode):
            raise StoreError(f"{path} does not belong to a run: expected a directory, found {kind_of(mode)}")

    @contextmanager
    def _new_folder_removed(self) -> Iterator[None]:
        """Create the folder in the block unless something exists at its path, and remove a new folder afterwards."""
        is_new = not os.path.lexists(self.path)
        if is_new:
            os.makedirs(self.path)
        try:
            yield
        finally:
            if is_new:
                with suppress(OSError):
                    os.rmdir(self.path)

    @property
    def _is_empty(self) -> bool:
        """Whether the folder is a directory that contains only files that a killed run was writing."""
        return stat.S_ISDIR(os.lstat(self.path).st_mode) and all(map(UNFINISHED.fullmatch, os.listdir(self.path)))

    def claim(self) -> None:
        """Record the folder for later commands of this user, and create it unless it exists.

        Raises StoreError if it belongs to something else, or cannot be written.
        """
        RECORDS.write(hashed(*self.owner), self.path)
        with file_errors("write", self.path):
            os.makedirs(self.path, exist_ok=True)
            if self._is_empty:
                with replacing(Path(self.path, OWNER)) as file:
                    file.write("\n".join(self.owner).encode("utf-8", "surrogateescape"))
        self.check_present()

    def release(self) -> int:
        """Delete the files that runs wrote, and the folder if it contains nothing else; return the bytes freed.

        A folder that is missing, or belongs to another store, is left as it is. Raises StoreError if something cannot
        be deleted, or it is unknown to whom the folder belongs.
        """
        freed = 0
        with file_errors("delete", self.path):
            if self.exists():
                for folder in (FOLDER, CHECKPOINTS):
                    freed += _delete_files(Path(self.path, folder), _is_segment_file)
                freed += _delete_files(Path(self.path), lambda name: name == OWNER or bool(UNFINISHED.fullmatch(name)))
        return freed

    def exists(self) -> bool:
        """Whether the folder exists and belongs to the store, or is empty. Raises StoreError if this is unknown."""
        try:
            return self.is_present
        except StoreError as error:
            with file_errors("read", self.path):
                if self._is_empty:  # a run was killed while it created or deleted the folder
                    return True
            raise StoreError(
                f"{error}; it was the folder with the layers of {self.owner.address}: delete it or move it away"
            ) from error

    def forget(self) -> None:
        """Delete the record of the folder."""
        RECORDS.delete(hashed(*self.owner))


def _is_segment_file(name: str) -> bool:
    return SEGMENT_FILE.fullmatch(name) is not None or UNFINISHED.fullmatch(name) is not None


def _delete_files(folder: Path, is_ours: Callable[[str], bool]) -> int:
    """Delete the regular files in a folder whose names are ours; return their size in bytes.

    Then the folder is removed if it is empty and not the working directory. A folder that is missing or is a link is
    left as it is.
    """
    freed = 0
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return 0
    try:
        for name in filter(is_ours, sorted(os.listdir(descriptor))):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                os.unlink(name, dir_fd=descriptor)
                freed += status.st_size
        is_in_use = os.path.samestat(os.fstat(descriptor), os.stat("."))
    finally:
        os.close(descriptor)
    if not is_in_use:
        with suppress(OSError):  # it contains something else
            os.rmdir(folder)
    return freed


def _address(store: Storage) -> str:
    return os.path.abspath(store.address) if isinstance(store, DirectoryStorage) else store.address
