"""Plans of large reduced spaces: bounds that are known at once, before rows are listed and move tables filled."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from every_kind import slow_unless_in
from symmetric_puzzles import bundled

from antipodes.puzzles.config import load_config
from antipodes.system.options import RunOptions
from antipodes.tables.planning.fitting import plan_checked
from antipodes.tables.planning.plan import Plan, plan_run
from antipodes.tables.run import run_puzzle
from antipodes.tables.search.duration import estimate_duration
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.spaces import choose_cut, row_classes
from antipodes_tasks.spaces.row_classes import RowClasses
from antipodes_tasks.spaces.row_tables import RowTables

PUZZLES = slow_unless_in(("2x2x2", "hanoi-4-pegs"), ("2x2x2", "dino", "hanoi-4-pegs", "topspin-11"))


@pytest.fixture(autouse=True)
def every_outline(monkeypatch: pytest.MonkeyPatch) -> None:
    """All reduced spaces count as large."""
    monkeypatch.setattr(choose_cut, "OUTLINE_COST", 0.0)
    monkeypatch.setattr(row_classes, "MAX_NUMPY_ROWS", 0)


@pytest.fixture
def nothing_is_listed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rows that are listed, and move tables that are filled, are errors."""

    def refuse(*_: Any) -> None:
        raise AssertionError("this takes minutes for large puzzles")

    with monkeypatch.context() as patch:
        patch.setattr(RowTables, "fill", refuse)
        patch.setattr(RowClasses, "keys", property(refuse))
        yield


def outline_of(name: str) -> Plan:
    return plan_run(bundled(name), 2, symmetry="on", outline=True)


@pytest.mark.parametrize("name", PUZZLES)
def test_an_outline_has_bounds_of_the_tables(name: str) -> None:
    outline, plan = outline_of(name), plan_run(bundled(name), 2, symmetry="on")
    assert outline.table_bytes - outline.unsure_bytes <= plan.table_bytes <= outline.table_bytes
    assert plan.unsure_bytes == 0
    assert outline.space.size == pytest.approx(plan.space.size, rel=0.1)


@pytest.mark.usefixtures("nothing_is_listed")
@pytest.mark.parametrize("name", PUZZLES)
def test_a_plan_lists_nothing(name: str) -> None:
    estimated = estimate_duration(outline_of(name), 2, None)
    assert not estimated.known
    low, high = estimated.range
    assert 0 < low < high


@pytest.mark.usefixtures("nothing_is_listed")
def test_a_run_that_does_not_fit_is_refused_at_once(tmp_path: Any) -> None:
    options = RunOptions(workers=2, symmetry="on", memory_limit=100 << 20)
    with pytest.raises(
        ResourceLimitError, match=r"its 88,179,840 positions, reduced to about .* entries, take at least"
    ):
        run_puzzle(load_config("2x2x2"), tmp_path / "t.zarr", options)
    assert not list(tmp_path.glob("t.zarr/commit.json"))


@pytest.mark.usefixtures("nothing_is_listed")
def test_a_run_that_fits_no_workers_names_the_limit_that_would_do() -> None:
    cluster: Any = SimpleNamespace(workers=2, processes=2, memory=100 << 20, choose_workers=lambda *_: None)
    with pytest.raises(
        ResourceLimitError, match=r"with 2 workers, each worker needs a memory limit of [0-9]+MiB or more"
    ):
        plan_checked(load_config("2x2x2"), RunOptions(symmetry="on"), cluster)


def test_a_run_that_fits_lists_its_rows(tmp_path: Any) -> None:
    options = RunOptions(workers=2, symmetry="on")
    assert run_puzzle(load_config("hanoi-4-pegs"), tmp_path / "t.zarr", options).complete
