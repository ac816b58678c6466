import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clusters import Cluster
from programs import Command

import antipodes as ap
from antipodes.tables.search.duration import described_range
from antipodes_tasks.base.errors import SizeLimitError

KEYS = {"seconds_at_least", "index_size", "rows", "width", "partitions", "memory_bytes", "disk_bytes", "table_bytes"}


@pytest.mark.parametrize(("name", "size"), [("seven-tiles", 518_918_400), ("eight-puzzle", 181_440)])
def test_json(name: str, size: int, cli: Command) -> None:
    outcome = cli("plan", name, "--json", "--workers", 2)
    planned = json.loads(outcome.out)
    assert set(planned) >= KEYS
    assert planned["index_size"] == planned["rows"] * planned["width"] == size
    assert (outcome.status, outcome.err) == (0, "")


def test_text(cli: Command) -> None:
    assert "12,108,096 positions" in cli("plan", "three-colours").out
    too_little = cli("plan", "three-colours", "--memory-limit", "1MB").out
    assert "does not fit: at least" in too_little
    assert "limit 976.6 KiB" in too_little


def test_the_time_of_a_run(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("TRIAL_SECONDS", "LONGEST_LAYER", "TRIAL_TABLES"):  # so that a busy machine finishes the trial
        monkeypatch.setattr(f"antipodes.tables.search.duration.{limit}", math.inf)
    planned = json.loads(cli("plan", "pancake-10", "--json", "--workers", 1).out)
    assert planned["fits"]
    assert planned["seconds_at_least"] is None
    assert planned["seconds"] == pytest.approx(sum(planned["phases"].values()))
    assert min(planned["phases"].values()) > 0
    text = cli("plan", "eight-puzzle", "--workers", 1).out
    assert re.search(r"^  time         (about )?\d.* seconds? with 1 thread, measured in", text, re.MULTILINE)
    low, high = planned["seconds_range"]
    assert low < planned["seconds"] < high
    assert text.endswith("  can run      yes\n")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ((0.02, 0.04), "about 1 second"),
        ((0.7, 1.6), "1 to 2 seconds"),
        ((4.26, 43.9), "4 to 44 seconds"),
        ((43.9, 4e3), "44 seconds to 67 minutes"),
        ((9e4, 9e9), "25 hours to 100,000 days"),
    ],
)
def test_times_are_ranges_of_two_digits(seconds: tuple[float, float], said: str) -> None:
    assert described_range(seconds) == said


