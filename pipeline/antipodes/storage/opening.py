"""Opening of the storage at an address, and checks of paths and of URLs of object stores."""

import os
import re
from pathlib import Path
from typing import Any

from antipodes.storage.backend import Storage
from antipodes.system.addresses import Address, is_url
from antipodes_tasks.base.errors import NotAStoreError
from antipodes_tasks.base.quoting import quote

SCHEMES = ("s3", "gs", "az")
MANGLED = re.compile(f"({'|'.join(SCHEMES)}):/")
"""The beginning of a URL that was converted to a path, which drops one of the slashes."""

LONGEST_NAME, LONGEST_PATH = 250, 4096
"""Maximum length in bytes of a file name and of a path, reduced by the bytes that the name of the lock file adds."""


def storage_at(address: Address | Storage) -> Storage:
    """Return the storage at an address; raise NotAStoreError if no store can have this address."""
    if isinstance(address, Storage):
        return address
    kind, checked = _kind_of(address, of_store=True)
    storage: Storage = kind(checked)
    return storage


def storages_in(address: Address) -> list[Storage]:
    """Return the storages in the folders directly in a directory or under a URL, sorted by name.

    If the address is a store itself, return only that store's storage.

    Raises InputError if the address does not exist or is not a directory, and NotAStoreError if the URL is not the URL
    of a bucket.
    """
    kind, checked = _kind_of(address, of_store=False)
    return list(kind.list_stores(checked))


def _kind_of(address: Address, of_store: bool) -> tuple[Any, Address]:
    """Return the class of the storage at an address, and the checked address."""
    if isinstance(address, str) and is_url(address):
        from antipodes.storage.objects import ObjectStorage

        return ObjectStorage, checked_url(address, of_store)
    from antipodes.storage.directory import DirectoryStorage

    check_path(address)
    return DirectoryStorage, Path(address)


def check_path(path: Address) -> None:
    """Raise NotAStoreError for a path that no file system accepts, or for a path that was made from a URL."""
    if MANGLED.match(str(path)):
        raise NotAStoreError(
            f"{quote(str(path))} is a URL that was converted to a path; "
            "pass the URL as a string, such as s3://bucket/name.zarr"
        )
    try:
        names = os.fsencode(path).split(b"/")
    except UnicodeEncodeError as error:
        raise NotAStoreError(f"the path {quote(str(path))} cannot be encoded in {error.encoding}") from error
    longest, total = max(map(len, names)), sum(map(len, names)) + len(names)
    if longest > LONGEST_NAME or total > LONGEST_PATH or b"\0" in b"".join(names):
        limits = f"at most {LONGEST_PATH} bytes, at most {LONGEST_NAME} bytes per name, and no null byte"
        raise NotAStoreError(f"not a valid path: {quote(str(path))} (a path has {limits})")


def checked_url(url: str, of_store: bool = True) -> str:
    """Return the URL without trailing slashes; raise NotAStoreError if it is not the URL of a store.

    The message contains no secrets. With ``of_store=False``, the URL may also be only the URL of a bucket.
    """
    scheme, _, rest = url.partition("://")
    if "@" in rest.partition("/")[0] or "?" in rest or "#" in rest:
        raise NotAStoreError(
            f"the URL of a store must not contain a user, password or parameters; write {scheme}://bucket/name.zarr, "
            "since credentials come from the environment"
        )
    if scheme not in SCHEMES:
        schemes = ", ".join(f"{one}://" for one in SCHEMES)
        raise NotAStoreError(f"expected the path of a store, or a URL that begins with {schemes}; found {quote(url)}")
    bucket, *names = rest.rstrip("/").split("/")
    if not bucket or (of_store and not names) or not all(name.strip(".") for name in names):
        raise NotAStoreError(f"expected a URL such as {scheme}://bucket/name.zarr, found {quote(url)}")
    return url.rstrip("/")
