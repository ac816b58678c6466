"""The commands that messages print to resume a run, or to start it over: typed as printed, they continue that run."""

import json
import re
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from programs import Command, Outcome
from stores import read_manifest
from tiling_stores import SQUARE, board_file

import antipodes as ap
from antipodes.cli.main import load_command
from antipodes.cli.running import Interrupts
from antipodes.storage.backend import MANIFEST
from antipodes.system.options import DEFINING, OPTIONS, RunOptions, command_words
from antipodes_tasks.base.errors import StoreDamagedError, StoreMismatchError

OF_OUTPUT = {"store", "quiet", "as_json", "verbose", "count", "help"}
"""Options that do not define a run, and the store, which every printed command names."""
VALUES: dict[str, tuple[str, ...]] = {
    "only_moves": ("--only-moves", "U R'"),
    "omit": ("--omit", "EDGES"),
    "counts_only": ("--counts-only",),
    "unique": ("--counts-only", "--unique"),
    "symmetry": ("--symmetry", "off"),
    "memory_limit": ("--memory-limit", "3GiB"),
    "spill": ("--spill", "elsewhere"),
    "workers": ("--workers", "1"),
    "checkpoint_every": ("--checkpoint-every", "0.5"),
    "scheduler": ("--scheduler", "threads"),
    "scheduler_file": (),
    "scheduler_timeout": ("--scheduler-timeout", "7"),
    "performance_report": (),
    "overwrite": ("--overwrite",),
    "where": ("--where", "I covers 0 1"),
    "method": ("--method", "plain"),
    "raw": ("--raw",),
    "puzzle": (),
}
"""A value of each option; a report and a file need a cluster, and ``resume --puzzle`` a puzzle in Python."""
SAME = (
    "format",
    "puzzle",
    "board",
    "fingerprint",
    "space",
    "layers",
    "weighed",
    "unique",
    "tilings",
    "method",
    "complete",
)


def options_of(command: str) -> list[str]:
    """The options of a command, by the names of its parameters."""
    return [one.name for one in load_command(command).params if one.param_type_name == "option"]


@pytest.mark.parametrize("command", ["run", "resume", "tile"])
def test_all_options_that_define_a_run_are_declared(command: str) -> None:
    given = set(options_of(command)) - OF_OUTPUT
    assert given <= {*OPTIONS, *DEFINING}
    assert given <= set(VALUES)
    assert {name for name, one in OPTIONS.items() if command in one.commands} <= given


