"""A chunk counts only at its place in its table: intact bytes that belong elsewhere are an error that names them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import zarr
from programs import Command
from puzzle_settings import LINE
from stores import change_manifest, chunk_files, read_manifest, reseal, resume, stop_after
from tiling_stores import SQUARE

from antipodes.puzzles.config import Config, load_config
from antipodes.storage.arrays import Arrays, Layout
from antipodes.storage.backend import MANIFEST
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import open_table
from antipodes.tilings.board_config import BoardConfig
from antipodes.tilings.run import tile_board
from antipodes.tilings.table import open_tilings
from antipodes_tasks.base.errors import StoreDamagedError

ALIEN = "so it was changed or belongs elsewhere"
FARTHEST, START = "867254301", "123456780"
READING: list[list[object]] = [
    ["query", "STORE", FARTHEST, START],
    ["query", "STORE", "--path", FARTHEST],
    ["query", "STORE", "--pattern", "{12345678}0"],
    ["farthest", "STORE", "--json"],
    ["solve", "eight-puzzle", FARTHEST, "--method", "table", "--store", "STORE"],
    ["verify", "STORE"],
]


def swap(first: Path, second: Path) -> None:
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


@pytest.mark.parametrize("command", READING, ids=lambda command: " ".join(map(str, command))[:30])
def test_swapped_chunks(command: list[object], cli: Command, eight: Path) -> None:
    swap(*chunk_files(eight))
    outcome = cli(*(eight if word == "STORE" else word for word in command))
    assert outcome.status == 1
    assert ALIEN in (outcome.out if command[0] == "verify" else outcome.err)
    assert str(eight / "depth/c/") in outcome.out + outcome.err


def test_a_chunk_of_another_table(refused: Callable[..., str], eight: Path, tmp_path: Path) -> None:
    other = {**load_config("eight-puzzle").settings, "start": "0 1 2 3 4 5 6 7 8"}
    run_puzzle(Config(other), tmp_path / "other.zarr")
    shutil.copy(chunk_files(tmp_path / "other.zarr")[1], chunk_files(eight)[1])
    assert ALIEN in refused("query", eight, START, status=1)


def test_layers_that_the_chunks_do_not_handle(unfinished: Path) -> None:
    """A table whose chunks have other counts than the committed layers is not resumed."""
    layers = read_manifest(unfinished / MANIFEST)["layers"]
    change_manifest(unfinished, layers=[*layers[:9], layers[9] - 1, layers[10] + 1])
    with pytest.raises(StoreDamagedError, match=r"151 positions at depth 9 were committed, but its journal holds 152"):
        resume(unfinished)


def test_a_journal_of_another_table_is_not_used(unfinished: Path, tmp_path: Path, finished: Path) -> None:
    other = {**load_config("eight-puzzle").settings, "start": "0 1 2 3 4 5 6 7 8"}
    run_puzzle(Config(other), tmp_path / "other.zarr", RunOptions(workers=2), interrupted=stop_after(12))
    shutil.copytree(tmp_path / "other.zarr/journal", unfinished / "journal", dirs_exist_ok=True)
    assert resume(unfinished).manifest == TableStore(finished).read()


def test_wide_depths(tmp_path: Path) -> None:
    run_puzzle(Config(LINE), tmp_path / "t.zarr", RunOptions(workers=1))
    before = read_manifest(tmp_path / "t.zarr" / MANIFEST)
    reseal(tmp_path / "t.zarr")
    assert read_manifest(tmp_path / "t.zarr" / MANIFEST) == before, "the digests are as documented"
    with open_table(tmp_path / "t.zarr") as table:
        assert table.antipodes().tolist() == [[1] * 299 + [0]]


def test_only_chunks_that_can_hold_a_depth_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_puzzle(load_config("five-tiles"), tmp_path / "t.zarr")
    read: list[int] = []
    read_chunk = Arrays.read_chunk

    def noting(self: Arrays, name: str, layout: Layout, number: int, *rows: int) -> object:
        read.append(number)
        return read_chunk(self, name, layout, number, *rows)

    monkeypatch.setattr(Arrays, "read_chunk", noting)
    chunks = len(TableStore(tmp_path / "t.zarr").read().chunks)
    with open_table(tmp_path / "t.zarr") as table:
        table.antipodes()
        assert 0 < len(read) < chunks
        read.clear()
        table.positions_at(0)
        assert len(read) == 1


def test_other_tilings(tmp_path: Path, refused: Callable[..., str], cli: Command) -> None:
    square = tmp_path / "s.zarr"
    options = RunOptions(workers=1, checkpoint_every=0)
    tile_board(BoardConfig(SQUARE), square, options=options, interrupted=stop_after(6))
    array = zarr.open_array(square / "partitions/3", mode="r+")
    before, array[:] = array[:], array[:][::-1]
    for command in (["show", square], ["resume", square, "--quiet"]):
        assert ALIEN in refused(*command, status=1)
    assert ALIEN in cli("verify", square).out
    array[:] = before
    tile_board(BoardConfig(SQUARE), square, options=options)
    array = zarr.open_array(square / "tilings", mode="r+")
    array[:] = array[:][::-1]
    with open_tilings(square) as tilings, pytest.raises(StoreDamagedError, match=ALIEN):
        tilings[0]


def test_another_numbering_of_the_same_positions(tmp_path: Path) -> None:
    """The manifest fits the puzzle and its checksum, but the chunks belong to positions in another order."""
    store = tmp_path / "ivy.zarr"
    run_puzzle(load_config("ivy"), store)
    details = read_manifest(store / MANIFEST)["details"]
    change_manifest(store, details={**details, "base": [1, *details["base"][1:]]})
    with open_table(store) as table, pytest.raises(StoreDamagedError, match=ALIEN):
        table.distance(table.puzzle.start_labels[0])
