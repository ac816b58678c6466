"""A run's session: the store it locks and the scheduler it uses.

A session does everything around the search, whatever is being computed: it checks its arguments, locks the store,
reads what an earlier run committed, opens a scheduler and waits for workers, and handles interruptions.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Generic, TypeVar

from antipodes.executors.api import Scheduler, Stop
from antipodes.executors.open_scheduler import as_scheduler, open_scheduler
from antipodes.runs.run_results import Clock
from antipodes.storage.backend import MANIFEST
from antipodes.storage.lock import StoreLock
from antipodes.storage.store import Store
from antipodes.system.addresses import Address
from antipodes.system.events import Listener, Preparing, Waiting
from antipodes.system.machine import available_workers
from antipodes.system.options import RunOptions
from antipodes_tasks.base import arguments, parallel
from antipodes_tasks.base.errors import (
    AntipodesError,
    InterruptedRunError,
    NotAStoreError,
    SchedulerError,
    StoreDamagedError,
    StoreError,
    StoreMismatchError,
    StoreSilentError,
    StoreUnreachableError,
    WorkerFailedError,
)
from antipodes_tasks.base.option_names import option

Manifest = TypeVar("Manifest")
AnyStore = TypeVar("AnyStore", bound=Store[Any])


class Session(Generic[AnyStore]):
    """One run on one store."""

    def __init__(
        self,
        kind: Callable[[Address], AnyStore],
        address: Address,
        options: RunOptions,
        listener: Listener,
        interrupted: Callable[[], bool],
        scheduler: Any = None,
    ) -> None:
        """Start the clock and create the store object; nothing is opened or locked yet.

        A ``scheduler`` passed here takes precedence over the one in ``options``.

        Raises InputError if an argument has the wrong type, and NotAStoreError if the address cannot hold a store.
        """
        called = time.perf_counter()
        self.options = arguments.instance(options, RunOptions, "RunOptions")
        self._begin = called if self.options.began is None else self.options.began
        self.listener = arguments.function(listener, "a listener")
        self.clock = Clock()
        self.interrupted = False
        """True once the run has been asked to stop."""
        self._interrupted = arguments.function(interrupted, "interrupted")
        self.store = kind(arguments.address(address, "a store"))
        self._given = scheduler
        self._name = uuid.uuid4().hex
        """Identifier of the run in other processes."""

    @property
    def seconds(self) -> float:
        """Seconds since the command was started or the function was called."""
        return time.perf_counter() - self._begin

    @contextmanager
    def lock(self) -> Iterator[StoreLock]:
        """Lock the store against other runs; raise StoreLockedError if another run holds it.

        The block is also watched, see `watching`.
        """
        with self.watching(), ExitStack() as held:
            with self._opening():
                handle = held.enter_context(self.store.lock())
            yield handle

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Notify the listener of waits for the storage and of long preparations; both end if the run is to stop."""

        def preparing(what: str, done: int, of: int) -> None:
            self.listener(Preparing(what, done, of))

        with (
            self.store.storage.watched(self._tell_wait, self.stop, self._name),
            parallel.watched(preparing, self.stop, self.options.workers or available_workers()),
        ):
            yield

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """Add how to try again to the message of an error if the storage fails in the block, which opens the store."""
        try:
            yield
        except StoreUnreachableError as error:
            raise StoreUnreachableError(f"{error}; {self.options.try_again(self.store.address)}") from error

    def finished(self, check: Callable[[Manifest], None]) -> Manifest | None:
        """Return the manifest of a finished store, which is only reported; None if anything is left to do.

        Nothing is locked or written, so the store may be on a read-only file system or in a read-only bucket. ``check``
        is explained at `committed`.
        """
        with self._opening():
            if self.options.overwrite or not self.store.exists():
                return None
            manifest: Any = self._read(check)
        if manifest.complete and self.store.has_leftovers(manifest) and self._can_delete():
            return None
        return manifest if manifest.complete else None

    def _can_delete(self) -> bool:
        """Return whether the store can be locked, so that the leftovers of a killed run can be deleted."""
        try:
            with self.store.lock():
                return True
        except StoreError:
            return False

    def committed(self, check: Callable[[Manifest], None]) -> Manifest | None:
        """Return the manifest to resume from or to report; None if there is none or it will be overwritten.

        ``check`` raises if the store belongs to a different run; it is called before leftovers are removed.
        """
        with self._opening():
            if self.options.overwrite or not self.store.exists():
                return None
            manifest = self._read(check)
        with damage_hint(self.options, self.store.address):
            cleaned: Manifest = self.store.remove_leftovers(manifest)
            return cleaned

    def _read(self, check: Callable[[Manifest], None]) -> Manifest:
        """Read and check the manifest; the message about a different or corrupt store names the remedy."""
        with damage_hint(self.options, self.store.address):
            manifest: Manifest = self.store.read()
            try:
                check(manifest)
            except StoreMismatchError as error:
                raise StoreMismatchError(f"{error}: {self._another_store()}") from error
            return manifest

    def _another_store(self) -> str:
        """Return the remedy if the store belongs to another puzzle or holds results of another kind."""
        return f"choose another {option('store')}, or {self.options.start_over(self.store.address, 'overwrite it')}"

    def _tell_wait(self, waited_for: str) -> None:
        self.listener(Waiting(waited_for))

    def stop(self) -> bool:
        """Return whether the run has been asked to stop. The caller's function is not called again after True."""
        self.interrupted = self.interrupted or self._interrupted()
        return self.interrupted

    @contextmanager
    def scheduler(self, saved: Callable[[Any], str]) -> Iterator[Scheduler]:
        """Yield a scheduler that has workers; a scheduler that was passed in stays open afterwards.

        Errors raised inside the block are extended by how much is saved and how to resume.

        Raises InterruptedRunError if the run is asked to stop before a worker has joined, and SchedulerError if the
        cluster does not answer.
        """

        def relay_waits(scheduler: Scheduler) -> None:
            scheduler.relay_waits(self._name, self._tell_wait)

        with (
            resume_hint(self.options, self.store, saved),
            scheduler_with_workers(self.options, self._given, self.listener, self.stop, relay_waits) as scheduler,
        ):
            yield scheduler


