"""The public interface as a program uses it: names, files and objects in, tables and answers out."""

import inspect
import pickle
import pydoc
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_puzzles import lights, towers
from stores import stop_after

import antipodes as api
from antipodes.executors.threads import Threads
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.events import LayerFinished
from antipodes.tables.run import RunOptions
from antipodes_tasks.base.errors import (
    ArgumentTypeError,
    ConfigError,
    InputError,
    InterruptedRunError,
    NotAStoreError,
    SourceError,
    StoreMismatchError,
)
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.spaces.selection import best_space

FIRST, SECOND = np.eye(2, dtype=np.int64)
FAR = "8 6 7 2 5 4 3 0 1"
RING_TOML = """
[puzzle]
name = "ring"
family = "generators"
start = "0 1 2 3 4"
moves = { L = [1, 2, 3, 4, 0], X = '(0 1)' }
"""
RING = {"name": "ring", "family": "generators", "start": "0 1 2 3 4", "moves": {"L": [1, 2, 3, 4, 0], "X": "(0 1)"}}

LONG = {"name": "long", "family": "generators", "n": 60, "moves": {"L": [*range(1, 60), 0]}}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_name_is_there_and_says_what_it_is() -> None:
    assert sorted(api.__all__) == sorted(set(api.__all__))
    for name in api.__all__:
        one = getattr(api, name)
        documented = inspect.isclass(one) or inspect.isfunction(one)  # the rest are modules, numbers and types
        assert not (documented and not inspect.getdoc(one)), name
    assert api.__version__.count(".") >= 2


def signatures() -> Iterator[tuple[str, str]]:
    """The name and the signature of each public function, and of each public method of a class."""
    for name in api.__all__:
        one = getattr(api, name)
        if inspect.isfunction(one):
            yield name, str(inspect.signature(one))
        for method, function in inspect.getmembers(one, inspect.isfunction) if inspect.isclass(one) else ():
            if not method.startswith("_"):
                yield f"{name}.{method}", str(inspect.signature(function))


def test_signatures_name_their_types() -> None:
    """Numpy's `ArrayLike` alone would be 300 characters, if it were written out."""
    for name, signature in signatures():
        assert "_array_like" not in signature, name
        assert not re.search(r"(antipodes|collections|pathlib|typing)\.", signature), name
        assert len(signature) <= 60 + 60 * signature.count(":"), name


def test_help_names_the_aliases() -> None:
    shown = inspect.signature(api.run).parameters
    names = {name: str(shown[name].annotation) for name in ("puzzle", "scheduler", "progress", "store")}
    assert names == {
        "puzzle": "PuzzleLike",
        "scheduler": "SchedulerLike | None",
        "progress": "Progress | None",
        "store": "Address | None",
    }
    assert "puzzle: 'PuzzleLike'" in pydoc.render_doc(api.run)
    aliases = {"PuzzleLike", "PositionLike", "PositionsLike", "BoardLike", "Progress", "SchedulerLike", "Address"}
    assert aliases <= set(api.__all__)


@pytest.mark.parametrize(
    "ring",
    ["ring.toml", Path("ring.toml"), api.Config(RING), api.Config(RING).puzzle],
    ids=["text", "path", "config", "puzzle"],
)
def test_a_puzzle_in_any_form(ring: Any) -> None:
    Path("ring.toml").write_text(RING_TOML)
    report = api.run(ring, workers=1)
    assert (report.store, report.complete, sum(report.layers)) == ("outputs/ring.zarr", True, 120)
    with api.open_table(report.store) as table:
        assert table.layers == report.layers
        assert api.solve(ring, table.antipodes(1)[0]).distance == table.radius == report.radius
        assert api.solve(ring, table.antipodes(1)[0], table=table).distance == table.radius
    assert api.run(ring, overwrite=True, workers=1).resumed_from is None


def test_the_file_has_defaults_for_the_run() -> None:
    config = api.Config(RING, {"store": "elsewhere.zarr", "workers": 1, "memory_limit": "1GiB"})
    assert api.run(config).store == "elsewhere.zarr"
    assert api.run(config, "here.zarr", memory_limit=2**30).store == "here.zarr"


