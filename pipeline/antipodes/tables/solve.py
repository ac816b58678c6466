"""One position solved by the method that fits: a search of its own, or the table where there is one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from antipodes import arguments
from antipodes.errors import InputError, NotAStoreError, StoreDamagedError
from antipodes.machine import available_memory
from antipodes.searches.answer import LISTED, Answer, Outcome, unsolved
from antipodes.searches.bfs import bfs, solved
from antipodes.searches.bidirectional import bidirectional
from antipodes.searches.graph import swap_edges
from antipodes.searches.ida_star import ida_star
from antipodes.searches.iddfs import iddfs
from antipodes.searches.packing import Packing, Words
from antipodes.searches.problem import A_PROBLEM, Problem, Request
from antipodes.searches.reached import MEMORY_LIMIT
from antipodes.searches.standing import Listener, silence
from antipodes.searches.two_ends import PROOF_MEMORY
from antipodes.searches.ways import NoWayDownError, ways_down
from antipodes.spaces.arrangements import radices
from antipodes.storage.address import Address

if TYPE_CHECKING:
    from antipodes.tables.table import Table

TABLE, IDDFS, IDA_STAR = "table", "iddfs", "ida-star"
SEARCHES: Mapping[str, Callable[..., Answer]] = {
    "bfs": bfs,
    "bidirectional": bidirectional,
    IDDFS: iddfs,
    IDA_STAR: ida_star,
}
HELD_AT_ONCE = 1 << 24
"""Where there are no more positions than these, a search from both ends never runs out of memory."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The method that suits a problem, and why."""

    method: str
    reason: str


def choose_method(problem: Problem, store: Address | None = None) -> Choice:
    """The table in the store if it answers the question, else the search that is likely to be the fastest."""
    arguments.instance(problem, Problem, A_PROBLEM)
    address = arguments.optional(store, arguments.address, "a store")
    if address is not None and _answers(Path(address), problem):
        return Choice(TABLE, f"there is one in {store}")
    if prod(radices(problem.puzzle.counts)) <= HELD_AT_ONCE:
        return Choice("bidirectional", "all positions fit into memory")
    if swap_edges(problem.puzzle) is not None:
        return Choice("ida-star", "a lower bound is known, and it takes no memory")
    return Choice("bidirectional", "no lower bound is known")


def solve(
    problem: Problem,
    method: str,
    *,
    every: bool = False,
    bound: int | None = None,
    listed: int = LISTED,
    memory_limit: int | None = None,
    listener: Listener = silence,
    **options: Any,
) -> Answer:
    """One shortest way to the nearest goal, or ``every`` one, by one of ``SEARCHES``.

    ``options`` are those of the search, such as ``heuristic`` of ``ida-star``. `solve_by_table` asks a table. The
    ``memory_limit``, bytes, is by default what suits the method and what this machine has. The ``listener`` is told
    how far the search is, about ten times a second.

    Raises
    ------
    InputError
        There is no such method, it cannot treat the puzzle, or an argument is of another type or negative.
    ResourceLimitError
        The search would take more memory than it may.
    """
    search = SEARCHES[arguments.choice(method, "a method", tuple(SEARCHES))]
    if unknown := options.keys() - ({"heuristic"} if search is ida_star else set()):
        raise InputError(f"{method}: expected no option {', '.join(sorted(unknown))}")
    limit = _memory_for(method) if memory_limit is None else memory_limit
    return search(problem, every=every, bound=bound, listed=listed, memory_limit=limit, listener=listener, **options)


def _memory_for(method: str) -> int:
    """Bytes that a search may take: what its own default is, or three quarters of what is free, if that is less."""
    default = PROOF_MEMORY if method in (IDDFS, IDA_STAR) else MEMORY_LIMIT
    return min(default, available_memory() * 3 // 4)


def load_kernels(problem: Problem, method: str, **options: Any) -> None:
    """Have the machine code of a search ready, by solving what is one move long."""
    arguments.instance(problem, Problem, A_PROBLEM)
    successors = problem.puzzle.successors(problem.position)
    if len(successors):
        solve(Problem.of(problem.puzzle, problem.position, successors[0]), method, **options)


def solve_by_table(
    problem: Problem, table: "Table", *, every: bool = False, bound: int | None = None, listed: int = LISTED
) -> Answer:
    """One shortest way to the start, or ``every`` one, read from the table.

    Raises
    ------
    InputError
        The goal is not the start of the table, or its moves cannot be taken back, so that distances from the start
        are not those to the start.
    UnfinishedError
        The table does not reach so far.
    StoreDamagedError
        The table is damaged; its distances are those of no way, for example.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    request = Request(every, bound, listed, MEMORY_LIMIT)
    from antipodes.tables.table import Table  # which loads zarr, as whoever has one has done

    arguments.instance(table, Table, "an open Table")
    if table.puzzle.fingerprint != problem.puzzle.fingerprint:
        raise InputError(f"expected the table of {problem.puzzle.name}, found that of {table.puzzle.name}")
    if not _asks_for_start(problem):
        raise InputError("table: expected the puzzle's start as the goal, found another; choose another method")
    if not _reversible(problem):
        raise InputError("table: expected moves that can be taken back, found others; choose another method")
    if problem.hopeless:
        return unsolved(TABLE, Outcome.UNREACHABLE)
    distance = table.get_distance(problem.position)
    if distance is None:
        return unsolved(TABLE, Outcome.UNREACHABLE)
    if request.bound is not None and distance > request.bound:
        return unsolved(TABLE, Outcome.BOUND)
    known = _TableDistances(table, problem.packing)
    try:
        ways = ways_down(known, problem.packing.pack(problem.position[np.newaxis]), problem.steps, request.every)
    except NoWayDownError as error:
        table.path(error.position)  # which says where the damage is
        raise StoreDamagedError(f"{table!r} is damaged: its distances contradict the moves") from None
    starts = set(map(bytes, table.puzzle.start_labels))
    for end in ways.layers[-1]:
        if bytes(end) not in starts:
            table.path(end)  # raises likewise
    return solved(TABLE, ways, request, sum(map(len, ways.layers[:-1])))


@dataclass(frozen=True, slots=True)
class _TableDistances:
    """A table as `ways_down` asks it."""

    table: "Table"
    packing: Packing

    def depths(self, keys: Words) -> NDArray[np.int64]:
        return self.table.distances(self.packing.unpack(keys)).astype(np.int64)


def _answers(store: Path, problem: Problem) -> bool:
    """Whether a finished table of the puzzle lies there, and the question is one that it answers."""
    from antipodes.tables.store import TableStore

    if not store.is_dir() or not _asks_for_start(problem) or not _reversible(problem):
        return False
    try:
        manifest = TableStore(store).read()
    except NotAStoreError:
        return False
    return manifest.complete and manifest.fingerprint == problem.puzzle.fingerprint


def _asks_for_start(problem: Problem) -> bool:
    return np.array_equal(problem.goals, Problem.of(problem.puzzle, problem.position).goals)


def _reversible(problem: Problem) -> bool:
    return bool((problem.steps.undo >= 0).all())
