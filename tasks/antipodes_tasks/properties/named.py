"""The symmetries that a puzzle defined in Python declares. They are checked and converted to arrays.

Each symmetry is a function of positions, like a move. It must take the label on each place to a place, and rename this
label in a way that does not depend on the labels on other places.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.properties.symmetry import NO_MOVE, Symmetry
from antipodes_tasks.properties.symmetry_graph import SymmetryGraph
from antipodes_tasks.rules.custom_function import CustomFunction
from antipodes_tasks.rules.function_checks import positions_near
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import moduli_of, random_positions
from antipodes_tasks.rules.rules import Rules

NO_PLACE = -1
"""Used instead of the image of a place while the image is not known."""
TRIED = 200
"""Number of random positions on which symmetries are checked."""


class DeclaredSymmetries(SymmetryGraph):
    """The declared symmetries of a puzzle. The points are the labels of each place, and the moves."""

    def __init__(self, rules: Rules, starts: Labels) -> None:
        """Convert the declared symmetries that permute the starts (or goals) ``starts`` ``(n, places)`` to arrays.

        Raises InputError if a declared symmetry is invalid; the message explains why.
        """
        self.rules = rules
        self.moduli: Numbers = np.array(moduli_of(rules.parts), dtype=np.int64)
        self.firsts = np.cumsum(self.moduli) - self.moduli
        self.contents = int(self.moduli.sum())
        tried = positions_near(rules.moves, rules.start_labels, backwards=False)
        named = {name: _symmetry(rules, self.moduli, name, tried) for name in rules.moves.symmetries}
        for problem in _start_problems(rules, named):
            raise InputError(problem)
        self.named = [one for one in named.values() if _permutes(one, starts)]

    @property
    def deciding(self) -> list[int]:
        """All points."""
        return list(range(self.contents + len(self.rules.moves)))

    @property
    def placed(self) -> list[int]:
        """Empty, because all points are deciding."""
        return []

    @property
    def other_vertices(self) -> list[int]:
        """Empty, because all points are deciding."""
        return []

    def generators(self) -> Numbers:
        """Return the declared symmetries as permutations of points, ``(n, points)``."""
        found = np.empty((len(self.named), len(self.points)), dtype=np.int64)
        for permutation, one in zip(found, self.named, strict=True):
            for place, first in enumerate(self.firsts.tolist()):
                contents = slice(first, first + int(self.moduli[place]))
                image = self.firsts[one.places[place]]
                permutation[contents] = image + one.labels[place, : self.moduli[place]]
            permutation[self.contents :] = self.contents + one.moves
        return found

    def symmetry(self, permutation: Numbers) -> Symmetry:
        """Return the symmetry that a permutation of the points, ``(points,)``, represents."""
        places = self._place_of[permutation[self.firsts]]
        labels = _identity_labels(self.moduli)
        for place, first in enumerate(self.firsts.tolist()):
            images = permutation[first : first + int(self.moduli[place])] - self.firsts[places[place]]
            labels[place, : len(images)] = images
        return _symmetry_from_places(
            self.rules, self.moduli, places, labels, permutation[self.contents :] - self.contents
        )

    @cached_property
    def _place_of(self) -> Numbers:
        place_of: Numbers = np.repeat(np.arange(len(self.moduli)), self.moduli)
        return place_of


def problems_of_named(rules: Rules, tried: Labels) -> Iterator[str]:
    """Yield the problems of the declared symmetries, which are checked on reachable positions ``(n, places)``."""
    moduli = np.array(moduli_of(rules.parts), dtype=np.int64)
    for name in rules.moves.symmetries:
        try:
            yield from _start_problems(rules, {name: _symmetry(rules, moduli, name, tried)})
        except InputError as error:
            yield str(error)


def _start_problems(rules: Rules, named: Mapping[str, Symmetry]) -> Iterator[str]:
    for name, one in named.items():
        if not _permutes(one, rules.start_labels):
            yield f"symmetry {quote(name)}: it must map starts to starts"


def _permutes(symmetry: Symmetry, positions: Labels) -> bool:
    return set(map(bytes, symmetry.image(positions))) == set(map(bytes, positions))


def _symmetry(rules: Rules, moduli: Numbers, name: str, tried: Labels) -> Symmetry:
    """Return the symmetry with a name; raise InputError if it is not a symmetry of the puzzle."""
    moves = rules.moves
    places, labels = _structure(rules, moduli, moves.symmetries[name])
    found = _symmetry_from_places(rules, moduli, places, labels, np.full(len(moves), NO_MOVE))
    sample = np.concatenate((tried, random_positions(rules.parts, TRIED, name)))
    if not np.array_equal(moves.symmetric(name, sample), found.image(sample)):
        raise InputError(
            f"symmetry {quote(name)}: it must rename the label on each place regardless of the labels on other places"
        )
    return _symmetry_from_places(rules, moduli, places, labels, _moves(moves, name, found, tried))


def _structure(rules: Rules, moduli: Numbers, function: CustomFunction) -> tuple[Numbers, NDArray[np.uint8]]:
    """Return the image of each place, and the new label of each label, found by changing one place at a time."""
    start = rules.start_labels[0].astype(np.int64)
    contents = [(place, content) for place, count in enumerate(moduli.tolist()) for content in range(count)]
    changed = np.tile(start, (len(contents) + 1, 1))
    for position, (place, content) in zip(changed, contents, strict=False):
        position[place] = content
    images = np.asarray(function(np.asfortranarray(changed)))
    if images.shape != changed.shape or images.dtype.kind not in "iu":
        raise InputError(f"{function.role}: the result must be an integer array of shape {changed.shape}")
    places = np.full(len(moduli), NO_PLACE)
    for (place, content), differs in zip(contents, images[:-1] != images[-1], strict=True):
        where = np.flatnonzero(differs).tolist()
        if content != start[place] and (len(where) != 1 or places[place] not in (NO_PLACE, where[0])):
            raise InputError(f"{function.role}: it must map each place to one place")
        places[place] = where[0] if where else places[place]
    unchanging = places == NO_PLACE  # places with only one label
    places[unchanging] = np.setdiff1d(np.arange(len(moduli)), places)[: unchanging.sum()]
    if (np.sort(places) != np.arange(len(moduli))).any() or (moduli[places] != moduli).any():
        raise InputError(f"{function.role}: it must map places to places with equal numbers of values")
    labels = _identity_labels(moduli)
    for (place, content), position in zip(contents, images, strict=False):
        labels[place, content] = int(position[places[place]]) % int(moduli[place])  # invalid labels are detected later
    return places, labels


def _moves(moves: Moves, name: str, symmetry: Symmetry, tried: Labels) -> Numbers:
    """Return the number of the image of each move, as far as the ``tried`` positions determine it."""
    images = symmetry.image(tried)
    after = [moves.move(number, images) for number in range(len(moves))]
    numbers = []
    for number in range(len(moves)):
        positions, legal = moves.move(number, tried)
        expected = symmetry.image(positions)
        fitting = (
            other
            for other, (found, also_legal) in enumerate(after)
            if (legal == also_legal).all() and (found[legal] == expected[legal]).all()
        )
        numbers.append(next((other for other in fitting if other not in numbers), NO_MOVE))
        if numbers[-1] == NO_MOVE:
            raise InputError(
                f"symmetry {quote(name)}: it must map moves to moves, "
                f"but the image of {quote(moves.names[number])} is not a move"
            )
    return np.array(numbers, dtype=np.int64)


def _identity_labels(moduli: Numbers) -> NDArray[np.uint8]:
    return np.tile(np.arange(int(moduli.max()), dtype=np.uint8), (len(moduli), 1))


def _symmetry_from_places(
    rules: Rules, moduli: Numbers, places: Numbers, labels: NDArray[np.uint8], moves: Numbers
) -> Symmetry:
    return Symmetry(rules, places, labels, np.zeros_like(labels), np.arange(len(places)), moduli, moves)
