"""Measured times and rates are on the pages of measurements, and other pages only repeat them; long tables are CSV."""

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest
from documents import ALL_PAGES, page_name
from project import DOCS, ROOT

EXPLANATION = DOCS / "explanation"
MEASUREMENTS = {
    "atlas.md",
    "benchmarks.md",
    *(
        f"explanation/{name}.md"
        for name in (
            "codec",
            "engine",
            "heuristics",
            "index-of-positions",
            "keys",
            "large-runs",
            "scaling",
            "symmetry",
            "tilings",
        )
    ),
}
"""Pages that contain measurements of their own, and state how they were made."""
ALLOWED = {
    "explanation/comparison.md": {"9.5 s", "1,167 s"},  # measured by the authors of other programs
    "how-to/hardest-starts.md": {"136 s"},  # measured with `python -m benchmarks.block_boards 4 4`
}
"""Figures on other pages that no page of measurements contains."""
RATE = r"[mb]illion(?:/s| (?:[\w-]+ )?(?:a|per) second)|[KMGT]i?B(?:/s| per second)"
FIGURE = re.compile(rf"(?<![\w.^])(\d[\d,]*(?:\.\d+)?) ?({RATE}|µs|ms|s)(?![\w/])")
"""A number with a rate or an abbreviated unit of time; time limits are spelled out ("10 seconds")."""


def figures(page: Path) -> set[str]:
    """Return the measured times and rates in the text of a page, outside code blocks."""
    text = re.sub(r"^ *(`{3,}).*?^ *\1", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    found = FIGURE.findall(re.sub(r"\s+", " ", prose))
    return {f"{number} {re.sub(r' .*second', '/s', unit)}" for number, unit in found}


@pytest.mark.parametrize("page", [page for page in ALL_PAGES if page_name(page) not in MEASUREMENTS], ids=page_name)
def test_figures_are_measured(page: Path) -> None:
    measured = set().union(*(figures(DOCS / name) for name in MEASUREMENTS))
    assert figures(page) - measured <= ALLOWED.get(page_name(page), set())


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_layers_of_large_runs_add_up() -> None:
    """Compare layers.csv with positions, radius and antipodes in the first table of the page."""
    layers = defaultdict(list)
    for row in rows(EXPLANATION / "large-runs" / "layers.csv"):
        assert int(row["depth"]) == len(layers[row["puzzle"]])
        layers[row["puzzle"]].append(int(row["positions"]))
    text = (EXPLANATION / "large-runs.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| \[.*\| ([\d,]+) \| (?:[\d,]+|all) \| (\d+) \| ([\d,]+) \| [^|]+ \|$", text, re.MULTILINE)
    shown = sorted(tuple(int(cell.replace(",", "")) for cell in row) for row in table)
    assert shown == sorted((sum(each), len(each) - 1, each[-1]) for each in layers.values())


def test_the_positions_of_korf_have_the_published_lengths_and_the_means_of_the_page() -> None:
    found = rows(EXPLANATION / "heuristics" / "korf-1985.csv")
    published = rows(ROOT / "tests" / "support" / "samples" / "korf100.csv")
    assert [(row["position"], row["moves"]) for row in found] == [
        (row["id"], row["optimal_length"]) for row in published
    ]
    text = (EXPLANATION / "heuristics.md").read_text(encoding="utf-8")
    for name, column in (
        ("7-8", "nodes_7_8"),
        ("6-6-3", "nodes_6_6_3"),
        ("linear conflict", "expanded_linear_conflict"),
    ):
        nodes = sorted(int(row[column]) for row in found)
        median = (nodes[49] + nodes[50] + 1) // 2
        assert f"| {name} | {sum(nodes) / 100:,.0f} | {median:,} | {nodes[-1]:,} |" in text
