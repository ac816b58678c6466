"""Measure everything and write ``docs/benchmarks.md``."""

import sys
from importlib import import_module
from pathlib import Path

from benchmarks.measure import Row, machine

MODULES = (
    "tables",
    "queries",
    "large",
    "puzzles",
    "push_pull",
    "tilings",
    "searches",
    "heuristics",
    "service",
    "clusters",
)
RESULTS = Path(__file__).parents[1] / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Written by `make bench`; all figures are medians of one run on one machine:
{machine}.
"""


def main(names: list[str]) -> None:
    """Run the benchmark modules of these names, or all of them, and write what they measured."""
    parts = [HEAD.format(machine=machine())]
    for name in names or MODULES:
        module = import_module(f"benchmarks.{name}")
        parts.append(f"## {module.TITLE}\n\n{_table(module.measure())}")
        print(parts[-1], flush=True)
    if not names:
        RESULTS.write_text("\n".join(parts), encoding="utf-8")


def _table(rows: list[Row]) -> str:
    lines = ["| what | at most, or at least | measured |", "| --- | --- | --- |"]
    lines += [f"| {row.what} | {row.target} | {row.measured} |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
