"""Small stores for the explorer, and the service that serves them."""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forks import PROGRAM, popen
from stores import stop_after
from tiling_stores import SQUARE, tiled
from waiting import PATIENCE

from antipodes.puzzles.config import Config, load_config
from antipodes.tables.run import RunOptions, run_puzzle

TWISTY = """
Set PIECES 4 3
Solved
PIECES
1 2 3 4
End
Move U
PIECES
2 3 1 4
1 0 2 0
End
Move F
PIECES
1 4 2 3
End
"""
REVERSED = list(range(25, -1, -1))
TABLES: dict[str, dict[str, Any]] = {
    "tiles": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 / 4 5 0", "description": "Five tiles"},
    "blocks": {"family": "blocks", "start": "AABC/AAD./E.FF"},
    "twisty": {"family": "twisty", "format": "tws", "definition": TWISTY},
    "hanoi": {"family": "hanoi", "pegs": 3, "discs": 3},
    "jumps": {"family": "jump", "start": "ABC-/----/--DE", "offsets": [[0, 1], [1, 0]]},
    "lights": {"family": "lights-out", "rows": 3, "columns": 3},
    "one-way": {"family": "generators", "n": 5, "moves": {"A": "(0 1 2 3 4)", "B": "(0 1)"}, "turns": "single"},
    "pancakes": {"family": "pancake", "n": 5},
    "wide": {"family": "generators", "n": 26, "moves": {"turn-everything-around": REVERSED, "swap": "(0 1)"}},
    "doomed": {"family": "pancake", "n": 4},
    "goal": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 / 4 5 0", "goal": "0 1 2 / 3 4 5"},
    "starts": {"family": "sliding", "rows": 2, "columns": 3, "start": ["1 2 3 4 5 0", "5 4 3 2 1 0"]},
    "pawns": {"family": "jump", "start": "AB-/---/---", "offsets": [[0, 1], [1, 0]]},
}
"""Settings of the finished tables, by name."""
MARKUP = "<b>&\"'"
"""A text that would be interpreted as markup if a page did not escape it."""
UNFINISHED = {"family": "pancake", "n": 6}
REACHED = 3
"""The last committed depth of the unfinished tables."""
SERIAL = RunOptions(workers=1, checkpoint_every=0)


def make_site(folder: Path, eight: Path) -> Path:
    """Fill a folder with finished tables, three unfinished tables, counts, tilings and a corrupt store; return it.

    The table of the eight-puzzle is a copy.
    """
    shutil.copytree(eight, folder / "eight-puzzle.zarr")
    run_puzzle(load_config("2x2x2"), folder / "2x2x2.zarr", SERIAL, interrupted=stop_after(4))
    for name, settings in TABLES.items():
        run_puzzle(Config({"name": name, **settings}), folder / f"{name}.zarr", SERIAL)
    for name in ("unfinished", "growing"):
        stopped_run(folder / f"{name}.zarr")
    marked = {"family": "generators", "start": f"{MARKUP} 1 2", "moves": {"A": [1, 2, 0]}, "description": MARKUP}
    run_puzzle(Config({"name": "markup", **marked}), folder / "markup.zarr", SERIAL)
    counts = RunOptions(workers=1, counts_only=True)
    run_puzzle(Config({"name": "counted", **TABLES["tiles"]}), folder / "counted.zarr", counts)
    tiled(SQUARE, folder / "square.zarr")
    tiled(SQUARE, folder / "damaged.zarr")
    (folder / "damaged.zarr" / "commit.json").write_text("{")
    return folder


def stopped_run(store: Path) -> None:
    """Start a table and stop at a depth."""
    run_puzzle(Config({"name": "stack", **UNFINISHED}), store, SERIAL, interrupted=stop_after(REACHED))


@contextmanager
def growing_run(store: Path) -> Iterator[None]:
    """Resume an unfinished table; the run waits before its next layer until the block ends."""
    begun, go = threading.Event(), threading.Event()

    def waits() -> bool:
        begun.set()
        assert go.wait(PATIENCE)
        return False

    run = threading.Thread(
        target=run_puzzle, args=(Config({"name": "stack", **UNFINISHED}), store, SERIAL), kwargs={"interrupted": waits}
    )
    run.start()
    try:
        assert begun.wait(PATIENCE)
        yield
    finally:
        go.set()
        run.join(PATIENCE)
    assert not run.is_alive()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the stores in a folder, in a new process and on a free port; yield the address."""
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = popen([*PROGRAM, "serve", str(folder), "--port", "0"], text=True, **pipe)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert " at http://" in line, line
        yield line.split(" at ")[1].split("/ ")[0]
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)
