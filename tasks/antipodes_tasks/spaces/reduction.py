"""Which symmetries reduce a space, and how it is cut for that."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np

from antipodes_tasks.errors import InputError, ResourceLimitError
from antipodes_tasks.rules.parts import moduli_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.frames import Classes, Frame
from antipodes_tasks.spaces.images import MOST_SYMMETRIES, Images
from antipodes_tasks.spaces.move_tables import CACHED_BYTES, COLUMN_BYTES, MAPS_COST, WIDE_COST, Filler
from antipodes_tasks.spaces.orbit_parts import PiecesIndex
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.reduced import Reduced, frame_of
from antipodes_tasks.spaces.reduced_tables import decides
from antipodes_tasks.spaces.row_classes import RowClasses
from antipodes_tasks.spaces.space import Numbering, Space

MOST_FRAMES = 64
"""Frames that are weighed, at most."""
MOST_KEPT = 0.9
"""The share of rows that are kept, at most, or nothing is gained."""
MOST_ROWS = 1 << 30
"""Rows, reduced or not, that are compared with their images: that takes a minute."""
ROW_COST, IMAGE_COST = 800, 0.4
"""The time to list a row, reduced or not, and that to compare a place of a row with that of an image, in positions that
a search expands by a move."""


def reduced_space(rules: Rules, whole: Numbering) -> Space:
    """The reduced space that is built and searched fastest.

    InputError where no symmetries map rows to rows.
    """
    if not isinstance(rules.moves, Transforms) or not isinstance(whole, Orbits):
        raise InputError(f"tables of {rules.name} are not reduced: its space is of the kind {whole.KIND}")
    every = symmetries_listed(rules)
    if len(every) < 2:
        raise InputError(f"tables of {rules.name} are not reduced: it has no symmetries")
    best: tuple[float, Frame, Images] | None = None
    for frame in frames_of(rules, whole, every):
        fitting = np.flatnonzero(frame.fitting(every))
        if len(fitting) > 1 and frame.has_keys and frame.all_rows <= MOST_ROWS and decides(frame, rules.moves):
            classes = RowClasses(frame, every[fitting])
            kept = classes.estimated_count()
            cost = cost_of(classes, kept, len(rules.moves))
            if kept <= MOST_KEPT * frame.all_rows and (best is None or cost < best[0]):
                best = cost, frame, every[fitting]
    if best is None:
        raise InputError(f"tables of {rules.name} are not reduced: no cut is kept by its symmetries")
    numbering = Reduced(whole, *best[1:])
    return Space(rules, numbering, numbering.cuts[0])


def symmetries_listed(rules: Rules) -> Images:
    """All symmetries of a puzzle; InputError if they are too many."""
    from antipodes_tasks.symmetries.finding import symmetries_of  # which loads igraph

    try:
        found = symmetries_of(rules)
    except ResourceLimitError as error:
        raise InputError(f"tables of {rules.name} are not reduced: {error}") from error
    moduli = moduli_of(rules.parts)
    if not found.generators:
        return Images.none(moduli)
    if found.order > MOST_SYMMETRIES:
        raise InputError(f"tables of {rules.name} are not reduced: it has {found.order:,} symmetries")
    places, labels, turns = (
        np.array([getattr(each, name) for each in found.generators]) for name in ("places", "labels", "turns")
    )
    most = max(moduli)
    return Images.of(places, labels[..., :most], turns[..., :most], found.generators[0].carriers, moduli).generated()


def cost_of(classes: RowClasses, rows: float, moves: int) -> float:
    """The relative time to build and search a reduced space, see `Filler.cost`; it also counts the search itself."""
    frame, order = classes.frame, len(classes.images)
    maps = min(rows * moves, 2 * order * prod(block.size for block in frame.blocks))
    entries = maps * frame.width
    slower = WIDE_COST * (frame.width > Filler.CACHED_WIDTH) + MAPS_COST * (COLUMN_BYTES * entries > CACHED_BYTES)
    comparing = ROW_COST * frame.all_rows + IMAGE_COST * frame.places * order * rows * moves
    return comparing + entries * (len(frame.blocks) + 1) + (1 + slower) * rows * frame.width * moves


def frames_of(rules: Rules, whole: Orbits, images: Images) -> Iterator[Frame]:
    """Frames whose rows symmetries may permute: those of all cuts, and those of classes that symmetries permute."""
    known: set[Classes] = set()
    for classes in (*_cuts(rules, whole), *_systems(rules, whole, images)):
        if classes not in known and len(known) < MOST_FRAMES:
            known.add(classes)
            yield frame_of(whole, rules, classes)


def _counts(rules: Rules, part: PiecesIndex) -> tuple[int, ...]:
    """The number of pieces with each label of a part, as the puzzle has them."""
    number = [at.start for at in rules.ranges].index(part.first)
    return rules.parts[number].counts or ()


def _cuts(rules: Rules, whole: Orbits) -> Iterator[Classes]:
    """The classes of the cuts of the numbering."""
    for leading in whole.cuts:
        cut, classes = whole.cut(leading), list[tuple[int, ...] | int]()
        for number, part in enumerate(whole.parts):
            labels = len(_counts(rules, part)) if isinstance(part, PiecesIndex) else part.length
            shown = labels if number < cut.number else 0 if number > cut.number else cut.leading
            if isinstance(part, PiecesIndex):
                classes.append(tuple(min(label, shown) for label in range(labels)))
            elif 0 < shown < labels and part.total is not None:
                break  # the last value is not in the column alone
            else:
                classes.append(shown)
        else:
            yield tuple(classes)


def _systems(rules: Rules, whole: Orbits, images: Images) -> Iterator[Classes]:
    """Each part of pieces in classes that symmetries permute, and values in the column."""
    choices: list[Sequence[tuple[int, ...] | int]] = []
    for part in whole.parts:
        if isinstance(part, PiecesIndex):
            labels = len(_counts(rules, part))
            choices.append(block_systems(images.labels[:, part.first, :labels]))
        else:
            choices.append([0])
    yield from product(*choices)


def block_systems(renamed: np.ndarray) -> list[tuple[int, ...]]:
    """Divisions of labels into classes that renamings ``(n, labels)`` permute, the class of each label.

    All in one class, each in its own, and those that follow from two labels in one class.
    """
    labels = renamed.shape[1]
    found = {(0,) * labels: None, tuple(range(labels)): None}
    for other in range(1, labels):
        found[_joined(renamed, other)] = None
    return list(found)


def _joined(renamed: np.ndarray, other: int) -> tuple[int, ...]:
    """The finest such division with label 0 and another one in a class."""
    class_of = list(range(renamed.shape[1]))
    waiting = [(0, other)]
    while waiting:
        one, two = waiting.pop()
        low, high = sorted((class_of[one], class_of[two]))
        if low != high:
            class_of = [low if each == high else each for each in class_of]
            waiting += zip(renamed[:, one].tolist(), renamed[:, two].tolist(), strict=True)
    order = {name: number for number, name in enumerate(dict.fromkeys(class_of))}
    return tuple(order[each] for each in class_of)
