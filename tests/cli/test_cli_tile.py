"""The command ``tile``, and the commands that work on stores of either kind."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracles import ORACLES
from programs import Command, Process, first_message
from stores import contents
from tiling_stores import COPIES, IMPOSSIBLE, SQUARE, board_file

from antipodes.cli.commands.tilings import store_name
from antipodes.tilings.board_config import bundled_boards, load_board
from antipodes_tasks.exact_cover.tiling_problem import parse_problem

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
    assert cli("verify", board).out == f"ok: {count:,} tilings checked; each fills the board, and none occurs twice\n"


@pytest.mark.slow
def test_the_box_of_three_by_four_by_five(cli: Command) -> None:
    assert tile(cli, "3x4x5")["solutions"] == COUNTS["3x4x5"]
    verdict = json.loads(cli("verify", "3x4x5", "--json").out)
    assert (verdict["ok"], verdict["checked_tilings"], verdict["problems"]) == (True, 3940, [])


@pytest.mark.slow
def test_placements_of_the_textbook_search(cli: Command) -> None:
    report = tile(cli, "6x10", "--method", "plain")
    assert (report["placements"], report["solutions"]) == (COUNTS["6x10-placements"], COUNTS["6x10"])
    assert report["method"] == "plain"


def test_raw_counts_symmetric_copies(cli: Command) -> None:
    assert tile(cli, "3x20", "--raw")["solutions"] == 8
    again = tile(cli, "3x20")
    assert (again["solutions"], again["raw_solutions"]) == (2, 8)
    assert again["resumed_from_partitions"] == again["partitions"]
    assert set(again["seconds"]) == {"total", "compiling", "tables", "search", "write"}


def test_the_printed_report_of_tilings(cli: Command) -> None:
    outcome = cli("tile", "3x20")
    assert outcome.status == 0
    assert " 3x20: " in outcome.err.splitlines()[0]
    assert outcome.err.splitlines()[0].endswith(" partitions; starting")
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
    ("[board]\nname = 'bad'\ncells = '''\n....\n....'''", "[board] cells: the pieces fill 60 cells, but the board has"),
    ("[board]\ncells = '.....'\npieces = 'I'", "[board]: the key 'name' is missing"),
    ("[puzzle]\nname = 'bad'", "this file describes a puzzle, not a board"),
    ("[run]\nworkers = 1", "the table [board] is missing"),
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


def test_a_store_in_use_is_refused(cli: Command, process: Process, tmp_path: Path) -> None:
    running = process("tile", "3x4x5", "--method", "plain", "--workers", 1, "--store", "busy.zarr")
    assert "starting" in first_message(running)
    running.send_signal(signal.SIGSTOP)  # it does not end before the other begins
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


def domino_file(rows: int, columns: int, path: Path) -> Path:
    pieces = {"D": {"shape": "##", "count": rows * columns // 2}}
    return board_file({"name": "dominoes", "cells": "\n".join(["." * columns] * rows), "pieces": pieces}, path)


@pytest.mark.parametrize(("rows", "columns", "raw"), [(2, 3, 3), (4, 4, 36), (4, 6, 281)])
def test_dominoes(rows: int, columns: int, raw: int, cli: Command, tmp_path: Path) -> None:
    """The numbers of domino tilings (Kasteleyn, 1961; OEIS A099390); equal pieces are not told apart."""
    board = domino_file(rows, columns, tmp_path / "dominoes.toml")
    stored, counted = tile(cli, board), tile(cli, board, "--count")
    assert stored["raw_solutions"] == counted["raw_solutions"] == raw
    assert stored["solutions"] == counted["solutions"]
    assert cli("verify", "dominoes").out.startswith(f"ok: {stored['solutions']} tilings checked")


@pytest.mark.slow
def test_dominoes_are_counted_by_other_processes(cli: Command, tmp_path: Path) -> None:
    """Kasteleyn's formula gives the number."""
    dominoes = tmp_path / "dominoes.toml"
    cells = "\n".join(["......"] * 6)
    dominoes.write_text(
        f'[board]\nname = "six"\npieces.D = {{ shape = "##", count = 18 }}\ncells = """\n{cells}\n"""\n'
    )
    report = tile(cli, dominoes, "--count", "--scheduler", "local", "--workers", 2)
    assert report["raw_solutions"] == 6_728


def test_the_one_sided_pentominoes_on_three_by_thirty(cli: Command) -> None:
    """46 tilings are published."""
    report = tile(cli, "3x30-one-sided", "--count")
    assert (report["solutions"], report["raw_solutions"]) == (46, 184)
    assert set(report["seconds"]) == {"total", "compiling", "tables", "search"}


def test_a_count_stores_nothing(cli: Command, tmp_path: Path) -> None:
    outcome = cli("tile", "3x20", "--count", "--quiet")
    assert outcome.out.startswith("3x20: 2 tilings up to the symmetries of the board, 8 in all\n")
    assert "nothing is stored" in outcome.out
    assert cli("tile", "3x20", "--count", "--raw").out.startswith("3x20: 8 in all, 2 tilings up to")
    assert not list(tmp_path.rglob("*.zarr"))


@pytest.mark.slow
def test_an_interrupted_count_says_how_far_it_was(process: Process) -> None:
    running = process("tile", "3x4x5", "--count", "--method", "plain", "--workers", 1)
    assert "starting" in first_message(running)
    running.terminate()
    _, err = running.communicate()
    assert running.returncode == 75
    assert "partitions were counted; a count saves nothing, so it has to start over" in err


