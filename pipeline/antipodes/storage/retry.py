"""Requests to object storage, and calls to file systems: every wait is reported, can be stopped, and ends.

Transient errors are retried, all others become StoreErrors. A request is made in a thread of its own, since nothing can
stop one: the caller waits for its answer, reports the wait, and leaves when the run or the program is to stop. The same
holds for a call to a file system, as of a server that is gone; but its errors are no reason for another try.
"""

import os
import queue
import re
import threading
import time
from collections.abc import Callable
from concurrent import futures
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from antipodes.waits import RunOfAnotherProcess
from antipodes_tasks.errors import AntipodesError, InputError, StoreError, StoreSilentError
from antipodes_tasks.quoting import quote

VARIABLE = "ANTIPODES_RETRY_SECONDS"
"""The environment variable with the seconds for which a failing request is retried."""
DEFAULT_SECONDS = 75.0
"""Those seconds unless the variable says otherwise: with the last try's own time less than two minutes."""
TELL_SECONDS, REPEAT_SECONDS = 3.0, 10.0
"""Seconds of a wait before it is reported, and between two reports after that."""
LOOK_SECONDS = 0.1
"""Seconds between two checks whether a wait has to be reported or to end."""
LAST_SECONDS = 1.0
"""Seconds that a server has for each answer when the program ends, such as to the release of a lock."""
FORGIVEN_SECONDS = 5.0
"""Seconds after a stop for which a server that did not answer has no more time than that."""
SLOWEST_WRITE = 4 << 20
"""Bytes per second that a write may take at least, after a run was told to stop."""
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
DONE = {"read": "read", "write": "written", "delete": "deleted", "list": "listed", "lock": "locked"}
"""What is done to an address by each kind of request."""
REQUEST_THREAD, IDLE_THREAD = "request to a storage", "between two requests to a storage"
MAX_IDLE_THREADS = 32
"""Maximum number of threads that are kept for later requests."""

T = TypeVar("T")


@dataclass
class StorageWatch:
    """The reports of waits for storage, and whether waits have to end; both functions are called in any thread."""

    tell: Callable[[str], None] = lambda waited_for: None
    """Called with the rest of a sentence that begins with "waiting for"."""
    stop: Callable[[], bool] = lambda: False
    """Whether the run has to stop; then waits end that last longer than an answer should take."""
    ending: bool = False
    """Whether the program is ending, so that no wait may last; a signal handler can set it."""
    run: str = ""
    """The name by which other processes know the run; empty: they do not report their waits."""


watch = StorageWatch()
"""The watch of this process, for all waits that no run watches."""


@dataclass(frozen=True)
class _Trouble:
    """A server that did not answer, or failed for all the retry seconds: for a while, requests are made once."""

    until: float
    """On the monotonic clock."""
    seconds: float
    """Seconds that it has for an answer; 0: it is not asked."""
    stopped: bool = False
    """Whether waits for it were stopped; otherwise it failed for all the retry seconds."""


_trouble: dict[tuple[str, str], _Trouble] = {}
"""By server, and by the name of the run that waited: an interruption of one run is none of another in this process."""


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


