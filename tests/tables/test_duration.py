"""The estimate of a run's time."""

from pathlib import Path

import numpy as np
import pytest

from antipodes.bfs.segment_log import SegmentLog
from antipodes.config import load_config
from antipodes.sizes import GIB
from antipodes.tables.planning import duration
from antipodes.tables.planning.plan import plan_run


@pytest.mark.parametrize(("rows", "width", "moves", "maps"), [(64, 100, 3, 5), (2, 64, 2, 2), (501, 1, 4, 1)])
def test_the_sample_is_a_graph_whose_moves_can_be_undone(rows: int, width: int, moves: int, maps: int) -> None:
    tables = duration._random_tables(rows, width, moves, maps, np.random.default_rng(1))
    row, move = np.indices(tables.target.shape)
    assert (tables.target[tables.target, move] == row).all()
    assert (tables.column_map[tables.target, move] == tables.column_map).all()
    for columns in tables.column_maps:
        assert (columns[columns] == np.arange(width)).all()
    log = SegmentLog()
    assert duration._search(tables, log) == sum(segment.positions for segment in log.segments)


@pytest.mark.parametrize("name", ["three-colours", "hanoi-3-pegs", "m12"])
def test_estimates(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duration, "SAMPLE_SECONDS", 0.01)
    monkeypatch.setattr(duration, "FILL_SECONDS", 0.01)
    puzzle = load_config(name).puzzle
    with_table = duration.estimate_duration(plan_run(puzzle, 2, GIB), 2, tmp_path / "no" / "such", start=0.5)
    counts = duration.estimate_duration(plan_run(puzzle, 2, GIB, counts_only=True), 2, tmp_path)
    assert min(with_table.start, with_table.tables, with_table.search, with_table.write) > 0
    assert counts.write == 0
    assert with_table.seconds < 120
    assert not list(tmp_path.iterdir()), "nothing stays on the disk"
