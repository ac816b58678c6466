"""Runs: tables of all sizes and depths, resumed or replaced."""

import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import jump_distances, layers, sliding_distances
from every_kind import config_of, many_parts
from hypothesis import example, given
from oracles import ORACLES
from stores import contents, resume
from strategies import puzzle_settings

from antipodes.executors.api import Call
from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config, load_config
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.search import layer_search
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import Table, open_table
from antipodes.tables.verify import verify
from antipodes_tasks.base.errors import (
    DepthLimitError,
    NotAStoreError,
    ResourceLimitError,
    StoreError,
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


def test_all_options_leave_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many_parts(monkeypatch)
    config = config_of("corners and equal edges")
    least = plan_run(config.puzzle, 2).min_bytes
    stores = []
    for number, options in enumerate(
        [
            RunOptions(workers=1),
            RunOptions(workers=5),
            RunOptions(workers=2, checkpoint_every=0),
            RunOptions(workers=2, memory_limit=least),
        ]
    ):
        run_puzzle(config, tmp_path / f"{number}.zarr", options)
        stores.append(contents(tmp_path / f"{number}.zarr"))
    assert len(stores[0]) > 4, "too small to have several chunks"
    assert plan_run(config.puzzle, 2).partition_count > 3
    for store in stores[1:]:
        assert store == stores[0]


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


ODD_BOARDS: list[tuple[int, int, str | list[str]]] = [
    *((1, 1, "0"), (1, 2, "1 0"), (2, 2, "1 1 1 0"), (2, 2, "1 2 3 0"), (1, 6, "1 2 0 2 1 3")),
    *((6, 1, "1 1 1 1 0 1"), (3, 3, "1 1 1 1 0 1 1 1 1")),
    *((2, 3, "1 2 3 4 5 0"), (2, 3, ["1 2 3 4 5 0", "0 1 2 3 4 5", "5 4 3 2 1 0"])),
]
ODD_PUZZLES = [
    *({"family": "sliding", "rows": rows, "columns": columns, "start": start} for rows, columns, start in ODD_BOARDS),
    *({"family": "jump", "start": start, "moves": "knight"} for start in ("-", "--/--", "A-", "A#-/###")),
]
"""Boards with few moves or none, with identical tiles, with different ones, and with several starts."""


def with_odd_puzzles(test: Callable[..., None]) -> Callable[..., None]:
    """Add the odd puzzles to the examples of a property."""
    for settings in ODD_PUZZLES:
        test = example({"name": "odd", **settings})(test)
    return test


@pytest.mark.slow
@with_odd_puzzles
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


def test_interrupted_before_the_first_layer(tmp_path: Path) -> None:
    report = run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", interrupted=lambda: True)
    assert (report.complete, report.manifest.committed_depth, list(report.manifest.layers)) == (False, 0, [1])
    assert resume(tmp_path / "t.zarr").manifest.radius == 31


def test_a_finished_table_is_reported_and_not_touched(finished: Path) -> None:
    before = contents(finished)
    times = {path: path.stat().st_mtime_ns for path in finished.rglob("*")}
    for options in (RunOptions(), RunOptions(memory_limit=1)):
        report = run_puzzle(load_config("eight-puzzle"), finished, options)
        assert (report.complete, report.resumed_from, report.states_found) == (True, 31, 0)
    assert contents(finished) == before
    assert times == {path: path.stat().st_mtime_ns for path in finished.rglob("*")}


def test_another_puzzles_store_is_refused(eight: Path) -> None:
    before = contents(eight)
    with pytest.raises(StoreMismatchError, match="another puzzle"):
        run_puzzle(load_config("eight-puzzle-blank-first"), eight)
    assert contents(eight) == before


def test_refused_for_memory_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ResourceLimitError, match=r"1.0 MiB.*181,440 positions"):
        run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", RunOptions(memory_limit=1 << 20))
    assert not (tmp_path / "t.zarr").exists()


