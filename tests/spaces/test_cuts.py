"""Cuts between sets of pieces, of cubes with identical pieces and of tiles on graphs."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from every_kind import slow_unless_in
from reduced_spaces import check_agreement, depths_of, reduced_spaces

from antipodes.puzzles.abstraction import Abstraction, pattern_settings
from antipodes.puzzles.config import bundled_configs, load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.permutations.multisets import radices
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.spaces import choose_cut
from antipodes_tasks.spaces.map_estimates import estimated_maps
from antipodes_tasks.spaces.row_classes import RowClasses
from antipodes_tasks.spaces.row_tables import RowTables
from antipodes_tasks.spaces.selection import best_space, every_cut, numbering_of
from antipodes_tasks.spaces.space import Space

Edges = list[tuple[int, int]]
PUZZLES = bundled_configs() | bundled_configs("patterns")
TETRADS = "CORNERS:1,4,6,7", "CORNERS:2,3,5,8"
SLICES = "EDGES:1,4,9,12", "EDGES:2,3,10,11", "EDGES:5,6,7,8"


def cube(*equal: str, omit: str | None = None) -> Puzzle:
    """Return the 3x3x3 with identical pieces."""
    abstraction = Abstraction(equal=list(equal), omit=[omit] if omit else [])
    return puzzle_from(pattern_settings(load_config("3x3x3").puzzle, abstraction))


def tiles_on(edges: Edges, places: int, empty: int = 1) -> Puzzle:
    """Return the puzzle of different tiles on the vertices of a graph; the last places are empty at the start."""
    start = " ".join([*map(str, range(1, places + 1 - empty)), *["-"] * empty])
    return puzzle_from({"name": "graph", "family": "jump", "edges": [list(edge) for edge in edges], "start": start})


def circulant(places: int, *steps: int) -> Edges:
    """Return the edges of a circulant graph."""
    return sorted({tuple(sorted((at, (at + step) % places))) for at in range(places) for step in steps})  # type: ignore[misc]


def line_graph(edges: Edges) -> Edges:
    """Return the pairs of edges that share a vertex."""
    return [(a, b) for a, b in combinations(range(len(edges)), 2) if set(edges[a]) & set(edges[b])]


def depths_by_entry(space: Space) -> np.ndarray:
    """Return the number of positions at each depth."""
    depths = depths_of(space, space.filler.filled()).reshape(space.rows, space.width)
    weights = np.ones(space.rows, dtype=np.int64) if space.weights is None else space.weights
    reached = depths >= 0
    return np.bincount(depths[reached], weights=np.broadcast_to(weights[:, np.newaxis], depths.shape)[reached])


@pytest.mark.slow
def test_the_corners_of_two_colours_with_every_cut() -> None:
    rules = cube(*TETRADS, omit="EDGES").rules
    expected = depths_by_entry(every_cut(rules, numbering_of(rules))[1])
    assert expected.sum() == 153_090
    together = set()
    for space in reduced_spaces(rules):
        frame = space.numbering.frame
        together.add((bool((frame.twist_at >= 0).any()), bool(frame.carried.any()), space.numbering.symmetries))
        assert depths_by_entry(space).tolist() == expected.tolist()
    assert {(True, False, 48), (False, True, 48)} <= together, "piece and twist in the row; both in the column"


@pytest.mark.parametrize(
    ("edges", "places", "empty"),
    [
        (circulant(6, 1, 3), 6, 1),
        (circulant(6, 1, 2), 6, 2),
        pytest.param(
            [(a, b) for a, b in combinations(range(8), 2) if (a ^ b).bit_count() == 1], 8, 1, marks=pytest.mark.slow
        ),
    ],
    ids=["K3,3", "octahedron, two empty places", "cube"],
)
def test_tiles_on_graphs_with_every_set_of_tiles(
    edges: Edges, places: int, empty: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose_cut, "SET_WIDTHS", (2, 1 << 19))
    rules = tiles_on(edges, places, empty).rules
    whole = every_cut(rules, numbering_of(rules))[0]
    expected = depths_of(whole, whole.filler.filled())
    images, tried = choose_cut.symmetries_listed(rules), 0
    chosen = set(choose_cut._label_sets(choose_cut.parts_of(rules), images))
    for space in reduced_spaces(rules):
        if space.numbering.frame.classes in chosen:
            check_agreement(space, expected)
            tried += 1
    assert tried >= 2


@pytest.mark.parametrize("name", ["2x2x2"])
def test_the_estimated_number_of_maps_is_large_enough(name: str) -> None:
    space = best_space(load_config(str(PUZZLES[name])).puzzle.rules, "on")
    numbering = space.numbering
    estimate = estimated_maps(numbering.frame, numbering.images, transforms_of(space.rules))
    assert (
        space.filler.most_column_maps <= min(estimate, space.rows * space.filler.max_moves) + space.numbering.symmetries
    )


def test_only_sets_of_tiles_that_a_symmetry_preserves_are_considered(monkeypatch: pytest.MonkeyPatch) -> None:
    considered, middle = list[int](), 7
    monkeypatch.setattr(choose_cut, "radices", lambda counts: considered.append(len(counts)) or radices(counts))
    start = " ".join("-" if place == middle else str(place + 1) for place in range(2 * middle + 1))
    path = [[at, at + 1] for at in range(2 * middle)]
    rules = puzzle_from({"name": "path", "family": "jump", "edges": path, "start": start}).rules
    images = choose_cut.symmetries_listed(rules)
    assert len(images) == 2
    assert list(choose_cut._label_sets(choose_cut.parts_of(rules), images))
    assert len(considered) == 2 ** (middle + 1), "pairs of tiles that the reflection exchanges, and the empty place"


LARGE: dict[str, tuple[Any, int, int]] = {
    "3-colour cube": (lambda: cube(*TETRADS, *SLICES), 153_090, 48),
    "line graph of K6": (lambda: tiles_on(line_graph(list(combinations(range(6), 2))), 15), 720, 48),
}


@pytest.mark.parametrize("name", slow_unless_in(["3-colour cube"], LARGE))
def test_large_spaces_are_cut_by_formula(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("this takes minutes")

    monkeypatch.setattr(RowTables, "fill", refuse)
    monkeypatch.setattr(RowClasses, "keys", property(refuse))
    make, width, order = LARGE[name]
    space = best_space(make().rules, "auto", outline=True)
    assert (space.width, space.numbering.symmetries) == (width, order)
    kept_keys = 16 * space.rows
    assert space.filler.table_bytes - kept_keys < 2 << 30
