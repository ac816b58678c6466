"""Pieces that cover several places: a move is legal only if it moves all places of a piece, or none of them.

The rule is stated as conditions on the labels of single places, so the code that applies, compiles, compares or inverts
transforms needs no special case. The conditions follow from the *placements* of each piece: the places to which moves
can take it if no other piece blocks them. In most puzzles, one place of a piece determines the others, so the label on
one place shows that its piece extends beyond the places that the move changes. Otherwise the move is split into
transforms that exclude each other: those that move the piece, and those that leave it where it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import InputError

Origin = NDArray[np.int64]
"""``(places,)``: the place from which a generator brings a label to each place."""
Masks = NDArray[np.uint64]
"""``(places,)``: bit mask of the labels that each place may hold."""
MAX_PLACEMENTS = 1 << 18
"""Maximum number of placements of a piece; they are listed in about a second."""
MAX_ALTERNATIVES = 1024
"""Maximum number of transforms into which a move is split."""
LABELS = 256
"""Number of values of a label."""
AT_ONCE = 1 << 14
"""Number of positions that are checked together."""


@dataclass(frozen=True, eq=False)
class LargerPieces:
    """All placements of the pieces that share labels with larger pieces. A position consists of some of them.

    The places and labels are those of the first part of the puzzle.
    """

    labels: NDArray[np.int64]
    """``(placements, places of a piece)``: the label on each place of a placement; -1 after the last place."""
    placements: NDArray[np.int64]
    """``(placements, places of a piece)``: the places; -1 after the last one."""

    @cached_property
    def _fitting(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The placements that have a label on a place, for each place and label, and where they begin and end."""
        rows, cells = np.nonzero(self.placements >= 0)
        keys = self.placements[rows, cells] * LABELS + self.labels[rows, cells]
        order = np.argsort(keys, kind="stable")
        return rows[order], np.searchsorted(keys[order], np.arange((self.placements.max() + 1) * LABELS + 2))

    def torn(self, positions: Labels) -> Mask:
        """Return a mask ``(n, places)`` of the places whose label belongs to no placement that fits."""
        torn = np.zeros(positions.shape, dtype=np.bool_)
        for first in range(0, len(positions), AT_ONCE):
            torn[first : first + AT_ONCE] = self._torn(positions[first : first + AT_ONCE])
        return torn

    def _torn(self, positions: Labels) -> Mask:
        """Try the placements one after the other, for all places together."""
        torn: Mask = np.isin(positions, self.labels)
        lines, places = np.nonzero(torn)
        listed, first = self._fitting
        keys = np.minimum(places * LABELS + positions[lines, places], len(first) - 2)
        now, end = first[keys], first[keys + 1]
        while (left := now < end).any():
            lines, places, now, end = lines[left], places[left], now[left], end[left]
            cells, labels = self.placements[listed[now]], self.labels[listed[now]]
            fits = ((positions[lines[:, np.newaxis], cells] == labels) | (cells < 0)).all(axis=1)
            torn[lines[fits], places[fits]] = False
            now = np.where(fits, end, now + 1)
        return torn

    def holding(self, label: int) -> list[list[int]]:
        """Return the labels of each different piece that has a label."""
        rows = self.labels[(self.labels == label).any(axis=1)]
        return [[one for one in row if one >= 0] for row in dict.fromkeys(map(tuple, rows.tolist()))]


@dataclass(frozen=True)
class _Group:
    """The pieces that share labels with each other, and all their placements."""

    covered: tuple[tuple[int, ...], ...]
    """The places that each piece covers in the first start."""
    labels: NDArray[np.int64]
    """``(placements, places of a piece)``: the label on each place of a placement; -1 after the last place."""
    placements: NDArray[np.int64]
    """``(placements, places of a piece)``: the places; -1 after the last one."""


def piece_conditions(
    generators: Mapping[str, Sequence[int]], starts: Labels, pieces: Sequence[Sequence[int]]
) -> tuple[dict[str, list[Masks]], LargerPieces | None]:
    """Return for each generator the conditions under which it moves all or none of the places of each piece.

    Also return the placements of the pieces; None without pieces.

    The conditions are a list of masks, at most one of which allows a position. They also hold for all powers of the
    generator, because applying it does not change whether they hold.

    Parameters
    ----------
    generators
        For each name, the place from which the generator brings a label to each place.
    starts
        The starts ``(starts, places)``. Their labels must be below 64.
    pieces
        The places that each piece covers in the first start. A place belongs to at most one piece.

    Raises InputError if a generator is never legal, or if the labels do not determine which places belong together.
    """
    origins = [np.array(origin) for origin in generators.values()]
    groups = [_group(origins, starts, members) for members in _sharing_labels(starts[0], pieces)]
    conditions = {
        name: _alternatives(name, groups, origin, int(starts.max()) + 1)
        for name, origin in zip(generators, origins, strict=True)
    }
    return conditions, _all_placements(groups) if groups else None


def _all_placements(groups: Sequence["_Group"]) -> LargerPieces:
    longest = max(group.labels.shape[1] for group in groups)
    labels, placements = (
        np.concatenate([np.pad(one, ((0, 0), (0, longest - one.shape[1])), constant_values=-1) for one in tables])
        for tables in ([group.labels for group in groups], [group.placements for group in groups])
    )
    return LargerPieces(labels, placements)


