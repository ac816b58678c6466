import json
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command
from stores import toml

FAR = "8 6 7 2 5 4 3 0 1"
ODD = "2 1 3 4 5 6 7 8 0"


@pytest.mark.parametrize(
    "text", [FAR, "867254301", "8,6,7,2,5,4,3,0,1", "8 6 7 / 2 5 4 / 3 . 1", "867/254/301", "8 6 7\n2 5 4\n3 0 1\n"]
)
def test_spellings_of_a_position(text: str, cli: Command, finished: Path) -> None:
    outcome = cli("query", finished, text)
    assert (outcome.status, outcome.out, outcome.err) == (0, f"{FAR}: 31\n", "")


def test_symbols_as_separate_arguments(cli: Command, finished: Path) -> None:
    assert cli("query", finished, *FAR.split()).out == f"{FAR}: 31\n"


def test_json(cli: Command, finished: Path) -> None:
    outcome = cli("query", finished, FAR, ODD, "123456780", "--json")
    assert json.loads(outcome.out) == [
        {"position": FAR, "distance": 31},
        {"position": ODD, "distance": None},
        {"position": "1 2 3 4 5 6 7 8 0", "distance": 0},
    ]


def test_paths(cli: Command, finished: Path) -> None:
    reached, odd = json.loads(cli("query", finished, "--path", "--json", FAR, ODD).out)
    assert len(reached["path"]) == 32
    assert (reached["path"][0], reached["path"][-1]) == (FAR, "1 2 3 4 5 6 7 8 0")
    for here, there in zip(reached["path"], reached["path"][1:], strict=False):
        assert sum(a != b for a, b in zip(here.split(), there.split(), strict=True)) == 2
    assert odd["path"] is None
    out = cli("query", finished, "--path", FAR, ODD).out
    assert f"{ODD}: unreachable" in out
    assert out.count("╭") == 32


def test_from_stdin(cli: Command, finished: Path) -> None:
    outcome = cli("query", finished, "-", "--json", stdin=f"\n{FAR}\n   \n867 254 301\n\n{ODD}")
    assert [answer["distance"] for answer in json.loads(outcome.out)] == [31, 31, None]
    assert json.loads(cli("query", finished, "-", "--json", stdin="").out) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("1 2 3", "expected 9 symbols, found 3"),
        ("", "expected 9 symbols, found 0"),
        ("1 2 3 4 5 6 7 8 9", "'9'"),
        ("1 2 3 4 5 6 7 7 0", "'7'"),
        ("x" * 1000, "9 symbols"),
        ("--nonsense", "9 symbols"),
        ("1 2 3 4 5 6 7 8 " + "y" * 1000, "y"),
        ("ééééééééé", "é"),
    ],
)
def test_bad_positions(text: str, named: str, refused: Callable[..., str], finished: Path) -> None:
    assert named in refused("query", finished, text)
    assert named in refused("query", finished, FAR, text)
    assert refused("query", finished, "-", stdin=f"{FAR}\n{text or '/'}\n")


def test_bad_usage(refused: Callable[..., str], finished: Path) -> None:
    refused("query")
    refused("query", finished)
    refused("query", "none.zarr", FAR)
    refused("query", FAR, finished)


def test_unfinished_tables_do_not_guess(cli: Command, refused: Callable[..., str], unfinished: Path) -> None:
    assert cli("query", unfinished, "123456708").out.endswith(": 1\n")
    assert cli("query", unfinished, ODD).out == f"{ODD}: unreachable\n", "that is known without the table"
    assert "antipodes resume" in refused("query", unfinished, FAR, status=1)
    refused("query", unfinished, "--path", "--json", "123456708", FAR, status=1)


def test_positions_of_jump_puzzles_begin_with_dashes(cli: Command) -> None:
    cli("run", "knights-coloured", "--quiet")
    store = "outputs/knights-coloured.zarr"
    for text in (
        "---BBBWWW---",
        "-B-B-BW-W-W-",
        "--BB-BW-WW--",
        "-BBBWWW-----",
        "- B - B - B W - W - W -",
        "--- / BBB / WWW / ---",
    ):
        outcome = cli("query", store, text, "--json")
        assert outcome.status == 0, (text, outcome)
        assert json.loads(outcome.out)[0]["distance"] > 0


def test_several_positions_of_a_small_puzzle(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(
        toml({"name": "small", "family": "sliding", "rows": 1, "columns": 3, "start": "1 2 0"})
    )
    cli("run", "small.toml", "--quiet")
    for arguments in (["120", "102"], ["1 2 0", "1 0 2"]):
        outcome = cli("query", "outputs/small.zarr", *arguments)
        assert outcome.out == "1 2 0: 0\n1 0 2: 1\n", outcome
    assert cli("query", "outputs/small.zarr", "1", "0", "2").out == "1 0 2: 1\n"
