"""Answers that are tables: printed as lines, as JSON, or as comma-separated values."""

from typing import Annotated

import typer

from antipodes.cli.command import obeys
from antipodes.cli.streams import print_json, print_lines
from antipodes.system.declared_questions import Tabular, csv_text
from antipodes.system.parameters import one_of

AsCsv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")]
prints_table = obeys(one_of("as_csv", "as_json"), as_csv="--csv", as_json="--json")
"""Decorator of a command with the options ``--csv`` and ``--json``, which exclude each other."""


def print_table(answer: Tabular, as_csv: bool, as_json: bool) -> None:
    """Print an answer as JSON, as comma-separated values or as lines."""
    if as_json:
        print_json(answer)
    else:
        print_lines(csv_text(answer.rows()) if as_csv else "\n".join(answer.lines()))
