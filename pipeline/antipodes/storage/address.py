"""The address of a store: a path, or a URL of object storage."""

import os
import re
import shlex
from pathlib import Path
from typing import Any

from antipodes.storage.backend import Storage
from antipodes_tasks.errors import NotAStoreError
from antipodes_tasks.quoting import quote

SCHEMES = ("s3", "gs", "az")
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
MANGLED = re.compile(f"({'|'.join(SCHEMES)}):/")
"""The begin of a URL that went through a path, which drops one of its slashes."""

LONGEST_NAME, LONGEST_PATH = 250, 4096
"""Most bytes of a name and of a path in file systems, less those that the lock of a store adds."""

Address = Path | str
"""A path, or a URL as text."""


def argument(address: Address) -> str:
    """The address as an argument that no command takes for an option."""
    return f"./{address}" if str(address).startswith("-") else str(address)


def in_shell(address: Address) -> str:
    """The address as a person types it after a command."""
    return quoted_word(argument(address))


def quoted_word(word: str) -> str:
    """The word as a person types it in a shell; control characters are escaped in the form ``$'...'``."""
    return shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_in_dollar_quotes, word))}'"


def _in_dollar_quotes(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    of_a_byte = "\udc80" <= character <= "\udcff"  # a byte of a file name that is not UTF-8
    return "".join(
        f"\\{byte:03o}" for byte in character.encode(errors="surrogateescape" if of_a_byte else "surrogatepass")
    )


def is_url(text: Address) -> bool:
    """Whether it is a URL rather than a path."""
    return isinstance(text, str) and URL.match(text) is not None


def address_from(text: str) -> Address:
    """The address that a person wrote: a path, or a URL as text, since a path would drop one of its slashes."""
    return text if is_url(text) else Path(text)


def storage_at(address: Address | Storage) -> Storage:
    """The storage at an address; NotAStoreError where no store can have the address."""
    if isinstance(address, Storage):
        return address
    kind, checked = _kind_of(address, of_store=True)
    storage: Storage = kind(checked)
    return storage


def storages_in(address: Address) -> list[Storage]:
    """The storages in the folders directly in a directory or under a URL, by name; or the address itself, if a store.

    InputError where there is nothing at the address, or no directory; NotAStoreError where the URL is none of a bucket.
    """
    kind, checked = _kind_of(address, of_store=False)
    return list(kind.list_stores(checked))


def _kind_of(address: Address, of_store: bool) -> tuple[Any, Address]:
    """The class of the storage at an address, and the address, checked."""
    if isinstance(address, str) and is_url(address):
        from antipodes.storage.objects import ObjectStorage

        return ObjectStorage, checked_url(address, of_store)
    from antipodes.storage.directory import DirectoryStorage

    check_path(address)
    return DirectoryStorage, Path(address)


def check_path(path: Address) -> None:
    """Raise NotAStoreError for a path that no file system takes, or that was a URL."""
    if MANGLED.match(str(path)):
        raise NotAStoreError(
            f"expected a path, or a URL such as s3://bucket/name.zarr as text, found {quote(str(path))}"
        )
    try:
        names = os.fsencode(path).split(b"/")
    except UnicodeEncodeError as error:
        raise NotAStoreError(f"expected a path that {error.encoding} can express, found {quote(str(path))}") from error
    longest, total = max(map(len, names)), sum(map(len, names)) + len(names)
    if longest > LONGEST_NAME or total > LONGEST_PATH or b"\0" in b"".join(names):
        expected = f"a path of at most {LONGEST_PATH} bytes, {LONGEST_NAME} in each name, none of them 0"
        raise NotAStoreError(f"expected {expected}; found {quote(str(path))}")


def checked_url(url: str, of_store: bool = True) -> str:
    """The URL without a slash at its end; NotAStoreError, which shows no secret, where no store can have the URL.

    Stores may also be under the URL of a bucket alone, unless it is to be ``of_store``.
    """
    scheme, _, rest = url.partition("://")
    if "@" in rest.partition("/")[0] or "?" in rest or "#" in rest:
        raise NotAStoreError(
            f"expected a URL such as {scheme}://bucket/name.zarr, found one with a user, password or parameters: "
            "credentials come from the environment"
        )
    if scheme not in SCHEMES:
        schemes = ", ".join(f"{one}://" for one in SCHEMES)
        raise NotAStoreError(f"expected the path of a store, or a URL that begins with {schemes}; found {quote(url)}")
    bucket, *names = rest.rstrip("/").split("/")
    if not bucket or (of_store and not names) or not all(name.strip(".") for name in names):
        raise NotAStoreError(f"expected a URL such as {scheme}://bucket/name.zarr, found {quote(url)}")
    return url.rstrip("/")
