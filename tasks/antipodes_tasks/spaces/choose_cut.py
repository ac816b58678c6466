"""Which symmetries reduce a space, and how it is cut for that."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from antipodes_tasks.errors import InputError, ResourceLimitError
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.parts import moduli_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import MAX_MASKED, Transforms
from antipodes_tasks.spaces.mixed_radix import FUNCTION_COST, Fields
from antipodes_tasks.spaces.move_tables import CACHED_BYTES, COLUMN_BYTES, MAPS_COST, WIDE_COST, Filler
from antipodes_tasks.spaces.reduced_fields import ReducedFields, field_frames
from antipodes_tasks.spaces.reduced_numbering import REDUCIBLE, Reduced, labels_of, parts_of, steps_of
from antipodes_tasks.spaces.reduced_tables import decides
from antipodes_tasks.spaces.row_classes import MAX_NUMPY_ROWS, RowClasses
from antipodes_tasks.spaces.rows_and_columns import Classes, Frame, Part, Pieces
from antipodes_tasks.spaces.space import Numbering, Space
from antipodes_tasks.spaces.symmetry_images import MAX_SYMMETRIES, Images

MAX_FRAMES = 64
"""Frames that are weighed, at most."""
MAX_KEPT = 0.9
"""The entries of a reduced space as a share of all positions, at most, or nothing is gained."""
FINDING_COST = 1e8
"""The cost of a tenth of a second, which symmetries take to be found."""
MAX_COST_SHARE, WORTHWHILE_SHARE = 2.0, 0.5
"""The cost of a reduced space as a share of that of all positions: at most, and where it is worth it."""
OUTLINE_COST = 1.5e9
"""The cost of tables that an outline does not fill: see `cost_of`."""
MIN_POSITIONS_FOR_LONG_SEARCH = 1 << 33
"""Positions whose bits take 3 GiB, which is worth a longer search."""
MAX_ROWS = 1 << 30
"""Rows, reduced or not, that are compared with their images: that takes a minute."""
MAX_PERMUTATIONS = MAX_SYMMETRIES << 20
"""Permutations of places, labels and moves, several of which may be one symmetry, up to which their group is sought."""
NUMPY_ROW_COST, ROW_COST, IMAGE_COST = 800, 60, 0.4
"""The time to list a row, reduced or not, by numpy and by machine code, and that to compare a place of a row with that
of an image, in positions that a search expands by a move. 479 million rows were listed in 15 s of a processor."""


class Limits(NamedTuple):
    """What a reduced space may cost."""

    cost: float
    """See `cost_of`."""
    entries: float


def reduced_space(rules: Rules, whole: Space, *, worth: bool = False, outline: bool = False) -> Space:
    """The reduced space that is built and searched fastest, of the space of all positions with its best cut.

    With ``worth`` it is built and searched in half the time, or all positions take much memory, and half the entries
    do. Of an ``outline`` rows whose tables take long are not listed: enough for a plan, not for a search.

    InputError where there is no such space.
    """
    if not (isinstance(whole.numbering, Fields) or _is_reducible(rules, whole.numbering)):
        raise InputError(f"tables of {rules.name} are not reduced: its space is of the kind {whole.numbering.KIND}")
    best = _cheapest(rules, whole.numbering, _limits(rules, whole, worth))
    if best is None:
        raise InputError(f"tables of {rules.name} are not reduced: no cut that its symmetries keep saves time")
    if outline and isinstance(rules.moves, Transforms | Swaps) and _tables_take_long(rules, best):
        best = replace(best, outline=True)
    return Space(rules, best, best.cuts[0])


def _tables_take_long(rules: Rules, reduced: Reduced) -> bool:
    """Whether it takes more than a second or two to list the rows and to compare them with their images."""
    frame, order = reduced.frame, len(reduced.images)
    rows = frame.all_rows / order
    return _listing(frame) + IMAGE_COST * frame.places * order * rows * len(rules.moves) > OUTLINE_COST


def listed(space: Space) -> Space:
    """The space of an outline, with its rows; other spaces stay as they are."""
    numbering = space.numbering
    if not isinstance(numbering, Reduced) or not numbering.is_outline:
        return space
    numbering = replace(numbering, outline=False)
    return Space(space.rules, numbering, numbering.cuts[0])


def _is_reducible(rules: Rules, numbering: Numbering) -> bool:
    return numbering.KIND in REDUCIBLE and max(moduli_of(rules.parts)) <= MAX_MASKED


def _limits(rules: Rules, whole: Space, worth: bool) -> Limits:
    """What a reduced space may cost."""
    each = 1 + FUNCTION_COST if isinstance(rules.moves, Functions) else 1
    search = float(each * whole.size * len(rules.moves))
    if not worth or whole.size >= MIN_POSITIONS_FOR_LONG_SEARCH:
        return Limits(
            10 * FINDING_COST + MAX_COST_SHARE * search, (WORTHWHILE_SHARE if worth else MAX_KEPT) * whole.size
        )
    return Limits(
        WORTHWHILE_SHARE * (whole.size * len(rules.moves) + whole.filler.cost(1)) - FINDING_COST, MAX_KEPT * whole.size
    )


def _cheapest(rules: Rules, whole: Numbering, limits: Limits) -> Reduced | None:
    """The reduced numbering whose space costs least, and less than a limit; None if there is none.

    InputError where the puzzle has no symmetries, or too many.
    """
    every = symmetries_listed(rules)
    if len(every) < 2:
        raise InputError(f"tables of {rules.name} are not reduced: it has no symmetries")
    bounds = [
        (_cost(rules, frame, len(every), frame.all_rows / len(every)), number, frame)
        for number, frame in enumerate(_deciding_frames(rules, every))
        if frame.has_keys and frame.all_rows <= MAX_ROWS
    ]
    candidates = list[tuple[float, Frame, Images]]()
    for bound, _, frame in sorted(bounds):
        if bound >= min([limits.cost, *(cost for cost, *_ in candidates)]):
            break
        images = every[np.flatnonzero(frame.fitting(every))]
        kept = RowClasses(frame, images).estimated_count()
        cost = _cost(rules, frame, len(images), kept)
        if len(images) > 1 and kept * frame.width <= limits.entries and cost < limits.cost:
            candidates.append((cost, frame, images))
    found = (_numbering(rules, whole, frame, images) for _, frame, images in sorted(candidates, key=itemgetter(0)))
    return next((one for one in found if one is not None), None)


def _deciding_frames(rules: Rules, images: Images) -> Iterator[Frame]:
    """Frames whose rows decide where moves lead."""
    if isinstance(rules.moves, Functions):
        return field_frames(rules, images)
    steps = steps_of(rules)
    return (frame for frame in frames_of(rules, images) if decides(frame, steps))


def _numbering(rules: Rules, whole: Numbering, frame: Frame, images: Images) -> Reduced | None:
    """The reduced numbering of a frame; None if a sample shows that rows do not decide where moves lead."""
    return (
        ReducedFields.cut(rules, whole, frame, images) if isinstance(whole, Fields) else Reduced(whole, frame, images)
    )


def _cost(rules: Rules, frame: Frame, order: int, rows: float) -> float:
    if isinstance(rules.moves, Functions):
        return cost_of_fields(frame, order, rows, len(rules.moves))
    return cost_of(frame, order, rows, len(rules.moves))


def symmetries_listed(rules: Rules) -> Images:
    """All symmetries of a puzzle; InputError if they are too many."""
    if isinstance(rules.moves, Functions) and not rules.moves.symmetries:
        return Images.trivial(moduli_of(rules.parts))
    from antipodes_tasks.symmetries.finding import symmetries_of  # which loads igraph

    moduli = moduli_of(rules.parts)
    try:
        found = symmetries_of(rules, most=MAX_PERMUTATIONS)
        if not found.generators:
            return Images.trivial(moduli)
        if found.order > MAX_SYMMETRIES:
            raise ResourceLimitError(f"expected at most {MAX_SYMMETRIES:,} symmetries, found {found.order:,}")
        places, labels, turns = (
            np.array([getattr(each, name) for each in found.generators]) for name in ("places", "labels", "turns")
        )
        most = max(moduli)
        carriers = found.generators[0].carriers
        return Images.of(places, labels[..., :most], turns[..., :most], carriers, moduli).generated()
    except ResourceLimitError as error:
        raise InputError(f"tables of {rules.name} are not reduced: {error}") from error


def cost_of(frame: Frame, order: int, rows: float, moves: int) -> float:
    """The relative time to build and search a space reduced by so many symmetries to so many rows, see `Filler.cost`.

    It also counts the search itself.
    """
    maps = min(rows * moves, 2 * order * prod(block.size for block in frame.blocks))
    entries = maps * frame.width
    slower = WIDE_COST * (frame.width > Filler.CACHED_WIDTH) + MAPS_COST * (COLUMN_BYTES * entries > CACHED_BYTES)
    comparing = _listing(frame) + IMAGE_COST * frame.places * order * rows * moves
    return comparing + entries * (len(frame.blocks) + 1) + (1 + slower) * rows * frame.width * moves


def _listing(frame: Frame) -> float:
    """The time to list the rows of a frame."""
    return (ROW_COST if frame.all_rows > MAX_NUMPY_ROWS else NUMPY_ROW_COST) * frame.all_rows


def cost_of_fields(frame: Frame, order: int, rows: float, moves: int) -> float:
    """As `cost_of`; functions are applied to all positions of kept rows, and all images of results are ranked."""
    comparing = _listing(frame) + IMAGE_COST * frame.places * order * rows * moves
    return comparing + (1 + 2 * FUNCTION_COST) * rows * frame.width * moves


def frames_of(rules: Rules, images: Images) -> Iterator[Frame]:
    """Frames whose rows symmetries may permute: those of all cuts, and those of classes that symmetries permute."""
    parts, known = parts_of(rules), set[Classes]()
    for classes in (*_cuts(parts), *_systems(parts, images)):
        if classes not in known and len(known) < MAX_FRAMES:
            known.add(classes)
            yield Frame(parts, classes, labels_of(rules))


def _cuts(parts: Sequence[Part]) -> Iterator[Classes]:
    """The classes where the row has the first labels or values of the parts in their order, the column the others."""
    rows = [_all_in_row(part) for part in parts]
    columns = [_none_in_row(part) for part in parts]
    for number, part in enumerate(parts):
        for shown in range(_digits(part) + 1):
            divided = _divided(part, shown)
            if divided is not None:
                yield (*rows[:number], divided, *columns[number + 1 :])


def _digits(part: Part) -> int:
    """The labels, or the values, of a part."""
    return len(part.counts) if isinstance(part, Pieces) else part.length


def _all_in_row(part: Part) -> tuple[int, ...] | int:
    return tuple(range(len(part.counts))) if isinstance(part, Pieces) else part.length


def _none_in_row(part: Part) -> tuple[int, ...] | int:
    return (0,) * len(part.counts) if isinstance(part, Pieces) else 0


def _divided(part: Part, shown: int) -> tuple[int, ...] | int | None:
    """The classes where the row has the first labels or values; None where there are no such."""
    if isinstance(part, Pieces):
        return tuple(min(label, shown) for label in range(len(part.counts)))
    return shown if shown in (0, part.length) or part.total is None else None


def _systems(parts: Sequence[Part], images: Images) -> Iterator[Classes]:
    """Each part of pieces in classes that symmetries permute, and values in the column."""
    choices: list[Sequence[tuple[int, ...] | int]] = []
    for part in parts:
        if isinstance(part, Pieces):
            choices.append(block_systems(images.labels[:, part.place_slice.start, : len(part.counts)]))
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
