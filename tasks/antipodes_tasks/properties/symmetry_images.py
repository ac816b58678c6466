"""The symmetries of a puzzle as arrays, for computing the images of many positions at once.

The *image* of a position is the position to which a symmetry maps it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import FieldError, ResourceLimitError
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.rules.parts import moduli_of
from antipodes_tasks.rules.rules import Rules

MAX_SYMMETRIES = 1 << 10
"""Maximum number of symmetries of a reduced space. Each position is compared with its images under all of them."""
MIN_CONTENTS_TO_COMPILE = 1 << 18
"""Number of labels, of all positions together, above which compiled code is loaded to compute their images."""
TRIED = 32
"""Number of starts, and of positions on a random walk, on which recorded symmetries are checked."""


@dataclass(frozen=True, eq=False)
class Images:
    """Symmetries of a puzzle, one per line of each array; see `antipodes_tasks.properties.symmetry.Symmetry`.

    Symmetry ``s`` takes the label ``v`` on place ``i`` to place ``places[s, i]``, where it becomes ``labels[s, i, v]``.
    If the label is the twist of a piece ``p`` on place ``carriers[i]``, ``turns[s, i, p]`` is added modulo
    ``moduli[i]``.
    """

    places: NDArray[np.int64]
    """``(symmetries, places)``: the image of each place."""
    labels: NDArray[np.uint8]
    """``(symmetries, places, labels)``: the new label. For a twist ``v`` it is ``v`` or ``-v``, without an added
    constant, so that equal symmetries have equal arrays."""
    turns: NDArray[np.uint8]
    """``(symmetries, places, labels)``: the number that is added to a twist, by the label of its piece."""
    carriers: NDArray[np.int64]
    """``(places,)``: for a twist, the place of its piece; otherwise the place itself."""
    moduli: NDArray[np.int64]
    """``(places,)``: the number of labels of each place."""

    @classmethod
    def of(cls, places: Any, labels: Any, turns: Any, carriers: Any, moduli: Any) -> Self:
        """Return symmetries in normal form: ``turns`` includes the constants that are added to twists."""
        moduli = np.array(moduli, dtype=np.int64)
        carriers = np.array(carriers, dtype=np.int64)
        contents, added = np.array(labels, dtype=np.int64), np.array(turns, dtype=np.int64)
        twists = np.flatnonzero(carriers != np.arange(len(carriers)))
        for place in twists.tolist():
            modulus, pieces = moduli[place], moduli[carriers[place]]
            added[:, place, :pieces] += contents[:, place, :1]
            added[:, place, :pieces] %= modulus
            contents[:, place, :modulus] = (contents[:, place, :modulus] - contents[:, place, :1]) % modulus
        for place, modulus in enumerate(moduli.tolist()):
            contents[:, place, modulus:] = 0
            added[:, place, moduli[carriers[place]] if place in twists else 0 :] = 0
        to = np.array(places, dtype=np.int64)
        return cls(to, contents.astype(np.uint8), added.astype(np.uint8), carriers, moduli)

    @classmethod
    def trivial(cls, moduli: Sequence[int]) -> Self:
        """Return the identity on places with these numbers of labels."""
        places, contents = np.arange(len(moduli)), np.arange(max(moduli))
        labels = np.where(contents < np.array(moduli)[:, np.newaxis], contents, 0)[np.newaxis]
        return cls.of(places[np.newaxis], labels, np.zeros_like(labels), places, moduli)

    @classmethod
    def recorded(cls, rules: Rules, record: Any) -> Self:
        """Return the symmetries of a record; raise FieldError if some are not symmetries of the puzzle."""
        moduli, carriers = moduli_of(rules.parts), record.get("carriers") if isinstance(record, Mapping) else None
        n, most = len(moduli), max(moduli)
        try:
            shape = (-1, n, most)
            found = cls.of(
                _integers(record["places"]).reshape(-1, n),
                _integers(record["labels"]).reshape(shape),
                _integers(record["turns"]).reshape(shape),
                _integers(carriers),
                moduli,
            )
            found._check()
        except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
            raise FieldError(f"symmetries: the record does not match {rules.name} ({error})") from error
        if not all(found.fits(rules, number) for number in range(len(found))):
            raise FieldError(f"symmetries: each must map starts to starts and moves to moves of {rules.name}")
        return found

    @property
    def record(self) -> Mapping[str, Any]:
        """The arrays as JSON, which is only suitable for a few symmetries."""
        return {
            "places": self.places.tolist(),
            "labels": self.labels.tolist(),
            "turns": self.turns.tolist(),
            "carriers": self.carriers.tolist(),
        }

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, numbers: Sequence[int] | NDArray[Any]) -> "Images":
        """Return some of the symmetries, in the order of ``numbers``."""
        chosen = np.asarray(numbers)
        return Images(self.places[chosen], self.labels[chosen], self.turns[chosen], self.carriers, self.moduli)

    @cached_property
    def origins(self) -> NDArray[np.int64]:
        """``(symmetries, places)``: the place from which each place gets its label."""
        return np.argsort(self.places, axis=1)

    @cached_property
    def inverses(self) -> NDArray[np.int64]:
        """``(symmetries,)``: the number of the inverse of each symmetry. They must form a group."""
        identity = self.identity._keys[0]
        return np.array([self.compose(self[[one]])._keys.index(identity) for one in range(len(self))], dtype=np.int64)

    @cached_property
    def identity(self) -> "Images":
        """The identity only."""
        every = np.arange(self.labels.shape[2])
        contents = np.where(every < self.moduli[:, np.newaxis], every, 0)
        turns = np.zeros_like(self.turns[:1])
        return Images.of(
            np.arange(len(self.moduli))[np.newaxis], contents[np.newaxis], turns, self.carriers, self.moduli
        )

    def image(self, labels: Labels, numbers: NDArray[np.integer[Any]]) -> Labels:
        """Return the image of each position ``(n, places)`` under the symmetry with its number ``(n,)``."""
        if labels.size > MIN_CONTENTS_TO_COMPILE:
            found = np.empty(labels.shape, dtype=np.uint8)
            arrays = self.places, self.labels, self.turns, self.carriers, self.moduli
            find_images(np.ascontiguousarray(labels), numbers.astype(np.int64), *arrays, found)
            return found
        every, of = np.arange(len(self.moduli)), numbers[:, np.newaxis]
        become = self.labels[of, every, labels]
        if self.turns.any():
            turned = become.astype(np.int64) + self.turns[of, every, labels[:, self.carriers]]
            become = (turned % self.moduli).astype(np.uint8)
        images: Labels = np.take_along_axis(become, self.origins[numbers], axis=1)
        return images

    def compose(self, first: "Images") -> "Images":
        """Return the products that apply the single symmetry ``first``, and then each of these symmetries."""
        to = first.places[0]
        contents = np.take_along_axis(self.labels[:, to], np.broadcast_to(first.labels, self.labels.shape), axis=2)
        second = min(1, self.labels.shape[2] - 1)
        signs = self.labels[:, to, second, np.newaxis].astype(np.int64)
        pieces = first.labels[0, self.carriers]
        turns = signs * first.turns + np.take_along_axis(
            self.turns[:, to], np.broadcast_to(pieces, self.turns.shape), axis=2
        )
        turns %= self.moduli[:, np.newaxis]
        return Images.of(self.places[:, to], contents, turns, self.carriers, self.moduli)

    def generated(self, max_order: int = MAX_SYMMETRIES) -> "Images":
        """Return all symmetries of the group that these generate, the identity first.

        Raises ResourceLimitError if there are more than ``max_order``.
        """
        found = {self.identity._keys[0]: self.identity}
        waiting = [self.identity]
        while waiting:
            one = waiting.pop()
            products = self.compose(one)
            for number, key in enumerate(products._keys):
                if key not in found:
                    found[key] = products[[number]]
                    waiting.append(found[key])
            if len(found) > max_order:
                raise ResourceLimitError(f"it has more than {max_order:,} symmetries")
        return Images._joined(list(found.values()))

    def generators(self) -> "Images":
        """Return a few of these symmetries that generate all of them. They must form a group, the identity first."""
        chosen: list[int] = []
        known = {self._keys[0]}
        for number, key in enumerate(self._keys):
            if key not in known:
                chosen.append(number)
                known = set(self[chosen].generated(len(self))._keys)
        return self[np.array(chosen, dtype=np.int64)]

    def fits(self, rules: Rules, number: int) -> bool:
        """Return whether a symmetry maps starts to starts, and successors of positions to successors of their images.

        The successors are only checked for starts and for positions on a random walk, because a symmetry need not hold
        for unreachable positions.
        """
        starts = rules.start_labels
        some = np.concatenate([starts[:TRIED], _walk(rules, TRIED)])
        images = self.image(some, np.full(len(some), number))
        mapped = self.image(starts, np.full(len(starts), number))
        if set(map(bytes, mapped)) != set(map(bytes, starts)):
            return False
        for one, image in zip(some, images, strict=True):
            after = rules.moves.successors(one)
            expected = self.image(after, np.full(len(after), number))
            if set(map(bytes, rules.moves.successors(image))) != set(map(bytes, expected)):
                return False
        return True

    @cached_property
    def _keys(self) -> list[bytes]:
        """Bytes for each symmetry; equal symmetries have equal bytes."""
        return [
            a.tobytes() + b.tobytes() + c.tobytes()
            for a, b, c in zip(self.places.astype(np.int16), self.labels, self.turns, strict=True)
        ]

    @staticmethod
    def _joined(each: Sequence["Images"]) -> "Images":
        arrays = (np.concatenate([getattr(one, name) for one in each]) for name in ("places", "labels", "turns"))
        places, labels, turns = arrays
        return Images(places, labels, turns, each[0].carriers, each[0].moduli)

    def _check(self) -> None:
        """Raise ValueError unless each symmetry permutes the places, and the labels of each place."""
        if not len(self.places) == len(self.labels) == len(self.turns):
            raise ValueError("the numbers of places, labels and turns differ")
        every = np.arange(len(self.moduli))
        if self.carriers.shape != every.shape or not np.isin(self.carriers, every).all():
            raise ValueError("carriers: expected the number of a place for each place")
        if not (np.sort(self.places, axis=1) == every).all() or (self.moduli[self.places] != self.moduli).any():
            needed = "a permutation that maps each place to a place with the same number of labels"
            raise ValueError(f"places: each symmetry must be {needed}")
        for place, modulus in enumerate(self.moduli.tolist()):
            if not (np.sort(self.labels[:, place, :modulus], axis=1) == np.arange(modulus)).all():
                raise ValueError("labels: each symmetry must permute the labels of each place")


@kernel
def find_images(
    labels: Labels,
    numbers: NDArray[np.int64],
    places: NDArray[np.int64],
    contents: NDArray[np.uint8],
    turns: NDArray[np.uint8],
    carriers: NDArray[np.int64],
    moduli: NDArray[np.int64],
    images: Labels,
) -> None:
    """Fill in the image of each position ``(n, places)`` under the symmetry with its number ``(n,)``."""
    for n in range(len(labels)):
        symmetry = numbers[n]
        for place in range(labels.shape[1]):
            become = np.int64(contents[symmetry, place, labels[n, place]])
            if carriers[place] != place:
                become += turns[symmetry, place, labels[n, carriers[place]]]
                become %= moduli[place]
            images[n, places[symmetry, place]] = become


def _walk(rules: Rules, steps: int) -> Labels:
    """Return the positions of a fixed pseudorandom walk from the starts, ``(steps, places)``."""
    random = np.random.default_rng(0)
    here, walk = rules.start_labels, np.empty((steps, rules.places), dtype=np.uint8)
    for step in range(steps):
        walk[step] = here[random.integers(len(here))]
        after = rules.moves.successors(walk[step])
        here = after if len(after) else rules.start_labels
    return walk


def _integers(value: Any) -> NDArray[np.int64]:
    """Return lists of integers as an array; raise TypeError if they contain anything else."""
    found = np.array(value)
    if found.dtype != np.int64:
        raise TypeError(f"expected integers of at most 64 bits, found {found.dtype}")
    return found
