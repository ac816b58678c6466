"""The report of a run that computes a table, and results with the keys of the command line's ``--json``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from antipodes.runs.run_results import Report
from antipodes.tables.display import show_result
from antipodes.tables.drawing import moves_back, scramble
from antipodes.tables.store.manifest import NOTHING_COMMITTED, SearchManifest
from antipodes_tasks.base.quoting import counted, shorten
from antipodes_tasks.rules.moves import Labels

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Puzzle
    from antipodes.solving.solve import Solved
    from antipodes.tables.counts import Counts
    from antipodes.tables.planning.plan import Plan
    from antipodes.tables.queries import Found, Matches
    from antipodes.tables.store.search_stores import SearchStore
    from antipodes.tables.table import Table
    from antipodes_tasks.searches.routes import Exchanges


@dataclass(frozen=True, kw_only=True, repr=False)
class RunReport(Report):
    """The result of a run. The run may have resumed from a committed depth."""

    manifest: SearchManifest
    """The last commit."""
    farthest: Labels
    """The first antipodes, ``(n, places)``. Empty for an unfinished table."""
    states_found: int
    """Number of positions that this run found, each counted once."""
    start_distance: int | None = None
    """Distance of the config's start from its goal. None for counts, without a goal, and if it is unreachable."""
    workers_lost: int = 0
    """Number of times that workers of a cluster were lost."""
    recomputed: int = 0
    """Number of positions that were recomputed because workers were lost."""

    @property
    def complete(self) -> bool:
        """Whether the table is finished."""
        return self.manifest.complete

    @property
    def layers(self) -> list[int]:
        """The number of positions at each committed depth."""
        return list(self.manifest.positions)

    @property
    def radius(self) -> int:
        """The greatest committed depth."""
        return self.manifest.radius

    def __repr__(self) -> str:
        name, radius = shorten(str(self.manifest.puzzle.get("name")), 30), f"{self.radius:,}"
        reached = radius if self.complete else f"{radius} so far, unfinished"
        return f"<RunReport of {name}: {counted(sum(self.layers), 'position')}, radius {reached}, {self.seconds:.1f} s>"

    def _repr_html_(self) -> str:
        kind = "Counts" if self.manifest.COUNTS_ONLY else "Table"
        took = [f"computed in {self.seconds:,.1f} s"] if self.states_found else []
        return show_result(kind, self.manifest.config.puzzle, self.layers, self.complete, self.store, took)

    @property
    def saved(self) -> str:
        """Subject and verb of a sentence about the committed depths: "depths 0 to 7 are"."""
        return saved_depths(self.manifest) or "nothing is"

    def to_json(self) -> dict[str, Any]:
        """Return the report with the keys of the command line's ``--json``."""
        manifest = self.manifest
        return {
            "puzzle": manifest.puzzle["name"],
            "store": self.store,
            "complete": self.complete,
            "counts_only": manifest.COUNTS_ONLY,
            "index_size": manifest.numbered,
            "entries": manifest.index_size,
            "symmetry": manifest.symmetry,
            "states": manifest.states,
            "radius": manifest.radius,
            "layers": list(manifest.positions),
            "antipodes": manifest.positions[-1] if self.complete else None,
            "start_distance": self.start_distance,
            "resumed_from": self.resumed_from,
            "seconds": self.seconds_to_json(),
            "states_per_second": self.per_second(self.states_found),
            "workers_lost": self.workers_lost,
            "states_found_again": self.recomputed,
            "peak_memory_bytes": self.peak_memory,
        }


def committed_depth(manifest: SearchManifest | None) -> int | None:
    """Return the last committed depth, or None if nothing is committed."""
    if manifest is None or manifest.committed_depth == NOTHING_COMMITTED:
        return None
    return manifest.committed_depth


def saved_depths(manifest: SearchManifest) -> str | None:
    """Return subject and verb of a sentence about the committed depths, or None if nothing is committed."""
    depth = committed_depth(manifest)
    if depth is None:
        return None
    return f"depths 0 to {depth} are" if depth else "depth 0 is"


def plan_view(plan: Plan) -> dict[str, Any]:
    """Return how a puzzle is divided, with bounds on memory and disk; None for values that only a search finds."""
    known = not plan.keyed or plan.reachable is not None
    maps = None if plan.keyed else plan.space.filler.most_column_maps
    return {
        "index_size": plan.index_size,
        "entries": plan.index_size if plan.keyed else plan.space.size,
        "symmetry": plan.space.numbering.symmetries,
        "reachable": plan.reachable,
        "space": plan.space.numbering.KIND,
        "rows": None if plan.keyed else plan.space.rows,
        "width": plan.space.width,
        "column_maps": maps,
        "partitions": plan.partition_count,
        "bits": None if plan.keyed else 2 if plan.two_bits else 3,
        "memory_bytes": plan.memory_bytes if known else None,
        "disk_bytes": plan.disk_bytes if known else None,
        "journal_bytes": plan.journal_bytes if known else None,
        "table_bytes": plan.table_bytes,
        "move_table_bytes": plan.table_bytes,
        "least_memory_bytes": plan.least_bytes,
    }


def status_view(store: SearchStore[Any], manifest: SearchManifest) -> dict[str, Any]:
    """Return the progress and the size of a table or of counts."""
    return {
        "puzzle": manifest.puzzle["name"],
        "store": store.address,
        "complete": manifest.complete,
        "counts_only": manifest.COUNTS_ONLY,
        "committed_depth": manifest.radius if manifest.layers else None,
        "entries": manifest.index_size,
        "symmetry": manifest.symmetry,
        "states": manifest.states,
        "layers": list(manifest.positions),
        "bytes": store.storage.size(),
        "run": (holder := store.storage.lock.holder()) and holder.to_json(),
    }


