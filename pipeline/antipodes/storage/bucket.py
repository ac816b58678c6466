"""The objects of a bucket, accessed through obstore with retries; environment variables are checked first."""

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cache, partial
from typing import Any, Literal, TypeVar

from antipodes.storage.backend import Content, TooLargeError, Version
from antipodes.storage.retry import (
    IncompleteReadError,
    RetryPolicy,
    answered_status,
    is_answer,
    reason,
    retry_seconds,
    without_panic,
)
from antipodes_tasks.base.errors import InputError, StoreError, missing_package

CONNECT_TIMEOUT, REQUEST_TIMEOUT = timedelta(seconds=5), timedelta(seconds=40)
REFUSAL_PAUSES = (0.1, 0.4, 1.6)
"""Seconds to wait after each time that the server refuses a write whose condition is met."""
MAX_DELETED = 1000
"""Maximum number of keys in one request to delete. S3 accepts no more."""
FENCED_TRIES = 10
"""Number of tries of a write whose object keeps changing. Few are needed: only repetitions of the same task change it.
"""
RANGE_NOT_SATISFIABLE = 416
"""HTTP status of the answer if an object ends before the first byte of a range."""
ENDPOINTS = {
    "s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    "az": ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
}
"""Environment variables with the URL of a server, by the scheme of a store's URL."""
ENDPOINT = re.compile(
    r"https?://([\w.-]+|\[[0-9a-f:.]+\])(:(?P<port>\d{1,5}))?(/[\w.~%+/-]*)?", re.ASCII | re.IGNORECASE
)
SENT_AS_HEADERS = {"s3": "AWS_", "az": "AZURE_"}
"""Prefix of the environment variables whose values are sent unchanged as headers of requests."""
LARGEST_PORT = 65535

T = TypeVar("T")
Meta = dict[str, Any]
"""The server's description of an object: ``size``, ``last_modified``, ``e_tag``, ``version``."""


class Changed(Exception):  # noqa: N818  (an answer, not a failure)
    """An object no longer has the version that was to be replaced."""


class Bucket:
    """The objects of a bucket, by key. A copy in another process has the same retry policy and opens its own client."""

    def __init__(self, url: str, seconds: float | None = None, run: str = "") -> None:
        """Create the bucket; ``run`` is the name of the run in another process that uses it here, if there is one."""
        self.url = url
        self.retries = RetryPolicy(url, retry_seconds() if seconds is None else seconds, run)

    def __reduce__(self) -> tuple[Any, ...]:
        return Bucket, (self.url, self.retries.seconds, self.retries.run_name)

    @property
    def client(self) -> Any:
        """Obstore's store, one per process. Credentials come from the environment of the process."""
        return _opened(self.url, os.getpid())

    def open(self) -> None:
        """Open the client; raise InputError if obstore is not installed or a setting is invalid."""
        _opened(self.url, os.getpid())

    def head(self, key: str) -> Meta | None:
        """Return the server's description of an object, or None if the object does not exist."""
        try:
            return self._ask("read", key, lambda: dict(self.client.head(key)))
        except FileNotFoundError:
            return None

    def get(self, key: str, max_bytes: int) -> tuple[bytes, Meta]:
        """Return the content of an object and the server's description.

        Raises FileNotFoundError if the object does not exist, and TooLargeError if it has more than ``max_bytes``.
        Such an object is not fetched.
        """

        def request() -> tuple[bytes, Meta]:
            result = self.client.get(key)
            if result.meta["size"] > max_bytes:
                raise TooLargeError.of(f"{self.url}/{key}", max_bytes, result.meta["size"])
            content = bytes(result.bytes())
            if len(content) != result.meta["size"]:
                raise IncompleteReadError(f"received {len(content)} of {result.meta['size']} bytes")
            return content, dict(result.meta)

        return self._ask("read", key, request)

    def get_range(self, key: str, first: int, count: int) -> bytes:
        """Return bytes of an object, or fewer if it ends earlier; raise FileNotFoundError if it does not exist."""

        def request() -> bytes:
            try:
                result = self.client.get(key, options={"range": (first, first + count)})
            except Exception as error:  # obstore has no error class for this answer
                if answered_status(error) == RANGE_NOT_SATISFIABLE:
                    return b""
                raise
            content, (begin, end) = bytes(result.bytes()), result.range
            if (begin, len(content)) != (first, end - begin):
                came = f"received {len(content)} bytes from byte {begin}"
                raise IncompleteReadError(f"{came}, expected {end - begin} from byte {first}")
            return content

        return self._ask("read", key, request) if count else b""

    def put(
        self,
        key: str,
        content: Any,
        mode: Literal["create", "overwrite"] | Version = "overwrite",
        check: Callable[[], None] = lambda: None,
    ) -> Version:
        """Put an object in one request; return its version.

        With ``mode="create"``, the object must not exist; with a version, it must have this version. Raises `Changed`
        if this condition is not met. Some proxies refuse requests whose condition is met; these requests are retried.

        ``check`` is called before each try. An error that it raises ends the put.
        """
        condition: Any = mode if isinstance(mode, str) else dict(mode)

        def request() -> Version:
            check()
            return version_of(dict(self.client.put(key, content, mode=condition, use_multipart=False)))

        for pause in REFUSAL_PAUSES:
            try:
                return self._ask("write", key, request, memoryview(content).nbytes)
            except Exception as error:
                if isinstance(error, StoreError) or not is_answer(error):
                    raise
                refusal = reason(error)
            if own := self._version_written(key, bytes(content), mode):
                return own
            time.sleep(pause)
        raise StoreError(f"cannot write {self.url}/{key}: {refusal}, although nothing else has changed it")

    def put_fenced(self, key: str, content: Content, check: Callable[[], None]) -> None:
        """Put or replace an object right after ``check`` has passed.

        Between the check and the put, the lock may get another token, and the object newer content. The put does not
        replace this content, because it requires the version that the object had before the check. The first try
        requires that the object does not exist, since most objects are new.
        """
        mode: Literal["create"] | Version = "create"
        for _ in range(FENCED_TRIES):
            with suppress(Changed):
                self.put(key, content, mode, check)
                return
            meta = self.head(key)
            mode = "create" if meta is None else version_of(meta)
        raise StoreError(f"cannot write {self.url}/{key}: other tasks are writing it")

    def _version_written(self, key: str, content: bytes, mode: str | Version) -> Version | None:
        """Return the version of an object if an earlier put succeeded but its answer was lost.

        Returns None if the object is still the one to be replaced, and raises `Changed` if it is a different one.
        """
        try:
            found, meta = self.get(key, len(content))
        except TooLargeError:
            raise Changed(key) from None
        except FileNotFoundError:
            if isinstance(mode, str):
                return None
            raise Changed(key) from None
        if found == content:
            return version_of(meta)
        if isinstance(mode, str) or version_of(meta) != mode:
            raise Changed(key)
        return None

    def delete(self, keys: list[str], check: Callable[[], None] = lambda: None) -> None:
        """Delete objects; missing objects are ignored. ``check`` is called before each try, as in `put`."""

        def request(keys: list[str] | str) -> None:
            check()
            self.client.delete(keys)

        for first in range(0, len(keys), MAX_DELETED):
            some = keys[first : first + MAX_DELETED]
            try:
                self._ask("delete", some[0], partial(request, some))
            except FileNotFoundError:
                for key in some:  # unlike S3, some servers stop at a missing object
                    with suppress(FileNotFoundError):
                        self._ask("delete", key, partial(request, key))

    def list(self, folder: str) -> dict[str, Meta]:
        """Return the keys in a folder, and the server's description of each object."""

        def request() -> dict[str, Meta]:
            return {one["path"]: dict(one) for one in self.client.list(folder).collect()}

        return self._ask("list", folder, request)

    def list_folders(self, folder: str) -> tuple[Sequence[str], Sequence[str]]:
        """Return the folders directly in a folder, and the keys of other objects in it; "" is the whole bucket."""

        def request() -> tuple[Sequence[str], Sequence[str]]:
            found = self.client.list_with_delimiter(folder or None)
            return sorted(found["common_prefixes"]), [one["path"] for one in found["objects"]]

        return self._ask("list", folder, request)

    def _ask(self, what: str, key: str, request: Callable[[], T], size: int = 0) -> T:
        return self.retries.run(what, f"{self.url}/{key}", request, size)


