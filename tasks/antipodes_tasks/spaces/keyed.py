"""The numbering for puzzles without a formula: the index of a position is its place in the sorted list of keys.

If only a small fraction of all arrangements is reachable, for example because blocks get in each other's way, only a
search can find the reachable arrangements. The search works on keys (see `antipodes_tasks.keys`). The finished table
contains the list of keys.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from antipodes_tasks.base.arguments import MAX_INT64
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import ConfigError, FieldError, InputError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Keys, Packing, packing_of
from antipodes_tasks.keys.ranges import KeyRanges, divided, layers
from antipodes_tasks.keys.sorted_keys import difference, find, sorted_unique
from antipodes_tasks.move_tables import Filler, Indices
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.starts import Starts
from antipodes_tasks.spaces.key_tables import SuccessorLists
from antipodes_tasks.spaces.space import KEYED, NOT_NUMBERED, Numbering, SpaceRecord

SPAN = 1 << 40
"""Number of indices that are reserved for each range of keys while its positions are not counted yet. Range ``r``
begins at index ``r * SPAN``."""
PACKING, BOUNDS, ONE_WAY, REACHED = "packing", "bounds", "one_way", "reached"
"""The keys of the details in a store."""


def checked_details(details: Mapping[str, Any]) -> Packing:
    """Return the packing in the details of a store of keys; raise FieldError if they cannot belong to any puzzle."""
    if details.keys() != {PACKING, BOUNDS, ONE_WAY, REACHED}:
        raise FieldError(f"details: {shorten(repr(dict(details)))} does not describe keys")
    packing = packing_of(details[PACKING])
    bounds, reached = details[BOUNDS], details[REACHED]
    whole = isinstance(bounds, list) and all(type(one) is int and one >= 0 for one in bounds)
    if not whole or bounds != sorted(set(bounds)) or (bounds and bounds[-1] >> 64 * packing.words):
        raise FieldError(f"{BOUNDS}: expected ascending keys, found {quote(bounds)}")
    if type(details[ONE_WAY]) is not bool:
        raise FieldError(f"{ONE_WAY}: expected true or false, found {quote(details[ONE_WAY])}")
    if reached is not None and not (type(reached) is int and 0 < reached <= MAX_INT64):
        raise FieldError(f"{REACHED}: expected a number of positions or null, found {quote(reached)}")
    return packing


class KeyList(Protocol):
    """All keys in ascending order."""

    def places_of(self, keys: Keys) -> Indices:
        """Return the index ``(n,)`` of each key, or NOT_NUMBERED."""

    def keys_at(self, indices: Indices) -> Keys:
        """Return the key at each index ``(n,)``."""


@dataclass(frozen=True, eq=False)
class KeysInMemory:
    """The keys of a small puzzle, in memory."""

    keys: Keys

    def places_of(self, keys: Keys) -> Indices:
        """Return the index of each key."""
        return places_in(self.keys, keys)

    def keys_at(self, indices: Indices) -> Keys:
        """Return the key at each index."""
        found: Keys = self.keys[indices]
        return found


def places_in(listed: Keys, keys: Keys) -> Indices:
    """Return the place of each key ``(n,)`` in a sorted list, or NOT_NUMBERED."""
    places = np.array(find(listed, keys) if listed.ndim > 1 else np.searchsorted(listed, keys), dtype=np.int64)
    there = np.minimum(places, max(0, len(listed) - 1))
    same = listed[there] == keys if len(listed) else np.zeros(keys.shape, dtype=np.bool_)
    return np.where(same if same.ndim == 1 else same.all(axis=1), there, NOT_NUMBERED)


@dataclass(frozen=True)
class Keyed(Numbering):
    """The numbering of positions in the order of their keys. During the search, each range of keys has SPAN indices."""

    KIND: ClassVar[str] = KEYED

    rules: Rules
    packing: Packing
    ranges: KeyRanges
    reached: int | None
    """Number of reachable positions if the preliminary search found all of them, otherwise None."""
    known_positions: int = 0
    """Number of positions that the preliminary search found."""
    listed: int | None = None
    """Number of positions that a finished table or a list in memory contains."""
    keys: KeyList | None = field(default=None, compare=False)
    """The list of keys in the table, if a table was opened."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Return the numbering of a puzzle. If the puzzle is small, its positions can be ranked without a table."""
        if _latest and _latest[0].rules is rules and isinstance(_latest[0], cls):
            return _latest[0]
        packing = Packing.of(rules)
        starts = start_keys(rules, packing)
        ranges, known, is_all = divided(Expansion(rules, packing), starts)
        reached = known if is_all else None
        numbering = cls(rules, packing, ranges, reached, known, reached)
        numbering.__dict__["start_keys"] = starts
        _latest[:] = [numbering]
        return numbering

    @classmethod
    def listing(cls, rules: Rules, batches: Iterable[Labels]) -> Self:
        """Return the numbering of given positions, reachable or not, in batches ``(n, places)``.

        The keys can store all labels that occur in these positions, which may be more than reachable positions contain.
        """
        labels = np.concatenate(list(batches))
        packing = Packing.of(replace(rules, starts=Starts(labels), origin=None))
        assert packing.fit(labels).all()
        keys = sorted_unique(packing.pack(labels))
        ranges = KeyRanges(packing.words, (), not rules.moves.reversible)
        return cls(rules, packing, ranges, None, len(keys), len(keys), KeysInMemory(keys))

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering of a store; raise FieldError if it does not match the puzzle."""
        details, packing = record.details, checked_details(record.details)
        if not packing.is_injective(rules):
            raise FieldError(f"{PACKING}: the recorded key format does not match the puzzle")
        if details[ONE_WAY] is not (not rules.moves.reversible):
            raise FieldError(f"{ONE_WAY}: expected {not rules.moves.reversible}, found {quote(details[ONE_WAY])}")
        reached, ranges = details[REACHED], KeyRanges(packing.words, tuple(details[BOUNDS]), details[ONE_WAY])
        searching = record.rows == len(ranges) * SPAN
        return cls(rules, packing, ranges, reached, reached or 0, None if searching else record.rows)

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """Return the number of reachable positions, or the number found by the preliminary search."""
        return cls.of(rules).known_positions

    @cached_property
    def start_keys(self) -> Keys:
        """The keys at depth 0."""
        return start_keys(self.rules, self.packing)

    def starts(self, rules: Rules) -> Labels:
        """Return the positions at depth 0."""
        return self.packing.unpack(self.start_keys)

    @property
    def radices(self) -> tuple[int, ...]:
        """A digit with one value, then the number of indices."""
        return 1, self.listed or len(self.ranges) * SPAN

    @property
    def cuts(self) -> tuple[int, ...]:
        """The only cut, with one column."""
        return (2,)

    @property
    def details(self) -> Mapping[str, Any]:
        """The packing and the ranges."""
        return {
            PACKING: self.packing.record(),
            BOUNDS: list(self.ranges.bounds),
            ONE_WAY: self.ranges.one_way,
            REACHED: self.reached,
        }

    @property
    def searched(self) -> Self:
        """The same numbering during the search of its table."""
        return replace(self, listed=None, keys=None)

    def opened(self, keys: KeyList) -> Self:
        """Return the same numbering with the list of keys of a store."""
        return replace(self, keys=keys)

    def rank(self, labels: Labels) -> Indices:
        """Return the index of each position ``(n, places)``, as ``(n,)`` int64; NOT_NUMBERED if it has none."""
        indices = self._list.places_of(self.packing.pack(labels))
        return np.where(self.packing.fit(labels), indices, NOT_NUMBERED)

    def unrank(self, indices: Indices) -> Labels:
        """Return the position ``(n, places)`` of each index ``(n,)``. The indices are not checked."""
        return self.packing.unpack(self._list.keys_at(np.asarray(indices)))

    def filler(self, rules: Rules, leading: int) -> Filler:
        """Return the filler for positions that are listed in memory; raise InputError if they are not."""
        if self.listed is None or not isinstance(self._list, KeysInMemory):
            raise InputError(f"{rules.name} has no move tables, because its positions are stored as keys")
        return SuccessorLists(rules, self)

    def reachable(self, rules: Rules) -> int | None:
        """Return the number of reachable positions; None if only a search can find it."""
        return self.listed or self.reached

    @cached_property
    def _list(self) -> KeyList:
        """The keys of the table, or of a small puzzle without a table; raises InputError if neither is available."""
        if self.keys is not None:
            return self.keys
        if self.reached is None:
            raise InputError(
                f"the positions of {self.rules.name} can only be numbered with its table; compute the table first"
            )
        found = layers(Expansion(self.rules, self.packing), self.start_keys)
        return KeysInMemory(sorted_unique(np.concatenate(list(found))))


_latest: list[Keyed] = []
"""The most recent numbering. A plan asks for the size and then for the numbering; both need the same preliminary
search."""


def start_keys(rules: Rules, packing: Packing) -> Keys:
    """Return the keys of the starts. If the puzzle has an origin, return only the goals that the origin reaches.

    Raises ConfigError if the origin reaches none of the goals.
    """
    keys = packing.pack(rules.start_labels[packing.fit(rules.start_labels)])
    if rules.origin is None:
        return keys
    left, found = sorted_unique(keys.copy()), [keys[:0]]
    for layer in layers(Expansion(rules, packing), packing.pack(rules.first[np.newaxis])):
        others = difference(left, layer)
        if len(others) < len(left):
            found.append(difference(left, others))
            left = others
        if not len(left):
            break
    if sum(map(len, found)) == 0:
        raise ConfigError(f"[puzzle] goal: the start can reach none of the goals ({len(rules.starts):,}); add one")
    return np.concatenate(found)
