"""The figures of earlier runs, a line of ``history.jsonl`` each, and how later ones differ from them."""

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
"""Units of the same quantity: a figure in one can be compared with a figure in another."""


@dataclass(frozen=True)
class Entry:
    """A complete run of the benchmarks."""

    date: str
    machine: str
    """The hardware alone: figures are compared where it is the same."""
    software: str
    """Versions of Python and the libraries."""
    commit: str
    """What was measured, as git names it."""
    figures: Mapping[str, str]
    """What was measured, in words, by what it is of."""


def entry(figures: Mapping[str, str]) -> Entry:
    """The figures of a run that ends now, here."""
    git = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(git, cwd=HERE, capture_output=True, text=True, check=False).stdout.strip() or "no commit"
    return Entry(f"{datetime.now(UTC):%Y-%m-%d}", hardware(), machine(), commit, figures)


def hardware() -> str:
    """The kind and number of the processors of this machine."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.exists() else ""
    model = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    return f"{len(os.sched_getaffinity(0))} x {model[1] if model else platform.processor() or platform.machine()}"


def last(of_machine: str, file: Path = FILE) -> Entry | None:
    """The last entry of a machine; None if there is none."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    entries = (Entry(**json.loads(line)) for line in reversed(lines))
    return next((one for one in entries if one.machine == of_machine), None)


def append(one: Entry, file: Path = FILE) -> None:
    """Add an entry at the end of the file."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")


def change(before: str | None, now: str) -> str:
    """How the first figure of a text differs from that of an earlier one, in per cent; empty if they are no figures."""
    first, second = (FIGURE.search(text or "") for text in (before, now))
    if first is None or second is None or _quantity(first[2]) != _quantity(second[2]):
        return ""
    earlier = _value(first)
    return f"{100 * (_value(second) / earlier - 1):+.0f} %" if earlier else ""


def _quantity(unit: str) -> str:
    return "seconds" if unit in ("µs", "ms", "s") else "bytes" if unit in UNITS else unit


def _value(figure: re.Match[str]) -> float:
    return float(figure[1].replace(",", "")) * UNITS.get(figure[2], 1)
