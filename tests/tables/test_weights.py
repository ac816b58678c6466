"""Entries that stand for several positions: towers of Hanoi with two pegs taken for the same."""

from itertools import count
from pathlib import Path

import numpy as np
import pytest
from reduced_towers import TOWERS, reduce_towers

from antipodes.runs.options import RunOptions
from antipodes.tables.run import RunReport, run_puzzle
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.table import open_table


@pytest.fixture
def reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    reduce_towers(monkeypatch)


def whole_layers(tmp_path: Path) -> tuple[int, ...]:
    return tuple(run_puzzle(TOWERS, tmp_path / "whole.zarr", RunOptions(workers=1)).manifest.layers)


def run(store: Path, layers: int = 1000, *, counts_only: bool = False) -> RunReport:
    """The report of a run that is interrupted after some layers."""
    asked = count()
    options = RunOptions(workers=2, counts_only=counts_only, checkpoint_every=0)
    return run_puzzle(TOWERS, store, options, interrupted=lambda: next(asked) >= layers)


def check(manifest: SearchManifest, expected: tuple[int, ...]) -> None:
    assert manifest.positions == expected[: len(manifest.layers)]
    assert all(entries <= positions for entries, positions in zip(manifest.layers, expected, strict=False))


@pytest.mark.parametrize("counts_only", [False, True])
def test_layers_count_positions_also_of_a_run_that_is_resumed(
    counts_only: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    expected = whole_layers(tmp_path)
    request.getfixturevalue("reduced")
    begun = run(tmp_path / "reduced.zarr", 9, counts_only=counts_only)
    assert not begun.complete
    check(begun.manifest, expected)
    report = run(tmp_path / "reduced.zarr", counts_only=counts_only)
    assert report.complete
    check(report.manifest, expected)
    assert sum(report.manifest.layers) == 2 * 3**5
    assert (report.manifest.states, report.to_json()["layers"]) == (3**6, list(expected))
    assert report.to_json()["antipodes"] == expected[-1]


def test_a_table_speaks_of_positions_and_finds_each(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    expected = whole_layers(tmp_path)
    with open_table(tmp_path / "whole.zarr") as whole:
        every = whole.space.unrank(np.arange(3**6))
        distances = whole.distances(every)
    request.getfixturevalue("reduced")
    run(tmp_path / "reduced.zarr")
    with open_table(tmp_path / "reduced.zarr") as table:
        assert (tuple(table.layers), len(table), table.index_size) == (expected, 3**6, 2 * 3**5)
        assert table.distances(every).tolist() == distances.tolist()


def test_a_table_without_weights_says_nothing_of_them(tmp_path: Path) -> None:
    run_puzzle(TOWERS, tmp_path / "whole.zarr", RunOptions(workers=1))
    assert "weighed" not in (tmp_path / "whole.zarr" / "commit.json").read_text()
