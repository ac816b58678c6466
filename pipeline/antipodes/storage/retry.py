"""Requests to object storage and calls to file systems: long waits are reported and can be stopped.

Requests are retried after transient errors; all other errors become StoreErrors. A request cannot be aborted, so each
request runs in its own thread. The caller waits for the answer, reports the wait, and abandons the request if the run
or the program is told to stop. Calls to a file system, whose server may be unreachable, are made in the same way, but
they are not retried.
"""

import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from antipodes.system.waits import RunOfAnotherProcess
from antipodes_tasks.base.errors import AntipodesError, InputError, StoreError, StoreSilentError, StoreUnreachableError
from antipodes_tasks.base.quoting import quote

VARIABLE = "ANTIPODES_RETRY_SECONDS"
"""Environment variable with the number of seconds for which a failing request is retried."""
DEFAULT_SECONDS = 75.0
"""Seconds of retrying if the variable is not set. Including the last try this takes less than two minutes."""
REPORT_AFTER_SECONDS, REPEAT_SECONDS = 3.0, 10.0
"""Seconds before a wait is first reported, and between later reports."""
LOOK_SECONDS = 0.1
"""Seconds between checks whether a wait has to be reported or ended."""
LAST_SECONDS = 1.0
"""Maximum number of seconds to wait for an answer while the program ends, for example when a lock is released."""
FORGIVEN_SECONDS = 5.0
"""Seconds after a stop during which the program waits at most LAST_SECONDS for a server that did not answer."""
SLOWEST_WRITE = 4 << 20
"""Rate in bytes per second below which a write is abandoned after the run was told to stop."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 4.0
"""Seconds between the first two tries, doubled after each try, and their maximum."""

CONFLICTS = ("AlreadyExistsError", "PreconditionError")
CONCURRENT_WRITE = "ConditionalRequestConflict"
"""S3's error for a conditional write while another request changes the object. It is transient."""
PERMANENT = ("PermissionDeniedError", "UnauthenticatedError", "NotSupportedError", "InvalidPathError", "PanicError")
"""Names of obstore's errors that a retry cannot fix. (Names, since obstore is only imported when it is needed.)"""
TRANSIENT_STATUS = {408, 409, 425, 429}
NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")
METADATA_SERVICE = ("169.254.169.254", "metadata.google.internal")
"""Hosts that the clients ask for credentials if the environment has none."""
DONE = {"read": "read", "write": "written", "delete": "deleted", "list": "listed", "lock": "locked"}
"""Past participle of each kind of request, for messages."""
REQUEST_THREAD, IDLE_THREAD = "request to a storage", "between two requests to a storage"
MAX_IDLE_THREADS = 32
"""Maximum number of idle threads that are kept for later requests."""

T = TypeVar("T")


@dataclass
class StorageWatch:
    """Functions that report waits for storage and check whether they have to end. Both may be called in any thread."""

    tell: Callable[[str], None] = lambda waited_for: None
    """Called with the rest of a sentence that begins with "waiting for"."""
    stop: Callable[[], bool] = lambda: False
    """Return whether the run has to stop. Waits that last longer than an answer usually takes then end."""
    ending: bool = False
    """Whether the program is ending, so that waits must be short. A signal handler can set it."""
    run: str = ""
    """Name of the run for other processes. If it is empty, they do not report their waits."""


watch = StorageWatch()
"""The watch of this process, for all waits that do not belong to a watched run."""


@dataclass(frozen=True)
class _Trouble:
    """A recent failure of a server to answer in time. For a while, requests to this server are not retried."""

    until: float
    """Time on the monotonic clock at which retries begin again."""
    seconds: float
    """Seconds that the server has for an answer until then. 0: no request is made."""
    stopped: bool = False
    """True: waits for this server were stopped. False: the server failed for all of the retry time."""


_trouble: dict[tuple[str, str], _Trouble] = {}
"""Failures by server and name of the run, so that interrupting one run does not affect another run in this process."""


class IncompleteReadError(Exception):
    """Fewer bytes arrived than the storage announced."""


class PanicError(Exception):
    """Obstore, the storage client, panicked: it reached a state that its authors did not expect."""


