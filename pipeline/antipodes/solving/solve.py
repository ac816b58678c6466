"""Solving single positions by the method that suits them: by a search, or from the table if there is one."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from antipodes.puzzles.sequences import names_along
from antipodes.system.addresses import Address
from antipodes.system.machine import available_memory, available_workers
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Numbers, Words
from antipodes_tasks.base.errors import (
    InconsistentDistancesError,
    InputError,
    InterruptedRunError,
    NotAStoreError,
    StoreDamagedError,
)
from antipodes_tasks.base.jit import working_clock
from antipodes_tasks.properties.heuristic_function import name_of_function
from antipodes_tasks.properties.heuristics import has_heuristic
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.rules.function_checks import check_functions, check_path, contradiction
from antipodes_tasks.searches.answer import DEFAULT_LIMIT, Answer, Outcome, unsolved
from antipodes_tasks.searches.best_first import ASTAR, BEAM, astar, beam
from antipodes_tasks.searches.breadth_first import MEMORY_LIMIT, bfs, bidirectional
from antipodes_tasks.searches.deepening import PROOF_MEMORY, ida_star, iddfs
from antipodes_tasks.searches.guides import Guidance
from antipodes_tasks.searches.heuristic import Heuristic
from antipodes_tasks.searches.problem import A_PROBLEM, Problem, Request
from antipodes_tasks.searches.progress import Deadline, Listener, Progress, TimeLimitReached, silence
from antipodes_tasks.searches.shortest_paths import ShortestPaths, shortest_paths, solved
from antipodes_tasks.spaces.selection import index_size

if TYPE_CHECKING:
    from antipodes.tables.table import Table

__all__ = [
    "SEARCHES",
    "MethodChoice",
    "Solved",
    "choose_method",
    "solve",
    "solve_by_table",
    "solve_many",
    "solve_timed",
]

TABLE = "table"
"""The name of the method that reads a table."""


def solve_by_table(
    problem: Problem,
    table: "Table",
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = DEFAULT_LIMIT,
    memory_limit: int = MEMORY_LIMIT,
) -> Answer:
    """Return one shortest path to the start, or with ``every`` all shortest paths, read from the table.

    The listed paths may take ``memory_limit`` bytes.

    Raises
    ------
    InputError
        The goal is not the start of the table, or the moves are not reversible, so that distances from the start are
        not distances to the start.
    UnfinishedError
        The table is unfinished and does not reach the position yet.
    ResourceLimitError
        The listed paths take more memory than ``memory_limit``.
    StoreDamagedError
        The table is corrupt, for example because its distances do not form a path.
    """
    begin = working_clock()
    arguments.instance(problem, Problem, A_PROBLEM)
    request = Request(every, max_depth, listed, memory_limit)
    from antipodes.tables.table import Table  # imports zarr, which is already imported if a table is open

    arguments.instance(table, Table, "an open Table")
    _check_question(problem, table)
    distance = None if problem.known_unreachable else table.distance(problem.position, None)
    if distance is None:
        return _completed(unsolved(TABLE, Outcome.UNREACHABLE), problem, begin)
    if request.max_depth is not None and distance > request.max_depth:
        return _completed(unsolved(TABLE, Outcome.DEPTH_LIMIT, least=distance), problem, begin)
    paths = _paths(problem, table, request.every)
    return _completed(solved(TABLE, paths, request, sum(map(len, paths.layers[:-1]))), problem, begin)


def answers(address: Address, problem: Problem) -> bool:
    """Return whether a directory contains a finished table of the puzzle that answers this question."""
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
        table.path(error.position)  # raises an error that names the corrupt chunk
        raise StoreDamagedError(f"{table.address} is corrupt: its distances contradict the moves") from None
    starts = set(map(bytes, table.puzzle.start_labels))
    for end in paths.layers[-1]:
        if bytes(end) not in starts:
            table.path(end)  # raises an error that names the corrupt chunk
    return paths


def _check_question(problem: Problem, table: "Table") -> None:
    """Raise InputError unless the table answers the question."""
    if table.puzzle.fingerprint != problem.rules.fingerprint:
        both = ": two puzzles have this name" if table.puzzle.name == problem.rules.name else ""
        raise InputError(f"expected the table of {problem.rules.name}, found the table of {table.puzzle.name}{both}")
    if not _asks_for_start(problem):
        depth_zero = table.puzzle.depth_zero
        raise InputError(f"the table only has distances from the {depth_zero}; for another goal choose bfs or iddfs")
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
"""The searches that can find every shortest path."""
ONE_PATH: Mapping[str, Callable[..., Answer]] = {ASTAR: astar, BEAM: beam}
"""The searches that find one path, which may be longer than a shortest one."""
OPTIONS = {IDA_STAR: {"heuristic", "threads"}, ASTAR: {"heuristic", "weight"}, BEAM: {"heuristic", "width"}}
"""The further options of each search; see there."""
GOALS_TRIED = 16
"""Maximum number of goals on which a puzzle's move functions are checked before a search."""
MAX_WITHOUT_TABLE = 1 << 20
"""Maximum number of positions for which bidirectional search is chosen although there is a table. Importing the
libraries that read a table takes 0.4 s; the search for the farthest positions of eight-puzzle takes 0.02 s."""
AHEAD = 8
"""Number of problems per thread that are submitted before the first of them is answered."""
MAX_IN_MEMORY = 1 << 24
"""Maximum number of positions for which bidirectional search never runs out of memory."""


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """The method that suits a problem, and the reason."""

    method: str
    reason: str


