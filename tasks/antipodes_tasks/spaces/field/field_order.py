"""The order of fields in an index: first those that decide where they go themselves, whatever the others hold.

The new value of a field may depend on other fields. A set of fields *decides itself* if a move's new values of the set
depend on its old values alone, wherever the move is legal. Such a set can be the row. What depends on what is seen on
a sample of positions; the move tables show whether it holds for all.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part, random_positions
from antipodes_tasks.spaces.field.field_index import Field, fields_of

SAMPLE = 256
"""Pairs of positions that differ in one field, for each field."""


def deciding_order(parts: Sequence[Part], moves: Moves) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of all fields in order, and the numbers of leading fields that decide themselves, ascending.

    The smallest set that decides itself comes first, then the fields that make it the next larger one.
    """
    fields = fields_of(parts)
    dependencies = _dependencies(fields, parts, moves)
    needed = [_closure(number, dependencies) for number in range(len(fields))]
    order: list[int] = []
    ends = []
    while len(order) < len(fields):
        left = [number for number in range(len(fields)) if number not in order]
        added = min((needed[number] - set(order) for number in left), key=lambda new: (_size(new, fields), min(new)))
        order += sorted(added)
        ends.append(len(order))
    return tuple(order), tuple(ends)


def _size(numbers: set[int], fields: Sequence[Field]) -> int:
    return prod(fields[number].radix for number in numbers)


def _closure(number: int, dependencies: NDArray[np.bool_]) -> set[int]:
    """The fields on which a field depends, those on which these depend, and so on; itself among them."""
    found, waiting = {number}, [number]
    while waiting:
        new = set(np.flatnonzero(dependencies[waiting.pop()]).tolist()) - found
        found |= new
        waiting += new
    return found


def _dependencies(fields: Sequence[Field], parts: Sequence[Part], moves: Moves) -> NDArray[np.bool_]:
    """``(fields, fields)``: whether the new value of the first depends on the old one of the second, by any move."""
    depends = np.zeros((len(fields), len(fields)), dtype=np.bool_)
    sample, other = (random_positions(parts, SAMPLE, f"dependencies {one}") for one in range(2))
    after = [moves.after(number, sample) for number in range(len(moves))]
    for cause, field in enumerate(fields):
        changed = sample.copy()
        changed[:, field.first : field.end] = other[:, field.first : field.end]
        for number, (first, legal) in enumerate(after):
            second, legal_too = moves.after(number, changed)
            differs = ((first != second) & (legal & legal_too)[:, np.newaxis]).any(axis=0)
            depends[:, cause] |= [differs[one.first : one.end].any() for one in fields]
    return depends
