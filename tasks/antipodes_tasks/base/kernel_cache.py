"""The cache of machine code on disk: a file for each kernel and signature, which is loaded only if its digest is right.

Numba unpickles the files of its cache and calls the code in them without any check. In this cache, a digest binds each
file to its name, to everything that the machine code depends on, and to its content; it is checked before the file is
unpickled. Otherwise the kernel is compiled again and the file is replaced. There is no index, so processes that fill
the cache at the same time need no lock.

A digest does not stop people who can write to the folder, so a folder of other users is not used. The folder beside
the source is used in any case: those who can write there can also replace Python's own code.
"""

import hashlib
import os
import pickle
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import sigutils
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)
from numba.core.serialize import dumps

from antipodes_tasks.base.private_folder import reason_not_private
from antipodes_tasks.base.regular_file import open_file

DIGEST_BYTES = 32
MAX_BYTES = 1 << 28
"""Maximum size of a file that is read, in bytes. The largest kernel takes less than 1 MiB."""
LEFTOVER = re.compile(r"\.[0-9a-f]{16}\.nbc\.[a-z0-9_]{8}$")
"""The end of the name of an incomplete file: that of `_file_for`, and what `NamedTemporaryFile` adds to it."""
LEFTOVER_SECONDS = 3600
"""Age from which an incomplete file is taken for one of a killed process."""
UNREADABLE = (ImportError, AttributeError, EOFError, pickle.UnpicklingError)
"""Errors of unpickling a file that is intact but belongs to other versions of libraries."""


class _Private:
    """A mixin for locators. It creates folders that other users cannot write to, whatever the umask is."""

    def ensure_cache_path(self: Any) -> None:
        os.makedirs(self.get_cache_path(), 0o700, exist_ok=True)
        super().ensure_cache_path()  # type: ignore[misc]


class _UserProvided(_Private, UserProvidedCacheLocator):
    """The folder named by ``NUMBA_CACHE_DIR``, which installations share: numba would give each a folder of its own."""

    def __init__(self, function: Callable[..., Any], source: str) -> None:
        super().__init__(function, source)  # type: ignore[no-untyped-call]
        self._cache_path = os.path.join(numba.config.CACHE_DIR, function.__module__)  # type: ignore[attr-defined]


class _UserWide(_Private, UserWideCacheLocator):
    """The user's cache folder."""


class _Results(CompileResultCacheImpl):
    """Compiled kernels, in the folders that numba uses too."""

    _locator_classes: list[type[object]] = [_UserProvided, InTreeCacheLocator, _UserWide]  # noqa: RUF012


class KernelCache(FunctionCache):
    """The cache of one kernel.

    Parameters
    ----------
    function
        The kernel as a Python function.
    parts
        Code and constants outside of the function's file that are compiled as parts of the kernel.

    Raises
    ------
    RuntimeError
        No folder is writable.
    """

    _impl_class = _Results

    def __init__(self, function: Callable[..., Any], parts: object) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        locator = self._impl.locator
        self.reason_unused = None if isinstance(locator, InTreeCacheLocator) else reason_not_private(self.cache_path)
        """Reason why nothing is loaded or saved, or None."""
        if self.reason_unused:
            self.disable()  # type: ignore[no-untyped-call]
        versions = numba.__version__, llvmlite.__version__, np.__version__
        self._bound = versions, locator.get_source_stamp(), self._impl.filename_base, parts

    def flush(self) -> None:
        """Delete nothing: files that do not fit are replaced."""

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled kernel for a signature, or None if it has to be compiled."""
        if not self._enabled:
            return None
        path, digest = self._file_for(signature, target_context.codegen())
        try:
            with open_file(path, links=False) as file:
                content = file.read(MAX_BYTES)
        except OSError:
            return None
        digest.update(content[DIGEST_BYTES:])
        if content[:DIGEST_BYTES] != digest.digest():
            return None
        with suppress(*UNREADABLE):
            return self._impl.rebuild(target_context, pickle.loads(content[DIGEST_BYTES:]))
        return None

    def _save_overload(self, signature: Any, data: Any) -> None:
        """Write the compiled kernel for a signature. If this is impossible, it is compiled again next time."""
        if not self._enabled or not self._impl.check_cachable(data):
            return
        path, digest = self._file_for(signature, data.codegen)
        content = dumps(self._impl.reduce(data))  # type: ignore[no-untyped-call]
        digest.update(content)
        with suppress(OSError):
            _remove_leftovers(path.parent)
        with suppress(OSError), NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.", delete=False) as file:
            try:
                file.write(digest.digest() + content)
                file.flush()
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise

    def _file_for(self, signature: Any, codegen: Any) -> tuple[Path, Any]:
        """Return the path of the file for a signature and a processor, and a digest to which its content is added."""
        arguments, _ = sigutils.normalize_signature(signature)  # type: ignore[no-untyped-call]
        _, *target = self._index_key(signature, codegen)  # type: ignore[no-untyped-call]
        form = repr((list(map(_description, arguments)), target)).encode()
        number = hashlib.blake2b(form, digest_size=8).hexdigest()
        digest = hashlib.blake2b(form + repr(self._bound).encode(), digest_size=DIGEST_BYTES)
        return Path(self.cache_path, f"{self._impl.filename_base}.{number}.nbc"), digest


def _remove_leftovers(folder: Path) -> None:
    """Delete the incomplete files of processes that were killed while they wrote a kernel."""
    for file in folder.iterdir():
        with suppress(FileNotFoundError):  # another process has deleted it
            if LEFTOVER.search(file.name) and time.time() - file.lstat().st_mtime > LEFTOVER_SECONDS:
                file.unlink()


def _description(argument: Any) -> object:
    """Return the name of a type, and the names and types of its fields, which numba leaves out."""
    parts = getattr(argument, "types", ())
    return str(argument), getattr(argument, "fields", ()), list(map(_description, parts))
