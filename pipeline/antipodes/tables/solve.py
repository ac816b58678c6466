"""One position solved by the method that suits it: a search of its own, or the table if there is one."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from antipodes.machine import available_memory, available_workers
from antipodes.storage.address import Address
from antipodes_tasks import arguments
from antipodes_tasks.errors import (
    InconsistentDistancesError,
    InputError,
    InterruptedRunError,
    NotAStoreError,
    StoreDamagedError,
)
from antipodes_tasks.reachability.position_set import Numbers, Words
from antipodes_tasks.rules.function_checks import check_functions, check_path, contradiction
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.searches.answer import DEFAULT_LIMIT, Answer, Outcome, unsolved
from antipodes_tasks.searches.breadth_first import MEMORY_LIMIT, bfs, bidirectional
from antipodes_tasks.searches.deepening import PROOF_MEMORY, ida_star, iddfs
from antipodes_tasks.searches.heuristics import UNREACHABLE_COST, has_heuristic
from antipodes_tasks.searches.pattern_databases import Patterns
from antipodes_tasks.searches.problem import A_PROBLEM, Problem, Request
from antipodes_tasks.searches.progress import Deadline, Listener, Progress, TimeLimitReached, silence
from antipodes_tasks.searches.shortest_paths import ShortestPaths, shortest_paths, solved
from antipodes_tasks.spaces.selection import index_size

if TYPE_CHECKING:
    from antipodes.tables.table import Table

__all__ = [
    "SEARCHES",
    "Choice",
    "Solved",
    "choose_method",
    "load_kernels",
    "solve",
    "solve_by_table",
    "solve_many",
    "solve_timed",
]

TABLE = "table"
"""The name of the method."""


def solve_by_table(
    problem: Problem,
    table: "Table",
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = DEFAULT_LIMIT,
    memory_limit: int = MEMORY_LIMIT,
) -> Answer:
    """One shortest path to the start, or ``every`` one, read from the table.

    The listed paths may take ``memory_limit`` bytes.

    Raises
    ------
    InputError
        The goal is not the start of the table, or its moves are not reversible, so that distances from the start
        are not those to the start.
    UnfinishedError
        The table does not reach so far.
    ResourceLimitError
        The listed paths take more memory than ``memory_limit``.
    StoreDamagedError
        The table is damaged; its distances are not those of any path, for example.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    request = Request(every, max_depth, listed, memory_limit)
    from antipodes.tables.table import Table  # loads zarr, which the caller of an open table has loaded

    arguments.instance(table, Table, "an open Table")
    _check_question(problem, table)
    distance = None if problem.known_unreachable else table.get_distance(problem.position)
    if distance is None:
        return unsolved(TABLE, Outcome.UNREACHABLE)
    if request.max_depth is not None and distance > request.max_depth:
        return unsolved(TABLE, Outcome.DEPTH_LIMIT, least=distance)
    paths = _paths(problem, table, request.every)
    return solved(TABLE, paths, request, sum(map(len, paths.layers[:-1])))


def answers(address: Address, problem: Problem) -> bool:
    """Whether a directory holds a finished table of the puzzle, which answers this question."""
    from antipodes.tables.store.search_stores import TableStore

    path = Path(address)
    if not path.is_dir() or not _asks_for_start(problem) or not problem.rules.moves.reversible:
        return False
    try:
        manifest = TableStore(path).read()
    except NotAStoreError:
        return False
    return manifest.complete and manifest.fingerprint == problem.rules.fingerprint


def _paths(problem: Problem, table: "Table", every: bool) -> ShortestPaths:
    packing = problem.packing

    def depths(keys: Words) -> Numbers:
        return table.distances(packing.unpack(keys)).astype(np.int64)

    position = packing.pack(problem.position[np.newaxis])
    try:
        paths = shortest_paths(packing, depths, position, problem.steps.successors, every)
    except InconsistentDistancesError as error:
        table.path(error.position)  # raises an error that names the damaged chunk
        raise StoreDamagedError(f"{table.address} is damaged: its distances contradict the moves") from None
    starts = set(map(bytes, table.puzzle.start_labels))
    for end in paths.layers[-1]:
        if bytes(end) not in starts:
            table.path(end)  # likewise
    return paths


def _check_question(problem: Problem, table: "Table") -> None:
    """Raise InputError unless the table answers the question."""
    if table.puzzle.fingerprint != problem.rules.fingerprint:
        raise InputError(f"expected the table of {problem.rules.name}, found that of {table.puzzle.name}")
    if not _asks_for_start(problem):
        depth_zero = table.puzzle.depth_zero
        raise InputError(f"the table method leads to the {depth_zero} of the puzzle alone; choose bfs or iddfs")
    if not problem.rules.moves.reversible:
        raise InputError("the table method needs reversible moves; choose bfs or iddfs")


