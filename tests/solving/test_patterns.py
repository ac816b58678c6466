"""Tables of patterns as a heuristic: bounds, lengths, and what is refused."""

import csv
import functools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import sliding_distances
from programs import Command
from project import ROOT
from stores import toml

import antipodes as ap
from antipodes.puzzles.config import Config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving import table_cache as loading
from antipodes.solving.pattern_heuristic import load_patterns
from antipodes.storage.chunk_digests import ChunkDigests
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import open_table
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError, StoreDamagedError, UnfinishedError
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.searches import deepening
from antipodes_tasks.searches.breadth_first import bfs
from antipodes_tasks.searches.deepening import ida_star
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.sliding_pdb import PatternTable, SlidingPatterns
from antipodes_tasks.searches.sliding_rows import SwapRows
from antipodes_tasks.spaces.regions import Regions

EIGHT = "1 2 3 4 5 6 7 8 0"
WIDE = "0 1 2 3 4 5 6 7"


def settings(start: str, columns: int, free: str = "", **more: Any) -> dict[str, Any]:
    """The board of a start, with the tiles that are not in a pattern free."""
    rows = len(start.split()) // columns
    table = {"name": f"of-{free or 'all'}", "family": "sliding", "rows": rows, "columns": columns, "start": start}
    return {**table, **({"free": ["x"]} if free else {}), **more}


def pattern(start: str, columns: int, tiles: str) -> dict[str, Any]:
    """The pattern of some tiles; after ``=`` the moves of the others count, too."""
    kept = " ".join(symbol if symbol in ("0", "#", *tiles) else "x" for symbol in start.split())
    return settings(kept, columns, name=f"all-of-{tiles[1:]}") if tiles[0] == "=" else settings(kept, columns, tiles)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def stores(folder: Path, start: str, columns: int, tiles: Sequence[str]) -> list[Path]:
    """The tables of patterns; each is made once."""
    found = []
    for own in tiles:
        path = folder / f"{start.replace(' ', '').replace('#', '-')}-{own}.zarr"
        if not path.exists():
            run_puzzle(Config(pattern(start, columns, own)), path, RunOptions(workers=1))
        found.append(path)
    return found


def heuristic(folder: Path, puzzle: Puzzle, tiles: Sequence[str]) -> SlidingPatterns:
    start = puzzle.format(puzzle.start_labels[0])
    found = load_patterns(puzzle.rules, None, stores(folder, start, puzzle.board.columns, tiles))
    assert isinstance(found, SlidingPatterns)
    return found


def values_of(puzzle: Puzzle, store: Path) -> Any:
    """The distances of a table as they are in memory; a copy, because a test may change the file that has them."""
    found = load_patterns(puzzle.rules, None, [store])
    assert isinstance(found, SlidingPatterns)
    return found.views[0].table.values.copy()


@pytest.fixture(scope="module")
def eights(finished: Path) -> tuple[Labels, Numbers]:
    """Every 20th position of the eight-puzzle, the nearest first, and the distances by its table."""
    with open_table(finished) as table:
        labels = np.concatenate([table.positions_at(depth) for depth in range(table.radius + 1)])[::20]
        return labels, table.distances(labels)


def some_of(eights: tuple[Labels, Numbers]) -> dict[str, int]:
    """Ten positions with their distances, the nearest first."""
    labels, distances = (one[::1000].tolist() for one in eights)
    return {" ".join(map(str, one)): distance for one, distance in zip(labels, distances, strict=True)}


@functools.cache
def positions_of(start: str, columns: int) -> tuple[Labels, Numbers]:
    """All positions, and their distances by brute force."""
    distances = sliding_distances(settings(start, columns))
    labels = puzzle_from(settings(start, columns)).parse_many([" ".join(position) for position in distances])
    return labels, np.array(list(distances.values()))


