"""`rank` and `unrank` of permutations."""

import json
from collections.abc import Callable
from itertools import permutations

import pytest
from oracles import ORACLES
from programs import Command

from antipodes_tasks.permutations.ranks import ALGORITHMS

ORACLE = ORACLES["permutation"]


@pytest.mark.parametrize("written", ["3 1 2 0", "3,1,2,0", "3120", " 3/1 2,0 "])
def test_the_published_digits(cli: Command, written: str) -> None:
    assert cli("rank", "--permutation", written).out == "permutation  3 1 2 0\ndigits       3 1 1\nnumber       21\n"
    found = json.loads(cli("rank", "--permutation", written, "--json").out)
    assert found["factorial_digits"] == ORACLE["3120"]["factorial_digits"]
    assert (found["permutation"], found["index"], found["algorithm"]) == ([3, 1, 2, 0], 21, "counting")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_unrank_is_the_inverse(cli: Command, algorithm: str) -> None:
    seen = set()
    for elements in permutations(range(4)):
        text = " ".join(map(str, elements))
        ranked = json.loads(cli("rank", "--permutation", text, "--algorithm", algorithm, "--json").out)
        back = cli("unrank", "--permutation", ranked["index"], "--elements", 4, "--algorithm", algorithm, "--json")
        assert json.loads(back.out) == ranked
        seen.add(ranked["index"])
    assert seen == set(range(24))


def test_the_greatest(cli: Command) -> None:
    backwards = " ".join(map(str, range(19, -1, -1)))
    out = cli("rank", "--permutation", backwards).out
    assert "number       2432902008176639999\n" in out
    assert cli("unrank", "--permutation", 2432902008176639999, "--elements", 20).out == out


def test_one_element(cli: Command) -> None:
    assert cli("rank", "--permutation", "0").out == "permutation  0\ndigits       none\nnumber       0\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rank", "--permutation", "3 1 1 0"], "expected each of 0 to 3 once, found 3 1 1 0"),
        (["rank", "--permutation", "1 2 3"], "expected each of 0 to 2 once"),
        (["rank", "--permutation", "0 -1"], "expected each of 0 to 1 once"),
        (["rank", "--permutation", ""], "expected permutations of 1 to 20 elements, found 0"),
        (["rank", "--permutation", "a b"], "expected integers from 0, found 'a b'"),
        (["rank", "--permutation", "0 99999999999999999999"], "expected integers from 0"),
        (["rank", "--permutation", " ".join(map(str, range(21)))], "found 21"),
        (["rank", "--permutation", "1 0", "--algorithm", "fast"], "counting, shrinking, linear; found 'fast'"),
        (["rank", "eight-puzzle", "--permutation", "1 0"], "PUZZLE: expected none with --permutation"),
        (["rank", "eight-puzzle", "123456780", "--algorithm", "linear"], "--algorithm: expected none without"),
        (["rank"], "a PUZZLE and a POSITION, or a --permutation"),
        (["unrank", "--permutation", "24", "--elements", "4"], "from 0 to 23, found 24"),
        (["unrank", "--permutation", "-1", "--elements", "4"], "from 0 to 23, found -1"),
        (["unrank", "--permutation", "9" * 30, "--elements", "4"], "from 0 to 4! - 1"),
        (["unrank", "--permutation", "3"], "expected --elements"),
        (["unrank", "--permutation", "3", "--elements", "21"], "1 to 20 elements, found 21"),
        (["unrank", "--permutation", "3", "--elements", "0"], "1 to 20 elements, found 0"),
        (["unrank", "--permutation", "x", "--elements", "4"], "--permutation"),
        (["unrank", "eight-puzzle", "5", "--elements", "4"], "--elements: expected none without"),
        (["unrank"], "a PUZZLE and an INDEX, or a --permutation"),
    ],
)
def test_refused_arguments(refused: Callable[..., str], arguments: list[str], message: str) -> None:
    assert message in refused(*arguments)
