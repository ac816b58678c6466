"""``antipodes rank`` and ``antipodes unrank``: the minimal perfect hash and its inverse."""

from typing import Annotated

import typer

from antipodes.cli.options import AsJson, Puzzle
from antipodes.cli.output import print_json


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("rank", context_settings={"ignore_unknown_options": True})(rank)
    app.command("unrank", context_settings={"ignore_unknown_options": True})(unrank)


def rank(
    puzzle: Puzzle,
    position: Annotated[str, typer.Argument(help="A position as in the config.")],
    as_json: AsJson = False,
) -> None:
    """Say the index of a position."""
    from antipodes.config import load_config
    from antipodes.plan import plan_index

    found = load_config(puzzle).puzzle
    labels = found.parse(position)
    index = int(plan_index(found).rank(labels[None])[0])
    if as_json:
        print_json({"position": found.format(labels), "index": index})
    else:
        print(index)


def unrank(
    puzzle: Puzzle,
    index: Annotated[int, typer.Argument(help="An index, from 0.")],
    as_json: AsJson = False,
) -> None:
    """Say which position has an index."""
    import numpy as np

    from antipodes.config import load_config
    from antipodes.errors import InputError
    from antipodes.plan import MAX_INDEX, plan_index

    found = load_config(puzzle).puzzle
    if not -1 <= index <= MAX_INDEX:
        raise InputError(f"expected an index from 0 to {plan_index(found).size - 1}, found {index}")
    labels = plan_index(found).unrank(np.array([index]))[0]
    if as_json:
        print_json({"position": found.format(labels), "index": index})
    else:
        print(found.format(labels))
        print(found.draw(labels))
