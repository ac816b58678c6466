"""The command ``tile``, and the commands that work on stores of either kind."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracles import ORACLES
from programs import Command, Process
from stores import contents
from tiling_stores import IMPOSSIBLE, SQUARE, board_file, tiled

from antipodes.tilings.config import bundled_boards, load_board

Refused = Callable[..., str]
COUNTS = ORACLES["tiling/pentomino"]
RAW = {"6x10": 9356, "5x12": 4040, "4x15": 1472, "3x20": 8, "8x8-minus-centre": 520}
"""Rectangles have 4 symmetries and the chessboard 8, and none of these tilings is symmetric itself."""


def tile(cli: Command, *arguments: object) -> dict[str, Any]:
    outcome = cli("tile", *arguments, "--json", "--quiet")
    assert (outcome.status, outcome.err) == (0, "")
    report: dict[str, Any] = json.loads(outcome.out)
    return report


@pytest.mark.parametrize(
    ("board", "count"),
    [
        ("8x8-minus-centre" if name == "8x8-minus-centre-2x2" else name, count)
        for name, count in COUNTS.items()
        if name not in ("3x4x5", "6x10-placements")
    ],
)
def test_published_counts(board: str, count: int, cli: Command) -> None:
    report = tile(cli, board)
    assert (report["board"], report["complete"], report["solutions"]) == (board, True, count)
    assert report["store"] == f"outputs/{board}.zarr"
    assert report["raw_solutions"] == RAW.get(board, 8 * count)
    assert report["resumed_from_partitions"] is None
    assert cli("verify", board).out == f"ok: {count:,} tilings checked, each fills the board, none twice\n"


@pytest.mark.slow
def test_the_box_of_three_by_four_by_five(cli: Command) -> None:
    assert tile(cli, "3x4x5")["solutions"] == COUNTS["3x4x5"]
    verdict = json.loads(cli("verify", "3x4x5", "--json").out)
    assert (verdict["ok"], verdict["checked_tilings"], verdict["problems"]) == (True, 3940, [])


def test_placements_of_the_textbook_search(cli: Command) -> None:
    report = tile(cli, "6x10", "--method", "plain")
    assert (report["placements"], report["solutions"]) == (COUNTS["6x10-placements"], COUNTS["6x10"])
    assert report["method"] == "plain"


def test_raw_counts_symmetric_copies(cli: Command) -> None:
    assert tile(cli, "3x20", "--raw")["solutions"] == 8
    again = tile(cli, "3x20")
    assert (again["solutions"], again["raw_solutions"]) == (2, 8)
    assert again["resumed_from_partitions"] == again["partitions"]
    assert set(again["seconds"]) == {"total", "tables", "search", "write"}


def test_the_printed_report_of_tilings(cli: Command) -> None:
    outcome = cli("tile", "3x20")
    assert outcome.status == 0
    assert " 3x20: " in outcome.err.splitlines()[0]
    assert outcome.err.splitlines()[0].endswith(" partitions; begins")
    assert "1 of 2" in outcome.out
    assert "│ U   U │ X │" in outcome.out or "│ U │ X │" in outcome.out.replace("U   U", "U")
    assert "3x20: 2 tilings up to the symmetries of the board, 8 in all" in outcome.out
    assert "antipodes show outputs/3x20.zarr --number 2" in outcome.out
    again = cli("tile", "3x20", "--raw")
    assert "3x20: 8 in all, 2 tilings up to the symmetries of the board" in again.out
    assert "none: the tilings were already complete" in again.out


def test_a_board_that_cannot_be_tiled_has_no_tilings(cli: Command, tmp_path: Path) -> None:
    report = tile(cli, board_file(IMPOSSIBLE, tmp_path / "board.toml"))
    assert (report["solutions"], report["complete"], report["partitions"]) == (0, True, 0)
    assert cli("show", "impossible").out == "impossible: no tilings\n"
    assert cli("verify", "impossible").status == 0
    assert "0 tilings" in cli("tile", tmp_path / "board.toml").out


def test_status_resume_and_overwrite(cli: Command, tmp_path: Path) -> None:
    board = board_file(SQUARE, tmp_path / "board.toml")
    first = tile(cli, board, "--checkpoint-every", 0)
    status = json.loads(cli("status", "square", "--json").out)
    assert status == {
        "board": "square",
        "store": "outputs/square.zarr",
        "complete": True,
        "method": "pruning",
        "partitions": first["partitions"],
        "searched_partitions": first["partitions"],
        "solutions": first["solutions"],
        "placements": first["placements"],
        "bytes": sum(map(len, contents(tmp_path / "outputs/square.zarr").values())),
        "run": None,
    }
    assert "square: finished" in cli("status", "square").out
    assert json.loads(cli("resume", "square", "--json").out)["resumed_from_partitions"] == first["partitions"]
    assert tile(cli, board, "--overwrite")["resumed_from_partitions"] is None


def test_defaults_in_the_board_file(cli: Command, tmp_path: Path) -> None:
    board = board_file(SQUARE, tmp_path / "board.toml")
    board.write_text(board.read_text() + '[run]\nstore = "here.zarr"\nworkers = 1\n')
    assert tile(cli, board)["store"] == "here.zarr"


BAD_BOARDS = [
    ("[board]\nname = 'bad'\ncells = '.....\\n....'", "cells"),
    ("[board]\nname = 'bad'\ncells = '''\n....\n....'''", "[board] cells: expected 60 cells, as many as the pieces"),
    ("[board]\nname = 'bad'\ncells = '.....'\npieces = 'Q'", "[board] pieces: expected letters of FILNPTUVWXYZ"),
    ("[board]\nname = 'bad'\ncells = '.....'\ncolour = 1", "[board] colour: unknown key"),
    ("[board]\ncells = '.....'\npieces = 'I'", "[board] name: expected this key, which is missing"),
    ("[puzzle]\nname = 'bad'", "puzzle: unknown key; expected the tables [board] and [run]"),
    ("[run]\nworkers = 1", "expected a table [board], found none"),
    ("[board]\nname = 'bad'\ncells = '.....'\npieces = 'I'\n[run]\nspeed = 1", "[run] speed: unknown key"),
    ("[board", "TOML"),
]


@pytest.mark.parametrize(("text", "message"), BAD_BOARDS)
def test_bad_boards(text: str, message: str, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(text)
    error = refused("tile", "bad.toml")
    assert message in error
    assert "bad.toml" in error
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tile", "7x7"], "the name of a board or the path of a TOML file, found '7x7'; antipodes boards lists"),
        (["tile"], "BOARD"),
        (["tile", "3x20", "--method", "fast"], "--method: expected pruning or plain, found 'fast'"),
        (["tile", "3x20", "--scheduler", "slurm"], "--scheduler: expected threads, local or an address"),
        (["tile", "3x20", "--workers", "0"], "--workers"),
        (["tile", "3x20", "--checkpoint-every", "-1"], "--checkpoint-every"),
        (["show", "nowhere"], "neither a path nor a store in outputs/ named 'nowhere'"),
        (["resume", "nowhere"], "neither a path nor a store in outputs/ named 'nowhere'"),
    ],
)
def test_bad_usage(arguments: list[str], message: str, refused: Refused, tmp_path: Path) -> None:
    assert message in refused(*arguments)
    assert not list(tmp_path.rglob("commit.json"))


def test_the_two_kinds_of_store_are_told_apart(refused: Refused, cli: Command, eight: Path, tmp_path: Path) -> None:
    tilings = tiled(SQUARE, tmp_path / "square.zarr")
    board = board_file(SQUARE, tmp_path / "board.toml")
    before = {store: contents(store) for store in (tilings, eight)}
    for command in (
        ["layers"],
        ["farthest"],
        ["run", "eight-puzzle", "--store"],
        ["run", "eight-puzzle", "--overwrite", "--store"],
    ):
        assert f"expected a table of distances at {tilings}" in refused(*command, tilings)
    assert "expected a table of distances" in refused("query", tilings, "1 2 3 4 5 6 7 8 0")
    for command in (["show"], ["tile", board, "--store"], ["tile", board, "--overwrite", "--store"]):
        assert f"expected tilings of a board at {eight}" in refused(*command, eight)
    assert {store: contents(store) for store in (tilings, eight)} == before


def test_a_store_in_use_is_refused(cli: Command, process: Process, tmp_path: Path) -> None:
    running = process("tile", "3x4x5", "--method", "plain", "--workers", 1, "--store", "busy.zarr")
    assert "begins" in running.stderr.readline()
    outcome = cli("tile", "3x4x5", "--store", tmp_path / "busy.zarr", "--overwrite")
    assert (outcome.status, outcome.out) == (1, "")
    assert "busy.zarr is in use by process" in outcome.err


def test_boards(cli: Command) -> None:
    listed = json.loads(cli("boards", "--json").out)
    assert [board["name"] for board in listed] == bundled_boards()
    assert {board["cells"] for board in listed} == {60, 64, 90}
    assert {len(board["pieces"]) for board in listed} == {12, 18, 32}
    assert all(board["description"] for board in listed)
    assert "8x8-minus-centre   60 cells, 12 pieces" in cli("boards").out


@pytest.mark.parametrize("name", bundled_boards())
def test_bundled_boards_have_the_names_of_their_files(name: str) -> None:
    assert load_board(name).problem.name == name
