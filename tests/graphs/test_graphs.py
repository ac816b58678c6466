"""The graph of a puzzle against brute force, and its files as other programs read them."""

import csv
from pathlib import Path

import numpy as np
import pytest
from brute_force import distances
from hypothesis import given
from strategies import jump_settings
from transform_puzzles import transform_puzzles

import antipodes as ap
from antipodes.graphs import export
from antipodes.graphs.export import PositionGraph, graph
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import InputError, ResourceLimitError, StoreError

SMALL = {"name": "small", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 2 3 0 3"}


@pytest.fixture(scope="module")
def small() -> PositionGraph:
    return graph(puzzle_from(SMALL))


def check(puzzle: Puzzle) -> None:
    """Compare nodes, depths and edges with what the moves of the puzzle do to one position after another."""
    found = graph(puzzle)
    after = {
        bytes(labels): {bytes(one) for one in puzzle.successors(labels)} - {bytes(labels)} for labels in found.labels
    }
    expected = distances([bytes(start) for start in puzzle.start_labels], lambda here: after[here])
    nodes = [bytes(labels) for labels in found.labels]
    assert dict(zip(nodes, found.depths.tolist(), strict=True)) == expected
    assert np.all(np.diff(found.depths) >= 0)
    pairs = [(nodes[one], nodes[other]) for one, other in found.edges.tolist()]
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) == {(here, there) for here in nodes for there in after[here]}
    for (before, there), move in zip(found.edges.tolist()[:50], found.found.moves.tolist(), strict=False):
        moved, legal = puzzle.moves.move(move, found.labels[[before]])
        assert legal[0]
        assert np.array_equal(moved[0], found.labels[there])


@given(transform_puzzles())
def test_puzzles_of_any_moves(puzzle: Puzzle) -> None:
    check(puzzle)


def test_few_successors_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes_tasks.keys.move_graph.MOVED_BYTES", 1)
    check(puzzle_from(SMALL))


@given(jump_settings())
def test_moves_that_lead_one_way(settings: dict[str, object]) -> None:
    check(puzzle_from(settings))


def test_a_graph_too_large_is_refused() -> None:
    with pytest.raises(ResourceLimitError, match="the graph has more than 100 positions; raise limit"):
        ap.graph("klotski", limit=100)


def test_a_graph_of_known_size_is_refused_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "move_graph", lambda *_: pytest.fail("it searched"))
    with pytest.raises(ResourceLimitError, match="the graph has 10,461,394,944,000 positions, more than 4,194,304"):
        ap.graph("fifteen-puzzle")


@pytest.mark.slow
def test_graphml_is_what_networkx_reads(small: PositionGraph, tmp_path: Path) -> None:
    small.write(tmp_path / "small.graphml")
    import networkx

    read = networkx.read_graphml(tmp_path / "small.graphml")
    own = small.to_networkx()
    assert {f"n{node}": data for node, data in own.nodes(data=True)} == dict(read.nodes(data=True))
    assert {(f"n{a}", f"n{b}", data["move"]) for a, b, data in own.edges(data=True)} == set(read.edges(data="move"))


def test_npz_is_what_scipy_reads(small: PositionGraph, tmp_path: Path) -> None:
    small.write(tmp_path / "small.npz")
    import scipy.sparse

    read = scipy.sparse.load_npz(tmp_path / "small.npz")
    assert (read != small.to_scipy_sparse()).nnz == 0
    assert np.argwhere(read.toarray()).tolist() == small.edges.tolist()
    with np.load(tmp_path / "small.npz") as arrays:
        assert np.array_equal(arrays["depth"], small.depths)
        assert np.array_equal(arrays["position"], small.labels)
        assert arrays["moves"][arrays["move"]].tolist() == small.moves


def test_csv_has_edges_and_nodes(small: PositionGraph, tmp_path: Path) -> None:
    small.write(tmp_path / "small.csv")
    with (tmp_path / "small.csv").open(newline="") as edges, (tmp_path / "small.nodes.csv").open(newline="") as nodes:
        first, *lines = csv.reader(edges)
        assert first == ["before", "after", "move"]
        assert [[int(a), int(b)] for a, b, _ in lines] == small.edges.tolist()
        assert [name for *_, name in lines] == small.moves
        assert [line["position"] for line in csv.DictReader(nodes)] == small.positions


def test_files_that_cannot_be_written(small: PositionGraph, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must end in \.graphml, \.npz, \.csv; found 'small\.gml'"):
        small.write(tmp_path / "small.gml")
    with pytest.raises(StoreError, match="cannot write"):
        small.write(tmp_path / "none" / "small.csv")
    (tmp_path / "small.csv").mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*: it is a directory"):
        small.write(tmp_path / "small.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["small.csv"]
