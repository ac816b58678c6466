"""Measure everything, write ``docs/benchmarks.md``, and add the figures to ``history.jsonl``."""

import sys
from importlib import import_module
from pathlib import Path

from benchmarks import history
from benchmarks.measure import Row, machine

MODULES = (
    "tables",
    "queries",
    "large",
    "puzzles",
    "keys",
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

{compared}
`benchmarks/history.jsonl` has the figures of all runs.
"""
COMPARED = (
    "The change is that of the first figure against {one.commit} of {one.date}, on the same machine, {one.software}."
)
ALONE = "No earlier run on this machine is on record."


def main(names: list[str]) -> None:
    """Run the benchmark modules of these names, or all of them, and write what they measured."""
    before = history.last(history.hardware())
    compared = ALONE if before is None else COMPARED.format(one=before)
    parts = [HEAD.format(machine=machine(), compared=compared)]
    figures: dict[str, str] = {}
    for name in names or MODULES:
        module = import_module(f"benchmarks.{name}")
        rows = module.measure()
        parts.append(f"## {module.TITLE}\n\n{table(module.TITLE, rows, before)}")
        figures |= {_key(module.TITLE, row): row.measured for row in rows}
        print(parts[-1], flush=True)
    if not names:
        history.append(history.entry(figures))
        RESULTS.write_text("\n".join(parts), encoding="utf-8")


def _key(title: str, row: Row) -> str:
    return f"{title}: {row.what}"


def table(title: str, rows: list[Row], before: history.Entry | None) -> str:
    """The rows as Markdown, each with its change."""
    figures = {} if before is None else before.figures
    lines = ["| what | at most, or at least | measured | change |", "| --- | --- | --- | --- |"]
    for row in rows:
        changed = history.change(figures.get(_key(title, row)), row.measured)
        lines.append(f"| {row.what} | {row.target} | {row.measured} | {changed} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
