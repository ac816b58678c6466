"""Checks of a puzzle's definition: its moves and their inverses, how positions are written, and a small search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from antipodes.config import PuzzleLike, as_config
from antipodes.machine import GIB
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks import arguments
from antipodes_tasks.bfs.partition import Partition, State
from antipodes_tasks.errors import InputError, PositionError, ResourceLimitError, SizeLimitError, SourceError
from antipodes_tasks.quoting import counted, quote, shorten
from antipodes_tasks.rules.function_checks import listed, name_of, problems_of_move
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Labels, Moves
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.spaces.keyed import Keyed
from antipodes_tasks.spaces.move_tables import Indices, MoveTables
from antipodes_tasks.spaces.selection import best_space
from antipodes_tasks.spaces.space import Space
from antipodes_tasks.symmetries.named import problems_of_named

MAX_NAMED = 20
"""Problems that a report names, at most."""
SAMPLE = 400
"""Positions that can be reached, and as many anywhere in the index."""
MAX_MOVES = 200
"""Moves that are tried, spread over all."""
NONSENSE = ("", "?!")
"""Texts that are no position of any puzzle."""
MAX_EVALUATED = 1 << 23
"""Positions times moves of functions for which tables are built: in a second or two."""
MAX_BYTES = GIB
"""Memory of move tables and bitmaps, at most."""
MAX_POSITIONS = 20_000
MAX_MOVED = 60_000
"""Positions times moves, at most, where each move is a call: they take a second or two."""


@dataclass(repr=False)
class CheckReport:
    """The problems of a puzzle, and what was checked."""

    problems: list[str] = field(default_factory=list)
    """A line for each: where it is, what was expected, and what was found."""
    notes: list[str] = field(default_factory=list)
    """A line for each thing worth knowing that is no problem."""
    checked: list[str] = field(default_factory=list)
    """A phrase for each thing that was tried."""

    def __repr__(self) -> str:
        problems = self.problems
        said = f"{counted(len(problems), 'problem')}: {problems[0]}" if problems else f"ok: {'; '.join(self.checked)}"
        return f"<CheckReport: {shorten(said, 80)}>"

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def add(self, found: Iterable[str]) -> bool:
        """Add problems as they are found; whether there were none. An error in between is one, and the last."""
        before = len(self.problems)
        try:
            self.problems += found
        except (InputError, SourceError) as error:
            self.problems.append(str(error))
        self.problems[:] = list(dict.fromkeys(self.problems))[:MAX_NAMED]
        return len(self.problems) == before

    def to_json(self) -> dict[str, Any]:
        """The report with the keys of the command line's ``--json``."""
        return {"ok": self.ok, "problems": self.problems, "notes": self.notes, "checked": self.checked}


@dataclass(frozen=True)
class BruteForce:
    """The first layers of a puzzle."""

    layers: list[Labels]
    """The positions at each depth ``(n, places)``, all of them."""
    ended: bool
    """Whether there are no positions beyond the last layer."""

    @property
    def positions(self) -> Labels:
        """All positions ``(n, places)``."""
        return np.concatenate(self.layers)


def check_puzzle(puzzle: PuzzleLike, seed: int = 0) -> CheckReport:
    """Try starts, moves, inverses, texts, index and move tables, and compare a small search with brute force.

    Parameters
    ----------
    puzzle
        As for `run`.
    seed
        The seed that draws the positions to try.

    Raises
    ------
    InputError
        An argument is none of these.
    """
    if not isinstance(puzzle, Puzzle):  # one made of functions may fail before it is checked
        puzzle = as_config(puzzle).puzzle
    rules, origin = puzzle.rules, puzzle.rules.origin
    if origin is not None:  # goals may be out of reach, so depths count from where sequences begin
        puzzle = replace(puzzle, rules=replace(puzzle.rules, starts=(origin,), origin=None))
    report = CheckReport()
    if not report.add(_start_problems(puzzle)):
        return report
    layers = _searched(puzzle, report)
    rng = np.random.default_rng(arguments.integer(seed, "seed", 0, arguments.GREATEST))
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
        yield f"start: expected a position with a legal move, found {listed(puzzle.start_labels[0])}"