@pytest.mark.parametrize(
    ("start", "columns", "tiles", "sums"),
    [
        (EIGHT, 3, ["1234", "3456", "78"], 4),
        ("1 1 2 2 0 1 3 3 3", 3, ["12", "3"], 1),
        (WIDE, 4, ["=123", "1234", "567"], 2),
        ("1 1 2 2 0 1 3 3 3", 3, ["=12", "1", "2"], 2),
    ],
)
def test_bounds_are_admissible_and_consistent_and_lead_to_shortest_paths(
    start: str, columns: int, tiles: list[str], sums: int, folder: Path, eights: tuple[Labels, Numbers]
) -> None:
    puzzle = puzzle_from(settings(start, columns))
    labels, depths = eights if start == EIGHT else positions_of(start, columns)
    after = puzzle.successors_many(labels)
    found = heuristic(folder, puzzle, tiles)
    assert len(found.sums) == sums
    bounds = found.estimates(labels)
    assert (bounds <= depths).all()
    assert (bounds[depths == 0] == 0).all()
    steps = np.abs(found.estimates(after.positions[after.legal]) - np.repeat(bounds, after.legal.sum(axis=1)))
    assert steps.max() == 1
    plain = sum(found.costs[labels[:, place], place] for place in range(puzzle.places))
    assert bounds.mean() > np.mean(plain)
    some = np.random.default_rng(0).choice(len(labels), 20, replace=False)
    for labels_of_one, distance in zip(labels[some], depths[some].tolist(), strict=True):
        assert found.estimate(labels_of_one) == found.estimates(labels_of_one[np.newaxis])[0]
        answer = ida_star(Problem.of(puzzle.rules, labels_of_one), heuristic=found)
        assert answer.distance == distance
        assert len(answer.solutions[0]) == distance + 1


def test_tables_reduced_by_symmetries_say_the_same(folder: Path, tmp_path: Path) -> None:
    start = "0 1 2 3 4 5 6 7 8"
    puzzle = puzzle_from(settings(start, 3))
    (whole,) = stores(folder, start, 3, ["=48"])
    run_puzzle(Config(pattern(start, 3, "=48")), tmp_path / "one.zarr", RunOptions(workers=1, symmetry="on"))
    assert TableStore(tmp_path / "one.zarr").read().symmetry == 2
    tables = (whole, tmp_path / "one.zarr")
    assert np.array_equal(*(values_of(puzzle, table) for table in tables))
    problem = Problem.of(puzzle.rules, puzzle.parse("8 6 7 2 5 4 3 0 1"))
    answers = [ida_star(problem, heuristic=load_patterns(puzzle.rules, None, [table])) for table in tables]
    assert answers[0].distance == answers[1].distance == bfs(problem).distance


def test_a_position_that_a_table_does_not_reach_is_unreachable_without_a_search(tmp_path: Path) -> None:
    rooms = {"walls": [[2, 5], [1, 4], [0, 3]]}  # 1 2 3 above stay where they are
    puzzle = puzzle_from(settings("1 2 3 4 5 6 7 8 0", 3, **rooms))
    store = tmp_path / "one.zarr"
    run_puzzle(Config(settings("1 2 3 x x x x x 0", 3, "123", **rooms)), store, RunOptions(workers=1))
    found = load_patterns(puzzle.rules, None, [store])
    position = puzzle.parse("2 3 1 4 5 6 7 8 0")
    assert found.estimate(position) == found.estimates(position[np.newaxis])[0] == UNREACHABLE_COST
    answer = ida_star(Problem.of(puzzle.rules, position), heuristic=found)
    assert (str(answer.outcome), answer.expanded) == ("unreachable", 0)


@pytest.mark.slow
def test_tables_of_many_columns_have_wide_moves_and_column_maps(folder: Path) -> None:
    def arrays(start: str, columns: int, tiles: str) -> Any:
        """The moves in a heuristic with one table, whose values are not needed."""
        rules = puzzle_from(settings(start, columns)).rules
        own = puzzle_from(pattern(start, columns, tiles)).rules
        numbering = Regions.of(own)
        label_of = np.arange(len(rules.symbols), dtype=np.uint8).clip(0, len(tiles) + 1)
        table = PatternTable("one", SwapRows(own, numbering), label_of)
        costs = np.zeros((len(rules.symbols), rules.places), np.int64)
        return numbering, SlidingPatterns.of(rules, rules.start_labels[0], [table], costs).arrays

    numbering, wide = arrays("0 1 2 3 4 5 6 7 8 9 a b c d e f", 4, "123456789")
    _, rows, width = numbering.radices
    assert rows * width > 1 << 32
    assert (wide.moves.dtype, wide.maps.dtype, wide.maps.max()) == (np.uint64, np.uint32, width - 1)
    assert np.array_equal(np.unique(wide.moves >> wide.bits), np.arange(rows))
    _, narrow = arrays(WIDE, 4, "123")
    assert (narrow.moves.dtype, narrow.maps.dtype) == (np.uint32, np.uint16)