@pytest.fixture
def interrupted(cli: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command that is interrupted when it asks for the first time, or later."""

    def run(*words: object, after: int = 0) -> Outcome:
        asked = count()
        with monkeypatch.context() as patch:
            patch.setattr(Interrupts, "requested", lambda _: next(asked) >= after)
            return cli(*words)

    return run


def printed(text: str, beginning: str = "with: ") -> list[str]:
    """The words of the command in a message, as a shell reads them."""
    command = text.strip().splitlines()[-1].rpartition(beginning)[2]
    assert command.startswith("antipodes "), text
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, text=True, check=True
    ).stdout
    return words.split("\0")[1:-1]


def facts(store: Path) -> dict[str, Any]:
    """What a store holds, however it was computed."""
    manifest = read_manifest(store / MANIFEST)
    return {key: manifest.get(key) for key in SAME}


OF_RESULTS = ("only_moves", "omit", "counts_only", "unique", "symmetry", "where", "method", "raw")
"""Options that decide what the store contains."""


def runs(*names: str) -> Iterator[tuple[str, ...]]:
    """A run with each of these options; pieces are left out, so that no run takes long."""
    for name in names:
        if VALUES[name] and name in options_of("run"):
            yield ("run", "pyraminx", *VALUES[name], *(() if name == "omit" else ("--omit", "AXIALS")))
        if VALUES[name] and name in options_of("tile"):
            yield ("tile", "it's a board.toml", *VALUES[name])


TOGETHER = ("only_moves", "omit", "symmetry", "memory_limit", "workers", "checkpoint_every")
RUNS = [*runs(*OF_RESULTS), ("run", "pyraminx", *(word for name in TOGETHER for word in VALUES[name]))]
OTHER_RUNS = [*runs(*(name for name in VALUES if name not in OF_RESULTS))]


@pytest.fixture(scope="module")
def known() -> dict[tuple[str, ...], dict[str, Any]]:
    """The facts of undisturbed runs, by their words."""
    return {}


@pytest.fixture
def whole(words: tuple[str, ...], known: dict[tuple[str, ...], dict[str, Any]], cli: Command, tmp_path: Path) -> Any:
    """The facts of an undisturbed run, computed once, and the file of the board."""
    board_file(SQUARE, tmp_path / "it's a board.toml")
    if words not in known:
        assert cli(*words, "--store", "whole.zarr", "--quiet").status == 0
        known[words] = facts(tmp_path / "whole.zarr")
    return known[words]


@pytest.mark.parametrize(
    "words", [*RUNS, *(pytest.param(words, marks=pytest.mark.slow) for words in OTHER_RUNS)], ids=" ".join
)
def test_the_printed_command_continues_the_run(
    words: tuple[str, ...], whole: Any, cli: Command, interrupted: Command, tmp_path: Path
) -> None:
    store = tmp_path / "it's $odd.zarr"
    every = (0, 1, 4) if "--unique" in words else (1, 4) if "--workers" in words else (4,)
    for after in every:
        stopped = interrupted(*words, "--store", store, "--quiet", after=after)
        if stopped.status == 0:
            break
        assert stopped.status == 75, stopped
        continued = cli(*printed(stopped.err), "--quiet", "--json")
        assert continued.status == 0, continued
        assert facts(store) == whole
        overwriting = [] if "--overwrite" in words else ["--overwrite"]
        words = (*words, *overwriting)


def test_a_damaged_store_is_refused_with_the_command_that_starts_over(cli: Command, tmp_path: Path) -> None:
    assert cli("run", "eight-puzzle", "--store", "it's.zarr", "--quiet").status == 0
    (tmp_path / "it's.zarr" / MANIFEST).write_bytes(b"{}")
    refused = cli("run", "eight-puzzle", "--store", "it's.zarr", "--quiet")
    assert refused.status == 1
    assert "restore it from a copy, or start over with: antipodes " in refused.err
    assert cli(*printed(refused.err), "--quiet").status == 0


@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_the_printed_command_overwrites_another_store(
    words: tuple[str, ...], whole: Any, cli: Command, tmp_path: Path
) -> None:
    if words[0] == "run":
        others = ["run", "eight-puzzle", *(["--counts-only"] if "--counts-only" in words else [])]
    else:
        others = ["tile", "it's a board.toml", "--where", "P avoids 0"]
    assert cli(*others, "--store", "it's.zarr", "--quiet").status == 0
    refused = cli(*words, "--store", "it's.zarr", "--quiet")
    assert refused.status == 2
    assert "overwrite it with: antipodes " in refused.err
    command = printed(refused.err)
    assert "--overwrite" in command
    assert cli(*command, "--quiet").status == 0
    assert facts(tmp_path / "it's.zarr") == whole


def test_a_damaged_store_is_started_over(cli: Command, interrupted: Command, tmp_path: Path) -> None:
    words = ("run", "pyraminx", "--omit", "AXIALS", "--checkpoint-every", "0", "--store", "t.zarr", "--quiet")
    assert interrupted(*words, after=5).status == 75
    for file in (tmp_path / "t.zarr").rglob("*"):
        if file.is_file() and file.name != MANIFEST:
            file.write_bytes(file.read_bytes()[:3])
    refused = cli(*words)
    assert refused.status == 1, refused
    expected = ["run", "pyraminx", "--omit", "AXIALS", "--store", "t.zarr", "--overwrite", "--checkpoint-every", "0"]
    assert printed(refused.err) == expected
    assert cli(*expected, "--quiet").status == 0


def test_options_of_a_cluster_are_repeated() -> None:
    options = RunOptions(
        scheduler="tcp://a:1",
        scheduler_file="s p.json",
        scheduler_timeout=90,
        performance_report="r.html",
        started_by=("run", "eight-puzzle"),
    )
    cluster = "--scheduler-file 's p.json' --scheduler-timeout 90 --performance-report r.html"
    assert options.resume_command(Path("t")) == f"antipodes resume t {cluster}"
    assert options.start_command(Path("t")) == f"antipodes run eight-puzzle --store t {cluster}"


def test_a_second_interruption_of_a_run_that_overwrites() -> None:
    options = RunOptions(overwrite=True, started_by=command_words("run", "pyraminx", omit=["EDGES"]))
    here = Path(__file__).parent
    assert options.next_command(here).endswith(f"run pyraminx --omit EDGES --store {here} --overwrite")
    assert options.next_command(here, saved=True) == f"antipodes resume {here}"
    assert options.next_command("s3://bucket/t.zarr") == (
        "antipodes run pyraminx --omit EDGES --store s3://bucket/t.zarr --overwrite"
    )


def test_options_of_tables_in_the_file_of_a_board_are_not_repeated() -> None:
    options = RunOptions(
        memory_limit=1 << 30, workers=2, started_by=command_words("tile", "b.toml", where=["I covers 0"])
    )
    assert (
        options.start_command(Path("t.zarr")) == "antipodes tile b.toml --where 'I covers 0' --store t.zarr --workers 2"
    )


def test_building_the_tables_of_patterns() -> None:
    options = RunOptions(memory_limit=1 << 30, started_by=(*command_words("solve", "fifteen-puzzle"), "--build"))
    assert options.start_command(Path("t.zarr")) == "antipodes solve fifteen-puzzle --build --memory-limit 1073741824"


def test_resuming_by_a_puzzle_that_is_given() -> None:
    options = RunOptions(started_by=command_words("resume", "dial", puzzle="a file.py:dial"))
    assert options.resume_command(Path("t.zarr")) == "antipodes resume t.zarr --puzzle 'a file.py:dial'"
    assert options.start_over(Path("t.zarr")) == "start over by the command that created it, with --overwrite"


def test_messages_in_python_speak_of_calls(tmp_path: Path) -> None:
    store = tmp_path / "t.zarr"
    ap.run("eight-puzzle", store)
    with pytest.raises(StoreMismatchError) as caught:
        ap.run("hanoi-3-pegs", store)
    message = str(caught.value)
    assert message.endswith("choose another store, or overwrite it by the same call with overwrite=True")
    assert not re.search("antipodes run|--store|--overwrite", message)


def test_a_run_of_a_corrupt_store_names_the_remedy(tmp_path: Path) -> None:
    """Whether the store is finished is asked before anything is locked, and the hint is the same there."""
    store = tmp_path / "t.zarr"
    ap.run("eight-puzzle", store)
    (store / "commit.json").write_text("{")
    with pytest.raises(StoreDamagedError, match=r"is corrupt: .*; restore it from a copy, or start over"):
        ap.run("eight-puzzle", store)


def test_json_reports_of_the_same_run(cli: Command, interrupted: Command) -> None:
    stopped = interrupted("run", "pyraminx", "--only-moves", "U R", "--json", "--quiet", after=3)
    report = json.loads(cli(*printed(stopped.err), "--json", "--quiet").out)
    whole = json.loads(cli("run", "pyraminx", "--only-moves", "U R", "--store", "w.zarr", "--json", "--quiet").out)
    assert (report["layers"], report["puzzle"]) == (whole["layers"], whole["puzzle"])
