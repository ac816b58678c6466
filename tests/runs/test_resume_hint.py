"""What errors say of the saved work, and of the command to type next."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from antipodes.runs.options import RunOptions
from antipodes.runs.session import resume_hint
from antipodes_tasks.errors import (
    AntipodesError,
    InputError,
    InterruptedRunError,
    NotAStoreError,
    StoreDamagedError,
    StoreError,
)

STARTED = ("run", "eight-puzzle")
RESUME = "resume with: antipodes resume t.zarr"
START_OVER = "start over with: antipodes run eight-puzzle --store t.zarr"


class Stored:
    """A store whose manifest is a number, or cannot be read."""

    address = "t.zarr"

    def __init__(self, found: int | StoreError, is_known: bool = True) -> None:
        self.found = found
        self.manifest_file = SimpleNamespace(is_known=is_known)

    def read(self) -> int:
        if isinstance(self.found, StoreError):
            raise self.found
        return self.found


def message(error: AntipodesError, store: Stored, **options: Any) -> str:
    saved: Callable[[int], str] = "{} layers are kept".format
    with pytest.raises(type(error)) as caught, resume_hint(RunOptions(**options), store, saved):
        raise error
    return str(caught.value)


def test_saved_work_and_how_to_resume() -> None:
    assert message(StoreError("full"), Stored(5)) == f"full; 5 layers are kept; {RESUME}"


def test_a_damaged_store_is_to_be_restored() -> None:
    expected = "bad; restore it from a copy, or start over with --overwrite"
    assert message(StoreDamagedError("bad"), Stored(5)) == expected


def test_a_store_that_cannot_be_read() -> None:
    expected = f"gone; cannot read the store to see what is saved (no answer); {RESUME}"
    assert message(StoreError("gone"), Stored(StoreError("no answer"))) == expected


@pytest.mark.parametrize("started_by", [(), STARTED])
def test_nothing_stored_yet(started_by: tuple[str, ...]) -> None:
    nothing = Stored(NotAStoreError("nothing"))
    assert message(StoreError("full"), nothing, started_by=started_by) == "full"
    expected = f"stopped; nothing is stored yet; {START_OVER}" if started_by else "stopped"
    assert message(InterruptedRunError("stopped"), nothing, started_by=started_by) == expected


@pytest.mark.parametrize("started_by", [(), STARTED])
def test_an_unchanged_store_that_was_to_be_overwritten(started_by: tuple[str, ...]) -> None:
    told = message(StoreError("full"), Stored(5, is_known=False), overwrite=True, started_by=started_by)
    start = f"; {START_OVER} --overwrite" if started_by else ""
    assert told == f"full; the store to be overwritten is unchanged{start}"


def test_wrong_input_is_left_as_it_is() -> None:
    assert message(InputError("wrong"), Stored(5)) == "wrong"
