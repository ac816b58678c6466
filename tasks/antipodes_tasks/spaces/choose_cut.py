"""The choice of a reduced space: by which symmetries it is reduced, and how it is cut into rows and columns."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.move_tables import CACHED_BYTES, COLUMN_BYTES, MAPS_COST, WIDE_COST, Filler, index_bytes
from antipodes_tasks.permutations.multisets import radices
from antipodes_tasks.properties.puzzle_graph import carriers_of
from antipodes_tasks.properties.symmetry_images import MAX_SYMMETRIES, Images
from antipodes_tasks.rules.parts import moduli_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.rules.transforms import MAX_MASKED
from antipodes_tasks.spaces.map_estimates import estimated_maps
from antipodes_tasks.spaces.mixed_radix import FUNCTION_COST, MixedRadix
from antipodes_tasks.spaces.orbit_parts import PartIndex, PiecesIndex
from antipodes_tasks.spaces.reduced_classes import ReducedClasses
from antipodes_tasks.spaces.reduced_fields import ReducedFields, field_frames
from antipodes_tasks.spaces.reduced_numbering import REDUCIBLE, Reduced, labels_of, parts_of
from antipodes_tasks.spaces.reduced_tables import decides
from antipodes_tasks.spaces.row_classes import MAX_NUMPY_ROWS, RowClasses
from antipodes_tasks.spaces.row_symmetries import maps_rows_to_rows
from antipodes_tasks.spaces.rows_and_columns import Classes, Cut
from antipodes_tasks.spaces.shape_classes import ShapeClasses
from antipodes_tasks.spaces.space import Numbering, Space

MAX_CUTS = 128
"""Maximum number of cuts that are compared."""
MAX_LABEL_SETS = 1 << 22
"""Maximum number of images of sets of labels that are computed."""
SET_WIDTHS = 24, 1 << 19
"""Minimum and maximum number of columns if the column holds a set of labels."""
MAX_TABLE_BYTES, EXCESS_COST = 2 << 30, 50
"""Bytes that move tables may take freely, and the cost of each further byte."""
MAX_KEPT = 0.9
"""Maximum number of entries of a reduced space, as a fraction of all positions. With more, it is not worthwhile."""
FINDING_COST = 1e8
"""Cost of finding the symmetries, which takes a tenth of a second."""
MAX_COST_SHARE, WORTHWHILE_SHARE = 2.0, 0.5
"""Cost of a reduced space as a fraction of the cost of the unreduced space: the maximum, and the fraction below which a
reduction is chosen automatically."""
OUTLINE_COST = 1.5e9
"""Cost, as defined by `cost_of`, above which rows are not listed and tables are not filled for an outline."""
MIN_POSITIONS_FOR_LONG_SEARCH = 1 << 33
"""Minimum number of positions for which a longer search is acceptable, to save memory: their bits take 3 GiB."""
MAX_ROWS = 1 << 31
"""Maximum number of rows before the reduction. Comparing this many rows with their images takes a minute or two."""
MAX_PERMUTATIONS = MAX_SYMMETRIES << 20
"""Maximum number of permutations of places, labels and moves in a group that is computed. Several permutations may
represent the same symmetry."""
NUMPY_ROW_COST, ROW_COST, IMAGE_COST = 800, 60, 0.4
"""Time to list a row of the unreduced space with numpy and with compiled code, and time to compare one place of a row
with an image; all divided by the time that a search takes to expand a position by one move. Measured: 479 million rows
were listed in 15 s of processor time."""


class Limits(NamedTuple):
    """Upper limits on the cost and the size of a reduced space."""

    cost: float
    """Maximum cost, see `cost_of`."""
    entries: float
    """Maximum number of entries."""


def reduced_space(rules: Rules, whole: Space, *, worth: bool = False, outline: bool = False) -> Space:
    """Return the reduced space that is built and searched fastest. ``whole`` is the space of all positions.

    With ``worth``, the reduction must at least halve the time. If the positions take much memory, it must halve the
    number of entries instead. With ``outline``, rows are not listed if this or their tables would take long. Such a
    space can be planned but not searched.

    Raises InputError if there is no such space.
    """
    if isinstance(whole.numbering, ShapeClasses):
        return _with_reduced_classes(rules, whole, worth)
    if not (isinstance(whole.numbering, MixedRadix) or _is_reducible(rules, whole.numbering)):
        raise InputError(f"the table of {rules.name} cannot be reduced: it is of the kind {whole.numbering.KIND}")
    best = _cheapest(rules, whole, _limits(rules, whole, worth))
    if best is None:
        raise InputError(f"the table of {rules.name} cannot be reduced: symmetries would not save time")
    if outline and not rules.moves.are_functions and _tables_take_long(best, whole.filler.max_moves):
        best = replace(best, outline=True)
    return Space(rules, best, best.cuts[0])


def _with_reduced_classes(rules: Rules, whole: Space, worth: bool) -> Space:
    """Return the reduced space of a puzzle with free moves; raise as `reduced_space` does."""
    numbering, limits = ReducedClasses.of(rules), _limits(rules, whole, worth)
    found = Space(rules, numbering, numbering.cuts[0])
    filler = found.filler
    searching = found.size * filler.max_moves + filler.cost(filler.most_column_maps)
    if found.size > limits.entries or searching + _excess(filler.table_bytes) >= limits.cost:
        raise InputError(f"the table of {rules.name} cannot be reduced: symmetries would not save time")
    return found


def _tables_take_long(reduced: Reduced, moves: int) -> bool:
    """Return whether listing the rows and comparing them with their images takes more than a second or two."""
    frame, order = reduced.frame, len(reduced.images)
    rows = frame.all_rows / order
    return _listing(frame) + IMAGE_COST * frame.places * order * rows * moves > OUTLINE_COST


def with_listed_rows(space: Space) -> Space:
    """Return the complete space of an outline, with its rows listed; return any other space unchanged."""
    numbering = space.numbering
    if not isinstance(numbering, Reduced) or not numbering.is_outline:
        return space
    numbering = replace(numbering, outline=False)
    return Space(space.rules, numbering, numbering.cuts[0])


def _is_reducible(rules: Rules, numbering: Numbering) -> bool:
    return numbering.KIND in REDUCIBLE and max(moduli_of(rules.parts)) <= MAX_MASKED


def _limits(rules: Rules, whole: Space, worth: bool) -> Limits:
    """Return the upper limits on a reduced space."""
    each = 1 + FUNCTION_COST if rules.moves.are_functions else 1
    moves = whole.filler.max_moves
    search = float(each * whole.size * moves)
    if not worth or whole.size >= MIN_POSITIONS_FOR_LONG_SEARCH:
        return Limits(
            10 * FINDING_COST + MAX_COST_SHARE * search + _excess(whole.filler.table_bytes),
            (WORTHWHILE_SHARE if worth else MAX_KEPT) * whole.size,
        )
    return Limits(WORTHWHILE_SHARE * (whole.size * moves + whole.filler.cost(1)) - FINDING_COST, MAX_KEPT * whole.size)


def _excess(table_bytes: float) -> float:
    """Return the cost of the bytes of move tables that exceed MAX_TABLE_BYTES."""
    return EXCESS_COST * max(0.0, table_bytes - MAX_TABLE_BYTES)


def _cheapest(rules: Rules, whole: Space, limits: Limits) -> Reduced | None:
    """Return the reduced numbering whose space has the lowest cost within the limits; None if there is none.

    Raises InputError if the puzzle has no symmetries, or too many.
    """
    every = symmetries_listed(rules)
    if len(every) < 2:
        raise InputError(f"the table of {rules.name} cannot be reduced: the puzzle has no symmetries")
    moves = whole.filler.max_moves
    bounds = [
        (_cost(rules, frame, every.identity, len(every), frame.all_rows / len(every), moves), number, frame)
        for number, frame in enumerate(_deciding_frames(rules, every))
        if frame.has_keys and frame.all_rows <= MAX_ROWS
    ]
    candidates = list[tuple[float, int, Cut, Images]]()
    for bound, number, frame in sorted(bounds, key=itemgetter(0, 1)):
        if bound >= min([limits.cost, *(cost for cost, *_ in candidates)]):
            break
        images = every[np.flatnonzero(maps_rows_to_rows(frame, every))]
        kept = RowClasses(frame, images).estimated_count()
        cost = _cost(rules, frame, images, len(images), kept, moves)
        if len(images) > 1 and kept * frame.width <= limits.entries and cost < limits.cost:
            candidates.append((cost, number, frame, images))
    best = sorted(candidates, key=itemgetter(0, 1))
    found = (_numbering(rules, whole.numbering, frame, images) for _, _, frame, images in best)
    return next((one for one in found if one is not None), None)


def _deciding_frames(rules: Rules, images: Images) -> Iterator[Cut]:
    """Return cuts for which the row of a position determines its row after each move."""
    if rules.moves.are_functions:
        return field_frames(rules, images)
    steps = transforms_of(rules)
    return (frame for frame in cuts_of(rules, images) if decides(frame, steps))


def _numbering(rules: Rules, whole: Numbering, frame: Cut, images: Images) -> Reduced | None:
    """Return the reduced numbering of a cut; None if, in a sample, the row after a move also depends on the column."""
    return (
        ReducedFields.cut(rules, whole, frame, images)
        if isinstance(whole, MixedRadix)
        else Reduced(whole, frame, images)
    )


def _cost(rules: Rules, frame: Cut, images: Images, order: int, rows: float, moves: int) -> float:
    if rules.moves.are_functions:
        return cost_of_fields(frame, order, rows, moves)
    maps = min(rows * moves, estimated_maps(frame, images, transforms_of(rules)))
    return cost_of(frame, maps, order, rows, moves)


def symmetries_listed(rules: Rules) -> Images:
    """Return all symmetries of a puzzle; raise InputError if there are too many."""
    if rules.moves.are_functions and not rules.moves.symmetries:
        return Images.trivial(moduli_of(rules.parts))
    from antipodes_tasks.properties.finding import symmetries_of  # loads igraph

    moduli = moduli_of(rules.parts)
    try:
        found = symmetries_of(rules, max_order=MAX_PERMUTATIONS)
        if not found.generators:
            return Images.trivial(moduli)
        if found.order > MAX_SYMMETRIES:
            raise ResourceLimitError(f"it has {found.order:,} symmetries, more than {MAX_SYMMETRIES:,}")
        places, labels, turns = (
            np.array([getattr(each, name) for each in found.generators]) for name in ("places", "labels", "turns")
        )
        most = max(moduli)
        carriers = found.generators[0].carriers
        return Images.of(places, labels[..., :most], turns[..., :most], carriers, moduli).generated()
    except ResourceLimitError as error:
        raise InputError(f"the table of {rules.name} cannot be reduced: {error}") from error


def cost_of(frame: Cut, maps: float, order: int, rows: float, moves: int) -> float:
    """Return the relative time to build and search a space that ``order`` symmetries reduce to ``rows`` rows.

    The unit is the same as in `Filler.cost`, but the time of the search itself is included.
    """
    entries = maps * frame.width
    slower = WIDE_COST * (frame.width > Filler.CACHED_WIDTH) + MAPS_COST * (COLUMN_BYTES * entries > CACHED_BYTES)
    comparing = _listing(frame) + IMAGE_COST * frame.places * order * rows * moves
    searching = (1 + slower) * rows * frame.width * moves
    number = index_bytes(maps)
    excess = _excess(rows * moves * (4 + number) + COLUMN_BYTES * entries)
    return comparing + entries * (len(frame.blocks) + 1) + searching + excess


def _listing(frame: Cut) -> float:
    """Return the cost of listing the rows of a cut."""
    return (ROW_COST if frame.all_rows > MAX_NUMPY_ROWS else NUMPY_ROW_COST) * frame.all_rows


def cost_of_fields(frame: Cut, order: int, rows: float, moves: int) -> float:
    """Return the same as `cost_of`, for moves that are functions.

    The functions are applied to all positions of the representative rows, and the images of all results are ranked.
    """
    comparing = _listing(frame) + IMAGE_COST * frame.places * order * rows * moves
    return comparing + (1 + 2 * FUNCTION_COST) * rows * frame.width * moves


def cuts_of(rules: Rules, images: Images) -> Iterator[Cut]:
    """Yield cuts that symmetries may preserve: the cuts of the unreduced table, cuts between parts, and cuts along
    label classes or sets of labels.
    """
    parts, known = parts_of(rules), set[Classes]()
    labels, carriers = labels_of(rules), tuple(carriers_of(rules).tolist())
    for classes in (*_cuts(parts), *_sets_of_parts(parts), *_systems(parts, images), *_label_sets(parts, images)):
        if classes not in known and len(known) < MAX_CUTS:
            known.add(classes)
            yield Cut(parts, classes, labels, carriers)


def _cuts(parts: Sequence[PartIndex]) -> Iterator[Classes]:
    """Yield the label classes of the cuts of the unreduced table, which have the first labels in the row."""
    rows = [_all_in_row(part) for part in parts]
    columns = [_none_in_row(part) for part in parts]
    for number, part in enumerate(parts):
        for shown in range(_digits(part) + 1):
            divided = _divided(part, shown)
            if divided is not None:
                yield (*rows[:number], divided, *columns[number + 1 :])


def _digits(part: PartIndex) -> int:
    """Return the number of labels or values of a part that can be in the row."""
    return len(part.pieces) if isinstance(part, PiecesIndex) else part.length


def _all_in_row(part: PartIndex) -> tuple[int, ...] | int:
    return tuple(range(len(part.pieces))) if isinstance(part, PiecesIndex) else part.length


def _none_in_row(part: PartIndex) -> tuple[int, ...] | int:
    return (0,) * len(part.pieces) if isinstance(part, PiecesIndex) else 0


def _divided(part: PartIndex, shown: int) -> tuple[int, ...] | int | None:
    """Return the label classes of the part if its first ``shown`` labels or values are in the row.

    Return None if the values cannot be divided in this way.
    """
    if isinstance(part, PiecesIndex):
        return tuple(min(label, shown) for label in range(len(part.pieces)))
    return shown if shown in (0, part.length) or part.total is None else None


def _sets_of_parts(parts: Sequence[PartIndex]) -> Iterator[Classes]:
    """Yield the label classes of the cuts that leave each part whole."""
    if 1 << len(parts) <= MAX_CUTS // 4:
        yield from product(*((_all_in_row(part), _none_in_row(part)) for part in parts))


def _label_sets(parts: Sequence[PartIndex], images: Images) -> Iterator[Classes]:
    """Yield divisions of the labels of a single part: the column holds a set of labels, the row all other labels.

    The sets are those that most symmetries map to themselves. There is one for each number of columns and of
    symmetries.
    """
    part = parts[0]
    if len(parts) > 1 or not isinstance(part, PiecesIndex) or len(images) << len(part.pieces) > MAX_LABEL_SETS:
        return
    labels = np.arange(len(part.pieces))
    sets = np.arange(1 << len(labels))
    renamed = images.labels[:, part.place_slice.start, labels].astype(np.int64)
    moved = (sum((sets >> label & 1) << image for label, image in enumerate(one)) for one in renamed)
    fixed = sum((each == sets).astype(np.int64) for each in moved)
    chosen = np.flatnonzero(fixed > 1)
    found = dict[tuple[int, int], Classes]()
    for number in chosen[np.argsort(-fixed[chosen], kind="stable")].tolist():
        inside = (number >> labels & 1).astype(np.bool_)
        width = prod(radices([count for count, here in zip(part.pieces, inside, strict=True) if here]))
        if SET_WIDTHS[0] <= width <= SET_WIDTHS[1]:
            shown = np.cumsum(~inside) - 1 + (inside.argmax() < labels)
            shown[inside] = shown[inside.argmax() - 1] + 1 if inside.argmax() else 0
            found.setdefault((width, int(fixed[number])), (tuple(shown.tolist()),))
    yield from found.values()


def _systems(parts: Sequence[PartIndex], images: Images) -> Iterator[Classes]:
    """Yield divisions of the labels of pieces into classes that symmetries permute, with all values in the column."""
    choices: list[Sequence[tuple[int, ...] | int]] = []
    for part in parts:
        if isinstance(part, PiecesIndex):
            choices.append(block_systems(images.labels[:, part.place_slice.start, : len(part.pieces)]))
        else:
            choices.append([0])
    yield from product(*choices)


def block_systems(renamed: np.ndarray) -> list[tuple[int, ...]]:
    """Return divisions of labels into classes (block systems) that the renamings ``(n, labels)`` permute.

    Each division lists the class of each label. The result contains the division into a single class, the division into
    classes of one label, and for each label the finest division that has this label and label 0 in the same class.
    """
    labels = renamed.shape[1]
    found = {(0,) * labels: None, tuple(range(labels)): None}
    for other in range(1, labels):
        found[_joined(renamed, other)] = None
    return list(found)


def _joined(renamed: np.ndarray, other: int) -> tuple[int, ...]:
    """Return the finest division that has ``other`` in the class of label 0 and that the renamings permute."""
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
