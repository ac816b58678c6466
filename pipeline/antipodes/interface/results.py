"""What `antipodes.open_table`, `antipodes.report` and their relatives do: stores are opened, read and published."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from antipodes.config import PuzzleLike
from antipodes.report_page import results
from antipodes.report_page import store_report as report_page
from antipodes.storage.address import Address
from antipodes.stores import as_address
from antipodes.tables import counts
from antipodes.tables import table as tables
from antipodes.tables.counts import Counts
from antipodes.tables.table import CACHE_BYTES, Table
from antipodes.tilings import table as tilings
from antipodes.tilings.table import Tilings
from antipodes_tasks import arguments

if TYPE_CHECKING:
    pass


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
    limit: int = report_page.DEFAULT_TILINGS,
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
    limit: int = results.DEFAULT_LIMIT,
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
