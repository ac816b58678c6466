"""Block puzzles: how they are written and drawn, what is refused, and their moves by brute force."""

import json
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import blocks_distances, blocks_position
from hypothesis import given
from hypothesis import strategies as st
from programs import Command
from strategies import blocks_settings

from antipodes.drawing.picture import SQUARE, Line, Rectangle, Text
from antipodes.puzzles.block_board import TARGET, BlockBoard
from antipodes.puzzles.board import WALL_WIDTH
from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.goals import goals_in, with_targets
from antipodes.puzzles.pattern import batches
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import ConfigError, PatternError, PositionError
from antipodes_tasks.spaces.keyed import Keyed

START = "BAAC/BAAC/DEEF/DGHF/I..J"


def blocks(**changes: Any) -> Puzzle:
    return puzzle_from({"name": "p", "family": "blocks", "start": START, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": "AAB/A.A"}, "start: the squares of block 'A' are not connected"),
        ({"start": "AA/BB"}, r"start: the board has no empty square '\.'; it needs at least one"),
        ({"start": "../#."}, "start: the board has no block; it needs at least one"),
        ({"start": "AA/B"}, "start: expected rows of 2 squares, found a row of 1"),
        ({"start": "A?/.."}, "start: expected blocks, '.' or '#', found '\\?'"),
        ({"start": ["A./..", "AA/.."]}, "start: the start has no block like 'A', of 2 squares in row 1"),
        (
            {"start": ["A./.B", "A./.."]},
            r"start: every position must have the same pieces, but these differ in number: \., A$",
        ),
        ({"start": ["AA./...", "AA/../.."]}, "start: expected 2 rows of 3, or one line, found rows of 2, 2, 2"),
        ({"start": "/"}, r"start: the text is empty; expected blocks, '\.' or '#'"),
        ({"start": "AA./...", "goal": "AA/../.."}, "goal: .*expected 2 rows of 3, or one line"),
        ({"start": ["A./..", "A./.#"]}, "start: square b1 is not a hole; found '#' there"),
        ({"moves": "jumps"}, "moves: expected one of steps, slides, found 'jumps'"),
        (
            {"axis": True},
            "start: axis: each block must be longer in one direction, but block 'A' is as long as it is wide",
        ),
        (
            {"rows": 5},
            "rows: unknown key; expected axis, description, distinct, enumerated, family, goal, moves, name, "
            "start, starts, target, walls",
        ),
        ({"target": "X"}, r"\[puzzle\] target: the start has no block 'X'"),
        ({"target": 5}, "target: expected a string, found 5"),
        ({"start": "AA./...", "walls": ["a2|b2"]}, "start: block 'A' lies across the wall between a2 and b2"),
        ({"start": "AA./.#.", "walls": ["a1|b1"]}, r"walls: b1 is a hole of the board, in 'a1\|b1'"),
        (
            {"start": "A...." + 5 * "/.....", "moves": "slides"},
            'moves: the blocks have more than 8,192 moves; choose moves = "steps"',
        ),
    ],
)
def test_refused_with_the_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        blocks(**changes)


@pytest.mark.parametrize(
    "text", [START, START.replace("/", "\n"), "XUUV/XUUV/YEEZ/YGHZ/I..J", "JAAB JAAB CEED CGHD F..I"]
)
def test_blocks_of_one_shape_have_any_letters(text: str) -> None:
    puzzle = blocks()
    assert puzzle.format(puzzle.parse(text)) == START


