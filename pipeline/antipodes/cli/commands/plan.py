"""``antipodes plan``: the memory and the disk that a run would take."""

from typing import TYPE_CHECKING

import typer

from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, CountsOnly, MemoryLimit, Puzzle, Workers
from antipodes.cli.output import print_json
from antipodes.runs.default_store import chosen_store

if TYPE_CHECKING:
    from antipodes.spaces.space import StateSpace
    from antipodes.tables.planning.plan import Plan


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(
    puzzle: Puzzle,
    workers: Workers = None,
    memory_limit: MemoryLimit = None,
    counts_only: CountsOnly = False,
    as_json: AsJson = False,
) -> None:
    """Estimate the memory and disk of a run, without running."""
    with loading():
        from antipodes.config import load_config
        from antipodes.machine import available_memory
        from antipodes.runs.options import tasks_at_once
        from antipodes.sizes import memory_size
        from antipodes.storage.address import storage_at
        from antipodes.tables.planning.plan import plan_run
        from antipodes.tables.views import plan_view

    config = load_config(puzzle)
    limit = memory_size(memory_limit) if memory_limit is not None else available_memory()
    counts_only = counts_only or config.run.get("counts_only", False)
    free = storage_at(chosen_store(None, config.run, config.puzzle.name, counts_only)).free_bytes()
    planned = plan_run(config.puzzle, tasks_at_once(workers), limit, settings=config.settings, counts_only=counts_only)
    if as_json:
        print_json({**plan_view(planned), "fits": planned.least_bytes <= limit, "free_disk_bytes": free})
        return
    space = planned.space
    print(f"{config.puzzle.name}: {space.size:,} positions{_reachable(space)}")
    cut = (_counted(space.rows, "row"), _counted(space.width, "column"), _counted(space.most_column_maps, "column map"))
    print(f"  space        {space.KIND}: {cut[0]} of {cut[1]}, {cut[2]}")
    print(f"  tasks        {_counted(planned.partition_count, 'partition')}")
    print(f"  memory       {_memory(planned, limit, 'free' if memory_limit is None else 'limit')}")
    print(f"  disk         {_disk(planned, free)}")


def _memory(planned: "Plan", limit: int, what: str) -> str:
    """The memory of a run, or the least that it needs if the limit, ``what`` is its name, is less."""
    from antipodes.sizes import human

    tables = f"move tables {human(planned.table_bytes)} of it"
    if planned.least_bytes > limit:
        return f"does not fit: at least {human(planned.least_bytes)}, {tables}; {what} {human(limit)}"
    return f"at most {human(planned.memory_bytes)}, {tables}"


def _disk(planned: "Plan", free: int | None) -> str:
    """The disk of a run, and the bytes that are free, if known."""
    from antipodes.sizes import human

    parts = ", ".join(f"{what} {human(size)}" for what, size in planned.disk_parts.items())
    shown = "" if free is None else f"; free {human(free)}"
    return f"at most {human(planned.disk_bytes)}: {parts}{shown}"


def _reachable(space: "StateSpace") -> str:
    if space.reachable is None:
        return ""
    return ", all can be reached" if space.reachable == space.size else f", {space.reachable:,} can be reached"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
