"""Boards as their files describe them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from antipodes.config import bundled_configs, find_config, read_config
from antipodes_tasks import arguments
from antipodes_tasks.errors import ArgumentTypeError, ConfigError
from antipodes_tasks.exact_cover.partitions import PRUNING, in_scan_order
from antipodes_tasks.exact_cover.problem import TilingProblem, listed_conditions, parse_problem
from antipodes_tasks.quoting import shorten


@dataclass(frozen=True, repr=False)
class BoardConfig:
    """A tiling problem as its file describes it, and the file's defaults for a run."""

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
        """The same board under further conditions, as in its key ``where``; InputError if that is no list of such."""
        if not isinstance(conditions, list | tuple) or not all(isinstance(one, str) for one in conditions):
            raise ArgumentTypeError(f"expected conditions as a list of texts, found {arguments.found(conditions)}")
        if not conditions:
            return self
        before = listed_conditions(self.settings.get("where", []))
        return replace(self, settings={**self.settings, "where": [*before, *conditions]})

    @cached_property
    def problem(self) -> TilingProblem:
        """The board and the pieces that the settings describe."""
        return parse_problem(self.settings)


def bundled_boards() -> list[str]:
    """The names of the boards that come with the program."""
    return list(bundled_configs("boards"))


def load_board(name_or_path: str) -> BoardConfig:
    """The board with a bundled name, or in a file.

    Raises
    ------
    ConfigError
        There is none, or the pieces cannot fill it; the message names the file and the key.
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
    """The method, "pruning" for None; InputError if there is none of this name, or it does not take such boards."""
    wanted = "a BoardConfig, such as load_board(name) or BoardConfig(settings) gives"
    arguments.instance(config, BoardConfig, wanted)
    chosen = PRUNING if method is None else method
    in_scan_order(config.problem, chosen)
    return chosen


def board_view(problem: TilingProblem) -> dict[str, Any]:
    """A bundled board with the keys of ``boards --json``: the number of its cells, and its pieces."""
    return {
        "name": problem.name,
        "cells": problem.board.size,
        "pieces": list(problem.labels),
        "description": problem.description,
    }
