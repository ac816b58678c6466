"""The choice of the state space of a puzzle, for a new store, for an existing store, or to number positions."""

from collections.abc import Sequence
from importlib import import_module
from math import prod

from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import FieldError, InputError, ResourceLimitError, SizeLimitError
from antipodes_tasks.base.option_names import in_words
from antipodes_tasks.move_tables import Filler
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.space import KEYED, REDUCED, Numbering, Space, SpaceRecord

KINDS = {
    "arrangements": "arrangements.Arrangements",
    "orbits": "orbits.Orbits",
    "group": "group.Group",
    "fields": "mixed_radix.MixedRadix",
    "regions": "regions.Regions",
    "reduced": "reduced_numbering.Reduced",
    "shapes": "shapes.Shapes",
    "classes": "shape_classes.ShapeClasses",
    KEYED: "keyed.Keyed",
}
"""The numberings by their names in a store. Each is imported only when needed: importing all of them takes 30 ms."""
REDUCED_FIELDS, REDUCED_CLASSES = "reduced_fields.ReducedFields", "reduced_classes.ReducedClasses"
"""The numberings of the kind "reduced" for puzzles whose moves are functions, and for puzzles with free moves."""
MAX_ROWS = 2**31 - 1
"""Maximum number of rows, and of columns, because move tables store their numbers in 32 bits."""
FREE_TABLE_BYTES, TABLE_COST = 1 << 27, 500
"""Bytes that move tables may take freely, and the cost of each further byte in the choice of a cut. Move tables leave
less room for bits: in 4 GiB, moonspinner with tables of 3.1 GiB needed 20 partitions instead of 4."""
MAX_UNREDUCED_COST = 1e9
"""Cost, as defined by `Filler.cost`, of a search that takes about a second. Reducing a shorter search by symmetries is
not worthwhile."""


def best_space(rules: Rules, symmetry: str | None = None, *, outline: bool = False) -> Space:
    """Return the space that is built and searched fastest. It depends only on the puzzle and on ``symmetry``.

    With ``symmetry`` "on", an entry stands for all positions that symmetries map to each other. With "auto", the space
    is reduced only if this at least halves the time; see `reason_not_reduced`. An ``outline`` is enough for a plan and
    takes a second or two; `antipodes_tasks.spaces.choose_cut.with_listed_rows` turns it into a complete space.

    Raises
    ------
    InputError
        ``symmetry`` is "on", and the space cannot be reduced.
    SizeLimitError
        The puzzle has more positions than 64 bits can number.
    ResourceLimitError
        Every cut has more rows or columns than the move tables can number.
    """
    numbering = numbering_of(rules)
    whole = Space(rules, numbering, numbering.cuts[0]) if numbering.KIND == KEYED else _best_cut(rules, numbering)
    if symmetry not in ("on", "auto"):
        return whole
    if symmetry == "auto" and (numbering.KIND == KEYED or _is_short(whole)):
        return whole
    from antipodes_tasks.spaces.choose_cut import reduced_space

    try:
        return reduced_space(rules, whole, worth=symmetry == "auto", outline=outline)
    except InputError:
        if symmetry == "on":
            raise
        return whole


def reason_not_reduced(space: Space) -> str:
    """Return the reason why the space of all positions is used without a reduction, as the end of a sentence."""
    if space.numbering.KIND == KEYED:
        return f"it is of the kind {KEYED}"
    if _is_short(space):
        return "searching all positions takes only about a second"
    from antipodes_tasks.spaces.choose_cut import reduced_space

    try:
        reduced_space(space.rules, space, worth=True)
    except InputError as error:
        return str(error).partition(" cannot be reduced: ")[2]
    return "symmetry is off"


def is_reduced_by_default(rules: Rules) -> bool:
    """Return whether the table of a puzzle is reduced unless its run is configured otherwise."""
    if rules.enumerated or rules.moves.joins_positions:
        return False
    try:
        return best_space(rules, "auto").numbering.symmetries > 1
    except (SizeLimitError, ResourceLimitError):
        return False


def _is_short(space: Space) -> bool:
    """Return whether a search takes at most about a second."""
    filler = space.filler
    return space.size * filler.max_moves + filler.cost(1) < MAX_UNREDUCED_COST


def full_space(rules: Rules) -> Space:
    """Return the space of all positions with the pieces and values of a puzzle, including unreachable positions.

    Raises
    ------
    InputError
        The positions of the puzzle can only be listed by a search from its starts.
    SizeLimitError, ResourceLimitError
        As in `best_space`.
    """
    if rules.enumerated or rules.moves.free_moves:
        raise InputError(f"{rules.name} has no numbering of all positions: only a search can list them")
    size = prod(part.size for part in rules.parts)
    if size > arguments.MAX_INT64:
        raise SizeLimitError(f"expected at most 2^63 - 1 positions, found about 10^{len(str(size)) - 1}")
    if rules.moves.transforms is not None:
        from antipodes_tasks.spaces.orbits import Orbits

        return _best_cut(rules, Orbits.of_all(rules))
    if rules.moves.pairs is not None:
        from antipodes_tasks.spaces.arrangements import Arrangements

        return _best_cut(rules, Arrangements(rules.counts))
    return _best_cut(rules, numbering_of(rules))


def _best_cut(rules: Rules, numbering: Numbering) -> Space:
    spaces = every_cut(rules, numbering)
    fitting = [space for space in spaces if max(space.rows, space.width) <= MAX_ROWS]
    if not fitting:
        best = min(spaces, key=lambda space: max(space.rows, space.width))
        raise ResourceLimitError(
            f"the table would have more than {MAX_ROWS:,} rows or columns: "
            f"the best cut of its {best.size:,} positions has {best.rows:,} rows of {best.width:,} columns"
        )
    return _cheapest(fitting)