def test_the_scheduler_is_a_name_or_an_object() -> None:
    assert api.run(api.Config(RING), scheduler=Threads(1)).complete
    with pytest.raises(InputError, match="scheduler"):
        api.run(api.Config(RING), scheduler="moon", overwrite=True)


def test_interrupted_and_resumed() -> None:
    report = api.run("eight-puzzle", workers=1, interrupted=stop_after(5))
    assert (report.complete, report.radius) == (False, 5)
    again = api.run("eight-puzzle", workers=1)
    assert (again.complete, again.resumed_from, again.radius) == (True, 5, 31)


def test_one_position() -> None:
    eight = api.load_puzzle("eight-puzzle")
    assert api.solve("eight-puzzle", FAR, method="ida-star", heuristic="manhattan").distance == 31
    assert api.solve(eight, eight.parse(FAR), goal=FAR).distance == 0
    assert api.solve(eight, FAR, goal="0 1 2 / 3 4 5 / ? ? ?").distance == 27
    assert api.solve(eight, FAR, max_depth=3).distance is None
    assert api.solve(eight, "1 2 3 4 0 5 7 8 6", every=True).solution_count == 1
    with pytest.raises(InputError, match="cannot be combined with a table"):
        api.solve(eight, FAR, method="bfs", table=api.open_table(api.run(eight, workers=1).store))


def test_stores_by_name(tmp_path: Path) -> None:
    for name in ("eight-puzzle", "3x20", "ring.toml"):
        (tmp_path / "ring.toml").write_text(RING_TOML)
        ask = api.open_tilings if name == "3x20" else api.open_table
        command = "tile" if name == "3x20" else "run"
        with pytest.raises(NotAStoreError, match=f"no store of .* yet; create it with: antipodes {command} {name}$"):
            ask(name)
    with pytest.raises(NotAStoreError, match="did you mean eight-puzzle"):
        api.verify("eight-puzle")
    api.run("eight-puzzle", workers=1)
    with api.open_table("eight-puzzle") as table, api.open_table(Path("outputs/eight-puzzle.zarr")) as same:
        assert table[FAR] == same[FAR] == 31
    assert api.verify("eight-puzzle", memory_limit="1GiB").ok
    api.tile("3x20", workers=1)
    assert len(api.open_tilings("3x20")) == 2
    assert api.verify_tilings("3x20").ok
    api.run("ring.toml", counts_only=True, workers=1)
    assert sum(api.open_counts("ring.toml").layers) == 120
    with pytest.raises(NotAStoreError, match="layers of a counts-only run"):
        api.open_table("ring.toml")


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    events: list[Any] = []
    report = api.run(api.Config(RING), progress=events.append, workers=1)
    depths = [event.depth for event in events if isinstance(event, LayerFinished)]
    assert depths == list(range(1, report.radius + 1))
    assert capsys.readouterr().err == ""
    api.run(api.Config(RING), progress=True, overwrite=True, workers=1)
    told = re.findall(r" depth (\d+): ", capsys.readouterr().err)
    assert told == [str(depth) for depth in depths]
    assert api.verify("outputs/ring.zarr", progress=True).ok
    assert "checking: 120 of 120 positions compared" in capsys.readouterr().err
    api.tile("3x20", progress=True, workers=1)
    assert re.search(r"committed (\d+) of \1 partitions", capsys.readouterr().err)


