"""How `query` shows what fits a pattern."""

from typing import TYPE_CHECKING, Any

from antipodes.cli.output import print_json, terminal_columns

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Labels
    from antipodes.tables.matches import Matches
    from antipodes.tables.table import Table

SHOWN = 6
"""Boards drawn of the nearest and of the farthest."""


def show_matches(table: "Table", pattern: str, with_path: bool, as_json: bool) -> None:
    """Print the nearest and the farthest positions that fit a pattern, and how many there are at each distance."""
    matches = table.match(pattern)
    way = table.path(matches.nearest[0])[::-1] if with_path and matches.reached else None
    if as_json:
        shown = _matches_to_json(table, pattern, matches)
        if with_path:
            shown["path"] = None if way is None else [table.puzzle.format(one) for one in way]
        print_json(shown)
        return
    from antipodes.tables.drawing import draw_positions

    _print_matches(table, pattern, matches)
    if way is not None:
        print("a shortest way from the start to the nearest:")
        print(draw_positions(table.puzzle, way, terminal_columns(), [str(step) for step in range(len(way))]))


def _matches_to_json(table: "Table", pattern: str, matches: "Matches") -> dict[str, Any]:
    def side(distance: int | None, positions: "Labels") -> dict[str, Any] | None:
        texts = [table.puzzle.format(one) for one in positions]
        return None if distance is None else {"distance": distance, "count": len(texts), "positions": texts}

    return {
        "pattern": pattern,
        "count": matches.count,
        "reached": matches.reached,
        "by_distance": matches.by_distance,
        "nearest": side(min(matches.by_distance, default=None), matches.nearest),
        "farthest": side(max(matches.by_distance, default=None), matches.farthest),
    }


def _print_matches(table: "Table", pattern: str, matches: "Matches") -> None:
    from antipodes.tables.drawing import draw_counts, draw_positions

    fit = "position fits" if matches.count == 1 else "positions fit"
    print(f"{matches.count:,} {fit} {pattern}, {matches.reached:,} can be reached")
    if not matches.reached:
        return
    print(draw_counts(matches.by_distance))
    for name, distance, positions in (
        ("nearest", min(matches.by_distance), matches.nearest),
        ("farthest", max(matches.by_distance), matches.farthest),
    ):
        print(f"{name}: {len(positions):,} at distance {distance}")
        print(draw_positions(table.puzzle, positions[:SHOWN], terminal_columns()))
        if len(positions) > SHOWN:
            print(f"and {len(positions) - SHOWN:,} more: --json")