def test_distinct_blocks_keep_their_letters() -> None:
    puzzle = blocks(distinct=True)
    swapped = "CAAB/CAAB/DEEF/DGHF/I..J"
    assert puzzle.format(puzzle.parse(swapped)) == swapped
    with pytest.raises(
        PositionError,
        match=r"position 'XAAC/XAAC/DEEF/DGHF/I\.\.J': the start has no block like 'X', of 2 squares in row 1",
    ):
        puzzle.parse(START.replace("B", "X"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BAAC/BAAC/DEEF/DGHF/I...", "expected 2 x '.', found 3"),
        ("BAAC/BAAC/DEEF/DGHF/IKKJ", "expected 1 x 'E', found 2; missing: '.'"),
        ("BAAC/BAAC/DEEF/DGHF/I.#J", "square c1 is not a hole; found '#' there"),
        ("BAACB/AACDE/EFDGH/FI..J", "expected 5 rows of 4, or one line, found rows of 5, 5, 5, 5"),
        ("BAAC/BAAC", "expected 20 symbols, found 8"),
        (
            "BAAC/BAAC/DEEF/DEHF/I..J",
            r"position 'BAAC/BAAC/DEEF/DEHF/I\.\.J': the start has no block like 'E', of 3 squares in row 3",
        ),
        (
            "BAAC/BAAC/DEEF/DGHF/I.DJ",
            r"position 'BAAC/BAAC/DEEF/DGHF/I\.DJ': the squares of block 'D' are not connected",
        ),
    ],
)
def test_no_position(text: str, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        blocks().parse(text)


def test_a_drawing_has_the_outlines_of_the_blocks() -> None:
    puzzle = blocks(start="AAB/#CB/..D")
    assert puzzle.draw(puzzle.start_labels[0]).splitlines() == [
        "╭───────┬───╮",
        "│ A     │ B │",
        "├───┬───┤   │",
        "│ ░ │ C │   │",
        "├───┴───┼───┤",
        "│       │ D │",
        "╰───────┴───╯",
    ]


def test_names_of_several_characters_and_walls_around() -> None:
    puzzle = blocks(start="a1 a1 # / . b b")
    assert puzzle.format(puzzle.start_labels[0]) == "a1 a1 # / . b b"
    assert puzzle.format(puzzle.parse("x x y y .")) == "a1 a1 # / b b ."


@pytest.mark.parametrize(("start", "drawn"), [("#./A#", "#A/.#"), ("##/#./AA", "##/#./AA"), ("A#/##/#.", "A./")])
def test_as_many_lines_as_places(start: str, drawn: str) -> None:
    puzzle = blocks(start=start)
    assert puzzle.format(puzzle.start_labels[0]) == start
    assert puzzle.parse(start).tolist() == puzzle.start_labels[0].tolist()
    assert len(puzzle.parse(drawn)) == puzzle.places


def test_axis_keeps_cars_in_their_lines() -> None:
    puzzle = blocks(start="AA./..B/CCB", axis=True)
    assert {puzzle.format(one) for one in puzzle.successors(puzzle.start_labels[0])} == {".AA/..B/CCB", "AAB/..B/CC."}
    with pytest.raises(
        PositionError,
        match=r"position 'AA\./CCB/\.\.B': block 'C' is in row 2, "
        r"but because of the key 'axis', blocks of its shape must stay in row",
    ):
        puzzle.parse("AA./CCB/..B")


def test_a_slide_is_undone_only_where_it_has_one_way_back() -> None:
    slides = blocks(start="A../...", moves="slides")
    assert slides.format(slides.follow("A-c1")[-1]) == ".../..A"
    with pytest.raises(
        PositionError, match="""moves "A-c1 A-c1'": "A-c1'" as move 2 is ambiguous: it can be undone in 5 ways"""
    ):
        slides.follow("A-c1 A-c1'")
    with pytest.raises(PositionError, match="""moves "A-a1'": "A-a1'" as move 1 is not legal there"""):
        slides.follow("A-a1'")
    narrow = blocks(start="A.", moves="slides")
    assert narrow.format(narrow.follow("A-b1 A-b1'")[-1]) == "A."


@pytest.mark.parametrize("moves", ["steps", "slides"])
def test_a_block_named_like_a_square_is_called_by_its_own(moves: str) -> None:
    puzzle = blocks(start="a1 a1 X / Y . .", moves=moves)
    way = puzzle.follow("c2-c1" if moves == "slides" else "c2-down")
    assert puzzle.format(way[-1]) == "a1 a1 . / X . Y"
    for labels in way:
        after = [[labels, one] for one in puzzle.successors(labels)]
        assert len({name for path in after for name in puzzle.move_names(path) or ()}) == len(after)


def all_reached(puzzle: Puzzle) -> Labels:
    """The positions that the start leads to, as the table of a small puzzle lists them."""
    numbering = Keyed.of(puzzle.rules)
    return numbering.unrank(np.arange(numbering.size))


@given(blocks_settings())
def test_distances_by_brute_force(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    expected = blocks_distances(table)
    positions = all_reached(puzzle)
    texts = [puzzle.format(one) for one in positions]
    assert {blocks_position(text.split("/"), table) for text in texts} == expected.keys()
    assert len(texts) == len(expected)
    assert puzzle.parse_many(texts).tolist() == positions.tolist()
    for labels, text in zip(positions[:20], texts, strict=False):
        depth = expected[blocks_position(text.split("/"), table)]
        after = [blocks_position(puzzle.format(one).split("/"), table) for one in puzzle.successors(labels)]
        assert min((expected[one] for one in after), default=0) >= depth - 1
        assert puzzle.moves.reversible


@pytest.mark.parametrize("moves", ["steps", "slides"])
def test_no_block_crosses_a_wall_or_lies_across_it(moves: str) -> None:
    """The wall between b2 and c2 also blocks the way of the block below it, which would lie across it."""
    puzzle = blocks(start="A..B/....", walls=["b2|c2"], moves=moves, distinct=True)
    reached = {puzzle.format(one) for one in all_reached(puzzle)}
    assert len(reached) == 56, "single squares go around the wall"
    puzzle = blocks(start="AA../AA..", walls=["b2|c2"], moves=moves)
    assert [puzzle.format(one) for one in all_reached(puzzle)] == ["AA../AA.."]
    puzzle = blocks(start="A.../A...", walls=["b1|b2"], moves=moves)
    assert {puzzle.format(one) for one in all_reached(puzzle)} == {"A.../A..."}
    with pytest.raises(PositionError, match="block 'A' lies across the wall between b2 and b1"):
        puzzle.parse(".A../.A..")


def test_walls_are_drawn_and_stored(cli: Command) -> None:
    puzzle = blocks(start="A.B", walls=["b1|c1"])
    assert puzzle.draw(puzzle.start_labels[0]) == "╭───┬───┬───╮\n│ A │   │ B │\n╰───┴───┴───╯"
    walls = [shape for shape in puzzle.picture(puzzle.start_labels[0]).shapes if isinstance(shape, Line)]
    assert walls[-1].width == WALL_WIDTH
    Path("w.toml").write_text('[puzzle]\nname = "w"\nfamily = "blocks"\nstart = "A.B"\nwalls = [[1, 2]]\n')
    assert json.loads(cli("run", "w.toml", "--quiet", "--json").out)["states"] == 2
    assert json.loads(cli("verify", "w", "--json").out)["ok"]
    assert cli("check", "w.toml").status == 0


def cells(text: str) -> dict[str, set[tuple[int, int]]]:
    """The squares of each letter."""
    found: dict[str, set[tuple[int, int]]] = {}
    for row, line in enumerate(text.replace(" ", "").split("/")):
        for column, letter in enumerate(line):
            if letter not in ".#":
                found.setdefault(letter, set()).add((row, column))
    return found


@given(blocks_settings(), st.integers(0, 1 << 30))
def test_along_a_path_one_letter_moves_per_move(table: dict[str, Any], seed: int) -> None:
    """In lines, drawings and pictures; the lines are positions of the path, and the first one is written as ever."""
    puzzle, rng, path = puzzle_from(table), random.Random(seed), []
    after = puzzle.start_labels
    while len(after) and len(path) < 12:
        path.append(rng.choice(list(after)))
        after = puzzle.successors(path[-1])
    texts = puzzle.format_path(np.array(path))
    assert texts[0] == puzzle.format(path[0])
    assert puzzle.parse_many(texts).tolist() == np.array(path).tolist()
    for before, now in pairwise(map(cells, texts)):
        assert len([letter for letter in before if before[letter] != now[letter]]) == 1
        assert before.keys() == now.keys()
    for text, (drawn, position) in zip(texts, puzzle.along(np.array(path)), strict=True):
        letters = [shape.text for shape in drawn.picture(position).shapes if isinstance(shape, Text)]
        assert letters == list(dict.fromkeys(re.findall(r"\w", text)))
        assert re.findall(r"\w", drawn.draw(position)) == letters


@pytest.mark.parametrize("name", ["klotski", "klotski-moves", "rush-hour"])
def test_the_block_of_the_goal_has_a_colour_of_its_own(name: str) -> None:
    puzzle = load_config(name).puzzle
    squares = [
        one for one in puzzle.picture(puzzle.rules.first).shapes if isinstance(one, Rectangle) and one.width == SQUARE
    ]
    covered = cells(puzzle.format(puzzle.rules.first))
    assert len([one for one in squares if one.fill == TARGET]) == len(covered["A"])
    assert len(squares) == sum(map(len, covered.values()))
    lines, marked = puzzle.draw(puzzle.rules.first).split("\n"), puzzle.highlighted(puzzle.rules.first)
    inside = "".join(lines[line][column] for line, column in sorted(marked))
    assert inside.split() == ["A"]
    assert len(inside) == (21 if name.startswith("klotski") else 7)  # all within the outline


def test_a_pattern_as_a_goal_says_which_block_is_meant() -> None:
    puzzle = blocks()
    board = with_targets(puzzle, ["????/????/????/?AA?/?AA?", "EE??" + 4 * "/????"]).notation
    assert isinstance(board, BlockBoard)
    assert board.targets == {"A", "E"}
    assert with_targets(puzzle, [START]).notation == puzzle.notation


@given(blocks_settings())
def test_every_position_that_can_be_reached_matches_anything(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    found = {bytes(one) for one in goals_in(puzzle, re.sub(r"[^#/]", "?", table["start"]))}
    assert {bytes(one) for one in all_reached(puzzle)} <= found


@pytest.mark.slow
def test_patterns_of_klotski() -> None:
    """65,880 arrangements of the ten blocks are known, 25,955 of which can be reached from the classic start."""
    puzzle = load_config("klotski").puzzle
    assert sum(map(len, batches(puzzle, "????/????/????/????/????"))) == 65880
    exits = goals_in(puzzle, "????/????/????/?XX?/?XX?")
    assert {puzzle.format(one).split("/")[3][1:3] for one in exits} == {"AA"}
    assert len({bytes(one) for one in exits}) == len(exits)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "????/????/????/?AA?/?AB?",
            "the start has no block like 'A', of 3 squares in row 4",
        ),
        ("????", "expected 20 symbols, found 4"),
        ("XXYY/????/????/????/????", "expected at most 1 x 'E', found 2"),
        ("..??/.???/????/????/????", "expected at most 2 x '.', found 3"),
    ],
)
def test_no_pattern(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        goals_in(blocks(), pattern)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "??/#?/??/AA",
            r"pattern '\?\?/#\?/\?\?/AA': block 'A' is in row 4, "
            r"but because of the key 'axis', blocks of its shape must stay in row 1",
        ),
        ("B?/#B/??/??", r"pattern 'B\?/#B/\?\?/\?\?': the squares of block 'B' are not connected"),
        ("B?/#?/B?/B?", r"pattern 'B\?/#\?/B\?/B\?': the squares of block 'B' are not connected"),
        (
            "??/#?/?B/?B",
            r"pattern '\?\?/#\?/\?B/\?B': block 'B' is in column 2, "
            r"but because of the key 'axis', blocks of its shape must stay in",
        ),
        ("??/#?/??/?B", r"pattern '\?\?/#\?/\?\?/\?B': the start has no block like 'B', of 1 square in row 4"),
    ],
)
def test_blocks_that_axis_keeps_in_their_lines(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        goals_in(blocks(start="AA/#./B./B.", axis=True), pattern)


@pytest.mark.parametrize("pattern", ["#?", "?#"])
def test_a_pattern_with_some_of_the_holes(pattern: str) -> None:
    puzzle = blocks(start="A.#")
    with pytest.raises(
        PatternError,
        match=r"pattern '.*': write all 3 squares with the holes '#', or only the 2 squares without holes; found 2",
    ):
        goals_in(puzzle, pattern)
    with pytest.raises(
        PositionError,
        match=r"position '.*': write all 3 squares with the holes '#', or only the 2 squares without holes; found 2",
    ):
        puzzle.parse(pattern.replace("?", "A"))


def test_a_pattern_that_nothing_matches() -> None:
    with pytest.raises(PatternError, match=r"no position of the puzzle matches the pattern '\.\?\./\?\?\?'"):
        goals_in(blocks(start="AAB/..B"), ".?./???")


def test_a_goal_is_a_start_by_another_name() -> None:
    goal = {"name": "p", "family": "sliding", "rows": 2, "columns": 2, "goal": "1 2 / 3 0"}
    start = {**{key: value for key, value in goal.items() if key != "goal"}, "start": goal["goal"]}
    assert puzzle_from(goal).starts == puzzle_from(start).starts
    both = puzzle_from({**start, "goal": ["0 ? / ? ?", "1 2 / 3 0"]})
    assert len(both.starts) == 7
    with pytest.raises(ConfigError, match=r"goal: pattern '\? \?': expected 4 squares, found 2"):
        puzzle_from({**start, "goal": "? ?"})
    with pytest.raises(ConfigError, match=r"goal: .*expected 4 symbols, found 1"):
        puzzle_from({**start, "goal": "1"})
    with pytest.raises(ConfigError, match="goal: expected a position or a list of positions, found 5"):
        puzzle_from({**start, "goal": 5})


def test_pictures_have_the_outlines_of_blocks_and_the_walls() -> None:
    puzzle = blocks(start="AAB/#.B")
    picture = puzzle.picture(puzzle.start_labels[0])
    assert sum(isinstance(shape, Line) for shape in picture.shapes) == 6 + 6
    assert [shape.text for shape in picture.shapes if isinstance(shape, Text)] == ["A", "B"]
    settings = {"name": "p", "family": "sliding", "rows": 2, "columns": 2, "start": "1 2 3 0"}
    plain, walled = (puzzle_from({**settings, **more}) for more in ({}, {"walls": [[0, 1], [1, 3]]}))
    shapes = [one.picture(one.start_labels[0]).shapes for one in (plain, walled)]
    assert (shapes[1][: len(shapes[0])], len(shapes[1])) == (shapes[0], len(shapes[0]) + 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"family": "sliding", "rows": 2, "columns": 2, "goal": 5}, "[puzzle] goal: expected a position or a list"),
        ({"family": "sliding", "rows": 2, "columns": 2, "goal": "1 2 / 0"}, "goal: expected 2 x 2 = 4 tiles, found 3"),
        ({"family": "twisty", "goal": "a"}, "[puzzle] goal: unknown key; expected definition"),
        ({"goal": "A?"}, "[puzzle] goal: the pattern 'A?' does not determine the pieces; add a start"),
        ({"family": "pancake", "goal": "{1 2}"}, "[puzzle] goal: the pattern '{1 2}' does not determine"),
    ],
)
def test_what_is_wrong_with_a_goal_is_said_of_it(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        puzzle_from({"name": "p", "family": "blocks", **changes})


EXIT = "????/????/????/?AA?/?AA?"


def test_the_large_block_of_klotski_leaves(cli: Command) -> None:
    """In 81 moves (M. Gardner, Scientific American, February 1964)."""
    solved = json.loads(cli("solve", "klotski-moves", START, "--to", EXIT, "--json", "--quiet").out)
    assert solved["distance"] == len(solved["moves"]) == 81
    assert [row[1:3] for row in solved["solutions"][0][-1].split("/")[3:]] == ["AA", "AA"]
    to_the_end = json.loads(
        cli("solve", "klotski-moves", "--moves", " ".join(solved["moves"]), "--to", EXIT, "--json").out
    )
    assert to_the_end["distance"] == 0
