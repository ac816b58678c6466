"""Writing of reports on stores of all kinds."""

from pathlib import Path

from antipodes.drawing.boards import Sprites
from antipodes.puzzles.config import PuzzleLike
from antipodes.report_page.page import Page, check_output, write
from antipodes.report_page.searches import search_page
from antipodes.report_page.tilings import tilings_page
from antipodes.stores import open_store
from antipodes.system.addresses import Address
from antipodes.tables.counts import open_counts
from antipodes.tables.store.search_stores import CountsStore, TableStore
from antipodes.tables.table import open_table
from antipodes.tilings.store import TilingStore
from antipodes.tilings.table import open_tilings
from antipodes_tasks.base.errors import StoreChangedError

ATTEMPTS = 3
"""Maximum number of attempts to read a store that a run is changing: all of a page must come from one commit."""
DEFAULT_TILINGS = 12
"""Maximum number of antipodes or tilings that are drawn by default."""


def write_report(
    address: Address, output: Path, limit: int = DEFAULT_TILINGS, puzzle: PuzzleLike | None = None
) -> None:
    """Write the report on the store at an address, finished or not, replacing an existing file.

    Raises
    ------
    InputError
        The file name does not end in .html.
    NotAStoreError, StoreDamagedError, SourceError, StoreMismatchError
        See `antipodes.open_table`.
    StoreError
        The file cannot be written, or a run kept changing the store.
    """
    check_output(output)
    for _ in range(ATTEMPTS):
        store, sprites = open_store(address), Sprites()
        page = _page(store, address, limit, puzzle, sprites)
        if not store.manifest_file.has_changed():
            write(output, page, sprites)
            return
    raise StoreChangedError(f"{store.address} was changed by a run while it was being read; try again")


def _page(
    store: TableStore | CountsStore | TilingStore,
    address: Address,
    limit: int,
    puzzle: PuzzleLike | None,
    sprites: Sprites,
) -> Page:
    """Return the report on a store after reading its manifest."""
    if isinstance(store, TilingStore):
        board = store.read()
        with open_tilings(address) as tilings:
            return tilings_page(store, board, tilings, limit, sprites)
    manifest, counts_only = store.read(), isinstance(store, CountsStore)
    with open_counts(address, puzzle) if counts_only else open_table(address, puzzle=puzzle) as found:
        return search_page(store, manifest, found, limit, sprites)