class RetryPolicy:
    """How a process makes its requests to a server, and how long it retries them."""

    def __init__(self, server: str, seconds: float, run: str = "", patience: float = 0.0) -> None:
        """Note how to make requests.

        Parameters
        ----------
        server
            The part of a URL that names the server, or the path of a directory.
        seconds
            Seconds for which a failing request is retried; 0: it is not.
        run
            The name of the run of another process that the requests are made for, if any.
        patience
            Seconds that a request may take after a stop, in addition to those that any request may take.
        """
        self.server, self.seconds, self.patience = server, seconds, patience
        self.watch: StorageWatch | None = None
        """The watch of the run that makes the requests; None: that of the process."""
        if run:
            other = RunOfAnotherProcess(run)
            self.watch = StorageWatch(other.report, other.stop, run=run)
        self._told_at = float("-inf")
        self._told: set[_Wait] = set()
        """The waits that were reported and last."""
        self._telling = threading.Lock()

    def run(self, what: str, address: str, request: Callable[[], T], size: int = 0) -> T:
        """The result of the request, which is retried until it succeeds, cannot succeed, or the time is over.

        FileNotFoundError, and obstore's errors for unmet conditions, are answers: they are raised unchanged.

        Parameters
        ----------
        what
            "read", "write", "delete" or "list".
        address
            The URL, for messages.
        request
            Called in another thread.
        size
            Bytes that it writes.

        Raises
        ------
        StoreSilentError
            The run or the program was told to stop, and the server did not answer.
        StoreError
            The message says that ``what`` cannot be done at the address, and why; it has no secrets.
        """
        trouble = _trouble_with(self._key)
        wait = _Wait(self, what, address, size, trouble)
        try:
            return self._answered(wait, request, 0 if trouble else self.seconds)
        except BaseException as error:
            if not isinstance(error, Exception):  # Ctrl-C
                self.give_up()
            raise
        finally:
            self._told.discard(wait)

    def call_unchanged(
        self, what: str, address: str, call: Callable[[], T], size: Callable[[], int] = int, must: bool = False
    ) -> T:
        """The result of a call to a file system, whose errors are raised unchanged, as in `run`.

        Only the calls of a run are watched: others are made as they are. A call that ``must`` be made is made even if
        the file system was given up, such as to close a file.
        """
        if self.watch is None or threading.current_thread().name == REQUEST_THREAD:
            return call()
        trouble = _trouble_with(self._key)
        if trouble and must:
            trouble = replace(trouble, seconds=max(trouble.seconds, LAST_SECONDS))
        wait = _Wait(self, what, address, size(), trouble)
        try:
            result = wait.answer(call)
        except BaseException as error:
            if not isinstance(error, Exception):  # Ctrl-C
                self.give_up()
            raise
        finally:
            self._told.discard(wait)
        _trouble.pop(self._key, None)
        return result

    def _answered(self, wait: "_Wait", request: Callable[[], T], seconds: float) -> T:
        pause = FIRST_PAUSE
        while True:
            try:
                result = wait.answer(request)
            except AntipodesError:  # of another request, which was retried already, or of the environment
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
        """Report a wait if it is time to: of several waits for one server, one at a time."""
        now = time.monotonic()
        with self._telling:
            if now - self._told_at < (REPEAT_SECONDS if self._told else TELL_SECONDS):
                return
            self._told_at = now
            self._told.add(wait)
        (self.watch or watch).tell(str(wait))

    def failure(self, wait: "_Wait", why: str) -> StoreError:
        """The error for a wait that has lasted as long as failing requests are retried."""
        self.expect_failures()
        tried = f"; tried for {wait.seconds:.0f} s" if wait.seconds >= 1 else ""
        return StoreError(f"cannot {wait.what} {wait.address}: {why}{tried}")

    @property
    def run_name(self) -> str:
        """The name by which other processes know the run; empty for none."""
        return self.watch.run if self.watch else ""

    @property
    def _key(self) -> tuple[str, str]:
        """The key of `_trouble`."""
        return self.server, (self.watch or watch).run

    def expect_failures(self) -> None:
        """Make each request once for a while, and wait only for a moment: the server has failed for long enough."""
        _trouble[self._key] = _Trouble(time.monotonic() + self.seconds, TELL_SECONDS)

    def give_up(self) -> None:
        """Note that the waits were stopped: those that follow, such as to release a lock, are short."""
        before = _trouble_with(self._key)
        again = before is not None and before.stopped
        _trouble[self._key] = _Trouble(
            time.monotonic() + FORGIVEN_SECONDS, 0.0 if again else LAST_SECONDS, stopped=True
        )


