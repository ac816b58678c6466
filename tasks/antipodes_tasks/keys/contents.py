"""The labels that each place can hold: an upper bound derived from the starts and the moves."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.footprints import EMPTY, block_steps
from antipodes_tasks.rules.parts import moduli_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import MAX_MASKED, Transforms

Contents = tuple[tuple[int, ...], ...]
"""The labels that each place can hold, ascending."""
ONE = np.uint64(1)
EVERY = ~np.uint64(0)


def contents(rules: Rules) -> Contents:
    """Return the labels that each place can hold in positions reachable from the starts or the origin, ascending.

    The result may contain labels that the place never holds. A conditional move is assumed to be possible if each of
    its conditions can hold by itself. If the moves are not transforms, any place of a part is assumed to hold any label
    of the part. For blocks, only the place that holds a block's label counts; the block's other places are empty.
    """
    moves, moduli = Transforms.of(rules.moves), moduli_of(rules.parts)
    if rules.footprints is not None and moves is not None:
        return _of_blocks(rules, moves, rules.footprints.rest)
    if moves is None or max(moduli) > MAX_MASKED:
        return tuple(tuple(range(modulus)) for modulus in moduli)
    starts = np.concatenate((rules.start_labels, rules.first[np.newaxis]))
    masks = np.bitwise_or.reduce(ONE << starts.astype(np.uint64), axis=0)
    flows = _Flows(moves)
    while (spread := flows.spread(masks)).tobytes() != masks.tobytes():
        masks = spread
    return tuple(tuple(label for label in range(MAX_MASKED) if mask >> label & 1) for mask in masks.tolist())


def _of_blocks(rules: Rules, moves: Transforms, rest: int) -> Contents:
    starts = np.concatenate((rules.start_labels, rules.first[np.newaxis]))
    found = {(place, label) for place in range(rules.places) for label in np.unique(starts[:, place]).tolist()}
    found -= {(place, label) for place in range(rules.places) for label in (EMPTY, rest)}
    leads = defaultdict[tuple[int, int], list[tuple[int, int]]](list)
    for step in block_steps(moves):
        leads[step.origin, step.label].append((step.destination, step.label))
    waiting = list(found)
    while waiting:
        new = set(leads[waiting.pop()]) - found
        found |= new
        waiting += new
    labels = [sorted(label for at, label in found if at == place) for place in range(rules.places)]
    return tuple((EMPTY, *blocks) for blocks in labels)


class _Flows:
    """The places to which moves take labels; sets of labels are bit masks."""

    def __init__(self, moves: Transforms) -> None:
        changed = (moves.origin != np.arange(moves.places)) | (moves.added != 0)
        self.move, self.place = np.nonzero(changed)
        self.origin = moves.origin[changed]
        self.added = moves.added[changed].astype(np.uint64)
        self.modulus = moves.moduli[self.place].astype(np.uint64)
        self.conditions = moves.conditions

    def spread(self, masks: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the labels that each place can hold after at most one move, ``(places,)``."""
        moved = masks[self.origin]
        if self.conditions is not None:
            possible = ((self.conditions & masks) != 0).all(axis=1)
            moved = np.where(possible[self.move], moved & self.conditions[self.move, self.origin], np.uint64(0))
        turned = moved << self.added | moved >> (self.modulus - self.added)
        spread = masks.copy()
        np.bitwise_or.at(spread, self.place, turned & (EVERY >> (MAX_MASKED - self.modulus)))
        return spread
