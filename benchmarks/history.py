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
OUTPUTS = ("docs", "benchmarks/history.jsonl", "benchmarks/results.json")
"""Files of the repository that do not change a measurement: the benchmarks write some of them."""
FIGURE = re.compile(r"([\d,]+(?:\.\d+)?) ?(µs|ms|s\b|minutes?|[kMG]i?B|%|million/s|times)")
UNITS = {
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1,
    "minute": 60,
    "minutes": 60,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
}
"""Units of time and of size, with their values in seconds and bytes."""


@dataclass(frozen=True)
class Entry:
    """The figures of one commit on one machine, measured in one or several parts."""

    date: str
    machine: str
    """The hardware; only figures from the same hardware are compared."""
    software: str
    """Versions of Python and the libraries."""
    commit: str
    """The measured commit, in the form of ``git describe``."""
    figures: Mapping[str, str]
    """The results as text, by section and measurement."""


def now() -> dict[str, str]:
    """Return the date, machine, software and commit of a measurement that is made now."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": hardware(),
        "software": machine(),
        "commit": _commit(),
    }


def _commit() -> str:
    """Return the name of the commit, with ``-dirty`` if files that change a measurement are modified."""
    commit = _git("describe", "--always")
    paths = [":(top)", *(f":(top,exclude){path}" for path in OUTPUTS)]
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", *paths)
    return f"{commit or 'no commit'}{'-dirty' if changed else ''}"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def hardware() -> str:
    """Return the number and the model of this machine's processors."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.exists() else ""
    model = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    return f"{len(os.sched_getaffinity(0))} x {model[1] if model else platform.processor() or platform.machine()}"


def entries(file: Path | None = None) -> list[Entry]:
    """Return all entries, the oldest first."""
    file = file or FILE
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [Entry(**json.loads(line)) for line in lines]


def earlier_figures(of_machine: str, commit: str, file: Path | None = None) -> dict[str, str]:
    """Return the last figure of each measurement on a machine at other commits."""
    before = [one for one in entries(file) if one.machine == of_machine and one.commit != commit]
    return {key: figure for one in before for key, figure in one.figures.items()}


def seconds(text: str) -> float | None:
    """Return the first figure of a result in seconds, or None if it is not a time."""
    found = FIGURE.search(text)
    return _value(found) if found and quantity(found[2]) == "seconds" else None


def add(figures: Mapping[str, str], made: Mapping[str, str], file: Path | None = None) -> None:
    """Add figures that were made at a commit on a machine. A later part of the same commit completes its entry."""
    before = entries(file)
    same = bool(before) and {name: getattr(before[-1], name) for name in made} == made
    merged = Entry(figures={**(before[-1].figures if same else {}), **figures}, **made)
    lines = [json.dumps(asdict(one), ensure_ascii=False) for one in [*before[: len(before) - same], merged]]
    (file or FILE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def change(before: str | None, now: str) -> str:
    """Return the change of the first figure in per cent, or an empty string if the figures cannot be compared."""
    first, second = (FIGURE.search(text or "") for text in (before, now))
    if first is None or second is None or quantity(first[2]) != quantity(second[2]):
        return ""
    earlier = _value(first)
    return f"{100 * (_value(second) / earlier - 1):+.0f} %" if earlier else ""


def quantity(unit: str) -> str:
    return unit if unit not in UNITS else "bytes" if unit.endswith("B") else "seconds"


def _value(figure: re.Match[str]) -> float:
    return float(figure[1].replace(",", "")) * UNITS.get(figure[2], 1)
