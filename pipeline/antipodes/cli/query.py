"""``antipodes query``: how far positions are, and the way."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antipodes.cli.loading import loading
from antipodes.cli.matches import show_matches
from antipodes.cli.options import AsJson, Store, find_store
from antipodes.cli.output import print_json, terminal_columns
from antipodes.cli.streams import input_lines
from antipodes.errors import InputError

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Labels, Puzzle
    from antipodes.tables.table import Table

BATCH = 4096
"""Positions that are looked up together, and lines that are read before the first answer."""

Positions = Annotated[
    list[str] | None,
    typer.Argument(metavar="POSITION...", help="Positions as in the config; - reads one a line from stdin."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("query", context_settings={"ignore_unknown_options": True})(query)


def query(
    store: Store,
    positions: Positions = None,
    pattern: Annotated[
        str | None,
        typer.Option(help="Instead of positions: A this piece, [AB] one of them, ? any, {ABC} these in any order."),
    ] = None,
    path: Annotated[bool, typer.Option("--path", help="Show a shortest path.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print distances from the start, or the nearest and farthest matches of a pattern."""
    with loading():
        from antipodes.tables.table import open_table

    if (pattern is None) == (not positions):
        raise InputError(f"expected positions or a --pattern, found {'neither' if pattern is None else 'both'}")
    with open_table(find_store(store)) as table:
        if pattern is not None:
            show_matches(table, pattern, path, as_json)
            return
        answers = _answers(table, _texts(positions or [], table.puzzle), path)
        if as_json:
            print_json([_to_json(table, answer) for answer in answers])
        else:
            for answer in answers:
                _print(table, answer)


def _texts(positions: list[str], puzzle: "Puzzle") -> Iterator[str]:
    """The positions, those on stdin among them; symbols that came as arguments of their own are one position."""
    from antipodes.puzzles.board import SEPARATORS

    def too_short(text: str) -> bool:
        return len(SEPARATORS.split(text)) == 1 and (text in puzzle.symbols or len(text) < puzzle.places)

    if len(positions) > 1 and puzzle.places > 1 and all(too_short(text) for text in positions):
        positions = [" ".join(positions)]
    for text in positions:
        if text == "-":
            yield from (line for line in input_lines() if line.strip())
        else:
            yield text


def _answers(table: "Table", texts: Iterator[str], with_path: bool) -> Iterator[dict[str, Any]]:
    """What is to be said of each position, batch by batch: standard input may be longer than memory, or endless."""
    while batch := list(islice(texts, BATCH)):
        labels = table.puzzle.parse_many(batch)
        distances = table.get_distances(labels)
        yield from (_answer(table, *one, with_path) for one in zip(labels, distances, strict=True))


def _answer(table: "Table", position: "Labels", distance: int | None, with_path: bool) -> dict[str, Any]:
    way = table.path(position) if with_path and distance is not None else None
    return {"position": position, "distance": distance, "path": way, "with_path": with_path}


def _to_json(table: "Table", answer: dict[str, Any]) -> dict[str, Any]:
    shown = {"position": table.puzzle.format(answer["position"]), "distance": answer["distance"]}
    if answer["with_path"]:
        way = answer["path"]
        shown["path"] = None if way is None else [table.puzzle.format(one) for one in way]
    return shown


def _print(table: "Table", answer: dict[str, Any]) -> None:
    from antipodes.tables.drawing import draw_path

    distance = answer["distance"]
    text = "unreachable" if distance is None else str(distance)
    print(f"{table.puzzle.format(answer['position'])}: {text}")
    if answer["path"] is not None:
        print(draw_path(table.puzzle, answer["path"], terminal_columns()))
