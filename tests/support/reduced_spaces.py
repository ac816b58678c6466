"""Spaces reduced by symmetries, compared with the depths of all positions."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import InputError
from antipodes_tasks.bfs.partition import Partition, State
from antipodes_tasks.bfs.two_bits import TwoBitState
from antipodes_tasks.move_tables import MoveTables
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.spaces import choose_cut
from antipodes_tasks.spaces.reduced_numbering import Reduced
from antipodes_tasks.spaces.reduced_tables import decides
from antipodes_tasks.spaces.row_symmetries import maps_rows_to_rows
from antipodes_tasks.spaces.selection import numbering_of
from antipodes_tasks.spaces.space import Space

Depths = NDArray[np.int64]


def reduced_spaces(rules: Rules) -> Iterator[Space]:
    """The reduced spaces of all frames."""
    try:
        whole, images = numbering_of(rules), choose_cut.symmetries_listed(rules)
    except InputError:  # too many symmetries, of a puzzle that hardly moves
        return
    for frame in choose_cut.cuts_of(rules, images):
        fitting = np.flatnonzero(maps_rows_to_rows(frame, images))
        if len(fitting) > 1 and decides(frame, transforms_of(rules)):
            numbering = Reduced(whole, frame, images[fitting])
            yield Space(rules, numbering, numbering.cuts[0])


def depths_of(space: Space, tables: MoveTables, partitions: int = 1, make: type[State] = State) -> Depths:
    """Return the depth of each entry, found by the engine; -1 if it is not reached."""
    bounds = np.unique(np.linspace(0, space.rows, partitions + 1).astype(int)).tolist()
    states = [
        make(Partition(number, first, end), space.width, end - first)
        for number, (first, end) in enumerate(pairwise(bounds))
    ]
    depths, depth = np.full(space.size, -1), 0
    found = sum(state.begin(space.rank(space.starts), None) for state in states)
    while found:
        for state in states:
            depths[state.positions(depth, space.size)] = depth
        frontiers = [frontier for state in states if (frontier := state.frontier(depth)) is not None]
        depth += 1
        found = sum(state.advance(depth, frontiers, tables, None) for state in states)
        for state in states:
            state.forget_before(depth)
    return depths


def check_agreement(space: Space, expected: Depths) -> None:
    """Check a reduced space against the expected depths of all positions."""
    every, positions = np.arange(space.size), space.full_space.unrank(np.arange(space.full_space.size))
    entries = space.rank(positions)
    assert (space.rank(space.unrank(every)) == every).all()
    some = slice(None, None, max(1, len(positions) // 100))
    assert [space.numbering.rank_one(one) for one in positions[some].tolist()] == entries[some].tolist()
    weights = np.repeat(space.weights, space.width)
    reached = np.unique(entries[expected >= 0])
    assert np.bincount(entries, minlength=space.size)[reached].tolist() == weights[reached].tolist()
    of, found = space.numbering.positions_of_entries(every)
    assert (space.rank(found) // space.width == of // space.width).all()
    assert len(np.unique(found, axis=0)) == weights.sum() >= len(positions)
    numbers = np.arange(len(of)) - np.searchsorted(of, of)
    assert (space.numbering.one_of(of, numbers) == found).all()
    tables = space.filler.filled()
    assert not len(space.successors(every).differing(tables.successors(every)))
    for undirected in {tables.undirected, False}:
        for partitions, make in ((1, State), (3, State), (3, TwoBitState)):
            depths = depths_of(space, tables._replace(undirected=undirected), partitions, make)
            assert depths[entries].tolist() == expected.tolist()
