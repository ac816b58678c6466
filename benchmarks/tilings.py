"""Searches for all tilings of a board, compared with a plain C program."""

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import ANTIPODES, Row, Run, build, median, run

TITLE = "Tilings"
REPEATS = 7
BOARD = "6x10"
LIMITS = {"3x4x5": "30 s", "8x8-minus-centre": "2 s", "2x5x6": "", "5x12": "", "4x15": "", "3x20": "", "2x3x10": ""}
"""The other boards, with the target time of the whole command."""


def measure() -> list[Row]:
    """Return all rows; the C program and ours alternate, so that both see the same load of the machine."""
    plain = build("pentominoes.c")
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "tilings.zarr")
        _tile(BOARD, store)  # compiles the kernels
        turns = [(json.loads(run([plain]).output), _tile(BOARD, store)) for _ in range(REPEATS)]
        textbook = [_tile(BOARD, store, "plain") for _ in range(REPEATS)]
        first = _first_time(folder)
        others = [row for board, limit in LIMITS.items() for row in _other(board, limit, store)]
        return [*_against_c(turns), *_textbook(turns, textbook), first, *others]


def _tile(board: str, store: str, method: str = "pruning", environment: dict[str, str] | None = None) -> Run:
    command = [*ANTIPODES, "tile", board, "--store", store, "--method", method, "--overwrite", "--json"]
    return run(command, environment)


def _reports(runs: list[Run]) -> list[dict[str, Any]]:
    return [json.loads(one.output) for one in runs]


def _search(reports: list[dict[str, Any]]) -> float:
    return median([report["seconds"]["search"] for report in reports])


def _against_c(turns: list[tuple[dict[str, Any], Run]]) -> list[Row]:
    ours = [one for _, one in turns]
    reports = _reports(ours)
    for (theirs, _), report in zip(turns, reports, strict=True):
        if theirs["solutions"] != report["solutions"]:
            raise RuntimeError("the C program and antipodes disagree")
    ratio = median([c["seconds"] / report["seconds"]["search"] for (c, _), report in zip(turns, reports, strict=True)])
    phases = {name: median([report["seconds"][name] for report in reports]) for name in ("tables", "write")}
    placements = turns[0][0]["placements"], reports[0]["placements"]
    return [
        Row(
            f"plain C program on `{BOARD}`, search, {placements[0]:,} placements, one thread",
            "",
            f"{median([c['seconds'] for c, _ in turns]):.3f} s",
        ),
        Row(
            f"`{BOARD}`, search phase, {placements[1]:,} placements, {len(reports[0]['worker_seconds'])} threads",
            "5 times as fast as the C program",
            f"{_search(reports):.3f} s, {ratio:.1f} times as fast",
        ),
        Row(f"`{BOARD}`, building tables of placements and loading kernels", "", f"{phases['tables']:.3f} s"),
        Row(f"`{BOARD}`, writing and committing", "", f"{phases['write']:.3f} s"),
        Row(f"`antipodes tile {BOARD}`, whole command", "1.2 s", f"{median([one.seconds for one in ours]):.2f} s"),
        _balance(BOARD, reports),
    ]


def _textbook(turns: list[tuple[dict[str, Any], Run]], runs: list[Run]) -> list[Row]:
    reports = _reports(runs)
    if {turns[0][0]["placements"]} != {report["placements"] for report in reports}:
        raise RuntimeError("the C program and --method plain disagree")
    return [
        Row(
            f"`{BOARD} --method plain`, search phase, the same placements as the C program",
            "",
            f"{_search(reports):.3f} s",
        )
    ]


def _first_time(folder: str) -> Row:
    """Measure a run with an empty cache of compiled kernels, as after an installation."""
    seconds = []
    for turn in range(3):
        cache = {"NUMBA_CACHE_DIR": str(Path(folder) / f"cache-{turn}")}
        seconds.append(_tile(BOARD, str(Path(folder) / "first.zarr"), environment=cache).seconds)
    return Row(f"`antipodes tile {BOARD}`, whole command with nothing compiled", "", f"{median(seconds):.2f} s")


def _other(board: str, limit: str, store: str) -> list[Row]:
    _tile(board, store)  # compiles the kernels
    runs = [_tile(board, store) for _ in range(3)]
    reports = _reports(runs)
    what = f"`antipodes tile {board}`, {reports[0]['solutions']:,} tilings, whole command"
    rows = [Row(what, limit, f"{median([one.seconds for one in runs]):.2f} s, search {_search(reports):.3f} s")]
    return [*rows, _balance(board, reports)] if limit else rows


def _balance(board: str, reports: list[dict[str, Any]]) -> Row:
    share = median([report["balance"] for report in reports])
    what = (
        f"`{board}`, {reports[0]['partitions']} partitions: share of the search for which the least busy worker works"
    )
    return Row(what, "", f"{share:.0%}")
