"""Branching factors from samples and from unfinished tables; `test_every_kind` counts the moves of every kind."""

from pathlib import Path

import numpy as np
import pytest
from every_kind import config_of, known_moves, many_parts, options_of
from stores import stop_after

from antipodes.tables import branching_factors
from antipodes.tables.branching_factors import BranchingFactors
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.chunks import UNREACHABLE, TableChunks
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import open_table
from antipodes_tasks.base.errors import InputError, StoreDamagedError, UnfinishedError


def means(found: BranchingFactors) -> list[list[float]]:
    return [[one.farther, one.same, one.nearer] for one in found.depths]


@pytest.mark.parametrize("name", ["reduced tiles", "keys of tiles", "one-way"])
def test_a_sample_estimates_the_means(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of many estimates is the mean of all positions: none is more probable than another at its depth."""
    many_parts(monkeypatch)
    for constant, value in {"MAX_ENTRIES": 20, "DEFAULT_SAMPLE": 60, "MAX_TRIED": 100}.items():
        monkeypatch.setattr(branching_factors, constant, value)
    run_puzzle(config_of(name), tmp_path / "t.zarr", options_of(name, workers=1))
    known = known_moves(name)
    with open_table(tmp_path / "t.zarr") as table:
        found = [table.branching(seed=seed) for seed in range(40)]
        assert table.branching(seed=np.int64(7)) == found[7]
        assert table.branching(seed=None) == found[0]  # type: ignore[arg-type]
        assert table.branching(exact=True).exact
        assert table.branching(sample=len(table)) == table.branching(exact=True)
        assert [one.counted for one in table.branching(sample=1).depths] == [1] * len(known)
    assert all((one.exact, one.counted) == (False, 60) for one in found)
    assert np.allclose(np.mean([means(one) for one in found], 0), [np.mean(one, 0) for one in known], atol=0.35)
    overall = np.mean([[one.farther, one.same, one.nearer] for one in found], axis=0)
    assert np.allclose(overall, np.concatenate(known).mean(axis=0), atol=0.08)


def test_moves_into_the_next_layer_of_an_unfinished_table_lead_farther(tmp_path: Path) -> None:
    name = "reduced tiles"
    options = options_of(name, workers=1, checkpoint_every=0)
    run_puzzle(config_of(name), tmp_path / "t.zarr", options, interrupted=stop_after(3))
    with open_table(tmp_path / "t.zarr") as table:
        found = table.branching()
        assert (found.complete, found.exact) == (False, True)
        assert np.allclose(means(found), [np.mean(one, 0) for one in known_moves(name)[: table.radius + 1]])


def test_a_table_without_a_layer(tmp_path: Path) -> None:
    TableStore(tmp_path / "t.zarr").create(config_of("one-way"), plan_run(config_of("one-way").puzzle).cut)
    with open_table(tmp_path / "t.zarr") as table, pytest.raises(UnfinishedError, match="nothing is committed yet"):
        table.branching()


def test_a_move_to_a_position_that_is_not_reached(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_table(finished) as table:
        monkeypatch.setattr(TableChunks, "distances", lambda _, indices: np.full(len(indices), UNREACHABLE))
        with pytest.raises(StoreDamagedError, match="a move leads to a position that is not reached"):
            table.branching()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample": 0}, "sample: expected an integer from 1 to 10,000,000, found 0"),
        ({"sample": 1.5}, "sample: expected an integer from 1 to 10,000,000, found 1.5"),
        ({"sample": True}, "sample: expected an integer"),
        ({"seed": -1}, "seed: expected an integer from 0 to"),
        ({"exact": 1}, "exact: expected true or false, found 1"),
        ({"exact": True, "sample": 5}, "exact cannot be combined with sample"),
    ],
)
def test_invalid_arguments(given: dict[str, object], message: str, finished: Path) -> None:
    with open_table(finished) as table, pytest.raises(InputError, match=message):
        table.branching(**given)  # type: ignore[arg-type]
