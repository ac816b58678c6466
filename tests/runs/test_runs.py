"""The options of a run, the command to type next, and what errors say of the saved work."""

import shlex
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from antipodes.cli.main import load_command
from antipodes.runs.session import resume_hint
from antipodes.system.options import RunOptions, memory_size
from antipodes_tasks.base.errors import (
    AntipodesError,
    InputError,
    InterruptedRunError,
    SchedulerError,
    StoreDamagedError,
    StoreError,
    StoreSilentError,
)

GIVEN = RunOptions(
    workers=3,
    scheduler="local",
    performance_report="the report.html",
    checkpoint_every=0.5,
    memory_limit=2**30,
    started_by=("run", "my puzzle.toml"),
)


def parsed(command: str) -> dict[str, object]:
    """The options of a command, parsed by a shell and then by the program."""
    words = shlex.split(command)
    assert words[0] == "antipodes"
    return dict(load_command(words[1]).make_context(words[1], words[2:]).params)


def test_given_options_are_repeated() -> None:
    expected = {
        "store": "a folder/it's.zarr",
        "workers": 3,
        "scheduler": "local",
        "performance_report": "the report.html",
        "checkpoint_every": 0.5,
        "memory_limit": "1073741824",
    }
    store = Path("a folder/it's.zarr")
    assert parsed(GIVEN.resume_command(store)).items() >= expected.items()
    start = GIVEN.start_command(store)
    assert start is not None
    assert parsed(start).items() >= {**expected, "puzzle": "my puzzle.toml"}.items()


def test_defaults_are_not_repeated() -> None:
    assert RunOptions().resume_command("s3://b/t.zarr") == "antipodes resume s3://b/t.zarr"
    assert RunOptions(checkpoint_every=30.0).resume_command(Path("-t")) == "antipodes resume ./-t --checkpoint-every 30"
    at_file = RunOptions(scheduler="tcp://h:1", scheduler_file="s.json").resume_command(Path("t"))
    assert at_file == "antipodes resume t --scheduler-file s.json"
    assert RunOptions().start_command(Path("t")) is None


def test_the_next_command_resumes_a_store_or_starts_over(tmp_path: Path) -> None:
    options = RunOptions(started_by=("run", "eight-puzzle"))
    assert options.next_command(tmp_path) == f"antipodes resume {tmp_path}"
    missing = tmp_path / "t.zarr"
    assert options.next_command(missing) == f"antipodes run eight-puzzle --store {missing}"
    odd = RunOptions(started_by=("tile", "-x.toml", "--raw"))
    assert odd.next_command(missing) == f"antipodes tile ./-x.toml --raw --store {missing}"
    assert RunOptions().next_command(missing) == f"antipodes resume {missing}"


@pytest.mark.parametrize(
    ("text", "size"),
    [("800MB", 800_000_000), ("1.5 GiB", 3 << 29), ("2GiB", 2 << 30), (1000, 1000), ("1e6", 1_000_000), ("1kB", 1000)],
)
def test_memory_size(text: str | int, size: int) -> None:
    assert memory_size(text) == size


@pytest.mark.parametrize(
    "text", ["much", "-5GB", "0", 0, -1, "1e400", "5 parsecs", "1.2.3", "nan", "inf", "GB GB", 2**63]
)
def test_no_memory_sizes(text: str | int) -> None:
    with pytest.raises(InputError, match=r"memory limit: expected |expected a memory limit in bytes"):
        memory_size(text)


STARTED = ("run", "eight-puzzle")
RESUME = "resume with: antipodes resume t.zarr"
START_OVER = "start over with: antipodes run eight-puzzle --store t.zarr"


class Stored:
    """A store whose manifest is a number; None: none was read or written here."""

    address = "t.zarr"

    def __init__(self, known: int | None, there: bool = True) -> None:
        self.known = known
        self.storage = SimpleNamespace(has=self._has, expect_failures=lambda: None)
        self._there = there
        self.asked = 0

    def _has(self, key: str) -> bool:
        self.asked += 1
        return self._there


def message(error: AntipodesError, store: Stored, **options: Any) -> str:
    saved: Callable[[int], str] = "{} layers are kept".format
    with pytest.raises(type(error)) as caught, resume_hint(RunOptions(**options), store, saved):
        raise error
    return str(caught.value)


@pytest.mark.parametrize(("started_by", "resume"), [((), "the same call resumes"), (STARTED, RESUME)])
def test_saved_work_and_how_to_resume(started_by: tuple[str, ...], resume: str) -> None:
    assert message(StoreError("full"), Stored(5), started_by=started_by) == f"full; 5 layers are kept; {resume}"


def test_a_damaged_store_is_to_be_restored() -> None:
    expected = "bad; restore it from a copy, or start over by the same call with overwrite=True"
    assert message(StoreDamagedError("bad"), Stored(5)) == expected


@pytest.mark.parametrize("error", [StoreError("gone"), StoreSilentError("gone"), SchedulerError("gone")])
def test_no_storage_is_asked_what_is_saved(error: AntipodesError) -> None:
    """It may be silent; what is known in memory is told."""
    store = Stored(5)
    assert message(error, store, overwrite=True, started_by=STARTED) == f"gone; 5 layers are kept; {RESUME}"
    assert store.asked == 0


def test_a_silent_storage_is_not_asked_whether_anything_is_stored() -> None:
    store = Stored(None)
    assert message(StoreSilentError("gone"), store, overwrite=True, started_by=STARTED).startswith(
        f"gone; {START_OVER}"
    )
    assert store.asked == 0


@pytest.mark.parametrize("started_by", [(), STARTED])
def test_nothing_stored_yet(started_by: tuple[str, ...]) -> None:
    nothing = Stored(None, there=False)
    assert message(StoreError("full"), nothing, started_by=started_by) == "full"
    start = START_OVER if started_by else "the same call starts over"
    told = message(InterruptedRunError("stopped"), nothing, started_by=started_by)
    assert told == f"stopped; nothing is stored yet; {start}"


@pytest.mark.parametrize("started_by", [(), STARTED])
def test_an_unchanged_store_that_was_to_be_overwritten(started_by: tuple[str, ...]) -> None:
    told = message(StoreError("full"), Stored(None), overwrite=True, started_by=started_by)
    start = f"{START_OVER} --overwrite" if started_by else "the same call starts over"
    assert told == f"full; the store to be overwritten is unchanged; {start}"


def test_wrong_input_is_left_as_it_is() -> None:
    assert message(InputError("wrong"), Stored(5)) == "wrong"