def without_panic(request: Callable[[], T]) -> T:
    """Return the result of a request to obstore; raise PanicError for a panic, which is not an Exception."""
    try:
        return request()
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # pyo3's class, which no module exports
            raise
        raise PanicError(f"the storage client panicked: {error}") from None


def retry_seconds() -> float:
    """Return how many seconds a failing request is retried; raise InputError if the variable is not a number."""
    text = os.environ.get(VARIABLE, str(DEFAULT_SECONDS))
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < float("inf"):
        raise InputError(f"{VARIABLE}: expected a number of seconds, found {quote(text)}")
    return seconds


class RetryPolicy:
    """How a process makes requests to a server, and how long it retries them."""

    def __init__(self, server: str, seconds: float, run: str = "", patience: float = 0.0) -> None:
        """Create a policy.

        Parameters
        ----------
        server
            The part of a URL that names the server, or the path of a directory.
        seconds
            Seconds for which a failing request is retried. 0: no retries.
        run
            The name of the run in another process for which the requests are made, if there is one.
        patience
            Seconds that a request may take after a stop, in addition to the time that any request may take.
        """
        self.server, self.seconds, self.patience = server, seconds, patience
        self.watch: StorageWatch | None = None
        """The watch of the run that makes the requests. None: the watch of the process."""
        if run:
            other = RunOfAnotherProcess(run)
            self.watch = StorageWatch(other.report, other.stop, run=run)
        self._told_at = float("-inf")
        self._told: set[_Wait] = set()
        """The waits that were reported and still last."""
        self._telling = threading.Lock()

    @contextmanager
    def watched(self, tell: Callable[[str], None], stop: Callable[[], bool], run: str) -> Iterator[None]:
        """Make requests in the block for a run; see `Storage.watched`."""
        self.watch = StorageWatch(tell, stop, run=run)
        try:
            yield
        finally:
            self.watch = None

    def run(self, what: str, address: str, request: Callable[[], T], size: int = 0) -> T:
        """Return the result of the request; retry it until it succeeds, fails permanently, or the time is up.

        FileNotFoundError, and obstore's errors for unmet conditions, are answers. They are raised unchanged.

        Parameters
        ----------
        what
            "read", "write", "delete" or "list".
        address
            The URL, for messages.
        request
            The function that makes the request. It is called in another thread.
        size
            Number of bytes that the request writes.

        Raises
        ------
        StoreSilentError
            The run or the program was told to stop, and the server did not answer.
        StoreError
            The request failed. The message names the request, the address and the reason, and contains no secrets.
        """
        trouble = _trouble_with(self._key)
        with self._wait(what, address, size, trouble) as wait:
            return self._answered(wait, request, 0 if trouble else self.seconds)

    def call_unchanged(
        self, what: str, address: str, call: Callable[[], T], size: Callable[[], int] = int, must: bool = False
    ) -> T:
        """Return the result of a call to a file system. Its errors are raised unchanged, and it is not retried.

        Waits are only reported, and can only be ended, for the calls of a watched run. A call with ``must``, such as
        closing a file, is made even after the run has given up the file system.
        """
        if self.watch is None or threading.current_thread().name == REQUEST_THREAD:
            return call()
        trouble = _trouble_with(self._key)
        if trouble and must:
            trouble = replace(trouble, seconds=max(trouble.seconds, LAST_SECONDS))
        with self._wait(what, address, size(), trouble) as wait:
            result = wait.answer(call)
        _trouble.pop(self._key, None)
        return result

    @contextmanager
    def _wait(self, what: str, address: str, size: int, trouble: "_Trouble | None") -> Iterator["_Wait"]:
        """Yield the wait for a request. After Ctrl-C, the storage is given up."""
        wait = _Wait(self, what, address, size, trouble)
        try:
            yield wait
        except BaseException as error:
            if not isinstance(error, Exception):  # Ctrl-C
                self.give_up()
            raise
        finally:
            self._told.discard(wait)

    def _answered(self, wait: "_Wait", request: Callable[[], T], seconds: float) -> T:
        pause = FIRST_PAUSE
        while True:
            try:
                result = wait.answer(request)
            except AntipodesError:  # from another request, which was retried already, or from the environment
                raise
            except Exception as error:
                if is_answer(error):
                    _trouble.pop(self._key, None)
                    raise
                if not _is_transient(error):
                    raise StoreError(f"cannot {wait.what} {wait.address}: {reason(error)}") from None
                if wait.seconds + pause > seconds:
                    raise self.failure(wait, reason(error)) from None
                wait.reason = reason(error)
            else:
                _trouble.pop(self._key, None)
                return result
            wait.pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def report_wait(self, wait: "_Wait") -> None:
        """Report a wait if it is due. Only one of several simultaneous waits for a server is reported."""
        now = time.monotonic()
        with self._telling:
            if now - self._told_at < (REPEAT_SECONDS if self._told else REPORT_AFTER_SECONDS):
                return
            self._told_at = now
            self._told.add(wait)
        (self.watch or watch).tell(str(wait))

    def failure(self, wait: "_Wait", why: str) -> StoreUnreachableError:
        """Return the error for a wait that has used up the time for retries."""
        self.expect_failures()
        tried = f"; tried for {wait.seconds:.0f} s" if wait.seconds >= 1 else ""
        return StoreUnreachableError(f"cannot {wait.what} {wait.address}: {why}{tried}")

    @property
    def run_name(self) -> str:
        """Name of the run for other processes, or an empty string."""
        return self.watch.run if self.watch else ""

    @property
    def _key(self) -> tuple[str, str]:
        """The key in `_trouble`."""
        return self.server, (self.watch or watch).run

    def expect_failures(self) -> None:
        """Keep all waits for the server short for a while, because it has already failed for long enough."""
        _trouble[self._key] = _Trouble(time.monotonic() + self.seconds, REPORT_AFTER_SECONDS)

    def give_up(self) -> None:
        """Record that the waits were stopped. Later waits, such as for the release of a lock, are short."""
        before = _trouble_with(self._key)
        again = before is not None and before.stopped
        _trouble[self._key] = _Trouble(
            time.monotonic() + FORGIVEN_SECONDS, 0.0 if again else LAST_SECONDS, stopped=True
        )


