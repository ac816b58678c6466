"""The puzzle families: each turns the ``[puzzle]`` table of a config into a `Puzzle`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from antipodes.puzzles.pattern import MARKS, aimed_at, goals_in, matching
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import ENUMERATED, GOAL, START, STARTS, flag, starts_in
from antipodes_tasks import arguments
from antipodes_tasks.errors import ConfigError, InputError
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.counted_swaps import CountedSwaps

FAMILIES: Mapping[str, tuple[str, str]] = {
    "blocks": ("blocks", "blocks"),
    "burnt-pancake": ("permutations", "burnt_pancake"),
    "generators": ("generators", "generators"),
    "hanoi": ("hanoi", "hanoi"),
    "jump": ("jump", "jump"),
    "lights-out": ("lights_out", "lights_out"),
    "pancake": ("permutations", "pancake"),
    "sliding": ("sliding", "sliding"),
    "topspin": ("permutations", "topspin"),
    "twisty": ("twisty", "twisty"),
}
"""The module and the function of each family, loaded when a puzzle needs it: all of them take 25 ms."""
OF_START = re.compile(rf"^(\[puzzle\] )?{START}:")
"""How a message of a family begins that is about the start."""


def puzzle_from(settings: Mapping[str, Any]) -> Puzzle:
    """The puzzle that a ``[puzzle]`` table describes.

    ``goal`` is another word for ``start``. With both, the start says which pieces there are, and depths count from the
    goal, which may be a pattern. Where positions are listed, goals that the start cannot reach do not count. With
    ``starts`` depths count from all of these, reached from the start or not, and there may be millions.

    With ``enumerated`` a search lists the positions, also where a formula numbers them.

    ConfigError, which names the key, where the family is unknown, or another key is unknown, missing or out of range.
    """
    family = arguments.mapping(settings, "settings of a puzzle").get("family")
    if not isinstance(family, str) or family not in FAMILIES:
        found = f"found {quote(family)}" if "family" in settings else "this key is missing"
        raise ConfigError(f"[puzzle] family: expected one of {', '.join(sorted(FAMILIES))}; {found}")
    module, function = FAMILIES[family]
    described = _described(getattr(import_module(f"{__name__}.{module}"), function), settings)
    return _enumerated(described) if flag(settings, ENUMERATED) else described


def _enumerated(puzzle: Puzzle) -> Puzzle:
    """The puzzle whose positions a search lists, though they may have numbers."""
    if isinstance(puzzle.moves, CountedSwaps):
        raise ConfigError(f"[puzzle] {ENUMERATED}: expected a puzzle all of whose moves count, found free tiles")
    return replace(puzzle, rules=replace(puzzle.rules, enumerated=True))


def _described(describe: Callable[[Mapping[str, Any]], Puzzle], settings: Mapping[str, Any]) -> Puzzle:
    """The puzzle of a family, with its starts."""
    _check_one_start(settings)
    if STARTS in settings:
        return _with_many_starts(describe, settings)
    if GOAL not in settings:
        return describe(settings)
    others = {key: value for key, value in settings.items() if key != GOAL}
    if START not in others:
        return _with_start_at_goal(describe, settings, others)
    return _with_goals(describe(others), starts_in(settings, GOAL))


def _check_one_start(settings: Mapping[str, Any]) -> None:
    """Raise ConfigError if several positions of ``start`` are given beside a key that takes over depth 0.

    ``start`` then gives the pieces, the beginning of sequences, and in listed puzzles the positions that have a number.
    For all of these one position counts, so the others would be ignored.
    """
    start = settings.get(START)
    for key in (STARTS, GOAL):
        if key in settings and isinstance(start, list) and len(start) > 1:
            raise ConfigError(
                f"[puzzle] {START}: a list of {len(start)} positions cannot be combined with {key!r}, from which "
                f"depths count; give one {START}"
            )


def _with_many_starts(describe: Callable[[Mapping[str, Any]], Puzzle], settings: Mapping[str, Any]) -> Puzzle:
    """The puzzle with its starts at all positions that match one of some patterns."""
    if GOAL in settings:
        raise ConfigError(f"[puzzle] {GOAL}: expected one of {GOAL} and {STARTS}, found both")
    texts = starts_in(settings, STARTS)
    puzzle = describe({key: value for key, value in settings.items() if key != STARTS})
    try:
        puzzle = aimed_at(puzzle, texts)
        return replace(puzzle, rules=replace(puzzle.rules, starts=matching(puzzle, texts)))
    except InputError as error:
        raise ConfigError(f"[puzzle] {STARTS}: {error}") from None


def _with_start_at_goal(
    describe: Callable[[Mapping[str, Any]], Puzzle], settings: Mapping[str, Any], others: Mapping[str, Any]
) -> Puzzle:
    """The puzzle with the goal as its start; what is wrong with that is said of the goal."""
    for text in starts_in(settings, GOAL):
        if MARKS & set(text):
            raise ConfigError(
                f"[puzzle] {GOAL}: expected a position, or a {START} beside a pattern, to say which pieces there are, "
                f"found the pattern {quote(shorten(text))} alone"
            )
    try:
        return describe({**others, START: settings[GOAL]})
    except ConfigError as error:
        raise ConfigError(OF_START.sub(rf"\g<1>{GOAL}:", str(error))) from None


def _with_goals(puzzle: Puzzle, texts: Sequence[str]) -> Puzzle:
    """The puzzle with its starts at the goals, and its first start as the origin."""
    try:
        puzzle = aimed_at(puzzle, texts)
        goals = [tuple(labels) for text in texts for labels in goals_in(puzzle, text).tolist()]
    except InputError as error:
        raise ConfigError(f"[puzzle] {GOAL}: {error}") from None
    return replace(puzzle, rules=replace(puzzle.rules, starts=tuple(dict.fromkeys(goals)), origin=puzzle.starts[0]))
