"""Reports on stores of all kinds: on a table or on counts, and on the tilings of a board.

A report shows the distribution, antipodes and a path, or tilings, and how to recompute everything.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import cast

from antipodes.drawing.boards import Sprites
from antipodes.drawing.charts import distribution
from antipodes.drawing.markup import Html, element, table
from antipodes.puzzles.config import PuzzleLike
from antipodes.report_page.page import (
    GALLERY_SIDE,
    PATH_SIDE,
    Page,
    Section,
    check_output,
    figure,
    gallery,
    start,
    write,
)
from antipodes.report_page.provenance import checks, origin
from antipodes.stores import open_search, open_store
from antipodes.system.addresses import Address, in_shell
from antipodes.tables.counts import Counts
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.store.search_stores import CountsStore, SearchStore, TableStore, read_given
from antipodes.tables.table import Table
from antipodes.tilings.drawing import draw_empty
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes.tilings.table import Tilings, open_tilings
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import StoreChangedError
from antipodes_tasks.base.quoting import counted

ROWS, MAX_COLUMNS = 16, 3
"""Maximum number of rows of a single table of counts, and the maximum number of tables side by side."""
MAX_STEPS = 200
"""Approximate maximum number of boards that are drawn of a path."""
MAX_SEARCHED = 5_000_000
"""Maximum number of positions of a table in which a path is searched for without known inverse moves."""
HOW_COMPUTED = "Exact cover: all ways to place all pieces without overlap. This definition determines all numbers here."
ATTEMPTS = 3
"""Maximum number of attempts to read a store that a run is changing: all of a page must come from one commit."""
DEFAULT_TILINGS = 12
"""Maximum number of antipodes or tilings that are drawn by default."""


def search_page(
    store: TableStore | CountsStore, manifest: SearchManifest, found: Table | Counts, limit: int, sprites: Sprites
) -> Page:
    """Return the report on a table or on counts, with at most ``limit`` antipodes drawn."""
    puzzle, (position, caption) = found.puzzle, found.captioned_start()
    known = f"all positions up to depth {found.radius} are known" if found.layers else "nothing is committed yet"
    return Page(
        kind="Counts of positions" if manifest.COUNTS_ONLY else "Distance table",
        name=puzzle.name,
        description=puzzle.description,
        state=None if found.complete else _unfinished(known, found.address),
        picture=start(sprites, puzzle.picture(position), caption),
        facts=list(_facts(found)),
        sections=[
            *(_results(found, limit, sprites) if found.layers else ()),
            _origin(store, manifest),
            checks(store, manifest, "puzzle", None if manifest.COUNTS_ONLY else "every distance"),
        ],
    )


def _unfinished(known: str, address: Address) -> str:
    """Return the state of an unfinished store: what is ``known``, and the command that resumes the run."""
    return f"Unfinished: {known}. Resume with: antipodes resume {in_shell(address)}"


def _facts(found: Table | Counts) -> Iterator[tuple[str, str]]:
    layers, so_far = found.layers, "" if found.complete else " so far"
    if not layers:
        return
    total = sum(layers)
    yield f"{total:,}", f"positions{so_far}"
    yield f"{found.radius:,}", f"radius, the maximum distance{so_far}"
    if found.complete:
        yield f"{layers[-1]:,}", "antipode, at that distance" if layers[-1] == 1 else "antipodes, at that distance"
        yield f"{sum(depth * count for depth, count in enumerate(layers)) / total:.2f}", "mean distance"
        yield f"{layers.index(max(layers)):,}", "most frequent distance"


def _results(found: Table | Counts, limit: int, sprites: Sprites) -> Iterator[Section]:
    """Yield the sections with results; at least one depth is known."""
    yield _distribution(found.layers, found.puzzle.depth_zero)
    farthest = found.antipodes(limit) if found.complete else _deepest(found, limit)
    if len(farthest):
        yield _farthest(found, farthest, sprites)
    if isinstance(found, Table) and found.radius and _is_quick(found):
        yield _path(found, farthest[0], sprites)
    yield Section("The counts", "", [_counts(found.layers)])


def _deepest(found: Table | Counts, limit: int) -> Labels:
    """Return the first positions at the last depth of an unfinished table; counts store no positions, so none."""
    if isinstance(found, Table):
        return found.positions_at(found.radius, limit)
    return found.puzzle.start_labels[:0]


def _is_quick(found: Table) -> bool:
    """Return whether a path is found quickly, because a few look-ups are enough or the table is small."""
    return found.puzzle.moves.invertible or len(found) <= MAX_SEARCHED


def _distribution(layers: Sequence[int], zero: str) -> Section:
    charts = (
        figure(distribution(layers, logarithmic), "", f"{scale} scale")
        for scale, logarithmic in (("linear", False), ("logarithmic", True))
    )
    about = f"The number of positions at each distance from the {zero}."
    return Section("The distribution", about, [gallery(charts, "charts")])


def _farthest(found: Table | Counts, positions: Labels, sprites: Sprites) -> Section:
    count, puzzle = found.layers[-1], found.puzzle
    where = f"{counted(count, 'position')} {'is' if count == 1 else 'are'} {counted(found.radius, 'move')} away"
    first = "the first is" if len(positions) == 1 else f"the first {len(positions):,} are"
    shown = "" if len(positions) == count else f"; {first} drawn"
    figures = []
    for position in positions:
        text = puzzle.format(position)
        figures.append(figure(sprites.board(puzzle.picture(position), GALLERY_SIDE, text), "", text))
    heading = "The antipodes" if found.complete else "The deepest positions so far"
    return Section(heading, f"{where} from the {puzzle.depth_zero}{shown}.", [gallery(figures)])


def _path(found: Table, position: Labels, sprites: Sprites) -> Section:
    """Return a shortest path to a position, or from it to the goal if the moves are reversible."""
    puzzle, back = found.puzzle, found.path(position)
    to_goal = puzzle.depth_zero == "goal" and puzzle.moves.reversible
    path = back if to_goal else puzzle.rules.reversed_path(back)
    every = math.ceil(len(path) / MAX_STEPS)
    names = ["", *((puzzle.move_names(path) if every == 1 else None) or [""] * (len(path) - 1))]
    figures = [
        figure(sprites.board(drawn.picture(here), PATH_SIDE, drawn.format(here)), str(step), names[step])
        for step, (drawn, here) in enumerate(puzzle.along(path))
        if step % every == 0 or step == len(path) - 1
    ]
    ends = "the first position above to the goal" if to_goal else f"the {puzzle.depth_zero} to the first position above"
    some = f"; one step in {every} is drawn" if every > 1 else ""
    about = f"From {ends} in {counted(found.radius, 'move')}, the fewest possible{some}."
    return Section("A shortest path", about, [gallery(figures, "path")])


def _counts(layers: Sequence[int]) -> Html:
    total, sums = sum(layers), accumulate(layers)
    rows = [
        (f"{depth}", f"{count:,}", _share(count, total), _share(known, total))
        for depth, (count, known) in enumerate(zip(layers, sums, strict=True))
    ]
    columns = min(MAX_COLUMNS, math.ceil(len(rows) / ROWS))
    each = math.ceil(len(rows) / columns)
    parts = (rows[first : first + each] for first in range(0, len(rows), each))
    return element(
        "div", *(table(("depth", "positions", "share", "up to here"), part) for part in parts), class_="counts"
    )


def _share(count: int, total: int) -> str:
    share = 100 * count / total
    if share < 0.1:
        return "< 0.1 %"
    return f"{share:.1f} %" if share < 99.95 or count == total else "> 99.9 %"


def _origin(store: TableStore | CountsStore, manifest: SearchManifest) -> Section:
    facts = {
        "family": str(manifest.puzzle.get("family")),
        "numbering": f"{manifest.space}, {manifest.numbered:,} indices, including unreachable positions",
        **(
            {"symmetries": f"{manifest.symmetry:,}, with one position stored per symmetry class"}
            if manifest.symmetry > 1
            else {}
        ),
        "rows and width": f"{manifest.rows:,} x {manifest.width:,}",
    }
    about = (
        "Breadth-first search from the positions at depth 0 finds every reachable position, layer by layer. "
        "This definition determines all numbers on this page."
    )
    return origin(store, "puzzle", manifest.puzzle, facts, about)


def tilings_page(store: TilingStore, manifest: TilingManifest, tilings: Tilings, limit: int, sprites: Sprites) -> Page:
    """Return the report on tilings, with at most ``limit`` of them drawn."""
    problem, so_far = tilings.problem, "" if tilings.complete else " so far"
    done = f"{len(manifest.searched):,} of {manifest.partitions:,} partitions"
    return Page(
        kind="Tilings",
        name=problem.name,
        description=problem.description,
        state=None if manifest.complete else _unfinished(f"{done} have been searched", store.address),
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


def _gallery(tilings: Tilings, limit: int, sprites: Sprites) -> Section:
    shown = tilings.spread(limit)
    figures = (
        figure(sprites.board(one.picture(), GALLERY_SIDE, one.draw("letters")), f"{number + 1:,}")
        for number, one in shown.items()
    )
    some = "" if len(shown) == len(tilings) else f", {len(shown):,} of them drawn"
    about = f"{counted(len(tilings), 'tiling')}{some}; rotated and reflected copies are omitted."
    return Section("The tilings", about, [gallery(figures)])


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
