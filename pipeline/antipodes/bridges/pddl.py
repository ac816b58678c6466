"""Sliding tiles, towers of Hanoi and sliding blocks as planning tasks in PDDL, for planners and for teaching.

The domains need only ``:strips`` and ``:typing``, so that simple planners read them. Each action is one move.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import factorial, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.block_board import REST, BlockBoard, squares_covered
from antipodes.puzzles.config import PuzzleLike, as_config
from antipodes.puzzles.families.hanoi import Towers
from antipodes.puzzles.pattern import UNDECIDED, BlockPattern
from antipodes.puzzles.puzzle import PositionLike, Puzzle
from antipodes.system.output_files import new_folder
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, UnreachableError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.properties.obstacles import obstacle, unreachable
from antipodes_tasks.rules.squares import square_name, squares_of
from antipodes_tasks.rules.transforms import Transforms

DOMAIN, PROBLEM = "domain.pddl", "problem.pddl"
BLOCK, TILE = "block", "tile"
EMPTY = "(empty %s)"
RANDOM_MOVES = 1000
"""Number of random moves from the start to the first position of a plan, unless the user gives a position."""
OPEN = -1
"""Label of a place on which the goals have different labels."""
FAMILIES = ("blocks", "hanoi", "sliding")
SLIDING = """(define (domain sliding-tiles)
  (:requirements :strips :typing)
  (:types tile square)
  (:predicates (at ?t - tile ?s - square) (empty ?s - square) (adjacent ?from ?to - square))
  (:action slide
    :parameters (?t - tile ?from ?to - square)
    :precondition (and (at ?t ?from) (empty ?to) (adjacent ?from ?to))
    :effect (and (at ?t ?to) (empty ?from) (not (at ?t ?from)) (not (empty ?to)))))
"""
HANOI = """(define (domain hanoi)
  (:requirements :strips :typing)
  (:types place - object disc peg - place)
  (:predicates (on ?d - disc ?p - place) (clear ?p - place) (fits ?d - disc ?p - place))
  (:action move
    :parameters (?d - disc ?from ?to - place)
    :precondition (and (clear ?d) (on ?d ?from) (clear ?to) (fits ?d ?to))
    :effect (and (on ?d ?to) (clear ?from) (not (on ?d ?from)) (not (clear ?to)))))
"""


def export(puzzle: PuzzleLike, folder: str | os.PathLike[str], *, position: PositionLike | None = None) -> list[Path]:
    """Write a puzzle as ``domain.pddl``, and the way from a position to its goal as ``problem.pddl``; return the paths.

    Identical pieces are one object, which is at several squares. The goals are the positions at depth 0.

    Parameters
    ----------
    puzzle
        A puzzle of the family ``sliding``, ``hanoi`` or ``blocks``, in any form that `antipodes.run` accepts.
    folder
        Folder to create.
    position
        Position at which the plan begins, as text or labels. None: the ``start`` of a puzzle that also has a ``goal``;
        for other puzzles, the position after 1,000 random moves, the same ones in each call.

    Raises
    ------
    InputError
        The puzzle cannot be written in PDDL, or the folder exists.
    PositionError
        The position is invalid.
    UnreachableError
        It is known without a search that no plan exists.
    ConfigError, SourceError
        See `antipodes.load_puzzle`.
    StoreError
        A file cannot be written. Nothing remains.
    """
    target = Path(arguments.path_or_text(folder, "a folder"))
    found = as_config(puzzle).puzzle
    task = _task(found)
    begin = _first_position(found) if position is None else _checked(found, position)
    if reason := obstacle(found.rules, begin, found.start_labels, found.depth_zero):
        raise UnreachableError(f"the {found.depth_zero} is {unreachable(reason)} from {found.format(begin)}")
    texts = {DOMAIN: task.domain, PROBLEM: _problem(found, task, begin)}
    with new_folder(target) as partial_folder:
        for name, text in texts.items():
            (partial_folder / name).write_text(text, encoding="ascii")
    return [target / name for name in texts]


@dataclass(frozen=True)
class _Task:
    """A puzzle as a planning task, without a position."""

    domain: str
    """The text of the domain."""
    facts: Callable[[NDArray[np.integer[Any]]], list[str]]
    """Returns the facts that are true in a position ``(places,)``; a place with the label OPEN has none."""
    names: Mapping[str, str]
    """The name of the object for each symbol."""
    objects: Sequence[str] = ()
    """The objects of the problem with their types; the domain declares the others."""
    unchanging: Sequence[str] = ()
    """The facts that are true in all positions."""


def _task(puzzle: Puzzle) -> _Task:
    """Return the planning task of a puzzle; raise InputError if the puzzle cannot be written in PDDL."""
    name = f"{option('pddl')}: {puzzle.name}"
    if puzzle.family not in FAMILIES:
        raise InputError(f"{name} is of the family {puzzle.family}; the families are {', '.join(FAMILIES)}")
    if puzzle.moves.joins_positions:
        raise InputError(f"{name} has free moves, but each action of a plan counts")
    return _towers_task(puzzle.notation) if isinstance(puzzle.notation, Towers) else _board_task(puzzle)


def _checked(puzzle: Puzzle, position: PositionLike) -> Labels:
    return puzzle.parse(position) if isinstance(position, str) else puzzle.rules.checked_one(position)


def _first_position(puzzle: Puzzle) -> Labels:
    """Return the position from which a plan begins if the user does not give any."""
    position, rng = puzzle.rules.first, np.random.default_rng(0)
    for _ in range(0 if puzzle.rules.origin is not None else RANDOM_MOVES):
        if len(after := puzzle.moves.successors(position)):
            position = rng.choice(after)
    return position


def _problem(puzzle: Puzzle, task: _Task, begin: Labels) -> str:
    """Return the text of the problem; texts of the user appear only in comments, as Python's ASCII literals."""
    domain = task.domain.split(")")[0].split()[-1]
    name = re.sub("[^a-z0-9_-]+", "-", puzzle.name.lower())
    return "\n".join(
        [
            f"; {puzzle.name!a}: a shortest plan leads from this position to the {puzzle.depth_zero}:",
            f"; {puzzle.format(begin)!a}",
            *(f"; {short} is {symbol!a}" for symbol, short in task.names.items() if "-no-" in short),
            f"(define (problem {domain}-{name})",
            f"  (:domain {domain})",
            *([f"  (:objects {' '.join(task.objects)})"] if task.objects else []),
            "  (:init",
            *(f"    {fact}" for fact in [*task.facts(begin), *task.unchanging]),
            "  )",
            "  (:goal (and",
            *(f"    {fact}" for fact in _goal_facts(puzzle, task)),
            "  ))",
            ")",
            "",
        ]
    )


