"""``antipodes puzzles``: the bundled configs."""

import typer

from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson
from antipodes.cli.output import print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("puzzles")(puzzles)


def puzzles(as_json: AsJson = False) -> None:
    """List the bundled puzzles."""
    with loading():
        from math import prod

        from antipodes.config import bundled_configs, load_config
        from antipodes.spaces.arrangements import radices

    listed = [(name, load_config(name).puzzle) for name in bundled_configs()]
    rows = [
        {
            "name": name,
            "family": puzzle.family,
            "index_size": prod(radices(puzzle.counts)),
            "description": puzzle.description,
        }
        for name, puzzle in listed
    ]
    if as_json:
        print_json(rows)
        return
    width = max(len(name) for name, _ in listed)
    for row in rows:
        print(f"{row['name']:<{width}}  {row['family']:<8} {row['index_size']:>13,}  {row['description']}")
