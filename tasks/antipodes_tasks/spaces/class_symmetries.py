"""The symmetries of the classes of positions under free moves.

An *automorphism* maps the classes of shapes to each other and rearranges the slots of each class, so that rotations
become rotations and moves become moves. A symmetry is an automorphism followed by a renaming of the pieces that maps
the starts to starts. Automorphisms come from two sources:

* Some permute the places of the puzzle, such as reflections. The search for the symmetries of puzzles finds them.
* If each move leads from an even class to an odd one or back, such a permutation may also be applied only in the odd
  classes. An example is the exchange of the layers of Square-1 only if its middle is flipped.

Each automorphism is checked on all classes, rotations and moves. Automorphisms do not depend on the starts. Therefore
products are found that map starts to starts although their factors do not.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask, Numbers
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.properties.puzzle_graph import PuzzleGraph
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.properties.symmetry_images import MAX_SYMMETRIES
from antipodes_tasks.rules.free_moves import FreeMoves
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.class_graph import ClassGraph, Slots
from antipodes_tasks.spaces.shapes import ShapeGraph

MAX_START_CLASSES = 1 << 6
"""Maximum number of classes of starts for which symmetries are sought."""
MAX_TURNED_MOVES = 1 << 18
"""Maximum number of moves, each followed by each rotation, of all classes. The check of an automorphism compares all of
them, which takes about a second."""
Image = tuple[int, bytes]
"""A class, and the slot from which each of its slots gets its piece."""


class Automorphism(NamedTuple):
    """A map of the classes that preserves rotations and moves."""

    to: Numbers
    """``(classes,)``: the image of each class."""
    origins: Slots
    """``(classes, slots)``: the slot of the class from which each slot of its image gets its piece. Of the
    rearrangements that rotations of the image connect, it is the first one."""


@dataclass(frozen=True, eq=False)
class ClassSymmetries:
    """A group of symmetries, the identity first."""

    to: NDArray[np.int64]
    """``(symmetries, classes)``: the image of each class."""
    origins: Slots
    """``(symmetries, classes, slots)``: the slot of the class from which each slot of its image gets its piece."""
    renaming: Numbers
    """``(symmetries,)``: the number of the renaming, which is applied after the rearrangement."""
    renamings: Labels
    """``(renamings, slots, labels)``: the new label of each label in each slot; number 0 is the identity."""

    def __len__(self) -> int:
        return len(self.to)

    def renamed(self, arranged: Labels, renaming: Numbers | int) -> Labels:
        """Return pieces ``(n, slots)`` after one renaming, or after one for each of them, ``(n,)``."""
        if not isinstance(renaming, int):
            each: Labels = self.renamings[renaming[:, np.newaxis], np.arange(arranged.shape[1]), arranged]
            return each
        if not renaming:
            return arranged
        renamed = np.empty_like(arranged)
        for slot, labels in enumerate(self.renamings[renaming]):  # all slots together would need eight times the memory
            renamed[:, slot] = labels[arranged[:, slot]]
        return renamed

    @cached_property
    def products(self) -> Numbers:
        """``(renamings, renamings)``: the renaming that has the effect of the second one, followed by the first."""
        number = {one.tobytes(): at for at, one in enumerate(self.renamings)}
        slots = np.arange(self.renamings.shape[1])[:, np.newaxis]
        return np.array([[number[then[slots, one].tobytes()] for one in self.renamings] for then in self.renamings])

    def inverse(self, slots: bytes, renaming: int) -> tuple[bytes, int]:
        """Return the rearrangement and the number of the renaming that together reverse others of these."""
        return _inverse(slots), int(np.flatnonzero(self.products[:, renaming] == 0)[0])

    @classmethod
    def trivial(cls, graph: ClassGraph) -> "ClassSymmetries":
        """Return the identity only."""
        classes, slots = len(graph.representatives), graph.slots.places
        every = np.tile(np.arange(slots, dtype=np.uint8), (1, classes, 1))
        same = np.tile(np.arange(_labels(graph), dtype=np.uint8), (1, slots, 1))
        return cls(np.arange(classes)[np.newaxis], every, np.zeros(1, dtype=np.int64), same)


def automorphisms(rules: Rules, graph: ClassGraph) -> list[Automorphism]:
    """Return a group of automorphisms, the identity first.

    Raises ResourceLimitError if it has more than MAX_SYMMETRIES elements, or the puzzle is too large.
    """
    turned = sum(len(graph.rotations[to]) for moves in graph.moves for to in moves.to.tolist())
    if turned > MAX_TURNED_MOVES:
        raise ResourceLimitError(f"symmetries are found for at most {MAX_TURNED_MOVES:,} moves, not {turned:,}")
    check = _Check(graph)
    identity, odd = check.normal_form(_identity(graph)), _odd(graph)
    group = _Group(check, identity)
    for one in map(check.normal_form, _of_places(rules, graph)):
        group.add(one)
    if odd is not None:
        for one in group.elements:
            group.add(_in_some(odd, one, identity))
    return group.elements


def _identity(graph: ClassGraph) -> Automorphism:
    classes, slots = len(graph.representatives), graph.slots.places
    return Automorphism(np.arange(classes), np.tile(np.arange(slots, dtype=np.uint8), (classes, 1)))


def _odd(graph: ClassGraph) -> Mask | None:
    """Return a mask of the classes that an odd number of moves reaches; None if other classes are reached, too."""
    parity = np.full(len(graph.moves), -1)
    for first in range(len(parity)):
        waiting = [first] if parity[first] < 0 else []
        parity[waiting] = 0
        while waiting:
            number = waiting.pop()
            after = graph.moves[number].to
            if (parity[after] == parity[number]).any():
                return None
            waiting += np.unique(after[parity[after] < 0]).tolist()
            parity[after] = 1 - parity[number]
    odd: Mask = parity == 1
    return odd


def _in_some(classes: Mask, one: Automorphism, other: Automorphism) -> Automorphism:
    """Return the map that is ``one`` in the classes of a mask, and ``other`` in all other classes."""
    to = np.where(classes, one.to, other.to)
    return Automorphism(to, np.where(classes[:, np.newaxis], one.origins, other.origins))


def class_symmetries(
    graph: ClassGraph, group: Iterable[Automorphism], starts: tuple[Numbers, Labels]
) -> ClassSymmetries:
    """Return all products of automorphisms and renamings that map starts to starts.

    ``starts`` are the class ``(n,)`` and the pieces ``(n, slots)`` of each start.
    """
    of, arranged = starts
    names = dict[bytes, int]()
    names[ClassSymmetries.trivial(graph).renamings[0].tobytes()] = 0
    expected = {_first(graph, *one) for one in zip(of.tolist(), arranged, strict=True)}
    found = list[tuple[Numbers, Slots, int]]()
    for one in group:
        moved = np.take_along_axis(arranged, one.origins[of].astype(np.int64), axis=1)
        to = one.to[of].tolist()
        for renamed in _renamings(graph, to[0], moved[0], of, arranged):
            images = renamed[np.arange(graph.slots.places), moved]
            if {_first(graph, *image) for image in zip(to, images, strict=True)} == expected:
                found.append((one.to, one.origins, names.setdefault(renamed.tobytes(), len(names))))
    if len(found) > MAX_SYMMETRIES:
        raise ResourceLimitError(f"it has {len(found):,} symmetries, more than {MAX_SYMMETRIES:,}")
    renamings = np.array([np.frombuffer(name, dtype=np.uint8) for name in names])
    shape = len(names), graph.slots.places, _labels(graph)
    to, origins, renaming = map(np.array, zip(*found, strict=True))
    return ClassSymmetries(to, origins, renaming, renamings.reshape(shape))


def _labels(graph: ClassGraph) -> int:
    return max(len(part.symbols) for part in graph.slots.parts)


def _first(graph: ClassGraph, of: int, arranged: Labels) -> tuple[int, bytes]:
    """Return the class and the first of the arrangements that its rotations connect."""
    return of, min(map(bytes, arranged[graph.rotations[of]]))


def _renamings(graph: ClassGraph, of: int, moved: Labels, starts: Numbers, arranged: Labels) -> Iterator[Labels]:
    """Yield the renamings ``(slots, labels)`` of pieces ``(slots,)`` of a class that lead to some start."""
    known = set[bytes]()
    for start in np.flatnonzero(starts == of).tolist():
        for wanted in arranged[start][graph.rotations[of]]:
            renamed = np.tile(np.arange(_labels(graph), dtype=np.uint8), (len(moved), 1))
            for here in graph.slots.ranges:
                renamed[here, moved[here]] = wanted[here]
            right = (np.sort(renamed, axis=1) == np.arange(renamed.shape[1])).all()
            if right and (renamed[np.arange(len(moved)), moved] == wanted).all() and renamed.tobytes() not in known:
                known.add(renamed.tobytes())
                yield renamed


def _of_places(rules: Rules, graph: ClassGraph) -> Iterator[Automorphism]:
    """Yield the maps of classes by symmetries of the single moves; these generate all others. They are not checked."""
    assert isinstance(rules.moves, FreeMoves)
    puzzle = PuzzleGraph(replace(rules, moves=rules.moves.elementary), rules.start_labels[:0])
    if puzzle.is_twist.any():
        return  # the symmetries of twists depend on a start
    for permutation in puzzle.generators():
        found = _induced(graph, puzzle.symmetry(permutation))
        if found is not None:
            yield found


def _induced(graph: ClassGraph, symmetry: Symmetry) -> Automorphism | None:
    """Return the map of classes by a symmetry; None if it leads to other shapes."""
    shapes, classes = graph.shapes, len(graph.representatives)
    labels = shapes.positions(graph.representatives, np.repeat(graph.slots.start_labels[:1], classes, axis=0))
    known, image, _ = shapes.divided(symmetry.image(labels))
    if len(known) < classes:
        return None
    at = _slot_of_places(shapes, image)[np.arange(classes)[:, np.newaxis], symmetry.places[_leads(shapes, graph)]]
    homes = np.take_along_axis(graph.homes[image], at, axis=1)
    return Automorphism(graph.of[image].astype(np.int64), np.argsort(homes, axis=1).astype(np.uint8))


def _leads(shapes: ShapeGraph, graph: ClassGraph) -> Numbers:
    """Return the place of the first cell in each slot of the representatives, ``(classes, slots)``."""
    codes = shapes.packing.unpack(shapes.keys[graph.representatives])
    none = np.zeros((len(codes), int(not shapes.kinds)), dtype=np.int64)
    return np.concatenate([none, *(kind.slots(codes) for kind in shapes.kinds)], axis=1)


def _slot_of_places(shapes: ShapeGraph, numbers: Numbers) -> Numbers:
    """Return the slot ``(n, places)`` to which each place belongs in the shapes with these numbers ``(n,)``."""
    codes = shapes.packing.unpack(shapes.keys[numbers])
    slot_of, lines, first = np.zeros(codes.shape, dtype=np.int64), np.arange(len(codes))[:, np.newaxis], 0
    for kind in shapes.kinds:
        leads = kind.slots(codes)
        for places in kind.cells:
            slot_of[lines, places[leads]] = first + np.arange(leads.shape[1])
        first += leads.shape[1]
    return slot_of


def _composed(first: bytes, then: bytes) -> bytes:
    """Return the slot before both rearrangements from which each slot after them gets its piece."""
    return then.translate(first.ljust(256, b"\0"))


def _inverse(origins: bytes) -> bytes:
    return bytes(sorted(range(len(origins)), key=origins.__getitem__))


class _Check:
    """The check whether maps of classes are automorphisms."""

    def __init__(self, graph: ClassGraph) -> None:
        self._rotations = [list(map(bytes, each)) for each in graph.rotations]
        self._moves = [list(zip(moves.to.tolist(), map(bytes, moves.origins), strict=True)) for moves in graph.moves]
        self._known = list(map(set, self._moves))
        self._part_of = np.repeat(np.arange(len(graph.slots.parts)), [part.places for part in graph.slots.parts])

    def normal_form(self, one: Automorphism) -> Automorphism:
        """Return the automorphism with the first of the rearrangements that rotations connect, for each class."""
        first = [self._first(to, bytes(slots)) for to, slots in zip(one.to.tolist(), one.origins, strict=True)]
        return Automorphism(one.to, np.array([list(each) for each in first], dtype=np.uint8))

    def _first(self, to: int, origins: bytes) -> bytes:
        return min(_composed(origins, rotation) for rotation in self._rotations[to])

    def __call__(self, one: Automorphism) -> bool:
        """Return whether a map permutes the classes and preserves kinds of pieces, all rotations and all moves."""
        every = np.arange(len(self._moves))
        if (np.sort(one.to) != every).any() or (self._part_of[one.origins] != self._part_of).any():
            return False
        images = list(zip(one.to.tolist(), map(bytes, one.origins), strict=True))
        return all(self._preserves(number, images) for number in every.tolist())

    def _preserves(self, number: int, images: list[Image]) -> bool:
        to, origins = images[number]
        back = _inverse(origins)
        turned = {_composed(back, _composed(rotation, origins)) for rotation in self._rotations[number]}
        moved = {self._moved(back, move, images[after]) for after, move in self._moves[number]}
        return turned == set(self._rotations[to]) and moved == self._known[to]

    def _moved(self, back: bytes, move: bytes, after: Image) -> Image:
        """Return the image of a move, given the inverse of the image of its class and the image of the class after."""
        return after[0], self._first(after[0], _composed(back, _composed(move, after[1])))


class _Group:
    """A group of automorphisms, to which more can be added."""

    def __init__(self, check: _Check, identity: Automorphism) -> None:
        self._check = check
        self._found = {_key(identity): identity}
        self._generators: list[Automorphism] = []

    @property
    def elements(self) -> list[Automorphism]:
        """All elements, the identity first."""
        return list(self._found.values())

    def add(self, candidate: Automorphism) -> None:
        """Extend the group by a map, if the map is an automorphism.

        Each new generator at least doubles the group, so there are few of them, and few products are computed.
        """
        if _key(candidate) in self._found or not self._check(candidate):
            return
        self._generators.append(candidate)
        waiting = self.elements
        while waiting:
            one = waiting.pop()
            for then in self._generators:
                origins = np.take_along_axis(one.origins, then.origins[one.to].astype(np.int64), axis=1)
                product = self._check.normal_form(Automorphism(then.to[one.to], origins))
                if _key(product) not in self._found:
                    self._found[_key(product)] = product
                    waiting.append(product)
            if len(self._found) > MAX_SYMMETRIES:
                raise ResourceLimitError(f"it has more than {MAX_SYMMETRIES:,} symmetries")


def _key(one: Automorphism) -> bytes:
    return one.to.tobytes() + one.origins.tobytes()
