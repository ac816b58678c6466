"""Tables that are computed, resumed or only counted."""

import json
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from programs import Command, Process
from stores import contents, toml

from antipodes.cli.running import Interrupts, RunRequest
from antipodes.puzzles.config import load_config
from antipodes.system.events import Assembling, Event, LayerFinished, Restoring, SearchStarted, TablesBuilt
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle
from antipodes_tasks.base.errors import InterruptedRunError

LINE = {"name": "line", "family": "sliding", "rows": 1, "columns": 3, "start": "1 2 0"}
KEYS = {"puzzle", "store", "complete", "index_size", "states", "radius", "layers", "antipodes", "resumed_from"}
KEYS |= {"seconds", "states_per_second", "peak_memory_bytes"}


def test_json(cli: Command, tmp_path: Path) -> None:
    outcome = cli("run", "eight-puzzle", "--json", "--quiet", "--workers", 2)
    report = json.loads(outcome.out)
    assert (outcome.status, outcome.err) == (0, "")
    assert set(report) >= KEYS
    assert set(report["seconds"]) >= {"total", "search", "write"}
    assert (report["puzzle"], report["complete"], report["resumed_from"]) == ("eight-puzzle", True, None)
    assert (report["index_size"], report["states"], report["radius"]) == (181440, 181440, 31)
    assert (sum(report["layers"]), report["antipodes"]) == (181440, 2)
    assert report["peak_memory_bytes"] < 2 << 30
    assert report["states_per_second"] > 0
    assert (tmp_path / report["store"] / "commit.json").is_file()
    again = json.loads(cli("run", "eight-puzzle", "--json").out)
    assert set(again) >= KEYS
    assert again["resumed_from"] == 31


@pytest.mark.slow
def test_the_total_time_begins_with_the_process(process: Process) -> None:
    begin = time.perf_counter()
    report, _ = process("run", "eight-puzzle", "--json", "--quiet", fresh=True).communicate()
    waited = time.perf_counter() - begin
    seconds = json.loads(report)["seconds"]
    assert seconds["total"] <= waited + 0.02, "Linux tells hundredths"
    assert seconds["total"] > seconds["tables"] + seconds["search"] + seconds["write"] + 0.1, "libraries are loaded"


def test_the_printed_report(cli: Command) -> None:
    outcome = cli("run", "eight-puzzle")
    assert outcome.status == 0
    for expected in ("reached all 181,440 positions", "radius 31, 2 antipodes", "│ 8 6 7 │", "antipodes query"):
        assert expected in outcome.out
    assert "depth 31: 2 positions, 181,440 so far" in outcome.err
    assert " eight-puzzle: starting" in outcome.err.splitlines()[0]
    assert "already complete" in cli("run", "eight-puzzle").out


