"""Checks of a puzzle's definition: its moves and their inverses, its notation, and a small search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from antipodes.puzzles.config import PuzzleLike, as_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.machine import GIB
from antipodes.system.records import as_dict, record_of
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, PositionError, ResourceLimitError, SizeLimitError, SourceError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.bfs.partition import Partition, State
from antipodes_tasks.move_tables import Indices, MoveTables
from antipodes_tasks.properties.named import problems_of_named
from antipodes_tasks.rules.function_checks import in_symbols, name_of, problems_of_move
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.keyed import Keyed
from antipodes_tasks.spaces.selection import best_space
from antipodes_tasks.spaces.space import Space

MAX_NAMED = 20
"""Maximum number of problems in a report."""
SAMPLE = 400
"""Maximum number of reachable positions to test, and of positions with random indices."""
MAX_MOVES = 200
"""Maximum number of moves to test, spread evenly over all moves."""
NONSENSE = ("", "?!")
"""Strings that are not a position of any puzzle."""
MAX_EVALUATED = 1 << 23
"""Maximum product of the numbers of positions and moves if moves are functions; tabulating it takes 1 or 2 seconds."""
MAX_BYTES = GIB
"""Maximum memory of move tables and bitmaps."""
MAX_POSITIONS = 20_000
MAX_MOVED = 60_000
"""Maximum product of the numbers of positions and moves for brute force with functions, which takes 1 or 2 seconds."""


@dataclass(frozen=True, slots=True)
class CheckedPuzzle:
    """The problems of a puzzle's definition and the checks that were made, for JSON output."""

    ok: bool
    problems: list[str]
    notes: list[str]
    checked: list[str]


@dataclass(repr=False)
class CheckReport:
    """The problems found in a puzzle's definition, and the checks that were made."""

    problems: list[str] = field(default_factory=list)
    """One line per problem: where it is, and what is wrong."""
    notes: list[str] = field(default_factory=list)
    """One line per observation that is not a problem."""
    checked: list[str] = field(default_factory=list)
    """One phrase per check."""

    def __repr__(self) -> str:
        problems = self.problems
        summary = (
            f"{counted(len(problems), 'problem')}: {problems[0]}" if problems else f"ok: {'; '.join(self.checked)}"
        )
        return f"<CheckReport: {shorten(summary, 80)}>"

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def add(self, found: Iterable[str]) -> bool:
        """Add problems as they are found; return whether there were none.

        An error that ends the search for problems is added as a problem.
        """
        before = len(self.problems)
        try:
            self.problems += found
        except (InputError, SourceError) as error:
            self.problems.append(str(error))
        self.problems[:] = list(dict.fromkeys(self.problems))[:MAX_NAMED]
        return len(self.problems) == before

    def to_json(self) -> dict[str, Any]:
        """Return the report with the keys of the command line's ``--json``."""
        return as_dict(record_of(CheckedPuzzle, self))


@dataclass(frozen=True)
class BruteForce:
    """The first layers of a puzzle, found by brute force."""

    layers: list[Labels]
    """The positions at each depth, ``(n, places)``."""
    ended: bool
    """Whether there are no positions beyond the last layer."""

    @property
    def positions(self) -> Labels:
        """All positions ``(n, places)``."""
        return np.concatenate(self.layers)


