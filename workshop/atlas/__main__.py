"""Compute the tables, and write ``docs/atlas.md``, ``docs/atlas.json`` and the sizes of the puzzles.

With names as arguments, only these puzzles are computed again. ``--pages`` computes nothing: it writes the page and the
data from ``results.json``.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from antipodes.puzzles.config import bundled_configs, index_sizes_file, load_config
from antipodes_tasks.spaces.selection import index_size
from benchmarks.measure import machine
from workshop.atlas.data import data
from workshop.atlas.entries import CHAPTERS, FAMILIES
from workshop.atlas.page import page
from workshop.atlas.results import Results, layers_of, read_results, result_of, write_results

PAGE = Path(__file__).parents[2] / "docs" / "atlas.md"
DATA = PAGE.with_suffix(".json")


def main(arguments: list[str]) -> None:
    """Compute and write everything; with ``--pages``, only write the page and the data."""
    if arguments == ["--pages"]:
        write_pages(read_results())
    else:
        compute(arguments)


def compute(names: list[str]) -> None:
    """Compute the named puzzles, or all puzzles and families, and write the results, the page and the data."""
    results = read_results() if names else Results(machine(), {}, _families())
    for name in names or [name for chapter in CHAPTERS.values() for name in chapter]:
        results.puzzles[name] = one = result_of(name)
        print(f"{name}: {one.states:,} positions, radius {one.radius}, {one.seconds} s", flush=True)
    write_results(results)
    write_index_sizes()
    write_pages(results)


def write_pages(results: Results) -> None:
    """Write the page and the data of these results."""
    PAGE.write_text(page(results), encoding="utf-8")
    DATA.write_text(data(results), encoding="utf-8")


def index_sizes(names: Iterable[str]) -> dict[str, int]:
    """Return the size of the index of each puzzle, by name."""
    return {name: index_size(load_config(name).puzzle.rules) for name in names}


def write_index_sizes() -> None:
    """Write the file of index sizes that ``antipodes puzzles`` prints."""
    index_sizes_file().write_text(f"{json.dumps(index_sizes(bundled_configs()), indent=1)}\n", encoding="utf-8")


def _families() -> dict[str, dict[str, list[int]]]:
    return {family.title: {str(size): layers_of(family.settings(size)) for size in family.sizes} for family in FAMILIES}


if __name__ == "__main__":
    main(sys.argv[1:])
