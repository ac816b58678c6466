"""A disk without room, or a run that is stopped, while a store is created: nothing is left of it."""

from pathlib import Path

import pytest
import zarr
from mounts import small
from programs import Command
from tiling_stores import SQUARE, board_file

from antipodes.cli.interrupts import Stopped
from antipodes.config import load_config
from antipodes.tables.plan import plan_run
from antipodes.tables.store import TableStore


@pytest.mark.parametrize("blocks", [0, 2, 4])
@pytest.mark.parametrize("what", ["table", "tilings"])
def test_a_full_disk(what: str, blocks: int, cli: Command, tmp_path: Path) -> None:
    """Room for so many of the first files: the lock, the group, the array, the manifest."""
    board = board_file(SQUARE, tmp_path / "board.toml")
    with small(tmp_path / "small", "1m") as disk:
        filler = disk / "filler"
        filler.write_bytes(bytes(4096 * (256 - blocks)))
        make: list[object] = ["run", "eight-puzzle"] if what == "table" else ["tile", board]
        outcome = cli(*make, "--store", disk / "t.zarr", "--quiet")
        assert (outcome.status, len(outcome.err.splitlines())) == (1, 1)
        assert "No space left on device" in outcome.err
        assert {path.name for path in disk.iterdir()} <= {"filler", "t.zarr"}
        if (disk / "t.zarr").exists():
            assert "resume with" in outcome.err
        filler.unlink()
        assert cli(*make, "--store", disk / "t.zarr", "--quiet").status == 0
        assert cli("verify", disk / "t.zarr").out.startswith("ok: ")


def test_a_run_that_is_stopped_while_it_creates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise Stopped("stopped at once")

    config = load_config("eight-puzzle")
    monkeypatch.setattr(zarr, "create_array", stop)
    with pytest.raises(Stopped):
        TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle))
    assert not list(tmp_path.iterdir())


def test_a_run_that_was_taken_over_leaves_what_the_next_one_creates(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "t.zarr").storage
    with store.lock():
        new = store.stage()
        (tmp_path / "t.zarr.lock").write_text("{}")
        store.discard(new)
    assert (tmp_path / ".t.zarr.new").exists()
