"""Drafts of positions that a person edits: the form of a puzzle, and the verdict on a draft."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from antipodes.puzzles.drafts import DraftError, Form
from antipodes.puzzles.obstacles import obstacle
from antipodes.puzzles.puzzle import Puzzle
from antipodes.tables.table import UNKNOWN, Table
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.rules.moves import Labels

INVALID, UNREACHABLE, NOT_REACHED, REACHED = "invalid", "unreachable", "not reached yet", "reached"
"""The possible verdicts on a draft."""
Values = dict[str, Any]


def form_of(puzzle: Puzzle) -> Form | None:
    """Return the form of a puzzle; None if it cannot be edited."""
    form = puzzle.notation.form(puzzle.parts)
    return form if form.is_editable else None


def editable(puzzle: Puzzle) -> Form:
    """Return the form of a puzzle; raise InputError if it cannot be edited."""
    form = form_of(puzzle)
    if form is None:
        raise InputError(f"positions of {puzzle.name} cannot be edited field by field; type them instead")
    return form


def form_view(table: Table, position: Labels) -> Values:
    """Return the form of a puzzle, filled in with a position ``(places,)``."""
    form = editable(table.puzzle)
    draft = form.draft_of(table.puzzle.rules.written(position))
    return {
        "position": table.puzzle.format(position),
        "groups": [{"kind": group.kind, "symbols": [_json(one) for one in group.symbols]} for group in form.groups],
        "fields": [{**_json(field), "symbol": symbol} for field, symbol in zip(form.fields, draft, strict=True)],
        "blocks": form.blocks,
    }


def _json(value: Any) -> Values:
    return {name: getattr(value, name) for name in value.__slots__}


def draft_view(table: Table, draft: Sequence[str]) -> Values:
    """Return the verdict on a draft: its position and distance, or the reason why it is not a reached position.

    Raises PositionError if there are not as many symbols as fields, or if a field cannot hold its symbol.
    """
    form = editable(table.puzzle)
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


def _of_position(table: Table, position: Labels) -> Values:
    text, distance = table.puzzle.format(position), int(table.distances(position[np.newaxis])[0])
    if distance >= 0:
        return _verdict(REACHED, None, text, distance)
    reason = obstacle(table.puzzle.rules, position)
    if reason is None and distance == UNKNOWN:
        return _verdict(NOT_REACHED, f"the table has reached depth {table.radius} so far", text)
    return _verdict(UNREACHABLE, reason or _searched(table), text)


def _searched(table: Table) -> str:
    starts = len(table.puzzle.starts)
    zero = table.puzzle.depth_zero
    where = f"the {zero}" if starts == 1 else f"any of the {counted(starts, zero)}"
    return f"unreachable from {where}: the finished table of {counted(len(table), 'position')} does not contain it"


def _verdict(
    verdict: str,
    reason: str | None,
    position: str | None = None,
    distance: int | None = None,
    fields: Sequence[int] = (),
) -> Values:
    return {
        "verdict": verdict,
        "reason": reason,
        "position": position,
        "distance": distance,
        "wrong": sorted(set(fields)),
    }