@pytest.mark.slow
def test_wide_moves_lead_to_the_same_paths(folder: Path) -> None:
    puzzle = puzzle_from(settings(EIGHT, 3))
    found = heuristic(folder, puzzle, ["1234", "5678"])
    problem = Problem.of(puzzle.rules, puzzle.parse("8 6 7 2 5 4 3 0 1"))
    narrow = ida_star(problem, every=True, heuristic=found)
    arrays = found.arrays
    vars(found)["arrays"] = arrays._replace(moves=arrays.moves.astype(np.uint64), maps=arrays.maps.astype(np.uint32))
    wide = ida_star(problem, every=True, heuristic=found)
    assert wide.solution_count == narrow.solution_count > 1
    assert (wide.expanded, wide.generated) == (narrow.expanded, narrow.generated)


def test_tables_that_do_not_fit_are_refused(folder: Path, tmp_path: Path) -> None:
    puzzle = puzzle_from(settings(EIGHT, 3))
    problem = Problem.of(puzzle.rules, puzzle.parse("1 2 3 4 5 6 7 0 8"))
    refused: dict[str, dict[str, Any]] = {
        r"of-1234 has the wrong goal for this search: expected 1 2 3 4 0 x x x x, found 0 1 2 3 4 x x x x": pattern(
            "0 1 2 3 4 5 6 7 8", 3, "1234"
        ),
        r"the pattern table of-123 is not for the board of of-all": pattern("1 2 3 0 4 5", 3, "123"),
        r"the number of tiles named 1 is 2 in of-1, but 1 in of-all": settings("1 1 x x x x x x 0", 3, "1"),
        r"the number of tiles named 9 is 1 in of-9, but 0 in of-all": settings("9 x x x x x x x 0", 3, "9"),
        r"equal is not a pattern of of-all": settings("0 1 1 1 x x x x x", 3, name="equal"),
        r"stack in .* cannot be used as a pattern table": {
            "name": "stack",
            "family": "pancake",
            "n": 4,
        },
    }
    for number, (message, table) in enumerate(refused.items()):
        run_puzzle(Config(table), tmp_path / f"{number}.zarr", RunOptions(workers=1))
        with pytest.raises(InputError, match=message):
            load_patterns(problem.rules, None, [tmp_path / f"{number}.zarr"])
    begun = tmp_path / "begun.zarr"
    run_puzzle(Config(pattern(EIGHT, 3, "12")), begun, RunOptions(workers=1), interrupted=lambda: True)
    with pytest.raises(UnfinishedError, match=r"begun.zarr is unfinished; resume with: antipodes resume"):
        load_patterns(problem.rules, None, [begun])
    goals = puzzle.parse_many([EIGHT, "0 1 2 3 4 5 6 7 8"])
    fitting = stores(folder, EIGHT, 3, ["1234"])
    with pytest.raises(InputError, match=r"pattern tables need a puzzle with one goal; .* has 2"):
        load_patterns(puzzle.rules, goals, fitting)
    blanks = puzzle_from(settings("1 0 0 2", 2))
    with pytest.raises(
        InputError, match="pattern tables need a sliding puzzle with one blank, but of-all is not such a puzzle"
    ):
        load_patterns(blanks.rules, None, fitting)
    with pytest.raises(InputError, match="no pattern tables given; name at least one with tables"):
        load_patterns(puzzle.rules, None, [])
    found = load_patterns(problem.rules, None, fitting)
    with pytest.raises(
        InputError,
        match="the heuristic is for the goal 1 2 3 4 5 6 7 8 0, but the problem has the goal 1 2 3 4 5 6 0 7 8",
    ):
        ida_star(Problem.of(puzzle.rules, puzzle.parse(EIGHT), puzzle.parse("1 2 3 4 5 6 0 7 8")), heuristic=found)
    other = puzzle_from(settings("1 2 3 0", 2, name="other"))
    with pytest.raises(InputError, match="the heuristic belongs to of-all, not to other"):
        ida_star(Problem.of(other.rules, other.start_labels[0]), heuristic=found)


