"""``antipodes puzzles``: the bundled configs."""

import typer

from antipodes.cli.command import add
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson
from antipodes.cli.output import print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "Puzzles", "puzzles", puzzles, "antipodes puzzles", "antipodes puzzles --json")


def puzzles(as_json: AsJson = False) -> None:
    """List the bundled puzzles."""
    with loading():
        from antipodes.config import bundled_configs, load_config
        from antipodes.tables.views import puzzle_view

    rows = [puzzle_view(name, load_config(name).puzzle) for name in bundled_configs()]
    if as_json:
        print_json(rows)
        return
    name, family = (max(len(row[key]) for row in rows) for key in ("name", "family"))
    size = max(len(f"{row['index_size']:,}") for row in rows)
    for row in rows:
        print(f"{row['name']:<{name}}  {row['family']:<{family}}  {row['index_size']:>{size},}  {row['description']}")