def implied_method(by_name: bool, by_function: bool, weight: float | None, width: int | None) -> str | None:
    """Return the method for a heuristic, a ``weight`` or a ``width`` that the user gives without a method, or None.

    A heuristic ``by_name`` includes pattern tables.
    """
    if width is not None and weight is None:
        return BEAM
    if weight is not None or by_function:
        return ASTAR
    return IDA_STAR if by_name else None


@dataclass(frozen=True, slots=True)
class Solved:
    """An answer and how it was found."""

    answer: Answer
    reason: str | None
    """Why the method was chosen. None if the caller chose it."""
    heuristic: str | None = None
    """The name of the object, such as pattern tables, or of the user's function that guided the search; or None."""
    estimate: int | None = None
    """The lower bound of this object for the position. None if it shows that the goal is unreachable, or for functions.
    """


def choose_method(problem: Problem, store: Address | None = None) -> MethodChoice:
    """Choose the method that is probably fastest: the table in the store if it answers the question, or a search."""
    arguments.instance(problem, Problem, A_PROBLEM)
    address = arguments.optional(store, arguments.address, "a store")
    if problem.matches is not None:
        return MethodChoice(BFS, "the goal pattern matches too many positions to list them")
    # for an enumerated puzzle a table saves no time: listing its positions takes as long as searching all of them
    worth_reading = not problem.rules.enumerated and index_size(problem.rules) > MAX_WITHOUT_TABLE
    if address is not None and worth_reading and answers(address, problem):
        return MethodChoice(TABLE, f"{store} contains the table")
    if not problem.invertible:
        return MethodChoice(BFS, "a move has no inverse, so only a forward search is possible")
    if not problem.rules.enumerated and index_size(problem.rules) <= MAX_IN_MEMORY:
        return MethodChoice("bidirectional", "all positions fit into memory")
    if has_heuristic(problem.rules):
        return MethodChoice(IDA_STAR, "an admissible heuristic is known, and the search needs no memory")
    return MethodChoice("bidirectional", "no admissible heuristic is known")


