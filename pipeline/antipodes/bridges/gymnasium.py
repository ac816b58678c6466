"""Puzzles as environments of Gymnasium, with exact distances and best moves in ``info``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from antipodes.stores import finished_table
from antipodes.system.addresses import Address
from antipodes.tables.store.manifest import DEEPEST
from antipodes.tables.table import Table
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import InputError, imported

if TYPE_CHECKING:
    from gymnasium import Env

DISTANCES = range(1, 12)
"""Default distances at which episodes start."""


def make(table: Table | Address, distances: Iterable[int] = DISTANCES, render_mode: str | None = None) -> Env[Any, Any]:
    """Return an environment in which an agent moves from a random position to a start of the table.

    An observation is the label on each place, and an action is the number of a move in ``table.puzzle.actions``. Each
    action costs a reward of -1, an illegal action changes nothing, and an episode ends at distance 0. ``info`` contains
    the ``distance``, and arrays of the actions that are legal (``legal_moves``) or optimal (``best_moves``).
    ``reset(options={"position": position})`` starts at a position, given as text or labels.

    Parameters
    ----------
    table
        A finished table, or its address as for `antipodes.open_table`.
    distances
        Distances at which episodes start, all equally probable. Those greater than the radius of the table are ignored.
    render_mode
        None, or "rgb_array" to let ``render`` return pictures, which needs the extra ``pictures``.

    Raises
    ------
    InputError
        An argument is invalid, gymnasium or Pillow is not installed, or the puzzle has irreversible moves.
    UnfinishedError
        The table is unfinished.
    NotAStoreError, StoreDamagedError, SourceError, StoreMismatchError
        See `antipodes.open_table`.
    """
    imported("gymnasium", "an environment", "gymnasium")
    from antipodes.bridges.puzzle_environment import RENDER_MODE, PuzzleEnvironment

    if render_mode not in (None, RENDER_MODE):
        raise InputError(f"render_mode: choose None or {RENDER_MODE!r}, found {arguments.found(render_mode)}")
    opened = finished_table(table)
    if not opened.puzzle.moves.reversible:
        raise InputError(f"{opened.puzzle.name} has irreversible moves, so the distances to its start are unknown")
    given = arguments.integers(arguments.few(distances, DEEPEST + 1, "distances"), "distances (n,)", 1)
    found = [one for one in np.unique(given).tolist() if 1 <= one <= opened.radius]
    if not found or given.min() < 1:
        raise InputError(f"distances: expected some of 1 to {opened.radius}, the radius of {opened.puzzle.name}")
    return PuzzleEnvironment(opened, found, render_mode)
