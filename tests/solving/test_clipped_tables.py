"""Tables with two bits per entry, which merge short distances, and searches that use them far from the goal."""

from pathlib import Path

import numpy as np
import pytest

from antipodes.puzzles.abstraction import Abstraction, pattern_settings
from antipodes.puzzles.config import Config, load_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving import pattern_heuristic, table_cache
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import Table, open_table
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches import deepening
from antipodes_tasks.searches.deepening import ida_star
from antipodes_tasks.searches.packed import BYTES, HALVES, Encoding
from antipodes_tasks.searches.permutation_pdb import PermutationPatterns
from antipodes_tasks.searches.problem import Problem

PUZZLE = "pyraminx"


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 1000])
@pytest.mark.parametrize("encoding", [BYTES, HALVES, Encoding(2, 1), Encoding(2, 9)])
def test_values_are_decoded_as_they_were_encoded_or_clipped(encoding: Encoding, count: int) -> None:
    largest = 13 if encoding != BYTES else 254
    distances = np.random.default_rng(count).integers(0, largest, size=count, endpoint=True).astype(np.uint8)
    values = encoding.encode(distances)
    assert len(values) == encoding.size(count)
    found = encoding.decode(values, np.arange(count))
    if not encoding.clipped:
        assert np.array_equal(found, distances)
        return
    base = encoding.base
    assert np.array_equal(found, np.where(distances <= base, 0, np.minimum(distances, base + 3)))


def test_unreachable_entries_have_the_largest_value() -> None:
    unreached = np.array([255, 3, 255], dtype=np.uint8)
    for encoding in (BYTES, HALVES):
        assert encoding.decode(encoding.encode(unreached), np.arange(3)).tolist() == [encoding.mask, 3, encoding.mask]


@pytest.fixture(scope="module")
def puzzle() -> Puzzle:
    return load_config(PUZZLE).puzzle


@pytest.fixture(scope="module")
def tables(puzzle: Puzzle, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The table of the edges, and the table of the whole puzzle, both reduced by symmetries."""
    folder = tmp_path_factory.mktemp("clipped")
    edges = Config(pattern_settings(puzzle, Abstraction(omit=["AXIALS"])))
    found = list[Path]()
    for config in (edges, load_config(PUZZLE)):
        found.append(folder / f"{config.puzzle.name}.zarr")
        run_puzzle(config, found[-1], RunOptions(symmetry="on"))
    return found


@pytest.fixture(scope="module")
def whole(tables: list[Path]) -> Table:
    return open_table(tables[1])


def sampled(table: Table, each: int) -> Labels:
    """Random positions of every depth."""
    return np.concatenate([table.sample(depth, min(each, count), seed=0) for depth, count in enumerate(table.layers)])


@pytest.fixture
def clipped(puzzle: Puzzle, tables: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PermutationPatterns:
    """The heuristic of both tables, with two bits per entry of the whole puzzle's table."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(table_cache, "LEAST_CACHED", 1)
    monkeypatch.setattr(pattern_heuristic, "MAX_EXACT_ENTRIES", TableStore(tables[0]).read().index_size + 1)
    pattern_heuristic.load_patterns(puzzle.rules, None, tables)  # fills the cache
    found = pattern_heuristic.load_patterns(puzzle.rules, None, tables)
    assert isinstance(found, PermutationPatterns)
    assert [view.table.encoding.clipped for view in found.views] == [False] * found.exact + [True]
    return found


def test_clipped_bounds_are_admissible(clipped: PermutationPatterns, whole: Table) -> None:
    labels = sampled(whole, 50)
    distances, base = whole.distances(labels), clipped.views[-1].table.encoding.base
    assert 1 < base < whole.radius - 2
    assert np.array_equal(clipped.look_up(labels)[-1], np.where(distances <= base, 0, np.minimum(distances, base + 3)))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("prepared", [False, True])
def test_searches_find_shortest_paths(
    clipped: PermutationPatterns,
    puzzle: Puzzle,
    tables: list[Path],
    whole: Table,
    prepared: bool,
    every: bool,
    threads: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deepening, "PREPARE_AFTER_SECONDS", 0.0 if prepared else np.inf)
    monkeypatch.setattr(deepening, "SHARED_DESCENT_SECONDS", 0.0)
    exact = pattern_heuristic.load_patterns(puzzle.rules, None, tables[:1])
    labels = np.concatenate([sampled(whole, 2), whole.antipodes(4)])
    for one, distance in zip(labels, whole.distances(labels).tolist(), strict=True):
        problem = Problem.of(puzzle.rules, one)
        answer = ida_star(problem, heuristic=clipped, every=every, threads=threads)
        assert answer.distance == distance
        for path in answer.solutions:
            assert np.array_equal(path[0], one)
            assert whole.distances(path).tolist() == list(range(distance, -1, -1))
        if every:
            expected = ida_star(problem, heuristic=exact, every=True)
            assert answer.solution_count == expected.solution_count
            assert len({path.tobytes() for path in answer.solutions}) == len(expected.solutions)
    assert (clipped.steps is not None) == prepared