WRONG: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("run", (None,), {}),
    ("run", (5,), {}),
    ("run", (b"eight-puzzle",), {}),
    ("run", ("no-such-puzzle",), {}),
    ("run", ("eight-puzzle", 5), {}),
    ("run", ("eight-puzzle",), {"workers": "two"}),
    ("run", ("eight-puzzle",), {"workers": 0}),
    ("run", ("eight-puzzle",), {"memory_limit": "much"}),
    ("run", ("eight-puzzle",), {"scheduler": 5}),
    ("run", ("eight-puzzle",), {"progress": 5}),
    ("run", ("eight-puzzle",), {"overwrite": 1}),
    ("solve", (None, FAR), {}),
    ("solve", ("eight-puzzle", None), {}),
    ("solve", ("eight-puzzle", "1 2 3"), {}),
    ("solve", ("eight-puzzle", FAR, 5), {}),
    ("solve", ("eight-puzzle", FAR), {"method": "magic"}),
    ("solve", ("eight-puzzle", FAR), {"table": 5}),
    ("tile", (None,), {}),
    ("tile", ("no-such-board",), {}),
    ("tile", ("3x20",), {"method": "magic"}),
    ("load_puzzle", (None,), {}),
    ("load_puzzle", (["eight-puzzle"],), {}),
    ("open_table", (None,), {}),
    ("open_tilings", (5,), {}),
    ("open_counts", ("",), {}),
    ("open_table", (Path("x.zarr"),), {"cache_bytes": "1MB"}),
    ("open_table", (Path("x.zarr"),), {"puzzle": 7}),
    ("verify", (5,), {}),
    ("verify", (Path("x.zarr"), "threads"), {}),
    ("verify", ("x.zarr",), {"progress": "yes"}),
    ("verify_tilings", (b"3x20",), {}),
    ("check_puzzle", (5,), {}),
    ("check_puzzle", ("no-such-puzzle",), {}),
    ("count_tilings", (5,), {}),
    ("count_tilings", ("3x20",), {"workers": 0}),
    ("load_patterns", ("eight-puzzle",), {}),
    ("load_patterns", ("eight-puzzle",), {"build": 1}),
    ("load_patterns", ("eight-puzzle",), {"build": True}),
    ("load_patterns", ("eight-puzzle", ["x.zarr"]), {"build": True}),
]


