"""``antipodes plan``: the memory and the disk that a run would take."""

from typing import TYPE_CHECKING

import typer

from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, MemoryLimit, Puzzle, Workers
from antipodes.cli.output import print_json

if TYPE_CHECKING:
    from antipodes.spaces.space import StateSpace


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(puzzle: Puzzle, workers: Workers = None, memory_limit: MemoryLimit = None, as_json: AsJson = False) -> None:
    """Estimate the memory and disk of a run, without running."""
    with loading():
        from antipodes.config import load_config
        from antipodes.machine import available_memory
        from antipodes.runs.options import tasks_at_once
        from antipodes.sizes import human, memory_size
        from antipodes.tables.planning.plan import plan_run
        from antipodes.tables.views import plan_view

    config = load_config(puzzle)
    limit = memory_size(memory_limit) if memory_limit is not None else available_memory()
    planned = plan_run(config.puzzle, tasks_at_once(workers), limit, settings=config.settings)
    if as_json:
        print_json(plan_view(planned))
        return
    space = planned.space
    print(f"{config.puzzle.name}: {space.size:,} positions{_reachable(space)}")
    cut = (_counted(space.rows, "row"), _counted(space.width, "column"), _counted(space.most_column_maps, "column map"))
    print(f"  space        {space.KIND}: {cut[0]} of {cut[1]}, {cut[2]}")
    print(f"  tasks        {_counted(planned.partition_count, 'partition')}")
    print(f"  memory       at most {human(planned.memory_bytes)}, move tables {human(planned.table_bytes)} of it")
    print(f"  disk         at most {human(planned.disk_bytes)}")
    if not planned.hold_depths:
        print("  depths exceed the memory limit: each layer is written to disk when complete")


def _reachable(space: "StateSpace") -> str:
    if space.reachable is None:
        return ""
    return ", all can be reached" if space.reachable == space.size else f", {space.reachable:,} can be reached"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
