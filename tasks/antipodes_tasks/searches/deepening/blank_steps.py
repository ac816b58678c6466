"""The steps of one blank over a graph of places, as arrays for `word_kernels`."""

from typing import NamedTuple

import numpy as np

from antipodes_tasks.reachability.packing import Packing, Words
from antipodes_tasks.rules.swaps import UNREACHABLE, Edges, distances_to, neighbours


class BlankSteps(NamedTuple):
    """Steps from place to place; those numbered below the number of places stand for a blank that begins there."""

    first: Words
    """``(steps + 1,)``: the steps that may follow step ``s`` are ``following[first[s] : first[s + 1]]``: not back."""
    end_of: Words
    """``(steps, moves left + 1)``: one past the last step in ``following`` that can reach a goal in the moves left."""
    following: Words
    """In ascending order of the distance to the blank of a goal."""
    shift: Words
    """``(steps,)``: the shift, in bits, of the piece that moves the other way in a packed position."""
    spread: Words
    """``(steps,)``: a bit for the blank's place before and after the step; times the piece, it is the change."""
    place: Words
    """``(steps,)``: where the blank is after the step."""


def blank_steps(edges: Edges, packing: Packing, ends: set[int]) -> BlankSteps:
    """The steps of a blank when pieces move along ``edges``, and it has to come to one of the places ``ends``."""
    backwards = frozenset((b, a) for a, b in edges)
    away = distances_to(ends, backwards, packing.places)
    steps = [(place, place) for place in range(packing.places)]
    steps += [(a, b) for a, origins in enumerate(neighbours(backwards, packing.places)) for b in origins]
    lists = _following(steps, away.tolist())
    distances = [[int(away[steps[step][1]]) for step in own] for own in lists]
    first = np.cumsum([0, *map(len, lists)])
    moves = range(int(away.max()) + 2)
    within = [[sum(distance < left for distance in own) for left in moves] for own in distances]
    bit = [1 << packing.bits[0] * place for place in range(packing.places)]
    return BlankSteps(
        first=first.astype(np.uint64),
        end_of=(first[:-1, np.newaxis] + np.array(within)).astype(np.uint64),
        following=np.array([step for own in lists for step in own], dtype=np.uint64),
        shift=np.array([packing.bits[0] * b for _, b in steps], dtype=np.uint64),
        spread=np.array([bit[a] ^ bit[b] for a, b in steps], dtype=np.uint64),
        place=np.array([b for _, b in steps], dtype=np.uint64),
    )


def _following(steps: list[tuple[int, int]], away: list[int]) -> list[list[int]]:
    """The numbers of the steps that may follow each: from its end, not back, not out of reach of a goal."""
    leaving: list[list[int]] = [[] for _ in away]
    for number, (a, b) in enumerate(steps):
        if a != b and away[b] != UNREACHABLE:
            leaving[a].append(number)
    lists = [[step for step in leaving[b] if steps[step][1] != a] for a, b in steps]
    return [sorted(own, key=lambda step: away[steps[step][1]]) for own in lists]
