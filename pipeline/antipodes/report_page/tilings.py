"""The report on the tilings of a board."""

from antipodes.drawing.boards import Sprites
from antipodes.drawing.markup import Html, definitions, element
from antipodes.report_page.definition import as_toml, recompute
from antipodes.report_page.page import GALLERY_SIDE, Page, Section, code, commands, figure, format_time, gallery, start
from antipodes.storage.backend import MANIFEST
from antipodes.system.addresses import in_shell
from antipodes.system.machine import human
from antipodes.tilings.drawing import draw_empty
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes.tilings.table import Tilings
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
