"""``antipodes puzzles``: the bundled configs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any

import typer

from antipodes.cli.command import add
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson
from antipodes.cli.output import print_json, terminal_columns

NARROWEST = 24
"""Characters of a column of descriptions; in a narrower terminal they are below the names."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "Puzzles", "puzzles", puzzles, "antipodes puzzles", "antipodes puzzles --json")


def puzzles(as_json: AsJson = False) -> None:
    """List the bundled puzzles."""
    with loading():
        from antipodes.config import bundled_puzzles

    rows = bundled_puzzles()
    if as_json:
        print_json(rows)
        return
    for line in _lines(rows, terminal_columns()):
        print(line)


def _lines(rows: Sequence[Mapping[str, Any]], columns: int) -> Iterator[str]:
    """A paragraph for each family."""
    for family, members in groupby(
        sorted(rows, key=lambda row: (row["family"], row["name"])), lambda row: row["family"]
    ):
        yield family
        yield from _members(list(members), columns)


def _members(rows: Sequence[Mapping[str, Any]], columns: int) -> Iterator[str]:
    """The puzzles of a family: names, numbers of positions, and descriptions in a column of their own."""
    sizes = ["?" if row["index_size"] is None else f"{row['index_size']:,}" for row in rows]
    name, widest = max(len(row["name"]) for row in rows), max(map(len, sizes))
    indent = name + widest + 6
    beside = columns - indent >= NARROWEST
    for row, size in zip(rows, sizes, strict=True):
        said_once = re.sub(f": {size} [a-z]+$", "", row["description"])
        if beside:
            first, *lines = wrap(said_once, columns - indent) or [""]
            yield f"  {row['name']:<{name}}  {size:>{widest}}  {first}".rstrip()
        else:
            lines = wrap(f"{size}  {said_once}", max(columns, NARROWEST) - 4)
            yield f"  {row['name']}"
        yield from (f"{'':{indent if beside else 4}}{line}" for line in lines)