def test_depths_are_cached_and_a_damaged_cache_or_store_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(loading, "LEAST_CACHED", 1)
    puzzle = puzzle_from(settings(EIGHT, 3))
    store = tmp_path / "one.zarr"
    run_puzzle(Config(pattern(EIGHT, 3, "1234")), store, RunOptions(workers=1))
    first = values_of(puzzle, store)
    (cached,) = (tmp_path / "cache").rglob("*.depths")
    chunk = next(path for path in (store / "depth" / "c").rglob("*") if path.is_file())
    intact = chunk.read_bytes()
    chunk.write_bytes(b"nothing")
    assert np.array_equal(values_of(puzzle, store), first)  # from the cache
    content = bytearray(cached.read_bytes())
    content[17] ^= 1
    for damaged in (bytes(content), bytes(content[:-9]), b""):
        cached.write_bytes(damaged)
        with pytest.raises(StoreDamagedError, match=f"chunk .*{chunk.parent.name}/{chunk.name} is corrupt"):
            load_patterns(puzzle.rules, None, [store])
        chunk.write_bytes(intact)
        assert np.array_equal(values_of(puzzle, store), first)
        chunk.write_bytes(b"nothing")


def test_a_chunk_that_the_manifest_does_not_have_is_unreached(folder: Path) -> None:
    (address,) = stores(folder, EIGHT, 3, ["1234"])
    store = TableStore(address)
    manifest = store.read()
    assert np.array_equal(store.read_chunks(manifest, 0, 1), store.read_chunk(manifest, 0))
    never = replace(manifest, chunks=ChunkDigests(0, np.zeros_like(manifest.chunks.digests)))
    assert (store.read_chunks(never, 0, 1) == manifest.unreached).all()


def test_solve_names_the_tables_and_counts_what_it_looked_at(cli: Command, folder: Path) -> None:
    Path("eight.toml").write_text(toml(settings(EIGHT, 3)))
    options = [option for store in stores(folder, EIGHT, 3, ["1234", "5678"]) for option in ("--tables", store)]
    position = ["8", "6", "7", "2", "5", "4", "3", "0", "1"]
    shown = json.loads(cli("solve", "eight.toml", *position, *options, "--json", "--quiet").out)
    assert (shown["method"], shown["distance"], shown["heuristic"]) == (
        "ida-star",
        31,
        "of-1234 + of-5678, greatest of 2",
    )
    assert 21 < shown["estimate"] <= 31
    assert shown["generated"] > shown["expanded"] > 0
    text = cli("solve", "eight.toml", *position, *options, "--quiet").out
    assert f"ida-star with of-1234 + of-5678, greatest of 2, {shown['estimate']} at the position: " in text
    unfit = cli("solve", "eight.toml", *position, *options, "--method", "bfs")
    assert unfit.status == 2
    assert "--tables cannot be combined with --method bfs; pattern tables are a heuristic of ida-star" in unfit.err


@pytest.mark.slow
def test_a_batch_is_solved_in_order_and_goes_on_where_it_ended(
    cli: Command, folder: Path, eights: tuple[Labels, Numbers]
) -> None:
    Path("eight.toml").write_text(toml(settings(EIGHT, 3)))
    some = some_of(eights)
    Path("some.txt").write_text("\n\n".join(some))
    options = [option for store in stores(folder, EIGHT, 3, ["1234", "5678"]) for option in ("--tables", store)]
    command = ("solve", "eight.toml", "--batch", "some.txt", *options)
    rows = list(csv.DictReader(cli(*command).out.splitlines()))
    assert {row["position"]: int(row["distance"]) for row in rows} == some
    assert all(len(row["moves"].split()) == int(row["distance"]) for row in rows)
    listed = json.loads(cli(*command, "--json").out)
    assert [one["distance"] for one in listed] == [int(row["distance"]) for row in rows]
    assert cli(*command, "--output", "out.csv").out == ""
    whole = Path("out.csv").read_text().splitlines()
    Path("out.csv").write_text("\n".join(whole[:5]) + "\n")
    cli(*command, "--output", "out.csv")
    again = Path("out.csv").read_text().splitlines()
    assert again[:5] == whole[:5]
    assert [row.split(",")[:3] for row in again] == [row.split(",")[:3] for row in whole]
    for kept in (10, 75, 120, len(whole[0]) + len(whole[1]) + 9):  # killed while it wrote
        Path("out.csv").write_text("\n".join(whole)[:kept])
        cli(*command, "--output", "out.csv")
        again = Path("out.csv").read_text().splitlines()
        assert [row.split(",")[:3] for row in again] == [row.split(",")[:3] for row in whole]
    Path("other.txt").write_text(list(some)[-1])
    Path("bad.csv").write_text(EIGHT)
    for batch, output, message in (
        ("other.txt", "out.csv", " answers, but other.txt has 1 position"),
        ("some.txt", "bad.csv", "expected the columns position, distance"),
    ):
        refused = cli("solve", "eight.toml", "--batch", batch, "--output", output)
        assert refused.status == 2
        assert message in refused.err


