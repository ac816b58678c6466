"""Matches of patterns if free moves connect positions: every class counts once, and the matches fit the pattern."""

from pathlib import Path

import pytest

import antipodes as ap
from antipodes.puzzles.config import Config

WHEELS = {"name": "wheels", "family": "generators", "n": 5, "moves": {"L": "(0 1 2)", "R": "(2 3 4)"}, "free": ["L"]}


def test_the_nearest_and_farthest_positions_match_the_pattern(tmp_path: Path) -> None:
    ap.run(Config(WHEELS), tmp_path / "store")
    with ap.open_table(tmp_path / "store") as table:
        matches = table.match("? ? 0 ? ?")
        assert (matches.nearest[:, 2] == 0).all()
        assert (matches.farthest[:, 2] == 0).all()
        depths = table.distances(matches.farthest)
        assert depths.tolist() == [max(matches.by_distance)] * len(depths)


@pytest.mark.slow
def test_positions_without_a_class_do_not_hide_the_last_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"family": "generators", "moves": {"T": "(0 2 4 6)(1 3 5 7)", "S": "(4 5 6 7)"}, "free": ["T"]}
    ap.run(Config({"name": "torn", **settings, "start": "aAbBcdef", "pieces": [[0, 1], [2, 3]]}), tmp_path / "store")
    with ap.open_table(tmp_path / "store") as table:
        every = table.match("????????")
        assert every.by_distance == dict(enumerate(table.layers))
        monkeypatch.setattr("antipodes.puzzles.pattern.BATCH", 7, raising=True)
        assert table.match("????????").by_distance == every.by_distance