def check_puzzle(puzzle: PuzzleLike, seed: int = 0) -> CheckReport:
    """Test starts, moves, inverses, notation, index and move tables, and compare a small search with brute force.

    Parameters
    ----------
    puzzle
        As for `run`.
    seed
        Seed of the random positions to test.

    Raises
    ------
    InputError
        An argument is invalid.
    """
    if not isinstance(puzzle, Puzzle):  # a Python file may fail before it can be checked
        puzzle = as_config(puzzle).puzzle
    rules, origin = puzzle.rules, puzzle.rules.origin
    if origin is not None:  # goals may be unreachable, so search from where sequences of moves begin
        puzzle = replace(puzzle, rules=replace(puzzle.rules, starts=(origin,), origin=None))
    report = CheckReport()
    if not report.add(_start_problems(puzzle)):
        return report
    layers = _searched(puzzle, report)
    rng = np.random.default_rng(arguments.integer(seed, "seed", 0, arguments.MAX_INT64))
    reached = _sample(layers.positions, rng)
    report.add(_move_problems(puzzle, reached))
    report.add(problems_of_named(rules, reached))
    report.add(_notation_problems(puzzle, reached))
    space = _space(puzzle, report) if report.ok else None
    if space:
        _check_space(puzzle, space, layers, reached, report, rng)
    elif report.ok:
        report.checked.append(f"{counted(len(reached), 'position')} moved, written and read")
    return report


def _start_problems(puzzle: Puzzle) -> Iterator[str]:
    puzzle.checked(puzzle.start_labels)
    if not any(len(puzzle.moves.successors(start)) for start in puzzle.start_labels):
        yield f"start: no move is legal in the position {_in_symbols(puzzle.rules, puzzle.start_labels[0])}"


def _searched(puzzle: Puzzle, report: CheckReport) -> BruteForce:
    """Return the layers found by brute force, or only the starts if a move fails."""
    try:
        return brute_force(puzzle)
    except (InputError, SourceError) as error:
        report.problems.append(str(error))
        return BruteForce([puzzle.start_labels], ended=False)


def _space(puzzle: Puzzle, report: CheckReport) -> Space | None:
    """Return the space of the puzzle's table, or None after adding the reason to the report.

    A puzzle that is too large for a table is valid, because it can be solved.
    """
    try:
        space = best_space(puzzle.rules)
        if not isinstance(space.numbering, Keyed) or space.numbering.reached is not None:
            return space
        found = counted(space.numbering.known_positions, "position")
        report.notes.append(f"more than {found}: too many to check a table; also check a smaller version")
        return None
    except (SizeLimitError, ResourceLimitError) as error:
        report.notes.append(f"too large for a table, but solve may handle it: {error}")
        return None
    except (InputError, SourceError) as error:
        report.problems.append(str(error))
        return None


def _check_space(
    puzzle: Puzzle, space: Space, layers: BruteForce, reached: Labels, report: CheckReport, rng: np.random.Generator
) -> None:
    anywhere = space.unrank(rng.integers(space.size, size=SAMPLE) if space.size > SAMPLE else np.arange(space.size))
    if report.add(_index_problems(space, reached)) and report.add(_move_problems(puzzle, anywhere)):
        report.notes += _move_notes(puzzle, anywhere)
    tried = np.unique(np.concatenate((reached, anywhere)), axis=0)
    report.checked.append(f"{counted(len(tried), 'position')} moved, {len(reached):,} of them written and read")
    if not report.ok:
        return
    if _too_large(space):
        report.notes.append(
            f"{space.size:,} positions: too many to check the move tables; also check a smaller version"
        )
        return
    report.add(_table_problems(space, layers, tried))
    count = counted(sum(map(len, layers.layers)), "position")
    depths = f"all {count}" if layers.ended else f"{count} up to depth {len(layers.layers) - 1}"
    report.checked.append(f"{depths} searched by brute force")


def _sample(positions: Labels, rng: np.random.Generator) -> Labels:
    """Return at most SAMPLE different positions; the starts come first."""
    others = rng.permutation(np.arange(1, len(positions)))[: SAMPLE - 1]
    return positions[np.concatenate(([0], np.sort(others)))]


