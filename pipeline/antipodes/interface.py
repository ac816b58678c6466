"""What `antipodes.run`, `antipodes.solve` and `antipodes.tile` do.

They take what a person has at hand, a name, a file or an object, and call the function behind the
command of the same name.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from antipodes.config import PuzzleLike, as_config
from antipodes.events import Listener, silence
from antipodes.progress.show import in_notebook, show_progress
from antipodes.puzzles.pattern import goals_in
from antipodes.puzzles.puzzle import Puzzle
from antipodes.report_page import report as report_page
from antipodes.report_page import results
from antipodes.runs.interruption import Interruption
from antipodes.runs.options import RunOptions, chosen_store, memory_size
from antipodes.storage.address import Address
from antipodes.stores import as_address
from antipodes.tables import counts, patterns
from antipodes.tables import solve as solving
from antipodes.tables import table as tables
from antipodes.tables import verify as verification
from antipodes.tables.counts import Counts
from antipodes.tables.pattern_stores import pattern_stores
from antipodes.tables.report import RunReport
from antipodes.tables.run import run_puzzle
from antipodes.tables.solve import TABLE
from antipodes.tables.table import CACHE_BYTES, Table
from antipodes.tables.verify import TableVerdict
from antipodes.tilings import table as tilings
from antipodes.tilings import verify as tiling_verification
from antipodes.tilings.config import BoardConfig, load_board
from antipodes.tilings.run import TilingReport, tile_board
from antipodes.tilings.table import Tilings
from antipodes.tilings.verify import TilingVerdict
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.answer import LISTED, Answer
from antipodes_tasks.searches.patterns import Patterns
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.progress import Listener as SearchListener
from antipodes_tasks.searches.progress import silence as search_silence
from antipodes_tasks.symmetries.finding import Symmetries, symmetries_of

if TYPE_CHECKING:
    from distributed import Client

    from antipodes.executors.api import Scheduler

__version__ = version("antipodes")
BoardLike = BoardConfig | str | os.PathLike[str]
"""The config of a board, the name of a bundled one, or the path of its file."""


def run(
    puzzle: PuzzleLike,
    store: Address | None = None,
    *,
    workers: int | None = None,
    scheduler: "str | Client | Scheduler | None" = None,
    checkpoint_every: float | None = None,
    memory_limit: int | str | None = None,
    counts_only: bool | None = None,
    symmetry: str | None = None,
    overwrite: bool | None = None,
    progress: bool | Listener | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> RunReport:
    """Compute the table of a puzzle, or resume it; a finished one is only reported.

    Options that are None are those of the puzzle's file, else the program's. Ctrl-C, and the interruption of a
    notebook's kernel, finish and commit what is under way, and raise KeyboardInterrupt, whose message says how much is
    kept; a second one stops immediately.

    Parameters
    ----------
    puzzle
        The name of a bundled puzzle, the path of a file, ``path.py:name``, a Puzzle or a Config.
    store
        The path or URL of the table; None: ``outputs/NAME.zarr``, as on the command line.
    workers
        Number of parallel tasks; None: the number of processors.
    scheduler
        "threads" (the default), "local" (processes), the address of a dask scheduler, or a dask client, left open.
    checkpoint_every
        Seconds between two commits at least; 0: every layer.
    memory_limit
        Bytes, or a text such as "2GiB".
    counts_only
        Whether to keep the layers and the first antipodes alone, and make no table.
    symmetry
        "on" keeps one of the positions that symmetries of the puzzle map to each other, "auto", the default, does where
        that takes half the time or less; the answers stay the same. "off": the table's array has all positions.
    overwrite
        Whether to replace an existing store.
    progress
        True: show the progress: a bar in a notebook, a live line on a terminal, else a line on stderr for each layer.
        None: only in a notebook. A function is called with each event of `antipodes.events` instead.
    interrupted
        Asked before each layer whether to commit and stop.

    Raises
    ------
    InputError
        An argument is none of these.
    AntipodesError
        The run fails; what was committed stays. See `antipodes.tables.run.run_puzzle`.
    """
    config = as_config(puzzle)
    name, client = _scheduler(scheduler)
    options = RunOptions.of(
        config.run,
        workers=workers,
        scheduler=name,
        checkpoint_every=checkpoint_every,
        memory_limit=memory_limit,
        counts_only=counts_only,
        symmetry=symmetry,
        overwrite=overwrite,
    )
    address = chosen_store(store, config.run, config.puzzle.name, options.counts_only)
    with Interruption(interrupted) as interruption:
        with _shown(progress) as listener:
            report = run_puzzle(config, address, options, listener, interruption.requested, client)
        interruption.check(report.complete, report.saved, report.store, options.overwrite)
    return report


def load_patterns(
    puzzle: PuzzleLike, tables: Sequence[Address] | None = None, goal: str | ArrayLike | None = None
) -> Patterns:
    """The heuristic of some tables of patterns, for `solve`, `solve_many` and searches of your own.

    ``heuristic.estimates(labels)`` are the lower bounds ``(n,)`` of positions ``(n, places)``. The values of all tables
    are in memory.

    Parameters
    ----------
    puzzle
        As for `run`.
    tables
        The stores of patterns: of puzzles with `free` tiles and the board of the puzzle, or with equal pieces, without
        orientations or parts. None: the finished ones of the patterns that the puzzle's config names; `antipodes solve
        PUZZLE --build` makes those of bundled puzzles.
    goal
        The goal of all tables; None: the puzzle's start.

    Raises
    ------
    InputError
        A table is that of another board or goal, or an argument is none of these.
    NotAStoreError, UnfinishedError, StoreDamagedError
        There is no table, or it is unfinished or damaged.
    """
    config = as_config(puzzle)
    found = config.puzzle
    if tables is None:
        tables = [pattern.store for pattern in pattern_stores(config) if pattern.finished]
    if isinstance(tables, str) or not isinstance(tables, Sequence):
        raise InputError(f"expected a list of tables, found {arguments.found(tables)}")
    stores = [as_address(store, "the address of a table") for store in tables]
    return patterns.load_patterns(found.rules, None if goal is None else _goals(found, goal), stores)


def solve_many(
    puzzle: PuzzleLike,
    positions: Sequence[str] | ArrayLike,
    goal: str | ArrayLike | None = None,
    *,
    method: str | None = None,
    threads: int | None = None,
    heuristic: str | Patterns | None = None,
    max_depth: int | None = None,
    max_seconds: float | None = None,
) -> Iterator[Answer]:
    """One shortest path from each of many positions, in their order, on several threads; see `solve`.

    ``threads`` are by default as many as processors; ``max_seconds`` is for each position.
    """
    found = as_config(puzzle).puzzle
    goals = None if goal is None else _goals(found, goal)
    problems = (Problem.of(found.rules, labels, goals) for labels in found.positions(positions))
    options: dict[str, Any] = {} if heuristic is None else {"heuristic": heuristic}
    method = _guided(method, heuristic)
    options |= {"max_depth": max_depth, "max_seconds": max_seconds}
    return (one.answer for one in solving.solve_many(problems, method, threads=threads, **options))


def solve(
    puzzle: PuzzleLike,
    position: str | ArrayLike,
    goal: str | ArrayLike | None = None,
    *,
    method: str | None = None,
    table: Table | None = None,
    every: bool = False,
    max_depth: int | None = None,
    max_seconds: float | None = None,
    listed: int = LISTED,
    memory_limit: int | str | None = None,
    heuristic: str | Patterns | None = None,
    listener: SearchListener | None = None,
) -> Answer:
    """One shortest path from a position to a goal, or ``every`` one.

    Parameters
    ----------
    puzzle
        As for `run`.
    position, goal
        A text or labels ``(places,)``; a goal may also be a pattern, or labels ``(goals, places)``. None: the puzzle's
        starts.
    method
        "bfs", "bidirectional", "iddfs" or "ida-star"; None: "ida-star" with a heuristic, else the one that suits the
        problem.
    table
        An open table of the puzzle, which is read instead of searching.
    max_depth
        The greatest number of moves to search; None: any.
    max_seconds
        Seconds after which a search ends without a path; None: never.
    listed
        Paths in the answer, at most; all are counted.
    memory_limit
        Bytes, or a text such as "2GiB"; None: three quarters of the free memory, 1 GiB for "iddfs" and "ida-star".
    heuristic
        "manhattan" or "linear-conflict", for "ida-star", or tables by `load_patterns`; None: the stronger one that
        fits.
    listener
        Told the progress; None: in a notebook a line below the cell shows it.

    Raises
    ------
    InputError
        An argument is none of these, or the method cannot treat the puzzle.
    ResourceLimitError
        The search would exceed the memory limit.
    """
    found = as_config(puzzle).puzzle
    problem = Problem.of(found.rules, _labels(found, position), None if goal is None else _goals(found, goal))
    limit = None if memory_limit is None else memory_size(memory_limit)
    if table is not None:
        if method not in (None, TABLE):
            raise InputError(f"expected a method or a table, found {arguments.found(method)} and a table")
        unfit = {"max_seconds": max_seconds, "heuristic": heuristic}
        if given := [name for name, value in unfit.items() if value is not None]:
            raise InputError(f"expected no {given[0]} beside a table, which is read at once")
        room = {} if limit is None else {"memory_limit": limit}
        return solving.solve_by_table(problem, table, every=every, max_depth=max_depth, listed=listed, **room)
    options: dict[str, Any] = {} if heuristic is None else {"heuristic": heuristic}
    chosen = _guided(method, heuristic) or solving.choose_method(problem).method
    with _search_shown(listener) as told:
        return solving.solve(
            problem,
            chosen,
            every=every,
            max_depth=max_depth,
            max_seconds=max_seconds,
            listed=listed,
            memory_limit=limit,
            listener=told,
            **options,
        )


def symmetries(puzzle: PuzzleLike, goal: str | ArrayLike | None = None) -> Symmetries:
    """The symmetries of a puzzle: maps of positions that take starts to starts, and moves to moves.

    Parameters
    ----------
    puzzle
        As for `run`.
    goal
        A position, labels ``(goals, places)``, or a pattern that the symmetries preserve instead of the starts.

    Raises
    ------
    InputError
        An argument is none of these, or the moves are functions, whose symmetries are not known.
    ResourceLimitError
        The puzzle has too many moves.
    """
    found = as_config(puzzle).puzzle
    if goal is None:
        return symmetries_of(found.rules)
    labels = np.asarray(_goals(found, goal))
    return symmetries_of(found.rules, found.checked(labels.reshape(-1, labels.shape[-1])))


def tile(
    board: BoardLike,
    store: Address | None = None,
    *,
    method: str | None = None,
    workers: int | None = None,
    scheduler: "str | Client | Scheduler | None" = None,
    checkpoint_every: float | None = None,
    overwrite: bool | None = None,
    progress: bool | Listener | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> TilingReport:
    """Find all tilings of a board, or resume the search; a finished store is only reported.

    Parameters
    ----------
    board
        The name of a bundled board, the path of a TOML file, or a BoardConfig.
    store, workers, scheduler, overwrite, progress
        As for `run`.
    method
        "pruning" or "plain"; None: that of the store, and "pruning" for a new one.
    checkpoint_every
        Seconds between two commits at least; 0: every partition.
    interrupted
        Asked before each partition whether to commit and stop.

    Raises
    ------
    InputError
        An argument is none of these.
    AntipodesError
        The search fails; what was committed stays. See `antipodes.tilings.run.tile_board`.
    """
    config = board if isinstance(board, BoardConfig) else load_board(str(arguments.path_or_text(board, "a board")))
    name, client = _scheduler(scheduler)
    options = RunOptions.of(
        config.run, workers=workers, scheduler=name, checkpoint_every=checkpoint_every, overwrite=overwrite
    )
    address = chosen_store(store, config.run, config.problem.name)
    with Interruption(interrupted) as interruption:
        with _shown(progress) as listener:
            report = tile_board(config, address, method, options, listener, interruption.requested, client)
        interruption.check(report.complete, report.saved, report.store, options.overwrite)
    return report


def open_table(address: Address, cache_bytes: int = CACHE_BYTES, puzzle: PuzzleLike | None = None) -> Table:
    """The table at a path or a URL, or of a puzzle that is named, or described by a file, in its default store.

    Parameters
    ----------
    address
        A path or a URL; or, as text, the name of a bundled puzzle, the path of a puzzle's file, or ``path.py:name``.
    cache_bytes
        Bytes of chunks that were read and stay in memory.
    puzzle
        The puzzle of the table, as for `run`. It is needed if it is written in Python and this user has not run or
        checked it here, or if another process made it without a file: a store alone runs no code.

    Raises
    ------
    NotAStoreError, StoreDamagedError
        There is no table there, or it is not what was written.
    SourceError, StoreMismatchError
        The puzzle is needed, or is another one. See `antipodes.tables.table.open_table`.
    """
    return tables.open_table(as_address(address, "the address of a table"), cache_bytes, puzzle)


def verify(
    address: Address,
    scheduler: Any = None,
    seed: int | None = None,
    memory_limit: int | str | None = None,
    progress: bool | Listener | None = None,
    puzzle: PuzzleLike | None = None,
) -> TableVerdict:
    """Check every byte and every distance of the table in a store, finished or not.

    Parameters
    ----------
    address
        As for `open_table`.
    scheduler
        A scheduler such as ``Threads(2)``, or a dask client, left open; None: threads, one a processor.
    seed
        The ``sample_seed`` of an earlier verdict, to repeat its sample; None: another sample each time.
    memory_limit
        Bytes, or a text such as "2GiB"; None: the free memory.
    progress
        As for `run`.
    puzzle
        As for `open_table`; without code that is needed, the bytes are checked and no distance.

    Raises
    ------
    InputError
        An argument is none of these.
    NotAStoreError
        There is no table there.
    ResourceLimitError
        The memory limit is too low. See `antipodes.tables.verify.verify`.
    """
    store = as_address(address, "the address of a table")
    limit = None if memory_limit is None else memory_size(memory_limit)
    with _shown(progress) as listener:
        return verification.verify(store, scheduler, seed, limit, listener, puzzle)


def verify_tilings(address: Address) -> TilingVerdict:
    """Check every byte and every tiling in a store, finished or not, named as for `open_tilings`."""
    return tiling_verification.verify_tilings(as_address(address, "the address of tilings"))


def open_counts(address: Address, puzzle: PuzzleLike | None = None) -> Counts:
    """The layers and antipodes in a store of counts; ``address`` and ``puzzle`` as for `open_table`."""
    return counts.open_counts(as_address(address, "the address of counts"), puzzle)


def open_tilings(address: Address, raw: bool = False) -> Tilings:
    """The tilings in a store, one of each orbit under the board's symmetries; ``raw``: all of them.

    The store is named by a path or a URL; or by the name of its board, or the board's file.
    """
    return tilings.open_tilings(as_address(address, "the address of tilings"), raw)


def report(
    address: Address,
    output: str | os.PathLike[str],
    limit: int = report_page.SHOWN,
    puzzle: PuzzleLike | None = None,
) -> Path:
    """Write a report on a store, finished or not: one HTML page to send or to publish; the path of the file.

    Parameters
    ----------
    address
        A store of any kind, named as for `open_table`.
    output
        The file, whose name ends in .html; an older one is replaced.
    limit
        Antipodes or tilings that are drawn, at most.
    puzzle
        As for `open_table`.

    Raises
    ------
    InputError
        An argument is none of these.
    NotAStoreError, StoreDamagedError
        There is no store there, or it is not what was written.
    SourceError, StoreMismatchError
        The puzzle is needed, or is another one.
    StoreError
        The file cannot be written.
    """
    store, path = as_address(address, "the address of a store"), Path(arguments.path_or_text(output, "a file"))
    report_page.write_report(store, path, arguments.integer(limit, "a limit", 1), puzzle)
    return path


def export(
    address: Address,
    folder: str | os.PathLike[str],
    limit: int = results.LISTED,
    puzzle: PuzzleLike | None = None,
    *,
    unique: bool = False,
) -> list[Path]:
    """Write the results in a finished store as JSON and CSV, to publish; the paths of the files.

    Parameters
    ----------
    address
        A store of any kind, named as for `open_table`.
    folder
        The folder of the files, made if it is not there; older files are replaced.
    limit
        Antipodes or tilings that are listed, at most.
    puzzle
        As for `open_table`.
    unique
        Whether to count the positions of a table up to symmetry, too, and to list one antipode of each class.

    Raises
    ------
    InputError
        An argument is none of these; or the symmetries that ``unique`` needs are not known, or counts do not keep all
        antipodes.
    UnfinishedError
        The store is unfinished.
    NotAStoreError, StoreDamagedError
        There is no store there, or it is not what was written.
    SourceError, StoreMismatchError
        The puzzle is needed, or is another one.
    StoreError
        A file cannot be written.
    """
    store, path = as_address(address, "the address of a store"), Path(arguments.path_or_text(folder, "a folder"))
    most, classes = arguments.integer(limit, "a limit", 1), arguments.flag(unique, "unique")
    written = results.write_results(store, path, most, puzzle, classes)
    return [path / name for name in written]


@contextmanager
def _shown(progress: bool | Listener | None) -> Iterator[Listener]:
    """The listener that shows the progress, until the block ends, or a function of the caller's own."""
    if callable(progress):
        yield progress
    elif in_notebook() if progress is None else arguments.flag(progress, "progress (or a function)"):
        with show_progress(quiet=False) as listener:
            yield listener
    else:
        yield silence


@contextmanager
def _search_shown(listener: SearchListener | None) -> Iterator[SearchListener]:
    """The listener, or what shows the progress of a search in a notebook until the block ends, or nothing."""
    if listener is None and in_notebook():
        from antipodes.progress.notebook import notebook_search

        with notebook_search() as shown:
            yield shown
    else:
        yield search_silence if listener is None else listener


def _scheduler(given: "str | Client | Scheduler | None") -> tuple[str | None, Any]:
    """The name of a scheduler, or the scheduler itself."""
    return (given, None) if given is None or isinstance(given, str) else (None, given)


def _labels(puzzle: Puzzle, position: str | ArrayLike) -> Labels | ArrayLike:
    """A text as labels; what is none is checked by the problem."""
    return puzzle.parse(position) if isinstance(position, str) else position


def _guided(method: str | None, heuristic: str | Patterns | None) -> str | None:
    """The method that is asked for: a heuristic without one asks for the method that has one."""
    return solving.IDA_STAR if method is None and heuristic is not None else method


def _goals(puzzle: Puzzle, goal: str | ArrayLike) -> Labels | ArrayLike:
    """As `_labels`, of a pattern all positions that match."""
    return goals_in(puzzle, goal) if isinstance(goal, str) else goal
