import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import as_list, distances, jump_distances, layers, sliding_distances
from hypothesis import given, settings
from oracles import ORACLES
from stores import contents
from strategies import puzzle_settings

from antipodes.config import Config, load_config
from antipodes.errors import (
    DepthLimitError,
    InputError,
    NotAStoreError,
    ResourceLimitError,
    StoreError,
    StoreMismatchError,
)
from antipodes.executors.api import Call
from antipodes.executors.threads import Threads
from antipodes.puzzles.families import puzzle_from
from antipodes.sizes import memory_size
from antipodes.tables.plan import plan_run
from antipodes.tables.run import RunOptions, RunReport, resume, run_puzzle
from antipodes.tables.store import TableStore
from antipodes.tables.table import Table, open_table
from antipodes.tables.verify import verify

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


def test_ways_of_running_leave_the_same_bytes(tmp_path: Path) -> None:
    config = load_config("five-tiles")
    lean = plan_run(config.puzzle, 2).memory_bytes - 1
    assert not plan_run(config.puzzle, 2, lean).hold_depths
    stores = []
    for number, options in enumerate(
        [
            RunOptions(workers=1),
            RunOptions(workers=2),
            RunOptions(workers=5),
            RunOptions(workers=2, checkpoint_every=0),
            RunOptions(workers=2, memory_limit=lean),
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
    way = table.path(text)
    assert table.puzzle.format(way[0]) == text
    assert way[-1].tolist() in table.puzzle.start_labels.tolist()
    assert len(way) == distance + 1
    for after, before in pairwise(way):
        assert (table.puzzle.successors(before) == after).all(axis=1).any()


@settings(deadline=None, max_examples=60)
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


def ring(places: int) -> Config:
    """One marked piece among equal ones on a ring: a single cycle of places * (places - 1) positions."""
    edges = [[place, (place + 1) % places] for place in range(places)]
    start = "-B" + "A" * (places - 2)
    return Config({"name": "ring", "family": "jump", "start": start, "edges": edges})


@pytest.mark.parametrize("checkpoint_every", [0, 1000])
def test_depths_beyond_254(checkpoint_every: float, tmp_path: Path) -> None:
    config = ring(24)
    report = run_puzzle(config, tmp_path / "t.zarr", RunOptions(workers=2, checkpoint_every=checkpoint_every))
    expected = jump_distances(dict(config.settings))
    assert report.manifest.radius == 276
    assert list(report.manifest.layers) == layers(expected) == [1, *[2] * 275, 1]
    assert report.manifest.dtype == "uint16"
    with open_table(tmp_path / "t.zarr") as table:
        assert {text: table.distance("".join(text)) for text in expected} == expected
        assert len(table.path(table.antipodes()[0])) == 277
    assert verify(tmp_path / "t.zarr", Threads(2)).ok


def test_a_line_of_300(tmp_path: Path) -> None:
    start = " ".join(["0"] + ["1"] * 299)
    config = Config({"name": "line", "family": "sliding", "rows": 1, "columns": 300, "start": start})
    report = run_puzzle(config, tmp_path / "t.zarr")
    assert list(report.manifest.layers) == [1] * 300


@pytest.mark.parametrize("length", [254, 255, 256, 257])
def test_radii_about_the_greatest_byte(length: int, tmp_path: Path) -> None:
    start = " ".join(["0"] + ["1"] * (length - 1))
    config = Config({"name": "line", "family": "sliding", "rows": 1, "columns": length, "start": start})
    report = run_puzzle(config, tmp_path / "t.zarr")
    assert list(report.manifest.layers) == [1] * length
    assert verify(tmp_path / "t.zarr", Threads(1)).ok
    with open_table(tmp_path / "t.zarr") as table:
        assert table.distance(table.antipodes()[0]) == length - 1


@pytest.mark.slow
def test_depths_beyond_16_bits_raise_rather_than_wrap(tmp_path: Path) -> None:
    config = ring(363)
    with pytest.raises(DepthLimitError, match="65,534"):
        run_puzzle(config, tmp_path / "t.zarr", RunOptions(workers=1))
    assert TableStore(tmp_path / "t.zarr").read().radius == 65534


def test_several_starts(tmp_path: Path) -> None:
    starts = ["1 2 3 4 5 0", "0 1 2 3 4 5", "5 4 3 2 1 0"]
    table = {"name": "three", "family": "sliding", "rows": 2, "columns": 3, "start": starts}
    report = run_puzzle(Config(table), tmp_path / "t.zarr")
    assert list(report.manifest.layers) == layers(sliding_distances(table))
    assert report.manifest.layers[0] == len(as_list(table["start"]))


def test_continued_as_often_as_one_likes(tmp_path: Path) -> None:
    config = load_config("eight-puzzle")
    run_puzzle(config, tmp_path / "whole.zarr")
    reports: list[RunReport] = []
    while not reports or not reports[-1].complete:
        asked = iter([False, True])
        reports.append(
            run_puzzle(config, tmp_path / "parts.zarr", interrupted=lambda asked=asked: next(asked))  # type: ignore[misc]
        )
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


def test_overwrite(eight: Path) -> None:
    report = run_puzzle(load_config("knights-coloured"), eight, RunOptions(overwrite=True))
    assert report.manifest.radius == 22
    assert report.resumed_from is None


def test_a_finished_table_is_reported_whatever_the_memory(eight: Path) -> None:
    report = run_puzzle(load_config("eight-puzzle"), eight, RunOptions(memory_limit=1))
    assert report.complete
    assert report.manifest.radius == 31


def test_overwrite_spares_a_directory_that_only_looks_like_a_store(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "commit.json").write_text('{"a": 1}')
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(NotAStoreError, match="not overwritten"):
        run_puzzle(load_config("eight-puzzle"), tmp_path / "mine", RunOptions(overwrite=True))
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_a_link_to_a_store_is_that_store(eight: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.zarr"
    link.symlink_to(eight)
    for _ in range(2):
        assert run_puzzle(load_config("eight-puzzle"), link, RunOptions(overwrite=True)).resumed_from is None
    assert link.is_symlink()
    assert verify(eight, Threads(1)).ok
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([eight.name, link.name])


def test_a_table_that_is_replaced_while_it_is_open_says_so(eight: Path) -> None:
    with open_table(eight) as table:
        position = table.space.labels("8 6 7 2 5 4 3 0 1")
        run_puzzle(load_config("eight-puzzle"), eight, RunOptions(overwrite=True), interrupted=lambda: True)
        with pytest.raises(StoreError, match="replaced after it was opened"):
            table.distance(position)
        with pytest.raises(StoreError, match="replaced after it was opened"):
            table.antipodes()


def test_overwrite_takes_no_directory_for_a_store(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("dear")
    with pytest.raises(NotAStoreError):
        run_puzzle(load_config("eight-puzzle"), tmp_path / "thesis", RunOptions(overwrite=True))
    assert (tmp_path / "thesis" / "chapter1.tex").read_text() == "dear"


def test_refused_for_memory_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ResourceLimitError, match=r"1.0 MiB.*362,880 positions"):
        run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", RunOptions(memory_limit=1 << 20))
    assert not (tmp_path / "t.zarr").exists()


@pytest.mark.parametrize(
    ("text", "size"),
    [("800MB", 800_000_000), ("1.5 GiB", 3 << 29), ("2GiB", 2 << 30), (1000, 1000), ("1e6", 1_000_000), ("1kB", 1000)],
)
def test_memory_size(text: str | int, size: int) -> None:
    assert memory_size(text) == size


@pytest.mark.parametrize("text", ["much", "-5GB", "0", 0, -1, "1e400", "5 parsecs", "1.2.3", "nan", "inf", "GB GB"])
def test_no_memory_sizes(text: str | int) -> None:
    with pytest.raises(InputError, match="memory limit"):
        memory_size(text)


def test_the_brute_force_is_right() -> None:
    assert distances([(0,)], lambda here: [(here[0] + 1,)] if here[0] < 3 else []) == {(n,): n for n in range(4)}  # type: ignore[arg-type,list-item,operator]
    assert puzzle_from(dict(ring(4).settings)).places == 4


class Unreachable(Threads):
    """Workers that do not find the store."""

    def run_on_all_workers(self, call: Call) -> None:
        raise StoreError("worker tcp://h:1: cannot read the store")


def test_a_table_is_not_overwritten_for_workers_that_do_not_reach_it(tmp_path: Path) -> None:
    config, store = load_config("eight-puzzle"), tmp_path / "t.zarr"
    run_puzzle(config, store)
    before = contents(store)
    with pytest.raises(StoreError, match="cannot read the store"):
        run_puzzle(config, store, RunOptions(overwrite=True), scheduler=Unreachable(2))
    assert contents(store) == before