def _searched(puzzle: Puzzle, report: CheckReport) -> BruteForce:
    """The layers by brute force; the starts alone if a move fails on the way."""
    try:
        return brute_force(puzzle)
    except (InputError, SourceError) as error:
        report.problems.append(str(error))
        return BruteForce([puzzle.start_labels], ended=False)


def _space(puzzle: Puzzle, report: CheckReport) -> Space | None:
    """The space of the puzzle's table. A puzzle that is too large for one is right: other searches solve it."""
    try:
        space = best_space(puzzle.rules)
        if not isinstance(space.numbering, Keyed) or space.numbering.reached is not None:
            return space
        found = counted(space.numbering.looked, "position")
        report.notes.append(f"more than {found} are too many to check a table: check a smaller size, too")
        return None
    except (SizeLimitError, ResourceLimitError) as error:
        report.notes.append(f"too large for a table, but not for solve: {error}")
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
            f"{space.size:,} positions are too many to check the move tables: check a smaller size, too"
        )
        return
    report.add(_table_problems(space, layers, tried))
    count = counted(sum(map(len, layers.layers)), "position")
    depths = f"all {count}" if layers.ended else f"{count} up to depth {len(layers.layers) - 1}"
    report.checked.append(f"{depths} searched by brute force")


def _sample(positions: Labels, rng: np.random.Generator) -> Labels:
    """At most SAMPLE of the positions, each once; the starts come first."""
    others = rng.permutation(np.arange(1, len(positions)))[: SAMPLE - 1]
    return positions[np.concatenate(([0], np.sort(others)))]


