"""Twisty puzzles in all formats, against known layers; damaged files are read, or refused with one line."""

import time
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import twisty_geometry
from oracles import ORACLES
from project import ROOT
from twisty_search import layers

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.formats.definition import TwistyDefinition, expand
from antipodes.puzzles.formats.gap import read_gap
from antipodes.puzzles.formats.kpuzzle import read_kpuzzle
from antipodes.puzzles.formats.tws import read_tws
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.spaces.selection import index_size

SAMPLES = ROOT / "tests" / "support" / "samples"
Reader = Callable[[str], TwistyDefinition]
READERS: dict[str, Reader] = {".tws": read_tws, ".json": read_kpuzzle, ".gap": read_gap}
CUBE = "2x2x2 no fixed corner, "
NOVICE = "puzzlernovice"
KNOWN: dict[str, Any] = ORACLES["twisty"]
GEOMETRY = {make.__name__: make() for make in (twisty_geometry.skewb, twisty_geometry.ivy_cube, twisty_geometry.dino)}
PYRAMINX = twisty_geometry.pyraminx()


def sample(name: str) -> TwistyDefinition:
    path = SAMPLES / name
    return READERS[path.suffix](path.read_text())


@pytest.mark.parametrize(
    ("name", "metric", "key", "depth"),
    [
        ("pyramorphix.gap", "half", "pyramorphix", 99),
        ("puzzlernovice.tws", "half", NOVICE, 7),
        ("2x2x2.tws", "quarter", CUBE + "quarter turns", 5),
        ("2x2x2.kpuzzle.json", "half", CUBE + "half turns", 4),
    ],
)
def test_layers_of_samples(name: str, metric: str, key: str, depth: int) -> None:
    definition = sample(name)
    assert layers(definition, expand(definition.turns, metric).values(), depth) == KNOWN[key][: depth + 1]


@pytest.mark.parametrize("name", GEOMETRY)
def test_every_format_says_the_same(name: str) -> None:
    made = GEOMETRY[name]
    definition = read_tws(made.tws())
    assert definition == read_tws(made.tws(("StartState", "MoveTransformation")))
    assert definition == read_kpuzzle(made.kpuzzle())
    counts = [layers(one, expand(one.turns).values(), 4) for one in (definition, read_gap(made.gap()))]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", ["skewb", "dino"])
def test_gap_finds_the_orbits_again(name: str) -> None:
    definition, found = read_tws(GEOMETRY[name].tws()), read_gap(GEOMETRY[name].gap())
    assert found.turns == definition.turns
    assert [orbit.orientations for orbit in found.orbits] == [orbit.orientations for orbit in definition.orbits]


def test_the_pyraminx_of_the_sample_is_that_of_geometry() -> None:
    found = sample("pyraminx.gap")
    made = read_tws(PYRAMINX.tws())
    assert sorted((len(orbit.pieces), orbit.orientations) for orbit in found.orbits) == [(4, 3), (4, 3), (6, 2)]
    assert list(found.turns) == ["r", "BL", "l", "BR", "b", "F", "u", "D"]
    assert layers(found, expand(found.turns).values(), 4) == layers(made, expand(made.turns).values(), 4)


@pytest.mark.parametrize(
    ("name", "positions", "kind"),
    [("skewb", 37_791_360, "gap"), ("dino", 239_500_800, "kpuzzle"), ("pyraminx", 302_330_880, "tws")],
)
def test_the_groups_of_puzzles_from_geometry(name: str, positions: int, kind: str) -> None:
    """Their orders are published, those of the larger three as what twsearch counts."""
    text = getattr((GEOMETRY | {"pyraminx": PYRAMINX})[name], kind)()
    puzzle = puzzle_from({"name": name, "family": "twisty", "format": kind, "definition": text})
    assert index_size(puzzle.rules) == positions


def test_rotations_of_the_cube_are_no_moves() -> None:
    found = sample("2x2x2.kpuzzle.json")
    assert list(found.turns) == ["U", "L", "F", "R", "B", "D"]
    assert list(found.others) == ["x", "y", "z", "Uv", "Lv", "Fv", "Rv", "Bv", "Dv"]
    assert found.others["Dv"] == found.others["y"].inverse()
    opposite = found.turns["U"].compose(found.turns["D"].inverse())
    assert opposite == found.others["y"], "both layers of the cube turn as one"


