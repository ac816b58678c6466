"""The move tables of a run, built in the memory of its workers."""

import uuid
from itertools import count

from antipodes.events import Listener, TablesBuilt, silence
from antipodes.executors.api import Call, Handle, Key, Scheduler, Stop, is_cancelled, never
from antipodes_tasks.errors import InterruptedRunError
from antipodes_tasks.spaces.move_tables import MoveTables
from antipodes_tasks.spaces.space import StateSpace

SOON_DONE = 8
"""Calls: tables that no more of them fill are ready in a moment, so an interruption waits for the first layer."""


def build_tables(scheduler: Scheduler, space: StateSpace, stop: Stop = never, listener: Listener = silence) -> Handle:
    """The move tables, filled by tasks of the scheduler.

    Threads fill the tables block by block, and the listener is told how many are filled. On a cluster, where tasks
    cannot share arrays, one task fills all. This call does not wait for it.

    Raises
    ------
    InterruptedRunError
        ``stop`` returned True while threads filled the tables.
    """
    name = f"tables-{uuid.uuid4().hex}"
    if not scheduler.shares_memory:
        return scheduler.persist({(name, 0): (build_on_worker, space)})[name, 0]
    tables, fills = space.begin_tables()
    stopped = stop if len(fills) > SOON_DONE else never
    calls: dict[Key, Call] = {(name, number): (fill,) for number, fill in enumerate(fills)}
    filled = count(1)
    listener(TablesBuilt(0, len(fills)))
    scheduler.run_unordered(calls, lambda key, result: listener(TablesBuilt(next(filled), len(fills))), stopped)
    if stopped():
        raise InterruptedRunError("interrupted while building the move tables")
    return tables


def build_on_worker(space: StateSpace) -> MoveTables:
    """The move tables; InterruptedRunError if the run no longer waits for them."""
    tables, fills = space.begin_tables()
    for fill in fills:
        if is_cancelled():
            raise InterruptedRunError("interrupted while building the move tables")
        fill()
    return tables
