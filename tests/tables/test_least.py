"""Tables of least distances over the regions of the blank."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles import ORACLES
from programs import Command
from stores import toml

from antipodes.config import Config
from antipodes.puzzles.families import puzzle_from
from antipodes.runs.options import RunOptions
from antipodes.tables import least
from antipodes.tables.patterns import load_patterns
from antipodes.tables.run import run_puzzle
from antipodes.tables.solve import answers
from antipodes.tables.table import open_table
from antipodes.tables.verify import verify
from antipodes_tasks.errors import ConfigError, InputError, StoreMismatchError
from antipodes_tasks.searches.deepening import ida_star
from antipodes_tasks.searches.problem import Problem

OPTIONS = RunOptions(workers=1)
THREE: dict[str, Any] = {"family": "sliding", "rows": 3, "columns": 3, "free": ["x"]}
EIGHT = {"name": "eight", "family": "sliding", "rows": 3, "columns": 3, "start": "1 2 3 4 5 6 7 8 0"}
LOW = {**THREE, "name": "low", "start": "1 2 3 4 x x x x 0"}
HIGH = {**THREE, "name": "high", "start": "x x x x 5 6 7 8 0"}
FOUR = {**THREE, "name": "four", "rows": 4, "columns": 4, "start": "0 1 2 3 4 5 x x x x x x x x x x"}


def with_least(settings: dict[str, Any]) -> Config:
    return Config({**settings, "least_over_regions": True})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of two patterns with regions, and with the least distances."""
    path = tmp_path_factory.mktemp("least")
    for settings in (LOW, HIGH):
        run_puzzle(Config(settings), path / f"{settings['name']}.zarr", OPTIONS)
        run_puzzle(with_least(settings), path / f"{settings['name']}-least.zarr", OPTIONS)
    return path


def test_entries_are_the_least_of_all_regions(folder: Path) -> None:
    with open_table(folder / "low.zarr") as whole, open_table(folder / "low-least.zarr") as table:
        assert table.layers == ORACLES["additive"]["3x3 goal 1 2 3 4 x x x x 0"]["least_over_regions"]
        assert (table.space.size, whole.space.size) == (3024, 5520)
        labels = whole.space.unrank(np.arange(whole.space.size))
        of_placement: dict[bytes, list[int]] = {}
        keys = [np.where(one == 0, whole.puzzle.symbols.index("x"), one).tobytes() for one in labels]
        for key, distance in zip(keys, whole.distances(labels).tolist(), strict=True):
            of_placement.setdefault(key, []).append(distance)
        assert table.distances(labels).tolist() == [min(of_placement[key]) for key in keys]
        assert [table.distance(one) for one in labels[::50]] == table.distances(labels[::50]).tolist()
        every = table.space.unrank(np.arange(table.space.size))
        assert np.array_equal(table.space.rank(every), np.arange(table.space.size))


def test_a_larger_board_has_the_layers_that_another_program_counts(tmp_path: Path) -> None:
    report = run_puzzle(with_least(FOUR), tmp_path / "four.zarr", OPTIONS)
    expected = ORACLES["additive"]["4x4 goal 0 1 2 3 4 5 x..."]["least_over_regions"]
    assert report.layers == [count for count in expected if count]
    assert [path.name for path in tmp_path.iterdir()] == ["four.zarr"]
    again = run_puzzle(with_least(FOUR), tmp_path / "four.zarr", OPTIONS)
    assert (again.complete, again.states_found, again.farthest.tolist()) == (True, 0, report.farthest.tolist())


def test_least_distances_may_leave_out_a_depth(tmp_path: Path, cli: Command) -> None:
    settings = {"name": "gap", "family": "sliding", "rows": 2, "columns": 2, "start": "0 x 3 3", "free": ["x"]}
    run_puzzle(with_least(settings), tmp_path / "gap.zarr", OPTIONS)
    with open_table(tmp_path / "gap.zarr") as table:
        assert table.layers == [1, 2, 2, 0, 1]
        assert table.positions_at(3).shape == table.sample(3, 0).shape == (0, 4)
        assert verify(tmp_path / "gap.zarr").ok
        with pytest.raises(InputError, match="expected a depth that some positions have, found 3"):
            table.random_position(3)
    assert cli("query", tmp_path / "gap.zarr", "--depth", 3).out == "None\n"