def _move_problems(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """The problems of all moves on positions ``(n, places)``."""
    for number in _tried_moves(puzzle):
        yield from problems_of_move(puzzle.moves, number, sample)
    yield from _ambiguous(puzzle, sample)


def _move_notes(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """Facts about the moves that are no problems."""
    moves = puzzle.moves
    if isinstance(moves, Functions):
        unknown = [name for number, name in enumerate(moves.names) if not moves.has_inverse(number)]
        if unknown:
            yield f"no inverse is known of {shorten(', '.join(unknown))}: paths of a table take longer to find"
    if isinstance(moves, Swaps) and not moves.reversible:
        yield "some moves lead one way: depths count the moves from the start to a position, not back"
    legal: dict[str, bool] = {}
    for number in _tried_moves(puzzle):
        name = name_of(puzzle.moves, number)
        legal[name] = legal.get(name, False) or bool(moves.move(number, sample)[1].any())
    if never := [name for name, somewhere in legal.items() if not somewhere]:
        yield f"legal in none of {counted(len(sample), 'position')}: {shorten(', '.join(never))}"


def _tried_moves(puzzle: Puzzle) -> list[int]:
    numbers: list[int] = np.unique(np.linspace(0, len(puzzle.moves) - 1, MAX_MOVES).astype(int)).tolist()
    return numbers


def _ambiguous(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """Moves of one name that are legal together and lead to different positions."""
    names = puzzle.moves.names
    same: dict[str, list[int]] = {}
    for number in _tried_moves(puzzle) if names else ():
        same.setdefault(names[number], []).append(number)
    for name, numbers in same.items():
        results = [puzzle.moves.move(number, sample) for number in numbers] if len(numbers) > 1 else []
        for (one, legal), (other, legal_too) in combinations(results, 2):
            both = np.flatnonzero(legal & legal_too & (one != other).any(axis=1))
            if len(both):
                yield f"move {name!r}: expected one result, found two from {listed(sample[both[0]])}"


def _notation_problems(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """The problems of texts and drawings of positions ``(n, places)``, different ones."""
    written: dict[str, Labels] = {}
    for labels in sample:
        text = puzzle.format(labels)
        if text in written:
            positions = f"{listed(written[text])} and {listed(labels)}"
            yield f"format: expected different texts, found {quote(text)} for {positions}"
            return
        written[text] = labels
        yield from _reading_problems(puzzle, text, labels)
        puzzle.draw(labels)
    for text in NONSENSE:
        try:
            read = puzzle.parse(text)
        except PositionError:
            continue
        yield f"parse: expected that it refuses {quote(text)}, found {listed(read)}"


def _reading_problems(puzzle: Puzzle, text: str, labels: Labels) -> Iterator[str]:
    expected = f"parse: expected {listed(labels)} from {quote(text)}, which format wrote"
    try:
        read = puzzle.parse(text)
    except PositionError as error:
        yield f"{expected}; found that {error}"
        return
    if (read != labels).any():
        yield f"{expected}; found {listed(read)}"


def _too_large(space: Space) -> bool:
    """Whether the move tables would take long to build, or much memory."""
    evaluated = space.size * len(space.rules.moves) if isinstance(space.rules.moves, Functions) else 0
    bitmaps = 4 * 8 * space.rows * -(-space.width // 64)
    return evaluated > MAX_EVALUATED or space.filler.table_bytes + space.filler.building_bytes(1) + bitmaps > MAX_BYTES


def _index_problems(space: Space, sample: Labels) -> Iterator[str]:
    """Positions ``(n, places)`` that can be reached, and do not come back from their index."""
    indices = space.rank(sample)
    outside = np.flatnonzero((indices < 0) | (indices >= space.size))
    if len(outside):
        found = indices[outside[0]]
        yield f"index: expected one from 0 to {space.size - 1}, found {found} for {listed(sample[outside[0]])}"
        return
    back = space.unrank(indices)
    wrong = np.flatnonzero((back != sample).any(axis=1))
    if len(wrong):
        at = wrong[0]
        yield f"index: expected {listed(sample[at])} from index {indices[at]}, found {listed(back[at])}"


def _table_problems(space: Space, layers: BruteForce, sample: Labels) -> Iterator[str]:
    """Positions ``(n, places)`` from which the move tables lead elsewhere than the moves; then a search with them."""
    tables = space.filler.filled()
    indices = space.rank(sample)
    by_moves, by_tables = space.successors(indices), tables.successors(indices)
    for at in by_moves.differing(by_tables, len(indices))[:1].tolist():
        expected, found = (np.sort(one.indices[one.of == at]).tolist() for one in (by_moves, by_tables))
        yield f"move tables: expected moves from {listed(sample[at])} to indices {expected}, found {found}"
    yield from _search_problems(space, tables, layers)


def _search_problems(space: Space, tables: MoveTables, expected: BruteForce) -> Iterator[str]:
    """The first layer of a search with the tables that is not that by brute force."""
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
    if np.array_equal(expected, found):
        return None
    example = int(np.setxor1d(expected, found)[0])
    position = listed(space.unrank(np.array([example]))[0])
    return (
        f"depth {depth}: expected {counted(len(expected), 'position')}, as by brute force, found {len(found):,} by "
        f"the move tables; one that only {'the first' if example in expected else 'the second'} has is {position}"
    )


def brute_force(puzzle: Puzzle) -> BruteForce:
    """The layers of at most `MAX_POSITIONS` positions, by sets of them; a layer that would have more is left out."""
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


def _next_layer(puzzle: Puzzle, frontier: list[bytes], seen: set[bytes], most: int) -> list[bytes]:
    """The positions one move after the frontier that are not seen; they are added, until there are too many."""
    found = []
    for position in frontier:
        for after in puzzle.moves.successors(np.frombuffer(position, dtype=np.uint8)):
            if (key := bytes(after)) not in seen:
                seen.add(key)
                found.append(key)
        if len(seen) > most:
            break
    return found


def _as_labels(puzzle: Puzzle, layers: list[list[bytes]]) -> list[Labels]:
    return [np.frombuffer(b"".join(layer), dtype=np.uint8).reshape(-1, puzzle.places) for layer in layers]