class _Wait:
    """The wait for the answer to one request, over all of its tries."""

    def __init__(self, policy: RetryPolicy, what: str, address: str, size: int, trouble: _Trouble | None) -> None:
        self.what, self.address = what, address
        self.reason = ""
        """Why the last try failed."""
        self._policy = policy
        self._allowed = TELL_SECONDS + policy.patience + size / SLOWEST_WRITE
        """Seconds that it may take though the run was told to stop, so that a last commit can be made."""
        self._trouble = trouble
        self._begin = time.monotonic()
        self._tries = 0

    def __str__(self) -> str:
        tries = f", try {self._tries}" if self._tries > 1 else ""
        why = f": {self.reason}" if self.reason else ", no answer yet"
        return f"{self.address} to be {DONE[self.what]}, for {self.seconds:.0f} s{tries}{why}"

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._begin

    def answer(self, request: Callable[[], T]) -> T:
        """The result of one try, or its error; the request goes on in its thread if the wait ends before."""
        self._tries += 1
        if self._trouble and self._trouble.seconds == 0:
            raise self._stopped()
        answer = _answer_to(partial(without_panic, request))
        while futures.wait([answer], LOOK_SECONDS).not_done:
            self.look()
        return answer.result()

    def pause(self, seconds: float) -> None:
        """Wait until the next try."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
            self.look()

    def look(self) -> None:
        """Report the wait if it lasts; raise an error if it has to end."""
        seconds, trouble = self.seconds, self._trouble
        if watch.ending and seconds >= LAST_SECONDS:
            raise self._stopped()
        if trouble and seconds >= trouble.seconds:
            raise self._stopped() if trouble.stopped else StoreError(self._silence())
        if self._tries > 1 and seconds >= self._policy.seconds + self._allowed:  # the last try has had its time
            raise self._policy.failure(self, self.reason)
        if seconds >= self._allowed and (self._policy.watch or watch).stop():
            raise self._stopped()
        if seconds >= TELL_SECONDS:
            self._policy.report_wait(self)

    def _stopped(self) -> StoreSilentError:
        self._policy.give_up()
        return StoreSilentError(f"interrupted: {self._silence()}")

    def _silence(self) -> str:
        waited = f" for {self.seconds:.0f} s" if self.seconds >= 1 else ""
        return f"cannot {self.what} {self.address}: {self.reason or 'no answer'}{waited}"


class _Requester(threading.Thread):
    """A thread that makes one request after the other; its name tells whether it is making one."""

    def __init__(self) -> None:
        super().__init__(name=IDLE_THREAD, daemon=True)
        self._requests: queue.SimpleQueue[tuple[Callable[[], Any], futures.Future[Any]]] = queue.SimpleQueue()

    def ask(self, request: Callable[[], T]) -> "futures.Future[T]":
        """Make a request; the future of its result."""
        answer: futures.Future[T] = futures.Future()
        self.name = REQUEST_THREAD
        self._requests.put((request, answer))
        return answer

    def run(self) -> None:
        """Make requests as they come."""
        while True:
            self._make(*self._requests.get())
            if len(_idle) >= MAX_IDLE_THREADS:
                return
            _idle.append(self)

    def _make(self, request: Callable[[], T], answer: "futures.Future[T]") -> None:
        """Make a request; a method of its own, since the thread must not keep the result."""
        try:
            result = request()
        except BaseException as error:  # raised where it is waited for
            self.name = IDLE_THREAD
            answer.set_exception(error)
        else:
            self.name = IDLE_THREAD
            answer.set_result(result)


_idle: list[_Requester] = []
"""The threads that wait for a request: to start one takes as long as many small requests to a file system."""
os.register_at_fork(after_in_child=_idle.clear)  # a child has none of the threads


def _answer_to(request: Callable[[], T]) -> "futures.Future[T]":
    """Make a request in another thread; the future of its result."""
    try:
        requester = _idle.pop()
    except IndexError:
        requester = _Requester()
        requester.start()
    return requester.ask(request)


def has_open_requests() -> bool:
    """Whether abandoned requests are under way: the end of Python would wait for them, or break on them."""
    return any(one.name == REQUEST_THREAD for one in threading.enumerate())


def _trouble_with(key: tuple[str, str]) -> _Trouble | None:
    found = _trouble.get(key)
    return found if found and time.monotonic() < found.until else None


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
    if "TimedOut" in text:
        return "no answer"
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