def test_an_interrupted_run_leaves_the_table_with_regions_and_resumes(tmp_path: Path) -> None:
    stopped = run_puzzle(with_least(LOW), tmp_path / "low.zarr", OPTIONS, interrupted=lambda: True)
    assert (stopped.complete, stopped.store) == (False, str(tmp_path / "low.regions.zarr"))
    assert run_puzzle(with_least(LOW), tmp_path / "low.zarr", OPTIONS).complete
    assert not (tmp_path / "low.regions.zarr").exists()


def test_a_finished_table_beside_it_is_folded_and_stays(tmp_path: Path) -> None:
    run_puzzle(Config(LOW), tmp_path / "low.regions.zarr", OPTIONS)
    report = run_puzzle(with_least(LOW), tmp_path / "low.zarr", OPTIONS)
    assert report.layers == ORACLES["additive"]["3x3 goal 1 2 3 4 x x x x 0"]["least_over_regions"]
    with open_table(tmp_path / "low.regions.zarr") as table:
        assert sum(table.layers) == 5520


def test_a_table_that_is_only_folded_says_so(cli: Command) -> None:
    Path("low.toml").write_text(toml({**LOW, "least_over_regions": True}))
    run_puzzle(Config(LOW), Path("low.regions.zarr"), OPTIONS)
    told = cli("run", "low.toml", "--store", "low.zarr", "--quiet").out
    assert "s: folded from the table with regions, which was finished before, writing" in told
    assert "earlier runs" not in told


def test_plans_say_what_is_folded(cli: Command) -> None:
    Path("least.toml").write_text(toml({**LOW, "least_over_regions": True}))
    planned = cli("plan", "least.toml").out
    assert "low: 5,520 positions" in planned
    assert "folded       to 3,024 entries" in planned


def test_verify_makes_the_table_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verify(folder / "low-least.zarr").ok
    right = least.folded

    def wrong(*arguments: Any) -> Any:
        depths = right(*arguments)
        depths[70, 3] += 1
        return depths

    with monkeypatch.context() as patch:
        patch.setattr(least, "folded", wrong)
        run_puzzle(with_least(LOW), tmp_path / "wrong.zarr", OPTIONS)
    verdict = verify(tmp_path / "wrong.zarr")
    assert not verdict.ok
    assert any(problem.startswith("1 x not the least distance over regions: ") for problem in verdict.problems)


def test_searches_take_them_for_tables_with_regions(folder: Path) -> None:
    puzzle = puzzle_from(EIGHT)
    whole = load_patterns(puzzle.rules, None, [folder / "low.zarr", folder / "high.zarr"])
    found = load_patterns(puzzle.rules, None, [folder / "low-least.zarr", folder / "high-least.zarr"])
    far = puzzle.parse("8 6 7 2 5 4 3 0 1")
    walk = [far]
    for number in range(40):
        after = puzzle.successors(walk[-1])
        walk.append(after[number % len(after)])
    estimates, more = found.estimates(np.array(walk)), whole.estimates(np.array(walk))
    assert (estimates <= more).all()
    assert (estimates < more).any()
    for position in walk[:3]:
        problem = Problem.of(puzzle.rules, position)
        assert ida_star(problem, heuristic=found).distance == ida_star(problem, heuristic=whole).distance


def test_no_paths_lead_along_least_distances(folder: Path) -> None:
    rules = Config(LOW).puzzle.rules
    problem = Problem.of(rules, rules.successors(rules.first)[0])
    assert answers(folder / "low.zarr", problem)
    assert not answers(folder / "low-least.zarr", problem)
    with (
        open_table(folder / "low-least.zarr") as table,
        pytest.raises(InputError, match="found the least over regions of the blank"),
    ):
        table.path("1 2 3 0 4 x x x x")


def test_what_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a run that makes a table, found counts_only=True"):
        run_puzzle(with_least(LOW), tmp_path / "counts.zarr", RunOptions(counts_only=True))
    with pytest.raises(InputError, match='expected a table that is not reduced, found symmetry="on"'):
        run_puzzle(with_least(LOW), tmp_path / "reduced.zarr", RunOptions(symmetry="on"))
    with pytest.raises(StoreMismatchError, match="holds the table with regions"):
        run_puzzle(with_least(LOW), folder / "low.zarr", OPTIONS)
    with pytest.raises(StoreMismatchError, match="holds the least distances over regions"):
        run_puzzle(Config(LOW), folder / "low-least.zarr", OPTIONS)
    with pytest.raises(ConfigError, match="least_over_regions: expected `free` tiles"):
        puzzle_from({**EIGHT, "least_over_regions": True})
    with pytest.raises(ConfigError, match="least_over_regions: expected"):
        puzzle_from({**LOW, "least_over_regions": "yes"})
