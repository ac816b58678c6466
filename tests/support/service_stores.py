"""Small stores of every kind for the service, and facts about their tables by brute force."""

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from service_client import Client
from stores import stop_after
from tiling_stores import BOX, COPIES, SQUARE, tiled
from twisty import TWO_PARTS

from antipodes.puzzles.config import Config
from antipodes.service.app import application
from antipodes.service.guard import Hosts
from antipodes.service.library import Library, stores_named
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import Table

CACHE = 1 << 26
TABLES: dict[str, dict[str, Any]] = {
    "arrangement": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 1 2 / 3 4 0"},
    "orbits": {"family": "twisty", "format": "tws", "definition": TWO_PARTS},
    "fields": {"family": "hanoi", "pegs": 3, "discs": 4},
    "one-way": {"family": "generators", "n": 5, "moves": {"A": "(0 1 2 3 4)", "B": "(0 1)"}, "turns": "single"},
    "pawns": {"family": "jump", "start": "AB-/---", "offsets": [[0, 1], [1, 0]]},
    "starts": {"family": "sliding", "rows": 2, "columns": 3, "start": ["1 2 3 4 5 0", "5 4 3 2 1 0"]},
    "blocks": {"family": "blocks", "start": "AABC/AAD./E.FF"},
    "goals": {"family": "blocks", "distinct": True, "start": "A.B.", "goal": ["BA..", "A..B", ".A.B"]},
    "goal": {"family": "blocks", "axis": True, "moves": "slides", "start": "AA.B/C..B/C.DD", "goal": "..AA/????/????"},
}
"""Settings of finished tables: with and without reversible moves, several starts, and names of moves."""
UNFINISHED = {"family": "pancake", "n": 6}
TILINGS = {"square": SQUARE, "box": BOX, "copies": COPIES}
MARKUP = "<b>&\"'"
"""A text that would be interpreted as markup if a page did not escape it."""


def config_of(name: str, settings: dict[str, Any]) -> Config:
    return Config({"name": name, **settings})


def make_stores(folder: Path) -> Path:
    """Fill a folder with a store for each name in TABLES and TILINGS, and four special stores; return the folder."""
    options = RunOptions(workers=1, checkpoint_every=0)
    for name, settings in TABLES.items():
        run_puzzle(config_of(name, settings), folder / f"{name}.zarr", options)
    cycle = {"family": "generators", "start": f"{MARKUP} 1 2", "moves": {"A": [1, 2, 0]}, "description": MARKUP}
    run_puzzle(config_of("markup", cycle), folder / f"{MARKUP}.zarr", options)
    for name, layers in {"unfinished": 4, "empty": 0}.items():
        run_puzzle(config_of(name, UNFINISHED), folder / f"{name}.zarr", options, interrupted=stop_after(layers))
    counted = RunOptions(workers=1, counts_only=True)
    run_puzzle(config_of("counts", TABLES["arrangement"]), folder / "counts.zarr", counted)
    for name, board in TILINGS.items():
        tiled(board, folder / f"{name}.zarr")
    return folder


def client_of(*stores: Path, cache_bytes: int = CACHE, host: str = "127.0.0.1") -> Client:
    """Return a client of a service for some stores or folders."""
    library = Library(stores_named([str(store) for store in stores]), cache_bytes)
    return Client(application(library, Hosts.of(host)))


def every_text(table: Table) -> list[str]:
    """Return all reached positions as text, the nearest first."""
    return [
        table.puzzle.format(position) for depth in range(table.radius + 1) for position in table.positions_at(depth)
    ]


@cache
def shortest_paths(table: Table) -> dict[str, int]:
    """Return the number of shortest paths (sequences of positions) to each reached position, by forward moves only."""
    paths: dict[str, int] = defaultdict(int)
    puzzle, texts = table.puzzle, every_text(table)
    for text in texts:
        paths[text] += table.distance(text) == 0
        here = puzzle.parse(text)
        after = {puzzle.format(one) for one in puzzle.successors(here)}
        for one in after:
            if table.distance(one, None) == table.distance(text) + 1:
                paths[one] += paths[text]
    return paths


def unreachable_text(table: Table) -> str | None:
    """Return an unreachable position as text, or None if every entry of the table is reached."""
    distances = table.distances_by_index(np.arange(table.index_size))
    missing = np.flatnonzero(distances < 0)
    return table.puzzle.format(table.space.unrank(missing[:1])[0]) if missing.size else None
