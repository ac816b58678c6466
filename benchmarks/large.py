"""Large tables: runs with little memory, with a commit after each layer and with counts only, and verification."""

import json
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import ANTIPODES, Row, Run, median, run

TITLE = "Large tables"
REPEATS = 3
PUZZLE = "seven-tiles"
POLL_SECONDS = 3.0
EIGHT_TILES = """[puzzle]
name = "eight-tiles"
family = "sliding"
rows = 4
columns = 4
start = \"\"\"
1 2 3 4
5 6 7 8
9 9 9 9
9 9 9 0
\"\"\"
"""
"""A puzzle with 16! / 7! = 4,151,347,200 positions: eight different and seven identical tiles."""


def measure() -> list[Row]:
    """Return all rows; tables with billions of positions are computed only once, because this takes minutes."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_seven_tiles(folder), *_eight_tiles(folder)]


def _seven_tiles(folder: str) -> list[Row]:
    store = str(Path(folder) / "seven-tiles.zarr")
    turns = [
        (
            _run("seven-tiles", store),
            _run("seven-tiles", store, "--memory-limit", "600MiB"),
            _run("seven-tiles", store, "--checkpoint-every", "0"),
            _run("seven-tiles", store, "--counts-only"),
        )
        for _ in range(REPEATS)
    ]
    whole, limited, committing, counting = zip(*turns, strict=True)
    search = median([_seconds(one, "search") for one in whole])
    extra = [_committing(often) - _committing(once) for once, often in zip(whole, committing, strict=True)]
    return [
        Row(f"`{PUZZLE}`, 518,918,400 positions, search phase", "", f"{search:.2f} s"),
        Row(f"`{PUZZLE}`, whole command", "5 s", _measured(whole)),
        Row(f"`{PUZZLE}` with a memory limit of 600 MiB", "8 s", _measured(limited)),
        Row(f"`{PUZZLE}`, cost of a commit after each layer", "10% of the search", f"{median(extra) / search:.0%}"),
        Row(f"`{PUZZLE}` with counts only", "", _measured(counting)),
    ]


def _eight_tiles(folder: str) -> list[Row]:
    puzzle, store = Path(folder) / "eight-tiles.toml", str(Path(folder) / "eight-tiles.zarr")
    puzzle.write_text(EIGHT_TILES, encoding="utf-8")
    rows, name = [], "eight tiles, 4,151,347,200 positions, with a memory limit of"
    with _page_cache(Path(store)) as cached:
        done = _run(str(puzzle), store, "--memory-limit", "256MiB", "--workers", "2")
    rows.append(Row(f"{name} 256 MiB, layers on disk, whole command", "240 s", _measured([done])))
    rows.append(Row("the same run, files of the store in the page cache, at most", "", f"{max(cached) / 1e9:.2f} GB"))
    for limit, target in (("8GiB", "60 s"), ("3GiB", "90 s")):
        done = _run(str(puzzle), store, "--memory-limit", limit)
        rows.append(Row(f"{name} {limit[0]} GiB, whole command", target, _measured([done])))
    for name, target, command in (
        ("eight tiles, `antipodes farthest`", "1 s", ["farthest", store]),
        ("eight tiles, `antipodes query`, one position", "0.5 s", ["query", store, "--json", _position(store)]),
        ("eight tiles, `antipodes verify`", "180 s", ["verify", store]),
    ):
        rows.append(Row(name, target, _measured([run([*ANTIPODES, *command])])))
    return rows


def _run(puzzle: str, store: str, *options: str) -> Run:
    return run([*ANTIPODES, "run", puzzle, "--store", store, "--overwrite", "--json", "--quiet", *options])


@contextmanager
def _page_cache(folder: Path) -> Iterator[list[int]]:
    """Append to the list, every few seconds in the block, how many bytes of the folder's files the system caches.

    ``fincore`` measures it. Files that are deleted meanwhile are not counted.
    """
    found, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(POLL_SECONDS):
            files = [str(path) for path in folder.rglob("*") if path.is_file()]
            if files:
                command = ["fincore", "--bytes", "--noheadings", "--output", "RES", *files]
                found.append(sum(map(int, subprocess.run(command, capture_output=True, check=False).stdout.split())))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        ended.set()
        watcher.join()


def _position(store: str) -> str:
    """Return an antipode, to be queried."""
    positions: list[str] = json.loads(run([*ANTIPODES, "farthest", store, "--limit", "1", "--json"]).output)[
        "positions"
    ]
    return positions[0]


def _seconds(one: Run, phase: str) -> float:
    seconds: float = json.loads(one.output)["seconds"][phase]
    return seconds


def _committing(one: Run) -> float:
    """Return the seconds of search and commits, including the assembly."""
    return _seconds(one, "search") + _seconds(one, "write")


def _measured(runs: "list[Run] | tuple[Run, ...]") -> str:
    seconds, memory = median([one.seconds for one in runs]), max(one.peak_bytes for one in runs)
    return f"{seconds:.1f} s, {memory / 1e9:.2f} GB"
