"""Small stores of every kind, finished and unfinished; each is made once and copied for each test."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import every_kind
import key_puzzles
from s3 import Bucket
from stores import contents, stop_after
from tiling_stores import SQUARE

from antipodes.puzzles.config import Config
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle
from antipodes.tilings.board_config import BoardConfig
from antipodes.tilings.run import tile_board

PYTHON_FILE = """
from antipodes import define_puzzle

def turn(dials):
    return (dials + 1) % 5

def dials():
    return define_puzzle(name="dials", radices=[5, 5], start=[0, 0], moves={"turn": turn})
"""
BOARDS = {"name": "p", "family": "sliding", "rows": 2, "columns": 3}
TWISTS = {"name": "p", "family": "square-1", "start": "A12B34-", "metric": "twist"}


def searched(make: Callable[[], Config], **options: Any) -> Callable[[Path], None]:
    """Return a function that computes a table or counts at a path, or only some layers if ``layers`` is given."""
    layers = options.pop("layers", None)

    def fill(path: Path) -> None:
        stop: Any = (lambda: False) if layers is None else stop_after(layers)
        run_puzzle(make(), path, RunOptions(workers=1, checkpoint_every=0, **options), interrupted=stop)

    return fill


def tiled(partitions: int | None) -> Callable[[Path], None]:
    """Return a function that searches for tilings at a path, or in only some partitions if a number is given."""

    def fill(path: Path) -> None:
        stop: Any = (lambda: False) if partitions is None else stop_after(partitions)
        tile_board(BoardConfig(SQUARE), path, options=RunOptions(workers=1, checkpoint_every=0), interrupted=stop)

    return fill


def moved_starts() -> Config:
    puzzle = Config({**BOARDS, "start": "1 2 3 4 5 0"}).puzzle.starting_at(["0 1 2 3 4 5"], name="moved")
    assert puzzle.settings is not None
    return Config(puzzle.settings)


def of_kind(name: str) -> Callable[[], Config]:
    return lambda: every_kind.config_of(name)


KINDS: Mapping[str, Callable[[Path], None]] = {
    "table": searched(lambda: Config({**BOARDS, "start": "1 2 3 4 5 0"})),
    "unfinished table": searched(lambda: Config({**BOARDS, "start": "1 2 3 4 5 0"}), layers=8),
    "counts": searched(lambda: Config({**BOARDS, "start": "1 2 3 4 5 0"}), counts_only=True),
    "unfinished counts": searched(lambda: Config({**BOARDS, "start": "1 2 3 4 5 0"}), counts_only=True, layers=8),
    "keys": searched(of_kind("blocks")),
    "unfinished keys": searched(of_kind("blocks"), layers=4),
    "counts of keys": searched(of_kind("blocks"), counts_only=True),
    "unfinished counts of keys": searched(of_kind("blocks"), counts_only=True, layers=4),
    "keys of two words": searched(key_puzzles.PUZZLES["wide"]),
    "reduced": searched(of_kind("reduced topspin"), symmetry="on"),
    "unfinished reduced": searched(of_kind("reduced topspin"), symmetry="on", layers=3),
    "reduced fields": searched(of_kind("reduced lights"), symmetry="on"),
    "reduced classes": searched(lambda: Config(TWISTS), symmetry="on"),
    "orbits": searched(of_kind("corners and equal edges")),
    "group": searched(of_kind("group")),
    "fields": searched(of_kind("hanoi")),
    "regions": searched(of_kind("free tiles")),
    "moved starts": searched(moved_starts),
    "tilings": tiled(None),
    "unfinished tilings": tiled(2),
}
"""For the name of each kind, a function that makes such a store at a path."""


@cache
def files_of(kind: str) -> dict[str, bytes]:
    """Return the files of a store of a kind, by their paths in the store."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.zarr"
        KINDS[kind](path)
        return contents(path)


def store_of(kind: str, path: Path) -> Path:
    """Write a store of a kind to a path, and return the path."""
    for name, content in files_of(kind).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def put_store(kind: str, bucket: Bucket) -> str:
    """Put a store of a kind into a bucket, and return its URL."""
    bucket.fill(files_of(kind))
    return bucket.url()
