import shlex
from pathlib import Path

import pytest

from antipodes.cli.main import load_command
from antipodes.runs.options import RunOptions, memory_size
from antipodes_tasks.errors import InputError

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
