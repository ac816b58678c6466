"""A puzzle as a coloured graph whose automorphisms are the symmetries of the puzzle.

There are vertices for places, labels of pieces, values of a place, starts and moves. If a move takes the label on one
place to another place, an arc connects the two places. The twists of a place form a cycle of values, which symmetries
can rotate and reflect, because it is arbitrary which twist of a place is 0. So each piece also has its own cycle, and
each start connects the cycle of a piece to the cycle of its place.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask, Numbers
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.properties.coloured_graph import ColouredGraph
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.properties.symmetry_graph import SymmetryGraph, images_of_copies
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import moduli_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms

EMPTY = 0
MAX_START_POINTS = 64
"""Maximum number of starts that are deciding points; if there are more, places, labels and values decide instead."""
Vertices = dict[tuple[int, int], int]


class PuzzleGraph(SymmetryGraph):
    """The graph of a puzzle of pieces and values on places."""

    def __init__(self, rules: Rules, starts: Labels) -> None:
        """Build the graph for the symmetries that permute the starts (or goals) ``starts`` ``(n, places)``.

        Raises InputError if the moves are functions, because their effects are not known.
        """
        if rules.moves.transforms is None and rules.moves.ends is None:
            raise InputError(
                f"the moves of {rules.name} are functions, so its symmetries are unknown; define it with symmetries="
            )
        self.rules = rules
        self.starts = rules.moves.with_regions(starts)
        self.moduli: Numbers = np.array(moduli_of(rules.parts), dtype=np.int64)
        self.carriers = carriers_of(rules)
        self.part_of: Numbers = np.repeat(np.arange(len(rules.parts)), [part.places for part in rules.parts])
        self.graph = ColouredGraph()
        self._add_places()
        self._add_contents()
        self._add_starts()
        self._add_moves()

    @cached_property
    def is_twist(self) -> Mask:
        """``(places,)``: whether a place holds the twists of pieces."""
        mask: Mask = self.carriers != np.arange(self.rules.places)
        return mask

    @cached_property
    def has_piece(self) -> Mask:
        """``(places,)``: whether a place holds pieces, not values."""
        mask: Mask = np.array([part.holds_pieces for part in self.rules.parts])[self.part_of]
        return mask

    @cached_property
    def contents(self) -> Mask:
        """``(places, labels)``: the labels that places can hold after moves; for pieces and twists, all labels."""
        contents: Mask = np.zeros((self.rules.places, int(self.moduli.max())), dtype=np.bool_)
        contents[np.arange(self.rules.places), self.starts] = True
        for part, here in zip(self.rules.parts, self.rules.ranges, strict=True):
            if part.counts is not None:
                contents[here, : len(part.counts)] = np.array(part.counts) > 0
            elif self.is_twist[here].any():
                contents[here, : len(part.symbols)] = True
        if (moves := Transforms.of(self.rules.moves)) is not None:
            _spread(contents, moves, np.flatnonzero(~self.has_piece & ~self.is_twist))
        return contents

    def _add_places(self) -> None:
        self.places: list[int] = []
        self.parts: list[int] = []
        for part, here in zip(self.rules.parts, self.rules.ranges, strict=True):
            twists = bool(self.is_twist[here].any())
            self.parts.append(self.graph.vertex(("part", part.places, len(part.symbols), part.holds_pieces, twists)))
            for place in range(here.start, here.stop):
                self.places.append(self.graph.vertex("place", self.parts[-1]))
                if twists:
                    self.graph.edge(self.places[place], self.places[int(self.carriers[place])])

    def _add_contents(self) -> None:
        """Add the labels of each part that holds pieces, and the values of each other place."""
        self.labels: Vertices = {}
        self.values: Vertices = {}
        for place, part in enumerate(self.part_of.tolist()):
            for content in np.flatnonzero(self.contents[place]).tolist():
                if not self.has_piece[place]:
                    self.values[place, content] = self.graph.vertex("value", self.places[place])
                elif (part, content) not in self.labels:
                    self.labels[part, content] = self.graph.vertex(self._role(content), self.parts[part])
            if self.is_twist[place]:
                self.graph.cycle([self.values[place, twist] for twist in range(self.moduli[place])])

    def _role(self, label: int) -> str:
        """Return the colour of a label: swaps distinguish empty places, and some swaps also distinguish free pieces."""
        moves = self.rules.moves
        if label == moves.free:
            return "free"
        return "empty" if moves.transforms is None and label == EMPTY else "label"

    def _add_starts(self) -> None:
        self.start_vertices = [self.graph.vertex("start") for _ in self.starts]
        self.circles: Vertices = {}
        for start, labels in zip(self.start_vertices, self.starts.tolist(), strict=True):
            for place, content in enumerate(labels):
                if self.is_twist[place]:
                    self._add_start_twist(start, place, content, labels[int(self.carriers[place])])
                elif self.has_piece[place]:
                    label = self.labels[int(self.part_of[place]), content]
                    self.graph.vertex("begins", self.places[place], label, start)
                else:
                    self.graph.edge(start, self.values[place, content])

    def _add_start_twist(self, start: int, place: int, twist: int, label: int) -> None:
        """Connect the cycle of the piece on a place to the cycle of the place."""
        part, count = int(self.part_of[place]), int(self.moduli[place])
        if (part, label * count) not in self.circles:
            piece = self.labels[int(self.part_of[self.carriers[place]]), label]
            own = [self.graph.vertex("turn", piece) for _ in range(count)]
            self.graph.cycle(own)
            self.circles |= {(part, label * count + turn): vertex for turn, vertex in enumerate(own)}
        for turn in range(count):
            value = self.values[place, (twist + turn) % count]
            self.graph.vertex("begins", self.circles[part, label * count + turn], value, start)

    def _add_moves(self) -> None:
        moves = Transforms.of(self.rules.moves)
        self.move_vertices: list[int] = []
        if moves is not None:
            self.copies = _copies(moves)
            self.move_vertices = [self.graph.vertex("move") for _ in self.copies]
            for vertex, (number, *_) in zip(self.move_vertices, self.copies, strict=True):
                self._add_transform(moves, number, vertex)
            return
        pairs = set(map(tuple, _edges(self.rules.moves).tolist()))
        for origin, destination in sorted(pairs):
            if (destination, origin) not in pairs:
                self.graph.arc(self.places[origin], self.places[destination])
            elif origin < destination:
                self.graph.edge(self.places[origin], self.places[destination])

    def _add_transform(self, moves: Transforms, number: int, move: int) -> None:
        origin, added = moves.origin[number], moves.added[number]
        for place in np.flatnonzero((origin != np.arange(len(origin))) | (added > 0)).tolist():
            come_from = int(origin[place])
            if self.has_piece[place]:
                if place not in self._carrying:  # otherwise the twists determine where the piece goes
                    self.graph.arc(self.places[come_from], self.places[place], move)
                continue
            for value in np.flatnonzero(self.contents[come_from] & _allowed(moves, number, come_from)).tolist():
                after = (value + int(added[place])) % int(self.moduli[place])
                self.graph.arc(self.values[come_from, value], self.values[place, after], move)
        for place in np.flatnonzero(moves.conditional[number]).tolist():
            self._add_condition(place, _allowed(moves, number, place), move)

    @cached_property
    def _carrying(self) -> frozenset[int]:
        return frozenset(self.carriers[self.is_twist].tolist())

    def _add_condition(self, place: int, allowed: Mask, move: int) -> None:
        """Connect a move to the labels that it allows on a place, or to the forbidden labels if these are fewer."""
        needed, refused = (np.flatnonzero(self.contents[place] & mask).tolist() for mask in (allowed, ~allowed))
        few, colour = (needed, "needs") if 0 < len(needed) < len(refused) else (refused, "refuses")
        for content in few:
            if self.has_piece[place]:
                label = self.labels[int(self.part_of[place]), content]
                self.graph.vertex(colour, move, self.places[place], label)
            else:
                self.graph.vertex(colour, move, self.values[place, content])

    @property
    def deciding(self) -> list[int]:
        """The starts and the moves; for swaps, the places between which pieces move instead of the moves.

        If there are more than MAX_START_POINTS starts and pieces have no twists, all places, labels and values replace
        the starts.
        """
        decisive = self.move_vertices or [self.places[place] for place in self._touched]
        if len(self.start_vertices) <= MAX_START_POINTS or self.circles:
            return [*decisive, *self.start_vertices]
        return [*decisive, *self.places, *self.labels.values(), *self.values.values()]

    @property
    def placed(self) -> list[int]:
        """The places and the labels."""
        return [*self.places, *self.labels.values()]

    @property
    def other_vertices(self) -> list[int]:
        """The values, and the cycles of the twists of pieces."""
        return [*self.values.values(), *self.circles.values()]

    @cached_property
    def _touched(self) -> list[int]:
        """The places that occur in swaps."""
        found: list[int] = np.unique(_edges(self.rules.moves)).tolist()
        return found

    def symmetry(self, permutation: Numbers) -> Symmetry:
        """Return the symmetry that a permutation of the points, ``(points,)``, represents."""
        become = self.images(permutation)
        place_of = {vertex: place for place, vertex in enumerate(self.places)}
        places: Numbers = np.array([place_of[become[vertex]] for vertex in self.places], dtype=np.int64)
        labels = self._relabelled(places, become)
        turns = self._turns(become)
        return Symmetry(self.rules, places, labels, turns, self.carriers, self.moduli, self._moves(places, become))

    def _relabelled(self, places: Numbers, become: dict[int, int]) -> NDArray[np.uint8]:
        """Return the new label of each label on each place. Labels that moves cannot bring there keep their order."""
        label_of = {vertex: label for (_, label), vertex in (*self.labels.items(), *self.values.items())}
        labels = np.tile(np.arange(self.contents.shape[1], dtype=np.uint8), (len(places), 1))
        for place, (part, image) in enumerate(zip(self.part_of.tolist(), places.tolist(), strict=True)):
            vertices, key = (self.labels, part) if self.has_piece[place] else (self.values, place)
            known = np.flatnonzero(self.contents[place])
            labels[place, known] = [label_of[become[vertices[key, content]]] for content in known.tolist()]
            labels[place, ~self.contents[place]] = np.flatnonzero(~self.contents[image])
        return labels

    def _turns(self, become: dict[int, int]) -> NDArray[np.uint8]:
        """Return the number that each piece adds to its twist: the rotation of its cycle, with the opposite sign."""
        turns = np.zeros(self.contents.shape, dtype=np.uint8)
        turn_of = {vertex: number for (_, number), vertex in self.circles.items()}
        for place in np.flatnonzero(self.is_twist).tolist():
            part, count = int(self.part_of[place]), int(self.moduli[place])
            for label in np.flatnonzero(self.contents[self.carriers[place]]).tolist():
                turned = turn_of[become[self.circles[part, label * count]]] % count
                turns[place, label] = -turned % count
        return turns

    def _moves(self, places: Numbers, become: dict[int, int]) -> Numbers:
        if self.rules.moves.transforms is None:
            pairs = _ends(self.rules.moves)
            return _numbers_of(places[pairs], pairs, len(places))
        number = {vertex: at for at, vertex in enumerate(self.move_vertices)}
        return images_of_copies(self.copies, [number[become[vertex]] for vertex in self.move_vertices])


def carriers_of(rules: Rules) -> Numbers:
    """Return ``(places,)``: for a twist, the place of its piece; otherwise the place itself.

    If moves separate twists from their pieces, or depend on twists, the twists are treated like other values.
    """
    carriers: Numbers = np.arange(rules.places)
    moves = Transforms.of(rules.moves)
    if moves is None:
        return carriers
    origin, conditional = moves.origin, moves.conditional
    for number, (part, here) in enumerate(zip(rules.parts, rules.ranges, strict=True)):
        if not part.twists or not number or not rules.parts[number - 1].holds_pieces:
            continue
        before = rules.ranges[number - 1]
        together = np.array_equal(origin[:, here] - here.start, origin[:, before] - before.start)
        if together and not conditional[:, here].any():
            carriers[here] = np.arange(before.start, before.stop)
    return carriers


def _ends(moves: Moves) -> Numbers:
    """Return ``(moves, 2)``: the places between which each move takes a piece; none if moves may take several."""
    return np.empty((0, 2), dtype=np.int64) if moves.ends is None else moves.ends.astype(np.int64)


def _edges(moves: Moves) -> Numbers:
    """Return the distinct pairs of places of swaps, ``(n, 2)``, without swaps of a place with itself."""
    pairs = _ends(moves)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def _copies(moves: Transforms) -> list[list[int]]:
    """Return the numbers of the moves, with one list for each set of equal moves."""
    conditions = np.zeros(moves.origin.shape) if moves.conditions is None else moves.conditions
    found: dict[bytes, list[int]] = {}
    for number, (origin, added, allowed) in enumerate(zip(moves.origin, moves.added, conditions, strict=True)):
        found.setdefault(origin.tobytes() + added.tobytes() + allowed.tobytes(), []).append(number)
    return list(found.values())


def _allowed(moves: Transforms, number: int, place: int) -> Mask:
    """Return ``(labels,)``: the labels of a place that allow a move."""
    count = int(moves.moduli.max())
    if moves.conditions is None:
        return np.ones(count, dtype=np.bool_)
    mask: Mask = (moves.conditions[number, place] >> np.arange(count, dtype=np.uint64)) & np.uint64(1) == 1
    return mask


def _spread(contents: Mask, moves: Transforms, places: Numbers) -> None:
    """Add all values that moves can bring to some places ``(n,)`` to ``contents`` ``(places, labels)``."""
    spread = set(places.tolist())
    changed = (moves.origin != np.arange(moves.places)) | (moves.added > 0)
    steps = [(number, place) for number, place in np.argwhere(changed).tolist() if place in spread]
    size = -1
    while size != (size := int(contents.sum())):
        for number, place in steps:
            come_from = int(moves.origin[number, place])
            values = np.flatnonzero(contents[come_from] & _allowed(moves, number, come_from))
            contents[place, (values + int(moves.added[number, place])) % int(moves.moduli[place])] = True


def _numbers_of(images: Numbers, pairs: Numbers, places: int) -> Numbers:
    """Return, for each image ``(moves, 2)``, the number ``(moves,)`` of the first of the ``pairs`` that is equal to it.

    A swap of a place with itself, which is never legal, keeps its number.
    """
    weights = np.array([places, 1])
    different, first = np.unique(pairs @ weights, return_index=True)
    at = np.minimum(np.searchsorted(different, images @ weights), max(0, len(different) - 1))
    numbers: Numbers = np.where(pairs[:, 0] == pairs[:, 1], np.arange(len(images)), first[at])
    return numbers