def _asks_for_start(problem: Problem) -> bool:
    return np.array_equal(problem.goals, Problem.of(problem.rules, problem.position).goals)


BFS, IDDFS, IDA_STAR = "bfs", "iddfs", "ida-star"
SEARCHES: Mapping[str, Callable[..., Answer]] = {
    BFS: bfs,
    "bidirectional": bidirectional,
    IDDFS: iddfs,
    IDA_STAR: ida_star,
}
GOALS_TRIED = 16
"""Goals near which moves that are functions are tried before a search."""
MAX_WITHOUT_TABLE = 1 << 20
"""Positions of the largest puzzle that is searched from both ends although there is a table: loading the libraries that
read a table takes 0.4 s. Measured with the farthest positions of eight-puzzle, where the search takes 0.02 s."""
AHEAD = 8
"""Problems begun for each thread before the first of them is answered."""
MAX_IN_MEMORY = 1 << 24
"""Positions of the largest puzzle for which a search from both ends never runs out of memory."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The method that suits a problem, and why."""

    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class Solved:
    """An answer and how it came about."""

    answer: Answer
    seconds: float
    """Duration of the search alone, with its kernels loaded and the table open."""
    reason: str | None
    """Why the method was chosen; None if the caller chose it."""
    heuristic: str | None = None
    """The tables that guided the search, if any."""
    estimate: int | None = None
    """What they say of the position, unless they know that the goal is unreachable."""


def choose_method(problem: Problem, store: Address | None = None) -> Choice:
    """The method that is likely to be the fastest: the table in the store, if it answers the question, or a search."""
    arguments.instance(problem, Problem, A_PROBLEM)
    address = arguments.optional(store, arguments.address, "a store")
    if problem.matches is not None:
        return Choice(BFS, "the goal pattern matches too many positions to list them")
    # a table of listed positions saves no time: a list takes as long as a search of them all
    worth_reading = not problem.rules.enumerated and index_size(problem.rules) > MAX_WITHOUT_TABLE
    if address is not None and worth_reading and answers(address, problem):
        return Choice(TABLE, f"there is one in {store}")
    if not problem.undoable:
        return Choice(BFS, "a move has no inverse, so the search goes forwards only")
    if not problem.rules.enumerated and index_size(problem.rules) <= MAX_IN_MEMORY:
        return Choice("bidirectional", "all positions fit into memory")
    if has_heuristic(problem.rules):
        return Choice(IDA_STAR, "an admissible heuristic is known, and it takes no memory")
    return Choice("bidirectional", "no admissible heuristic is known")


def solve_timed(
    problem: Problem,
    method: str | None,
    store: Address,
    *,
    listener: Listener = silence,
    heuristic: str | Patterns | None = None,
    memory_limit: int | None = None,
    threads: int | None = None,
    **settings: Any,
) -> Solved:
    """Solve by a method, by default by the one that suits the problem; the table is that in the store.

    ``threads`` search together where tables guide a long search, by default as many as processors.

    ``settings`` are those of `solve` and `solve_by_table`: ``every``, ``max_depth``, ``max_seconds`` and ``listed``.
    Raises as they do.
    """
    reason = None
    if method is None:
        choice = choose_method(problem, store)
        method, reason = choice.method, choice.reason
    if method == TABLE:
        from antipodes.tables.table import open_table

        with open_table(store) as table:
            begin = time.perf_counter()
            settings.pop("max_seconds", None)  # it reads a few positions for each move
            if memory_limit is not None:
                settings["memory_limit"] = memory_limit
            answer = solve_by_table(problem, table, **settings)
            return Solved(answer, time.perf_counter() - begin, reason)
    options: dict[str, Any] = {"heuristic": heuristic} if heuristic is not None else {}
    load_kernels(problem, method, **options)
    if isinstance(heuristic, Patterns):
        options["threads"] = available_workers() if threads is None else threads
    begin = time.perf_counter()
    answer = solve(problem, method, listener=listener, memory_limit=memory_limit, **settings, **options)
    return _solved(answer, time.perf_counter() - begin, reason, problem, heuristic)


