"""Measure everything, write ``docs/benchmarks.md``, and add the figures to ``history.jsonl``."""

import sys
from pathlib import Path

from benchmarks import history
from benchmarks.chart import draw
from benchmarks.measure import Row, machine, measured

MODULES = (
    "tables",
    "peers",
    "queries",
    "large",
    "puzzles",
    "keys",
    "push_pull",
    "tilings",
    "searches",
    "kernels",
    "heuristics",
    "service",
    "clusters",
)
RESULTS = Path(__file__).parents[1] / "docs" / "benchmarks.md"
CHART = RESULTS.with_suffix(".svg")
HEAD = """# Benchmarks

`make bench` writes this page. Figures are medians of several runs on one machine ({machine}).
Runs of billions of positions are single runs, and distances from Python are the best of five.

{compared}
`benchmarks/history.jsonl` contains the figures of all runs, and the chart shows some of them. Compare only ratios
between runs on different machines.

![Seconds of six measurements in all runs](benchmarks.svg)
"""
COMPARED = (
    "The last column is the change of the first figure since {one.commit} ({one.date}), on the same machine with "
    "{one.software}."
)
ALONE = "There is no earlier run on this machine."


def main(names: list[str]) -> None:
    """Run the named benchmark modules, or all of them, and print the results; write the page after a run of all."""
    before = history.last_entry(history.hardware())
    compared = ALONE if before is None else COMPARED.format(one=before)
    parts = [HEAD.format(machine=machine(), compared=compared)]
    figures: dict[str, str] = {}
    for name in names or MODULES:
        title, rows = measured(name)
        parts.append(f"## {title}\n\n{table(title, rows, before)}")
        figures |= {_key(title, row): row.measured for row in rows}
        print(parts[-1], flush=True)
    if not names:
        history.append(history.entry(figures))
        draw(history.entries(), CHART)
        RESULTS.write_text("\n".join(parts), encoding="utf-8")


def _key(title: str, row: Row) -> str:
    return f"{title}: {row.what}"


def table(title: str, rows: list[Row], before: history.Entry | None) -> str:
    """Return the rows as a Markdown table, each with its change since the earlier run."""
    figures = {} if before is None else before.figures
    lines = ["| measurement | target | result | change |", "| --- | --- | --- | --- |"]
    for row in rows:
        changed = history.change(figures.get(_key(title, row)), row.measured)
        lines.append(f"| {row.what} | {row.target} | {row.measured} | {changed} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