def test_a_batch_that_begins_with_an_unreachable_position_is_solved(cli: Command, folder: Path) -> None:
    Path("eight.toml").write_text(toml(settings(EIGHT, 3)))
    Path("some.txt").write_text("2 1 3 4 5 6 7 8 0\n8 6 7 2 5 4 3 0 1\n")
    (store,) = stores(folder, EIGHT, 3, ["1234"])
    for goal in ((), ("--to", EIGHT)):
        batch = cli("solve", "eight.toml", "--batch", "some.txt", "--tables", store, "--json", *goal)
        assert [one["distance"] for one in json.loads(batch.out)] == [None, 31]
    python = ap.load_patterns(Config(settings("2 1 3 4 5 6 7 8 0", 3)), [store], EIGHT)
    assert python.estimate(np.array([1, 2, 3, 4, 5, 6, 7, 0, 8], dtype=np.uint8)) == 1


def test_many_positions_in_python(folder: Path, eights: tuple[Labels, Numbers]) -> None:
    config = Config(settings(EIGHT, 3))
    found = ap.load_patterns(config, [str(store) for store in stores(folder, EIGHT, 3, ["1234", "5678"])])
    some = some_of(eights)
    for unfit, message in (([], "no pattern tables given"), ("one.zarr", "expected a list of tables, found 'one")):
        with pytest.raises(InputError, match=message):
            ap.load_patterns(config, unfit)
    answers = list(ap.solve_many(config, list(some), heuristic=found, threads=3))
    assert [answer.distance for answer in answers] == list(some.values())
    one = ap.solve(config, list(some)[-1], heuristic=found)
    assert (one.method, one.distance) == ("ida-star", list(some.values())[-1])
    assert list(ap.solve_many(config, [], heuristic=found)) == []
    stopped = ap.solve_many(config, list(some), heuristic=found)
    next(stopped)
    stopped.close()  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="expected threads"):
        list(ap.solve_many(config, list(some), threads=0))


@pytest.mark.slow
def test_korfs_positions_have_the_published_lengths(tmp_path: Path) -> None:
    """R. E. Korf, Depth-first iterative-deepening (1985): the first twenty, with tables of five tiles each."""
    start = " ".join(map(str, range(16)))
    puzzle = puzzle_from(settings(start, 4))
    paths = []
    for number, own in enumerate((range(1, 6), range(6, 11), range(11, 16))):
        kept = " ".join(str(tile) if tile == 0 or tile in own else "x" for tile in range(16))
        paths.append(tmp_path / f"{number}.zarr")
        run_puzzle(Config(settings(kept, 4, f"pattern-{number}")), paths[-1], RunOptions(workers=2))
    with (ROOT / "tests" / "support" / "samples" / "korf100.csv").open() as file:
        rows = list(csv.DictReader(file))[:20]
    problems = [Problem.of(puzzle.rules, puzzle.parse(row["tiles"])) for row in rows]
    found = load_patterns(puzzle.rules, None, paths)
    assert [ida_star(one, heuristic=found).distance for one in problems] == [int(row["optimal_length"]) for row in rows]


@pytest.mark.parametrize(("every", "threads"), [(False, 1), (False, 3), (True, 2)])
def test_threads_find_what_one_finds(every: bool, threads: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deepening, "SHARED_DESCENT_SECONDS", -1.0)  # each depth takes long
    puzzle = puzzle_from(settings(EIGHT, 3))
    found = heuristic(folder, puzzle, ["1234"])
    for text in ("8 6 7 2 5 4 3 0 1", "6 4 7 8 5 0 3 2 1", "1 2 3 4 5 6 7 0 8"):
        problem = Problem.of(puzzle.rules, puzzle.parse(text))
        alone = ida_star(problem, every=every, heuristic=found)
        together = ida_star(problem, every=every, heuristic=found, threads=threads)
        assert together.distance == alone.distance
        assert together.solution_count == alone.solution_count
        paths, others = ({path.tobytes() for path in answer.solutions} for answer in (alone, together))
        assert paths == others
        if every:
            assert (together.expanded, together.generated) == (alone.expanded, alone.generated)
