"""Sequences of moves: how they are read, where they lead, and the names of moves along a path."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisty_geometry import skewb

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.formats.definition import Turn, identity
from antipodes.puzzles.formats.tws import read_tws
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.sequences import parse_sequence, resolve
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import ConfigError, InputError, PositionError
from antipodes_tasks.rules.swaps import Swaps

MOVES_WITH_DIGITS = {"A": [1, 2, 3, 0, 4], "A2": [0, 1, 2, 4, 3]}
PUZZLE = read_tws(skewb().tws())
NAMES = dict(zip(("R", "U", "Rw", "2R", "x'", "y"), PUZZLE.turns.values(), strict=False))
R, U, RW, TWO_R, X, Y = NAMES.values()
NOTHING = identity(PUZZLE.orbits)


def done(*turns: Turn) -> Turn:
    result = NOTHING
    for turn in turns:
        result = result.compose(turn)
    return result


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("", ()),
        ("R U", (R, U)),
        ("RU, R", (R, U, R)),
        ("R2 U'", (R, R, U.inverse())),
        ("R2' U1 R0", (R.inverse(), R.inverse(), U)),
        ("Rw 2R R", (RW, TWO_R, R)),
        ("x' x'' x'2", (X, X.inverse(), X, X)),
        ("(R U)3", (R, U, R, U, R, U)),
        ("(R U)2'", (U.inverse(), R.inverse(), U.inverse(), R.inverse())),
        ("[R: U]", (R, U, R.inverse())),
        ("[R, U]", (R, U, R.inverse(), U.inverse())),
        ("[R U: U2 y]'", (R, U, Y.inverse(), U.inverse(), U.inverse(), U.inverse(), R.inverse())),
        ("[(R, y): [U,y]2]", (R, Y, U, Y, U.inverse(), Y.inverse(), U, Y, U.inverse(), Y.inverse(), *(Y, Y, R, R))),
        ("[: U]", (U,)),
        ("R . U // and so on\n R", (R, U, R)),
        ("R’ U′", (R.inverse(), U.inverse())),
    ],
)
def test_read(text: str, turns: tuple[Turn, ...]) -> None:
    assert parse_sequence(text, NAMES) == done(*turns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R Q U", "unknown move 'Q' at character 3; the moves are R, U, Rw, 2R, x', y"),
        ("R Ux U", "unknown move 'Ux' at character 3; the moves are R, U, Rw, 2R, x', y"),
        ("(R U", r"the bracket '\(' at character 1 is not closed"),
        ("R)", r"the bracket '\)' at character 2 matches no open bracket"),
        ("[R U]2", r"the bracket '\]' at character 5 needs a ':' or ',' before it; write \[A: B\] or \[A, B\]"),
        ("[R: U: R]", r"unexpected ':' at character 6: write one ':' or ',' in \[ \]"),
        ("R : U", r"unexpected ':' at character 3: write one ':' or ',' in \[ \]"),
        ("R" + "9" * 19, "expected a power of at most 18 digits, found 19 at character 2"),
        ("R" * 70000, "expected a sequence of at most 65,536 characters, found 70,000"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_sequence(text, NAMES)
    with pytest.raises(PositionError, match=message):
        parse_sequence(text, NAMES, PositionError)


@pytest.mark.parametrize(
    ("settings", "text", "message"),
    [
        ({"family": "pancake", "n": 60}, "61", "unknown move '61' at character 1; write (6)1 for a power of '6'"),
        (
            {"family": "pancake", "n": 60},
            "6 123'",
            "unknown move '123' at character 3; write (12)3 for a power of '12'",
        ),
        ({"family": "lights-out", "rows": 3, "columns": 3}, "12", "unknown move '12' at character 1; write (1)2"),
        ({"family": "hanoi", "discs": 3}, "0-22", "unknown move '0-22' at character 1; write (0-2)2"),
        ({"family": "generators", "moves": MOVES_WITH_DIGITS, "start": "0 1 2 3 4"}, "A23", "unknown move 'A23'"),
    ],
)
def test_digits_after_a_name_that_ends_with_a_digit(settings: dict[str, Any], text: str, message: str) -> None:
    with pytest.raises(PositionError) as raised:
        puzzle_from({"name": "p", **settings}).follow(text)
    assert f"{message}" in str(raised.value)


def test_powers_of_names_that_end_with_a_digit() -> None:
    pancakes = puzzle_from({"name": "p", "family": "pancake", "n": 60})
    assert np.array_equal(pancakes.follow("(6)3"), pancakes.follow("6 6 6"))
    assert np.array_equal(pancakes.follow("12"), pancakes.follow("(12)"))
    assert np.array_equal(pancakes.follow("12'"), pancakes.follow("(12)'"))
    assert pancakes.move_names(pancakes.follow("12,6")) == ["12", "6"]


def test_only_moves_with_powers_of_names_that_end_with_a_digit() -> None:
    definition = TWISTY.replace("Move Uv", "Move G2")
    settings = {"name": "t", "family": "twisty", "format": "tws", "definition": definition, "turns": "single"}
    assert puzzle_from({**settings, "only_moves": "U (G2)2 F"}).moves.names
    with pytest.raises(ConfigError, match=r"unknown move 'G22' at character 1; write \(G2\)2"):
        puzzle_from({**settings, "only_moves": "U G22"})


@pytest.mark.parametrize("text", ["R2R", "U22R", "(R U)32R", "[R, U]2R"])
def test_digits_that_may_begin_the_next_name(text: str) -> None:
    with pytest.raises(ConfigError, match="can be read in several ways; write spaces between moves"):
        parse_sequence(text, NAMES)
    assert parse_sequence("R2 R", NAMES) == R.power(3)


@given(st.text(st.sampled_from("RUwx'y2 ()[]:,./²’é\n"), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_sequence(text, NAMES)
    except ConfigError as error:
        message = str(error)
        assert len(message.splitlines()) == 1
    else:
        assert parse_sequence(f"({text}\n)'", NAMES) == found.inverse()


def test_no_names() -> None:
    with pytest.raises(ConfigError, match="the moves have no names, so sequences are not possible"):
        parse_sequence("R", {})


@given(st.lists(st.sampled_from(sorted(NAMES)), max_size=6), st.integers(-9, 9))
def test_powers_of_groups(names: list[str], power: int) -> None:
    written = f"({' '.join(names)}){abs(power)}{chr(39) if power < 0 else ''}"
    assert parse_sequence(written, NAMES) == done(*(NAMES[name] for name in names)).power(power)


@pytest.mark.parametrize(
    ("text", "turn"),
    [
        ("(" * 3000 + "R" + ")5" * 3000, R.power(5**3000)),
        ("R999999999999999999'" * 3000, R.power(-999999999999999999 * 3000)),
    ],
    ids=["brackets", "powers"],
)
def test_long_sequences_take_a_moment(text: str, turn: Turn) -> None:
    begun = time.process_time()
    assert parse_sequence(text, NAMES) == turn
    assert time.process_time() - begun < 30


def test_names_defined_by_each_other() -> None:
    found = resolve({"A": "[B: R]", "B": "C2'", "C": "U R"}, {"R": R, "U": U}, str)
    assert list(found) == ["A", "B", "C"]
    assert found["A"] == done(U, R, U, R).inverse().compose(R).compose(done(U, R, U, R))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"A": "A"}, "A!: 'A' occurs in its own definition"),
        ({"A": "B R", "B": "C", "C": "[R: A]"}, "in its own definition"),
        ({"A": "R", "B": "D"}, "B!: unknown move 'D' at character 1; the moves are R, U, A, B"),
        ({"A": "R" * 40000, "B": "R" * 40000}, "A!: all sequences together exceed 65,536 characters"),
    ],
)
def test_refused_definitions(texts: dict[str, str], message: str) -> None:
    where: Callable[[str], str] = "{}!".format
    with pytest.raises(ConfigError, match=message):
        resolve(texts, {"R": R, "U": U}, where)


def test_definitions_that_double_a_thousand_times() -> None:
    """Their lengths as lists of moves would have 300 digits."""
    texts = {"a0": "R U"} | {f"a{k}": f"(a{k - 1})2" for k in range(1, 1000)}
    found = resolve(texts, {"R": R, "U": U}, str)
    assert found["a999"] == done(R, U).power(2**999)


MOVES = {"A": [1, 2, 3, 0, 4], "B": "(0 1)(2 4)", "A2": [0, 1, 2, 4, 3]}
TWISTY = """
Set PIECES 4 3
Solved
PIECES
1 2 3 4
End
Move U
PIECES
2 3 4 1
1 0 2 0
End
Move F
PIECES
2 1 3 4
End
Move Uv
PIECES
4 3 2 1
End
"""


def generators(**changes: Any) -> Puzzle:
    table = {"name": "g", "family": "generators", "n": 5, "moves": MOVES, "turns": "single", **changes}
    return puzzle_from(table)


def twisty(turns: str = "half") -> Puzzle:
    return puzzle_from({"name": "t", "family": "twisty", "format": "tws", "definition": TWISTY, "turns": turns})


def hanoi() -> Puzzle:
    return puzzle_from({"name": "h", "family": "hanoi", "pegs": 3, "discs": 3})


def after(puzzle: Puzzle, *names: str) -> Labels:
    """The position after moves of these names, found one by one."""
    labels = puzzle.start_labels[:1]
    for name in names:
        labels = puzzle.moves.move(puzzle.moves.names.index(name), labels)[0]
    last: Labels = labels[0]
    return last


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ""),
        ("A", "A"),
        ("A B", "A B"),
        ("A'", "A A A"),
        ("[A, B]", "A B A A A B"),
    ],
)
def test_sequences(text: str, names: str) -> None:
    puzzle = generators()
    assert puzzle.follow(text)[-1].tolist() == after(puzzle, *names.split()).tolist()


def test_each_position_on_the_way() -> None:
    puzzle = generators()
    path = puzzle.follow("A B2 A'")
    assert [puzzle.format(one) for one in path[:2]] == ["0 1 2 3 4", "1 2 3 0 4"]
    assert len(path) == 5
    assert path[0].tolist() == path[-1].tolist()


def test_another_start() -> None:
    puzzle = generators()
    path = puzzle.follow("A", puzzle.parse("4 3 2 1 0"))
    assert [puzzle.format(one) for one in path] == ["4 3 2 1 0", "3 2 1 4 0"]


def test_the_first_of_several_starts() -> None:
    puzzle = puzzle_from({"name": "p", "family": "pancake", "start": ["1 3 2", "3 1 2"]})
    assert puzzle.format(puzzle.follow("3")[-1]) == "2 3 1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A C", "unknown move 'C' at character 3; the moves are A, B, A2"),
        ("A99999", "expected a sequence of at most 10,000 moves, found 99,999"),
        ("(((A100)100)100)100'", "at most 10,000 moves"),
    ],
)
def test_no_sequence(text: str, message: str) -> None:
    with pytest.raises(PositionError) as raised:
        generators().follow(text)
    assert message in str(raised.value)


@pytest.mark.parametrize("sequence", [None, 5, ["A"]])
def test_no_text(sequence: Any) -> None:
    with pytest.raises(PositionError, match="expected a sequence of moves as a string"):
        generators().follow(sequence)


def nameless() -> Puzzle:
    puzzle = load_config("eight-puzzle").puzzle
    assert isinstance(puzzle.moves, Swaps)
    return replace(puzzle, rules=replace(puzzle.rules, moves=Swaps(puzzle.moves.pairs)))


def test_a_puzzle_without_names() -> None:
    with pytest.raises(
        PositionError, match="a sequence of moves is not possible: the moves of eight-puzzle have no names"
    ):
        nameless().follow("U")


@pytest.mark.parametrize(
    ("settings", "sequence", "end"),
    [
        ({"family": "sliding", "rows": 2, "columns": 2, "start": "1 2 3 0"}, "R D L U U'", "2 0 1 3"),
        ({"family": "sliding", "rows": 2, "columns": 2, "start": "1 2 0 0"}, "a2-down b2-left", "2 0 1 0"),
        ({"family": "jump", "start": "B-/--/--", "moves": "knight"}, "a3-b1 b1-a3 (a3-b1)", "-----B"),
        ({"family": "blocks", "start": "AAB/..C/.DD", "distinct": True}, "A-down B-left D-left", ".B./AAC/DD."),
        ({"family": "blocks", "start": "AAB/..C/.DD"}, "a3-down c3-left b1-left", ".B./AAC/DD."),
        ({"family": "blocks", "start": "AA./B..", "moves": "slides"}, "B-b1 B-c1 A-b2", ".AA/..B"),
    ],
)
def test_moves_on_boards_have_names(settings: dict[str, Any], sequence: str, end: str) -> None:
    puzzle = puzzle_from({"name": "p", **settings})
    path = puzzle.follow(sequence)
    assert puzzle.format(path[-1]) == end
    assert puzzle.follow(" ".join(puzzle.move_names(path) or ())).tolist() == path.tolist()


@pytest.mark.parametrize(
    ("settings", "sequence", "problem"),
    [
        (
            {"family": "jump", "start": "B-/--/-W", "moves": "knight"},
            "a3-b1'",
            """"a3-b1'" as move 1 is not legal there""",
        ),
        ({"family": "jump", "start": "B-/--/-W", "moves": "knight"}, "b1-a3", "'b1-a3' as move 1 is not legal there"),
        (
            {"family": "blocks", "start": "AAB/..B"},
            "A-down B-up'",
            """unknown move "B-up'" at character 8; the moves are A-left, A-up, B-left, B-right, A-right, A-down""",
        ),
        ({"family": "blocks", "start": "AA./..B", "moves": "slides"}, "A-b1", "'A-b1' as move 1 is not legal there"),
    ],
)
def test_moves_that_a_board_does_not_allow(settings: dict[str, Any], sequence: str, problem: str) -> None:
    puzzle = puzzle_from({"name": "p", **settings})
    with pytest.raises(PositionError) as raised:
        puzzle.follow(sequence)
    assert f"moves {sequence!r}: {problem}" in str(raised.value)


def test_moves_of_one_name_in_different_positions() -> None:
    puzzle = hanoi()
    path = puzzle.follow("0-2 0-1 2-1 0-2 1-0 1-2 0-2")
    assert puzzle.parts[0].places == 3
    assert path[-1].tolist() == [2, 2, 2]
    assert puzzle.follow("0-2 0-1 0-1' 0-2'")[-1].tolist() == [0, 0, 0]


def test_moves_that_are_not_legal() -> None:
    with pytest.raises(PositionError, match="moves '0-2 0-1 0-1': '0-1' as move 3 is not legal there"):
        hanoi().follow("0-2 0-1 0-1")
    with pytest.raises(PositionError, match="""moves "0-2'": "0-2'" as move 1 is not legal there"""):
        hanoi().follow("0-2'")


def test_names_that_only_sequences_have() -> None:
    puzzle = twisty()
    assert "Uv" not in puzzle.moves.names
    turned = puzzle.follow("Uv")[-1]
    assert puzzle.format(turned) == "4 3 2 1 / 0 0 0 0"
    assert puzzle.follow("Uv2")[-1].tolist() == puzzle.start_labels[0].tolist()


@pytest.mark.parametrize("turns", ["half", "quarter", "single"])
def test_all_metrics_read_the_same_sequences(turns: str) -> None:
    expected = twisty().follow("U2 F U' [U, F] U5")[-1]
    assert twisty(turns).follow("U2 F U' [U, F] U5")[-1].tolist() == expected.tolist()


def test_sequence_moves_do_not_change_the_table() -> None:
    puzzle = twisty()
    assert replace(puzzle, sequence_moves=None).fingerprint == puzzle.fingerprint


@given(st.lists(st.sampled_from(["U", "U2", "F", "U'"]), max_size=12))
def test_the_names_along_a_path_lead_along_it(names: list[str]) -> None:
    puzzle = twisty()
    path = puzzle.follow(" ".join(names))
    along = puzzle.move_names(path)
    assert along is not None
    assert np.array_equal(puzzle.follow(" ".join(along)), path)
    assert set(along) <= set(puzzle.moves.names)


def test_the_names_of_moves_of_one_name() -> None:
    puzzle = hanoi()
    assert puzzle.move_names(puzzle.follow("0-2 0-1 2-1")) == ["0-2", "0-1", "2-1"]
    assert puzzle.move_names(puzzle.start_labels) == []


def test_paths_without_names() -> None:
    eight = nameless()
    assert eight.move_names([eight.start_labels[0], eight.successors(eight.start_labels[0])[0]]) is None
    puzzle = generators()
    with pytest.raises(InputError, match="no move leads from 0 1 2 3 4 to 4 3 2 1 0"):
        puzzle.move_names([[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]])