@contextmanager
def scheduler_with_workers(
    options: RunOptions,
    given: Any,
    listener: Listener,
    stop: Stop,
    prepare: Callable[[Scheduler], None] = lambda scheduler: None,
) -> Iterator[Scheduler]:
    """Yield the ``given`` scheduler or a new one, which the options describe, after its first workers have joined.

    ``prepare`` is called before the first worker joins. Raises as `Session.scheduler` does.
    """
    if given is not None:
        opening = as_scheduler(given, options.scheduler_timeout)
    else:
        workers = options.workers or available_workers()
        opening = open_scheduler(
            options.scheduler, workers, options.scheduler_file, listener, options.scheduler_timeout, stop
        )
    with opening as scheduler, scheduler.performance_report(options.performance_report):
        prepare(scheduler)
        if not scheduler.wait_for_workers(listener, stop):
            raise InterruptedRunError("interrupted before any worker joined")
        yield scheduler


@contextmanager
def damage_hint(options: RunOptions, store: Address) -> Iterator[None]:
    """Add the remedy to the message about a corrupt store."""
    try:
        yield
    except StoreDamagedError as error:
        raise StoreDamagedError(f"{error}; restore it from a copy, or {options.start_over(store)}") from error


@contextmanager
def resume_hint(options: RunOptions, store: Store[Any], saved: Callable[[Any], str]) -> Iterator[None]:
    """Extend the message of an error by what is saved (a text from ``saved``) and by the command that resumes the run.

    A corrupt store cannot be resumed; its message explains how to repair it instead. After a
    storage error, further waits for the storage are short.
    """
    try:
        with damage_hint(options, store.address):
            yield
    except StoreDamagedError:
        raise
    except (StoreError, SchedulerError, WorkerFailedError, InterruptedRunError) as error:
        if isinstance(error, StoreError):
            store.storage.expect_failures()
        if hint := _hint(error, options, store, saved):
            raise type(error)("; ".join([str(error), *hint])) from error
        raise


def _hint(error: AntipodesError, options: RunOptions, store: Store[Any], saved: Callable[[Any], str]) -> list[str]:
    """Return the parts to add to the message; an empty list if nothing is stored, unless the run was interrupted."""
    if store.known is not None:
        return [saved(store.known), options.how_to_resume(store.address)]
    if isinstance(error, NotAStoreError):  # starting over or resuming would fail in the same way
        return []
    start = options.start_command(store.address)
    start_over = [] if start is None else [f"start over with: {start}"]
    if not options.started_by:
        start_over = ["the same call starts over"]
    if isinstance(error, StoreSilentError):  # it is unknown whether the store was created or replaced
        return start_over
    if _has_manifest(store):
        unchanged = ["the store to be overwritten is unchanged", *start_over]
        return unchanged if options.overwrite else [options.how_to_resume(store.address)]
    return ["nothing is stored yet", *start_over] if isinstance(error, InterruptedRunError) and start_over else []


def _has_manifest(store: Store[Any]) -> bool:
    """Return whether the store exists; False if its storage fails."""
    try:
        return store.storage.has(MANIFEST)
    except StoreError:
        return False
