"""The figures of earlier runs, one per line of ``history.jsonl``, and the relative change of later figures."""

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measure import HERE, machine

FILE = HERE / "history.jsonl"
FIGURE = re.compile(r"([\d,]+(?:\.\d+)?) ?(µs|ms|s\b|kB|MB|GB|%|million/s|times)")
UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
"""Units of time and of size, with their values in seconds and bytes."""


@dataclass(frozen=True)
class Entry:
    """A complete run of the benchmarks."""

    date: str
    machine: str
    """The hardware; only figures from the same hardware are compared."""
    software: str
    """Versions of Python and the libraries."""
    commit: str
    """The measured commit, in the form of ``git describe``."""
    figures: Mapping[str, str]
    """The results as text, by section and measurement."""


def entry(figures: Mapping[str, str]) -> Entry:
    """Return an entry with these figures, the current date, machine and commit."""
    git = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(git, cwd=HERE, capture_output=True, text=True, check=False).stdout.strip() or "no commit"
    return Entry(f"{datetime.now(UTC):%Y-%m-%d}", hardware(), machine(), commit, figures)


def hardware() -> str:
    """Return the number and the model of this machine's processors."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.exists() else ""
    model = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    return f"{len(os.sched_getaffinity(0))} x {model[1] if model else platform.processor() or platform.machine()}"


def entries(file: Path = FILE) -> list[Entry]:
    """Return all entries, the oldest first."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [Entry(**json.loads(line)) for line in lines]


def last_entry(of_machine: str, file: Path = FILE) -> Entry | None:
    """Return the last entry of a machine, or None if there is none."""
    return next((one for one in reversed(entries(file)) if one.machine == of_machine), None)


def seconds(text: str) -> float | None:
    """Return the first figure of a result in seconds, or None if it is not a time."""
    found = FIGURE.search(text)
    return _value(found) if found and _quantity(found[2]) == "seconds" else None


def append(one: Entry, file: Path = FILE) -> None:
    """Append an entry to the file."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")


def change(before: str | None, now: str) -> str:
    """Return the change of the first figure in per cent, or an empty string if the figures cannot be compared."""
    first, second = (FIGURE.search(text or "") for text in (before, now))
    if first is None or second is None or _quantity(first[2]) != _quantity(second[2]):
        return ""
    earlier = _value(first)
    return f"{100 * (_value(second) / earlier - 1):+.0f} %" if earlier else ""


def _quantity(unit: str) -> str:
    return "seconds" if unit in ("µs", "ms", "s") else "bytes" if unit in UNITS else unit


def _value(figure: re.Match[str]) -> float:
    return float(figure[1].replace(",", "")) * UNITS.get(figure[2], 1)
