"""Positions with exact distances and best moves as Parquet files, for data frames, databases and dataset hubs."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from antipodes.bridges.dataset_card import CARD, card
from antipodes.bridges.splits import SPLITS, in_test, symmetries_of_classes
from antipodes.puzzles.board import Board
from antipodes.puzzles.config import PuzzleLike
from antipodes.puzzles.notation import Lists, Notation
from antipodes.puzzles.puzzle import Puzzle
from antipodes.report_page.provenance import as_toml, published
from antipodes.report_page.result_files import DEFINITION
from antipodes.stores import as_named, check_complete, open_store
from antipodes.system.addresses import Address
from antipodes.system.machine import available_workers
from antipodes.system.output_files import new_folder
from antipodes.system.parameters import check_rules, needs
from antipodes.tables.evaluation import in_batches
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import Table, open_table
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import InputError, StoreChangedError, imported
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.parallel import REPORT_AFTER_SECONDS, on_threads, report
from antipodes_tasks.rules.moves import LegalMoves

if TYPE_CHECKING:
    import pyarrow

ROWS_PER_FILE = 1_000_000
"""Default maximum number of rows of a file."""
GROUP_ROWS = 1 << 17
"""Number of rows of a row group, which readers read together."""
JOINS_OF_SYMBOLS = {Notation.join, Lists.join, Board.join}
"""The notations whose texts are the symbols of the places with constant separators, so that columns can be joined."""


def export(
    address: Address,
    folder: str | os.PathLike[str],
    *,
    sample: int | None = None,
    seed: int | None = None,
    rows_per_file: int = ROWS_PER_FILE,
    puzzle: PuzzleLike | None = None,
) -> list[Path]:
    """Write the positions of a finished table as Parquet files with a card for dataset hubs; return the files' paths.

    The files are ``data/train-00000.parquet``, ``data/test-00000.parquet`` and so on, ``definition.toml``, and the card
    ``README.md``, which describes the columns and the splits.

    Parameters
    ----------
    address
        A table, as for `antipodes.open_table`.
    folder
        Folder to create.
    sample
        Number of positions to draw, as in `Table.dataset`, in random order. None: all positions, in the order of the
        entries.
    seed
        A nonnegative integer, to draw the same sample again. None: a random seed, which the card contains.
    rows_per_file
        Maximum number of positions in a file.
    puzzle
        As for `antipodes.open_table`.

    Raises
    ------
    InputError
        An argument is invalid, the folder exists, pyarrow is not installed, or the store is not a table.
    UnfinishedError
        The table is unfinished.
    ResourceLimitError
        The puzzle has too many symmetries to list.
    NotAStoreError, StoreDamagedError, SourceError, StoreMismatchError
        See `antipodes.open_table`.
    StoreError
        A file cannot be written. Nothing remains.
    """
    named = as_named(address, "the address of a table", puzzle)
    target = Path(arguments.path_or_text(folder, "a folder"))
    rows = arguments.integer(rows_per_file, "a number of rows per file", 1)
    drawn = arguments.optional(sample, arguments.integer, option("sample"), 1)
    number = arguments.optional(seed, arguments.integer, "a seed", 0)
    check_rules(needs(("seed",), "sample"), {"sample": drawn, "seed": number}, option)
    imported("pyarrow", option("parquet"), "parquet")
    store = open_store(named.address)
    if not isinstance(store, TableStore):
        raise InputError(f"{store.address} is not a table, so it does not contain the distance of each position")
    check_complete(store.read().complete, store.address)
    with open_table(named.address, puzzle=named.puzzle) as table:
        if drawn is not None and drawn > len(table):
            raise InputError(f"{option('sample')}: the table has only {len(table):,} positions, found {drawn:,}")
        number = int(np.random.SeedSequence().generate_state(1)[0]) if number is None else number
        with new_folder(target) as partial_folder:
            names = _write(table, store, partial_folder, rows, None if drawn is None else (drawn, number))
    return [target / name for name in names]


def _write(
    table: Table, store: TableStore, folder: Path, rows_per_file: int, drawn: tuple[int, int] | None
) -> list[str]:
    """Write all files into the folder, which exists; return their names."""
    manifest = store.read()
    (folder / "data").mkdir()
    splits = _write_splits(table, folder / "data", rows_per_file, drawn)
    (folder / DEFINITION).write_text(
        as_toml("puzzle", published(manifest.puzzle)), encoding="utf-8", errors="backslashreplace"
    )
    text = card(table, store, manifest, {one.split: one.rows for one in splits}, drawn, symmetries_of_classes(table))
    (folder / CARD).write_text(text, encoding="utf-8", errors="backslashreplace")
    if store.manifest_file.has_changed():
        raise StoreChangedError(f"{store.address} was changed by a run while it was being read; try again")
    return [*(f"data/{name}" for one in splits for name in one.names), DEFINITION, CARD]


def _write_splits(table: Table, folder: Path, rows_per_file: int, drawn: tuple[int, int] | None) -> list[_SplitFiles]:
    """Write the rows of all positions, or of those drawn, to the files of their splits, in order."""
    batches = table.batches() if drawn is None else in_batches([table.dataset(*drawn)])
    total = len(table) if drawn is None else drawn[0]
    began = time.monotonic()
    nothing, _ = _rows(table, (table.puzzle.start_labels[:0], np.empty(0, np.int32)))
    splits = [_SplitFiles(folder, split, nothing, rows_per_file) for split in SPLITS]
    for rows, chosen in on_threads(partial(_rows, table), batches, available_workers()):
        for one, mask in zip(splits, (~chosen, chosen), strict=True):
            one.add(rows.filter(mask))
        if time.monotonic() - began >= REPORT_AFTER_SECONDS:
            report("writing positions", 100 * sum(one.rows for one in splits) // total, 100)
    for one in splits:
        one.close()
    return splits


class _SplitFiles:
    """The files of a split, which are filled one after another. A split without positions has an empty file."""

    def __init__(self, folder: Path, split: str, nothing: pyarrow.Table, rows_per_file: int) -> None:
        self.split, self.rows, self.names = split, 0, list[str]()
        self._folder, self._rows_per_file = folder, rows_per_file
        self._waiting, self._writer, self._open_file = nothing, None, ExitStack()  # type: Any, Any, ExitStack

    def add(self, rows: pyarrow.Table) -> None:
        """Append rows; those that do not fill a row group yet wait in memory."""
        import pyarrow

        self.rows += rows.num_rows
        self._waiting = pyarrow.concat_tables([self._waiting, rows])
        while len(self._waiting) >= (count := min(GROUP_ROWS, self._rows_per_file - self._in_file)):
            self._append(count)

    @property
    def _in_file(self) -> int:
        """The number of rows in the last file; 0 if it is full."""
        return (self.rows - len(self._waiting)) % self._rows_per_file

    def _append(self, count: int) -> None:
        """Write the first rows that wait as a row group, to a new file if the last one is full."""
        from pyarrow.parquet import ParquetWriter

        if self._in_file == 0:
            self._open_file.close()
            self.names.append(f"{self.split}-{len(self.names):05}.parquet")
            writer = ParquetWriter(self._folder / self.names[-1], self._waiting.schema, compression="zstd")
            self._writer = self._open_file.enter_context(writer)
        self._writer.write_table(self._waiting.slice(0, count))
        self._waiting = self._waiting.slice(count)

    def close(self) -> None:
        """Write the remaining rows."""
        if len(self._waiting) or not self.names:
            self._append(len(self._waiting))
        self._open_file.close()


def _rows(table: Table, batch: tuple[Labels, NDArray[np.int32]]) -> tuple[pyarrow.Table, Mask]:
    """Return the rows of a batch of positions, and a mask ``(n,)`` of the rows of the test split."""
    import pyarrow as pa

    labels, distances = batch
    mask, sizes = in_test(table, labels)
    unknown = pa.nulls(len(labels), pa.list_(pa.string() if table.puzzle.moves.names else pa.int32()))
    columns = {
        "position": _texts(table.puzzle, labels),
        "labels": pa.FixedSizeListArray.from_arrays(pa.array(labels.ravel()), labels.shape[1]),
        "distance": distances,
        "best_moves": _names(table.best_moves(labels)) if table.puzzle.moves.reversible else unknown,
        "index": table.space.unchecked.rank(labels),
        "class_size": sizes.astype(np.int32),
    }
    return pa.table(columns), mask


def _texts(puzzle: Puzzle, labels: Labels) -> Any:
    """Return the text of each position ``(n, places)``, as `Puzzle.format` returns it."""
    import pyarrow.compute

    if type(puzzle.notation).join not in JOINS_OF_SYMBOLS:
        return pyarrow.array(map(puzzle.format, labels), pyarrow.string())
    _, *separators = puzzle.notation.join(["\0"] * puzzle.places).split("\0")
    symbols = [part.symbols for part in puzzle.parts for _ in range(part.places)]
    columns = [
        pyarrow.array([symbol + separator for symbol in known]).take(pyarrow.array(labels[:, place]))
        for place, (known, separator) in enumerate(zip(symbols, separators, strict=True))
    ]
    return pyarrow.compute.binary_join_element_wise(*columns, "")


def _names(best: LegalMoves) -> Any:
    """Return the list of the best moves of each position: their names, or numbers if moves have no names."""
    import pyarrow as pa

    ends = np.cumsum(np.bincount(best.parents, minlength=best.count))
    moves = pa.array(best.names).take(pa.array(best.moves)) if best.names else pa.array(best.moves.astype(np.int32))
    return pa.ListArray.from_arrays(pa.array(np.concatenate(([0], ends)), pa.int32()), moves)
