"""The graph of a table: its nodes, its edges, and where they stand."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_puzzles import lights
from service_stores import TABLES
from stores import stop_after

from antipodes.puzzles.config import Config, as_config
from antipodes.service.graph import Graph, fits_whole, graph_of, graph_view
from antipodes.service.graph_layout import places_in_layers
from antipodes.system.records import as_dict
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import Table, open_table
from antipodes_tasks.base.errors import InputError, PositionError, UnfinishedError, UnreachableError

HANOI = {"name": "hanoi", "family": "hanoi", "pegs": 3, "discs": 4}


@pytest.fixture(scope="module")
def hanoi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    with open_table(made(tmp_path_factory.mktemp("graph") / "hanoi.zarr", HANOI)) as table:
        yield table


@pytest.fixture
def eight_puzzle(finished: Path) -> Iterator[Table]:
    with open_table(finished) as table:
        yield table


def made(store: Path, settings: dict[str, Any], layers: int = 1000) -> Path:
    run_puzzle(Config(settings), store, RunOptions(workers=1), interrupted=stop_after(layers))
    return store


def neighbours(table: Table, index: int) -> set[int]:
    """By the puzzle's own successors of one position."""
    labels = table.space.unrank([index])[0]
    return set(table.space.rank(table.puzzle.moves.successors(labels)).tolist())


def ends(graph: Graph) -> set[tuple[int, int]]:
    return {(a, b) for a, b in graph.indices[graph.edges].tolist()}


def crossings(graph: Graph) -> int:
    """Pairs of edges between the same two layers that cross."""
    ends = np.sort(graph.edges, axis=1)
    upper, lower = ends[graph.depths[ends[:, 0]] < graph.depths[ends[:, 1]]].T
    same = graph.depths[upper][:, np.newaxis] == graph.depths[upper]
    return int((same & (np.subtract.outer(upper, upper) * np.subtract.outer(lower, lower) < 0)).sum()) // 2


def test_whole_graph_has_all_positions_and_all_moves(hanoi: Table) -> None:
    graph = graph_of(hanoi)
    assert graph.whole
    assert not graph.directed
    assert repr(graph) == "<Graph: 81 nodes, 120 edges, whole>"  # (3 * 81 - 3) / 2 moves of four discs
    assert sorted(graph.indices.tolist()) == list(range(81))
    assert graph.depths.tolist() == hanoi.distances_by_index(graph.indices).tolist()
    expected = {frozenset((index, near)) for index in range(81) for near in neighbours(hanoi, index)}
    assert {frozenset(pair) for pair in ends(graph)} == expected


@pytest.mark.parametrize("name", TABLES)
def test_edges_are_the_moves_of_puzzles_of_every_kind(tables: dict[str, Table], name: str) -> None:
    table = tables[name]
    graph = graph_of(table)
    reached = graph.indices.tolist()
    assert len(reached) == len(table)
    moves = {(index, near) for index in reached for near in neighbours(table, index) - {index}}
    if graph.directed:
        assert ends(graph) == moves
    else:
        assert {frozenset(pair) for pair in ends(graph)} == {frozenset(pair) for pair in moves}


def test_nodes_are_in_layers_from_left_to_right(hanoi: Table) -> None:
    graph = graph_of(hanoi)
    assert list(zip(graph.depths, graph.places, strict=True)) == sorted(zip(graph.depths, graph.places, strict=True))
    assert len({*zip(graph.depths.tolist(), graph.places.tolist(), strict=True)}) == 81
    assert graph.places.min() >= 0
    assert graph.places.max() <= 1
    assert (graph.edges[:, 0] < graph.edges[:, 1]).all()
    assert [*map(tuple, graph.edges.tolist())] == sorted({*map(tuple, graph.edges.tolist())})


def test_the_graph_of_hanoi_is_plane(hanoi: Table) -> None:
    assert crossings(graph_of(hanoi)) == 0