def _move_problems(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """Yield the problems that the tested moves have in positions ``(n, places)``."""
    for number in _tried_moves(puzzle):
        yield from problems_of_move(puzzle.rules, number, sample)
    yield from _ambiguous(puzzle, sample)


def _move_notes(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """Yield observations about the moves that are not problems."""
    moves = puzzle.moves
    if not moves.invertible:
        unknown = [name for number, name in enumerate(moves.names) if not moves.has_inverse(number)]
        yield f"moves without a known inverse: {shorten(', '.join(unknown))}; paths in a table take longer to find"
    if moves.pairs is not None and not moves.reversible:
        yield "some moves are irreversible: depths count moves from the start to a position, not back"
    legal: dict[str, bool] = {}
    for number in _tried_moves(puzzle):
        name = name_of(puzzle.moves, number)
        legal[name] = legal.get(name, False) or bool(moves.move(number, sample)[1].any())
    if never := [name for name, somewhere in legal.items() if not somewhere]:
        yield f"never legal in {counted(len(sample), 'position')}: {shorten(', '.join(never))}"


def _tried_moves(puzzle: Puzzle) -> list[int]:
    numbers: list[int] = np.unique(np.linspace(0, len(puzzle.moves) - 1, MAX_MOVES).astype(int)).tolist()
    return numbers


def _ambiguous(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """Yield a problem for two moves of the same name that are legal in a position but have different results."""
    names = puzzle.moves.names
    same: dict[str, list[int]] = {}
    for number in _tried_moves(puzzle) if names else ():
        same.setdefault(names[number], []).append(number)
    for name, numbers in same.items():
        results = [puzzle.moves.move(number, sample) for number in numbers] if len(numbers) > 1 else []
        for (one, legal), (other, legal_too) in combinations(results, 2):
            both = np.flatnonzero(legal & legal_too & (one != other).any(axis=1))
            if len(both):
                position = _in_symbols(puzzle.rules, sample[both[0]])
                yield f"move {name!r}: two moves of this name have different results from {position}"


def _notation_problems(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """Yield the problems of the notation and the drawings of different positions ``(n, places)``."""
    written: dict[str, Labels] = {}
    for labels in sample:
        text = puzzle.format(labels)
        if text in written:
            positions = f"{_in_symbols(puzzle.rules, written[text])} and {_in_symbols(puzzle.rules, labels)}"
            yield f"format: two positions have the same string {quote(text)}: {positions}"
            return
        written[text] = labels
        yield from _reading_problems(puzzle, text, labels)
        puzzle.draw(labels)
    for text in NONSENSE:
        try:
            read = puzzle.parse(text)
        except PositionError:
            continue
        yield f"parse: accepts {quote(text)}, which is not a position, as {_in_symbols(puzzle.rules, read)}"


def _reading_problems(puzzle: Puzzle, text: str, labels: Labels) -> Iterator[str]:
    expected = f"parse: expected {_in_symbols(puzzle.rules, labels)} from {quote(text)}, the result of format"
    try:
        read = puzzle.parse(text)
    except PositionError as error:
        yield f"{expected}; found an error: {error}"
        return
    if (read != labels).any():
        yield f"{expected}; found {_in_symbols(puzzle.rules, read)}"


def _in_symbols(rules: Rules, labels: Labels) -> str:
    """Return a position in the symbols of the puzzle, without the notation that is checked."""
    return in_symbols(rules.parts, labels)


def _too_large(space: Space) -> bool:
    """Return whether building the move tables would take a long time or a lot of memory."""
    evaluated = space.size * len(space.rules.moves) if space.rules.moves.are_functions else 0
    bitmaps = 4 * 8 * space.rows * -(-space.width // 64)
    return evaluated > MAX_EVALUATED or space.filler.table_bytes + space.filler.building_bytes(1) + bitmaps > MAX_BYTES


def _index_problems(space: Space, sample: Labels) -> Iterator[str]:
    """Yield the first problem in ranking and unranking reachable positions ``(n, places)``."""
    indices = space.rank(sample)
    outside = np.flatnonzero((indices < 0) | (indices >= space.size))
    if len(outside):
        found, position = indices[outside[0]], _in_symbols(space.rules, sample[outside[0]])
        yield f"index: expected one from 0 to {space.size - 1}, found {found} for {position}"
        return
    back = space.unrank(indices)
    differ = space.rank(back) != indices if space.rules.moves.free_moves else (back != sample).any(axis=1)
    wrong = np.flatnonzero(differ)
    if len(wrong):
        at = wrong[0]
        position, found = (_in_symbols(space.rules, one[at]) for one in (sample, back))
        yield f"index: expected {position} from index {indices[at]}, found {found}"


def _table_problems(space: Space, layers: BruteForce, sample: Labels) -> Iterator[str]:
    """Yield the problems of the move tables: wrong successors of the sample ``(n, places)``, and wrong layers."""
    tables = space.filler.filled()
    indices = space.rank(sample)
    by_moves, by_tables = space.successors(indices), tables.successors(indices)
    for at in by_moves.differing(by_tables)[:1].tolist():
        expected, found = (np.sort(one.indices[one.of == at]).tolist() for one in (by_moves, by_tables))
        position = _in_symbols(space.rules, sample[at])
        yield f"move tables: expected moves from {position} to indices {expected}, found {found}"
    yield from _search_problems(space, tables, layers)


def _search_problems(space: Space, tables: MoveTables, expected: BruteForce) -> Iterator[str]:
    """Yield the first difference between a search with the tables and brute force."""
    whole = Partition(0, 0, space.rows)
    state = State(whole, space.width, space.rows)
    state.begin(space.rank(space.starts), None)
    layers = [*expected.layers, *([expected.layers[0][:0]] if expected.ended else [])]
    for depth, layer in enumerate(layers):
        if depth and (frontier := state.frontier(depth - 1)):
            state.advance(depth, [frontier], tables, None)
        found = state.positions(depth, space.size)
        if problem := _difference(space, depth, layer, found):
            yield problem
            return


def _difference(space: Space, depth: int, layer: Labels, found: Indices) -> str | None:
    expected = np.sort(space.rank(layer))
    if space.rules.moves.free_moves:  # brute force lists all positions of a class
        expected = np.unique(expected)
    if np.array_equal(expected, found):
        return None
    example = int(np.setxor1d(expected, found)[0])
    position = _in_symbols(space.rules, space.unrank(np.array([example]))[0])
    return (
        f"depth {depth}: brute force finds {counted(len(expected), 'position')}, the move tables {len(found):,}; "
        f"only {'brute force' if example in expected else 'the tables'} found {position}"
    )


def brute_force(puzzle: Puzzle) -> BruteForce:
    """Return the layers by brute force, up to `MAX_POSITIONS` positions; a layer that would exceed them is omitted."""
    calls = len(puzzle.moves) if type(puzzle.moves).successors is Moves.successors else 1
    most = min(MAX_POSITIONS, max(1, MAX_MOVED // calls))
    frontier = list(dict.fromkeys(map(bytes, puzzle.start_labels)))
    seen = set(frontier)
    layers = [frontier]
    while frontier:
        frontier = _next_layer(puzzle, frontier, seen, most)
        if len(seen) > most:
            return BruteForce(_as_labels(puzzle, layers), ended=False)
        if frontier:
            layers.append(frontier)
    return BruteForce(_as_labels(puzzle, layers), ended=True)


def _next_layer(puzzle: Puzzle, frontier: list[bytes], seen: set[bytes], max_positions: int) -> list[bytes]:
    """Return the new successors of the frontier, and add them to ``seen``; stop when there are too many."""
    found = []
    for position in frontier:
        for after in puzzle.moves.successors(np.frombuffer(position, dtype=np.uint8)):
            if bytes(after) not in seen:
                new = [bytes(one) for one in puzzle.moves.closed(after[np.newaxis])]
                seen.update(new)
                found += new
        if len(seen) > max_positions:
            break
    return found


def _as_labels(puzzle: Puzzle, layers: list[list[bytes]]) -> list[Labels]:
    return [np.frombuffer(b"".join(layer), dtype=np.uint8).reshape(-1, puzzle.places) for layer in layers]
