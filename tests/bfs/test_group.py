from itertools import pairwise

import numpy as np
import pytest

from antipodes.bfs import group, partition
from antipodes.bfs.group import Group
from antipodes.bfs.rows import Partition
from antipodes.puzzles.families import puzzle_from
from antipodes.spaces.arrangement.arrangement_space import ArrangementSpace
from antipodes.spaces.numbering.arrangements import Index

PUZZLE = puzzle_from({"name": "p", "family": "sliding", "rows": 2, "columns": 3, "start": "1 1 2 / 3 2 0"})
SPACE = ArrangementSpace(PUZZLE, Index(PUZZLE.counts, 2))
TABLES = SPACE.move_tables()
STARTS = SPACE.rank(PUZZLE.start_labels)
BOUNDS = [0, 7, 20, 31, 44, 60]
LINKS = group.links(TABLES, BOUNDS)


def begun(sizes: list[int]) -> list[Group]:
    parts = [Partition(number, first, end) for number, (first, end) in enumerate(pairwise(BOUNDS))]
    ends = np.cumsum([0, *sizes])
    return [
        group.begin(parts[first:end], SPACE.width, STARTS, "uint8", hold_depths=True) for first, end in pairwise(ends)
    ]


def depths_of(groups: list[Group]) -> bytes:
    held = [state.depths for one in groups for state in one if state.depths is not None]
    return np.concatenate(held).tobytes()


def searched(sizes: list[int]) -> tuple[bytes, list[int]]:
    """The depths, and the layers, of a search in groups of these sizes."""
    groups, layers = begun(sizes), [1]
    while layers[-1]:
        depth = len(layers) - 1
        lean = [group.boundary(one, LINKS, depth) for one in groups]
        groups = [
            group.advance(one, [other for at, other in enumerate(lean) if at != here], LINKS, depth, 1)
            for here, one in enumerate(groups)
        ]
        layers.append(sum(group.found(one).get(depth + 1, 0) for one in groups))
    return depths_of(groups), layers


@pytest.mark.parametrize("sizes", [[1, 1, 1, 1, 1], [2, 3], [1, 3, 1], [4, 1], [5]])
def test_the_groups_do_not_change_the_result(sizes: list[int]) -> None:
    assert searched(sizes) == searched([1, 1, 1, 1, 1])


def test_a_single_group_advances_several_layers() -> None:
    depths, layers = searched([5])
    (alone,) = begun([5])
    for depth in range(0, len(layers), 4):
        alone = group.advance(alone, [], LINKS, depth, 4)
        assert [group.found(alone).get(at, 0) for at in range(depth, min(depth + 4, len(layers)))] == layers[
            depth : depth + 4
        ]
    assert depths_of([alone]) == depths


def test_only_rows_with_moves_out_of_the_group_are_sent() -> None:
    groups = begun([2, 3])
    for depth in range(6):
        lean = [group.boundary(one, LINKS, depth) for one in groups]
        sent = {int(row) for state in lean[0] for row in state.rows}
        assert all((TABLES.target[row] >= BOUNDS[2]).any() for row in sent)
        groups = [group.advance(one, [lean[1 - here]], LINKS, depth, 1) for here, one in enumerate(groups)]
    assert sent


def test_links() -> None:
    assert group.predecessors(LINKS) == partition.predecessors(partition.successors(TABLES, BOUNDS))
