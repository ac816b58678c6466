"""Patterns against every position of small puzzles, and queries of tables by pattern."""

import json
from collections import Counter
from itertools import chain, pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest
from brute_force import arrangements
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import ORACLES
from programs import Command

from antipodes.puzzles.config import load_config
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.families.jump import jump
from antipodes.puzzles.families.sliding import sliding
from antipodes.puzzles.pattern import Pattern
from antipodes.puzzles.puzzle import Puzzle
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.base.errors import PatternError

LABELLED = ORACLES["jump/knights-labelled"]
EXCHANGE = "{XYZ}/---/---/{ABC}"
TILES = sliding({"name": "tiles", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 2 3 3 0"})
HOLED = jump({"name": "holed", "family": "jump", "moves": "knight", "start": "AB#/-BC"})
TWO_DIGITS = sliding({"name": "tiles", "family": "sliding", "rows": 2, "columns": 3, "start": "9 10 11 12 13 0"})


def fitting(puzzle: Puzzle, pattern: str) -> list[str]:
    return sorted(puzzle.format(one) for batch in Pattern.parse(puzzle, pattern).batches() for one in batch)


@pytest.mark.parametrize(
    ("puzzle", "pattern", "expected"),
    [
        (TILES, "1 2 2 3 3 0", ["1 2 2 3 3 0"]),
        (TILES, "{12}2/330", ["1 2 2 3 3 0", "2 1 2 3 3 0"]),
        (TILES, "[13]22/3?.", ["1 2 2 3 3 0", "3 2 2 3 1 0"]),
        (TILES, "[^12]22/3?.", ["3 2 2 3 1 0"]),
        (TWO_DIGITS, "9 10 11 [^12] [^12 0] ?", ["9 10 11 0 13 12"]),
        (TILES, "[01][01]?/{2 2}3", ["0 1 3 2 2 3", "1 0 3 2 2 3"]),
        (TILES, "[1][1]????", []),
        (TILES, "1 {2 2} \n {330}", ["1 2 2 0 3 3", "1 2 2 3 0 3", "1 2 2 3 3 0"]),
        (TILES, "1 2 {2 3} 3 0 /", ["1 2 2 3 3 0", "1 2 3 2 3 0"]),
        (HOLED, "A?#/{B-}C", ["AB-BC", "ABB-C"]),
        (
            TWO_DIGITS,
            "9 {10 11} 12 ??",
            [f"9 {a} {b} 12 {c} {d}" for a, b in ((10, 11), (11, 10)) for c, d in ((0, 13), (13, 0))],
        ),
    ],
)
def test_matching_positions(puzzle: Puzzle, pattern: str, expected: list[str]) -> None:
    assert fitting(puzzle, pattern) == sorted(expected)


@st.composite
def tile_patterns(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Groups of a pattern over the 6 squares of TILES: the text and the symbols of each."""
    groups, squares = [], 6
    while squares:
        kind = draw(st.sampled_from(["plain", "any", "choice", "bag"]))
        symbols = draw(st.lists(st.sampled_from("0123"), min_size=1, max_size=squares if kind == "bag" else 4))
        groups.append((kind, "".join(symbols[:1] if kind == "plain" else symbols)))
        squares -= len(symbols) if kind == "bag" else 1
    return groups


def fits(position: tuple[str, ...], groups: list[tuple[str, str]]) -> bool:
    for kind, symbols in groups:
        size = len(symbols) if kind == "bag" else 1
        here, position = position[:size], position[size:]
        if kind == "bag" and Counter(here) != Counter(symbols):
            return False
        if kind in ("plain", "choice") and here[0] not in symbols:
            return False
    return True


@given(tile_patterns())
def test_patterns_against_every_position(groups: list[tuple[str, str]]) -> None:
    written = {"plain": "{}", "any": "?", "choice": "[{}]", "bag": "{{{}}}"}
    text = "".join(written[kind].format(symbols) for kind, symbols in groups)
    expected = sorted(
        " ".join(position) for position in arrangements(TILES.format(TILES.starts[0]).split()) if fits(position, groups)
    )
    try:
        assert fitting(TILES, text) == expected
    except PatternError:
        claimed = Counter("".join(symbols for kind, symbols in groups if kind in ("plain", "bag")))
        assert claimed - Counter("122330")
        assert expected == []


def test_batches_are_bounded_and_list_each_position_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.puzzles.pattern.BATCH", 7)
    batches = list(Pattern.parse(TILES, "??????").batches())
    assert max(map(len, batches)) <= 7
    listed = [tuple(one.tolist()) for batch in batches for one in batch]
    assert len(listed) == len(set(listed)) == len(arrangements(TILES.format(TILES.starts[0]).split()))


@pytest.mark.parametrize(
    ("puzzle", "pattern", "message"),
    [
        (TILES, "{12}2/33", "expected 6 squares, found 5"),
        (TILES, "12/23/30", "expected 2 rows of 3, or one line, found rows of 2, 2, 2"),
        (TILES, "{12 2 330", r"brackets in pairs, found '\{'"),
        (TILES, "{}12233 0", r"pattern '\{\}12233 0': the brackets '\{\}' contain no pieces"),
        (TILES, "{[1]}22330", "brackets in pairs"),
        (TILES, "x22330", "expected one of 0 1 2 3, found 'x'"),
        (TILES, "{1?}2330", r"found '\?'"),
        (TILES, "11????", "expected at most 1 x '1', found 2"),
        (TILES, "#22330", r"pattern '#22330': square a2 is not a hole"),
        (HOLED, "#AB/-BC", r"pattern '#AB/-BC': square a2 is not a hole"),
        (HOLED, "AB#/-BCC", "expected 6 squares, found 7"),
        (TWO_DIGITS, "9101112130", "found '9101112130'"),
    ],
)
def test_wrong_patterns_are_refused(puzzle: Puzzle, pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=message) as error:
        Pattern.parse(puzzle, pattern)
    assert len(str(error.value)) < 300


@pytest.fixture(scope="module")
def knights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished table of the labelled knights."""
    store = tmp_path_factory.mktemp("knights") / "knights-labelled.zarr"
    run_puzzle(load_config("knights-labelled"), store, RunOptions(workers=2))
    return store


def test_the_exchanges_of_the_labelled_knights(knights: Path) -> None:
    with open_table(knights) as table:
        matches = table.match(EXCHANGE)
        assert {str(d): n for d, n in matches.by_distance.items()} == LABELLED["swap_goals_by_distance"]
        assert (matches.count, matches.reached) == (36, 36)
        assert (table.distances(matches.nearest) == 16).all()
        assert [table.puzzle.format(one) for one in matches.farthest] == ["XYZ------ABC"]
        assert (np.diff(table.space.rank(matches.nearest)) > 0).all()


def test_the_query_by_pattern(cli: Command, knights: Path) -> None:
    outcome = cli("query", knights, "--pattern", EXCHANGE, "--path", "--json")
    found = json.loads(outcome.out)
    assert found["by_distance"] == LABELLED["swap_goals_by_distance"]
    assert (found["nearest"]["distance"], found["nearest"]["count"]) == (16, 2)
    assert (found["farthest"]["distance"], found["farthest"]["positions"]) == (26, ["XYZ------ABC"])
    assert (found["path"][0], found["path"][-1]) == ("ABC------XYZ", found["nearest"]["positions"][0])
    assert len(found["path"]) == 17
    puzzle = load_config("knights-labelled").puzzle
    way = [puzzle.parse(text) for text in found["path"]]
    for before, after in pairwise(way):
        assert (puzzle.successors(before) == after).all(axis=1).any()


def test_the_text_of_a_query_by_pattern(cli: Command, knights: Path) -> None:
    text = cli("query", knights, "--pattern", EXCHANGE, "--path").out
    assert text.startswith(f"36 positions match {EXCHANGE}, 36 reachable\n")
    assert "   26          1" in text
    assert "nearest: 2 at distance 16" in text
    assert "farthest: 1 at distance 26" in text
    assert "a shortest path from the start to the nearest:" in text


def test_a_pattern_that_all_positions_match(finished: Path) -> None:
    with open_table(finished) as table:
        matches = table.match("?????????")
        assert matches.nearest.tolist() == table.puzzle.start_labels.tolist()
        assert matches.farthest.tolist() == table.antipodes().tolist()
    assert list(matches.by_distance.values()) == table.layers
    assert (matches.count, matches.reached) == (362880, 181440)


def test_matching_positions_that_are_unreachable(cli: Command, finished: Path) -> None:
    outcome = cli("query", finished, "--pattern", "213456780", "--path", "--json")
    found = json.loads(outcome.out)
    assert (found["count"], found["reached"], found["by_distance"]) == (1, 0, {})
    assert found["nearest"] is found["farthest"] is found["path"] is None
    assert cli("query", finished, "--pattern", "213456780").out == ("1 position matches 213456780, 0 reachable\n")


SEVERAL = {
    "pegs": puzzle_from({"name": "h", "family": "hanoi", "discs": 4}),
    "lights": puzzle_from({"name": "l", "family": "lights-out", "rows": 2, "columns": 2}),
    "pieces and sides": puzzle_from({"name": "b", "family": "burnt-pancake", "n": 3}),
    "dials": define_puzzle(name="d", radices=[12, 3], start=[0, 2], moves={"a": lambda dials: (dials + 1) % [12, 3]}),
}


def contents(puzzle: Puzzle) -> list[tuple[int, ...]]:
    """All contents of all parts."""
    pools = [
        product(range(len(part.symbols)), repeat=part.places)
        if part.counts is None
        else permutations([label for label, count in enumerate(part.counts) for _ in range(count)])
        for part in puzzle.parts
    ]
    return [tuple(chain.from_iterable(one)) for one in product(*(sorted(set(pool)) for pool in pools))]


@given(st.data())
@settings(max_examples=3 * settings().max_examples)
def test_patterns_of_several_parts_and_of_values(data: st.DataObject) -> None:
    puzzle = SEVERAL[data.draw(st.sampled_from(sorted(SEVERAL)))]
    words, every = list[str](), contents(puzzle)
    for part, at in zip(puzzle.parts, puzzle.rules.ranges, strict=True):
        place = at.start
        while place < at.stop:
            kind, size = data.draw(st.sampled_from(["?", "", "[", "[^", "{"])), 1
            labels = data.draw(
                st.lists(st.sampled_from(range(len(part.symbols))), min_size=1, max_size=at.stop - place)
            )
            written = " ".join(part.symbols[label] for label in labels)
            if kind == "?" or (kind == "[^" and len(set(labels)) == len(part.symbols)):
                words.append("?")
            elif kind == "{":
                words.append("{" + written + "}")
                size = len(labels)
                every = [one for one in every if sorted(one[place : place + size]) == sorted(labels)]
            elif kind == "":
                words.append(part.symbols[labels[0]])
                every = [one for one in every if one[place] == labels[0]]
            else:
                words.append(kind + written + "]")
                every = [one for one in every if (one[place] in labels) == (kind == "[")]
            place += size
    try:
        pattern = Pattern.parse(puzzle, " ".join(words))
    except PatternError:
        assert not every
        return
    found = [tuple(one.tolist()) for batch in pattern.batches() for one in batch]
    assert len(found) == len(set(found))
    assert set(found) == set(every)
    labels = np.array(contents(puzzle), dtype=np.uint8)
    assert set(map(tuple, labels[pattern.matches(labels)].tolist())) == set(every)


def test_a_bag_must_not_cross_from_one_part_to_the_next() -> None:
    with pytest.raises(
        PatternError,
        match=r"pattern '1 2 \{3 1\} \? \?': pieces in any order, \{\.\.\.\}, must not extend over two parts of the",
    ):
        Pattern.parse(SEVERAL["pieces and sides"], "1 2 {3 1} ? ?")
