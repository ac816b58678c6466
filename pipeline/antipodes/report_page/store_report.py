"""Writing of reports on stores of all kinds, and the report on the tilings of a board."""

from pathlib import Path
from typing import cast

from antipodes.drawing.boards import Sprites
from antipodes.drawing.markup import Html
from antipodes.puzzles.config import PuzzleLike
from antipodes.report_page.page import (
    GALLERY_SIDE,
    Page,
    Section,
    check_output,
    figure,
    gallery,
    start,
    write,
)
from antipodes.report_page.provenance import checks, origin
from antipodes.report_page.search_report import search_page
from antipodes.stores import open_search, open_store
from antipodes.system.addresses import Address, in_shell
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.store.search_stores import CountsStore, SearchStore, TableStore, read_given
from antipodes.tilings.drawing import draw_empty
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes.tilings.table import Tilings, open_tilings
from antipodes_tasks.base.errors import StoreChangedError
from antipodes_tasks.base.quoting import counted

HOW_COMPUTED = "Exact cover: all ways to place all pieces without overlap. This definition determines all numbers here."


def tilings_page(store: TilingStore, manifest: TilingManifest, tilings: Tilings, limit: int, sprites: Sprites) -> Page:
    """Return the report on tilings, with at most ``limit`` of them drawn."""
    problem, so_far = tilings.problem, "" if tilings.complete else " so far"
    return Page(
        kind="Tilings",
        name=problem.name,
        description=problem.description,
        state=_state(store, manifest),
        picture=_first(tilings, sprites),
        facts=[
            (f"{manifest.tilings:,}", f"tilings up to symmetry{so_far}"),
            (f"{manifest.raw_tilings:,}", f"tilings in all{so_far}"),
            (f"{problem.copies:,}", "pieces"),
            (f"{problem.board.size:,}", "cells"),
            (f"{manifest.placements:,}", f"placements tried{so_far}"),
        ],
        sections=[
            *([_gallery(tilings, limit, sprites)] if manifest.tilings else ()),
            origin(
                store,
                "board",
                manifest.board,
                {"method": manifest.method, "partitions": f"{manifest.partitions:,}"},
                HOW_COMPUTED,
            ),
            checks(store, manifest, "board", "every tiling"),
        ],
    )


def _first(tilings: Tilings, sprites: Sprites) -> Html:
    """Return the first tiling, or the board if there are no tilings."""
    for number, one in tilings.spread(1).items():
        return start(sprites, one.picture(), f"tiling {number + 1:,} of {len(tilings):,}")
    problem = tilings.problem
    return start(sprites, draw_empty(problem), f"the board, {counted(problem.board.size, 'cell')}")


def _state(store: TilingStore, manifest: TilingManifest) -> str | None:
    if manifest.complete:
        return None
    done = f"{len(manifest.searched):,} of {manifest.partitions:,} partitions have been searched"
    return f"Unfinished: {done}. Resume with: antipodes resume {in_shell(store.address)}"


def _gallery(tilings: Tilings, limit: int, sprites: Sprites) -> Section:
    shown = tilings.spread(limit)
    figures = (
        figure(sprites.board(one.picture(), GALLERY_SIDE, one.draw("letters")), f"{number + 1:,}")
        for number, one in shown.items()
    )
    some = "" if len(shown) == len(tilings) else f", {len(shown):,} of them drawn"
    about = f"{counted(len(tilings), 'tiling')}{some}; rotated and reflected copies are omitted."
    return Section("The tilings", about, [gallery(figures)])


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
        page = _page(store, limit, puzzle, sprites)
        if not store.manifest_file.has_changed():
            write(output, page, sprites)
            return
    raise StoreChangedError(f"{store.address} was changed by a run while it was being read; try again")


def _page(
    store: TableStore | CountsStore | TilingStore,
    limit: int,
    puzzle: PuzzleLike | None,
    sprites: Sprites,
) -> Page:
    """Return the report on a store after reading its manifest."""
    if isinstance(store, TilingStore):
        board = store.read()
        with open_tilings(store.address) as tilings:
            return tilings_page(store, board, tilings, limit, sprites)
    manifest = read_given(cast(SearchStore[SearchManifest], store), puzzle)
    with open_search(store, puzzle) as found:
        return search_page(store, manifest, found, limit, sprites)
