"""The graph of layers that are submitted together: whatever order it allows, no task comes too late."""

from itertools import pairwise
from typing import Any

import pytest

from antipodes.executors.api import Key, is_result
from antipodes.tables.layers.shards import LayerGraph, advance

TWO_RINGS = [[2], [3], [0], [1]]
"""Shards 0 and 2 lead to each other, and 1 and 3."""
ONE_WAY = [[3], [0], [0, 1], [1]]
"""Shard 0 leads to 1 and 2, 1 to 2 and 3, and 3 to 0: not back where they come from."""


def waits_for(graph: LayerGraph, key: Key) -> set[Key]:
    """The tasks that a task waits for, those that these wait for included."""
    found: set[Key] = set()
    todo: list[Any] = list(graph.calls[key])
    while todo:
        argument = todo.pop()
        if isinstance(argument, list):
            todo += argument
        elif is_result(argument) and argument.key not in found:
            found.add(argument.key)
            todo += graph.calls[argument.key]
    return found


@pytest.mark.parametrize("predecessors", [TWO_RINGS, ONE_WAY, [[0, 1], [0, 1]]])
@pytest.mark.parametrize("active", [{0}, {0, 1}, {0, 3}])
def test_a_shard_sends_its_frontier_before_it_goes_on(predecessors: list[list[int]], active: set[int]) -> None:
    """It keeps its last two frontiers; with moves of one way, nobody else makes it wait."""
    number = len(predecessors)
    graph = LayerGraph(
        run="run",
        links="links",
        predecessors=predecessors,
        shares_memory=False,
        shards=[object() for _ in predecessors],
        active=active.intersection(range(number)),
        token="token",
    )
    graph.add_layers(0, 6)
    keys = list(graph.calls)
    for shard in range(number):
        own = [key for key in keys if key[1] == shard]
        for earlier, later in pairwise(own):
            assert earlier in waits_for(graph, later)
    assert any(graph.calls[key][0] is advance for key in keys)
