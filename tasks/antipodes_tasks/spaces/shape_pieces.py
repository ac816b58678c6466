"""The pieces of a puzzle and their kinds, found from the moves: labels that always move together are one piece.

The labels on two places of the start belong to one piece if the place of each of them always determines the place of
the other. This is tested on all pairs of places that the moves reach when only the conditions on these two labels are
observed, so it also holds for all positions. Pieces are of one kind if moves can exchange their places and no condition
tells them apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask, Numbers
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms


@dataclass(frozen=True)
class Kind:
    """Pieces that move alike. Each of them covers as many places, its *cells*."""

    placements: dict[int, tuple[int, ...]]
    """The places of all cells, for each place of the first cell."""
    codes: tuple[int, ...]
    """The label that stands for each cell in a shape."""
    example: tuple[int, ...] = ()
    """The places of a piece with these labels in the first start, if it has several cells."""
    pieces: list[tuple[int, ...]] = field(default_factory=list)
    """The labels on the cells of each different piece."""
    counts: list[int] = field(default_factory=list)
    """The number of pieces with these labels."""

    def add(self, labels: tuple[int, ...]) -> None:
        """Add a piece with these labels."""
        if labels not in self.pieces:
            self.pieces.append(labels)
            self.counts.append(0)
        self.counts[self.pieces.index(labels)] += 1

    @cached_property
    def leads(self) -> Numbers:
        """The places of the first cell, in the order of the pieces: by the first place that the piece covers."""
        return np.array(sorted(self.placements, key=lambda lead: min(self.placements[lead])))

    @cached_property
    def cells(self) -> Numbers:
        """``(cells, places)``: the place of each cell for each place of the first cell."""
        cells = np.zeros((len(self.codes), max(self.placements) + 1), dtype=np.int64)
        cells[:, list(self.placements)] = np.array(list(self.placements.values())).T
        return cells

    @cached_property
    def labels(self) -> Labels:
        """``(pieces, cells)``: the labels of each different piece."""
        return np.array(self.pieces, dtype=np.uint8)

    def is_first_cell(self, shapes: Labels) -> Mask:
        """Return a mask ``(n, leads)`` of the places in `leads` on which shapes ``(n, places)`` have a first cell."""
        mask: Mask = shapes[:, self.leads] == self.codes[0]
        return mask

    def slots(self, shapes: Labels) -> Numbers:
        """Return the places ``(n, pieces)`` of the first cells in shapes ``(n, places)``, in order."""
        found: Numbers = self.leads[np.nonzero(self.is_first_cell(shapes))[1]]
        return found.reshape(len(shapes), sum(self.counts))


def kinds_of(rules: Rules) -> list[Kind] | None:
    """Return the kinds of the pieces of a puzzle; None if the starts have different pieces in some part of the board.

    Places that hold values belong to no kind.
    """
    moves = Transforms.of(rules.moves)
    assert moves is not None
    search = _Search(rules, moves, _components(moves.origin))
    for component in np.unique(search.component[search.places]):
        held = np.sort(rules.start_labels[:, search.component == component], axis=1)
        if (held != held[0]).any():
            return None
    pieces = search.pieces()
    while shared := _ambiguous(search, kinds := search.kinds(pieces)):
        pieces = [piece for whole in pieces for piece in search.divided(whole, shared)]
    return kinds


def _ambiguous(search: "_Search", kinds: Sequence[Kind]) -> set[tuple[int, int]]:
    """Return the labels, with their parts of the board, that do not determine the kind and the cell of their piece.

    The label of a first cell must also determine the piece.
    """
    roles: dict[tuple[int, int], set[tuple[int, int, int]]] = {}
    for number, kind in enumerate(kinds):
        for cell, place in enumerate(next(iter(kind.placements.values()))):
            for piece, labels in enumerate(kind.pieces):
                role = number, cell, 0 if cell else piece
                roles.setdefault((int(search.component[place]), labels[cell]), set()).add(role)
    return {label for label, cells in roles.items() if len(cells) > 1}


class _Search:
    """The search for pieces. A piece is given by the places that it covers in the first start."""

    def __init__(self, rules: Rules, moves: Transforms, component: Numbers) -> None:
        self.start = rules.start_labels[0]
        self.component = component
        """``(places,)``: the part of the board to which each place belongs."""
        holds_pieces = [part.holds_pieces for part in rules.parts for _ in range(part.places)]
        self.places = np.flatnonzero(holds_pieces).tolist()
        everything = np.full(moves.origin.shape, ~np.uint64(0))
        self.masks = everything if moves.conditions is None else moves.conditions
        destinations = np.argsort(moves.origin, axis=1).tolist()
        self.moves = list(dict.fromkeys(zip(map(tuple, destinations), map(tuple, self.masks.tolist()), strict=True)))

    def pieces(self) -> list[tuple[int, ...]]:
        """Return the places of each piece."""
        pieces: list[tuple[int, ...]] = []
        for place in sorted(self.places, key=self._frequency):
            for number, piece in enumerate(pieces):
                if self._placements((*piece, place)) is not None:
                    pieces[number] = (*piece, place)
                    break
            else:
                pieces.append((place,))
        return pieces

    def _frequency(self, place: int) -> int:
        """Return how many places of the same part of the board have the label of a place."""
        return int((self.start[self.component == self.component[place]] == self.start[place]).sum())

    def divided(self, piece: tuple[int, ...], shared: set[tuple[int, int]]) -> list[tuple[int, ...]]:
        """Return a piece without the places whose labels are ``shared``, and these places as pieces of their own."""
        alone = [place for place in piece if (int(self.component[place]), int(self.start[place])) in shared]
        rest = tuple(place for place in piece if place not in alone)
        return [*((place,) for place in alone), *([rest] if rest else [])]

    def kinds(self, pieces: Sequence[tuple[int, ...]]) -> list[Kind]:
        """Return the kinds of some pieces."""
        kinds: dict[tuple[int, bytes], Kind] = {}
        for piece in pieces:
            component, cells = int(self.component[piece[0]]), piece
            key = component, self._signature(piece[0])
            if len(piece) == 1:
                alone: dict[int, tuple[int, ...]] = {
                    place: (place,) for place in np.flatnonzero(self.component == component).tolist()
                }
                kinds.setdefault(key, Kind(alone, self._labels(piece)))
            else:
                found = (one for key, kind in kinds.items() for one in self._fitting(key, kind, piece))
                key, cells = next(found, ((piece[0], b""), piece))
                kinds.setdefault(key, Kind(self._placements(piece) or {}, self._labels(piece), piece))
            kinds[key].add(self._labels(cells))
        return list(kinds.values())

    def _fitting(
        self, key: tuple[int, bytes], kind: Kind, piece: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, bytes], tuple[int, ...]]]:
        """Yield the key of a kind and the places of a piece in the order of the cells, if the piece is of this kind."""
        if len(kind.codes) == len(piece):
            signatures = list(map(self._signature, kind.example))
            for cells in sorted(kind.placements.values()):
                if set(cells) == set(piece) and list(map(self._signature, cells)) == signatures:
                    yield key, cells

    def _labels(self, piece: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.start[list(piece)].tolist())

    def _signature(self, place: int) -> bytes:
        """Return bytes that are equal for labels that no condition tells apart in the same part of the board."""
        masks = self.masks[:, self.component == self.component[place]]
        return ((masks >> np.uint64(self.start[place])) & np.uint64(1)).astype(np.bool_).tobytes()

    def _placements(self, piece: Sequence[int]) -> dict[int, tuple[int, ...]] | None:
        """Return the placements of some labels, given by their places in the first start; None if they are not rigid.

        They are rigid if the place of each of them determines the places of the others.
        """
        labels, waiting = self._labels(piece), [tuple(piece)]
        found: dict[int, tuple[int, ...]] = {}
        leads = [dict[int, int]() for _ in labels]
        while waiting:
            places = waiting.pop()
            if places[0] in found:
                if found[places[0]] != places:
                    return None
                continue
            found[places[0]] = places
            if any(lead.setdefault(place, places[0]) != places[0] for lead, place in zip(leads, places, strict=True)):
                return None
            for destination, masks in self.moves:
                if all(masks[place] >> label & 1 for place, label in zip(places, labels, strict=True)):
                    waiting.append(tuple(destination[place] for place in places))
        return found


def _components(origin: NDArray[np.int16]) -> Numbers:
    """Return for each place the first place of the places to which moves can take labels from there."""
    component = np.arange(origin.shape[1])
    while True:
        lower = np.minimum(component, component[origin].min(axis=0, initial=origin.shape[1]))
        for row in origin:
            np.minimum.at(lower, row, component)
        if (lower == component).all():
            return component
        component = lower
