"""The functions that compute and verify stores, such as `antipodes.run` and `antipodes.verify`, with progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, Unpack

from antipodes.executors.api import never_stop
from antipodes.progress.show import in_notebook, show_progress
from antipodes.puzzles.config import PuzzleLike, as_config
from antipodes.runs.interruption import Interruption
from antipodes.stores import as_address, as_named
from antipodes.system.addresses import Address
from antipodes.system.events import Listener, silence
from antipodes.system.options import RunOptions, TableArguments, TilingArguments, chosen_store, memory_size
from antipodes.tables import verify as table_verification
from antipodes.tables.json_results import RunReport
from antipodes.tables.run import run_puzzle
from antipodes.tables.verify import TableVerdict
from antipodes.tilings import tiling_search
from antipodes.tilings import verify as tiling_verification
from antipodes.tilings.board_config import BoardConfig, load_board
from antipodes.tilings.run import TilingReport, tile_board
from antipodes.tilings.tiling_search import TilingCount
from antipodes.tilings.verify import TilingVerdict
from antipodes_tasks.base import arguments

if TYPE_CHECKING:
    from distributed import Client

    from antipodes.executors.api import Scheduler

BoardLike = BoardConfig | str | os.PathLike[str]
"""The config of a board, the name of a bundled board, or the path of a board's file."""
Progress = bool | Listener
"""Whether to show progress, or a function that is called with each event of `antipodes.system.events`."""
TilingMethod = Literal["pruning", "plain"]
"""The name of a method of `tile` and `count_tilings`."""
SchedulerLike = Union[str, "Client", "Scheduler"]
"""A scheduler, a dask client, or a name: "threads", "local" or the address of a dask scheduler."""

Function = TypeVar("Function", bound=Callable[..., Any])


def takes_run_options(arguments: type, after: str) -> Callable[[Function], Function]:
    """Return a decorator for a function that takes run options as ``**options``.

    In its signature, the keys of the TypedDict ``arguments`` are keyword arguments with the default None, which follow
    the parameter ``after``. A call with any other argument raises TypeError.
    """
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in arguments.__annotations__.items()
    ]

    def decorate(function: Function) -> Function:
        own = signature(function)
        names = [name for name in own.parameters if name != "options"]
        place = names.index(after) + 1
        parameters = [own.parameters[name] for name in names]
        shown = own.replace(parameters=[*parameters[:place], *options, *parameters[place:]])

        @wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            try:
                shown.bind(*given, **named)
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(*given, **named)

        vars(called)["__signature__"] = shown
        return called  # type: ignore[return-value]

    return decorate


@takes_run_options(TableArguments, after="scheduler")
def run(
    puzzle: PuzzleLike,
    store: Address | None = None,
    *,
    workers: int | None = None,
    scheduler: SchedulerLike | None = None,
    progress: Progress | None = None,
    interrupted: Callable[[], bool] = never_stop,
    **options: Unpack[TableArguments],
) -> RunReport:
    """Compute the table of a puzzle, or resume an unfinished one; a finished table is only reported.

    An option that is None is taken from the puzzle's file, or else has the program's default. After Ctrl-C, or if a
    notebook's kernel is interrupted, the run finishes and commits the current layer and raises KeyboardInterrupt, whose
    message states how much is saved. A second Ctrl-C stops immediately.

    Parameters
    ----------
    puzzle
        The name of a bundled puzzle, the path of a file, ``path.py:name``, a Puzzle or a Config.
    store
        Path or URL of the table; None means ``outputs/NAME.zarr``, as on the command line.
    workers
        Number of parallel tasks; None means the number of processors.
    scheduler
        "threads" (the default), "local" (processes), the address of a dask scheduler, or a dask client, which is not
        closed.
    scheduler_timeout
        Seconds to wait for the dask scheduler to answer; None means 60.
    checkpoint_every
        Minimum number of seconds between commits; 0 commits each layer.
    memory_limit
        Limit in bytes, or a string such as "2GiB".
    spill
        Directory for the layers of a search whose bits do not fit into memory; None means the store itself. Only with
        threads.
    counts_only
        Whether to keep only the sizes of the layers and the first antipodes, and to store no table.
    unique
        With ``counts_only``, whether to also count the positions of each layer up to symmetry.
    symmetry
        "on" stores one position per symmetry class, "off" stores all positions, and "auto" (the default) stores one per
        class if that at least halves the time or, for a very large table, the memory. The answers are the same.
    overwrite
        Whether to replace an existing store.
    progress
        True shows progress: a bar in a notebook, a live line on a terminal, otherwise a line on stderr for each layer.
        None shows it only in a notebook. A function is called with each event of `antipodes.system.events` instead.
    interrupted
        Function that is called before each layer; the run commits and stops if it returns True.

    Raises
    ------
    InputError
        An argument is invalid.
    AntipodesError
        The run fails; committed layers are kept. See `antipodes.tables.run.run_puzzle`.
    """
    config = as_config(puzzle)
    chosen, client = _run_options(config.run, workers, scheduler, options)
    address = chosen_store(store, config.run, config.puzzle.name, chosen.counts_only)
    with Interruption(interrupted) as interruption:
        with _shown(progress) as listener:
            report = run_puzzle(config, address, chosen, listener, interruption.requested, client)
        # The progress line has been closed by now, so the message of KeyboardInterrupt is printed below it.
        interruption.check(report.complete, report.saved, report.store, chosen.overwrite)
    return report


