"""The functions that open, read and publish stores, such as `antipodes.open_table` and `antipodes.report`."""

from __future__ import annotations

import os
from pathlib import Path

from antipodes.puzzles.config import PuzzleLike
from antipodes.report_page import result_files
from antipodes.report_page import store_report as report_page
from antipodes.report_page.evaluation_report import write_evaluation
from antipodes.stores import as_address, as_named
from antipodes.system.addresses import Address
from antipodes.tables import counts
from antipodes.tables import table as tables
from antipodes.tables.counts import Counts
from antipodes.tables.evaluation import Evaluation
from antipodes.tables.table import CACHE_BYTES, Table
from antipodes.tilings import table as tilings
from antipodes.tilings.table import Tilings
from antipodes_tasks.base import arguments


def open_table(address: Address, cache_bytes: int = CACHE_BYTES, puzzle: PuzzleLike | None = None) -> Table:
    """Open the table at an address, or in the default store of a puzzle.

    Parameters
    ----------
    address
        A path or a URL; or a string: the name of a bundled puzzle, the path of a puzzle's file, or ``path.py:name``.
    cache_bytes
        Size in bytes of the cache of chunks.
    puzzle
        The puzzle of the table, as for `run`. Because a store never runs code by itself, it is required if the puzzle
        is written in Python and you have not run or checked it on this machine, or if another process defined it
        without a file.

    Raises
    ------
    NotAStoreError, StoreDamagedError
        There is no table at the address, or it is corrupt.
    SourceError, StoreMismatchError
        The puzzle is required but missing, or it is a different puzzle. See `antipodes.tables.table.open_table`.
    """
    named = as_named(address, "the address of a table", puzzle)
    return tables.open_table(named.address, cache_bytes, named.puzzle)


def open_counts(address: Address, puzzle: PuzzleLike | None = None) -> Counts:
    """Open the layers and antipodes of a counts-only run; ``address`` and ``puzzle`` as for `open_table`."""
    named = as_named(address, "the address of counts", puzzle)
    return counts.open_counts(named.address, named.puzzle)


def open_tilings(address: Address, raw: bool = False) -> Tilings:
    """Open the tilings in a store: one tiling per orbit under the board's symmetries, or all tilings if ``raw``.

    The address is a path or a URL, the name of the board, or the path of the board's file.
    """
    return tilings.open_tilings(as_address(address, "the address of tilings"), raw)


def report(
    address: Address | Evaluation,
    output: str | os.PathLike[str],
    limit: int = report_page.DEFAULT_TILINGS,
    puzzle: PuzzleLike | None = None,
) -> Path:
    """Write a report on a store, finished or not, or on an evaluation as one HTML page; return the path of the file.

    Parameters
    ----------
    address
        A store of any kind, as for `open_table`; or the result of `Table.evaluate`.
    output
        Path of the page, which must end in .html; an existing file is replaced.
    limit
        Maximum number of antipodes or tilings that are drawn.
    puzzle
        As for `open_table`.

    Raises
    ------
    InputError
        An argument is invalid.
    NotAStoreError, StoreDamagedError
        There is no store at the address, or it is corrupt.
    SourceError, StoreMismatchError
        The puzzle is required but missing, or it is a different puzzle.
    StoreError
        The file cannot be written.
    """
    path = Path(arguments.path_or_text(output, "a file"))
    if isinstance(address, Evaluation):
        write_evaluation(address, path)
    else:
        named = as_named(address, "the address of a store", puzzle)
        report_page.write_report(named.address, path, arguments.integer(limit, "a limit", 1), named.puzzle)
    return path


def export(
    address: Address,
    folder: str | os.PathLike[str],
    limit: int = result_files.DEFAULT_LIMIT,
    puzzle: PuzzleLike | None = None,
    *,
    unique: bool = False,
) -> list[Path]:
    """Write the results in a finished store as JSON and CSV files; return their paths.

    Parameters
    ----------
    address
        A store of any kind, as for `open_table`.
    folder
        Folder to write to, created if it does not exist; existing files are replaced.
    limit
        Maximum number of antipodes or tilings that are listed.
    puzzle
        As for `open_table`.
    unique
        Whether to also count the positions of a table up to symmetry, and to list one antipode per symmetry class.

    Raises
    ------
    InputError
        An argument is invalid. With ``unique``: the symmetries are unknown, or a counts-only store does not contain all
        antipodes.
    UnfinishedError
        The store is unfinished.
    NotAStoreError, StoreDamagedError
        There is no store at the address, or it is corrupt.
    SourceError, StoreMismatchError
        The puzzle is required but missing, or it is a different puzzle.
    StoreError
        A file cannot be written.
    """
    named, path = as_named(address, "the address of a store", puzzle), Path(arguments.path_or_text(folder, "a folder"))
    most, classes = arguments.integer(limit, "a limit", 1), arguments.flag(unique, "unique")
    written = result_files.write_results(named.address, path, most, named.puzzle, classes)
    return [path / name for name in written]
