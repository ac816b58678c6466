"""All positions that moves lead to from the starts: found by a search, held in an order that depends on them alone.

Of a puzzle with goals, all that moves lead to from its origin: which goals can be reached is known afterwards.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from antipodes_tasks.errors import ConfigError, ResourceLimitError
from antipodes_tasks.keys.fields import Fields
from antipodes_tasks.reachability.position_set import PositionSet, Words
from antipodes_tasks.reachability.steps import steps_of
from antipodes_tasks.rules.rules import Rules

MOST = 1 << 24
"""Positions that are enumerated: they take some 700 MB, and the better part of a minute."""
ENOUGH = 1 << 40
"""Bytes that the set may take: no limit, as MOST is one."""
BATCH = 1 << 16
"""Positions expanded at once, after which an interruption is answered."""
KEPT = 2
"""Enumerations that this process keeps: plans, searches and tables of a puzzle share one."""


@dataclass(frozen=True, eq=False)
class Enumeration:
    """The positions that can be reached, numbered in ascending order of their words."""

    positions: PositionSet
    most_moves: int
    """No position has more legal moves."""

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all positions in order."""
        return hashlib.sha256(self.words.astype("<u8", copy=False).tobytes()).hexdigest()

    @property
    def words(self) -> Words:
        """The packed positions, ``(n, words)``."""
        return self.positions.words[: len(self.positions)]

    @property
    def memory_bytes(self) -> int:
        """Bytes of the positions and their hash table."""
        return self.positions.words.nbytes + self.positions.slots.nbytes


_recent: dict[tuple[str, bytes], Enumeration] = {}
"""The enumerations that were asked for last, by the fingerprint of their puzzle and the identity of its moves.

The fingerprint of functions has their results on some positions, and others may differ on the rest.
"""


def enumeration(rules: Rules) -> Enumeration:
    """All positions of a puzzle that can be reached.

    Raises
    ------
    ResourceLimitError
        There are more than MOST of them.
    ConfigError
        The origin of the puzzle reaches none of its goals.
    """
    key = rules.fingerprint, rules.moves.identity
    found = _recent.pop(key, None) or _sorted(rules, *_search(rules))
    _recent[key] = found
    for oldest in list(_recent)[:-KEPT]:
        _recent.pop(oldest, None)
    return found


def _search(rules: Rules) -> tuple[Words, int]:
    """The positions in the order in which they are found, and the most legal moves of one."""
    packing, steps = Fields.of(rules.parts), steps_of(rules.moves, rules.parts)
    found = PositionSet(packing, ENOUGH)
    found.add(packing.pack(rules.start_labels if rules.origin is None else rules.first[np.newaxis]))
    begin, most_moves = 0, 0
    while begin < len(found):
        expanded = steps.add_successors(found, begin, min(len(found), begin + BATCH))
        begin += expanded.positions
        most_moves = max(most_moves, expanded.most_moves)
        if len(found) > MOST:
            raise ResourceLimitError(
                f"expected at most {MOST:,} positions that can be reached, found more: the positions of {rules.name} "
                "are listed before a run, and these do not fit into memory; solve does without a list"
            )
    if not (found.numbers(packing.pack(rules.start_labels)) >= 0).any():
        raise ConfigError(f"[puzzle] goal: expected one that the start can reach, found none in {len(rules.starts):,}")
    return found.words[: len(found)], most_moves


def _sorted(rules: Rules, words: Words, most_moves: int) -> Enumeration:
    order = np.lexsort(words.T[::-1])
    positions = PositionSet(Fields.of(rules.parts), ENOUGH)
    positions.add(words[order])
    return Enumeration(positions, most_moves)
