"""Errors of files, as errors of the project."""

from collections.abc import Iterator
from contextlib import contextmanager

from antipodes_tasks.base.errors import AntipodesError, StoreError


@contextmanager
def file_errors(verb: str, name: object, but: tuple[type[OSError], ...] = ()) -> Iterator[None]:
    """Raise StoreError instead of each OSError of the block: "cannot VERB NAME", and the reason.

    Errors of the project and of the classes ``but`` are not changed.
    """
    unchanged: tuple[type[Exception], ...] = AntipodesError, *but
    try:
        yield
    except unchanged:
        raise
    except OSError as error:
        raise StoreError(f"cannot {verb} {name}: {error.strerror or error}") from error
