"""The bounds of the search for symmetries: the size of the graph, and what its generators take."""

from tomllib import loads

import pytest
from puzzle_settings import complete, jump
from symmetric_puzzles import bundled

from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.properties import coloured_graph, finding
from antipodes_tasks.properties.coloured_graph import ColouredGraph
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.properties.puzzle_graph import PuzzleGraph
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.selection import best_space


@pytest.fixture
def rules() -> Rules:
    """A puzzle that is reduced unasked; what was found of its symmetries before is forgotten."""
    finding._symmetries_of.cache_clear()
    return bundled("2x2x2").rules


def test_the_size_of_the_graph_is_bounded(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    size = PuzzleGraph(rules, rules.start_labels).graph.size
    monkeypatch.setattr(coloured_graph, "MAX_SIZE", size - 1)
    assert best_space(rules, "auto").numbering.symmetries == 1
    with pytest.raises(
        InputError, match=f"cannot be reduced: the graph .* has more than {size - 1:,} vertices and edges"
    ):
        best_space(rules, "on")
    with pytest.raises(ResourceLimitError, match="the puzzle has too many moves or starts"):
        symmetries_of(rules)
    monkeypatch.setattr(coloured_graph, "MAX_SIZE", size)
    assert best_space(rules, "auto").numbering.symmetries == 48


def test_the_permutations_are_bounded_for_a_table(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    order = symmetries_of(rules).chain.order
    monkeypatch.setattr("antipodes_tasks.spaces.choose_cut.MAX_PERMUTATIONS", order - 1)
    assert best_space(rules, "auto").numbering.symmetries == 1
    with pytest.raises(InputError, match=f"cannot be reduced: expected a group of at most {order - 1:,} elements"):
        best_space(rules, "on")
    monkeypatch.setattr("antipodes_tasks.spaces.choose_cut.MAX_PERMUTATIONS", order)
    assert best_space(rules, "auto").numbering.symmetries == 48


def test_what_generators_take_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ColouredGraph()
    for number in range(36):  # 720 permutations, fewer than 2^10
        graph.vertex(max(number, 5))
    monkeypatch.setattr(coloured_graph, "MAX_IMAGES", 36 * 9)
    assert graph.automorphisms().shape == (5, 36)
    monkeypatch.setattr(coloured_graph, "MAX_IMAGES", 36 * 9 - 1)
    with pytest.raises(
        ResourceLimitError, match=r"at most 2\^8 symmetries of a graph of 36 vertices, found about 2\^9"
    ):
        graph.automorphisms()


def test_a_move_and_its_inverse_are_one_edge() -> None:
    rules = puzzle_from(loads(f'name = "p"\n{jump(5, 5, "AA", complete(5, 5))}')).rules
    graph = PuzzleGraph(rules, rules.start_labels).graph
    assert 25 * 24 / 2 < graph.size < 25 * 24