def every_cut(rules: Rules, numbering: Numbering) -> list[Space]:
    """Return a space for each cut of a numbering; all of them give a position the same index."""
    return [Space(rules, numbering, leading) for leading in numbering.cuts]


def smallest_cut(rules: Rules, numbering: Numbering) -> Space:
    """Return the space of the cut of a numbering that has the smallest move tables."""
    return min(every_cut(rules, numbering), key=lambda space: space.filler.table_bytes)


def _cheapest(spaces: Sequence[Space]) -> Space:
    """Return the first space with the minimum cost. Column maps are only counted if they can affect the result."""
    bounds = [_cost(space.filler, column_maps=1) for space in spaces]
    best, least = spaces[0], None
    for number in sorted(range(len(spaces)), key=bounds.__getitem__):
        if least is not None and bounds[number] > least[0]:
            break
        filler = spaces[number].filler
        found = _cost(filler, filler.most_column_maps), number
        if least is None or found < least:
            best, least = spaces[number], found
    return best


def _cost(filler: Filler, column_maps: int) -> float:
    """Return the relative time with a cut, given the number of column maps, plus the cost of large move tables."""
    return filler.cost(column_maps) + TABLE_COST * max(0, filler.bytes_with(column_maps) - FREE_TABLE_BYTES)


def stored_space(rules: Rules, record: SpaceRecord) -> Space:
    """Return the space of a store, even if another version chose it; raise FieldError if there is no such space."""
    if record.kind not in KINDS:
        raise FieldError(f"space: expected one of {', '.join(KINDS)}, found {record.kind!r}")
    name = KINDS[record.kind]
    if record.kind == REDUCED and (rules.moves.are_functions or rules.moves.free_moves):
        name = REDUCED_FIELDS if rules.moves.are_functions else REDUCED_CLASSES
    numbering = _imported(name).restored(rules, record)
    for space in every_cut(rules, numbering):
        if (space.rows, space.width) == (record.rows, record.width):
            return space
    raise FieldError(
        f"rows: {record.rows} rows of {record.width} columns match no row/column split of {numbering.radices}"
    )


def numbering_of(rules: Rules) -> Numbering:
    """Return the numbering that every new table of the puzzle uses, even if the table would be too large.

    Raises
    ------
    SizeLimitError
        The puzzle has more positions than 64 bits can number.
    """
    kind = _kind_for(rules)
    if kind.KIND == KEYED:  # computing the size would take up to a second and cannot show that it is too large
        return kind.of(rules)
    size = kind.size_for(rules)
    if size > arguments.MAX_INT64:
        few = "; if few of them are reachable, define the puzzle with enumerated=True" if kind.KIND == "fields" else ""
        solving = in_words("; solve finds shortest paths of single positions", "")  # a command names its puzzle
        raise SizeLimitError(f"expected at most 2^63 - 1 positions, found {size_in_words(size)}{few}{solving}")
    return kind.of(rules)


def index_size(rules: Rules) -> int:
    """Return the number of positions that the puzzle's space numbers, even if there are too many for 64 bits."""
    return _kind_for(rules).size_for(rules)


def size_in_words(size: int) -> str:
    """Return a number of positions as text: all its digits, or only the order of magnitude if 64 bits are too few."""
    return f"{size:,}" if size <= arguments.MAX_INT64 else f"about 10^{len(str(size)) - 1}"


def _kind(name: str) -> type[Numbering]:
    return _imported(KINDS[name])


def _imported(name: str) -> type[Numbering]:
    module, _, numbering = name.partition(".")
    kind: type[Numbering] = getattr(import_module(f"antipodes_tasks.spaces.{module}"), numbering)
    return kind


def _kind_for(rules: Rules) -> type[Numbering]:
    """Return the kind of numbering that suits the moves of a puzzle.

    A group numbers exactly the reachable positions. If a product of arrangements and values numbers no more positions,
    it is preferred, because it has fewer column maps. The order of a group is not computed if it certainly exceeds 64
    bits, because that can take a minute. A puzzle that declares itself enumerated gets keys.
    """
    if rules.moves.free_moves:
        from antipodes_tasks.spaces.shape_classes import ShapeClasses

        if rules.depends_on_origin or not ShapeClasses.suits(rules):
            raise InputError(
                f"{rules.name} has free moves, and its classes of positions cannot be numbered: free moves need moves "
                "that exchange places, and not too many shapes and arrangements; remove the free moves"
            )
        return ShapeClasses
    if rules.by_shape and not rules.depends_on_origin:
        from antipodes_tasks.spaces.shapes import Shapes

        if Shapes.suits(rules) and Shapes.size_for(rules) <= arguments.MAX_INT64:
            return Shapes
    if rules.enumerated:
        return _kind(KEYED)
    if rules.moves.pairs is not None:
        return _kind("arrangements")
    if rules.moves.free is not None:
        return _kind("regions")
    if rules.moves.transforms is None:
        return _kind("fields")
    from antipodes_tasks.spaces.group import Group
    from antipodes_tasks.spaces.orbits import Orbits, least_group_order

    if (
        Orbits.has_every_arrangement(rules)
        or least_group_order(rules) > arguments.MAX_INT64
        or not Group.can_number(rules)
    ):
        return Orbits
    return Group if Group.size_for(rules) < Orbits.size_for(rules) else Orbits
