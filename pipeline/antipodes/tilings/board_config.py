"""Boards and their configuration files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from antipodes.puzzles.config import bundled_configs, find_config, read_config
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import ArgumentTypeError, ConfigError
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.exact_cover.partitions import PRUNING, in_scan_order
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem, listed_conditions, parse_problem


@dataclass(frozen=True, repr=False)
class BoardConfig:
    """The configuration of a tiling problem, with defaults for a run."""

    settings: Mapping[str, Any]
    """The ``[board]`` table."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """The ``[run]`` table: defaults for the options of the same names."""

    def __post_init__(self) -> None:
        arguments.mapping(self.settings, "settings of a board")
        arguments.mapping(self.run, "settings of a run")

    def __repr__(self) -> str:
        return f"<BoardConfig of {shorten(str(self.settings.get('name')), 30)}>"

    def under(self, conditions: Sequence[str]) -> BoardConfig:
        """Return the same board with further conditions, written as in the key ``where``.

        Raises InputError if they are not a list of strings.
        """
        if not isinstance(conditions, list | tuple) or not all(isinstance(one, str) for one in conditions):
            raise ArgumentTypeError(f"expected conditions as a list of strings, found {arguments.found(conditions)}")
        if not conditions:
            return self
        before = listed_conditions(self.settings.get("where", []))
        return replace(self, settings={**self.settings, "where": [*before, *conditions]})

    @cached_property
    def problem(self) -> TilingProblem:
        """The board and the pieces that the settings describe."""
        return parse_problem(self.settings)


def bundled_boards() -> list[str]:
    """Return the names of the bundled boards."""
    return list(bundled_configs("boards"))


def load_board(name_or_path: str) -> BoardConfig:
    """Return the bundled board with this name, or the board in a file.

    Raises
    ------
    ConfigError
        The board does not exist or is invalid; the message names the file and the key.
    """
    path = find_config(name_or_path, "board")
    try:
        tables = read_config(path, "board")
        config = BoardConfig(tables["board"], tables["run"])
        config.problem  # noqa: B018  (an invalid board raises here)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    return config


def checked_method(config: BoardConfig, method: str | None) -> str:
    """Return the method (default "pruning"); raise InputError if it is unknown or does not support this board."""
    wanted = "a BoardConfig, such as load_board(name) or BoardConfig(settings) gives"
    arguments.instance(config, BoardConfig, wanted)
    chosen = PRUNING if method is None else method
    in_scan_order(config.problem, chosen)
    return chosen


@dataclass(frozen=True, slots=True)
class BundledBoard:
    """A bundled board, as listed by ``boards --json``."""

    name: str
    cells: int
    pieces: list[str]
    description: str


def bundled_board(problem: TilingProblem) -> BundledBoard:
    """Return the record of a bundled board."""
    return BundledBoard(problem.name, problem.board.size, list(problem.labels), problem.description)