def solve_timed(
    problem: Problem,
    method: str | None,
    store: Address,
    *,
    listener: Listener = silence,
    heuristic: Guidance = None,
    memory_limit: int | None = None,
    threads: int | None = None,
    options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Solved:
    """Solve by a method, by default the one that suits the problem; the table method reads the table in the store.

    If pattern tables guide a long search, ``threads`` threads search together, by default one per processor.

    ``settings`` are the options of `solve` and `solve_by_table`: ``every``, ``max_depth``, ``max_seconds`` and
    ``listed``; ``options`` are further options of the method. Raises as these functions do.
    """
    reason = None
    if method is None:
        choice = choose_method(problem, store)
        method, reason = choice.method, choice.reason
    if method == TABLE:
        from antipodes.tables.table import open_table

        with open_table(store) as table:
            settings.pop("max_seconds", None)  # not needed, since only a few positions are read for each move
            if memory_limit is not None:
                settings["memory_limit"] = memory_limit
            return Solved(solve_by_table(problem, table, **settings), reason)
    options = {**(options or {}), **({"heuristic": heuristic} if heuristic is not None else {})}
    if isinstance(heuristic, Heuristic) and method == IDA_STAR:
        options["threads"] = available_workers() if threads is None else threads
    answer = solve(problem, method, listener=listener, memory_limit=memory_limit, **settings, **options)
    return _solved(answer, reason, problem, heuristic)


def solve_many(
    problems: Iterable[Problem],
    method: str | None = None,
    *,
    threads: int | None = None,
    memory_limit: int | None = None,
    **settings: Any,
) -> Iterator[Solved]:
    """Yield the answer to each problem, in order. Several problems are solved at the same time in threads.

    By default there is one thread per processor, and each thread gets an equal share of the memory. If ``memory_limit``
    is given, it is the limit of each single thread. ``settings`` are the options of `solve`. Closing the generator ends
    the running searches. Errors are those of `solve`; each is raised when the answer to its problem is due.
    """
    count = os.cpu_count() or 1 if threads is None else arguments.integer(threads, "threads", 1)
    over = threading.Event()

    def answer(problem: Problem) -> Solved:
        chosen = MethodChoice(method, "") if method else choose_method(problem)
        limit = _memory_for(chosen.method, count) if memory_limit is None else memory_limit
        found = solve(problem, chosen.method, listener=listener, memory_limit=limit, **settings)
        return _solved(found, chosen.reason or None, problem, settings.get("heuristic"))

    def listener(progress: Progress) -> None:
        if over.is_set():
            raise InterruptedRunError("the searches were stopped")

    waiting = deque[Future[Solved]]()
    with ThreadPoolExecutor(count) as pool:
        try:
            for problem in problems:
                waiting.append(pool.submit(answer, problem))
                # The next problem is read only after an answer is taken, so a long list of problems does not fill the
                # memory.
                if len(waiting) > AHEAD * count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            over.set()
            pool.shutdown(cancel_futures=True)


def _solved(answer: Answer, reason: str | None, problem: Problem, heuristic: Guidance) -> Solved:
    if isinstance(heuristic, Heuristic):
        estimate = heuristic.bound(problem.position)
        return Solved(answer, reason, heuristic.name, None if estimate == UNREACHABLE_COST else estimate)
    if callable(heuristic):
        return Solved(answer, reason, name_of_function(heuristic))
    return Solved(answer, reason)


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
    """Return a shortest path to the nearest goal (with ``every``, all shortest paths), found by one of ``SEARCHES``.

    The path of one of ``ONE_PATH`` may be longer; the answer states what is proved about its length.

    A search ends without a path if no goal is within ``max_depth`` moves, or after about ``max_seconds``.

    ``options`` are further options of the search, see ``OPTIONS``. `solve_by_table` reads a table. The
    ``memory_limit``, in bytes, defaults to three quarters of the free memory, and to at most 1 GiB for ``iddfs`` and
    ``ida-star``. The ``listener`` is called with the progress about ten times per second.

    Raises InputError if there is no such method, it cannot solve this puzzle, the puzzle's move functions contradict
    themselves, or an argument is negative or has the wrong type. Raises ResourceLimitError if the search would exceed
    the memory limit.
    """
    searches = {**SEARCHES, **ONE_PATH}
    search = searches[arguments.choice(method, "a method", tuple(searches))]
    if unknown := options.keys() - OPTIONS.get(method, set()):
        raise InputError(f"{method} has no option {', '.join(sorted(unknown))}")
    limit = _memory_for(method) if memory_limit is None else memory_limit
    seconds, begin = arguments.optional(max_seconds, arguments.number, "max_seconds", 0), working_clock()
    deadline = Deadline(seconds, arguments.function(listener, "a listener"))
    arguments.instance(problem, Problem, A_PROBLEM)
    check_functions(problem.rules, np.concatenate((problem.position[np.newaxis], problem.goals[:GOALS_TRIED])))
    try:
        answer = search(
            problem, every=every, max_depth=max_depth, listed=listed, memory_limit=limit, listener=deadline, **options
        )
        # The moves of every path are replayed by other code than the search, so a bug of a search cannot give a wrong
        # path.
        for path in answer.solutions:
            check_path(problem.rules, path)
        return _completed(answer, problem, begin)
    except InconsistentDistancesError as error:
        if problem.rules.moves.are_functions:
            raise contradiction(problem.rules.parts, np.asarray(error.position)) from None
        raise
    except TimeLimitReached:
        last = deadline.last
        known = (last.expanded, last.least) if last else (0, None)
        return _completed(unsolved(method, Outcome.TIME_LIMIT, *known), problem, begin)


def _completed(answer: Answer, problem: Problem, begin: float) -> Answer:
    """Return the answer with the duration of a search that began at ``begin``, its moves' names and the obstacle."""
    moves, path = problem.rules.moves, answer.path
    names = None if path is None or not moves.names else tuple(map(str, names_along(moves, path)))
    return replace(answer, seconds=working_clock() - begin, moves=names, obstacle=problem.obstacle)


def _memory_for(method: str, searches: int = 1) -> int:
    """Return the default memory limit in bytes of each of several simultaneous searches.

    They share three quarters of the free memory. The rest is for arrays outside of the searches. A search that needs
    little memory gets at most PROOF_MEMORY.
    """
    free = available_memory() * 3 // 4 // searches
    return min(PROOF_MEMORY, free) if method in (IDDFS, IDA_STAR) else free
