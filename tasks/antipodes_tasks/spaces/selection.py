"""Which state space a puzzle gets: for a new store, for a store that exists, or just to number its positions."""

from collections.abc import Sequence
from importlib import import_module
from math import prod

from antipodes_tasks import arguments
from antipodes_tasks.errors import FieldError, InputError, ResourceLimitError, SizeLimitError
from antipodes_tasks.rules.counted_swaps import CountedSwaps
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.space import KEYED, REDUCED, Numbering, Space, SpaceRecord

KINDS = {
    "arrangements": "arrangements.Arrangements",
    "orbits": "orbits.Orbits",
    "group": "group.Group",
    "fields": "mixed_radix.Fields",
    "regions": "regions.Regions",
    "reduced": "reduced_numbering.Reduced",
    KEYED: "keyed.Keyed",
}
"""The numberings by their names in a store. Each is imported when a puzzle needs it: all of them take 30 ms."""
REDUCED_FIELDS = "reduced_fields.ReducedFields"
"""The numbering of the kind "reduced" of puzzles whose moves are functions."""
MAX_ROWS = 2**31 - 1
"""Rows, and columns, that the 32-bit numbers of the move tables can name."""
MAX_UNREDUCED_COST = 1e9
"""The cost of a second, see `Filler.cost`: a shorter search is not worth the time to look for symmetries."""


def best_space(rules: Rules, symmetry: str | None = None, *, outline: bool = False) -> Space:
    """The space that is built and searched fastest; it depends on the puzzle alone, and on whether it is reduced.

    With the ``symmetry`` "on" an entry stands for all positions that symmetries map to each other; with "auto" where
    that takes half the time or less, see `why_whole`. An ``outline`` is enough for a plan, and found in a second or
    two: `antipodes_tasks.spaces.choose_cut.listed` makes a space of it.

    Raises
    ------
    InputError
        The space is to be reduced, and cannot be.
    SizeLimitError
        The puzzle has more positions than 64 bits can number.
    ResourceLimitError
        No space has rows and columns that the move tables can number.
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


def why_whole(space: Space) -> str:
    """Why a space of all positions is not reduced by symmetries unless that is asked for, as the end of a sentence."""
    if space.numbering.KIND == KEYED:
        return f"its space is of the kind {KEYED}"
    if _is_short(space):
        return "all positions are searched in about a second"
    from antipodes_tasks.spaces.choose_cut import reduced_space

    try:
        reduced_space(space.rules, space, worth=True)
    except InputError as error:
        return str(error).partition(" not reduced: ")[2]
    return "that was asked for"


def is_reduced_by_default(rules: Rules) -> bool:
    """Whether a new table has fewer entries than positions, unless its run says otherwise."""
    if rules.enumerated or not isinstance(rules.moves, Transforms | Swaps | Functions):
        return False
    try:
        return best_space(rules, "auto").numbering.symmetries > 1
    except (SizeLimitError, ResourceLimitError):
        return False


def _is_short(space: Space) -> bool:
    """Whether a search takes about a second or less."""
    filler = space.filler
    return space.size * filler.most_moves + filler.cost(1) < MAX_UNREDUCED_COST


def whole_space(rules: Rules) -> Space:
    """The space of all positions with the pieces and values of a puzzle, also those that no moves from starts lead to.

    Raises
    ------
    InputError
        The positions of the puzzle are only known by a search from its starts.
    SizeLimitError, ResourceLimitError
        As `best_space`.
    """
    if rules.enumerated:
        raise InputError(f"expected a puzzle whose positions have numbers, found {rules.name}: a search lists them")
    size = prod(part.size for part in rules.parts)
    if size > arguments.GREATEST:
        raise SizeLimitError(f"expected at most 2^63 - 1 positions, found some 10^{len(str(size)) - 1}")
    if isinstance(rules.moves, Transforms):
        from antipodes_tasks.spaces.orbits import Orbits

        return _best_cut(rules, Orbits.of_all(rules))
    if isinstance(rules.moves, Swaps):
        from antipodes_tasks.spaces.arrangements import Arrangements

        return _best_cut(rules, Arrangements(rules.counts))
    return _best_cut(rules, numbering_of(rules))


def _best_cut(rules: Rules, numbering: Numbering) -> Space:
    spaces = every_cut(rules, numbering)
    fitting = [space for space in spaces if max(space.rows, space.width) <= MAX_ROWS]
    if not fitting:
        best = min(spaces, key=lambda space: max(space.rows, space.width))
        raise ResourceLimitError(
            f"expected positions that a cut divides into at most {MAX_ROWS:,} rows and columns; "
            f"the best of {best.size:,} positions has {best.rows:,} rows of {best.width:,} columns"
        )
    return _cheapest(fitting)


def every_cut(rules: Rules, numbering: Numbering) -> list[Space]:
    """The spaces of a numbering: all give a position the same index, and cut it into row and column differently."""
    return [Space(rules, numbering, leading) for leading in numbering.cuts]


def _cheapest(spaces: Sequence[Space]) -> Space:
    """The space of the least cost, the first of several. Column maps are only counted where they may matter."""
    bounds = [space.filler.cost(column_maps=1) for space in spaces]
    best, least = spaces[0], None
    for number in sorted(range(len(spaces)), key=bounds.__getitem__):
        if least is not None and bounds[number] > least[0]:
            break
        filler = spaces[number].filler
        found = filler.cost(filler.most_column_maps), number
        if least is None or found < least:
            best, least = spaces[number], found
    return best


def stored_space(rules: Rules, record: SpaceRecord) -> Space:
    """The space of a store, which another version may have chosen otherwise; FieldError if there is none such."""
    if record.kind not in KINDS:
        raise FieldError(f"space: expected one of {', '.join(KINDS)}, found {record.kind!r}")
    functions = record.kind == REDUCED and isinstance(rules.moves, Functions)
    numbering = _imported(REDUCED_FIELDS if functions else KINDS[record.kind]).restored(rules, record)
    for space in every_cut(rules, numbering):
        if (space.rows, space.width) == (record.rows, record.width):
            return space
    raise FieldError(
        f"rows: {record.rows} rows of {record.width} columns match no row/column split of {numbering.radices}"
    )


def numbering_of(rules: Rules) -> Numbering:
    """The numbering that every new table of the puzzle uses, even if the table would be too large.

    Raises
    ------
    SizeLimitError
        The puzzle has more positions than 64 bits can number.
    """
    kind = _kind_for(rules)
    if kind.KIND == KEYED:  # a look at the puzzle takes up to a second, and says nothing of a size that is too large
        return kind.of(rules)
    size = kind.size_for(rules)
    if size > arguments.GREATEST:
        few = ": if few of them can be reached, give the puzzle enumerated=True" if kind.KIND == "fields" else ""
        raise SizeLimitError(f"expected at most 2^63 - 1 positions, found {size_in_words(size)}{few}")
    return kind.of(rules)


def index_size(rules: Rules) -> int:
    """The number of positions that the puzzle's space numbers, even if it is more than 64 bits can number."""
    return _kind_for(rules).size_for(rules)