def test_conditions_are_another_store(cli: Command, tmp_path: Path) -> None:
    board = board_file(SQUARE, tmp_path / "board.toml")
    every = tile(cli, board)
    some = tile(cli, board, "--where", "I covers 0 1", "--where", "P avoids 2,0")
    assert some["store"] == "outputs/square-I-covers-0-1-P-avoids-2,0.zarr"
    assert 0 < some["raw_solutions"] < every["raw_solutions"]
    assert cli("verify", "square-I-covers-0-1-P-avoids-2,0").status == 0
    shown = json.loads(
        cli("show", "square", "--raw", "--where", "I covers 0 1", "--where", "P avoids 2,0", "--all", "--json").out
    )
    assert shown["matching"] == len(shown["tilings"]) == some["raw_solutions"]
    assert shown["count"] == every["raw_solutions"]


@pytest.mark.parametrize(("first", "second"), [("#", "*"), ("A'", "A"), ("F", "f"), ("A-1", "A 1")])
def test_conditions_on_pieces_of_similar_names_have_stores_of_their_own(first: str, second: str) -> None:
    names = [
        store_name(
            parse_problem({"name": "b", "cells": "....", "pieces": {first: "##", second: "##"}, "where": where}), where
        )
        for where in ([f"{piece} covers 0"] for piece in (first, second))
    ]
    assert len({name.casefold() for name in names}) == 2
    assert all(name.startswith("b-") and "covers-0" in name for name in names)


def test_conditions_beside_a_store_in_the_board_file(cli: Command, refused: Refused, tmp_path: Path) -> None:
    board = board_file(SQUARE, tmp_path / "board.toml")
    board.write_text(board.read_text() + '[run]\nstore = "here.zarr"\n')
    message = refused("tile", board, "--where", "I covers 0")
    assert "--where also needs --store: the config's store, here.zarr, is for all tilings of the board" in message
    assert tile(cli, board, "--where", "I covers 0", "--store", "there.zarr")["store"] == "there.zarr"
    assert tile(cli, board)["store"] == "here.zarr"


def test_conditions_in_the_board_file(cli: Command, tmp_path: Path) -> None:
    board = board_file(SQUARE, tmp_path / "board.toml")
    board.write_text(board.read_text() + 'where = ["I covers 0 1"]\n')
    in_file = tile(cli, board)
    assert in_file["raw_solutions"] == tile(cli, board, "--where", "I covers 0")["raw_solutions"]
    board_file(SQUARE, board)
    assert tile(cli, board, "--count", "--where", "I covers 0 1")["solutions"] == in_file["solutions"]


def test_show_filters_tilings(cli: Command, tmp_path: Path) -> None:
    tile(cli, board_file(SQUARE, tmp_path / "board.toml"))
    lines = cli("show", "square", "--letters", "--where", "I covers 0", "--limit", 2).out.splitlines()
    assert lines[1].startswith("I")
    assert " of 10" in lines[0]
    assert cli("show", "square", "--where", "W covers 0 24").out == "square: no tilings match\n"


@pytest.mark.parametrize("further", [(), ("--json",), ("--steps",), ("--svg", "x.svg")])
def test_show_refuses_a_number_that_does_not_match(
    further: tuple[str, ...], cli: Command, refused: Refused, tmp_path: Path
) -> None:
    tile(cli, board_file(SQUARE, tmp_path / "board.toml"))
    condition = ("--raw", "--where", "I covers 0 1")
    like_that = json.loads(cli("show", "square", *condition, "--all", "--json").out)
    other = min(set(range(1, like_that["count"] + 1)) - {one["number"] for one in like_that["tilings"]})
    assert like_that["matching"]
    assert f"--number: tiling {other} does not fulfil the conditions of --where" in refused(
        "show", "square", "--number", other, *condition, *further
    )


def test_copies_and_cells_that_stay_empty(cli: Command, tmp_path: Path) -> None:
    report = tile(cli, board_file(COPIES, tmp_path / "board.toml"))
    assert report["raw_solutions"] > report["solutions"] > 0
    first = json.loads(cli("show", "copies", "--number", 1, "--json").out)["tilings"][0]["pieces"]
    assert [*first] == ["V.1", "V.2", "D.1", "D.2"]
    assert sorted(map(len, first.values())) == [2, 2, 3, 3]
    drawn = cli("show", "copies", "--number", 1, "--letters").out.splitlines()
    assert sorted("".join(drawn[1:])) == sorted("VVVVVVDDDD··")
    assert cli("verify", "copies").status == 0
    assert len(cli("show", "copies", "--steps", "--letters").out.splitlines()[-1].split()) == 4


def test_a_large_board(cli: Command, tmp_path: Path) -> None:
    """A slab of 190 cells leaves 2 by 5 cells to dominoes, which fill them in 8 ways."""
    pieces = {"slab": "\n".join(["#" * 95] * 2), "D": {"shape": "##", "count": 5}}
    board = board_file({"name": "large", "cells": "\n".join(["." * 100] * 2), "pieces": pieces}, tmp_path / "b.toml")
    # the slab stands anywhere; the rest splits into two rectangles of 2 by n, of F(n + 1) tilings each
    fibonacci = [1, 1, 2, 3, 5, 8]
    assert tile(cli, board)["raw_solutions"] == sum(fibonacci[k] * fibonacci[5 - k] for k in range(6))
    assert "needs a board of at most 128 cells" in cli("tile", board, "--method", "plain", "--overwrite").err
