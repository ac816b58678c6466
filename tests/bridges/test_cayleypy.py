"""Graphs of CayleyPy: the same layers, distances for its predictors, lower bounds and training data, and bad input."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stores import stop_after

import antipodes as ap
from antipodes_tasks.base.errors import InputError, PositionError, UnfinishedError, UnreachableError

cayleypy: Any = pytest.importorskip("cayleypy")
torch: Any = pytest.importorskip("torch")
groups = cayleypy.PermutationGroups
GRAPHS = {
    "all_transpositions": lambda: groups.all_transpositions(5),
    "transposons": lambda: groups.transposons(5),
    "block_interchange": lambda: groups.block_interchange(5),
    "full_reversals": lambda: groups.full_reversals(6),
    "signed_reversals": lambda: groups.signed_reversals(3),
    "lrx": lambda: groups.lrx(6),
    "lx, which is not inverse-closed": lambda: groups.lx(5),
    "top_spin": lambda: groups.top_spin(6),
    "coxeter": lambda: groups.coxeter(6),
    "cyclic_coxeter": lambda: groups.cyclic_coxeter(6),
    "pancake": lambda: groups.pancake(6),
    "burnt_pancake": lambda: groups.burnt_pancake(4),
    "three_cycles": lambda: groups.three_cycles(5),
    "three_cycles_01i": lambda: groups.three_cycles_01i(6),
    "derangements": lambda: groups.derangements(4),
    "stars": lambda: groups.stars(6),
    "larx": lambda: groups.larx(6),
    "down_cycles": lambda: groups.down_cycles(5),
    "prefix_cycles": lambda: groups.prefix_cycles(5),
    "lrx, some pieces identical": lambda: groups.lrx(8).with_central_state([0, 0, 0, 0, 1, 1, 1, 1]),
    "coxeter, three kinds of pieces": lambda: groups.coxeter(7).with_central_state([0, 0, 1, 1, 1, 2, 2]),
}


@pytest.fixture
def lrx(tmp_path: Path) -> Iterator[tuple[Any, ap.Table]]:
    """A graph and its table."""
    graph = cayleypy.CayleyGraph(groups.lrx(6), device="cpu")
    with ap.open_table(ap.run(ap.bridges.cayleypy.puzzle(graph), tmp_path / "lrx.zarr", workers=1).store) as table:
        yield graph, table


@pytest.mark.slow(seconds=20)
@pytest.mark.parametrize("name", GRAPHS)
def test_layers_are_those_of_its_own_search(name: str, tmp_path: Path) -> None:
    definition = GRAPHS[name]()
    puzzle = ap.bridges.cayleypy.puzzle(definition)
    found = cayleypy.CayleyGraph(definition, device="cpu").bfs()
    with ap.open_table(ap.run(puzzle, tmp_path / "a.zarr", workers=1).store) as table:
        assert table.layers == found.layer_sizes
    back = ap.bridges.cayleypy.definition(puzzle)
    assert back.generators_permutations == [list(one) for one in definition.generators_permutations]
    assert back.central_state == list(definition.central_state)


@pytest.mark.slow(seconds=10)
def test_predictor_and_lower_bound(lrx: tuple[Any, ap.Table]) -> None:
    graph, table = lrx
    layers = graph.bfs(max_layer_size_to_store=None, return_all_hashes=True).layers
    exact, predictor = ap.bridges.cayleypy.ExactDistances(graph, table), cayleypy.Predictor(graph, table)
    for depth in range(len(layers)):
        states = torch.as_tensor(layers[depth])
        assert torch.equal(exact.lb(states), torch.full((len(states),), float(depth)))
        assert torch.equal(predictor(states), exact.lb(states))
    assert exact.lb(list(range(6))).tolist() == [0]
    farthest = layers[len(layers) - 1][0]
    result = graph.beam_search(start_state=farthest, predictor=predictor, beam_width=1, return_path=True)
    assert (result.path_found, result.path_length) == (True, len(layers) - 1)
    data = exact.training_data(torch.as_tensor(layers[3]), children=True)
    assert (data.states.shape, data.mask, data.weights) == ((len(layers[3]), 6), None, None)
    for number, state in enumerate(data.states):
        expected = [table.distance(after) for after in graph.get_neighbors_decoded(state).numpy()]
        assert data.targets[number].tolist() == expected
    assert exact.training_data(layers[3]).targets.tolist() == [3] * len(layers[3])


@pytest.mark.slow(seconds=10)
def test_refusals(lrx: tuple[Any, ap.Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (graph, table), bridge = lrx, ap.bridges.cayleypy
    with pytest.raises(InputError, match="generators are permutations, found CayleyGraphDef"):
        bridge.puzzle(cayleypy.MatrixGroups.heisenberg())
    with pytest.raises(InputError, match="generators are permutations, found 'lrx'"):
        bridge.puzzle("lrx")
    with pytest.raises(InputError, match=r"without gaps, found \[0, 0, 2\]"):
        bridge.puzzle(groups.lrx(3).with_central_state([0, 0, 2]))
    with pytest.raises(InputError, match="has moves that turn pieces"):
        bridge.definition(ap.load_puzzle("2x2x2-corner"))
    with pytest.raises(InputError, match="not permutations that are always legal"):
        bridge.definition(ap.load_puzzle("eight-puzzle"))
    with pytest.raises(InputError, match="is the table of another graph: lrx-6"):
        bridge.ExactDistances(cayleypy.CayleyGraph(groups.lrx(7), device="cpu"), table)
    exact = bridge.ExactDistances(graph, table)
    with pytest.raises(PositionError, match=re.escape("expected")):
        exact.lb(torch.tensor([0, 1, 2, 3, 4, 4]))
    unfinished = tmp_path / "unfinished.zarr"
    ap.run(bridge.puzzle(graph), unfinished, workers=1, interrupted=stop_after(3))
    with (
        ap.open_table(unfinished) as part,
        pytest.raises(UnfinishedError, match="is unfinished; a lower bound needs all distances"),
    ):
        bridge.ExactDistances(graph, part)
    monkeypatch.setitem(sys.modules, "cayleypy", None)
    with pytest.raises(InputError, match=r"this function needs cayleypy: pip install '\.\[cayleypy\]'"):
        bridge.puzzle(graph)


@pytest.mark.slow(seconds=10)
def test_unreachable_states(tmp_path: Path) -> None:
    graph = cayleypy.CayleyGraph(groups.three_cycles(4), device="cpu")
    puzzle = ap.bridges.cayleypy.puzzle(graph)
    with ap.open_table(ap.run(puzzle, tmp_path / "even.zarr", workers=1).store) as table:
        exact = ap.bridges.cayleypy.ExactDistances(graph, table)
        odd = torch.tensor([[0, 1, 2, 3], [1, 0, 2, 3]])
        assert np.isinf(exact.lb(odd).numpy()).tolist() == [False, True]
        with pytest.raises(UnreachableError, match="state 1 is unreachable, so it has no distance"):
            exact.training_data(odd)
