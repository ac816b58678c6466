"""Every measured time, rate and memory has one home: a page or table that the benchmarks write, or a CSV file."""

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest
from documents import ALL_PAGES, page_name
from project import DOCS, ROOT

from benchmarks import page as pages
from benchmarks import results
from benchmarks.__main__ import MODULES
from benchmarks.remarks import REMARKS
from benchmarks.targets import is_missed

EXPLANATION = DOCS / "explanation"
WRITTEN = ("benchmarks.md", "atlas.md")
"""Pages that commands write from results."""
ALLOWED = {
    "README.md": {"Hundreds of millions of positions per second"},
    "explanation/comparison.md": {"9.5 s", "0.5 s", "1,167 s"},
    "explanation/heuristics.md": {"takes more than a second"},
    "explanation/large-runs.md": {"900 MB/s", "575 s", "took 17 minutes"},
    "explanation/scaling.md": {"1.25 GB/s"},
    "explanation/symmetry.md": {"takes about a second", "10⁹ steps per second"},
    "explanation/reliability.md": {"within about a second"},
    "how-to/clusters.md": {"within 60 seconds"},
    "how-to/five-tasks.md": {"within five minutes"},
    "reference/cli.md": {"taken two seconds"},
    "reference/failures.md": {"within a minute", "within 10 seconds"},
    "tutorial/first-table.md": {"within five minutes"},
}
"""Figures outside these homes: limits of the program, assumptions, and measurements by authors of other programs."""
NUMBER = (
    r"(?:\d[\d,]*(?:\.\d+)?|half an?|an?|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty)"
)
RATE = (
    r"(?:(?:[mb]illion|thousand)s? )?(?:[\w-]+ ){0,2}per (?:processor )?second"
    r"|[mb]illion/s|[KMGT]i?B(?:/s| per second)"
)
SHORT = (
    rf"(?<![\w.^/-])\d[\d,]*(?:[.^]\d+|[⁰-⁹]+)? ?(?:{RATE}|[µnm]?s|min|h)(?![\w/])"
    r"|\b(?:\w+ )?(?:of )?(?:million|billion)s? [\w ]{0,20}per second"
)
LONG = (
    rf"{NUMBER}(?: (?:to|and|or|a|half|quarter|{NUMBER}))*[ -](?:(?:milli|micro|nano)?seconds?|minutes?|hours?|days?)"
)
TAKES = (
    r"(?:tak(?:es?|ing|en)|took|need(?:s|ed)?|lasts|lasted|spen[dt]s?|costs?|(?:(?:found|counted|solved) )?(?:with)?in)"
)
ABOUT = r"(?:about |only |less than |more than |almost |nearly |up to |another |under |over )*"
TIME = re.compile(rf"{SHORT}|\b{TAKES} (?!a second (?!or|to)[a-z]){ABOUT}{LONG}(?! time)")
"""A rate, a time with an abbreviated unit, or any time that something takes; limits are spelled out ("10 seconds")."""
MEMORY = re.compile(r"(?:peak memory|took)[^.|]{0,60}?\d[\d,.]* [KMGT]i?B|\d[\d,.]* [KMGT]i?B[^.|]{0,20}peak")
LOAD = (
    r"(?:busy|idle|quiet) (?:machine|processors?)|low-priority programs|programs (?:were running|used the)"
    r"|[Ee]arlier versions? (?:took|stored|needed|which)|an earlier (?:program|cut)\b"
)


def figures(page: Path) -> set[str]:
    """Return the times, rates and memory in the text of a page, without listings and the tables that are written."""
    text = re.sub(pages.BLOCK, "", page.read_text(encoding="utf-8"))
    text = re.sub(r"^ *(`{3,}).*?^ *\1", "", text, flags=re.DOTALL | re.MULTILINE)
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    prose = re.sub(r"\s+", " ", re.sub(r"`[^`]*`|\]\([^)]*\)", "", prose))
    return {found[0] for pattern in (TIME, MEMORY) for found in pattern.finditer(prose)}


def test_a_page_has_no_measured_figures_of_its_own() -> None:
    pages_with_figures = {page_name(page): found for page in ALL_PAGES if (found := figures(page))}
    assert {name: found for name, found in pages_with_figures.items() if name not in WRITTEN} == ALLOWED


def test_no_page_describes_the_load_of_a_machine_or_an_earlier_program() -> None:
    texts = {page_name(page): " ".join(page.read_text(encoding="utf-8").split()) for page in ALL_PAGES}
    assert {name: found for name, text in texts.items() if (found := re.findall(LOAD, text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "0.21 s",
        "it took half a minute to two and a half minutes",
        "8.6 million/s",
        "in four minutes",
        "26 MB/s",
        "124 million positions per second",
        "about a million positions per second",
        "peak memory was 3.4 GiB",
        "takes about 20 seconds",
        "counted in 3 hours",
    ],
)
def test_a_measured_figure_is_noticed(text: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(f"A run: {text}.\n", encoding="utf-8")
    assert figures(tmp_path / "page.md")


def test_the_written_pages_show_the_stored_results() -> None:
    """Run ``python -m benchmarks --page`` after a change of a remark, of runs.csv or of a table of figures."""
    sections = results.read()
    assert pages.RESULTS.read_text(encoding="utf-8") == pages.page(sections, MODULES)
    for path in DOCS.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert pages.with_tables(text, sections) == text, path


def test_a_result_that_misses_its_target_has_a_remark() -> None:
    sections = results.read().values()
    missed = {one.key(row) for one in sections for row in one.rows if is_missed(row.target, row.measured)}
    assert missed <= REMARKS.keys()
    assert REMARKS.keys() <= {one.key(row) for one in sections for row in one.rows}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_layers_of_large_runs_add_up() -> None:
    """Compare the layers with positions, radius and antipodes in the tables of the page."""
    layers = defaultdict(list)
    files = ("layers.csv", "graph-layers.csv")
    for row in (row for name in files for row in rows(EXPLANATION / "large-runs" / name)):
        assert int(row["depth"]) == len(layers[row["puzzle"]])
        layers[row["puzzle"]].append(int(row["positions"]))
    text = (EXPLANATION / "large-runs.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| \[.*\| ([\d,]+) \| (?:[\d,]+|all) \| (\d+) \| ([\d,]+) \| [^|]+ \|$", text, re.MULTILINE)
    graphs = re.findall(r"^\| (?:\d+ tiles) .* ([\d,]+) \| (\d+) \| ([\d,]+) \|$", text, re.MULTILINE)
    shown = sorted(tuple(int(cell.replace(",", "")) for cell in row) for row in [*table, *graphs])
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