def solve_many(
    problems: Iterable[Problem],
    method: str | None = None,
    *,
    threads: int | None = None,
    memory_limit: int | None = None,
    **settings: Any,
) -> Iterator[Solved]:
    """The answer to each problem, in their order, a few at a time: kernels of several threads run side by side.

    ``threads`` are by default as many as processors, which share the memory; ``memory_limit`` is for each of them.
    ``settings`` are those of `solve`. Whoever stops asking ends the searches under way. Raises as `solve` does, when
    the answer of that problem is due.
    """
    count = os.cpu_count() or 1 if threads is None else arguments.integer(threads, "threads", 1)
    over = threading.Event()

    def answer(problem: Problem) -> Solved:
        chosen = Choice(method, "") if method else choose_method(problem)
        begin = time.perf_counter()
        limit = _memory_for(chosen.method, count) if memory_limit is None else memory_limit
        found = solve(problem, chosen.method, listener=listener, memory_limit=limit, **settings)
        return _solved(found, time.perf_counter() - begin, chosen.reason or None, problem, settings.get("heuristic"))

    def listener(progress: Progress) -> None:
        if over.is_set():
            raise InterruptedRunError("the searches were stopped")

    waiting, rest = deque[Future[Solved]](), iter(problems)
    for first in islice(rest, 1):
        load_kernels(first, method or choose_method(first).method, **_select_settings(settings, "heuristic"))
        rest = chain([first], rest)
    with ThreadPoolExecutor(count) as pool:
        try:
            for problem in rest:
                waiting.append(pool.submit(answer, problem))
                if len(waiting) > AHEAD * count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            over.set()
            pool.shutdown(cancel_futures=True)


def _select_settings(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {name: settings[name]} if name in settings else {}


def _solved(
    answer: Answer, seconds: float, reason: str | None, problem: Problem, heuristic: str | Patterns | None
) -> Solved:
    if isinstance(heuristic, Patterns):
        estimate = heuristic.estimate(problem.position)
        return Solved(answer, seconds, reason, heuristic.name, None if estimate == UNREACHABLE_COST else estimate)
    return Solved(answer, seconds, reason)


def solve(
    problem: Problem,
    method: str,
    *,
    every: bool = False,
    max_depth: int | None = None,
    max_seconds: float | None = None,
    listed: int = DEFAULT_LIMIT,
    memory_limit: int | None = None,
    listener: Listener = silence,
    **options: Any,
) -> Answer:
    """One shortest path to the nearest goal, or ``every`` one, by one of ``SEARCHES``.

    A search ends without a path if no goal is within ``max_depth`` moves, or about ``max_seconds`` are over.

    ``options`` are those of the search, such as ``heuristic`` of ``ida-star``. `solve_by_table` reads a table. The
    ``memory_limit``, in bytes, defaults to three quarters of the free memory, 1 GiB for ``iddfs`` and ``ida-star``. The
    ``listener`` is told the progress, about ten times per second.

    InputError where there is no such method, it cannot treat the puzzle, moves that are functions contradict
    themselves, or an argument is of another type or negative; ResourceLimitError where the search would exceed the
    memory limit.
    """
    search = SEARCHES[arguments.choice(method, "a method", tuple(SEARCHES))]
    if unknown := options.keys() - ({"heuristic", "threads"} if search is ida_star else set()):
        raise InputError(f"{method}: expected no option {', '.join(sorted(unknown))}")
    limit = _memory_for(method) if memory_limit is None else memory_limit
    seconds = arguments.optional(max_seconds, arguments.number, "max_seconds", 0)
    deadline = Deadline(seconds, arguments.function(listener, "a listener"))
    arguments.instance(problem, Problem, A_PROBLEM)
    check_functions(problem.rules.moves, np.concatenate((problem.position[np.newaxis], problem.goals[:GOALS_TRIED])))
    try:
        answer = search(
            problem, every=every, max_depth=max_depth, listed=listed, memory_limit=limit, listener=deadline, **options
        )
        for path in answer.solutions:
            check_path(problem.rules.moves, path)
        return answer
    except InconsistentDistancesError as error:
        if isinstance(problem.rules.moves, Functions):
            raise contradiction(np.asarray(error.position)) from None
        raise
    except TimeLimitReached:
        last = deadline.last
        return unsolved(method, Outcome.TIME_LIMIT, last.expanded if last else 0, last.least if last else None)


def _memory_for(method: str, searches: int = 1) -> int:
    """Bytes that each of some searches may take by default: their share of three quarters of the free memory.

    Arrays beside them take some, too. A search that needs no memory takes PROOF_MEMORY at most.
    """
    free = available_memory() * 3 // 4 // searches
    return min(PROOF_MEMORY, free) if method in (IDDFS, IDA_STAR) else free


def load_kernels(problem: Problem, method: str, **options: Any) -> None:
    """Load the machine code of a search, by solving a problem that is one move long."""
    arguments.instance(problem, Problem, A_PROBLEM)
    end, heuristic = problem.position, options.get("heuristic")
    if isinstance(heuristic, Patterns):
        heuristic.check(problem)
        end = heuristic.goal
    successors = problem.rules.successors(end)
    if len(successors):
        solve(Problem.of(problem.rules, successors[0], end), method, **options)