def test_what_a_run_has_too_little_of(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = json.loads(cli("plan", "seven-tiles", "--json", "--memory-limit", "10MB").out)
    assert not planned["fits"]
    assert planned["phases"]["search"] > 0, "on a machine that has the memory"
    monkeypatch.setattr("antipodes.storage.directory.DirectoryStorage.free_bytes", lambda self: 1000)
    assert cli("plan", "seven-tiles").out.endswith("  can run      no: too little disk\n")
    out = cli("plan", "seven-tiles", "--memory-limit", "10MB").out
    assert re.search(r"  time         .* to .*\n  can run      no: too little memory and disk\n$", out)


def test_how_the_work_is_divided_is_said_on_request(cli: Command) -> None:
    plain = cli("plan", "eight-puzzle", "--workers", 2).out
    assert not re.search("column|partition|move table", plain)
    verbose = cli("plan", "eight-puzzle", "--workers", 2, "--verbose").out
    assert "504 rows of 360 columns, 14 column maps; move tables" in verbose
    assert "2 partitions" in verbose


def test_a_time_that_a_trial_does_not_tell(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.tables.search.duration.TRIAL_SECONDS", 0.0)
    planned = json.loads(cli("plan", "hanoi-3-pegs", "--json").out)
    assert planned["seconds"] is None
    assert planned["seconds_at_least"] == pytest.approx(sum(planned["phases"].values()))
    low, high = planned["seconds_range"]
    assert low <= planned["seconds_at_least"] < high
    assert re.search(r"  time         .* seconds? with .*, a rough estimate", cli("plan", "hanoi-3-pegs").out)
    assert planned["table_bytes"] == planned["move_table_bytes"] > 0


@pytest.mark.slow
def test_larger_than_any_disk(cli: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "big.toml"
    start = " ".join(map(str, range(25)))
    path.write_text(f'[puzzle]\nname="big"\nfamily="sliding"\nrows=5\ncolumns=5\nstart="{start}"')
    message = refused("run", path)
    assert "2^63" in message
    assert message.endswith(f"; solve single positions: antipodes solve {path} POSITION\n")
    with pytest.raises(SizeLimitError, match=r"solve finds shortest paths of single positions$"):
        ap.run(path)
    assert "about 10^25 positions\n  can run      no: " in cli("plan", path).out
    start = " ".join(map(str, range(16)))
    path.write_text(f'[puzzle]\nname="big"\nfamily="sliding"\nrows=4\ncolumns=4\nstart="{start}"')
    assert "10,461,394,944,000 positions" in cli("plan", path).out
    assert "10,461,394,944,000 positions take at least" in refused("run", path, "--memory-limit", "1MiB")
    assert "of free disk space" in refused(
        "run", path, "--memory-limit", "16GiB"
    )  # with layers on disk, memory is enough


def planned_for(cli: Command, *options: object) -> dict[str, Any]:
    """The value of ``cluster`` for the eight-puzzle."""
    outcome = cli("plan", "eight-puzzle", "--json", *options)
    assert (outcome.status, outcome.err) == (0, "")
    found: dict[str, Any] = json.loads(outcome.out)["cluster"]
    return found


@pytest.mark.parametrize(("memory", "fits"), [("15GiB", True), ("368MiB", True), ("367MiB", False), ("1", False)])
def test_a_cluster_that_is_described(memory: str, fits: bool, cli: Command) -> None:
    """A worker needs 220 MiB for the program, and a run plans with 60 percent of the limits."""
    found = planned_for(cli, "--cluster-workers", 4, "--worker-memory", memory)
    assert (found["workers"], found["used_workers"], found["fits"]) == (4, 4 if fits else 0, fits)
    assert found["least_worker_memory_bytes"] == 368 * 2**20
    lines = cli("plan", "eight-puzzle", "--cluster-workers", 4, "--worker-memory", memory).out.splitlines()
    (line,) = [one for one in lines if one.startswith("  cluster ")]
    assert (
        "fits 4 workers; it needs " if fits else "does not fit 4 workers: each needs a memory limit of 368MiB"
    ) in line


def test_the_memory_limit_of_a_run_may_be_enough_for_some_workers(cli: Command) -> None:
    cluster = ("--cluster-workers", 4, "--worker-memory", "1GiB", "--memory-limit")
    assert planned_for(cli, *cluster, "500MiB")["used_workers"] == 2
    assert "fits 2 of 4 workers" in cli("plan", "eight-puzzle", *cluster, "500MiB").out
    too_little = cli("plan", "eight-puzzle", *cluster, "100MiB").out
    assert "does not fit 4 workers: they need " in too_little
    assert "the memory limit of the run is 100.0 MiB" in too_little


@pytest.mark.slow
def test_the_network_of_a_cluster(cli: Command) -> None:
    """The eight-puzzle is a single shard, so that nothing is sent."""
    cluster = ("--cluster-workers", 8, "--network", "100Mbit")
    small = "  network      about 0 bytes sent, less than a second lost; more than 1 worker would save little time\n"
    assert small in cli("plan", "eight-puzzle", *cluster).out
    assert planned_for(cli, *cluster)["network"] == {"sent_bytes": 0, "seconds": 0.0, "useful_workers": 1}
    large = cli("plan", "seven-tiles", "--cluster-workers", 2, "--network", "1Gbit").out
    assert " sent, about 1 second and 3 round trips per layer lost; more than 31 workers would save" in large
    keyed = cli("plan", "klotski", *cluster)
    assert "  network      unknown: only the search can count what is sent\n" in keyed.out


def test_threads_of_workers_need_memory(cli: Command) -> None:
    cluster = ("plan", "m24", "--json", "--cluster-workers", 1, "--worker-memory", "8GiB")
    few, many = (json.loads(cli(*cluster, "--worker-threads", number).out)["cluster"] for number in (1, 64))
    assert (few["threads"], many["threads"]) == (1, 64)
    assert few["least_memory_bytes"] < many["least_memory_bytes"]


def test_a_cluster_that_is_there(cli: Command, shared: Cluster, idle: Cluster) -> None:
    found = planned_for(cli, "--scheduler-file", shared.scheduler_file)
    assert (found["workers"], found["fits"]) == (2, True)
    assert planned_for(cli, "--scheduler", shared.address) == found
    assert "  cluster      it has no workers yet\n" in cli("plan", "eight-puzzle", "--scheduler", idle.address).out
    assert json.loads(cli("plan", "eight-puzzle", "--scheduler", idle.address, "--json").out)["cluster"] is None