@pytest.mark.parametrize(("name", "arguments", "options"), WRONG, ids=lambda value: repr(value)[:40])
def test_wrong_arguments_get_one_clear_line(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        getattr(api, name)(*arguments, **options)
    assert isinstance(raised.value, InputError)
    assert "\n" not in str(raised.value)
    assert not list(Path().rglob("*.zarr"))


def spinner() -> Puzzle:
    """A puzzle made of functions, in no file that a store could name."""
    return api.define_puzzle(
        name="spinner",
        radices=[5, 3],
        start=[0, 0],
        moves={"first": lambda dials: (dials + FIRST) % (5, 3), "second": lambda dials: (dials + SECOND) % (5, 3)},
    )


@pytest.mark.parametrize("puzzle", [spinner(), towers(3, 4), lights(2, 3)], ids=lambda puzzle: str(puzzle.name))
def test_a_puzzle_made_in_python_is_run_stored_opened_and_verified(puzzle: Puzzle) -> None:
    report = api.run(puzzle, workers=1)
    assert report.store == f"outputs/{puzzle.name}.zarr"
    with api.open_table(report.store) as table:
        assert table.puzzle.fingerprint == puzzle.fingerprint
        assert sum(table.layers) == len(table) <= table.index_size
        assert table[puzzle.format(puzzle.start_labels[0])] == 0
        assert api.solve(puzzle, table.antipodes(1)[0], table=None).distance is not None
    assert api.verify(report.store).ok
    assert api.run(puzzle, workers=1).seconds < 60, "the finished table is only reported"


@pytest.mark.slow
def test_processes_get_a_puzzle_made_in_python() -> None:
    report = api.run(spinner(), scheduler="local", workers=2, checkpoint_every=0)
    assert (report.complete, sum(report.layers)) == (True, 15)
    assert api.verify(report.store).ok


def test_tilings_are_counted() -> None:
    """The arguments are those of `tile`."""
    events: list[Any] = []
    for board in (api.load_board("3x20"), "3x20"):
        assert api.count_tilings(board).tilings == 2
    count = api.count_tilings("3x20", method="plain", workers=1, scheduler="threads", progress=events.append)
    assert (count.tilings, count.method) == (2, "plain")
    assert events
    with pytest.raises(InterruptedRunError, match=r"0 of \d+ partitions were counted"):
        api.count_tilings("6x10", interrupted=lambda: True)


def test_permutations_made_in_python_need_no_help(cli: Any) -> None:
    wheels = {"L": "(0 1 2 3 4)", "R": [0, 1, 2, 3, 5, 6, 7, 8, 4]}
    puzzle = api.define_puzzle(name="wheels", start="A A B B . C C D D", moves=wheels)
    report = api.run(puzzle, workers=1)
    outcome = cli("query", Path(report.store).resolve(), "A A B B . C C D D")
    assert outcome.out == "A A B B . C C D D: 0\n"
    with api.open_table(report.store) as table:
        assert (table.puzzle.family, table.puzzle.settings is None) == ("generators", False)
        assert table.puzzle.fingerprint == puzzle.fingerprint


@pytest.mark.parametrize(
    "more", [{"draw": lambda numbers: "x" * len(numbers)}, {"format": lambda numbers: "-".join(map(str, numbers))}]
)
def test_what_a_file_cannot_say_is_not_lost(more: dict[str, Any]) -> None:
    given = {"parse": lambda text: [int(one) for one in text.split("-")], **more} if "format" in more else more
    puzzle = api.define_puzzle(name="ring", start=[0, 1, 2, 3], moves={"L": [1, 2, 3, 0]}, **given)
    with api.open_table(api.run(puzzle, workers=1).store) as table:
        assert table.puzzle.draw([0, 1, 2, 3]) == puzzle.draw([0, 1, 2, 3])
        assert table.puzzle.format([0, 1, 2, 3]) == puzzle.format([0, 1, 2, 3])


def test_another_process_needs_the_puzzle_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    report = api.run(spinner(), workers=1)
    monkeypatch.setattr("antipodes.puzzles.python_source._GIVEN", {})  # as in a new process
    with pytest.raises(SourceError, match=r'spinner, was made in Python.*name it with puzzle="path.py:name"'):
        api.open_table(report.store)
    with api.open_table(report.store, puzzle=spinner()) as table:
        assert table.radius == report.radius
    assert api.verify(report.store).ok


def test_the_wrong_puzzle_for_a_store() -> None:
    store = api.run("eight-puzzle", workers=1).store
    with pytest.raises(StoreMismatchError, match="another puzzle"):
        api.open_table(store, puzzle=spinner())


@pytest.mark.slow
def test_a_table_of_a_puzzle_made_in_python_is_pickled_with_it() -> None:
    with api.open_table(api.run(spinner(), workers=1).store) as table:
        code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).radius)"
        import cloudpickle

        done = subprocess.run(
            [sys.executable, "-c", code], input=cloudpickle.dumps(table), capture_output=True, check=True
        )
        assert done.stdout.decode().strip() == str(table.radius)
        assert pickle.loads(pickle.dumps(table)).layers == table.layers


def test_errors_are_builtin_ones_too() -> None:
    assert issubclass(ArgumentTypeError, TypeError)
    assert issubclass(ConfigError, ValueError)
    with pytest.raises(KeyError):
        np.array([api.open_table(api.run("eight-puzzle", workers=1).store)["2 1 3 4 5 6 7 8 0"]])


