"""Drafts of positions that a person edits: the form of a puzzle, and the verdict on a draft.

The verdict includes the reason why a position is unreachable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from antipodes.puzzles.drafts import DraftError, Form, FormGroup, Square
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.records import schema_name, values_of
from antipodes.tables.table import UNKNOWN, Table
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import counted

INVALID, UNREACHABLE, NOT_REACHED, REACHED = "invalid", "unreachable", "not reached yet", "reached"
"""The possible verdicts on a draft."""


@schema_name("FormField")
@dataclass(frozen=True, slots=True)
class FilledField:
    """A field of a form: its group, the squares (row, column) on which it is drawn, and the symbol in it."""

    name: str
    group: int
    squares: tuple[Square, ...]
    fixed: bool
    symbol: str


@schema_name("Form")
@dataclass(frozen=True, slots=True)
class FilledForm:
    """The fields in which a person edits a position, and the cells (row, column) of each block, by its letter."""

    position: str
    groups: tuple[FormGroup, ...]
    fields: list[FilledField]
    blocks: Mapping[str, tuple[tuple[int, int], ...]] | None


@dataclass(frozen=True, slots=True)
class Draft:
    """The verdict on a draft; if it is not a reached position, the reason and the ``wrong`` fields."""

    verdict: str
    reason: str | None
    position: str | None
    distance: int | None
    wrong: list[int]


def form_if_editable(puzzle: Puzzle) -> Form | None:
    """Return the form of a puzzle; None if it cannot be edited."""
    form = puzzle.notation.form(puzzle.parts)
    return form if form.is_editable else None


def editable_form(puzzle: Puzzle) -> Form:
    """Return the form of a puzzle; raise InputError if it cannot be edited."""
    form = form_if_editable(puzzle)
    if form is None:
        raise InputError(f"positions of {puzzle.name} cannot be edited field by field; type them instead")
    return form


def form_view(table: Table, position: Labels) -> FilledForm:
    """Return the form of a puzzle, filled in with a position ``(places,)``."""
    form = editable_form(table.puzzle)
    draft = form.draft_of(table.puzzle.rules.written(position))
    fields = [FilledField(**values_of(one), symbol=symbol) for one, symbol in zip(form.fields, draft, strict=True)]
    return FilledForm(table.puzzle.format(position), form.groups, fields, form.blocks)


def draft_view(table: Table, draft: Sequence[str]) -> Draft:
    """Return the verdict on a draft: its position and distance, or the reason why it is not a reached position.

    Raises PositionError if there are not as many symbols as fields, or if a field cannot hold its symbol.
    """
    form = editable_form(table.puzzle)
    form.check_symbols(draft)
    try:
        position = _position(table.puzzle, form.written(draft))
    except DraftError as error:
        return _verdict(INVALID, str(error), fields=error.fields)
    except InputError as error:  # raised by the puzzle's own format or parse function
        return _verdict(INVALID, str(error))
    return _of_position(table, position)


def _position(puzzle: Puzzle, written: Sequence[str]) -> Labels:
    """Return the position with these symbols; raise InputError if its text does not parse to the same position."""
    labels = [
        part.labels[symbol]
        for part, here in zip(puzzle.parts, puzzle.rules.ranges, strict=True)
        for symbol in written[here]
    ]
    position = puzzle.rules.checked_one(labels)
    text = puzzle.format(position)
    if not np.array_equal(puzzle.parse(text), position):
        raise InputError(f"the puzzle formats this position as {text}, but parses that text as a different position")
    return position


def _of_position(table: Table, position: Labels) -> Draft:
    text, distance = table.puzzle.format(position), int(table.distances(position[np.newaxis])[0])
    if distance >= 0:
        return _verdict(REACHED, None, text, distance)
    reason = table.obstacle(position)
    if reason is None and distance == UNKNOWN:
        return _verdict(NOT_REACHED, f"the table has reached depth {table.radius} so far", text)
    return _verdict(UNREACHABLE, reason or _searched(table), text)


def _searched(table: Table) -> str:
    starts = table.layers[0]
    zero = table.puzzle.depth_zero
    where = f"the {zero}" if starts == 1 else f"any of the {counted(starts, zero)}"
    return f"unreachable from {where}: the finished table of {counted(len(table), 'position')} does not contain it"


def _verdict(
    verdict: str,
    reason: str | None,
    position: str | None = None,
    distance: int | None = None,
    fields: Sequence[int] = (),
) -> Draft:
    return Draft(verdict, reason, position, distance, sorted(set(fields)))
