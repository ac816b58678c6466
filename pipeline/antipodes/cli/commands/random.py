"""``antipodes random``: random positions of a puzzle, which may be too large for a table."""

import secrets
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer

from antipodes.cli.command import command, commands
from antipodes.cli.loading import importing_libraries
from antipodes.cli.shared_options import AsJson, PuzzleArgument
from antipodes.cli.streams import print_json, print_line
from antipodes.puzzles.config import load_config

MAX_COUNT = 1_000_000
"""Maximum number of positions, which are all kept in memory."""

app = commands()


@dataclass(frozen=True, slots=True)
class RandomPositions:
    """Random positions, for JSON output."""

    puzzle: str
    seed: int
    positions: list[str]


@command(app, "random", "antipodes random 3x3x3 --count 5 --seed 1", "antipodes random fifteen-puzzle --json")
def random(
    puzzle: PuzzleArgument,
    count: Annotated[int, typer.Option(min=1, max=MAX_COUNT, metavar="N", help="Number of positions.")] = 1,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="S", help="Seed, to draw the same positions again. [default: random]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw random positions: every reachable position has the same probability."""
    with importing_libraries():
        from antipodes_tasks.spaces.uniform_sample import uniform_sample

    found = load_config(puzzle).puzzle
    chosen = secrets.randbits(32) if seed is None else seed
    positions = uniform_sample(found.rules, count, np.random.default_rng(chosen))
    drawn = [found.format(position) for position in positions]
    if as_json:
        print_json(RandomPositions(found.name, chosen, drawn))
        return
    for position in drawn:
        print_line(position)
