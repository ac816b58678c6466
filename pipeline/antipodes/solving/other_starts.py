"""Bundled puzzles that differ from a puzzle only in their starts, such as the two 15-puzzles."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from antipodes.puzzles.config import SOLVE, Config, bundled_configs, load_config, read_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.searches.problem import Problem

OWN = ("name", "description", "start", "starts")
"""Keys of ``[puzzle]`` in which the puzzles may differ."""


def puzzles_with_other_start(config: Config) -> Iterator[Puzzle]:
    """Yield the bundled puzzles with the same moves and pieces as a puzzle, but another start."""
    for name, path in bundled_configs().items():
        settings = read_config(path, "puzzle", SOLVE)["puzzle"]
        if settings != config.settings and _rules_of(settings) == _rules_of(config.settings):
            yield load_config(name).puzzle


def puzzle_that_reaches(config: Config, position: Labels) -> Puzzle | None:
    """Return a bundled puzzle with another start that reaches a position ``(places,)``, preferably as its start.

    The position is unreachable in the puzzle of the config. None if no bundled puzzle is known to reach it.
    """
    text, reaching = config.puzzle.format(position), None
    for puzzle in puzzles_with_other_start(config):
        if puzzle.is_position(text):
            problem = Problem.of(puzzle.rules, puzzle.parse(text))
            if np.array_equal(problem.position, puzzle.rules.first):
                return puzzle
            reaching = puzzle if reaching is None and problem.known_reachable else reaching
    return reaching


def _rules_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key not in OWN}