def objects(finished: Path, folder: Path) -> Iterator[tuple[object, str]]:
    """Objects, and the pattern of what is shown of each."""
    eight = api.load_puzzle("eight-puzzle")
    yield eight, "<Puzzle eight-puzzle: sliding, 9 places, 24 moves>"
    yield api.load_config("eight-puzzle"), "<Config of eight-puzzle: sliding>"
    yield Problem.of(eight.rules, eight.parse(FAR)), f"<Problem of eight-puzzle: {FAR}, 1 goal>"
    yield best_space(eight.rules), "<arrangements of eight-puzzle: 504 rows of 360 columns>"
    yield best_space(api.load_puzzle("pyraminx").rules), "<group of pyraminx: 972 rows of 960 columns>"
    yield api.check_puzzle(eight), "<CheckReport: ok: .*>"
    with api.open_table(finished) as table:
        yield table, "<Table of eight-puzzle: 181,440 positions, radius 31, in .*eight-puzzle.zarr>"
        yield table.space, "<arrangements of eight-puzzle: .*>"
        yield table.match("1 2 3 / ? ? ? / ? ? ?"), "<Matches: 720 positions, 360 reached, distances 0 to .*>"
        yield api.solve(eight, FAR, table=table), "<Answer: 31 moves, 1 solution, by table, .* positions expanded>"
    yield api.solve(eight, FAR, max_depth=2), "<Answer: depth-limit, by .*>"
    yield api.verify(finished), "<TableVerdict: ok: checked 181,440 positions .*>"
    yield api.run("eight-puzzle", finished), "<RunReport of eight-puzzle: 181,440 positions, radius 31, .* s>"
    counts = api.run("eight-puzzle", folder / "e.counts.zarr", counts_only=True, workers=1)
    yield api.open_counts(counts.store), "<Counts of eight-puzzle: 181,440 positions, radius 31, in .*>"
    report = api.tile("3x20", folder / "t.zarr", workers=1)
    yield report, "<TilingReport of 3x20: 2 tilings, .* s>"
    yield api.verify_tilings(report.store), "<TilingVerdict: ok: .*>"
    yield api.load_board("3x20"), "<BoardConfig of 3x20>"
    yield api.count_tilings("3x20"), "<TilingCount of 3x20: 2 tilings, 8 with symmetric copies, .* s>"
    yield eight.moves, "<Swaps: 24 moves>"
    yield eight.picture(eight.start_labels[0]), "<Picture: .* x .*, .* shapes>"
    yield (
        api.components("eight-puzzle"),
        "<Components: 2 components of 362,880 .*, the largest of 181,440 with radius 31>",
    )
    yield api.hardest_starts(eight, FAR), "<HardestStarts: .* at distance 31; 181,440 of 362,880 reach 1 goal>"
    goal = "1 2 3 4 5 6 7 8 0"
    yield api.load_patterns(eight, [finished]), f"<Patterns of eight-puzzle: eight-puzzle, .*; goal {goal}>"
    yield api.symmetries("three-colours").elements()[0], "<Symmetry of three-colours: places 0 1 2 .*>"
    yield api.symmetries(api.Config(LONG)).generators[0], "<Symmetry of .*…>"
    board = {"name": "wide", "cells": "." * 200, "pieces": {"I": {"shape": "#" * 20, "count": 10}}}
    yield (
        api.open_tilings(api.tile(api.BoardConfig(board), folder / "w.zarr", workers=1).store)[0],
        "<tiling of wide: .*>",
    )
    cube = api.load_puzzle("2x2x2-corner")
    turns = api.run(api.load_config("2x2x2-corner"), folder / "cube.zarr", workers=2, symmetry="off").store
    yield cube.moves, "<Transforms: 9 moves>"
    yield api.load_patterns(cube, [turns]), "<Patterns of 2x2x2-corner: 2x2x2-corner.*; goal 1 2 3 .*>"
    yield api.load_board("3x20").problem, "<TilingProblem 3x20: 60 cells, 12 pieces>"
    yield RunOptions(), r"RunOptions\(\)"
    yield RunOptions(workers=2, overwrite=True), r"RunOptions\(overwrite=True, workers=2\)"


@pytest.mark.slow
def test_one_short_line_each(finished: Path, tmp_path: Path) -> None:
    for one, pattern in objects(finished, tmp_path):
        assert re.fullmatch(pattern, repr(one)), repr(one)
        assert "\n" not in repr(one)
        assert len(repr(one)) <= 120, repr(one)


@pytest.mark.parametrize("name", ["x" * 60, "a b"])
def test_long_names_are_cut(name: str) -> None:
    config = api.Config({"name": name, "family": "pancake", "n": 4})
    assert len(repr(config)) < 80
    assert len(repr(config.puzzle)) < 100