def test_defaults_in_the_config(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "line.toml"
    path.write_text(toml(LINE, {"store": "elsewhere.zarr", "workers": 1, "checkpoint_every": 0}))
    outcome = cli("run", path)
    assert outcome.status == 0
    assert (tmp_path / "elsewhere.zarr").is_dir()
    assert "committed up to depth 1" in outcome.err
    assert cli("run", path, "--store", "given.zarr").status == 0
    assert (tmp_path / "given.zarr").is_dir()


def test_bad_configs(refused: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    for changes, named in (({"start": "1 2 3 0"}, "start"), ({"family": "chess"}, "family")):
        path.write_text(toml({**LINE, **changes}))
        for command in ("run", "plan"):
            message = refused(command, path)
            assert named in message
            assert str(path) in message
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    "option", [["--checkpoint-every", "inf"], ["--checkpoint-every", "1e300"], ["--workers", "64"]]
)
def test_extreme_options(option: list[str], cli: Command) -> None:
    assert cli("run", "eight-puzzle", *option, "--quiet").status == 0


def test_a_path_below_a_file(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused("run", "eight-puzzle", "--store", "file/t.zarr", status=1)


def test_overwrite(cli: Command, eight: Path) -> None:
    assert cli("run", "knights-coloured", "--store", eight, "--overwrite", "--quiet").status == 0
    assert json.loads(cli("status", eight, "--json").out)["puzzle"] == "knights-coloured"


@pytest.mark.parametrize("scheduler", ["slurm", "foo://127.0.0.1:1"])
def test_nothing_is_overwritten_before_the_scheduler_answers(scheduler: str, cli: Command, eight: Path) -> None:
    before = contents(eight)
    outcome = cli("run", "eight-puzzle", "--store", eight, "--overwrite", "--scheduler", scheduler)
    assert outcome.status in (1, 2)
    assert contents(eight) == before


def test_overwrite_and_quiet_as_defaults_of_the_config(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "line.toml"
    path.write_text(toml(LINE, {"overwrite": True, "quiet": True}))
    for _ in range(2):
        outcome = cli("run", path, "--json")
        assert outcome.err == ""
        assert json.loads(outcome.out)["resumed_from"] is None


def test_json_of_a_resumed_run(cli: Command, unfinished: Path, finished: Path) -> None:
    outcome = cli("resume", unfinished, "--json", "--workers", 1)
    report = json.loads(outcome.out)
    assert (outcome.status, report["complete"], report["resumed_from"]) == (0, True, 10)
    assert (report["states"], report["radius"], report["antipodes"]) == (181440, 31, 2)
    assert " eight-puzzle: resumes from depth 10" in outcome.err
    assert contents(unfinished) == contents(finished)


def test_a_resume_that_only_assembles_says_so(cli: Command, tmp_path: Path) -> None:
    store, events = tmp_path / "searched.zarr", list[Event]()
    run_puzzle(
        load_config("eight-puzzle"),
        store,
        listener=events.append,
        interrupted=lambda: any(isinstance(one, Assembling) for one in events),
    )
    told = cli("resume", store).out
    assert re.search(r"\ntime    [\d.]+ s: earlier runs found every position, writing [\d.]+\nmemory", told)
    assert "none: it was already complete" in cli("resume", store).out


def test_a_finished_store_is_reported(cli: Command, eight: Path) -> None:
    outcome = cli("resume", eight, "--json")
    assert (outcome.status, json.loads(outcome.out)["resumed_from"]) == (0, 31)


@pytest.mark.parametrize("folder", ["journal", "depth"])
def test_a_link_in_place_of_a_folder(folder: str, unfinished: Path, refused: Callable[..., str]) -> None:
    """It may come with a store from elsewhere, and lead to files of the person who resumes."""
    mine = unfinished.with_name("mine")
    if (unfinished / folder).exists():
        (unfinished / folder).rename(mine)
    mine.mkdir(exist_ok=True)
    (mine / "zarr.json").write_text("mine")
    (unfinished / folder).symlink_to(mine)
    before = contents(mine)
    assert f"{unfinished / folder} is a link, but must be a folder" in refused("resume", unfinished, status=1)
    assert contents(mine) == before


STORE = "outputs/eight-puzzle.counts.zarr"


def test_counts_alone(cli: Command) -> None:
    """What each command says of them; `resume` and a second run report them again."""
    outcome = cli("run", "eight-puzzle", "--counts-only")
    assert "181,440 positions in total; counts only, no table" in outcome.err
    counted = outcome.out
    assert "reached all 181,440 positions" in counted
    assert f"counts  {STORE}" in counted
    assert "antipodes query" not in counted
    assert "it was already complete" in cli("run", "eight-puzzle", "--counts-only").out
    report = json.loads(cli("resume", STORE, "--json").out)
    assert (report["counts_only"], report["store"], report["antipodes"]) == (True, STORE, 2)
    assert "eight-puzzle: finished, counts only" in cli("status", "eight-puzzle").out
    assert json.loads(cli("status", "eight-puzzle", "--json").out)["counts_only"]
    assert cli("layers", "eight-puzzle", "--csv").out.endswith("30,221\n31,2\n")
    assert json.loads(cli("layers", "eight-puzzle", "--json").out)["radius"] == 31
    assert "8 6 7 2 5 4 3 0 1" in cli("farthest", "eight-puzzle").out
    shown = json.loads(cli("farthest", "eight-puzzle", "--json", "--limit", 1).out)
    assert (shown["radius"], shown["count"], len(shown["positions"])) == (31, 2, 1)
    assert "and 1 more: --limit 2\n" in cli("farthest", "eight-puzzle", "--limit", 1).out


@pytest.mark.slow
def test_farthest_says_what_is_kept(cli: Command) -> None:
    cli("run", "lights-out-5x5", "--counts-only", "--quiet")
    out = cli("farthest", "lights-out-5x5", "--limit", 1000).out
    assert out.endswith("and 6,350 more\n(a counts-only run keeps the first 1,000)\n")
    assert "and 7,338 more: --limit 1000" in cli("farthest", "lights-out-5x5").out


def test_unfinished(cli: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", RunOptions(counts_only=True), interrupted=lambda: True)
    assert "antipodes resume t.zarr" in cli("status", "t.zarr").out
    assert "antipodes resume t.zarr" in refused("farthest", "t.zarr", status=1)
    assert "counts  t.zarr" in cli("resume", "t.zarr", "--quiet").out


def test_the_config_may_ask_for_counts(cli: Command, tmp_path: Path) -> None:
    config = '[puzzle]\nname = "line"\nfamily = "sliding"\nrows = 1\ncolumns = 3\nstart = "1 2 0"\n'
    (tmp_path / "line.toml").write_text(f"{config}[run]\ncounts_only = true\n")
    assert json.loads(cli("run", "line.toml", "--json", "--quiet").out)["store"] == "outputs/line.counts.zarr"
    assert json.loads(cli("plan", "line.toml", "--json").out)["disk_bytes"] < 200_000


@pytest.mark.slow
def test_plan(cli: Command) -> None:
    counts, table = (json.loads(cli("plan", "seven-tiles", *o, "--json").out) for o in (["--counts-only"], []))
    assert counts["memory_bytes"] == counts["least_memory_bytes"] < table["memory_bytes"]
    assert counts["disk_bytes"] < table["disk_bytes"] / 3


def test_ctrl_c_prints_what_is_being_finished(capsys: pytest.CaptureFixture[str]) -> None:
    request = RunRequest("x.zarr", RunOptions(), Interrupts(), quiet=True, as_json=True)
    with request.watched("the layer") as listener:
        request.interrupts.announce()
        for event in (LayerFinished(3, 4, 10, 1.0), Restoring(0, 10), Assembling(0, 10)):
            listener(event)
            request.interrupts.announce()
    before, of_layer, between, of_chunks = capsys.readouterr().err.splitlines()
    assert "stopping before the search begins; interrupt again" in before
    assert "finishing and committing the layer; interrupt again" in of_layer
    assert "stopping before the search continues; interrupt again" in between
    assert "finishing and committing the chunks being written; interrupt again" in of_chunks


@pytest.mark.parametrize(
    ("phase", "printed"),
    [
        (TablesBuilt, "stopping before the search begins"),
        (SearchStarted, "finishing and committing the layer"),
        (LayerFinished, "finishing and committing the layer"),
        (Assembling, "finishing and committing the chunks being written"),
    ],
)
def test_ctrl_c_in_each_phase_of_a_run(
    phase: type, printed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Interrupts() as interrupts:
        request = RunRequest("x.zarr", RunOptions(), interrupts, quiet=True, as_json=True)
        with request.watched("the layer") as listener:

            def press(event: Event) -> None:
                listener(event)
                if isinstance(event, phase) and not interrupts.noted:
                    signal.raise_signal(signal.SIGINT)

            with suppress(InterruptedRunError):
                run_puzzle(load_config("eight-puzzle"), tmp_path / "x.zarr", RunOptions(), press, interrupts.requested)
    assert f"{printed}; interrupt again to stop immediately" in capsys.readouterr().err