@takes_run_options(TilingArguments, after="scheduler")
def tile(
    board: BoardLike,
    store: Address | None = None,
    *,
    method: TilingMethod | None = None,
    workers: int | None = None,
    scheduler: SchedulerLike | None = None,
    progress: Progress | None = None,
    interrupted: Callable[[], bool] = never_stop,
    **options: Unpack[TilingArguments],
) -> TilingReport:
    """Find all tilings of a board, or resume the search; a finished store is only reported.

    Parameters
    ----------
    board
        The name of a bundled board, the path of a TOML file, or a BoardConfig.
    store, workers, scheduler, scheduler_timeout, overwrite, progress
        As for `run`.
    method
        "pruning" or "plain"; None means the method of an existing store, or "pruning" for a new one.
    checkpoint_every
        Minimum number of seconds between commits; 0 commits each partition.
    interrupted
        Function that is called before each partition; the search commits and stops if it returns True.

    Raises
    ------
    InputError
        An argument is invalid.
    AntipodesError
        The search fails; committed partitions are kept. See `antipodes.tilings.run.tile_board`.
    """
    config = _board(board)
    chosen, client = _run_options(config.run, workers, scheduler, options)
    address = chosen_store(store, config.run, config.problem.name)
    with Interruption(interrupted) as interruption:
        with _shown(progress) as listener:
            report = tile_board(config, address, method, chosen, listener, interruption.requested, client)
        # The progress line has been closed by now; see `run`.
        interruption.check(report.complete, report.saved, report.store, chosen.overwrite)
    return report


def count_tilings(
    board: BoardLike,
    method: TilingMethod | None = None,
    *,
    workers: int | None = None,
    scheduler: SchedulerLike | None = None,
    progress: Progress | None = None,
    interrupted: Callable[[], bool] = never_stop,
) -> TilingCount:
    """Count the tilings of a board, which may be too many to store.

    Nothing is stored, and at most one batch of tilings is in memory. A count that is interrupted starts over.

    Parameters
    ----------
    board, method
        As for `tile`.
    workers, scheduler, progress
        As for `run`.
    interrupted
        Function that is called before each partition; the count stops if it returns True.

    Raises
    ------
    InputError
        An argument is invalid.
    ResourceLimitError
        The search would need more memory than is free.
    InterruptedRunError
        The count was asked to stop; the message states how many partitions were counted.
    """
    config = _board(board)
    options, client = _run_options(config.run, workers, scheduler, {})
    with _shown(progress) as listener:
        return tiling_search.count_tilings(config, method, options, listener, interrupted, client)


def _board(board: BoardLike) -> BoardConfig:
    """Return the config of a board in any form."""
    return board if isinstance(board, BoardConfig) else load_board(str(arguments.path_or_text(board, "a board")))


def verify(
    address: Address,
    scheduler: Any = None,
    seed: int | None = None,
    memory_limit: int | str | None = None,
    progress: Progress | None = None,
    puzzle: PuzzleLike | None = None,
) -> TableVerdict:
    """Verify every byte and every distance of a table, finished or not.

    Parameters
    ----------
    address
        As for `open_table`.
    scheduler
        A scheduler such as ``Threads(2)``, or a dask client, which stays open; None means one thread per processor.
    seed
        The ``sample_seed`` of an earlier verdict, to repeat its sample; None draws a new sample.
    memory_limit
        Limit in bytes, or a string such as "2GiB"; None means the free memory.
    progress
        As for `run`.
    puzzle
        As for `open_table`. If the puzzle's code is required but missing, only the bytes are verified.

    Raises
    ------
    InputError
        An argument is invalid.
    NotAStoreError
        There is no table at the address.
    ResourceLimitError
        The memory limit is too low. See `antipodes.tables.verify.verify`.
    """
    named = as_named(address, "the address of a table", puzzle)
    limit = None if memory_limit is None else memory_size(memory_limit)
    with _shown(progress) as listener:
        return table_verification.verify(named.address, scheduler, seed, limit, listener, named.puzzle)


def verify_tilings(address: Address) -> TilingVerdict:
    """Verify every byte and every tiling in a store, finished or not; ``address`` as for `open_tilings`."""
    return tiling_verification.verify_tilings(as_address(address, "the address of tilings"))


@contextmanager
def _shown(progress: Progress | None) -> Iterator[Listener]:
    """Yield a listener that shows the progress in the block, or the caller's own function."""
    if callable(progress):
        yield progress
    elif in_notebook() if progress is None else arguments.flag(progress, "progress (or a function)"):
        with show_progress(quiet=False) as listener:
            yield listener
    else:
        yield silence


def _run_options(
    defaults: Mapping[str, Any], workers: int | None, scheduler: SchedulerLike | None, others: Mapping[str, Any]
) -> tuple[RunOptions, Any]:
    """Return the options of a run, and its scheduler if it is an object and not a name."""
    is_name = scheduler is None or isinstance(scheduler, str)
    given = {"workers": workers, "scheduler": scheduler if is_name else None, **others}
    return RunOptions.of(defaults, given), None if is_name else scheduler
