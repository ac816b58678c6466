"""The report of a run that computes a table, and results with the keys of the command line's ``--json``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from antipodes.runs.run_results import Report, Seconds
from antipodes.storage.lock import Run
from antipodes.system.records import ABSENT, as_dict, optional, schema_name, values_of
from antipodes.tables.display import show_result, start_without_table
from antipodes.tables.drawing import draw_counts, moves_back, scramble
from antipodes.tables.store.manifest import NOTHING_COMMITTED, SearchManifest
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.quoting import counted, shorten

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Puzzle
    from antipodes.solving.solve import Solved
    from antipodes.tables.counts import Counts
    from antipodes.tables.planning.plan import Plan
    from antipodes.tables.queries import Found, Matches
    from antipodes.tables.store.search_stores import SearchStore
    from antipodes.tables.table import Table
    from antipodes_tasks.searches.routes import Exchanges


@dataclass(frozen=True, kw_only=True, repr=False)
class RunReport(Report):
    """The result of a run. The run may have resumed from a committed depth."""

    manifest: SearchManifest
    """The last commit."""
    farthest: Labels
    """The first antipodes, ``(n, places)``. Empty for an unfinished table."""
    states_found: int
    """Number of positions that this run found, each counted once."""
    start_distance: int | None = None
    """Distance of the config's start from its goal. None for counts, without a goal, and if it is unreachable."""
    workers_lost: int = 0
    """Number of times that workers of a cluster were lost."""
    recomputed: int = 0
    """Number of positions that were recomputed because workers were lost."""

    @property
    def complete(self) -> bool:
        """Whether the table is finished."""
        return self.manifest.complete

    @property
    def layers(self) -> list[int]:
        """The number of positions at each committed depth."""
        return list(self.manifest.positions)

    @property
    def radius(self) -> int:
        """The greatest committed depth."""
        return self.manifest.radius

    def __repr__(self) -> str:
        name, radius = shorten(str(self.manifest.puzzle.get("name")), 30), f"{self.radius:,}"
        reached = radius if self.complete else f"{radius} so far, unfinished"
        return f"<RunReport of {name}: {counted(sum(self.layers), 'position')}, radius {reached}, {self.seconds:.1f} s>"

    def _repr_html_(self) -> str:
        kind, puzzle = "Counts" if self.manifest.COUNTS_ONLY else "Table", self.manifest.config.puzzle
        took = [f"computed in {self.seconds:,.1f} s"] if self.states_found else []
        start = start_without_table(puzzle)
        return show_result(kind, puzzle, start, self.layers, self.complete, self.store, took)

    @property
    def saved(self) -> str:
        """Subject and verb of a sentence about the committed depths: "depths 0 to 7 are"."""
        return saved_depths(self.manifest) or "nothing is"

    def to_record(self) -> RunRecord:
        """Return the report for JSON output."""
        manifest = self.manifest
        return RunRecord(
            puzzle=manifest.puzzle["name"],
            store=self.store,
            complete=self.complete,
            counts_only=manifest.COUNTS_ONLY,
            index_size=manifest.numbered,
            entries=manifest.index_size,
            symmetry=manifest.symmetry,
            states=manifest.states,
            radius=manifest.radius,
            layers=self.layers,
            unique=ABSENT if manifest.unique is None else list(manifest.unique),
            antipodes=manifest.positions[-1] if self.complete else None,
            start_distance=self.start_distance,
            resumed_from=self.resumed_from,
            seconds=self.phases,
            states_per_second=self.per_second(self.states_found),
            workers_lost=self.workers_lost,
            states_found_again=self.recomputed,
            peak_memory_bytes=self.peak_memory,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the report with the keys of the command line's ``--json``."""
        return as_dict(self.to_record())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """The result of a run that computes a table, for JSON output."""

    puzzle: str
    store: str
    complete: bool
    counts_only: bool
    index_size: int
    entries: int
    symmetry: int
    states: int
    radius: int
    layers: list[int]
    unique: list[int] | None = optional()
    """The number of positions at each depth up to symmetry, if they were counted."""
    antipodes: int | None
    start_distance: int | None
    resumed_from: int | None
    seconds: Seconds
    states_per_second: float | None
    workers_lost: int
    states_found_again: int
    peak_memory_bytes: int


def committed_depth(manifest: SearchManifest | None) -> int | None:
    """Return the last committed depth, or None if nothing is committed."""
    if manifest is None or manifest.committed_depth == NOTHING_COMMITTED:
        return None
    return manifest.committed_depth


def saved_depths(manifest: SearchManifest) -> str | None:
    """Return subject and verb of a sentence about the committed depths, or None if nothing is committed."""
    depth = committed_depth(manifest)
    if depth is None:
        return None
    return f"depths 0 to {depth} are" if depth else "depth 0 is"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSizes:
    """How a puzzle is divided, with bounds on memory and disk; None for values that only a search finds."""

    index_size: int | None
    entries: int | None
    symmetry: int
    reachable: int | None
    space: str
    rows: int | None
    width: int
    column_maps: int | None
    partitions: int
    bits: int | None
    on_disk: bool
    written_bytes: int | None
    read_bytes: int | None
    memory_bytes: int | None
    disk_bytes: int | None
    journal_bytes: int | None
    table_bytes: int
    move_table_bytes: int
    least_memory_bytes: int


def plan_sizes(plan: Plan) -> PlanSizes:
    """Return how a puzzle is divided, with bounds on memory and disk."""
    known, traffic = not plan.keyed or plan.reachable is not None, plan.layer_traffic
    return PlanSizes(
        index_size=plan.index_size,
        entries=plan.index_size if plan.keyed else plan.space.size,
        symmetry=plan.space.numbering.symmetries,
        reachable=plan.reachable,
        space=plan.space.numbering.KIND,
        rows=None if plan.keyed else plan.space.rows,
        width=plan.space.width,
        column_maps=None if plan.keyed else plan.space.filler.most_column_maps,
        partitions=plan.partition_count,
        bits=plan.strategy.bits,
        on_disk=plan.strategy.on_disk,
        written_bytes=traffic.written if traffic else None,
        read_bytes=traffic.read if traffic else None,
        memory_bytes=plan.memory_bytes if known else None,
        disk_bytes=plan.disk_bytes if known else None,
        journal_bytes=plan.journal_bytes if known else None,
        table_bytes=plan.table_bytes,
        move_table_bytes=plan.table_bytes,
        least_memory_bytes=plan.min_bytes,
    )


@dataclass(frozen=True, slots=True)
class SearchStatus:
    """The progress and the size of a table or of counts."""

    puzzle: str
    store: str
    complete: bool
    counts_only: bool
    committed_depth: int | None
    entries: int
    symmetry: int
    states: int
    layers: list[int]
    bytes: int
    run: Run | None


def search_status(store: SearchStore[Any], manifest: SearchManifest) -> SearchStatus:
    """Return the progress and the size of a table or of counts."""
    return SearchStatus(
        puzzle=manifest.puzzle["name"],
        store=store.address,
        complete=manifest.complete,
        counts_only=manifest.COUNTS_ONLY,
        committed_depth=committed_depth(manifest),
        entries=manifest.index_size,
        symmetry=manifest.symmetry,
        states=manifest.states,
        layers=list(manifest.positions),
        bytes=store.storage.size(),
        run=store.storage.lock.run(),
    )


@schema_name("Layers")
@dataclass(frozen=True, slots=True)
class LayerCounts:
    """The number of positions at each depth."""

    radius: int | None
    complete: bool
    layers: list[int]
    unique: list[int] | None = optional(None)
    """The number of symmetry classes at each depth, if they were counted."""

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Return the numbers at each depth, after the names of the columns."""
        columns = {"positions": self.layers} | ({} if self.unique is None else {"unique": self.unique})
        yield "depth", *columns
        yield from zip(range(len(self.layers)), *columns.values(), strict=True)

    def lines(self) -> list[str]:
        """Return a line with a bar for each depth."""
        counts = dict(enumerate(self.layers))
        return draw_counts(counts, self.unique).split("\n") if counts else ["no layer is committed yet"]


def layer_counts(manifest: SearchManifest, unique: list[int] | None = None) -> LayerCounts:
    """Return the number of positions at each depth and, if they were counted, of symmetry classes."""
    return LayerCounts(committed_depth(manifest), manifest.complete, list(manifest.positions), unique)


@dataclass(frozen=True, slots=True)
class Farthest:
    """The total number of antipodes, and some of them."""

    radius: int
    count: int
    positions: list[str]


@dataclass(frozen=True, slots=True)
class UniqueFarthest(Farthest):
    """One antipode of each symmetry class."""

    unique: int
    """The number of symmetry classes."""
    symmetries: list[int]
    """For each position, the number of symmetries that leave it unchanged."""


def farthest_record(puzzle: Puzzle, layers: Sequence[int], positions: Labels) -> Farthest:
    """Return the given antipodes, ``(n, places)``, and the total number of antipodes."""
    return Farthest(len(layers) - 1, layers[-1], _texts(puzzle, positions))


def unique_farthest_record(found: Table | Counts, positions: Labels, classes: int) -> UniqueFarthest:
    """Return one antipode of each symmetry class, ``(n, places)``, and the number of classes."""
    count, texts = found.layers[-1], _texts(found.puzzle, positions)
    return UniqueFarthest(len(found.layers) - 1, count, texts, classes, found.symmetries_at(positions))


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The distance of a position and, if requested, a path to a start; None if the position is unreachable."""

    position: str
    distance: int | None
    line: int = optional()
    """Number of the line of input that contains the position."""
    scramble: list[str] | None = optional()
    """The moves from a start to the position."""
    scramble_from: str | None = optional()
    """This start."""
    path: list[str] | None = optional()
    moves: list[str | None] | None = optional()
    obstacle: str | None = optional(None)
    """Why the position is unreachable, if a parity or sum that no move changes proves it."""


def query_answer(puzzle: Puzzle, found: Found, with_path: bool, as_moves: bool = False) -> QueryAnswer:
    """Return the answer about one position; ``as_moves`` adds the moves from a start to it."""
    shown: dict[str, Any] = {} if found.line is None else {"line": found.line}
    if as_moves:
        shown["scramble"] = None if found.path is None else scramble(puzzle, found.path)
        shown["scramble_from"] = None if found.path is None else puzzle.format_path(found.path)[-1]
    if with_path:
        names = None if found.path is None else moves_back(puzzle, found.path)
        shown |= {"path": _path(puzzle, found.path), "moves": _moves(puzzle, names)}
    return QueryAnswer(puzzle.format(found.position), found.distance, obstacle=found.obstacle, **shown)


@dataclass(frozen=True, slots=True)
class MatchesAtDistance:
    """The nearest or farthest of the positions that match a pattern."""

    distance: int
    count: int
    positions: list[str]


@dataclass(frozen=True, slots=True)
class PatternMatches:
    """The positions that match a pattern."""

    pattern: str
    count: int
    reached: int
    by_distance: dict[int, int]
    nearest: MatchesAtDistance | None
    farthest: MatchesAtDistance | None


@dataclass(frozen=True, slots=True)
class PatternMatchesWithPath(PatternMatches):
    """The positions that match a pattern, and a path from the start to the nearest one; None if none is reached."""

    path: list[str] | None
    moves: list[str | None] | None = optional()


def pattern_matches(puzzle: Puzzle, pattern: str, matches: Matches) -> PatternMatches:
    """Return the positions that match a pattern: counts by distance, and the nearest and farthest positions."""

    def side(distance: int | None, positions: Labels) -> MatchesAtDistance | None:
        texts = _texts(puzzle, positions)
        return None if distance is None else MatchesAtDistance(distance, len(texts), texts)

    return PatternMatches(
        pattern=pattern,
        count=matches.count,
        reached=matches.reached,
        by_distance=matches.by_distance,
        nearest=side(min(matches.by_distance, default=None), matches.nearest),
        farthest=side(max(matches.by_distance, default=None), matches.farthest),
    )


def pattern_matches_with_path(
    puzzle: Puzzle, pattern: str, matches: Matches, path: Labels | None
) -> PatternMatchesWithPath:
    """Return `pattern_matches` with a path from the start to the nearest match and its moves."""
    found, names = pattern_matches(puzzle, pattern, matches), None if path is None else puzzle.move_names(path)
    return PatternMatchesWithPath(**values_of(found), path=_path(puzzle, path), moves=_moves(puzzle, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveAnswer:
    """The result of `solve` for one position."""

    method: str
    reason: str | None
    outcome: str
    distance: int | None
    least: int | None
    solution_count: int | None
    solutions: list[list[str]]
    expanded: int
    heuristic: Any = optional()
    """The names of the tables that guided the search, or the name of the user's function."""
    estimate: int | None = optional()
    generated: int | None = optional()
    """Number of successors generated."""
    proved: str | None = optional()
    """What is proved about the length of the path: "shortest", "within" or "path"."""
    bound: float | None = optional()
    """How many times as long as a shortest path the path is at most; None if this is unknown."""
    violations: int | None = optional()
    """Number of positions whose estimate is higher than the length of a path to a goal."""
    drops: int | None = optional()
    """Number of moves on which the estimate of a user's function falls by more than 1."""
    conditional: bool | None = optional()
    """Whether the proof assumes that a user's function returns lower bounds."""
    seconds: float
    moves: Any = optional()
    """The moves of the solution, or a list of them for each solution."""
    obstacle: str | None = optional(None)
    """Why no goal is reachable, if a parity or sum that no move changes proves it."""


def solve_answer(puzzle: Puzzle, solved: Solved, every: bool = False) -> SolveAnswer:
    """Return the result of `solve`. ``moves`` lists the moves of the solution, or with ``every`` of each solution."""
    answer = solved.answer
    names = [puzzle.move_names(path) for path in answer.solutions]
    return SolveAnswer(
        method=answer.method,
        reason=solved.reason,
        outcome=str(answer.outcome),
        distance=answer.distance,
        least=answer.least,
        solution_count=answer.solution_count,
        solutions=[puzzle.format_path(path) for path in answer.solutions],
        expanded=answer.expanded,
        heuristic=ABSENT if solved.heuristic is None else solved.heuristic,
        estimate=ABSENT if solved.heuristic is None else solved.estimate,
        generated=ABSENT if solved.heuristic is None else answer.generated,
        proved=ABSENT if answer.proved is None else str(answer.proved),
        bound=ABSENT if answer.proved is None else answer.bound,
        violations=ABSENT if answer.proved is None else answer.violations,
        drops=ABSENT if answer.proved is None else answer.drops,
        conditional=ABSENT if answer.proved is None else answer.conditional,
        seconds=round(answer.seconds, 6),
        moves=_moves(puzzle, names if every else next(iter(names), None)),
        obstacle=answer.obstacle,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutesAnswer:
    """The exchanges of two sides along routes; ``moves`` is the number of moves of each of the ``solutions``."""

    method: str = "routes"
    limit: int
    combinations: int
    distance: int | None
    solution_count: int
    histogram: dict[int, int]
    moves: list[int]
    solutions: list[list[str]]
    expanded: int
    seconds: float


def routes_answer(puzzle: Puzzle, found: Exchanges, seconds: float, listed: int) -> RoutesAnswer:
    """Return the exchanges of two sides along routes. All are counted, and at most ``listed`` are listed."""
    return RoutesAnswer(
        limit=found.limit,
        combinations=found.combinations,
        distance=min(found.histogram, default=None),
        solution_count=len(found.solutions),
        histogram=found.histogram,
        moves=[exchange.moves for exchange in found.solutions[:listed]],
        solutions=[puzzle.format_path(exchange.positions) for exchange in found.solutions[:listed]],
        expanded=found.expanded,
        seconds=round(seconds, 6),
    )


def _moves(puzzle: Puzzle, names: Any) -> Any:
    """Return the names of moves; ABSENT if the moves of the puzzle have no names."""
    return names if puzzle.moves.names else ABSENT


def _path(puzzle: Puzzle, path: Labels | None) -> list[str] | None:
    return None if path is None else puzzle.format_path(path)


def _texts(puzzle: Puzzle, positions: Iterable[Labels]) -> list[str]:
    return [puzzle.format(position) for position in positions]
