"""Tables of runs: published counts, brute force, and every way of running leaves the same store."""

import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import as_list, distances, jump_distances, layers, sliding_distances
from hypothesis import given
from oracles import ORACLES
from stores import contents
from strategies import puzzle_settings

from antipodes.config import Config, load_config
from antipodes.events import Event, LayerSettled
from antipodes.executors.threads import Threads
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, RunReport, resume, run_puzzle
from antipodes.tables.table import Table, open_table
from antipodes.tables.verify import verify
from antipodes_tasks.errors import (
    ResourceLimitError,
    StoreMismatchError,
)

BUNDLED = {
    "five-tiles": "sliding/seed-1",
    "three-colours": "sliding/seed-2",
    "eight-puzzle": "sliding/eight-puzzle",
    "eight-puzzle-blank-first": "sliding/eight-puzzle-blank-first",
    "knights-coloured": "jump/knights-coloured",
    "knights-labelled": "jump/knights-labelled",
}


@pytest.mark.parametrize("name", BUNDLED)
def test_known_layers_and_antipodes(name: str, tmp_path: Path) -> None:
    expected = ORACLES[BUNDLED[name]]
    report = run_puzzle(load_config(name), tmp_path / "t.zarr", RunOptions(workers=2))
    assert report.complete
    assert list(report.manifest.layers) == expected["layers"]
    assert (report.manifest.states, report.manifest.radius) == (expected["states"], expected["radius"])
    with open_table(tmp_path / "t.zarr") as table:
        found = [table.puzzle.format(one) for one in table.antipodes()]
        for position, distance in expected.get("distance", {}).items():
            assert table.distance(position) == distance
    if "antipodes" in expected:
        assert sorted(found) == sorted(" ".join(map(str, one)) for one in expected["antipodes"])


def test_all_options_leave_the_same_bytes(tmp_path: Path) -> None:
    config = load_config("five-tiles")
    least = plan_run(config.puzzle, 2).least_bytes
    stores = []
    for number, options in enumerate(
        [
            RunOptions(workers=1),
            RunOptions(workers=2),
            RunOptions(workers=5),
            RunOptions(workers=2, checkpoint_every=0),
            RunOptions(workers=2, memory_limit=least),
        ]
    ):
        run_puzzle(config, tmp_path / f"{number}.zarr", options)
        stores.append(contents(tmp_path / f"{number}.zarr"))
    assert len(stores[0]) > 4, "too small to have several chunks"
    for store in stores[1:]:
        assert store == stores[0]


@pytest.mark.slow
def test_processes_leave_the_same_bytes(tmp_path: Path) -> None:
    for name in ("knights-coloured", "five-tiles"):
        config = load_config(name)
        run_puzzle(config, tmp_path / f"{name}-threads.zarr", RunOptions(workers=2))
        run_puzzle(config, tmp_path / f"{name}-local.zarr", RunOptions(workers=2, scheduler="local"))
        assert contents(tmp_path / f"{name}-local.zarr") == contents(tmp_path / f"{name}-threads.zarr")


def by_brute_force(table: dict[str, Any]) -> dict[str, int]:
    """The distances by the text of the positions."""
    if table["family"] == "sliding":
        return {" ".join(position): distance for position, distance in sliding_distances(table).items()}
    return {"".join(position): distance for position, distance in jump_distances(table).items()}


def check_path(table: Table, text: str, distance: int) -> None:
    path = table.path(text)
    assert table.puzzle.format(path[0]) == text
    assert path[-1].tolist() in table.puzzle.start_labels.tolist()
    assert len(path) == distance + 1
    for after, before in pairwise(path):
        assert (table.puzzle.successors(before) == after).all(axis=1).any()


def test_brute_force_counts_moves() -> None:
    chain = distances([(0,)], lambda here: [(int(here[0]) + 1,)] if int(here[0]) < 3 else [])  # type: ignore[arg-type,list-item]
    assert chain == {(number,): number for number in range(4)}


