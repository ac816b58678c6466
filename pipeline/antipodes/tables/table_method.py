"""The method ``table``: shortest paths to the start, read from a finished table."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from antipodes.storage.address import Address
from antipodes_tasks import arguments
from antipodes_tasks.errors import InconsistentDistancesError, InputError, NotAStoreError, StoreDamagedError
from antipodes_tasks.reachability.position_set import Numbers, Words
from antipodes_tasks.searches.answer import LISTED, Answer, Outcome, unsolved
from antipodes_tasks.searches.breadth_first import MEMORY_LIMIT
from antipodes_tasks.searches.problem import A_PROBLEM, Problem, Request
from antipodes_tasks.searches.shortest_paths import ShortestPaths, shortest_paths, solved

if TYPE_CHECKING:
    from antipodes.tables.table import Table

TABLE = "table"
"""The name of the method."""


def solve_by_table(
    problem: Problem,
    table: "Table",
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = LISTED,
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
    from antipodes.tables.store.table_store import TableStore

    path = Path(address)
    if not path.is_dir() or not _asks_for_start(problem) or not _reversible(problem):
        return False
    try:
        manifest = TableStore(path).read()
    except NotAStoreError:
        return False
    return manifest.complete and manifest.fingerprint == problem.puzzle.fingerprint


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
    if table.puzzle.fingerprint != problem.puzzle.fingerprint:
        raise InputError(f"expected the table of {problem.puzzle.name}, found that of {table.puzzle.name}")
    if not _asks_for_start(problem):
        depth_zero = problem.puzzle.depth_zero
        raise InputError(f"the table method leads to the {depth_zero} of the puzzle alone; choose bfs or iddfs")
    if not _reversible(problem):
        raise InputError("the table method needs reversible moves; choose bfs or iddfs")


def _asks_for_start(problem: Problem) -> bool:
    return np.array_equal(problem.goals, Problem.of(problem.puzzle, problem.position).goals)


def _reversible(problem: Problem) -> bool:
    return problem.puzzle.moves.reversible
