"""Which state space a puzzle gets: for a new store, for a store that exists, or just to number its positions."""

from collections.abc import Callable, Mapping, Sequence

from antipodes_tasks import arguments
from antipodes_tasks.errors import FieldError, ResourceLimitError, SizeLimitError
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.space import SpaceRecord, StateSpace

Kind = type[StateSpace]
MAX_ROWS = 2**31 - 1
"""Rows, and columns, that the 32-bit numbers of the move tables can name."""


def best_space(rules: Rules) -> StateSpace:
    """The space that is built and searched fastest; it depends on the puzzle alone.

    Raises
    ------
    SizeLimitError
        The puzzle has more positions than 64 bits can number.
    ResourceLimitError
        No space has rows and columns that the move tables can number.
    """
    spaces = _cuts(rules)
    fitting = [space for space in spaces if max(space.rows, space.width) <= MAX_ROWS]
    if not fitting:
        best = min(spaces, key=lambda space: max(space.rows, space.width))
        raise ResourceLimitError(
            f"expected positions that a cut divides into at most {MAX_ROWS:,} rows and columns; "
            f"the best of {best.size:,} positions has {best.rows:,} rows of {best.width:,} columns"
        )
    return _cheapest(fitting)


def stored_space(rules: Rules, record: SpaceRecord) -> StateSpace:
    """The space of a store, which another version may have chosen otherwise; FieldError if there is none such."""
    if record.kind not in KINDS:
        raise FieldError(f"space: expected one of {', '.join(KINDS)}, found {record.kind!r}")
    return KINDS[record.kind]().restored(rules, record)


def index_size(rules: Rules) -> int:
    """The number of positions that the puzzle's space numbers, even if it is more than 64 bits can number."""
    return _kind_for(rules).size_for(rules)


def numbering_space(rules: Rules) -> StateSpace:
    """A space with the same indices as every new table of the puzzle, even if the table would be too large.

    Raises
    ------
    SizeLimitError
        The puzzle has more positions than 64 bits can number.
    """
    return _cuts(rules)[0]


def _kind_for(rules: Rules) -> Kind:
    """The kind of space that suits the moves of a puzzle.

    A group numbers what can be reached, and nothing else. Where a product of arrangements and values numbers no more
    than that, it has fewer column maps, so it is preferred. Nor is the order of a group computed that 64 bits cannot
    number anyway: that can take a minute. A puzzle that says so is enumerated.
    """
    if rules.enumerated:
        return _enumerated()
    if isinstance(rules.moves, Swaps):
        return _arrangements()
    return _kind_for_transforms(rules) if isinstance(rules.moves, Transforms) else _fields()


def _kind_for_transforms(rules: Rules) -> Kind:
    from antipodes_tasks.spaces.group.group_space import GroupSpace
    from antipodes_tasks.spaces.orbit.orbit_space import OrbitSpace, has_every_arrangement, least_group_order

    if has_every_arrangement(rules) or least_group_order(rules) > arguments.GREATEST or not GroupSpace.suits(rules):
        return OrbitSpace
    return GroupSpace if GroupSpace.size_for(rules) < OrbitSpace.size_for(rules) else OrbitSpace


# Each kind is loaded when a puzzle needs it: all of them take 30 ms.


def _arrangements() -> Kind:
    from antipodes_tasks.spaces.arrangement.arrangement_space import ArrangementSpace

    return ArrangementSpace


def _orbits() -> Kind:
    from antipodes_tasks.spaces.orbit.orbit_space import OrbitSpace

    return OrbitSpace


def _group() -> Kind:
    from antipodes_tasks.spaces.group.group_space import GroupSpace

    return GroupSpace


def _fields() -> Kind:
    from antipodes_tasks.spaces.field.field_space import FieldSpace

    return FieldSpace


def _enumerated() -> Kind:
    from antipodes_tasks.spaces.enumerated.enumerated_space import EnumeratedSpace

    return EnumeratedSpace


KINDS: Mapping[str, Callable[[], Kind]] = {
    "arrangements": _arrangements,
    "orbits": _orbits,
    "group": _group,
    "fields": _fields,
    "enumerated": _enumerated,
}
"""The kinds of spaces, by their names in a store."""


def _cuts(rules: Rules) -> Sequence[StateSpace]:
    """The spaces of the kind that suits the puzzle; SizeLimitError if 64 bits cannot number its positions."""
    kind = _kind_for(rules)
    size = kind.size_for(rules)
    if size > arguments.GREATEST:
        few = ": if few of them can be reached, give the puzzle enumerated=True" if kind.KIND == "fields" else ""
        raise SizeLimitError(f"expected at most 2^63 - 1 positions, found some 10^{len(str(size)) - 1}{few}")
    return kind.cuts(rules)


def _cheapest(spaces: Sequence[StateSpace]) -> StateSpace:
    """The space of the least cost, the first of several. Column maps are only counted where they may matter."""
    bounds = [space.least_cost for space in spaces]
    best, least = spaces[0], None
    for number in sorted(range(len(spaces)), key=bounds.__getitem__):
        if least is not None and bounds[number] > least[0]:
            break
        found = spaces[number].cost, number
        if least is None or found < least:
            best, least = spaces[number], found
    return best
