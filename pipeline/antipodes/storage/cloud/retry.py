"""Requests to object storage: what may get better is tried again for a while, all that goes wrong is a StoreError."""

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from antipodes.errors import AntipodesError, InputError, StoreError
from antipodes.quoting import quote

PATIENCE_VARIABLE = "ANTIPODES_STORE_PATIENCE"
"""The environment's variable with the seconds for which requests that fail are tried again."""
PATIENCE = 75.0
"""Those seconds unless the variable says otherwise: with the last try's own time less than two minutes."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 4.0
"""Seconds between tries; each pause is twice the one before."""

CONFLICTS = ("AlreadyExistsError", "PreconditionError")
AT_THE_SAME_MOMENT = "ConditionalRequestConflict"
"""What S3 answers to a condition while another request changes the object: ask again."""
HOPELESS = ("PermissionDeniedError", "UnauthenticatedError", "NotSupportedError", "InvalidPathError", "PanicError")
"""Obstore's errors by their names, since it is loaded only when it is needed."""
TRANSIENT_STATUS = {408, 409, 425, 429}
NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")
METADATA_SERVICE = ("169.254.169.254", "metadata.google.internal")
"""Where the clients ask for credentials if the environment has none."""

T = TypeVar("T")
_gave_up: dict[str, float] = {}
"""When requests to a server were given up: for a while after that each is made once, so that a failed run ends."""


class IncompleteReadError(Exception):
    """Fewer bytes came than the storage announced."""


class PanicError(Exception):
    """The client has met something that its authors did not expect."""


def without_panic(request: Callable[[], T]) -> T:
    """The result of a request to obstore; a panic, which is no Exception where it comes from, is a PanicError."""
    try:
        return request()
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # pyo3's, which no module exports
            raise
        raise PanicError(f"the client of the storage panicked: {error}") from None


def patience_from_environment() -> float:
    """The seconds for which a failing request is tried again; InputError where the variable holds no number."""
    text = os.environ.get(PATIENCE_VARIABLE, str(PATIENCE))
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < float("inf"):
        raise InputError(f"{PATIENCE_VARIABLE}: expected a number of seconds, found {quote(text)}")
    return seconds


@dataclass(frozen=True)
class Patience:
    """How long a process insists on what it asks of a server."""

    server: str
    """The part of a URL that says which one."""
    seconds: float
    """For so long a request that fails is made again."""

    def insist(self, what: str, address: str, request: Callable[[], T]) -> T:
        """What the request returns, which is made again until it succeeds, cannot, or the time is over.

        FileNotFoundError, and obstore's errors for conditions that are not met, are answers: they are passed on.

        Raises
        ------
        StoreError
            ``what`` (such as "read") cannot be done at the address, and why; nothing secret is in it.
        """
        begin, pause = time.monotonic(), FIRST_PAUSE
        end = begin if self._has_given_up(begin) else begin + self.seconds
        while True:
            try:
                result = without_panic(request)
            except AntipodesError:  # of another request, which was insisted on already, or of the environment
                raise
            except Exception as error:
                if is_answer(error):
                    _gave_up.pop(self.server, None)
                    raise
                if not _may_get_better(error) or time.monotonic() + pause > end:
                    raise self._failure(what, address, error, time.monotonic() - begin) from None
            else:
                _gave_up.pop(self.server, None)
                return result
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _has_given_up(self, now: float) -> bool:
        return self.server in _gave_up and now - _gave_up[self.server] < self.seconds

    def _failure(self, what: str, address: str, error: Exception, seconds: float) -> StoreError:
        tried = ""
        if _may_get_better(error):
            _gave_up[self.server] = time.monotonic()
            tried = f"; tried for {seconds:.0f} s" if seconds >= 1 else ""
        return StoreError(f"cannot {what} {address}: {reason(error)}{tried}")


def is_answer(error: Exception) -> bool:
    """Whether the error says what there is, or is not, rather than that something went wrong."""
    if isinstance(error, FileNotFoundError):
        return not any(sign in str(error) for sign in NO_BUCKET)
    return type(error).__name__ in CONFLICTS and AT_THE_SAME_MOMENT not in str(error)


def reason(error: Exception) -> str:
    """What went wrong in a line, without addresses of requests, which may be signed."""
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


def _may_get_better(error: Exception) -> bool:
    if isinstance(error, FileNotFoundError) or type(error).__name__ in HOPELESS:
        return False
    if any(service in str(error) for service in METADATA_SERVICE):
        return False
    status = _status(error)
    if status is None:
        return True
    return status in TRANSIENT_STATUS or (status >= 500 and status != 501)


def _status(error: Exception) -> int | None:
    """The status of the response that the error is about, if there was one."""
    found = re.search(r"status code: (\d+)", str(error))
    return int(found[1]) if found else None
