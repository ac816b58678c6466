import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command, Process
from stores import contents, toml

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


def test_the_total_time_begins_with_the_process(process: Process) -> None:
    begin = time.perf_counter()
    report, _ = process("run", "eight-puzzle", "--json", "--quiet").communicate()
    waited = time.perf_counter() - begin
    seconds = json.loads(report)["seconds"]
    assert seconds["total"] <= waited + 0.02, "Linux tells hundredths"
    assert seconds["total"] > seconds["tables"] + seconds["search"] + seconds["write"] + 0.1, "libraries are loaded"


def test_the_printed_report(cli: Command) -> None:
    outcome = cli("run", "eight-puzzle")
    assert outcome.status == 0
    for expected in ("181,440 positions reached, of 181,440", "radius 31, 2 antipodes", "│ 8 6 7 │", "antipodes query"):
        assert expected in outcome.out
    assert "depth 31: 2 positions, 181,440 so far" in outcome.err
    assert " eight-puzzle: begins" in outcome.err.splitlines()[0]
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


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"start": "1 2 3"}, "blank"),
        ({"start": "1 2 3 0"}, "start"),
        ({"start": "1 2 0 / 3 4"}, "start"),
        ({"rows": 0}, "rows"),
        ({"rows": 100, "columns": 100}, "rows, columns"),
        ({"colour": "red"}, "colour"),
        ({"family": "chess"}, "family"),
        ({"name": ""}, "name"),
        ({"family": "jump", "start": "AB-/A-"}, "unknown key"),
    ],
)
def test_bad_configs(changes: dict[str, object], named: str, refused: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(toml({**LINE, **changes}))
    for command in ("run", "plan"):
        message = refused(command, path)
        assert named in message
        assert str(path) in message
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize("name", ["a\x00b", "x" * 300, "../../line", "/dev/null/line", "a/b", "a\nb", ".", ".."])
def test_names_that_are_no_file_names(name: str, refused: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(toml({**LINE, "name": name}))
    assert "name" in refused("run", path)


@pytest.mark.parametrize(
    ("run", "named"),
    [
        ({"workers": 0}, "workers"),
        ({"workers": -3}, "workers"),
        ({"checkpoint_every": -1}, "checkpoint_every"),
        ({"memory_limit": "lots"}, "memory"),
        ({"memory_limit": 0}, "memory"),
        ({"memory_limit": "1KB"}, "181,440 positions take at least"),
        ({"scheduler": "slurm"}, "scheduler"),
        ({"overwrite": 1}, "overwrite"),
    ],
)
def test_bad_defaults(run: dict[str, object], named: str, refused: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    eight = {**LINE, "rows": 3, "columns": 3, "start": "123456780"}
    path.write_text(toml(eight, run))
    assert named in refused("run", path)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run"], "PUZZLE"),
        (["run", "nine-puzzle"], "nine-puzzle"),
        (["run", ""], "puzzle"),
        (["run", "x" * 300], "puzzle"),
        (["run", "eight-puzzle", "extra"], "extra"),
        (["run", "eight-puzzle", "--fast"], "--fast"),
        (["run", "eight-puzzle", "--store"], "--store"),
        (["run", "eight-puzzle", "--store", "."], "store"),
        (["run", "eight-puzzle", "--store", "/"], "store"),
        (["run", "eight-puzzle", "--workers", "0"], "--workers"),
        (["run", "eight-puzzle", "--workers", "two"], "--workers"),
        (["run", "eight-puzzle", "--workers", "-1"], "--workers"),
        (["run", "eight-puzzle", "--workers", "1.5"], "--workers"),
        (["run", "eight-puzzle", "--checkpoint-every", "-1"], "--checkpoint-every"),
        (["run", "eight-puzzle", "--checkpoint-every", "nan"], "--checkpoint-every"),
        (["run", "eight-puzzle", "--checkpoint-every", "often"], "--checkpoint-every"),
        (["run", "eight-puzzle", "--memory-limit", "1KB"], "1000 bytes"),
        (["run", "eight-puzzle", "--memory-limit", "nan"], "memory limit"),
        (["run", "eight-puzzle", "--memory-limit", "inf"], "memory limit"),
        (["run", "eight-puzzle", "--memory-limit", "-5GB"], "memory limit"),
        (["run", "eight-puzzle", "--memory-limit", "1e400"], "memory limit"),
        (["run", "eight-puzzle", "--scheduler", "slurm"], "threads, local or an address"),
        (["nonsense"], "nonsense"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_bad_usage(arguments: list[str], named: str, refused: Callable[..., str], tmp_path: Path) -> None:
    assert named in refused(*arguments)
    assert not list(tmp_path.rglob("commit.json"))


@pytest.mark.parametrize(
    "option", [["--checkpoint-every", "inf"], ["--checkpoint-every", "1e300"], ["--workers", "64"]]
)
def test_extreme_options(option: list[str], cli: Command) -> None:
    assert cli("run", "eight-puzzle", *option, "--quiet").status == 0


def test_a_scheduler_that_does_not_answer(refused: Callable[..., str]) -> None:
    message = refused("run", "eight-puzzle", "--quiet", "--scheduler", "foo://127.0.0.1:1", status=1)
    assert "foo://127.0.0.1:1" in message


def test_a_path_below_a_file(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused("run", "eight-puzzle", "--store", "file/t.zarr", status=1)


def test_overwrite(cli: Command, refused: Callable[..., str], eight: Path) -> None:
    before = contents(eight)
    assert "--overwrite" in refused("run", "knights-coloured", "--store", eight)
    assert contents(eight) == before
    assert cli("run", "knights-coloured", "--store", eight, "--overwrite", "--quiet").status == 0
    assert json.loads(cli("status", eight, "--json").out)["puzzle"] == "knights-coloured"


def test_no_arguments_print_the_help(cli: Command) -> None:
    outcome = cli()
    assert "farthest" in outcome.out
    assert outcome.out == cli("--help").out


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
