"""Results with the keys of the command line's ``--json``."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from antipodes.tilings.manifest import TilingManifest
    from antipodes.tilings.store import TilingStore
    from antipodes.tilings.table import Tilings
    from antipodes_tasks.exact_cover.problem import TilingProblem


def board_view(problem: "TilingProblem") -> dict[str, Any]:
    """A bundled board: the number of its cells, and its pieces."""
    return {
        "name": problem.name,
        "cells": problem.board.size,
        "pieces": list(problem.labels),
        "description": problem.description,
    }


def status_view(store: "TilingStore", manifest: "TilingManifest") -> dict[str, Any]:
    """The progress and the size of a search for tilings."""
    return {
        "board": manifest.board["name"],
        "store": store.address,
        "complete": manifest.complete,
        "method": manifest.method,
        "partitions": manifest.partitions,
        "searched_partitions": len(manifest.searched),
        "solutions": manifest.tilings,
        "placements": manifest.placements,
        "bytes": store.bytes_stored(),
        "run": (holder := store.holder()) and holder.to_json(),
    }


def tilings_view(tilings: "Tilings", chosen: Iterable[int], matching: int) -> dict[str, Any]:
    """The cells of each piece in the chosen tilings, counted from 0 here and from 1 in JSON; how many they are from."""
    return {
        "board": tilings.problem.name,
        "complete": tilings.complete,
        "count": len(tilings),
        "matching": matching,
        "tilings": [{"number": index + 1, "pieces": tilings[index].cells} for index in chosen],
    }
