"""``antipodes graph``: all positions and moves of a puzzle, as a file for graph libraries."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from antipodes.cli.command import command, commands
from antipodes.cli.shared_options import AsJson, PuzzleArgument
from antipodes.cli.streams import print_json, print_message
from antipodes.cli.usage import naming
from antipodes.graphs import export
from antipodes_tasks.base.quoting import shorten

app = commands()


@dataclass(frozen=True, slots=True)
class WrittenGraph:
    """A graph that was written to a file, for JSON output."""

    puzzle: str
    file: str
    nodes: int
    edges: int


@command(
    app,
    "graph",
    "antipodes graph eight-puzzle --to eight-puzzle.graphml",
    "antipodes graph klotski --to klotski.npz",
)
def graph(
    puzzle: PuzzleArgument,
    to: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Output file: .graphml, .npz (scipy.sparse), or .csv (with a second file)."),
    ],
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Refuse graphs of more than N positions.")
    ] = export.MAX_NODES,
    as_json: AsJson = False,
) -> None:
    """Write all positions and moves of a puzzle as a graph."""
    with naming("--to"):
        export.writer_of(to)
    found = export.graph(puzzle, limit)
    found.write(to)
    if as_json:
        print_json(WrittenGraph(found.puzzle.name, str(to), len(found.depths), len(found.edges)))
    else:
        print_message(f"{len(found.depths):,} positions and {len(found.edges):,} moves written to {shorten(str(to))}")