def version_of(meta: Mapping[str, Any]) -> Version:
    """Return the version in the server's description of an object, with which the object can be replaced."""
    return {name: meta[name] for name in ("e_tag", "version") if meta.get(name) is not None}


@cache
def _opened(url: str, process: int) -> Any:
    """Return obstore's client for a bucket. A process cannot use the client that its parent opened."""
    try:
        from obstore.store import from_url
    except ImportError:
        raise missing_package(f"a store at {url}", "obstore", "cloud") from None
    scheme = url.partition("://")[0]
    check_environment(scheme)
    options: Any = {"connect_timeout": CONNECT_TIMEOUT, "timeout": REQUEST_TIMEOUT, "allow_http": allows_http(scheme)}
    no_retries: Any = {"max_retries": 0, "retry_timeout": timedelta(0)}  # `RetryPolicy` retries and must see all errors
    try:
        return without_panic(partial(from_url, url, client_options=options, retry_config=no_retries))
    except Exception as error:  # obstore's own errors for invalid URLs and settings
        raise InputError(f"cannot use {url}: {reason(error)}") from None


def check_environment(scheme: str) -> None:
    """Raise InputError, without secrets in its message, if a variable cannot be used for stores of this scheme.

    Obstore panics on some invalid values.
    """
    for name in ENDPOINTS.get(scheme, ()):
        if name in os.environ and not _is_endpoint(os.environ[name]):
            raise InputError(f"{name}: expected a URL such as https://host:9000, found {_shown(os.environ[name])}")
    prefix = SENT_AS_HEADERS.get(scheme)
    for name, value in os.environ.items():
        if prefix and name.startswith(prefix) and not value.isprintable():
            raise InputError(f"{name}: the value contains unprintable characters, such as a line break")


def allows_http(scheme: str) -> bool:
    """Return whether an environment variable for this URL scheme names a server with an unencrypted (HTTP) URL."""
    return any(os.environ.get(name, "").lower().startswith("http://") for name in ENDPOINTS.get(scheme, ()))


def _is_endpoint(text: str) -> bool:
    found = ENDPOINT.fullmatch(text)
    return found is not None and 0 < int(found["port"] or 1) <= LARGEST_PORT


def _shown(text: str) -> str:
    """Return the text for a message, or a description if it may contain a password."""
    return "a URL with a user or a password" if "@" in text else repr(text[:80])
