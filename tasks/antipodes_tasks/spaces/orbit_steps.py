"""The moves in the move tables of transforms. Transforms that differ only in the column may share one such move.

Transforms with the same name and the same effect on the row form one *step* if no two of them are legal in the same
column. Each transform of a step has an *effect* on the column. The *action* of the step is the set of these effects.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from antipodes_tasks.base.array_types import Mask, Numbers, Words
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbit_parts import OrbitCut, PiecesIndex


@dataclass
class _Step:
    """Transforms of one name that have the same effect on the row and exclude each other in the column."""

    transform: int
    effects: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class OrbitSteps:
    """The steps, each of which is one move of the tables with one column map."""

    transforms: Numbers
    """``(steps,)``: for each step, one of its transforms, which all have the same effect on the row."""
    actions: Numbers
    """``(steps,)``: the number of the step's action on the column."""
    effects: Numbers
    """``(effects,)``: one transform for each distinct effect on the column."""
    alternatives: tuple[tuple[int, ...], ...]
    """For each action, its effects, of which at most one is legal in a column."""
    identity: int | None
    """The number of the action that leaves all columns unchanged. None if no step has this action."""

    @cached_property
    def alternatives_at(self) -> Numbers:
        """``(actions + 1,)``: where the effects of each action begin if all effects are joined into one list."""
        return np.cumsum([0, *(len(effects) for effects in self.alternatives)])


class ColumnPlaces(Protocol):
    """The property of a cut that determines which transforms form one step."""

    @property
    def column_places(self) -> Mask:
        """``(places,)``: which places belong to the column only."""
        ...


def orbit_steps(transforms: Transforms, cut: ColumnPlaces) -> OrbitSteps:
    """Return the steps of the transforms, in the order of the transforms."""
    in_column = cut.column_places
    effect_of, effects = _numbered(_keys(transforms, in_column))
    steps = _merged(transforms, in_column, effect_of)
    actions: dict[tuple[int, ...], int] = {}
    numbers = [actions.setdefault(tuple(step.effects), len(actions)) for step in steps]
    idle = _idle_effects(transforms, in_column, effects)
    identity = next((number for key, number in actions.items() if len(key) == 1 and key[0] in idle), None)
    return OrbitSteps(
        transforms=np.array([step.transform for step in steps], dtype=np.int64),
        actions=np.array(numbers, dtype=np.int64),
        effects=np.array(effects, dtype=np.int64),
        alternatives=tuple(actions),
        identity=identity,
    )


def _merged(transforms: Transforms, in_column: Mask, effect_of: Sequence[int]) -> list[_Step]:
    allowed = transforms.conditions
    if allowed is None:
        return [_Step(number, [effect]) for number, effect in enumerate(effect_of)]
    names = transforms.names or [str(number) for number in range(len(transforms))]
    masks = allowed[:, in_column]
    steps: dict[tuple[str, bytes], list[_Step]] = {}
    members: dict[int, list[int]] = {}
    for number, key in enumerate(_keys(transforms, ~in_column)):
        of_name = steps.setdefault((names[number], key), [])
        step = next((one for one in of_name if _exclusive(masks[number], masks[members[one.transform]])), None)
        if step is None:
            step = _Step(number)
            of_name.append(step)
        members.setdefault(step.transform, []).append(number)
        step.effects.append(effect_of[number])
    return sorted((step for of_name in steps.values() for step in of_name), key=lambda step: step.transform)


def _exclusive(masks: Words, others: Words) -> bool:
    """Return whether no labels meet both the conditions ``(places,)`` and some of the others ``(n, places)``."""
    return bool(((masks & others) == 0).any(axis=1).all())


def most_legal(transforms: Transforms, cut: OrbitCut, steps: OrbitSteps) -> int:
    """Return an upper bound on the legal steps of a row; steps of one name that exclude each other count once."""
    allowed = transforms.conditions
    if allowed is None or not transforms.names:
        return len(steps.transforms)
    masks = allowed[:, ~cut.column_places]
    by_name: dict[str, list[int]] = {}
    for number in steps.transforms.tolist():
        by_name.setdefault(transforms.names[number], []).append(number)
    by_names = sum(1 if _all_exclusive(masks[numbers]) else len(numbers) for numbers in by_name.values())
    return min(
        [
            by_names,
            *(
                most_on_empty_places(transforms, steps, part.place_slice, part.counts[0])
                for part in cut.row
                if isinstance(part, PiecesIndex)
            ),
        ]
    )


def most_on_empty_places(transforms: Transforms, steps: OrbitSteps, places: slice, empty: int) -> int:
    """Return an upper bound on the legal steps of a row, based on the steps that require an empty place.

    If ``empty`` of the places are empty (have label 0), only steps that require one of these places can be legal. So
    the bound counts the steps of the ``empty`` places that are required by most steps, and all steps without such a
    requirement.
    """
    if transforms.conditions is None:
        return len(steps.transforms)
    needs_empty = transforms.conditions[steps.transforms, places] == 1
    by_place = np.bincount(needs_empty.argmax(axis=1)[needs_empty.any(axis=1)], minlength=needs_empty.shape[1])
    others = len(steps.transforms) - int(by_place.sum())
    return others + int(np.sort(by_place)[::-1][:empty].sum())


def _all_exclusive(masks: Words) -> bool:
    return all(_exclusive(masks[number], masks[:number]) for number in range(1, len(masks)))


def _keys(transforms: Transforms, places: Mask) -> list[bytes]:
    """Return bytes for each transform; equal bytes mean equal effects on these places under equal conditions."""
    effects = np.concatenate((transforms.origin[:, places], transforms.added[:, places].astype(np.int16)), axis=1)
    allowed = transforms.conditions
    if allowed is None:
        return [effect.tobytes() for effect in effects]
    return [effect.tobytes() + masks.tobytes() for effect, masks in zip(effects, allowed[:, places], strict=True)]


def _numbered(keys: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Give equal keys the same number; return the number of each key, and the place where each number first occurs."""
    numbers: dict[bytes, int] = {}
    firsts = []
    for place, key in enumerate(keys):
        if key not in numbers:
            numbers[key] = len(numbers)
            firsts.append(place)
    return [numbers[key] for key in keys], firsts


def _idle_effects(transforms: Transforms, places: Mask, effects: Sequence[int]) -> set[int]:
    """Return the effects that leave these places unchanged, whatever they hold."""
    still = (transforms.origin[effects] == np.arange(transforms.places)) & (transforms.added[effects] == 0)
    still &= ~transforms.conditional[effects]
    return set(np.flatnonzero(still[:, places].all(axis=1)).tolist())
