"""Runs that replace a store, and those that must not."""

from pathlib import Path

import pytest
from stores import contents

from antipodes.config import load_config
from antipodes.executors.api import Call
from antipodes.executors.threads import Threads
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import open_table
from antipodes.tables.verify import verify
from antipodes_tasks.errors import (
    NotAStoreError,
    StoreError,
)


def test_another_puzzle_replaces_the_store(eight: Path) -> None:
    report = run_puzzle(load_config("knights-coloured"), eight, RunOptions(overwrite=True))
    assert report.manifest.radius == 22
    assert report.resumed_from is None


@pytest.mark.parametrize("manifest", [None, '{"a": 1}'])
def test_only_stores_are_overwritten(manifest: str | None, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    if manifest is not None:
        (tmp_path / "mine" / "commit.json").write_text(manifest)
    with pytest.raises(NotAStoreError, match="not overwritten"):
        run_puzzle(load_config("eight-puzzle"), tmp_path / "mine", RunOptions(overwrite=True))
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_a_link_to_a_store_is_that_store(eight: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.zarr"
    link.symlink_to(eight)
    for _ in range(2):
        assert run_puzzle(load_config("eight-puzzle"), link, RunOptions(overwrite=True)).resumed_from is None
    assert link.is_symlink()
    assert verify(eight, Threads(1)).ok
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([eight.name, link.name])


def test_queries_of_a_replaced_table_are_an_error(eight: Path) -> None:
    with open_table(eight) as table:
        position = table.space.labels("8 6 7 2 5 4 3 0 1")
        run_puzzle(load_config("eight-puzzle"), eight, RunOptions(overwrite=True), interrupted=lambda: True)
        with pytest.raises(StoreError, match="replaced after it was opened"):
            table.distance(position)
        with pytest.raises(StoreError, match="replaced after it was opened"):
            table.antipodes()


class Unreachable(Threads):
    """A scheduler whose workers do not find the store."""

    def run_on_all_workers(self, call: Call) -> None:
        raise StoreError("worker tcp://h:1: cannot read the store")


def test_a_store_stays_if_a_worker_does_not_reach_it(tmp_path: Path) -> None:
    config, store = load_config("eight-puzzle"), tmp_path / "t.zarr"
    run_puzzle(config, store)
    before = contents(store)
    with pytest.raises(StoreError, match="cannot read the store"):
        run_puzzle(config, store, RunOptions(overwrite=True), scheduler=Unreachable(2))
    assert contents(store) == before
