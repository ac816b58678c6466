"""``docs/benchmarks.md``, written from the stored results of all modules, and the tables of figures on other pages."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from benchmarks import history
from benchmarks.derived import FIGURES
from benchmarks.measure import HERE
from benchmarks.remarks import REMARKS
from benchmarks.results import Section
from benchmarks.targets import is_missed

DOCS = HERE.parent / "docs"
RESULTS = DOCS / "benchmarks.md"
BLOCK = re.compile(r"(?P<begin><!-- figures: (?P<name>\w+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)
"""A part of a page that a function of `derived` writes."""
HEAD = """# Benchmarks

`make bench` writes this page. Figures are medians of several runs on one machine. Runs of billions of positions are
single runs, and distances from Python are the best of five. The last column is the change of the first figure since the
previous measurement on the same machine, if there is one.

`benchmarks/history.jsonl` contains the figures of all runs, and the chart shows some of them. Compare only ratios
between runs on different machines.

![Seconds of six measurements in all runs](benchmarks.svg)
"""
MEASURED = "Measured on {date} at commit {commit}, {software}, {machine}."
UNMEASURED = "These measurements have not been made yet: `python -m benchmarks {name}`."


def page(sections: Mapping[str, Section], modules: tuple[str, ...]) -> str:
    """Return the page with one section for each module."""
    return "\n".join([HEAD, *(_part(name, sections.get(name)) for name in modules)])


def _part(name: str, section: Section | None) -> str:
    if section is None:
        title = import_module(f"benchmarks.{name}").TITLE
        return f"## {title}\n\n{UNMEASURED.format(name=name)}\n"
    measured = MEASURED.format(**vars(section))
    return f"## {section.title}\n\n{measured}\n\n{table(section)}"


def table(section: Section, file: Path | None = None) -> str:
    """Return the rows as a Markdown table. A result that misses its target has a remark."""
    before = history.earlier_figures(section.machine, section.commit, file)
    lines = ["| measurement | target | result | change |", "| --- | --- | --- | --- |"]
    for row in section.rows:
        key = section.key(row)
        remark = f" ({REMARKS[key]})" if is_missed(row.target, row.measured) and key in REMARKS else ""
        changed = history.change(before.get(key), row.measured)
        lines.append(f"| {row.what} | {row.target} | {row.measured}{remark} | {changed} |")
    return "\n".join(lines) + "\n"


def with_tables(text: str, sections: Mapping[str, Section]) -> str:
    """Return the text of a page with its tables of figures written again."""
    return BLOCK.sub(lambda block: f"{block['begin']}{FIGURES[block['name']](sections)}{block['end']}", text)


def write(sections: Mapping[str, Section], modules: tuple[str, ...]) -> None:
    """Write the page of benchmarks, and the tables of figures on all other pages."""
    RESULTS.write_text(page(sections, modules), encoding="utf-8")
    for path in DOCS.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        if BLOCK.search(text):
            path.write_text(with_tables(text, sections), encoding="utf-8")
