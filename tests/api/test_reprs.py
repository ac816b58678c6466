"""What a person at a prompt sees of each public object: one short line that says what it is."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import antipodes as api
from antipodes.tables.run import RunOptions
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.spaces.selection import best_space

FAR = "8 6 7 2 5 4 3 0 1"


def objects(finished: Path, folder: Path) -> Iterator[tuple[object, str]]:
    """Objects, and the pattern of what is shown of each."""
    eight = api.load_puzzle("eight-puzzle")
    yield eight, "<Puzzle eight-puzzle: sliding, 9 places, 24 moves>"
    yield api.load_config("eight-puzzle"), "<Config of eight-puzzle: sliding>"
    yield Problem.of(eight.rules, eight.parse(FAR)), f"<Problem of eight-puzzle: {FAR}, 1 goal>"
    yield best_space(eight.rules), "<arrangements of eight-puzzle: 504 rows of 360 columns>"
    yield best_space(api.load_puzzle("pyraminx").rules), "<group of pyraminx: 972 rows of 960 columns>"
    yield api.check_puzzle(eight), "<CheckReport: ok: .*>"
    with api.open_table(finished) as table:
        yield table, "<Table of eight-puzzle: 181,440 positions, radius 31, in .*eight-puzzle.zarr>"
        yield table.space, "<arrangements of eight-puzzle: .*>"
        yield table.match("1 2 3 / ? ? ? / ? ? ?"), "<Matches: 720 positions, 360 reached, distances 0 to .*>"
        yield api.solve(eight, FAR, table=table), "<Answer: 31 moves, 1 solution, by table, .* positions expanded>"
    yield api.solve(eight, FAR, max_depth=2), "<Answer: depth-limit, by .*>"
    yield api.verify(finished), "<TableVerdict: ok: 181,440 positions checked, .*>"
    yield api.run("eight-puzzle", finished), "<RunReport of eight-puzzle: 181,440 positions, radius 31, .* s>"
    counts = api.run("eight-puzzle", folder / "e.counts.zarr", counts_only=True, workers=1)
    yield api.open_counts(counts.store), "<Counts of eight-puzzle: 181,440 positions, radius 31, in .*>"
    report = api.tile("3x20", folder / "t.zarr", workers=1)
    yield report, "<TilingReport of 3x20: 2 tilings, .* s>"
    yield api.verify_tilings(report.store), "<TilingVerdict: ok: .*>"
    yield api.load_board("3x20"), "<BoardConfig of 3x20>"
    yield api.load_board("3x20").problem, "<TilingProblem 3x20: 60 cells, 12 pieces>"
    yield RunOptions(), r"RunOptions\(\)"
    yield RunOptions(workers=2, overwrite=True), r"RunOptions\(workers=2, overwrite=True\)"


def test_one_short_line_each(finished: Path, tmp_path: Path) -> None:
    for one, pattern in objects(finished, tmp_path):
        assert re.fullmatch(pattern, repr(one)), repr(one)
        assert "\n" not in repr(one)
        assert len(repr(one)) <= 120, repr(one)


@pytest.mark.parametrize("name", ["x" * 60, "a b"])
def test_long_names_are_cut(name: str) -> None:
    config = api.Config({"name": name, "family": "pancake", "n": 4})
    assert len(repr(config)) < 80
    assert len(repr(config.puzzle)) < 100
