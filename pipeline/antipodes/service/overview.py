"""The service's answers about stores: the list of stores, and the facts, layers and antipodes of one."""

from dataclasses import dataclass, replace
from typing import Any

from antipodes.drawing.picture import Picture
from antipodes.service.editor import form_if_editable
from antipodes.service.encoded_answers import Encoded, drawn, pictures_of
from antipodes.service.graph import fits_whole
from antipodes.service.library import Library, Opened
from antipodes.storage.lock import Run
from antipodes.stores import NamedStore, StoreState
from antipodes.system.addresses import in_shell
from antipodes.system.records import optional, values_of
from antipodes.tables.counts import Counts
from antipodes.tables.json_results import (
    Farthest,
    LayerCounts,
    SearchStatus,
    farthest_record,
    layer_counts,
    search_status,
)
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.table import Table
from antipodes.tilings.drawing import draw_tiling
from antipodes.tilings.store import TilingManifest, TilingStatus, tiling_status
from antipodes_tasks.base.errors import AntipodesError, InputError

Values = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Row(StoreState, NamedStore):
    """A store in the list, with the keys of ``list --json`` except the path."""

    family: str | None
    description: str
    picture: Encoded[Picture] | None
    expected: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A store, with the keys of ``status --json`` and further keys."""

    name: str
    kind: str
    version: str
    puzzle: str | None = optional()
    board: str | None = optional()
    store: str
    complete: bool
    counts_only: bool | None = optional()
    committed_depth: int | None = optional()
    entries: int | None = optional()
    symmetry: int | None = optional()
    states: int | None = optional()
    layers: list[int] | None = optional()
    method: str | None = optional()
    partitions: int | None = optional()
    searched_partitions: int | None = optional()
    solutions: int | None = optional()
    placements: int | None = optional()
    bytes: int
    run: Run | None
    family: str | None = optional()
    fingerprint: str | None = optional()
    description: str | None
    radius: int | None = optional()
    index_size: int | None = optional()
    graph: bool | None = optional()
    tilings: int | None = optional()
    command: str
    editable: bool | None = optional()
    start: str | None = optional()
    starts: int | None = optional()
    depth_zero: str | None = optional()
    moves: list[str] | None = optional()
    sequence_names: list[str] | None = optional()
    reversible: bool | None = optional()
    invertible: bool | None = optional()
    picture: Encoded[Picture] | None
    expected: int | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Antipodes(Farthest):
    """The positions that are farthest from the start."""

    pictures: list[Encoded[Picture]]


def row_view(library: Library, name: str) -> Row:
    """Return the row of a store in the list; it contains the problem if the store cannot be read."""
    listed = library.row(name)
    state = {key: value for key, value in values_of(listed.to_record()).items() if key != "path"}
    row = Row(**{**state, "name": name}, family=None, description="", picture=None, expected=None)
    if listed.manifest is None:
        return row
    try:
        return replace(row, **library.answer(name, _appearance))
    except AntipodesError as error:
        return replace(row, problem=str(error))


def _appearance(opened: Opened) -> Values:
    """Return the family of the puzzle, a picture of its start or first tiling, and the expected number of positions."""
    shown: Values = {
        "picture": opened.compute_once("picture", lambda: _picture(opened)),
        "expected": opened.compute_once("expected", lambda: _expected(opened)),
    }
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


def _picture(opened: Opened) -> Encoded[Picture] | None:
    if opened.problem is not None:
        return None
    if opened.manifest.KIND != "tilings":
        return drawn(opened.puzzle.picture(opened.puzzle.rules.first))
    tilings = opened.tilings
    return drawn(draw_tiling(tilings.problem, tilings[0].placements)) if len(tilings) else None


def store_view(opened: Opened) -> Facts:
    """Return the facts of a store; values that depend on the puzzle are None if its code is unknown here."""
    return Facts(
        name=opened.name,
        kind=opened.manifest.KIND,
        version=opened.version,
        picture=opened.compute_once("picture", lambda: _picture(opened)),
        expected=opened.compute_once("expected", lambda: _expected(opened)),
        problem=None if opened.problem is None else str(opened.problem),
        **values_of(_status(opened)),
        **(_of_search(opened) if isinstance(opened.manifest, SearchManifest) else _of_tilings(opened)),
    )


def _status(opened: Opened) -> SearchStatus | TilingStatus:
    """Return the values of ``status --json``."""
    if isinstance(opened.manifest, SearchManifest):
        return search_status(opened.store, opened.manifest)  # type: ignore[arg-type]
    return tiling_status(opened.store, opened.manifest)  # type: ignore[arg-type]


def _of_tilings(opened: Opened) -> Values:
    """Return the number of tilings."""
    assert isinstance(opened.manifest, TilingManifest)
    return {"description": None, "tilings": opened.manifest.tilings, "command": _command("show", opened)}


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
        "command": _command("query" if opened.manifest.KIND == "table" else "layers", opened),
    }
    shown["editable"] = isinstance(opened.content, Table) and opened.compute_once(
        "editable", lambda: form_if_editable(opened.puzzle) is not None
    )
    unknown = dict.fromkeys(("start", "starts", "depth_zero", "moves", "sequence_names", "reversible", "invertible"))
    return shown | (unknown if opened.problem is not None else _of_puzzle(opened))


def _of_puzzle(opened: Opened) -> Values:
    puzzle, manifest = opened.puzzle, opened.manifest
    assert isinstance(manifest, SearchManifest)
    return {
        "family": puzzle.family,
        "description": puzzle.description,
        "start": puzzle.format(puzzle.rules.first),
        "starts": manifest.start_count,
        "depth_zero": puzzle.depth_zero,
        "moves": list(dict.fromkeys(puzzle.moves.names)) or None,
        "sequence_names": list(puzzle.sequences.names) if puzzle.moves.names else None,
        "reversible": puzzle.moves.reversible,
        "invertible": puzzle.moves.invertible,
    }


def _command(name: str, opened: Opened) -> str:
    return f"antipodes {name} {in_shell(opened.store.address)}"


def layers_view(opened: Opened) -> LayerCounts:
    """Return the values of ``layers --json``; raise InputError for tilings."""
    if not isinstance(opened.manifest, SearchManifest):
        raise InputError("this needs a table, but the store contains tilings")
    return layer_counts(opened.manifest)


def antipodes_view(search: Table | Counts, limit: int) -> Antipodes:
    """Return the values of ``farthest --json`` and pictures; raise UnfinishedError if antipodes are not known yet."""
    positions = search.antipodes(limit)
    found = farthest_record(search.puzzle, search.layers, positions)
    return Antipodes(**values_of(found), pictures=pictures_of(search.puzzle, positions))