def _sharing_labels(start: Labels, pieces: Sequence[Sequence[int]]) -> list[list[tuple[int, ...]]]:
    """Divide the pieces into groups without common labels. Single places join the groups that contain their label."""
    groups: list[tuple[set[int], list[tuple[int, ...]]]] = []
    for piece in map(tuple, pieces):
        labels, members = set(start[list(piece)].tolist()), [piece]
        for group in [group for group in groups if group[0] & labels]:
            groups.remove(group)
            labels, members = labels | group[0], group[1] + members
        groups.append((labels, members))
    covered = {place for piece in pieces for place in piece}
    for place in range(len(start)):
        if place not in covered:
            for labels, members in groups:
                if int(start[place]) in labels:
                    members.append((place,))
    return [members for _, members in groups]


def _group(origins: Sequence[Origin], starts: Labels, members: list[tuple[int, ...]]) -> _Group:
    longest = max(map(len, members))
    labels, placements = (np.full((len(members), longest), -1) for _ in range(2))
    for row, piece in enumerate(members):
        labels[row, : len(piece)] = starts[0][list(piece)]
        placements[row, : len(piece)] = piece
    found = _closed(origins, np.concatenate((labels, placements), axis=1))
    return _Group(tuple(members), found[:, :longest], found[:, longest:])


def _closed(origins: Sequence[Origin], seeds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all rows that moves reach from the rows ``(n, 2 * k)`` of k labels and their places.

    A move is applied to a row if it moves all or none of its places.
    """
    k = seeds.shape[1] // 2
    destinations = [np.append(np.argsort(origin), -1) for origin in origins]
    moved = [np.append(origin != np.arange(len(origin)), False) for origin in origins]
    found, frontier = dict.fromkeys(map(bytes, seeds)), seeds
    every = [seeds]
    while len(frontier):
        new = []
        for destination, moves in zip(destinations, moved, strict=True):
            whole = frontier[(moves[frontier[:, k:]] | (frontier[:, k:] < 0)).all(axis=1)]
            after = np.concatenate((whole[:, :k], destination[whole[:, k:]]), axis=1)
            for row in after:
                if (key := bytes(row)) not in found:
                    found[key] = None
                    new.append(row)
        if len(found) > MAX_PLACEMENTS:
            raise InputError(f"expected at most {MAX_PLACEMENTS:,} placements of a piece, found more")
        frontier = np.array(new, dtype=seeds.dtype).reshape(-1, 2 * k)
        every.append(frontier)
    return np.concatenate(every)


def _alternatives(name: str, groups: Sequence[_Group], origin: Origin, labels: int) -> list[Masks]:
    """Return the conditions under which a generator moves whole pieces only."""
    every = [_forbidden(group, origin, labels) for group in groups]
    for group, cases in zip(groups, every, strict=True):
        if not cases:
            places = list(group.covered[0])
            raise InputError(f"the move {name} is never legal: it always moves only some places of the piece {places}")
    if prod(map(len, every)) > MAX_ALTERNATIVES:
        raise InputError(
            f"the move {name} has to be divided into more than {MAX_ALTERNATIVES:,} cases, "
            "because one place of a piece does not determine its other places"
        )
    bits = np.uint64(1) << np.arange(labels, dtype=np.uint64)
    masks = []
    for chosen in product(*every):
        forbidden = np.logical_or.reduce(chosen, axis=0) if chosen else np.zeros((labels, len(origin)), dtype=np.bool_)
        masks.append(~(forbidden * bits[:, np.newaxis]).sum(axis=0, dtype=np.uint64))
    return masks


def _forbidden(group: _Group, origin: Origin, labels: int) -> list[Mask]:
    """Return masks ``(labels, places)`` of the labels that a generator does not allow on a place, each for one case.

    The labels of the group meet exactly one of the cases if the generator moves whole pieces only, and otherwise none.
    """
    is_moved = np.append(origin != np.arange(len(origin)), False)
    exists = group.placements >= 0
    inside = is_moved[group.placements]
    moves: Mask = np.asarray((inside | ~exists).all(axis=1))
    stays: Mask = np.asarray(~inside.any(axis=1))
    blocked = ~(moves | stays)
    if blocked.all():
        return []
    possible = _seen(group, ~blocked, labels, len(origin))
    if not blocked.any():
        return [np.zeros_like(possible)]
    shown = _closed_under(_seen(group, blocked, labels, len(origin)) & ~possible, origin)
    for part in (shown & is_moved[:-1], shown & ~is_moved[:-1], shown):
        if (part[group.labels, group.placements] & exists)[blocked].any(axis=1).all():
            return [part]
    if len(group.covered) > 1:
        one, other = (list(piece) for piece in group.covered[:2])
        raise InputError(
            f"the pieces {one} and {other} have a symbol in common, and the places of their symbols do not show which "
            "of them belong together; use different symbols"
        )
    own = np.isin(np.arange(labels), group.labels)[:, np.newaxis]
    cases = [(moves, own & ~is_moved[:-1]), (stays, own & is_moved[:-1])]
    return [case for occurs, case in cases if occurs.any()]


def _seen(group: _Group, rows: Mask, labels: int, places: int) -> Mask:
    """Return a mask ``(labels, places)`` of the labels that some of the placements have on each place."""
    seen = np.zeros((labels, places), dtype=np.bool_)
    exists = group.placements[rows] >= 0
    seen[group.labels[rows][exists], group.placements[rows][exists]] = True
    return seen


def _closed_under(labels: Mask, origin: Origin) -> Mask:
    """Return a mask ``(labels, places)`` together with its images under all powers of a generator."""
    while (labels[:, origin] & ~labels).any():
        labels = labels | labels[:, origin]
    return labels
