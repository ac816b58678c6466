import json
from collections.abc import Callable

import pytest
from programs import Command


def test_a_position_that_begins_with_a_dash(cli: Command) -> None:
    for words in (["-B-B-BW-W-W-"], ["--json", "-BBBWWW-----"], ["--", "---BBBWWW---"]):
        assert cli("rank", "knights-coloured", *words).status == 0


@pytest.mark.parametrize("index", [0, 1, 12345, 181439])
def test_inverse(index: int, cli: Command) -> None:
    position = json.loads(cli("unrank", "eight-puzzle", index, "--json").out)
    assert position["index"] == index
    ranked = json.loads(cli("rank", "eight-puzzle", position["position"], "--json").out)
    assert ranked == position
    assert cli("rank", "eight-puzzle", position["position"]).out == f"{index}\n"


def test_text(cli: Command) -> None:
    out = cli("unrank", "eight-puzzle", 0).out.splitlines()
    assert len(out) == 1 + 5
    assert cli("rank", "eight-puzzle", out[0]).out == "0\n"


def test_a_position_without_an_index(cli: Command, refused: Callable[..., str]) -> None:
    odd = "2 1 3 4 5 6 7 8 0"
    assert json.loads(cli("rank", "eight-puzzle", odd, "--json").out) == {"position": odd, "index": None}
    assert f"position '{odd}' is unreachable, so it has no index" in refused("rank", "eight-puzzle", odd)


def test_a_large_one(cli: Command) -> None:
    last = 518_918_399
    position = json.loads(cli("unrank", "seven-tiles", last, "--json").out)["position"]
    assert cli("rank", "seven-tiles", position).out == f"{last}\n"


@pytest.mark.parametrize("index", ["-1", "181440", "99999999999999999999", "-99999999999999999999"])
def test_out_of_range(index: str, refused: Callable[..., str]) -> None:
    assert f"from 0 to 181439, found {index}" in refused("unrank", "eight-puzzle", index)


@pytest.mark.parametrize("index", ["", "nan", "1.5", "first", "1e3", "9" * 5000])
def test_no_index(index: str, refused: Callable[..., str]) -> None:
    refused("unrank", "eight-puzzle", index)


def test_positions_with_dashes(cli: Command) -> None:
    ranks = {cli("rank", "knights-coloured", text).out for text in ("---BBBWWW---", "-B-B-BW-W-W-")}
    assert len(ranks) == 2


@pytest.mark.parametrize("arguments", [["rank", "eight-puzzle"], ["rank", "no", "1"], ["rank", "eight-puzzle", "123"]])
def test_bad_usage(arguments: list[str], refused: Callable[..., str]) -> None:
    refused(*arguments)
