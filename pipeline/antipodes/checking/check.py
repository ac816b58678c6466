"""The check of a puzzle: everything that `antipodes check` tries."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from antipodes.checking.brute_force import BruteForce, search
from antipodes.checking.moves import listed, move_notes, move_problems
from antipodes.checking.notation import notation_problems
from antipodes.checking.report import CheckReport
from antipodes.checking.tables import index_problems, search_problems, table_problems, too_large
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError, ResourceLimitError, SizeLimitError, SourceError
from antipodes_tasks.quoting import counted
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.spaces.selection import best_space
from antipodes_tasks.spaces.space import StateSpace

SAMPLE = 400
"""Positions that can be reached, and as many anywhere in the index."""


def check_puzzle(puzzle: Puzzle, seed: int = 0) -> CheckReport:
    """Try starts, moves, inverses, texts, index and move tables, and compare a small search with brute force.

    The ``seed`` draws the positions that are tried.
    """
    arguments.instance(puzzle, Puzzle, "a Puzzle")
    origin = puzzle.rules.origin
    if origin is not None:  # goals may be out of reach, so depths count from where sequences begin
        puzzle = replace(puzzle, rules=replace(puzzle.rules, starts=(origin,), origin=None))
    report = CheckReport()
    if not report.add(_start_problems(puzzle)):
        return report
    layers = _searched(puzzle, report)
    rng = np.random.default_rng(arguments.integer(seed, "seed", 0, arguments.GREATEST))
    reached = _some(layers.positions, rng)
    report.add(move_problems(puzzle, reached))
    report.add(notation_problems(puzzle, reached))
    space = _space(puzzle, report) if report.ok else None
    if space:
        _check_space(puzzle, space, layers, reached, report, rng)
    elif report.ok:
        report.checked.append(f"{counted(len(reached), 'position')} moved, written and read")
    return report


def _start_problems(puzzle: Puzzle) -> Iterator[str]:
    puzzle.checked(puzzle.start_labels)
    if not any(len(puzzle.moves.successors(start)) for start in puzzle.start_labels):
        yield f"start: expected a position with a legal move, found {listed(puzzle.start_labels[0])}"


def _searched(puzzle: Puzzle, report: CheckReport) -> BruteForce:
    """The layers by brute force; the starts alone if a move fails on the way."""
    try:
        return search(puzzle)
    except (InputError, SourceError) as error:
        report.problems.append(str(error))
        return BruteForce([puzzle.start_labels], ended=False)


def _space(puzzle: Puzzle, report: CheckReport) -> StateSpace | None:
    """The space of the puzzle's table. A puzzle that is too large for one is right: other searches solve it."""
    try:
        return best_space(puzzle.rules)
    except (SizeLimitError, ResourceLimitError) as error:
        report.notes.append(f"too large for a table, but not for solve: {error}")
        return None
    except (InputError, SourceError) as error:
        report.problems.append(str(error))
        return None


def _check_space(
    puzzle: Puzzle,
    space: StateSpace,
    layers: BruteForce,
    reached: Labels,
    report: CheckReport,
    rng: np.random.Generator,
) -> None:
    anywhere = space.unrank(rng.integers(space.size, size=SAMPLE)) if space.size > SAMPLE else _all(space)
    if report.add(index_problems(space, reached)) and report.add(move_problems(puzzle, anywhere)):
        report.notes += move_notes(puzzle, anywhere)
    tried = np.unique(np.concatenate((reached, anywhere)), axis=0)
    report.checked.append(f"{counted(len(tried), 'position')} moved, {len(reached):,} of them written and read")
    if not report.ok:
        return
    if too_large(space):
        report.notes.append(
            f"{space.size:,} positions are too many to check the move tables: check a smaller size, too"
        )
        return
    report.add(_table_problems(puzzle, space, layers, tried))
    count = counted(sum(map(len, layers.layers)), "position")
    depths = f"all {count}" if layers.ended else f"{count} up to depth {len(layers.layers) - 1}"
    report.checked.append(f"{depths} searched by brute force")


def _table_problems(puzzle: Puzzle, space: StateSpace, layers: BruteForce, tried: Labels) -> Iterator[str]:
    tables = space.move_tables()
    yield from table_problems(space, tables, tried)
    yield from search_problems(puzzle, space, tables, layers)


def _all(space: StateSpace) -> Labels:
    return space.unrank(np.arange(space.size))


def _some(positions: Labels, rng: np.random.Generator) -> Labels:
    """At most SAMPLE of the positions, each once; the starts come first."""
    others = rng.permutation(np.arange(1, len(positions)))[: SAMPLE - 1]
    return positions[np.concatenate(([0], np.sort(others)))]
