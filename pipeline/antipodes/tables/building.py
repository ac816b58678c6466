"""The move tables of a run, built where its tasks find them."""

import uuid

from antipodes.errors import InterruptedRunError
from antipodes.executors.api import Call, Handle, Key, Scheduler, Stop, is_cancelled
from antipodes.puzzles.puzzle import Puzzle
from antipodes.spaces.arrangements import Index
from antipodes.spaces.move_tables import MoveTables, begin_tables

SOON_DONE = 8
"""Tables that so few calls fill are there in a moment, so the interruption waits for the first layer."""


def build_tables(scheduler: Scheduler, puzzle: Puzzle, index: Index, stop: Stop = lambda: False) -> Handle:
    """The move tables, built by the scheduler.

    Threads fill them block by block; on a cluster, where they cannot share arrays, one task does, which is not waited
    for here.

    Raises
    ------
    InterruptedRunError
        ``stop`` said so while threads were filling them.
    """
    name = f"tables-{uuid.uuid4().hex}"
    if not scheduler.shares_memory:
        return scheduler.persist({(name, 0): (tables_of_task, puzzle, index)})[name, 0]
    tables, fills = begin_tables(puzzle, index)
    stopped = stop if len(fills) > SOON_DONE else lambda: False
    calls: dict[Key, Call] = {(name, number): (fill,) for number, fill in enumerate(fills)}
    scheduler.run_unordered(calls, lambda key, result: None, stopped)
    if stopped():
        raise InterruptedRunError("interrupted while building the move tables")
    return tables


def tables_of_task(puzzle: Puzzle, index: Index) -> MoveTables:
    """The move tables, filled by a task on a worker; it ends early if its run no longer waits for it."""
    tables, fills = begin_tables(puzzle, index)
    for fill in fills:
        if is_cancelled():
            raise InterruptedRunError("interrupted while building the move tables")
        fill()
    return tables