def ring(places: int) -> Config:
    """One marked piece among equal ones on a ring: a single cycle of places * (places - 1) positions."""
    edges = [[place, (place + 1) % places] for place in range(places)]
    start = "-B" + "A" * (places - 2)
    return Config({"name": "ring", "family": "jump", "start": start, "edges": edges})


def test_depths_beyond_254(tmp_path: Path) -> None:
    config = ring(24)
    report = run_puzzle(config, tmp_path / "t.zarr", RunOptions(workers=2))
    expected = jump_distances(dict(config.settings))
    assert report.manifest.radius == 276
    assert list(report.manifest.layers) == layers(expected) == [1, *[2] * 275, 1]
    assert report.manifest.dtype == "uint16"
    with open_table(tmp_path / "t.zarr") as table:
        assert {text: table.distance("".join(text)) for text in expected} == expected
        assert len(table.path(table.antipodes()[0])) == 277
    assert verify(tmp_path / "t.zarr", Threads(2)).ok


@pytest.mark.parametrize("length", [254, 255, 256])
def test_a_line_of_one_position_at_each_depth(length: int, tmp_path: Path) -> None:
    start = " ".join(["0"] + ["1"] * (length - 1))
    config = Config({"name": "line", "family": "sliding", "rows": 1, "columns": length, "start": start})
    report = run_puzzle(config, tmp_path / "t.zarr")
    assert list(report.manifest.layers) == [1] * length
    assert verify(tmp_path / "t.zarr", Threads(1)).ok
    with open_table(tmp_path / "t.zarr") as table:
        assert table.distance(table.antipodes()[0]) == length - 1


def test_depths_that_a_table_cannot_store_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The maximum is that of 16 bits; here it is smaller, so that a small table exceeds it."""
    assert layer_search.DEEPEST == 65_534
    monkeypatch.setattr(layer_search, "DEEPEST", 270)
    with pytest.raises(DepthLimitError, match="some positions are deeper than 270, the maximum depth of a table"):
        run_puzzle(ring(24), tmp_path / "t.zarr", RunOptions(workers=1))
    assert TableStore(tmp_path / "t.zarr").read().radius == 270


@pytest.mark.parametrize("manifest", [None, '{"a": 1}'])
def test_only_stores_are_overwritten(manifest: str | None, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    if manifest is not None:
        (tmp_path / "mine" / "commit.json").write_text(manifest)
    with pytest.raises(NotAStoreError, match="was not overwritten"):
        run_puzzle(load_config("eight-puzzle"), tmp_path / "mine", RunOptions(overwrite=True))
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_a_link_to_a_store_is_that_store(eight: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.zarr"
    link.symlink_to(eight)
    for _ in range(2):
        assert run_puzzle(load_config("eight-puzzle"), link, RunOptions(overwrite=True)).resumed_from is None
    assert link.is_symlink()
    assert verify(eight, Threads(1)).ok
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([eight.name, link.name])


def test_queries_of_a_replaced_table_are_an_error(eight: Path) -> None:
    with open_table(eight) as table:
        position = table.space.labels("8 6 7 2 5 4 3 0 1")
        run_puzzle(load_config("eight-puzzle"), eight, RunOptions(overwrite=True), interrupted=lambda: True)
        with pytest.raises(StoreError, match="replaced after it was opened"):
            table.distance(position)
        with pytest.raises(StoreError, match="replaced after it was opened"):
            table.antipodes()


class Unreachable(Threads):
    """A scheduler whose workers do not find the store."""

    def run_on_all_workers(self, call: Call) -> None:
        raise StoreError("worker tcp://h:1: cannot read the store")


def test_a_store_stays_if_a_worker_does_not_reach_it(tmp_path: Path) -> None:
    config, store = load_config("eight-puzzle"), tmp_path / "t.zarr"
    run_puzzle(config, store)
    before = contents(store)
    with pytest.raises(StoreError, match="cannot read the store"):
        run_puzzle(config, store, RunOptions(overwrite=True), scheduler=Unreachable(2))
    assert contents(store) == before