@given(puzzle_settings())
def test_distances_by_brute_force(settings: dict[str, Any]) -> None:
    expected = by_brute_force(settings)
    with tempfile.TemporaryDirectory() as folder:
        report = run_puzzle(Config(settings), Path(folder) / "t.zarr", RunOptions(workers=2))
        assert list(report.manifest.layers) == layers(expected)
        assert verify(Path(folder) / "t.zarr", Threads(2)).ok
        with open_table(Path(folder) / "t.zarr") as table:
            labels = table.space.unrank(np.arange(table.index_size))
            texts = [table.puzzle.format(one) for one in labels]
            assert table.distances(labels).tolist() == [expected.get(text, -1) for text in texts]
            for text in list(expected)[:: max(1, len(expected) // 5)]:
                check_path(table, text, expected[text])


@pytest.mark.parametrize(
    ("rows", "columns", "start"),
    [
        (1, 1, "0"),
        (1, 2, "1 0"),
        (2, 1, "0 1"),
        (2, 2, "1 1 1 0"),
        (2, 2, "1 2 3 0"),
        (1, 6, "1 2 0 2 1 3"),
        (6, 1, "1 1 1 1 0 1"),
        (2, 3, "1 1 1 1 1 0"),
        (3, 3, "1 1 1 1 0 1 1 1 1"),
        (2, 4, "1 2 1 2 3 3 3 0"),
    ],
)
def test_odd_boards(rows: int, columns: int, start: str, tmp_path: Path) -> None:
    table = {"name": "odd", "family": "sliding", "rows": rows, "columns": columns, "start": start}
    report = run_puzzle(Config(table), tmp_path / "t.zarr")
    assert list(report.manifest.layers) == layers(sliding_distances(table))


@pytest.mark.parametrize("start", ["-", "--/--", "A-", "A#-/###"])
def test_odd_jump_boards(start: str, tmp_path: Path) -> None:
    table = {"name": "odd", "family": "jump", "start": start, "moves": "knight"}
    report = run_puzzle(Config(table), tmp_path / "t.zarr")
    assert list(report.manifest.layers) == [1]
    assert verify(tmp_path / "t.zarr", Threads(1)).ok


def test_several_starts(tmp_path: Path) -> None:
    starts = ["1 2 3 4 5 0", "0 1 2 3 4 5", "5 4 3 2 1 0"]
    table = {"name": "three", "family": "sliding", "rows": 2, "columns": 3, "start": starts}
    report = run_puzzle(Config(table), tmp_path / "t.zarr")
    assert list(report.manifest.layers) == layers(sliding_distances(table))
    assert report.manifest.layers[0] == len(as_list(table["start"]))


def a_layer(events: list[Event]) -> bool:
    """Whether a layer was found."""
    return any(isinstance(event, LayerSettled) for event in events)


def test_resumed_after_each_layer(tmp_path: Path) -> None:
    config = load_config("eight-puzzle")
    run_puzzle(config, tmp_path / "whole.zarr")
    reports: list[RunReport] = []
    while not reports or not reports[-1].complete:
        found: list[Event] = []
        reports.append(run_puzzle(config, tmp_path / "parts.zarr", RunOptions(), found.append, partial(a_layer, found)))
    assert [report.resumed_from for report in reports] == [None, *range(1, 32)]
    assert contents(tmp_path / "parts.zarr") == contents(tmp_path / "whole.zarr")


def test_interrupted_before_the_first_layer(tmp_path: Path) -> None:
    report = run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", interrupted=lambda: True)
    assert (report.complete, report.manifest.committed_depth, list(report.manifest.layers)) == (False, 0, [1])
    assert resume(tmp_path / "t.zarr").manifest.radius == 31


def test_a_finished_table_is_reported_and_not_touched(finished: Path) -> None:
    before = contents(finished)
    times = {path: path.stat().st_mtime_ns for path in finished.rglob("*")}
    report = run_puzzle(load_config("eight-puzzle"), finished)
    assert (report.complete, report.resumed_from, report.states_found) == (True, 31, 0)
    assert contents(finished) == before
    assert times == {path: path.stat().st_mtime_ns for path in finished.rglob("*")}


def test_another_puzzles_store_is_refused(eight: Path) -> None:
    before = contents(eight)
    with pytest.raises(StoreMismatchError, match="another puzzle"):
        run_puzzle(load_config("eight-puzzle-blank-first"), eight)
    assert contents(eight) == before


def test_a_finished_table_is_reported_whatever_the_memory(eight: Path) -> None:
    report = run_puzzle(load_config("eight-puzzle"), eight, RunOptions(memory_limit=1))
    assert report.complete
    assert report.manifest.radius == 31


def test_refused_for_memory_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ResourceLimitError, match=r"1.0 MiB.*181,440 positions"):
        run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", RunOptions(memory_limit=1 << 20))
    assert not (tmp_path / "t.zarr").exists()
