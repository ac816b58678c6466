"""Free moves: transforms that cost nothing. The positions that they connect count as one position, a *class*.

A move of such a puzzle is one counted transform after any number of free ones. Such a sequence of free moves is a
*word*; words with the same effect count once. Free moves and counted moves must both be reversible. So all positions of
a class have the same distance, and the classes one move after a class are also those one move before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import counted, quote
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.transforms import Transforms, rotated

MAX_WORDS = 1 << 10
"""Maximum number of words: of sequences of free moves with different effects."""
MAX_COMPOSED = 1 << 14
"""Maximum number of moves: of words, each followed by a counted move."""
MAX_FORMS = 1 << 20
"""Maximum number of starts times words: every position of the class of a start is a start."""


class _Word(NamedTuple):
    """A sequence of transforms as one transform."""

    name: str
    origin: NDArray[np.int64]
    added: NDArray[np.int64]
    allowed: NDArray[np.uint64]

    @property
    def effect(self) -> bytes:
        """Bytes that are equal for words that change positions alike."""
        return self.origin.tobytes() + self.added.tobytes()


class FreeMoves(Moves):
    """The counted ones among some transforms, each after a word of the free ones.

    In search of a single position, `transforms` are used. They lead from each position to positions, not to classes, so
    that starts and goals have to be all positions of their classes (`closed`).
    """

    def __init__(self, elementary: Transforms, free: Collection[str]) -> None:
        """Use transforms of which those with names in ``free`` are free.

        Raises InputError if a name is unknown, no counted move is left, a move has no inverse of its own sort, or there
        are too many words or moves.
        """
        self._elementary = elementary
        self.free_moves = tuple(dict.fromkeys(free))
        for name in self.free_moves:
            if name not in elementary.names:
                raise InputError(f"there is no move {quote(name)}")
        is_free = np.array([name in self.free_moves for name in elementary.names], dtype=np.bool_)
        if is_free.all():
            raise InputError("all moves are free; at least one move must count")
        sorts = {"free": _chosen(elementary, is_free), "counted": _chosen(elementary, ~is_free)}
        for sort, moves in sorts.items():
            if not moves.reversible:
                name = moves.names[int(np.flatnonzero(moves.inverse < 0)[0])]
                raise InputError(f"the inverse of the {sort} move {quote(name)} is not a {sort} move")
        self._free, self._counted = sorts["free"], sorts["counted"]
        self.words = _as_transforms(_words(self._free), elementary)
        self._composed = _as_transforms(_followed(self.words, self._counted), elementary)

    @property
    def elementary(self) -> Transforms:
        """All transforms, free and counted."""
        return self._elementary

    @property
    def transforms(self) -> Transforms:
        """The words, each followed by a counted move, as moves from positions to positions."""
        return self._composed

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the transforms."""
        return type(self), (self.elementary, self.free_moves)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FreeMoves) and (self.elementary, set(self.free_moves)) == (
            other.elementary,
            set(other.free_moves),
        )

    def __hash__(self) -> int:
        return hash(self.table_key)

    def __len__(self) -> int:
        return len(self.transforms)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the free moves and of the counted move, with spaces between them."""
        return self.transforms.names

    @property
    def reversible(self) -> bool:
        """Always True: the classes after a class are the classes before it."""
        return True

    def has_inverse(self, number: int) -> bool:
        """Return False, because `undo` leads to classes before a class, but not back to the same position."""
        return False

    @property
    def memory_bytes(self) -> int:
        """Upper bound on the memory of the moves, in bytes."""
        return self.elementary.memory_bytes + self.words.memory_bytes + self.transforms.memory_bytes

    @property
    def table_key(self) -> bytes:
        """The bytes of the free and of the counted transforms."""
        return b"free moves" + self._free.table_key + b"counted" + self._counted.table_key

    @cached_property
    def generators(self) -> tuple[Transforms, int]:
        """Some free moves that generate all of them, followed by the counted moves; and the number of the former."""
        kept, known = list[int](), set[bytes]()
        for number, one in enumerate(_given(self._free)):
            if self._free.allowed is not None or one.effect not in known:
                kept.append(number)
                known = {word.effect for word in _words(_chosen(self._free, np.array(kept)))}
        free = _given(_chosen(self._free, np.array(kept, dtype=np.int64)))
        return _as_transforms([*free, *_given(self._counted)], self.elementary), len(kept)

    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the positions ``(n, places)`` after a move and a mask ``(n,)`` of the positions that allow it."""
        return self.transforms.move(number, labels)

    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return positions ``(n, places)`` of classes one move before, and a mask ``(n,)`` of positions that have them.

        The positions differ from those that exactly this move takes to ``labels``.
        """
        return self.transforms.move(number, labels)

    def successors(self, labels: Labels) -> Labels:
        """Return all successors ``(k, places)`` of a position ``(places,)``, in the order of the moves."""
        return self.transforms.successors(labels)

    predecessors = successors

    def closed(self, labels: Labels) -> Labels:
        """Return all positions of the classes of positions ``(n, places)``: first these, then the others.

        Raises InputError if there may be more than MAX_FORMS.
        """
        if len(labels) * len(self.words) > MAX_FORMS:
            raise InputError(f"with free moves, expected at most {MAX_FORMS // len(self.words):,} starts or goals")
        found = [labels]
        for number in range(len(self.words)):
            after, legal = self.words.move(number, labels)
            found.append(after[legal])
        every = np.concatenate(found)
        closed: Labels = every[np.sort(np.unique(every, axis=0, return_index=True)[1])]
        return closed


def _chosen(moves: Transforms, which: NDArray[Any]) -> Transforms:
    """Return some of the moves, given by a mask or by their numbers; without conditions if none of them has any."""
    names = np.array(moves.names, dtype=object)[which].tolist()
    allowed = None if moves.allowed is None or not moves.conditional[which].any() else moves.allowed[which]
    return Transforms(names, moves.origin[which], moves.moduli, moves.added[which], allowed)


def _given(moves: Transforms) -> Iterator[_Word]:
    masks = np.full(moves.origin.shape, ~np.uint64(0)) if moves.conditions is None else moves.conditions
    origin, added = moves.effects
    return map(_Word, moves.names, origin, added, masks)


def _as_transforms(words: Sequence[_Word], like: Transforms) -> Transforms:
    """Return words as transforms of positions like those of other transforms."""
    names, *arrays = zip(*words, strict=True) if words else ((), (), (), ())
    origin, added, allowed = (np.array(each).reshape(len(words), like.places) for each in arrays)
    return Transforms(names, origin, like.moduli, added, None if like.allowed is None else allowed.astype(np.uint64))


def _words(free: Transforms) -> list[_Word]:
    """Return all words of some free moves, the empty one first; shorter words come before longer ones."""
    places = np.arange(free.places)
    found = [_Word("", places, np.zeros_like(places), np.full(free.places, ~np.uint64(0)))]
    known = {found[0].effect: [found[0].allowed]}
    for word in found:
        for longer in _after(word, free):
            before = known.setdefault(longer.effect, [])
            if not (before and free.allowed is None) and not any((longer.allowed & ~one == 0).all() for one in before):
                before.append(longer.allowed)
                found.append(longer)
                if len(found) > MAX_WORDS:
                    raise InputError(f"expected free moves with at most {MAX_WORDS:,} different effects together")
    return found


def _after(word: _Word, moves: Transforms) -> Iterator[_Word]:
    """Yield a word followed by each of the moves, if this is legal for some labels."""
    origin, added = word.origin[moves.origin], (word.added[moves.origin] + moves.added) % moves.moduli
    allowed = np.tile(word.allowed, (len(moves), 1))
    if moves.conditions is not None:
        before = np.broadcast_to(-word.added % moves.moduli, moves.origin.shape)
        allowed[:, word.origin] &= rotated(moves.conditions, before, moves.moduli)
    for number in np.flatnonzero((allowed != 0).all(axis=1)):
        name = f"{word.name} {moves.names[number]}".strip()
        yield _Word(name, origin[number], added[number], allowed[number])


def _followed(words: Transforms, moves: Transforms) -> list[_Word]:
    """Return the words, each followed by each of the moves, without repetitions."""
    if len(words) * len(moves) > MAX_COMPOSED:
        raise InputError(
            f"expected at most {MAX_COMPOSED:,} counted moves times words of free moves, found "
            f"{counted(len(moves), 'counted move')} times {counted(len(words), 'word')}"
        )
    found = dict[bytes, _Word]()
    for word in _given(words):
        for one in _after(word, moves):
            found.setdefault(one.effect + one.allowed.tobytes(), one)
    return list(found.values())
