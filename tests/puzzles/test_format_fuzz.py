"""Damaged files are read, or refused with one line; nothing else happens, and it does not take long."""

import time
from collections.abc import Callable
from random import Random

import pytest
from mutations import mutated
from project import ROOT
from twisty_geometry import ivy_cube, skewb

from antipodes.puzzles.formats.definition import TwistyDefinition, expand
from antipodes.puzzles.formats.gap import read_gap
from antipodes.puzzles.formats.kpuzzle import read_kpuzzle
from antipodes.puzzles.formats.tws import read_tws
from antipodes_tasks.errors import ConfigError

Reader = Callable[[str], TwistyDefinition]
SAMPLES = ROOT / "tests" / "support" / "samples"
MORE = "MoveAlias Q R2\nMoveSequence T Q L'\nMove Rv\nEnd\nMoveTransformation y\nEnd\n"
TEXTS: dict[str, tuple[Reader, list[str]]] = {
    "tws": (
        read_tws,
        [path.read_text() for path in sorted(SAMPLES.glob("*.tws"))]
        + [ivy_cube().tws(("StartState", "MoveTransformation")) + MORE],
    ),
    "gap": (read_gap, [path.read_text() for path in sorted(SAMPLES.glob("*.gap"))] + [skewb().gap()]),
    "kpuzzle": (read_kpuzzle, [path.read_text() for path in sorted(SAMPLES.glob("*.json"))] + [ivy_cube().kpuzzle()]),
}


def outcome(read: Reader, text: str) -> str:
    """What reading ends with: a definition whose turns can be expanded, or a message."""
    try:
        assert expand(read(text).turns)
    except ConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("seed", range(4))
def test_damaged_texts(kind: str, seed: int) -> None:
    read, texts = TEXTS[kind]
    random = Random(seed)
    refused = 0
    for _ in range(400):
        text = mutated(random.choice(texts), random)
        message = outcome(read, text)
        assert len(message.splitlines()) <= 1, text
        assert len(message) < 500, text
        refused += "expected" in message
        assert not message or "expected" in message, text
    assert 100 < refused < 400, "some are damaged, some are not"


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("tws", "Set A 2 2\n" * 200_000, "expected at most 1,048,576 characters, found 2,000,000"),
        ("tws", "#\n" * 500_000, "line 500001: end of the file: expected Solved"),
        ("tws", "Set A 1 1\nSolved\nEnd\n" + "\n".join(f"Move a{k}\nEnd" for k in range(2000)), "at most 1,024 names"),
        ("kpuzzle", "[" * 500_000, "expected JSON"),
        ("kpuzzle", '{"orbits": ' * 50_000, "expected JSON"),
        ("kpuzzle", '{"name": ' + "1" * 5000 + "}", "expected numbers of few digits"),
        ("kpuzzle", '{"orbits": [' + "{}," * 300_000 + "{}]}", "expected this key, which is missing"),
        ("gap", ";" * 1_000_000, "expected a permutation"),
        ("gap", "a:=" + "(1)" * 300_000 + ";", "expected each point once, found 1 twice"),
        ("gap", "a:=(" + "1," * 300_000 + ";", "expected cycles"),
        ("gap", "\n" * 1_000_000 + "a", "line 1000001: expected a statement with a ;"),
        ("gap", "Size(" + ")" * 300_000 + "x;", "expected NAME:="),
    ],
)
def test_large_texts_are_refused_in_a_moment(kind: str, text: str, message: str) -> None:
    begun = time.process_time()
    assert message in outcome(TEXTS[kind][0], text)
    assert time.process_time() - begun < 5
