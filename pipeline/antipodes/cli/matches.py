"""The positions that fit a pattern, as `query` shows them."""

from typing import TYPE_CHECKING

from antipodes.cli.colour import print_path, print_positions
from antipodes.cli.output import print_json
from antipodes_tasks.quoting import counted

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Puzzle
    from antipodes.tables.queries import Matches
    from antipodes.tables.table import Table
    from antipodes_tasks.rules.moves import Labels

SHOWN = 6
"""Boards drawn of the nearest and of the farthest."""


def show_matches(table: "Table", pattern: str, with_path: bool, as_json: bool) -> None:
    """Print the nearest and the farthest positions that fit a pattern, and the counts by distance."""
    from antipodes.tables.report import matches_view, matches_with_path_view

    puzzle, matches = table.puzzle, table.match(pattern)
    path = table.path(matches.nearest[0])[::-1] if with_path and matches.reached else None
    if not as_json:
        _print_matches(puzzle, pattern, matches)
        _print_path(puzzle, path)
    elif with_path:
        print_json(matches_with_path_view(puzzle, pattern, matches, path))
    else:
        print_json(matches_view(puzzle, pattern, matches))


def _print_matches(puzzle: "Puzzle", pattern: str, matches: "Matches") -> None:
    from antipodes.tables.drawing import draw_counts

    fit = counted(matches.count, "position fits", "positions fit")
    print(f"{fit} {pattern}, {matches.reached:,} reachable")
    if not matches.reached:
        return
    print(draw_counts(matches.by_distance))
    for name, distance, positions in (
        ("nearest", min(matches.by_distance), matches.nearest),
        ("farthest", max(matches.by_distance), matches.farthest),
    ):
        print(f"{name}: {len(positions):,} at distance {distance}")
        print_positions(puzzle, positions[:SHOWN])
        if len(positions) > SHOWN:
            print(f"and {len(positions) - SHOWN:,} more: --json")


def _print_path(puzzle: "Puzzle", path: "Labels | None") -> None:
    from antipodes.tables.drawing import draw_moves

    if path is not None:
        print(f"a shortest path from the {puzzle.depth_zero} to the nearest:")
        print_path(puzzle, path, [str(step) for step in range(len(path))])
        print(draw_moves(puzzle.move_names(path)), end="")
