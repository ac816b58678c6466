"""Measure everything or the named modules, store the results, and write them into the documentation."""

import argparse

from benchmarks import history, page, results
from benchmarks.chart import draw
from benchmarks.measure import measured

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
    "control_plane",
)
CHART = page.RESULTS.with_suffix(".svg")


def main(arguments: list[str] | None = None) -> None:
    """Read the arguments, measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"by default all of {', '.join(MODULES)}")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from the stored results")
    parser.add_argument("--only-print", action="store_true", help="store and write nothing")
    chosen = parser.parse_args(arguments)
    if not chosen.page:
        measure(chosen.modules or MODULES, is_stored=not chosen.only_print)
    if not chosen.only_print:
        page.write(results.read(), MODULES)


def measure(names: list[str] | tuple[str, ...], *, is_stored: bool) -> None:
    """Run the named modules and print their results; store each module's results as soon as it has run."""
    for name in names:
        section = results.section(*measured(name))
        print(f"## {section.title}\n\n{page.table(section)}", flush=True)
        if is_stored:
            results.write({**results.read(), name: section})
            history.add(section.figures(), section.made())
            draw(history.entries(), CHART)


if __name__ == "__main__":
    main()
