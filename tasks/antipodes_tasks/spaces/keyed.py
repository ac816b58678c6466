"""The numbering of positions without a formula: their place in the ascending order of keys, as a store lists them.

Where few of many arrangements can be reached, as of blocks that get in each other's way, only a search finds them. It
runs over keys. The list of keys is part of the table that it makes, and gives each position its index.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from antipodes_tasks.arguments import GREATEST
from antipodes_tasks.errors import ConfigError, FieldError, InputError
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Keys, Packing, packing_of
from antipodes_tasks.keys.ranges import KeyRanges, divided, layers
from antipodes_tasks.keys.sorted_keys import difference, find, sorted_unique
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.starts import Starts
from antipodes_tasks.spaces.key_tables import SuccessorLists
from antipodes_tasks.spaces.move_tables import Filler, Indices
from antipodes_tasks.spaces.space import KEYED, NOT_NUMBERED, Numbering, SpaceRecord

SPAN = 1 << 40
"""Indices of each range of an unfinished table, whose positions are not counted yet: from its number times this on."""
PACKING, BOUNDS, ONE_WAY, REACHED = "packing", "bounds", "one_way", "reached"
"""The keys of the details."""


def checked_details(details: Mapping[str, Any]) -> Packing:
    """Return the packing in the details of a store of keys; FieldError unless they could be those of some puzzle."""
    if details.keys() != {PACKING, BOUNDS, ONE_WAY, REACHED}:
        raise FieldError(f"details: expected those of keys, found {shorten(repr(dict(details)))}")
    packing = packing_of(details[PACKING])
    bounds, reached = details[BOUNDS], details[REACHED]
    whole = isinstance(bounds, list) and all(type(one) is int and one >= 0 for one in bounds)
    if not whole or bounds != sorted(set(bounds)) or (bounds and bounds[-1] >> 64 * packing.words):
        raise FieldError(f"{BOUNDS}: expected ascending keys, found {quote(bounds)}")
    if type(details[ONE_WAY]) is not bool:
        raise FieldError(f"{ONE_WAY}: expected true or false, found {quote(details[ONE_WAY])}")
    if reached is not None and not (type(reached) is int and 0 < reached <= GREATEST):
        raise FieldError(f"{REACHED}: expected a number of positions or null, found {quote(reached)}")
    return packing


class KeyList(Protocol):
    """All keys in ascending order."""

    def places_of(self, keys: Keys) -> Indices:
        """The index of each key, ``(n,)``, or NOT_NUMBERED."""

    def keys_at(self, indices: Indices) -> Keys:
        """The key at each index ``(n,)``."""


@dataclass(frozen=True, eq=False)
class KeysInMemory:
    """The keys of a small puzzle."""

    keys: Keys

    def places_of(self, keys: Keys) -> Indices:
        """The index of each key."""
        return places_in(self.keys, keys)

    def keys_at(self, indices: Indices) -> Keys:
        """The key at each index."""
        found: Keys = self.keys[indices]
        return found


def places_in(listed: Keys, keys: Keys) -> Indices:
    """The place of each key ``(n,)`` in a sorted list, or NOT_NUMBERED."""
    places = np.array(find(listed, keys) if listed.ndim > 1 else np.searchsorted(listed, keys), dtype=np.int64)
    there = np.minimum(places, max(0, len(listed) - 1))
    same = listed[there] == keys if len(listed) else np.zeros(keys.shape, dtype=np.bool_)
    return np.where(same if same.ndim == 1 else same.all(axis=1), there, NOT_NUMBERED)


@dataclass(frozen=True)
class Keyed(Numbering):
    """The positions of a table in the order of their keys; while it is searched, ranges of SPAN indices each."""

    KIND: ClassVar[str] = KEYED

    rules: Rules
    packing: Packing
    ranges: KeyRanges
    reached: int | None
    """How many positions there are, if a look before the search found all."""
    looked: int = 0
    """How many positions that look found."""
    listed: int | None = None
    """How many positions a finished table lists, or a list in memory."""
    keys: KeyList | None = field(default=None, compare=False)
    """The list of the table that was opened."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """The numbering of a puzzle, also by lists in memory if it is small."""
        if _latest and _latest[0].rules is rules and isinstance(_latest[0], cls):
            return _latest[0]
        packing = Packing.of(rules)
        starts = start_keys(rules, packing)
        ranges, looked, is_all = divided(Expansion(rules, packing), starts)
        reached = looked if is_all else None
        found = cls(rules, packing, ranges, reached, looked, reached)
        found.__dict__["start_keys"] = starts
        _latest[:] = [found]
        return found

    @classmethod
    def listing(cls, rules: Rules, batches: Iterable[Labels]) -> Self:
        """The numbering of some positions, whether starts lead to them or not, given in batches ``(n, places)``.

        Keys hold what these positions have on each place, which may be more than moves bring there from the starts.
        """
        labels = np.concatenate(list(batches))
        packing = Packing.of(replace(rules, starts=Starts(labels), origin=None))
        assert packing.fit(labels).all()
        keys = sorted_unique(packing.pack(labels))
        ranges = KeyRanges(packing.words, (), not rules.moves.reversible)
        return cls(rules, packing, ranges, None, len(keys), len(keys), KeysInMemory(keys))

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The numbering of a store; FieldError if it is not of such a puzzle."""
        details, packing = record.details, checked_details(record.details)
        if not packing.is_injective(rules):
            raise FieldError(f"{PACKING}: the record of the keys does not match the puzzle")
        if details[ONE_WAY] is not (not rules.moves.reversible):
            raise FieldError(f"{ONE_WAY}: expected {not rules.moves.reversible}, found {quote(details[ONE_WAY])}")
        reached, ranges = details[REACHED], KeyRanges(packing.words, tuple(details[BOUNDS]), details[ONE_WAY])
        searching = record.rows == len(ranges) * SPAN
        return cls(rules, packing, ranges, reached, reached or 0, None if searching else record.rows)

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """How many positions there are, or how many a look before the search found."""
        return cls.of(rules).looked

    @cached_property
    def start_keys(self) -> Keys:
        """The keys at depth 0."""
        return start_keys(self.rules, self.packing)

    def starts(self, rules: Rules) -> Labels:
        """The positions at depth 0."""
        return self.packing.unpack(self.start_keys)

    @property
    def radices(self) -> tuple[int, ...]:
        """One value, and the number of indices."""
        return 1, self.listed or len(self.ranges) * SPAN

    @property
    def cuts(self) -> tuple[int, ...]:
        """One column."""
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
        """The same while its table is searched."""
        return replace(self, listed=None, keys=None)

    def opened(self, keys: KeyList) -> Self:
        """The same with the list of a store."""
        return replace(self, keys=keys)

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64, or NOT_NUMBERED. The pieces are not checked."""
        indices = self._list.places_of(self.packing.pack(labels))
        return np.where(self.packing.fit(labels), indices, NOT_NUMBERED)

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``, which is not checked."""
        return self.packing.unpack(self._list.keys_at(np.asarray(indices)))

    def filler(self, rules: Rules, leading: int) -> Filler:
        """The successors of positions that are listed in memory; InputError where they are not."""
        if self.listed is None or not isinstance(self._list, KeysInMemory):
            raise InputError(f"expected a puzzle with move tables, found {rules.name}, whose positions are keys")
        return SuccessorLists(rules, self)

    def reachable(self, rules: Rules) -> int | None:
        """How many positions there are, where that is known."""
        return self.listed or self.reached

    @cached_property
    def _list(self) -> KeyList:
        """The keys of the table, or of a small puzzle; InputError if there are none."""
        if self.keys is not None:
            return self.keys
        if self.reached is None:
            raise InputError(
                f"expected a puzzle whose positions have numbers, found {self.rules.name}: its table gives them numbers"
            )
        found = layers(Expansion(self.rules, self.packing), self.start_keys)
        return KeysInMemory(sorted_unique(np.concatenate(list(found))))


_latest: list[Keyed] = []
"""The numbering that was asked for last: a plan asks for its size first, which takes the same look at the puzzle."""


def start_keys(rules: Rules, packing: Packing) -> Keys:
    """The keys of the starts; of goals those that the puzzle's origin reaches, for which it may be searched first.

    ConfigError if it reaches none.
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
        raise ConfigError(f"[puzzle] goal: expected one that the start can reach, found none in {len(rules.starts):,}")
    return np.concatenate(found)
