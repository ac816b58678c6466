"""The puzzle families: each turns the ``[puzzle]`` table of a config into a `Puzzle`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from antipodes.puzzles.goals import MARKS, goals_in, starts_matching, with_targets
from antipodes.puzzles.packed_positions import unpacked
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import ENUMERATED, GOAL, POSITIONS, START, STARTS, flag, starts_in
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import ConfigError, InputError
from antipodes_tasks.base.quoting import quote, shorten

FAMILIES: Mapping[str, tuple[str, str]] = {
    "blocks": ("blocks", "blocks"),
    "burnt-pancake": ("permutations", "burnt_pancake"),
    "generators": ("generators", "generators"),
    "hanoi": ("hanoi", "hanoi"),
    "jump": ("jump", "jump"),
    "lights-out": ("lights_out", "lights_out"),
    "pancake": ("permutations", "pancake"),
    "sliding": ("sliding", "sliding"),
    "square-1": ("square_1", "square_1"),
    "topspin": ("permutations", "topspin"),
    "twisty": ("twisty", "twisty"),
}
"""Module and function of each family. A module is imported when a puzzle needs it, because all of them take 25 ms."""
OF_START = re.compile(rf"^(\[puzzle\] )?{START}:")
"""The beginning of a family's message about the start."""


def puzzle_from(settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle that a ``[puzzle]`` table describes.

    ``goal`` is a synonym for ``start``. If both are given, the start determines the pieces, and a depth is the distance
    from the goal, which may be a pattern. Goals that are unreachable from the start are ignored if a search lists the
    positions. With ``starts``, all positions given there are at depth 0, reachable from the start or not; there may be
    millions. In settings from `Puzzle.starting_at`, ``starts`` contains the packed positions.

    With ``enumerated``, a search lists the positions even if a formula could number them.

    Raises ConfigError, whose message names the key, if a key is unknown, missing or out of range.
    """
    family = arguments.mapping(settings, "settings of a puzzle").get("family")
    if not isinstance(family, str) or family not in FAMILIES:
        found = f"found {quote(family)}" if "family" in settings else "this key is missing"
        raise ConfigError(f"[puzzle] family: expected one of {', '.join(sorted(FAMILIES))}; {found}")
    if isinstance(settings.get(STARTS), Mapping):
        return _starting_at_positions(settings, settings[STARTS])
    module, function = FAMILIES[family]
    described = _described(getattr(import_module(f"{__name__}.{module}"), function), settings)
    return _enumerated(described) if flag(settings, ENUMERATED) else described


def _starting_at_positions(settings: Mapping[str, Any], starts: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle of settings that `Puzzle.starting_at` made: they contain the starts themselves."""
    if starts.keys() != {POSITIONS}:
        raise ConfigError(
            f"[puzzle] {STARTS}: expected a position, a pattern or a list of them; for the positions of a table use "
            "Puzzle.starting_at in Python, or the command 'components'"
        )
    puzzle = puzzle_from({key: value for key, value in settings.items() if key != STARTS})
    try:
        return puzzle.with_starts(unpacked(starts[POSITIONS], puzzle.places), puzzle.name)
    except InputError as error:
        raise ConfigError(f"[puzzle] {STARTS}: {error}") from None


def _enumerated(puzzle: Puzzle) -> Puzzle:
    """Return the puzzle whose positions a search lists, even if a formula could number them."""
    if puzzle.moves.joins_positions:
        raise ConfigError(f"[puzzle] {ENUMERATED}: cannot be combined with free tiles or moves; remove one of them")
    return replace(puzzle, rules=replace(puzzle.rules, enumerated=True, by_shape=False))


def _described(describe: Callable[[Mapping[str, Any]], Puzzle], settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle of a family, with its starts and goals."""
    _check_one_start(settings)
    if STARTS in settings:
        return _with_many_starts(describe, settings)
    if GOAL not in settings:
        return describe(settings)
    others = {key: value for key, value in settings.items() if key != GOAL}
    if START not in others:
        return _with_start_at_goal(describe, settings, others)
    return _with_goals(describe(others), others, starts_in(settings, GOAL))


def _check_one_start(settings: Mapping[str, Any]) -> None:
    """Raise ConfigError if ``start`` lists several positions although another key determines depth 0.

    In this case ``start`` only determines the pieces, where sequences begin, and which positions are reachable if a
    search lists them. Only one position is used for this, so the others would be ignored.
    """
    start = settings.get(START)
    for key in (STARTS, GOAL):
        if key in settings and isinstance(start, list) and len(start) > 1:
            raise ConfigError(
                f"[puzzle] {START}: expected one position, found {len(start)}; give a single {START}, because the "
                f"positions at depth 0 come from {key!r}"
            )


def _with_many_starts(describe: Callable[[Mapping[str, Any]], Puzzle], settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle that starts at all positions in ``starts``, which are positions or patterns."""
    if GOAL in settings:
        raise ConfigError(f"[puzzle] {GOAL}: {GOAL} and {STARTS} cannot be combined; remove one of them")
    texts = starts_in(settings, STARTS)
    puzzle = describe({key: value for key, value in settings.items() if key != STARTS})
    try:
        puzzle = with_targets(puzzle, texts)
        return replace(puzzle, rules=replace(puzzle.rules, starts=starts_matching(puzzle, texts)))
    except InputError as error:
        raise ConfigError(f"[puzzle] {STARTS}: {error}") from None


def _with_start_at_goal(
    describe: Callable[[Mapping[str, Any]], Puzzle], settings: Mapping[str, Any], others: Mapping[str, Any]
) -> Puzzle:
    """Return the puzzle with the goal as its start; messages about the start are changed to name the goal."""
    for text in starts_in(settings, GOAL):
        if MARKS & set(text):
            raise ConfigError(
                f"[puzzle] {GOAL}: the pattern {quote(shorten(text))} does not determine the pieces; "
                f"add a {START}, or give a position"
            )
    try:
        return describe({**others, START: settings[GOAL]})
    except ConfigError as error:
        raise ConfigError(OF_START.sub(rf"\g<1>{GOAL}:", str(error))) from None


def _with_goals(puzzle: Puzzle, settings: Mapping[str, Any], texts: Sequence[str]) -> Puzzle:
    """Return the puzzle that counts depths from the goals and keeps its first start as the origin."""
    try:
        puzzle = with_targets(puzzle, texts)
        every = [tuple(labels) for text in texts for labels in goals_in(puzzle, text).tolist()]
        goals = tuple(dict.fromkeys(every))
    except InputError as error:
        raise ConfigError(f"[puzzle] {GOAL}: {error}") from None
    return replace(puzzle, rules=replace(puzzle.rules, starts=goals, origin=puzzle.starts[0]))
