"""The tasks that build the move tables of a run."""

import uuid
from itertools import count

from antipodes.executors.api import Call, Handle, Key, Scheduler, Stop, is_cancelled, never_stop
from antipodes.system.events import Listener, TablesBuilt, silence
from antipodes_tasks.base.errors import InterruptedRunError
from antipodes_tasks.move_tables import MoveTables
from antipodes_tasks.spaces.space import Space

MAX_QUICK_FILLS = 8
"""Maximum number of tasks that fill move tables and cannot be interrupted, since they take only a moment."""


def build_tables(scheduler: Scheduler, space: Space, stop: Stop = never_stop, listener: Listener = silence) -> Handle:
    """Build the move tables with tasks of the scheduler, and return their handle.

    Threads fill the tables block by block, and the listener is notified of each block. On a cluster, tasks cannot share
    arrays, so a single task fills all tables, and this call does not wait for it.

    Raises
    ------
    InterruptedRunError
        ``stop`` returned True while threads filled the tables.
    """
    name = f"tables-{uuid.uuid4().hex}"
    if not scheduler.shares_memory:
        return scheduler.persist({(name, 0): (build_on_worker, space)})[name, 0]
    tables, fills = space.filler.begin()
    stopped = stop if len(fills) > MAX_QUICK_FILLS else never_stop
    calls: dict[Key, Call] = {(name, number): (fill,) for number, fill in enumerate(fills)}
    filled = count(1)
    listener(TablesBuilt(0, len(fills)))
    scheduler.run_unordered(calls, lambda key, result: listener(TablesBuilt(next(filled), len(fills))), stopped)
    if stopped():
        raise InterruptedRunError("interrupted while building the move tables")
    return tables


def build_on_worker(space: Space) -> MoveTables:
    """Build the move tables in one task; raise InterruptedRunError if the run no longer waits for them."""
    tables, fills = space.filler.begin()
    for fill in fills:
        if is_cancelled():
            raise InterruptedRunError("interrupted while building the move tables")
        fill()
    return tables
