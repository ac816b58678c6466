"""Depths about and beyond the greatest that a byte holds, and that 16 bits hold."""

from pathlib import Path

import pytest
from brute_force import jump_distances, layers

from antipodes.config import Config
from antipodes.executors.threads import Threads
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.stores import TableStore
from antipodes.tables.table import open_table
from antipodes.tables.verify import verify
from antipodes_tasks.errors import (
    DepthLimitError,
)


def ring(places: int) -> Config:
    """One marked piece among equal ones on a ring: a single cycle of places * (places - 1) positions."""
    edges = [[place, (place + 1) % places] for place in range(places)]
    start = "-B" + "A" * (places - 2)
    return Config({"name": "ring", "family": "jump", "start": start, "edges": edges})


@pytest.mark.parametrize("checkpoint_every", [0, 1000])
def test_depths_beyond_254(checkpoint_every: float, tmp_path: Path) -> None:
    config = ring(24)
    report = run_puzzle(config, tmp_path / "t.zarr", RunOptions(workers=2, checkpoint_every=checkpoint_every))
    expected = jump_distances(dict(config.settings))
    assert report.manifest.radius == 276
    assert list(report.manifest.layers) == layers(expected) == [1, *[2] * 275, 1]
    assert report.manifest.dtype == "uint16"
    with open_table(tmp_path / "t.zarr") as table:
        assert {text: table.distance("".join(text)) for text in expected} == expected
        assert len(table.path(table.antipodes()[0])) == 277
    assert verify(tmp_path / "t.zarr", Threads(2)).ok


@pytest.mark.parametrize("length", [254, 255, 256, 257, 300])
def test_a_line_of_one_position_at_each_depth(length: int, tmp_path: Path) -> None:
    start = " ".join(["0"] + ["1"] * (length - 1))
    config = Config({"name": "line", "family": "sliding", "rows": 1, "columns": length, "start": start})
    report = run_puzzle(config, tmp_path / "t.zarr")
    assert list(report.manifest.layers) == [1] * length
    assert verify(tmp_path / "t.zarr", Threads(1)).ok
    with open_table(tmp_path / "t.zarr") as table:
        assert table.distance(table.antipodes()[0]) == length - 1


@pytest.mark.slow
def test_depths_beyond_16_bits_are_an_error(tmp_path: Path) -> None:
    config = ring(363)
    with pytest.raises(DepthLimitError, match="65,534"):
        run_puzzle(config, tmp_path / "t.zarr", RunOptions(workers=1))
    assert TableStore(tmp_path / "t.zarr").read().radius == 65534
