"""Tables reduced by symmetries, whose entries stand for several positions, against the same tables without."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from puzzle_settings import TOWERS
from stores import stop_after

from antipodes.puzzles.config import Config, as_config
from antipodes.system.options import RunOptions
from antipodes.tables import up_to_symmetry
from antipodes.tables.counts import open_counts
from antipodes.tables.run import RunReport, run_puzzle
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.table import Table, open_table
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.properties.finding import symmetries_of

LIGHTS = Config({"name": "lights", "family": "lights-out", "rows": 3, "columns": 3})


def run(store: Path, layers: int = 1000, config: Config = TOWERS, **more: Any) -> RunReport:
    """The report of a run with symmetries that is interrupted after some layers."""
    options = RunOptions(**{"workers": 2, "symmetry": "on", "checkpoint_every": 0, **more})
    return run_puzzle(config, store, options, interrupted=stop_after(layers))


@pytest.fixture(scope="module", params=["towers", "lights"])
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Table, Table]]:
    """A reduced table, and the whole one of the same puzzle."""
    folder = tmp_path_factory.mktemp("tables")
    config = {"towers": TOWERS, "lights": LIGHTS}[request.param]
    run(folder / "reduced.zarr", config=config)
    run(folder / "whole.zarr", config=config, symmetry=None)
    with open_table(folder / "reduced.zarr") as reduced, open_table(folder / "whole.zarr") as whole:
        assert reduced._chunks._manifest.index_size < whole._chunks._manifest.index_size
        yield reduced, whole


@pytest.fixture(scope="module")
def whole_layers(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, ...]:
    return tuple(run(tmp_path_factory.mktemp("whole") / "t.zarr", symmetry="off").manifest.layers)


def check(manifest: SearchManifest, expected: tuple[int, ...]) -> None:
    assert tuple(manifest.positions) == expected[: len(manifest.layers)]
    assert all(entries <= positions for entries, positions in zip(manifest.layers, expected, strict=False))


@pytest.mark.parametrize("counts_only", [False, True])
def test_layers_count_positions_also_of_a_run_that_is_resumed(
    counts_only: bool, whole_layers: tuple[int, ...], tmp_path: Path
) -> None:
    begun = run(tmp_path / "reduced.zarr", 9, counts_only=counts_only)
    assert not begun.complete
    check(begun.manifest, whole_layers)
    report = run(tmp_path / "reduced.zarr", counts_only=counts_only, symmetry=None)
    assert report.complete
    check(report.manifest, whole_layers)
    assert sum(report.manifest.layers) < 3**6
    shown = report.to_json()
    assert (report.manifest.states, shown["layers"]) == (3**6, list(whole_layers))
    assert (shown["index_size"], shown["entries"], shown["symmetry"]) == (3**6, report.manifest.index_size, 2)
    assert shown["antipodes"] == whole_layers[-1] == 64
    assert len(np.unique(report.farthest, axis=0)) == len(report.farthest) == 6


@pytest.mark.parametrize("share", [0.0, 1000.0])  # by reading the table, by listing arrangements
def test_classes_and_positions_with_a_symmetry(
    tables: tuple[Table, Table], share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(up_to_symmetry, "LISTED_SHARE", share)
    reduced, whole = tables
    assert reduced.unique_layers() == whole.unique_layers()
    for one in symmetries_of(whole.puzzle.rules).elements():
        assert reduced.symmetric_layers(one) == whole.symmetric_layers(one)
    antipodes = whole.antipodes()
    assert reduced.symmetries_at(antipodes) == whole.symmetries_at(antipodes)


def test_classes_of_antipodes_of_counts(tables: tuple[Table, Table], tmp_path: Path) -> None:
    _, whole = tables
    antipodes, config = whole.unique_antipodes(), as_config(whole.puzzle)
    entries = run(tmp_path / "counts.zarr", config=config, counts_only=True).manifest.layers[-1]
    with open_counts(tmp_path / "counts.zarr") as counts, pytest.MonkeyPatch.context() as patch:
        patch.setattr("antipodes.tables.counts.MAX_ANTIPODES", entries)
        assert np.array_equal(counts.unique_antipodes(), antipodes)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("search.layer_search", "store.manifest"):
            patch.setattr(f"antipodes.tables.{module}.MAX_ANTIPODES", entries - 1)
        run(tmp_path / "few.zarr", config=config, counts_only=True)
        with open_counts(tmp_path / "few.zarr") as counts, pytest.raises(InputError, match="too few to find all"):
            counts.unique_antipodes()


def test_draws_are_uniform_over_positions(tables: tuple[Table, Table]) -> None:
    reduced, _ = tables
    depth = int(np.argmax(reduced.layers))
    count = reduced.layers[depth]
    drawn = np.concatenate([reduced.sample(depth, 1, seed) for seed in range(10 * count)])
    _, found = np.unique(drawn, axis=0, return_counts=True)
    assert len(found) == count
    assert found.max() < 30


def test_data_sets_and_heuristics_have_all_positions(tables: tuple[Table, Table]) -> None:
    reduced, whole = tables
    positions, distances = reduced.dataset(len(whole), 3)
    assert len(np.unique(positions, axis=0)) == len(whole)
    assert distances.tolist() == whole.distances(positions).tolist()
    one, other = (table.evaluate(lambda labels: labels.sum(axis=1) * 0.1) for table in (reduced, whole))
    assert one.count.tolist() == other.count.tolist()
    assert one.mean.tolist() == pytest.approx(other.mean.tolist())


def test_programs_that_read_zarr_see_that_a_table_is_reduced(tables: tuple[Table, Table]) -> None:
    for table, row in zip(tables, ("kept_row", "row"), strict=True):
        attributes = zarr.open_group(table.address, mode="r").attrs.asdict()
        assert attributes.get("symmetries", 1) == table.space.stored.numbering.symmetries
        assert table.depths.metadata.dimension_names == (row, "column")


def test_other_values_of_symmetry_are_refused() -> None:
    with pytest.raises(InputError, match="symmetry: expected one of auto, on, off, found 'yes'"):
        RunOptions(symmetry="yes")


def test_a_table_that_is_not_reduced_says_nothing_of_weights(tmp_path: Path) -> None:
    report = run(tmp_path / "whole.zarr", symmetry="off")
    assert "weighed" not in (tmp_path / "whole.zarr" / "commit.json").read_text()
    assert (report.to_json()["symmetry"], report.manifest.numbered) == (1, 3**6)
