"""The retry policy of requests to object storage: transient errors are retried, all others become StoreErrors."""

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from antipodes.errors import AntipodesError, InputError, StoreError
from antipodes.quoting import quote

VARIABLE = "ANTIPODES_STORE_PATIENCE"
"""The environment variable with the seconds for which a failing request is retried."""
DEFAULT_SECONDS = 75.0
"""Those seconds unless the variable says otherwise: with the last try's own time less than two minutes."""
TELL_SECONDS = 2.0
"""Seconds for which a request fails before that is told."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 4.0
"""Seconds between tries; each pause is twice the one before."""

CONFLICTS = ("AlreadyExistsError", "PreconditionError")
CONCURRENT_WRITE = "ConditionalRequestConflict"
"""The answer of S3 to a conditional write while another request changes the object: a transient error."""
PERMANENT = ("PermissionDeniedError", "UnauthenticatedError", "NotSupportedError", "InvalidPathError", "PanicError")
"""Names of obstore's errors that a retry cannot cure; names, since obstore is loaded only when it is needed."""
TRANSIENT_STATUS = {408, 409, 425, 429}
NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")
METADATA_SERVICE = ("169.254.169.254", "metadata.google.internal")
"""Hosts that the clients ask for credentials if the environment has none."""

T = TypeVar("T")
_exhausted: dict[str, float] = {}
"""The time at which retries of a server ran out; for a while, requests are not retried, so that a failed run ends."""


@dataclass
class Watch:
    """Whom to tell of requests that fail for long, and are tried again; set ``tell`` to be called, in any thread."""

    tell: Callable[[str], None]


watch = Watch(lambda message: None)
"""The watch of this process."""


class IncompleteReadError(Exception):
    """Fewer bytes than the storage announced."""


class PanicError(Exception):
    """The client met a state that its authors did not expect."""


def without_panic(request: Callable[[], T]) -> T:
    """The result of a request to obstore; PanicError in place of a panic, which is no Exception."""
    try:
        return request()
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a class of pyo3's that no module exports
            raise
        raise PanicError(f"the client of the storage panicked: {error}") from None


def retry_seconds() -> float:
    """The seconds for which a failing request is retried; InputError where the variable holds no number."""
    text = os.environ.get(VARIABLE, str(DEFAULT_SECONDS))
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < float("inf"):
        raise InputError(f"{VARIABLE}: expected a number of seconds, found {quote(text)}")
    return seconds


@dataclass(frozen=True)
class RetryPolicy:
    """How long a process retries its requests to a server."""

    server: str
    """The part of a URL that names the server."""
    seconds: float
    """Seconds for which a failing request is retried; 0: never."""

    def run(self, what: str, address: str, request: Callable[[], T]) -> T:
        """The result of the request, which is retried until it succeeds, cannot succeed, or the time is over.

        FileNotFoundError, and obstore's errors for unmet conditions, are answers: they are raised unchanged.

        Raises
        ------
        StoreError
            The message says that ``what`` (such as "read") cannot be done at the address, and why; it has no secrets.
        """
        begin, pause = time.monotonic(), FIRST_PAUSE
        end = begin if self._is_exhausted(begin) else begin + self.seconds
        told = False
        while True:
            try:
                result = without_panic(request)
            except AntipodesError:  # of another request, which was retried already, or of the environment
                raise
            except Exception as error:
                if is_answer(error):
                    _exhausted.pop(self.server, None)
                    raise
                if not _is_transient(error) or time.monotonic() + pause > end:
                    raise self._failure(what, address, error, time.monotonic() - begin) from None
                if not told and time.monotonic() - begin >= TELL_SECONDS:
                    told = True
                    watch.tell(f"cannot {what} {address}: {reason(error)}; trying for {end - begin:.0f} s")
            else:
                _exhausted.pop(self.server, None)
                return result
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _is_exhausted(self, now: float) -> bool:
        return self.server in _exhausted and now - _exhausted[self.server] < self.seconds

    def _failure(self, what: str, address: str, error: Exception, seconds: float) -> StoreError:
        tried = ""
        if _is_transient(error):
            _exhausted[self.server] = time.monotonic()
            tried = f"; tried for {seconds:.0f} s" if seconds >= 1 else ""
        return StoreError(f"cannot {what} {address}: {reason(error)}{tried}")


def is_answer(error: Exception) -> bool:
    """Whether the error is an answer about an object rather than a failure."""
    if isinstance(error, FileNotFoundError):
        return not any(sign in str(error) for sign in NO_BUCKET)
    return type(error).__name__ in CONFLICTS and CONCURRENT_WRITE not in str(error)


def reason(error: Exception) -> str:
    """The error on one line, without the addresses of requests, which may be signed."""
    text = str(error)
    if any(service in text for service in METADATA_SERVICE):
        return "no credentials in the environment"
    if status := re.search(r"status code: (\d+ [A-Za-z ]+)", text):
        code = re.search(r"<Code>(\w+)</Code>", text)
        return f"{status[1].strip()}{f' ({code[1]})' if code else ''}"
    system = re.search(r'kind: (\w+),\s+message: "([^"]*)"', text)
    if system:
        return system[2]
    line = text.partition("\n")[0].rpartition(" - ")[2]
    return re.sub(r"\S+://\S+", "...", line)[:200] or type(error).__name__


def _is_transient(error: Exception) -> bool:
    """Whether a retry may succeed."""
    if isinstance(error, FileNotFoundError) or type(error).__name__ in PERMANENT:
        return False
    if any(service in str(error) for service in METADATA_SERVICE):
        return False
    status = answered_status(error)
    if status is None:
        return True
    return status in TRANSIENT_STATUS or (status >= 500 and status != 501)


def answered_status(error: Exception) -> int | None:
    """The status of the response, if there was one."""
    found = re.search(r"status code: (\d+)", str(error))
    return int(found[1]) if found else None
