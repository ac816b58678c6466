"""The pieces of a puzzle and their kinds, found from the moves: labels that always move together are one piece.

Two labels belong to one piece if each place of the one occurs with a single place of the other. This is tested on all
pairs of places that the moves reach when only the conditions on these two labels are observed, so it also holds for
all positions. Pieces are of one kind if moves can exchange their places and no condition tells them apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

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
    pieces: list[tuple[int, ...]] = field(default_factory=list)
    """The labels on the cells of each different piece."""
    counts: list[int] = field(default_factory=list)
    """The number of pieces with these labels."""

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
    return _Search(rules).kinds()


class _Search:
    def __init__(self, rules: Rules) -> None:
        moves = Transforms.of(rules.moves)
        assert moves is not None
        self.starts = rules.start_labels
        self.component = _components(moves.origin)
        holds_pieces = [part.holds_pieces for part in rules.parts for _ in range(part.places)]
        self.places = np.flatnonzero(holds_pieces).tolist()
        masks = np.full(moves.origin.shape, ~np.uint64(0)) if moves.conditions is None else moves.conditions
        self.masks = masks
        destinations = np.argsort(moves.origin, axis=1).tolist()
        self.moves = list(dict.fromkeys(zip(map(tuple, destinations), map(tuple, masks.tolist()), strict=True)))

    def kinds(self) -> list[Kind] | None:
        """Return the kinds, see `kinds_of`."""
        kinds: list[Kind] = []
        singles: dict[tuple[int, bytes], Kind] = {}
        for component in sorted(set(self.component[self.places].tolist())):
            held = np.sort(self.starts[:, self.component == component], axis=1)
            if (held != held[0]).any():
                return None
        for piece in self._pieces():
            labels = self._labels(piece)
            if len(piece) > 1:
                self._add(kinds, piece)
                continue
            component = int(self.component[piece[0]])
            alone: dict[int, tuple[int, ...]] = {place: (place,) for place in self._peers(piece[0])}
            kind = singles.setdefault((component, self._signature(piece[0])), Kind(alone, labels))
            if labels not in kind.pieces:
                kind.pieces.append(labels)
                kind.counts.append(int((self.starts[0][list(alone)] == labels[0]).sum()))
        return [*kinds, *singles.values()]

    def _labels(self, piece: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.starts[0][list(piece)].tolist())

    def _signature(self, place: int) -> bytes:
        """Return bytes that are equal for labels that no condition tells apart on the places that they can reach."""
        masks = self.masks[:, self.component == self.component[place]]
        return ((masks >> np.uint64(self.starts[0, place])) & np.uint64(1)).astype(np.bool_).tobytes()

    def _add(self, kinds: list[Kind], piece: tuple[int, ...]) -> None:
        for kind in kinds:
            for cells in sorted(kind.placements.values()):
                own = [self._signature(place) for place in cells] if set(cells) == set(piece) else []
                if own == self._signatures_of[kind.codes]:
                    kind.pieces.append(self._labels(cells))
                    kind.counts.append(1)
                    return
        found = self._placements(piece)
        assert found is not None
        kind = Kind(found, self._labels(piece), [self._labels(piece)], [1])
        self._signatures_of[kind.codes] = [self._signature(place) for place in piece]
        kinds.append(kind)

    @cached_property
    def _signatures_of(self) -> dict[tuple[int, ...], list[bytes]]:
        return {}

    def _pieces(self) -> Iterator[tuple[int, ...]]:
        """Yield the places of each piece in the first start. A label that occurs several times is a piece by itself."""
        count = {place: self._labels(self._peers(place)).count(int(self.starts[0, place])) for place in self.places}
        leader = {place: place for place in self.places}
        for one, other in combinations([place for place in self.places if count[place] == 1], 2):
            if leader[other] == other and leader[one] == one and self._placements((one, other)) is not None:
                leader[other] = one
        for place in self.places:
            if leader[place] == place:
                yield tuple(other for other in self.places if leader[other] == place)

    def _peers(self, place: int) -> list[int]:
        peers: list[int] = np.flatnonzero(self.component == self.component[place]).tolist()
        return peers

    def _placements(self, piece: Sequence[int]) -> dict[int, tuple[int, ...]] | None:
        """Return the placements of some labels, given by their places in the first start; None if they are not rigid.

        They are rigid if the place of each of them determines the places of the others.
        """
        labels = self._labels(piece)
        waiting = [self._places_in(start, piece) for start in self.starts]
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

    def _places_in(self, start: Labels, piece: Sequence[int]) -> tuple[int, ...]:
        """Return the places on which a start has the labels that the first start has on some places."""
        return tuple(
            next(place for place in self._peers(other) if start[place] == self.starts[0, other]) for other in piece
        )


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
