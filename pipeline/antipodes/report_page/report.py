"""Writing the report on a store, of whatever kind."""

from pathlib import Path

from antipodes.config import PuzzleLike
from antipodes.display.boards import Sprites
from antipodes.report_page.page import Page, check_output, write
from antipodes.report_page.searches import search_page
from antipodes.report_page.tilings import tilings_page
from antipodes.storage.address import Address
from antipodes.stores import open_store
from antipodes.tables.counts import open_counts
from antipodes.tables.store.stores import CountsStore
from antipodes.tables.table import open_table
from antipodes.tilings.store import TilingStore
from antipodes.tilings.table import open_tilings

SHOWN = 12
"""Antipodes or tilings that are drawn unless a limit is given."""


def write_report(address: Address, output: Path, limit: int = SHOWN, puzzle: PuzzleLike | None = None) -> None:
    """Write the report on the store at an address, finished or not, in place of an older file.

    Raises
    ------
    InputError
        The name of the file does not end in .html.
    NotAStoreError, StoreDamagedError, SourceError, StoreMismatchError
        As `antipodes.open_table`.
    StoreError
        The file cannot be written.
    """
    check_output(output)
    sprites = Sprites()
    write(output, _page(address, limit, puzzle, sprites), sprites)


def _page(address: Address, limit: int, puzzle: PuzzleLike | None, sprites: Sprites) -> Page:
    store = open_store(address)
    if isinstance(store, TilingStore):
        with open_tilings(address) as tilings:
            return tilings_page(store, store.read(), tilings, limit, sprites)
    with (
        open_counts(address, puzzle) if isinstance(store, CountsStore) else open_table(address, puzzle=puzzle) as found
    ):
        return search_page(store, store.read(), found, limit, sprites)
