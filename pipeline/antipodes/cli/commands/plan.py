"""``antipodes plan``: the memory and the disk that a run would take."""

import typer

from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, MemoryLimit, Puzzle, Workers
from antipodes.cli.output import print_json


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
    print(f"{config.puzzle.name}: {planned.space.size:,} positions")
    partitions = f"{planned.partition_count} partition{'s' * (planned.partition_count != 1)}"
    print(f"  {planned.space.rows:,} rows of {planned.space.width:,} columns, {partitions}")
    print(f"  memory       at most {human(planned.memory_bytes)}, move tables {human(planned.table_bytes)} of it")
    print(f"  disk         at most {human(planned.disk_bytes)}")
    if not planned.hold_depths:
        print("  depths exceed the memory limit: each layer is written to disk when complete")