def _goal_facts(puzzle: Puzzle, task: _Task) -> list[str]:
    """Return the facts that are true exactly in the goals; raise InputError if there are none."""
    goals = puzzle.start_labels
    common = np.where((goals == goals[0]).all(axis=0), goals[0].astype(np.int16), OPEN)
    if len(goals) > 1 and not _describes(puzzle, common, len(goals)):
        raise InputError(
            f"{option('pddl')}: facts that hold together do not describe the {len(goals):,} positions at depth 0 of "
            f"{puzzle.name}; give it one {puzzle.depth_zero}"
        )
    return task.facts(common)


def _describes(puzzle: Puzzle, common: NDArray[np.int16], goals: int) -> bool:
    """Return whether no more positions than the goals have these labels; OPEN stands for any label."""
    if isinstance(puzzle.notation, Towers):
        return False
    if not isinstance(puzzle.notation, BlockBoard):
        left = puzzle.rules.counts - np.bincount(common[common != OPEN], minlength=len(puzzle.symbols))
        return factorial(int(left.sum())) == goals * prod(map(factorial, left.tolist()))
    rest = puzzle.symbols.index(REST)
    squares = squares_of(puzzle.board.rows, puzzle.board.columns, puzzle.board.holes)
    required = np.where((common == OPEN) | (common == rest), UNDECIDED, common).astype(np.uint8)
    for place in np.flatnonzero((common > 0) & (common < rest)).tolist():
        _, *others = squares_covered(puzzle.notation.kinds[common[place] - 1], squares[place])
        required[[squares.index(square) for square in others]] = rest
    batches = BlockPattern(puzzle, puzzle.notation, required).batches()
    return all(count <= goals for count in accumulate(map(len, batches)))  # stops at the first one that is too many


def _towers_task(towers: Towers) -> _Task:
    """Return the task of discs on pegs, in which each disc is on a disc or a peg."""
    discs = [f"disc-{disc + 1}" for disc in range(towers.discs)]
    pegs = [f"peg-{peg}" for peg in range(towers.pegs)]

    def facts(labels: NDArray[np.integer[Any]]) -> list[str]:
        found = []
        for number, peg in enumerate(pegs):
            stack = [peg, *(discs[disc] for disc in np.flatnonzero(labels == number)[::-1])]
            found += [f"(on {upper} {lower})" for lower, upper in pairwise(stack)] + [f"(clear {stack[-1]})"]
        return found

    fits = [f"(fits {disc} {below})" for number, disc in enumerate(discs) for below in [*discs[number + 1 :], *pegs]]
    return _Task(HANOI, facts, {}, [*discs, "- disc", *pegs, "- peg"], fits)