def test_the_view_is_json_with_short_numbers(hanoi: Table) -> None:
    graph = graph_of(hanoi)
    view = as_dict(graph_view(hanoi, graph))
    assert view["layers"] == hanoi.layers
    assert view["nodes"]["index"] == graph.indices.tolist()
    assert view["nodes"]["x"] == pytest.approx(graph.places.tolist(), abs=1e-5)
    assert [*pairwise(view["edges"])][::2] == [*map(tuple, graph.edges.tolist())]
    assert (view["whole"], view["directed"]) == (True, False)


def test_a_puzzle_of_functions_in_python(tmp_path: Path) -> None:
    run_puzzle(as_config(lights(2, 3)), tmp_path / "lights.zarr", RunOptions(workers=1))
    with open_table(tmp_path / "lights.zarr", puzzle=lights(2, 3)) as table:
        assert repr(graph_of(table)) == f"<Graph: {len(table)} nodes, {len(table) * 3} edges, whole>"


def test_many_positions_have_a_neighbourhood(eight_puzzle: Table) -> None:
    far = "8 6 7 / 2 5 4 / 3 0 1"
    graph = graph_of(eight_puzzle, far, limit=40)
    assert not fits_whole(eight_puzzle)
    assert not graph.whole
    assert len(graph.indices) == 40
    assert graph.depths.tolist() == eight_puzzle.distances_by_index(graph.indices).tolist()
    assert graph.depths[-1] == 31
    within = set(graph.indices.tolist())
    assert eight_puzzle.space.index(far) in within
    expected = {frozenset((index, near)) for index in within for near in neighbours(eight_puzzle, index) & within}
    assert {frozenset(pair) for pair in ends(graph)} == expected


def test_a_neighbourhood_is_the_nearest_positions(eight_puzzle: Table) -> None:
    graph = graph_of(eight_puzzle, limit=sum(eight_puzzle.layers[:6]))
    assert np.bincount(graph.depths).tolist() == eight_puzzle.layers[:6]
    assert len(graph_of(eight_puzzle, limit=1).indices) == 1


def test_edges_cross_far_less_than_in_the_order_of_the_indices(eight_puzzle: Table) -> None:
    graph = graph_of(eight_puzzle, limit=500)
    number = np.empty(500, dtype=np.int64)
    number[np.lexsort((graph.indices, graph.depths))] = np.arange(500)
    by_index = replace(graph, edges=number[graph.edges])
    assert crossings(graph) < crossings(by_index) / 20


def test_an_unfinished_table_has_the_graph_of_what_it_reaches(tmp_path: Path) -> None:
    with open_table(made(tmp_path / "some.zarr", HANOI, layers=5)) as table:
        graph = graph_of(table)
        assert not table.complete
        assert np.bincount(graph.depths).tolist() == table.layers
        assert np.bincount(graph.edges.ravel(), minlength=len(table)).min() > 0
        with pytest.raises(UnfinishedError):
            graph_of(table, "2 2 2 2")


def test_a_run_that_has_only_begun(tmp_path: Path) -> None:
    with open_table(made(tmp_path / "begun.zarr", HANOI, layers=0)) as table:
        view = as_dict(graph_view(table, graph_of(table)))
        assert view["nodes"] == {"index": [0], "depth": [0], "x": [0.5]}
        assert view["edges"] == []


def test_what_is_asked_is_checked(hanoi: Table, eight_puzzle: Table) -> None:
    with pytest.raises(PositionError):
        graph_of(hanoi, "0 0 0 7")
    with pytest.raises(UnreachableError):
        graph_of(eight_puzzle, "2 1 3 / 4 5 6 / 7 8 0")
    with pytest.raises(InputError, match="a limit of nodes"):
        graph_of(eight_puzzle, limit=0)


def test_parts_without_a_connection_stand_beside_each_other() -> None:
    depths = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    places = places_in_layers(depths, np.array([[0, 3], [3, 4], [1, 2], [2, 5]]))
    assert len({places[0] < places[1], places[3] < places[2], places[4] < places[5]}) == 1


@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_the_smallest_graphs(nodes: int) -> None:
    places = places_in_layers(np.zeros(nodes, dtype=np.int32), np.empty((0, 2), dtype=np.int64))
    assert sorted(places.tolist()) == [(k + 0.5) / nodes for k in range(nodes)]
