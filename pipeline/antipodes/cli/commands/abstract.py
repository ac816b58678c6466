"""``antipodes abstract``: print the config of a pattern of a puzzle."""

from typing import Annotated

import typer

from antipodes.cli.command import command, commands
from antipodes.cli.shared_options import Omit, PuzzleArgument
from antipodes.cli.streams import print_line, print_lines
from antipodes.puzzles.abstraction import Abstraction, pattern_settings
from antipodes.puzzles.config import Config, load_config
from antipodes.report_page.provenance import as_toml
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.rules.swaps import swap_edges
from antipodes_tasks.spaces.selection import is_reduced_by_default

PIECES = "PIECES"
WHOLE = {"symmetry": "off"}
"""Settings of a run whose table ``solve --tables`` loads without expanding it."""
app = commands()


@command(
    app,
    "abstract",
    "antipodes abstract eight-puzzle --keep 1,2,3,4 --free > four.toml",
    'antipodes abstract knights-labelled --equal "A B C" --equal "X Y Z"',
    "antipodes abstract pyraminx --omit AXIALS --keep EDGES:1,2,3",
)
def abstract(
    puzzle: PuzzleArgument,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar=PIECES, help="Keep these pieces distinct; the other pieces of the same part become identical."
        ),
    ] = None,
    equal: Annotated[
        list[str] | None, typer.Option(metavar=PIECES, help="Make these pieces identical. Repeatable.")
    ] = None,
    drop_orientation: Annotated[
        list[str] | None,
        typer.Option(metavar=PIECES, help="Ignore the orientation of these pieces."),
    ] = None,
    omit: Omit = None,
    free: Annotated[
        bool,
        typer.Option(
            "--free",
            help="With --keep: moves of the other tiles cost nothing, so distances of disjoint patterns add up.",
        ),
    ] = False,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the pattern. [default: derived from the kept pieces]")
    ] = None,
) -> None:
    """Print the config of a pattern: the puzzle with some pieces identical, without orientation, or left out."""
    if not (keep or equal or drop_orientation or omit):
        raise InputError("give at least one of --keep, --equal, --drop-orientation and --omit")
    chosen = Abstraction(keep or (), equal or (), drop_orientation or (), omit or (), free, name)
    settings = pattern_settings(load_config(puzzle).puzzle, chosen)
    found = Config(settings).puzzle
    print_lines(as_toml("puzzle", settings))
    # `solve --tables` would first have to expand a table that is reduced by symmetries.
    if swap_edges(found.rules) is not None and is_reduced_by_default(found.rules):
        print_line()
        print_lines(as_toml("run", WHOLE))