class _Wait:
    """The wait for the answer to one request, including all of its tries."""

    def __init__(self, policy: RetryPolicy, what: str, address: str, size: int, trouble: _Trouble | None) -> None:
        self.what, self.address = what, address
        self.reason = ""
        """Why the last try failed, or an empty string."""
        self._policy = policy
        self._allowed = REPORT_AFTER_SECONDS + policy.patience + size / SLOWEST_WRITE
        """Maximum duration of the request in seconds if the run is told to stop; long enough for a last commit."""
        self._trouble = trouble
        self._begin = time.monotonic()
        self._tries = 0

    def __str__(self) -> str:
        tries = f", try {self._tries}" if self._tries > 1 else ""
        why = f": {self.reason}" if self.reason else ", no answer yet"
        return f"{self.address} to be {DONE[self.what]}, for {self.seconds:.0f} s{tries}{why}"

    @property
    def seconds(self) -> float:
        """Seconds since the wait began."""
        return time.monotonic() - self._begin

    def answer(self, request: Callable[[], T]) -> T:
        """Return the result of one try, or raise its error. If the wait ends first, the request runs on, abandoned."""
        self._tries += 1
        if self._trouble and self._trouble.seconds == 0:
            raise self._stopped()
        answer = _answer_to(partial(without_panic, request))
        while futures.wait([answer], LOOK_SECONDS).not_done:
            self.look()
        return answer.result()

    def pause(self, seconds: float) -> None:
        """Wait for some seconds before the next try."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
            self.look()

    def look(self) -> None:
        """Report the wait if it is long enough; raise an error if the wait has to end."""
        seconds, trouble = self.seconds, self._trouble
        if watch.ending and seconds >= LAST_SECONDS:
            raise self._stopped()
        if trouble and seconds >= trouble.seconds:
            raise self._stopped() if trouble.stopped else StoreUnreachableError(self._silence())
        if self._tries > 1 and seconds >= self._policy.seconds + self._allowed:  # the last try has used up its time
            raise self._policy.failure(self, self.reason)
        if seconds >= self._allowed and (self._policy.watch or watch).stop():
            raise self._stopped()
        if seconds >= REPORT_AFTER_SECONDS:
            self._policy.report_wait(self)

    def _stopped(self) -> StoreSilentError:
        self._policy.give_up()
        return StoreSilentError(f"interrupted: {self._silence()}")

    def _silence(self) -> str:
        waited = f" for {self.seconds:.0f} s" if self.seconds >= 1 else ""
        return f"cannot {self.what} {self.address}: {self.reason or 'no answer'}{waited}"


class _Requester(threading.Thread):
    """A thread that makes one request after another. Its name shows whether a request is under way."""

    def __init__(self) -> None:
        super().__init__(name=IDLE_THREAD, daemon=True)
        self._requests: queue.SimpleQueue[tuple[Callable[[], Any], futures.Future[Any]]] = queue.SimpleQueue()

    def ask(self, request: Callable[[], T]) -> "futures.Future[T]":
        """Make a request in this thread; return the future of its result."""
        answer: futures.Future[T] = futures.Future()
        self.name = REQUEST_THREAD
        self._requests.put((request, answer))
        return answer

    def run(self) -> None:
        """Make requests as they arrive."""
        while True:
            self._make(*self._requests.get())
            if len(_idle) >= MAX_IDLE_THREADS:
                return
            _idle.append(self)

    def _make(self, request: Callable[[], T], answer: "futures.Future[T]") -> None:
        """Make one request. This is a separate method so that an idle thread does not keep the last result alive."""
        try:
            result = request()
        except BaseException as error:  # raised in the thread that waits for the result
            self.name = IDLE_THREAD
            answer.set_exception(error)
        else:
            self.name = IDLE_THREAD
            answer.set_result(result)


_idle: list[_Requester] = []
"""Idle threads, kept for later requests. Starting a thread takes as long as many small calls to a file system."""
os.register_at_fork(after_in_child=_idle.clear)  # threads do not survive a fork


def _answer_to(request: Callable[[], T]) -> "futures.Future[T]":
    """Make a request in another thread; return the future of its result."""
    try:
        requester = _idle.pop()
    except IndexError:
        requester = _Requester()
        requester.start()
    return requester.ask(request)


def has_open_requests() -> bool:
    """Return whether abandoned requests are still running. Python's shutdown would wait for them, or fail on them."""
    return any(one.name == REQUEST_THREAD for one in threading.enumerate())


