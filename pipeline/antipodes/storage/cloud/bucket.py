"""The objects of a bucket, asked for patiently, through obstore."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import cache, partial
from typing import Any, Literal, TypeVar

from antipodes.errors import InputError, StoreError
from antipodes.storage.backend import Version
from antipodes.storage.cloud.environment import allows_http, check_environment
from antipodes.storage.cloud.retry import (
    IncompleteReadError,
    Patience,
    is_answer,
    patience_from_environment,
    reason,
    without_panic,
)

CONNECT_TIMEOUT, REQUEST_TIMEOUT = timedelta(seconds=5), timedelta(seconds=40)
REFUSAL_PAUSES = (0.1, 0.4, 1.6)
"""Seconds after each try to write that was refused for no reason that can be seen."""
DELETED_AT_ONCE = 1000
"""Keys in a request; S3 takes no more."""

T = TypeVar("T")
Meta = dict[str, Any]
"""What the storage says about an object: ``size``, ``last_modified``, ``e_tag``, ``version``."""


class Changed(Exception):  # noqa: N818  (an answer, not a failure)
    """There is another version of an object than the one that was to be replaced."""


class Bucket:
    """The objects of a bucket by their keys; it may be sent to other processes, with the patience but no client."""

    def __init__(self, url: str, seconds: float | None = None) -> None:
        self.url = url
        self.patience = Patience(url, patience_from_environment() if seconds is None else seconds)

    def __reduce__(self) -> tuple[Any, ...]:
        return Bucket, (self.url, self.patience.seconds)

    @property
    def client(self) -> Any:
        """Obstore's store, one a process; credentials come from the environment of each."""
        return _opened(self.url, os.getpid())

    def open(self) -> None:
        """Open the client; InputError where that cannot be done: it is not installed, or a setting is wrong."""
        _opened(self.url, os.getpid())

    def head(self, key: str) -> Meta | None:
        """What the storage says about an object, if there is one."""
        import obstore

        try:
            return self._ask("read", key, lambda: dict(obstore.head(self.client, key)))
        except FileNotFoundError:
            return None

    def get(self, key: str) -> tuple[bytes, Meta]:
        """An object, whole, and what the storage says about it; FileNotFoundError where there is none."""
        import obstore

        def request() -> tuple[bytes, Meta]:
            result = obstore.get(self.client, key)
            content = bytes(result.bytes())
            if len(content) != result.meta["size"]:
                raise IncompleteReadError(f"{len(content)} of {result.meta['size']} bytes came")
            return content, dict(result.meta)

        return self._ask("read", key, request)

    def put(
        self,
        key: str,
        content: Any,
        mode: Literal["create", "overwrite"] | Version = "overwrite",
        check: Callable[[], None] = lambda: None,
    ) -> Version:
        """Put an object in one request, under a condition if any; `Changed` where it is not met.

        What ``check`` raises, before each try, prevents it. A refusal though the condition is met, such as that of a
        proxy, is not believed.
        """
        import obstore

        condition: Any = mode if isinstance(mode, str) else dict(mode)

        def request() -> Version:
            check()
            return version_of(dict(obstore.put(self.client, key, content, mode=condition, use_multipart=False)))

        for pause in REFUSAL_PAUSES:
            try:
                return self._ask("write", key, request)
            except Exception as error:
                if isinstance(error, StoreError) or not is_answer(error):
                    raise
                refusal = reason(error)
            if own := self._own(key, bytes(content), mode):
                return own
            time.sleep(pause)
        raise StoreError(f"cannot write {self.url}/{key}: {refusal}, though nothing else has changed it")

    def _own(self, key: str, content: bytes, mode: str | Version) -> Version | None:
        """The version at a key if it is ours: a request may be obeyed though its answer was lost.

        None if what is there is what was to be replaced, `Changed` if it is something else.
        """
        try:
            found, meta = self.get(key)
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
        """Delete objects, whether they are there or not; what ``check`` raises, before each try, prevents it."""
        import obstore

        def request(keys: list[str] | str) -> None:
            check()
            obstore.delete(self.client, keys)

        for first in range(0, len(keys), DELETED_AT_ONCE):
            some = keys[first : first + DELETED_AT_ONCE]
            try:
                self._ask("delete", some[0], partial(request, some))
            except FileNotFoundError:
                for key in some:  # where the storage, unlike S3, stops at one that is not there
                    with suppress(FileNotFoundError):
                        self._ask("delete", key, partial(request, key))

    def list(self, folder: str) -> dict[str, Meta]:
        """The keys that begin with a folder's, and what the storage says about the object at each."""
        import obstore

        def request() -> dict[str, Meta]:
            return {one["path"]: dict(one) for one in obstore.list(self.client, prefix=folder).collect()}

        return self._ask("list", folder, request)

    def _ask(self, what: str, key: str, request: Callable[[], T]) -> T:
        return self.patience.insist(what, f"{self.url}/{key}", request)


def version_of(meta: Mapping[str, Any]) -> Version:
    """The part of what the storage says about an object by which the object can be replaced."""
    return {name: meta[name] for name in ("e_tag", "version") if meta.get(name) is not None}


@cache
def _opened(url: str, process: int) -> Any:
    """Obstore's client for a bucket; one that a parent process opened is of no use in its children."""
    try:
        from obstore.store import from_url
    except ImportError:
        raise InputError(f"a store at {url} needs obstore: pip install 'antipodes[cloud]'") from None
    scheme = url.partition("://")[0]
    check_environment(scheme)
    options: Any = {
        "connect_timeout": CONNECT_TIMEOUT,
        "timeout": REQUEST_TIMEOUT,
        "allow_http": allows_http(scheme),
    }
    no_retries: Any = {"max_retries": 0, "retry_timeout": timedelta(0)}  # `Patience` makes them, also of what it reads
    try:
        return without_panic(partial(from_url, url, client_options=options, retry_config=no_retries))
    except Exception as error:  # obstore's own kinds, for URLs and settings
        raise InputError(f"cannot use {url}: {reason(error)}") from None