def layers_view(manifest: SearchManifest, unique: Sequence[int] | None = None) -> dict[str, Any]:
    """Return the number of positions at each depth and, if they were counted, of symmetry classes."""
    shown = {
        "radius": manifest.radius if manifest.layers else None,
        "complete": manifest.complete,
        "layers": list(manifest.positions),
    }
    return shown if unique is None else {**shown, "unique": list(unique)}


def farthest_view(puzzle: Puzzle, layers: Sequence[int], positions: Labels) -> dict[str, Any]:
    """Return the given antipodes, ``(n, places)``, and the total number of antipodes."""
    return {"radius": len(layers) - 1, "count": layers[-1], "positions": _texts(puzzle, positions)}


def unique_farthest_view(found: Table | Counts, positions: Labels, classes: int) -> dict[str, Any]:
    """Return one antipode of each symmetry class as `farthest_view` does, with the number of ``classes``.

    ``symmetries`` is the number of symmetries that leave each of the positions unchanged.
    """
    shown = farthest_view(found.puzzle, found.layers, positions)
    return {**shown, "unique": classes, "symmetries": found.symmetries_at(positions)}


def found_view(puzzle: Puzzle, found: Found, with_path: bool, as_moves: bool = False) -> dict[str, Any]:
    """Return the distance of one position and, if requested, a path and its moves (None if it is unreachable).

    ``as_moves`` adds the moves from a start to the position, and this start.
    """
    shown: dict[str, Any] = {"position": puzzle.format(found.position), "distance": found.distance}
    if as_moves:
        shown["scramble"] = None if found.path is None else scramble(puzzle, found.path)
        shown["scramble_from"] = None if found.path is None else puzzle.format_path(found.path)[-1]
    if not with_path:
        return shown
    names = None if found.path is None else moves_back(puzzle, found.path)
    return {**shown, "path": _path_view(puzzle, found.path), **_moves_view(puzzle, names)}


def matches_view(puzzle: Puzzle, pattern: str, matches: Matches) -> dict[str, Any]:
    """Return the positions that match a pattern: counts by distance, and the nearest and farthest positions."""

    def side(distance: int | None, positions: Labels) -> dict[str, Any] | None:
        texts = _texts(puzzle, positions)
        return None if distance is None else {"distance": distance, "count": len(texts), "positions": texts}

    return {
        "pattern": pattern,
        "count": matches.count,
        "reached": matches.reached,
        "by_distance": matches.by_distance,
        "nearest": side(min(matches.by_distance, default=None), matches.nearest),
        "farthest": side(max(matches.by_distance, default=None), matches.farthest),
    }


def matches_with_path_view(puzzle: Puzzle, pattern: str, matches: Matches, path: Labels | None) -> dict[str, Any]:
    """Return `matches_view` with a path from the start to the nearest match and its moves (None if none is reached)."""
    names = None if path is None else puzzle.move_names(path)
    return {**matches_view(puzzle, pattern, matches), "path": _path_view(puzzle, path), **_moves_view(puzzle, names)}


def solved_view(puzzle: Puzzle, solved: Solved, every: bool = False) -> dict[str, Any]:
    """Return the result of `solve`. ``moves`` lists the moves of the solution, or with ``every`` of each solution."""
    answer = solved.answer
    names = [puzzle.move_names(path) for path in answer.solutions]
    return {
        "method": answer.method,
        "reason": solved.reason,
        "outcome": str(answer.outcome),
        "distance": answer.distance,
        "least": answer.least,
        "solution_count": answer.solution_count,
        "solutions": [puzzle.format_path(path) for path in answer.solutions],
        "expanded": answer.expanded,
        **_heuristic_view(solved),
        "seconds": round(solved.seconds, 6),
        **_moves_view(puzzle, names if every else next(iter(names), None)),
    }


def _heuristic_view(solved: Solved) -> dict[str, Any]:
    """Return the names of the tables that guided a search, their estimate, and the number of successors generated."""
    if solved.heuristic is None:
        return {}
    return {"heuristic": solved.heuristic, "estimate": solved.estimate, "generated": solved.answer.generated}


def routes_view(puzzle: Puzzle, found: Exchanges, seconds: float, listed: int) -> dict[str, Any]:
    """Return the exchanges of two sides along routes. All are counted, and at most ``listed`` are listed."""
    return {
        "method": "routes",
        "limit": found.limit,
        "combinations": found.combinations,
        "distance": min(found.histogram, default=None),
        "solution_count": len(found.solutions),
        "histogram": found.histogram,
        "moves": [exchange.moves for exchange in found.solutions[:listed]],
        "solutions": [puzzle.format_path(exchange.positions) for exchange in found.solutions[:listed]],
        "expanded": found.expanded,
        "seconds": round(seconds, 6),
    }


def _moves_view(puzzle: Puzzle, names: Any) -> dict[str, Any]:
    """Return the key ``moves``, if the moves of the puzzle have names."""
    return {"moves": names} if puzzle.moves.names else {}


def _path_view(puzzle: Puzzle, path: Labels | None) -> list[str] | None:
    return None if path is None else puzzle.format_path(path)


def _texts(puzzle: Puzzle, positions: Iterable[Labels]) -> list[str]:
    return [puzzle.format(position) for position in positions]