def _trouble_with(key: tuple[str, str]) -> _Trouble | None:
    found = _trouble.get(key)
    return found if found and time.monotonic() < found.until else None


def is_answer(error: Exception) -> bool:
    """Return whether the error is an answer about an object, and not a failure."""
    if isinstance(error, FileNotFoundError):
        return not any(sign in str(error) for sign in NO_BUCKET)
    return type(error).__name__ in CONFLICTS and CONCURRENT_WRITE not in str(error)


def reason(error: Exception) -> str:
    """Return the error message on one line, without URLs, which may be signed."""
    text = str(error)
    if any(service in text for service in METADATA_SERVICE):
        return "no credentials in the environment"
    if status := re.search(r"status code: (\d+ [A-Za-z ]+)", text):
        code = re.search(r"<Code>(\w+)</Code>", text)
        return f"{status[1].strip()}{f' ({code[1]})' if code else ''}"
    if "TimedOut" in text:
        return "no answer"
    system = re.search(r'kind: (\w+),\s+message: "([^"]*)"', text)
    if system:
        return system[2]
    line = text.partition("\n")[0].rpartition(" - ")[2]
    return re.sub(r"\S+://\S+", "...", line)[:200] or type(error).__name__


def _is_transient(error: Exception) -> bool:
    """Return whether a retry may succeed."""
    if isinstance(error, FileNotFoundError) or type(error).__name__ in PERMANENT:
        return False
    if any(service in str(error) for service in METADATA_SERVICE):
        return False
    status = answered_status(error)
    if status is None:
        return True
    return status in TRANSIENT_STATUS or (status >= 500 and status != 501)


def answered_status(error: Exception) -> int | None:
    """Return the HTTP status of the response, or None if there was no response."""
    found = re.search(r"status code: (\d+)", str(error))
    return int(found[1]) if found else None