def _board_task(puzzle: Puzzle) -> _Task:
    """Return the task of tiles or blocks on squares; a block is at the first square that it covers."""
    board = puzzle.board
    squares = [square_name(square, board.rows) for square in squares_of(board.rows, board.columns, board.holes)]
    kind = BLOCK if isinstance(board, BlockBoard) else TILE
    pieces = [symbol for symbol in puzzle.symbols[1:] if symbol != REST]
    names = _names(kind, pieces)

    def facts(labels: NDArray[np.integer[Any]]) -> list[str]:
        known = zip(labels.tolist(), squares, strict=True)
        return [_fact(names, label, square) for label, square in known if OPEN < label <= len(names)]

    symbols = dict(zip(pieces, names, strict=True))
    objects = [*names, f"- {kind}", *squares, "- square"]
    if puzzle.moves.pairs is not None:
        adjacent = [f"(adjacent {squares[a]} {squares[b]})" for a, b in puzzle.moves.pairs.tolist()]
        return _Task(SLIDING, facts, symbols, objects, adjacent)
    return _Task(_domain_of_moves(puzzle, kind, names, squares, objects), facts, symbols)


def _names(kind: str, symbols: Sequence[str]) -> list[str]:
    """Return a name for each symbol: upper and lower case are the same in PDDL, and only some characters are allowed.

    A symbol that is not a valid name is replaced by its number after ``no-``, which is never part of a valid symbol.
    """
    lower = [symbol.lower() for symbol in symbols]
    valid = {name for name, count in Counter(lower).items() if count == 1 and re.fullmatch("[a-z0-9_]+", name)}
    return [f"{kind}-{name if name in valid else f'no-{number}'}" for number, name in enumerate(lower, 1)]


def _fact(names: Sequence[str], label: int, square: str) -> str:
    return f"(at {names[label - 1]} {square})" if label else EMPTY % square


def _domain_of_moves(
    puzzle: Puzzle, kind: str, names: Sequence[str], squares: Sequence[str], objects: Sequence[str]
) -> str:
    """Return a domain with an action for each move, since a move may change many squares."""
    moves, seen = Transforms.of(puzzle.moves), Counter[str]()
    assert moves is not None  # blocks, and tiles that move in lines, have transforms
    name = re.sub("[^a-z0-9_-]+", "-", puzzle.name.lower())
    return "\n".join(
        [
            f"(define (domain {kind}s-{name})",
            "  (:requirements :strips :typing)",
            f"  (:types {kind} square)",
            f"  (:constants {' '.join(objects)})",
            f"  (:predicates (at ?x - {kind} ?s - square) (empty ?s - square))",
            *(line for number in range(len(moves)) for line in _action(moves, number, kind, names, squares, seen)),
            ")",
            "",
        ]
    )


def _action(
    moves: Transforms, number: int, kind: str, names: Sequence[str], squares: Sequence[str], seen: Counter[str]
) -> Iterator[str]:
    """Yield the lines of the action of a move. Its parameters are the tiles that it moves, whatever they are.

    ``seen`` counts the actions by name: a block may come to a square on several paths.
    """
    facts, parameters, origin = dict[int, str](), list[str](), moves.origin[number].tolist()
    assert moves.allowed is not None  # each move needs an empty square
    for place in np.flatnonzero(moves.conditional[number]).tolist():
        labels = [label for label in range(len(names) + 1) if int(moves.allowed[number, place]) >> label & 1]
        if len(labels) > 1:
            parameters.append(f"?t{len(parameters) + 1}")
            facts[place] = f"(at {parameters[-1]} %s)"
        else:
            facts[place] = _fact(names, labels[0], "%s")
    changed = [place for place, source in enumerate(origin) if source != place]
    added = [facts[origin[place]] % squares[place] for place in changed if origin[place] in facts]
    removed = [f"(not {facts[place] % squares[place]})" for place in changed if place in facts]
    named = next(place for place, fact in facts.items() if (fact == EMPTY) == (kind == TILE))
    here, there = squares[named], squares[origin.index(named)]  # of the block, or of the empty square
    name = f"move-{facts[named].split()[1]}-{here}-{there}" if kind == BLOCK else f"slide-{there}-{here}"
    seen[name] += 1
    yield f"  (:action {name}{f'-{seen[name]}' if seen[name] > 1 else ''}"
    yield f"    :parameters ({' '.join(parameters)}{f' - {kind}' if parameters else ''})"
    yield f"    :precondition (and {' '.join(fact % squares[place] for place, fact in facts.items())})"
    yield f"    :effect (and {' '.join(added + removed)}))"
