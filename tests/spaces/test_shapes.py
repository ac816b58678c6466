"""The numbering by shapes: pieces found from the moves, and distances against dictionaries and against keys."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bandaged import CUBE, Bandaged, from_cycles, random_puzzle

from antipodes.puzzles.config import Config, load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.tables.run import run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces import shapes
from antipodes_tasks.spaces.selection import best_space
from antipodes_tasks.spaces.shapes import ShapeGraph, Shapes, shape_graph


def _graph(rules: Rules) -> ShapeGraph:
    graph = shape_graph(rules)
    assert graph is not None
    return graph


def _depths(rules: Rules) -> dict[tuple[str, ...], int]:
    """Return the distances that a search with the move tables finds."""
    space = best_space(rules)
    assert isinstance(space.numbering, Shapes)
    tables, depths = space.filler.filled(), np.full(space.size, -1)
    frontier, depth = space.rank(space.starts), 0
    while len(frontier):
        depths[frontier], depth = depth, depth + 1
        frontier = np.unique(tables.successors(frontier).indices)
        frontier = frontier[depths[frontier] < 0]
    reached = np.flatnonzero(depths >= 0)
    positions = [tuple(rules.symbols[label] for label in labels) for labels in space.unrank(reached)]
    return dict(zip(positions, depths[reached].tolist(), strict=True))


def test_the_stickers_of_a_cubie_and_glued_cubies_are_one_piece() -> None:
    graph = _graph(puzzle_from(CUBE.settings).rules)
    assert [(len(kind.codes), kind.counts) for kind in graph.kinds] == [(3, [1] * 5)]
    assert (len(graph.keys), len(graph.slots.moves)) == (1458, 20)  # docs/explanation/index-of-positions.md


def test_identical_pieces_of_several_places_are_counted() -> None:
    moves = {"A": "(0 1 2 3 4 5 6 7 8)", "B": "(0 3)(1 4)"}
    bandaged = Bandaged(["a", "b", "a", "b", "c", "d", "6", "7", "8"], from_cycles(moves, 9), [[0, 1], [2, 3], [4, 5]])
    rules = puzzle_from(bandaged.settings).rules
    assert sorted(kind.counts for kind in _graph(rules).kinds) == [[1, 1, 1], [1, 2]]
    assert _depths(rules) == bandaged.distances()


def test_a_label_that_pieces_share_belongs_to_each_of_them() -> None:
    rules = replace(load_config("square-1-small").puzzle.rules, by_shape=True)
    graph = _graph(rules)
    assert [(len(kind.codes), kind.counts) for kind in graph.kinds] == [(2, [1] * 4), (1, [1] * 4)]
    assert len(_depths(rules)) == 8640


def test_torn_pieces_have_no_index() -> None:
    rules = puzzle_from(CUBE.settings).rules
    torn = rules.start_labels.copy()
    torn[0, [0, 1]] = torn[0, [1, 0]]
    assert best_space(rules).rank(torn).tolist() == [-1]


@pytest.mark.parametrize("seed", range(4))
def test_distances_of_random_puzzles(seed: int) -> None:
    bandaged, puzzle = random_puzzle(seed)
    assert _depths(puzzle.rules) == bandaged.distances()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 108))
def test_distances_of_larger_random_puzzles(seed: int) -> None:
    bandaged, puzzle = random_puzzle(seed, largest=8)
    assert _depths(puzzle.rules) == bandaged.distances()


@pytest.mark.slow
def test_distances_of_a_bandaged_cube(tmp_path: Path) -> None:
    known, puzzle = CUBE.distances(), puzzle_from(CUBE.settings)
    assert len(known) == 29_160
    assert _depths(puzzle.rules) == known
    for enumerated in (False, True):
        config, store = Config({**CUBE.settings, "enumerated": enumerated}), tmp_path / f"{enumerated}.zarr"
        assert ("keys" if enumerated else "shapes") == best_space(config.puzzle.rules).numbering.KIND
        run_puzzle(config, store)
        with open_table(store) as table:
            assert table.distances([" ".join(position) for position in known]).tolist() == list(known.values())


@pytest.mark.parametrize(("limit", "value"), [("MAX_SHAPE_MOVES", 1000), ("MAX_SLOTS", 4)])
def test_positions_are_listed_if_there_are_too_many_shapes_or_pieces(
    limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, limit, value)
    monkeypatch.setattr(shapes, "_latest", [])
    assert best_space(puzzle_from(CUBE.settings).rules).numbering.KIND == "keys"
