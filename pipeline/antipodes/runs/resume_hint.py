"""What errors of a run say besides their cause: how much is saved, and the command that resumes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from antipodes.runs.options import RunOptions
from antipodes_tasks.errors import (
    AntipodesError,
    InterruptedRunError,
    NotAStoreError,
    SchedulerError,
    StoreDamagedError,
    StoreError,
    StoreSilentError,
    WorkerFailedError,
)

Manifest_co = TypeVar("Manifest_co", covariant=True)
Manifest = TypeVar("Manifest")


class ReadableStore(Protocol[Manifest_co]):
    """A store whose manifest can be read."""

    @property
    def address(self) -> str: ...

    @property
    def is_known(self) -> bool: ...

    def read(self) -> Manifest_co: ...


@contextmanager
def resume_hint(
    options: RunOptions, store: ReadableStore[Manifest], saved: Callable[[Manifest], str]
) -> Iterator[None]:
    """Add to the message of an error how much is saved, which ``saved`` words, and the command that resumes.

    A damaged store cannot be resumed: the message says how to repair it.
    """
    try:
        yield
    except StoreDamagedError as error:
        raise StoreDamagedError(f"{error}; restore it from a copy, or start over with --overwrite") from error
    except (StoreError, SchedulerError, WorkerFailedError, InterruptedRunError) as error:
        if hint := _hint(error, options, store, saved):
            raise type(error)("; ".join([str(error), *hint])) from error
        raise


def _hint(
    error: AntipodesError, options: RunOptions, store: ReadableStore[Any], saved: Callable[[Any], str]
) -> list[str]:
    """The parts to add to the message; none where nothing is stored, unless the run was interrupted."""
    start = options.start_command(store.address)
    start_over = [] if start is None else [f"start over with: {start}"]
    resume = f"resume with: {options.resume_command(store.address)}"
    untouched = options.overwrite and not store.is_known
    try:
        manifest = store.read()
    except NotAStoreError:
        interrupted = isinstance(error, InterruptedRunError)
        return ["nothing is stored yet", *start_over] if interrupted and start_over else []
    except StoreSilentError:  # it does not answer now either
        return [resume]
    except StoreError as unreadable:
        return [f"cannot read the store to see what is saved ({unreadable})", resume]
    if untouched:
        return ["the store to be overwritten is unchanged", *start_over]
    return [saved(manifest), resume]