def size_in_words(size: int) -> str:
    """A number of positions: all its digits, or the order of a number that has more than 64 bits."""
    return f"{size:,}" if size <= arguments.GREATEST else f"some 10^{len(str(size)) - 1}"


def _kind(name: str) -> type[Numbering]:
    return _imported(KINDS[name])


def _imported(name: str) -> type[Numbering]:
    module, _, numbering = name.partition(".")
    kind: type[Numbering] = getattr(import_module(f"antipodes_tasks.spaces.{module}"), numbering)
    return kind


def _kind_for(rules: Rules) -> type[Numbering]:
    """The numbering that suits the moves of a puzzle.

    A group numbers what can be reached, and nothing else. Where a product of arrangements and values numbers no more
    than that, it has fewer column maps, so it is preferred. Nor is the order of a group computed that 64 bits cannot
    number anyway: that can take a minute. A puzzle that says so is enumerated.
    """
    if rules.enumerated:
        return _kind(KEYED)
    if isinstance(rules.moves, Swaps):
        return _kind("arrangements")
    if isinstance(rules.moves, CountedSwaps):
        return _kind("regions")
    if not isinstance(rules.moves, Transforms):
        return _kind("fields")
    from antipodes_tasks.spaces.group import Group
    from antipodes_tasks.spaces.orbits import Orbits, least_group_order

    if (
        Orbits.has_every_arrangement(rules)
        or least_group_order(rules) > arguments.GREATEST
        or not Group.can_number(rules)
    ):
        return Orbits
    return Group if Group.size_for(rules) < Orbits.size_for(rules) else Orbits
