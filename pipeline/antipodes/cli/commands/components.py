"""``antipodes components``: the strongly connected components of all positions of a puzzle."""

from dataclasses import dataclass
from typing import Annotated

import typer

from antipodes.cli.command import command, commands, obeys
from antipodes.cli.shared_options import AsJson, PuzzleArgument
from antipodes.cli.streams import print_json, print_line
from antipodes.graphs import components as finding
from antipodes.system.parameters import needs
from antipodes_tasks.base.quoting import counted

DEFAULT_LIMIT = 20
"""Number of kinds of components, by size and radius, that are listed by default."""

app = commands()


@dataclass(frozen=True, slots=True)
class ListedComponents:
    """The components of a puzzle, for JSON output."""

    components: list[finding.Component]
    weakly_connected: int


@command(
    app,
    "components",
    "antipodes components eight-puzzle",
    "antipodes components klotski --limit 5",
    "antipodes components klotski --goal '????/????/????/?AA?/?AA?'",
)
@obeys(*needs(("among",), "goal"))
def components(
    puzzle: PuzzleArgument,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=f"Show at most N lines. [default: {DEFAULT_LIMIT}; with --json all]"),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Instead, show the positions that are farthest from this goal."),
    ] = None,
    among: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="With --goal: consider only starts that match this pattern.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count the strongly connected components of a puzzle: positions that are reachable from each other."""
    if goal is not None:
        _show_hardest(finding.hardest_starts(puzzle, goal, limit or DEFAULT_LIMIT, among=among), as_json)
        return
    found = finding.components(puzzle)
    shown = found[: limit if limit or as_json else DEFAULT_LIMIT]
    if as_json:
        print_json(ListedComponents(shown, found.weakly_connected))
        return
    print_line(f"{'components':>10}  {'positions of each':>17}  {'radius':>6}  a position")
    for one in shown:
        print_line(f"{one.count:>10,}  {one.size:>17,}  {one.radius:>6,}  {one.example}")
    positions, number = sum(one.size * one.count for one in found), sum(one.count for one in found)
    weak = f", {counted(found.weakly_connected, 'weakly connected component')}" * (number > found.weakly_connected)
    print_line(f"{counted(positions, 'position')} in {counted(number, 'component')}{weak}")
    if len(shown) < len(found):
        print_line(f"and {len(found) - len(shown)} more lines: --limit {len(found)}")


def _show_hardest(found: finding.HardestStarts, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    print_line(
        f"{counted(found.count, 'position')} {counted(found.distance, 'move')} from the nearest of "
        f"{counted(found.goals, 'goal')}; {found.reaching:,} of {counted(found.total, 'position')} reach one"
    )
    for position in found.positions:
        print_line(position)
    if found.count > len(found.positions):
        print_line(f"and {found.count - len(found.positions):,} more: --limit {found.count}")
