"""Writing of reports on stores of all kinds, and the report on the tilings of a board."""

from pathlib import Path

from antipodes.drawing.boards import Sprites
from antipodes.drawing.markup import Html, definitions, element
from antipodes.puzzles.config import PuzzleLike
from antipodes.report_page.definition import as_toml, recompute
from antipodes.report_page.page import (
    GALLERY_SIDE,
    Page,
    Section,
    check_output,
    code,
    commands,
    figure,
    format_time,
    gallery,
    start,
    write,
)
from antipodes.report_page.searches import search_page
from antipodes.storage.backend import MANIFEST
from antipodes.stores import open_store
from antipodes.system.addresses import Address, in_shell
from antipodes.system.machine import human
from antipodes.tables.counts import open_counts
from antipodes.tables.store.search_stores import CountsStore, TableStore
from antipodes.tables.table import open_table
from antipodes.tilings.drawing import draw_empty
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes.tilings.table import Tilings, open_tilings
from antipodes_tasks.base.errors import StoreChangedError
from antipodes_tasks.base.quoting import counted


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
            _origin(store, manifest),
            _checks(store, manifest),
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


def _origin(store: TilingStore, manifest: TilingManifest) -> Section:
    run = store.storage.lock.holder()
    facts = {
        "method": manifest.method,
        "partitions": f"{manifest.partitions:,}",
        "store": f"{store.address}, {human(store.storage.size())}, format version {store.KIND.version}",
        "last commit": format_time(store.storage.modified(MANIFEST)),
        **({"running": str(run)} if run and run.alive else {}),
    }
    about = "Exact cover: all ways to place all pieces without overlap. This definition determines all numbers here."
    return Section("How it was computed", about, [code(as_toml("board", manifest.board)), definitions(facts.items())])


def _checks(store: TilingStore, manifest: TilingManifest) -> Section:
    facts = {
        "fingerprint of the board": element("code", manifest.fingerprint),
        f"SHA-256 of {MANIFEST}": element("code", store.manifest_file.current_digest()),
    }
    about = "If you have the store, you can verify it. If not, you can recompute it and compare the numbers."
    lines = ["# verifies every byte and every tiling", f"antipodes verify {in_shell(store.address)}\n"]
    return Section("How to check it", about, [commands(*lines, *recompute(manifest)), definitions(facts.items())])


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