MORE = "MoveAlias Q R2\nMoveSequence T Q L'\nMove Rv\nEnd\nMoveTransformation y\nEnd\n"
TEXTS: dict[str, tuple[Reader, list[str]]] = {
    kind: (read, [*(path.read_text() for path in sorted(SAMPLES.glob(pattern))), made])
    for kind, read, pattern, made in (
        ("tws", read_tws, "*.tws", GEOMETRY["ivy_cube"].tws(("StartState", "MoveTransformation")) + MORE),
        ("gap", read_gap, "*.gap", GEOMETRY["skewb"].gap()),
        ("kpuzzle", read_kpuzzle, "*.json", GEOMETRY["ivy_cube"].kpuzzle()),
    )
}


def outcome(read: Reader, text: str) -> str:
    """What reading ends with: a definition whose turns can be expanded, or a message."""
    try:
        assert expand(read(text).turns)
    except ConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", TEXTS)
def test_damaged_texts(kind: str) -> None:
    read, texts = TEXTS[kind]
    random = Random(1)
    refused = 0
    for _ in range(400):
        text = mutated(random.choice(texts), random)
        message = outcome(read, text)
        assert len(message.splitlines()) <= 1, text
        assert len(message) < 500, text
        refused += bool(message)
    assert 100 < refused < 400, "some are damaged, some are not"


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("tws", "Set A 2 2\n" * 200_000, "expected at most 1,048,576 characters, found 2,000,000"),
        ("tws", "#\n" * 100_000, "line 100001: end of the file: Solved or StartState is missing"),
        (
            "tws",
            "Set A 1 1\nSolved\nEnd\n" + "\n".join(f"Move a{k}\nEnd" for k in range(2000)),
            "line 2052: Move: there are more than 1,024 names",
        ),
        ("kpuzzle", "[" * 500_000, "the JSON is nested too deeply"),
        ("kpuzzle", '{"name": ' + "1" * 5000 + "}", "a number in the JSON has thousands of digits"),
        ("kpuzzle", '{"orbits": [' + "{}," * 100_000 + "{}]}", "orbits[0].orbitName: this key is missing"),
        ("gap", ";" * 300_000, "the file contains no permutation, such as M_R:=(1,2,3);"),
        ("gap", "a:=" + "(1)" * 100_000 + ";", "expected each point once, found 1 twice"),
        ("gap", "a:=(" + "1," * 100_000 + ";", "expected cycles"),
        ("gap", "Size(" + ")" * 300_000 + "x;", "expected NAME:="),
    ],
)
def test_large_texts_are_refused_in_a_moment(kind: str, text: str, message: str) -> None:
    begun = time.process_time()
    assert message in outcome(TEXTS[kind][0], text)
    assert time.process_time() - begun < 30


ODD = [
    *("?", "0", "-1", "1.5", "1e9", "99999999999999999999", "End", "#", "{", "]", "[[", "(", ")", "'", "²", "\x00"),
    *("\u2028", "null", "true", "x", "M_", ":=", ";", ",", "\r", "\t", "v", "Move", "Set A 2 2", "🧩", "ip:=[[1,2]];"),
    "Illegal CORNER 1 2",
]


def mutated(text: str, random: Random) -> str:
    """The text with one to four changes: words or lines left out, doubled, exchanged, replaced, and cuts."""
    for _ in range(random.randint(1, 4)):
        text = random.choice([_words, _lines, _characters, _numbers])(text, random)
    return text


def _words(text: str, random: Random) -> str:
    separator = random.choice([" ", ",", "\n", '"', ";"])
    return separator.join(_changed(text.split(separator), random))


def _lines(text: str, random: Random) -> str:
    return "\n".join(_changed(text.split("\n"), random))


def _changed(parts: list[str], random: Random) -> list[str]:
    one, other = random.randrange(len(parts)), random.randrange(len(parts))
    change = random.randrange(6)
    if change == 0:
        del parts[one]
    elif change == 1:
        parts.insert(one, parts[other])
    elif change == 2:
        parts[one], parts[other] = parts[other], parts[one]
    elif change == 3:
        parts[one] = random.choice(ODD)
    elif change == 4:
        parts.insert(one, random.choice(ODD))
    else:
        del parts[one:other]
    return parts


def _characters(text: str, random: Random) -> str:
    place = random.randrange(len(text) + 1)
    change = random.randrange(4)
    if change == 0:
        return text[:place]
    if change == 1:
        return text[:place] + text[place + 1 :]
    if change == 2:
        return text[:place] + random.choice(ODD) + text[place:]
    return text[:place] + random.choice(ODD) * 50 + text[place:]


def _numbers(text: str, random: Random) -> str:
    places = [place for place, character in enumerate(text) if character.isdigit()]
    if not places:
        return text
    place = random.choice(places)
    return text[:place] + random.choice("0123456789") + text[place + 1 :]
