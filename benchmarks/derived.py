"""Tables of figures on pages other than the benchmarks: single runs of hours, and estimates of larger runs."""

import csv
import re
from collections.abc import Callable, Mapping
from math import ceil, factorial

from benchmarks.measure import HERE
from benchmarks.results import Section

RUNS = HERE.parent / "docs" / "explanation" / "large-runs" / "runs.csv"
"""Runs of minutes to hours, each measured once."""
NINE_TILES = "nine tiles on a 4x4 board"
NINE_TILES_POSITIONS, CORES = factorial(16) // factorial(6), 2
SIZES = {"10^11": 10**11, "10^12": 10**12, "15-puzzle, 1.05 · 10^13": factorial(16) // 2}
LAYERS = (70, 75, 81)
MACHINE_CORES, MACHINE_BYTES, NETWORK, DISK = 32, 153e9, 1.25e9, 1e9
"""The assumed machines: cores, memory for a run, and bytes per second of the network and of the disk."""
SHARD, CHUNK = 1 << 28, 1 << 22
"""Positions of a shard and of a chunk."""
MEMORY, TABLES, HELD = (3 + 1 / 32) / 8, (0, 0, 12.5e9), (0, 12.5e9, 12.5e9)
"""Bytes of memory per position, and bytes of move tables and of rows for other machines per machine."""
SENT = 3 * 2.5
"""Bytes sent per position if there is more than one machine; a guess."""
ON_DISK, ON_DISK_POSITIONS = "2x7 sliding puzzle", factorial(14) // 2
"""The measured run of a sliding puzzle with layers on disk."""
READ_AT_LEAST, READ_AT_MOST = 3, (3, 3, 24)
"""Bytes read for each byte written: a layer is read as the frontier, and as one of the last two layers of two others.
With several partitions, `plan` counts each frontier once for each partition (fifteen-puzzle with 142 GiB)."""


def runs(_: Mapping[str, Section]) -> str:
    """Return the table of single runs, with their memory and their time."""
    lines = ["| run | memory limit | bits | peak memory | time | processor time |", "| --- |" + " ---: |" * 5]
    for row in _runs():
        cells = [row["run"], _size(row["memory_limit_gib"]), row["bits"], _size(row["peak_memory_gib"])]
        if row["bits"]:
            lines.append(f"| {' | '.join(cells)} | {_time(row['seconds'])} | {_time(row['processor_seconds'])} |")
    return "\n".join(lines) + "\n"


def scaling_inputs(sections: Mapping[str, Section]) -> str:
    """Return the table of the quantities from which the estimates follow."""
    search, journal, table, task, sent = _inputs(sections)
    nine_tiles = "[nine tiles](large-runs.md#nine-different-tiles-on-a-4x4-board-29059430400-positions)"
    clusters = "(../benchmarks.md#clusters)"
    rows = (
        ("search", f"{1e9 * search:.0f} ns per position and core", f"{nine_tiles}, 29 billion positions"),
        ("journal", f"{journal:.2f} bytes per position, written once", "the same run"),
        ("table", f"{table:.2f} bytes per position", "the same run"),
        (
            "a task",
            f"{1e3 * task:.2f} ms of the scheduler's processor time; the scheduler is one thread of one process",
            "[64 workers without work](../benchmarks.md#control-plane)",
        ),
        (
            "tasks",
            "1 per worker and layer",
            "derived",
        ),
        (
            "traffic",
            f"{sent:.2f} bytes for each position sent to another worker, less than the rows of bits (see below)",
            f"[`seven-tiles` on two processes]{clusters}",
        ),
        (
            "memory",
            "0.38 bytes per position for three bits; 12.5 GB per machine of 32 threads for rows that are received and "
            "sent",
            "derived: `antipodes plan` for the 15-puzzle",
        ),
    )
    return "".join(f"| {' | '.join(row)} |\n" for row in (("quantity", "value", "source"), ("---",) * 3, *rows))


def scaling(sections: Mapping[str, Section]) -> str:
    """Return the table of estimates for runs of three sizes."""
    _, journal, table, task, _ = _inputs(sections)
    columns = []
    for positions, layers, tables, held in zip(SIZES.values(), LAYERS, TABLES, HELD, strict=True):
        machines = _machines(positions, tables, held)
        shards, chunks = ceil(positions / SHARD), ceil(positions / CHUNK)
        sent = SENT * positions if machines > 1 else 0
        seconds = _seconds(sections, positions, layers, machines)
        columns.append(
            (
                _bytes(MEMORY * positions) + (f", and {_bytes(tables + held)} per machine" if held else ""),
                f"{machines:,}, {MACHINE_CORES * machines:,}",
                _bytes(journal * positions),
                _bytes(table * positions),
                f"{chunks:,}; {_bytes(11 * chunks)}",
                str(layers),
                f"{shards:,}; {machines:,}",
                *(_duration(seconds[name]) for name in ("search", "journal", "assembly")),
                _bytes(sent) if sent else "none",
                _duration(seconds["network"]) if sent else "none",
                f"{_duration(machines * task)}; {_duration(seconds['scheduler'])}",
                _duration(sum(seconds.values())),
                _duration(sum(seconds.values()) + seconds["network"]),
            )
        )
    names = (
        "memory: bits; rows for other machines and move tables",
        "machines, cores",
        "journal",
        "table",
        "chunks; manifest, 11 bytes per chunk",
        "layers (assumed for 10^11 and 10^12)",
        "shards of 2^28 positions; tasks per layer",
        "search",
        "writing the journal, 1 GB/s per machine (assumed)",
        "assembly: reading the journal, writing the table",
        "traffic: positions x 3 x 2.5 bytes (a guess)",
        "traffic at full network speed",
        "scheduler, per layer and in total",
        "all of these times together",
        "the same with twice the traffic",
    )
    lines = [("", *SIZES), ("---",) * 4, *((name, *cells) for name, *cells in zip(names, *columns, strict=True))]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _machines(positions: int, tables: float, held: float) -> int:
    """Return the minimum number of machines, given the bytes of move tables and of rows of others on each of them."""
    return ceil(MEMORY * positions / (MACHINE_BYTES - tables - held))


def _seconds(sections: Mapping[str, Section], positions: int, layers: int, machines: int) -> dict[str, float]:
    """Return the time of each part of a run."""
    search, journal, table, task, _ = _inputs(sections)
    written, kept = journal * positions / machines / DISK, table * positions / machines / DISK
    return {
        "search": search * positions / machines / MACHINE_CORES,
        "journal": written,
        "assembly": written + kept,
        "network": SENT * positions / machines / NETWORK if machines > 1 else 0.0,
        "scheduler": machines * task * layers,
    }


def choices(sections: Mapping[str, Section]) -> str:
    """Return the table that compares a cluster with one machine that keeps its layers on disk."""
    run = next(row for row in _runs() if row["run"] == ON_DISK and row["bits"] == "on disk")
    search = float(run["processor_seconds"]) / ON_DISK_POSITIONS
    written = 1e9 * float(run["written_gb"]) / ON_DISK_POSITIONS
    lines = [("", *SIZES), ("---",) * 4]
    cluster, hours, files, times = (list[str]() for _ in range(4))
    for positions, layers, tables, held, most in zip(SIZES.values(), LAYERS, TABLES, HELD, READ_AT_MOST, strict=True):
        machines = _machines(positions, tables, held)
        seconds = sum(_seconds(sections, positions, layers, machines).values())
        cluster.append(f"{counted_machines(machines)}, {_duration(seconds)}")
        hours.append(f"{machines * seconds / 3600:.{0 if machines * seconds > 36000 else 1}f}")
        files.append(_bytes(written * positions))
        least, longest = (
            search * positions / MACHINE_CORES + written * positions * (1 + times_read) / DISK
            for times_read in (READ_AT_LEAST, most)
        )
        times.append(_duration(least) + (f" to {_duration(longest)}" if longest > least else ""))
    lines += [
        ("bits in memory: machines, time", *cluster),
        ("machine hours", *hours),
        ("layers on disk: bytes written", *files),
        ("time of one machine", *times),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def counted_machines(count: int) -> str:
    """Return a number of machines in words."""
    return f"{count} machine{'' if count == 1 else 's'}"


FIGURES: dict[str, Callable[[Mapping[str, Section]], str]] = {
    "runs": runs,
    "scaling_inputs": scaling_inputs,
    "scaling": scaling,
    "choices": choices,
}
"""The function that writes each table."""


def _runs() -> list[dict[str, str]]:
    with RUNS.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _inputs(sections: Mapping[str, Section]) -> tuple[float, float, float, float, float]:
    """Return seconds of search and bytes of journal and table per position, seconds per task, and bytes sent."""
    run = next(row for row in _runs() if row["run"] == NINE_TILES)
    clusters = {row.what: row.measured for row in sections["clusters"].rows}
    (task,) = (row.measured for row in sections["control_plane"].rows)
    (sent,) = (text for what, text in clusters.items() if "bytes of frontiers sent" in what)
    found = re.search(r"([\d.]+) ms per task", task), re.search(r"(\d+) MB.*; (\d+) million positions", sent)
    if found[0] is None or found[1] is None:
        raise ValueError(f"no figures in {task!r} and {sent!r}")
    return (
        float(run["search_seconds"]) * CORES / NINE_TILES_POSITIONS,
        float(run["journal_gib"]) * 2**30 / NINE_TILES_POSITIONS,
        float(run["table_gib"]) * 2**30 / NINE_TILES_POSITIONS,
        float(found[0][1]) / 1e3,
        float(found[1][1]) / float(found[1][2]),
    )


def _size(gib: str) -> str:
    return "" if not gib else f"{gib} GiB" if float(gib) >= 1 else f"{float(gib) * 1024:.0f} MiB"


def _time(seconds: str) -> str:
    return _duration(float(seconds)) if seconds else ""


def _duration(seconds: float) -> str:
    """Return seconds with two digits, or whole seconds below two minutes, minutes below two hours, or hours."""
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _bytes(count: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9)):
        if count >= size:
            return f"{count / size:.{1 if count < 10 * size else 0}f} {unit}"
    return f"{count / 1e6:.1f} MB"
