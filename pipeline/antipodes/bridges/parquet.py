"""Positions with exact distances and best moves as Parquet files, for data frames, databases and dataset hubs."""

from __future__ import annotations

import os
import time
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
from antipodes.report_page.result_files import DEFINITION, check_complete
from antipodes.stores import as_named, open_store
from antipodes.system.addresses import Address
from antipodes.system.machine import available_workers
from antipodes.system.output_files import new_folder, writing
from antipodes.system.parameters import check_rules, needs
from antipodes.tables.evaluation import in_batches
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import Table, open_table
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import InputError, StoreChangedError, missing_package
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
Batch = tuple[Labels, NDArray[np.int32]]


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
    return [target / name for name in write_dataset(named.address, target, drawn, number, rows, named.puzzle)]


def write_dataset(
    address: Address, folder: Path, sample: int | None, seed: int | None, rows_per_file: int, puzzle: PuzzleLike | None
) -> list[str]:
    """Write the files of `export` from checked arguments; return their names in the folder. Raises as `export` does."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise missing_package(option("parquet"), "pyarrow", "parquet") from error
    store = open_store(address)
    if not isinstance(store, TableStore):
        raise InputError(f"{store.address} is not a table, so it does not contain the distance of each position")
    check_complete(store.read(), store)
    with open_table(address, puzzle=puzzle) as table:
        if sample is not None and sample > len(table):
            raise InputError(f"{option('sample')}: the table has only {len(table):,} positions, found {sample:,}")
        number = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        with new_folder(folder) as partial_folder:
            return _write(table, store, partial_folder, rows_per_file, None if sample is None else (sample, number))


def _write(
    table: Table, store: TableStore, folder: Path, rows_per_file: int, drawn: tuple[int, int] | None
) -> list[str]:
    """Write all files into the folder, which exists; return their names."""
    manifest = store.read()
    symmetries = symmetries_of_classes(table)
    definition = as_toml("puzzle", published(manifest.puzzle))
    with writing(folder):
        (folder / "data").mkdir()
        splits = _write_splits(table, folder / "data", rows_per_file, drawn)
        (folder / DEFINITION).write_text(definition, encoding="utf-8", errors="backslashreplace")
        text = card(table, store, manifest, {one.split: one.rows for one in splits}, drawn, symmetries)
        (folder / CARD).write_text(text, encoding="utf-8", errors="backslashreplace")
    if store.manifest_file.has_changed():
        raise StoreChangedError(f"{store.address} was changed by a run while it was being read; try again")
    return [*(f"data/{name}" for one in splits for name in one.names), DEFINITION, CARD]


def _write_splits(table: Table, folder: Path, rows_per_file: int, drawn: tuple[int, int] | None) -> list[_SplitFiles]:
    """Write the rows of all positions, or of those drawn, to the files of their splits, in order."""
    batches = table.batches() if drawn is None else in_batches([table.dataset(*drawn)])
    total = len(table) if drawn is None else drawn[0]
    schema, done, began = _schema(table.puzzle), 0, time.monotonic()
    splits = [_SplitFiles(folder, split, schema, rows_per_file) for split in SPLITS]
    try:
        for rows, in_test in on_threads(partial(_rows, table, schema), batches, available_workers()):
            for one, mask in zip(splits, (~in_test, in_test), strict=True):
                one.add(rows.filter(mask))
            done += len(in_test)
            if time.monotonic() - began >= REPORT_AFTER_SECONDS:
                report("writing positions", 100 * done // total, 100)
    finally:
        for one in splits:
            one.close()
    return splits


class _SplitFiles:
    """The files of a split, which are filled one after another. A split without positions has an empty file."""

    def __init__(self, folder: Path, split: str, schema: pyarrow.Schema, rows_per_file: int) -> None:
        self.split, self.rows, self.names = split, 0, list[str]()
        self._folder, self._schema, self._rows_per_file = folder, schema, rows_per_file
        self._waiting, self._in_file, self._writer = schema.empty_table(), 0, None  # type: Any, int, Any

    def add(self, rows: pyarrow.Table) -> None:
        """Append rows; those that do not fill a row group yet wait in memory."""
        import pyarrow

        self.rows += rows.num_rows
        self._waiting = pyarrow.concat_tables([self._waiting, rows])
        while self._waiting.num_rows >= (count := min(GROUP_ROWS, self._rows_per_file - self._in_file)):
            self._append(count)

    def _append(self, count: int) -> None:
        """Write the first rows that wait as a row group, and close the file if it is full."""
        from pyarrow.parquet import ParquetWriter

        if self._writer is None:
            self.names.append(f"{self.split}-{len(self.names):05}.parquet")
            self._writer = ParquetWriter(self._folder / self.names[-1], self._schema, compression="zstd")
        self._writer.write_table(self._waiting.slice(0, count))
        self._waiting = self._waiting.slice(count)
        self._in_file += count
        if self._in_file == self._rows_per_file:
            self._end_file()

    def _end_file(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._in_file, self._writer = 0, None

    def close(self) -> None:
        """Write the remaining rows."""
        if self._waiting.num_rows or not self.names:
            self._append(self._waiting.num_rows)
        self._end_file()


def _schema(puzzle: Puzzle) -> pyarrow.Schema:
    """Return the names and types of the columns."""
    import pyarrow as pa

    names = pa.string() if puzzle.moves.names else pa.int32()
    return pa.schema(
        {
            "position": pa.string(),
            "labels": pa.list_(pa.uint8(), puzzle.places),
            "distance": pa.int32(),
            "best_moves": pa.list_(names),
            "index": pa.int64(),
            "class_size": pa.int32(),
        }
    )


def _rows(table: Table, schema: pyarrow.Schema, batch: Batch) -> tuple[pyarrow.Table, Mask]:
    """Return the rows of a batch of positions, and a mask ``(n,)`` of the rows of the test split."""
    import pyarrow as pa

    labels, distances = batch
    mask, sizes = in_test(table, labels)
    columns = [
        _texts(table.puzzle, labels),
        pa.FixedSizeListArray.from_arrays(pa.array(labels.ravel()), labels.shape[1]),
        distances,
        _names(table.best_moves(labels), schema) if table.puzzle.moves.reversible else pa.nulls(len(labels)),
        table.space.unchecked.rank(labels),
        sizes.astype(np.int32),
    ]
    arrays = [pa.array(one).cast(field.type) for one, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema), mask


def _texts(puzzle: Puzzle, labels: Labels) -> Any:
    """Return the text of each position ``(n, places)``, as `Puzzle.format` returns it."""
    import pyarrow as pa
    from pyarrow import compute

    if type(puzzle.notation).join not in JOINS_OF_SYMBOLS:
        return pa.array([puzzle.format(one) for one in labels])
    _, *separators = puzzle.notation.join(["\0"] * puzzle.places).split("\0")
    symbols = [part.symbols for part in puzzle.parts for _ in range(part.places)]
    columns = [
        pa.array([symbol + separator for symbol in known]).take(pa.array(labels[:, place]))
        for place, (known, separator) in enumerate(zip(symbols, separators, strict=True))
    ]
    return compute.binary_join_element_wise(*columns, "")


def _names(best: LegalMoves, schema: pyarrow.Schema) -> Any:
    """Return the list of the best moves of each position: their names, or numbers if moves have no names."""
    import pyarrow as pa

    ends = np.cumsum(np.bincount(best.parents, minlength=best.count))
    moves = pa.array(best.names).take(pa.array(best.moves)) if best.names else pa.array(best.moves.astype(np.int32))
    return pa.ListArray.from_arrays(pa.array(np.concatenate(([0], ends)), pa.int32()), moves)
