"""The creation of a store on a full disk, or by a run that is stopped, leaves nothing behind."""

from pathlib import Path

import pytest
from mounts import small
from programs import Command
from tiling_stores import SQUARE, board_file

from antipodes.cli.failures import Stopped
from antipodes.config import load_config
from antipodes.storage.arrays import Arrays
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.store.stores import TableStore
from antipodes_tasks.errors import StoreLockedError


@pytest.mark.parametrize("blocks", [0, 2, 4])
@pytest.mark.parametrize("what", ["table", "tilings"])
def test_a_full_disk(what: str, blocks: int, cli: Command, tmp_path: Path) -> None:
    """The disk has room for the first ``blocks`` files: the lock, the group, the array, the manifest."""
    board = board_file(SQUARE, tmp_path / "board.toml")
    with small(tmp_path / "small", "1m") as disk:
        filler = disk / "filler"
        filler.write_bytes(bytes(4096 * (256 - blocks)))
        make: list[object] = ["run", "knights-coloured"] if what == "table" else ["tile", board]
        outcome = cli(*make, "--store", disk / "t.zarr", "--quiet")
        refused = what == "table" and blocks > 0  # as soon as there is room for the lock, before anything is created
        assert (outcome.status, len(outcome.err.splitlines())) == (2 if refused else 1, 1)
        assert ("of free disk" if refused else "No space left on device") in outcome.err
        assert {path.name for path in disk.iterdir()} <= {"filler", "t.zarr"}
        if (disk / "t.zarr").exists():
            assert "resume with" in outcome.err
        filler.unlink()
        assert cli(*make, "--store", disk / "t.zarr", "--quiet").status == 0
        assert cli("verify", disk / "t.zarr").out.startswith("ok: ")


def test_a_run_that_is_stopped_during_creation_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise Stopped("stopped")

    config = load_config("eight-puzzle")
    monkeypatch.setattr(Arrays, "write_group", stop)
    with pytest.raises(Stopped):
        TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle).cut)
    assert not list(tmp_path.iterdir())


def test_a_run_without_its_lock_leaves_the_staging_place_of_the_next(tmp_path: Path) -> None:
    storage = TableStore(tmp_path / "t.zarr").storage
    with pytest.raises(StoreLockedError), storage.lock.hold(), storage.staged():
        (tmp_path / "t.zarr.lock").write_text("{}")
    assert (tmp_path / ".t.zarr.new").exists()
