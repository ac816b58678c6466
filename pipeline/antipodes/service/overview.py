"""The service's answers about stores: the list of stores, and the facts, layers and antipodes of one."""

from typing import Any

from antipodes.service.drafts import form_of
from antipodes.service.drawing import Drawn, drawn, pictures_of
from antipodes.service.graph import fits_whole
from antipodes.service.library import Library, Opened
from antipodes.system.addresses import in_shell
from antipodes.tables import json_results
from antipodes.tables.counts import Counts
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.table import Table
from antipodes.tilings import store as tiling_views
from antipodes.tilings.drawing import draw_tiling
from antipodes_tasks.base.errors import AntipodesError, InputError

Values = dict[str, Any]


def row_view(library: Library, name: str) -> Values:
    """Return the row of a store in the list; it contains the problem if the store cannot be read."""
    listed = library.row(name)
    shown = {**listed.to_json(), "name": name, "family": None, "description": "", "picture": None, "expected": None}
    del shown["path"]
    if listed.manifest is None:
        return shown
    try:
        return shown | library.answer(name, _appearance)
    except AntipodesError as error:
        return {**shown, "problem": str(error)}


def _appearance(opened: Opened) -> Values:
    """Return the family of the puzzle, a picture of its start or first tiling, and the expected number of positions."""
    shown: Values = {
        "picture": opened.compute_once("picture", lambda: _picture(opened)),
        "family": None,
        "description": "",
    }
    shown["expected"] = opened.compute_once("expected", lambda: _expected(opened))
    if isinstance(opened.manifest, SearchManifest):
        settings = opened.manifest.puzzle
        shown |= {"family": settings.get("family"), "description": settings.get("description", "")}
    return shown if opened.problem is None else {**shown, "problem": str(opened.problem)}


def _expected(opened: Opened) -> int | None:
    """Return the number of positions of the finished table; None if it is not known in advance."""
    if not isinstance(opened.manifest, SearchManifest):
        return None
    if opened.manifest.complete:
        return opened.manifest.states
    if opened.problem is not None:
        return None
    space = opened.manifest.space_of(opened.puzzle)
    return space.numbering.reachable(space.rules)


def _picture(opened: Opened) -> Drawn | None:
    if opened.problem is not None:
        return None
    if opened.kind != "tilings":
        return drawn(opened.puzzle.picture(opened.puzzle.rules.first))
    tilings = opened.tilings
    return drawn(draw_tiling(tilings.problem, tilings[0].placements)) if len(tilings) else None


def store_view(name: str, opened: Opened) -> Values:
    """Return the facts of a store; values that depend on the puzzle are None if its code is unknown here."""
    shown = {"name": name, "kind": opened.kind, "version": opened.version, **_status(opened)}
    if isinstance(opened.manifest, SearchManifest):
        shown |= _of_search(opened)
    else:
        shown |= {"description": None, "tilings": opened.manifest.tilings, "command": _command("show", opened)}
    problem = None if opened.problem is None else str(opened.problem)
    appearance = _appearance(opened)
    return {**shown, "picture": appearance["picture"], "expected": appearance["expected"], "problem": problem}


def _status(opened: Opened) -> Values:
    """Return the values of ``status --json``."""
    if isinstance(opened.manifest, SearchManifest):
        return json_results.status_view(opened.store, opened.manifest)  # type: ignore[arg-type]
    return tiling_views.status_view(opened.store, opened.manifest)  # type: ignore[arg-type]


def _of_search(opened: Opened) -> Values:
    """Return the puzzle of a table or of counts, and its radius."""
    manifest = opened.manifest
    assert isinstance(manifest, SearchManifest)
    shown: Values = {
        "family": manifest.puzzle.get("family"),
        "fingerprint": manifest.fingerprint,
        "description": manifest.puzzle.get("description", ""),
        "radius": manifest.radius if manifest.layers else None,
        "index_size": manifest.numbered,
        "graph": isinstance(opened.content, Table) and fits_whole(opened.content),
        "command": _command("query" if opened.kind == "table" else "layers", opened),
    }
    shown["editable"] = isinstance(opened.content, Table) and opened.compute_once(
        "editable", lambda: form_of(opened.puzzle) is not None
    )
    unknown = dict.fromkeys(("start", "starts", "depth_zero", "moves", "sequence_names", "reversible", "invertible"))
    return shown | (unknown if opened.problem is not None else _of_puzzle(opened))


def _of_puzzle(opened: Opened) -> Values:
    puzzle = opened.puzzle
    return {
        "family": puzzle.family,
        "description": puzzle.description,
        "start": puzzle.format(puzzle.rules.first),
        "starts": len(puzzle.starts),
        "depth_zero": puzzle.depth_zero,
        "moves": list(dict.fromkeys(puzzle.moves.names)) or None,
        "sequence_names": list(puzzle.sequence_names) if puzzle.moves.names else None,
        "reversible": puzzle.moves.reversible,
        "invertible": puzzle.moves.invertible,
    }


def _command(name: str, opened: Opened) -> str:
    return f"antipodes {name} {in_shell(opened.store.address)}"


def layers_view(opened: Opened) -> Values:
    """Return the values of ``layers --json``; raise InputError for tilings."""
    if not isinstance(opened.manifest, SearchManifest):
        raise InputError("this needs a table, but the store contains tilings")
    return json_results.layers_view(opened.manifest)


def antipodes_view(search: Table | Counts, limit: int) -> Values:
    """Return the values of ``farthest --json`` and pictures; raise UnfinishedError if antipodes are not known yet."""
    positions = search.antipodes(limit)
    shown = json_results.farthest_view(search.puzzle, search.layers, positions)
    return {**shown, "pictures": pictures_of(search.puzzle, positions)}
