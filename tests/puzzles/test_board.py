import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes.puzzles.board import Board
from antipodes.puzzles.notation import symbols_in
from antipodes_tasks.errors import PositionError
from antipodes_tasks.rules.parts import Part

BOARD = Board(2, 3)
SYMBOLS = ("0", "1", "2", "11")
PARTS = [Part(6, SYMBOLS)]


@pytest.mark.parametrize(
    "text", ["1 1 2 / 2 11 0", "1,1,2,2,11,0", "1 1 2\n2 11 0\n", "  1\t1 2 2 11 . ", "1, 1, 2 / 2, 11, 0"]
)
def test_separators(text: str) -> None:
    assert BOARD.split(text, PARTS) == ["1", "1", "2", "2", "11", "0"]


@pytest.mark.parametrize("text", ["112210", "112 210", "112/210", "/112//210/", "1/1/2/2/1/0", "11221.", "1 1 2 21 0"])
def test_single_characters_need_no_separators(text: str) -> None:
    assert BOARD.split(text, PARTS) == ["1", "1", "2", "2", "1", "0"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 0", "expected 6 symbols, found 3"),
        ("", "expected 6 symbols, found 0"),
        (" / ", "expected 6 symbols, found 0"),
        ("1 1 2 2 1 0 0", "found 7"),
        ("1 1 2 2 7 0", "expected one of 0 1 2 11, found '7'"),
        ("1 1 2 2 # 0", "found '#'"),
        ("1 1 2 2 1 " + "9" * 5000, "99…"),
        ("9" * 5000, "found 1"),
        ("1 1 / 2 2 / 11 0", "expected 2 rows of 3, or one line, found rows of 2, 2, 2"),
        ("1122/10", "found rows of 4, 2"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(PositionError) as caught:
        BOARD.split(text, PARTS)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


def test_holes_are_optional_in_positions() -> None:
    board = Board(2, 2, frozenset({1}), empty_symbols=("-",), separator="")
    for text in ("A#/B-", "A # B -", "A#B-", "AB-", "A B -", "A/B-", "A / B / -"):
        assert board.split(text, [Part(3, ("-", "A", "B"))]) == ["A", "B", "-"]


@pytest.mark.parametrize(("text", "message"), [("AB#-", "a hole '#' on square 1"), ("A##-", "a piece on square 2")])
def test_holes_elsewhere_are_refused(text: str, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        Board(2, 2, frozenset({1}), ("-",), "").split(text, [Part(3, ("-", "A", "B"))])


def test_single_characters_are_told_apart_whatever_the_number_of_lines() -> None:
    board = Board(2, 2, frozenset({1, 2}), empty_symbols=("-",), separator="")
    assert board.split("-#/#A", [Part(2, ("-", "A"))]) == ["-", "A"]
    for text in ("-A/", "-/A", "-#/#A", "-##A"):
        assert board.split(text, [Part(2, ("-", "A"))]) == ["-", "A"]


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_split_inverts_join(rows: int, columns: int, data: st.DataObject) -> None:
    symbols = ("0", "1", "2", "10", "tile")
    written = data.draw(st.lists(st.sampled_from(symbols), min_size=rows * columns, max_size=rows * columns))
    board = Board(rows, columns)
    assert board.split(board.join(written), [Part(len(written), tuple(symbols))]) == written


def test_draw() -> None:
    board = Board(2, 3, frozenset({2}))
    assert board.draw(["1", "10", "0", "2", "3"]) == "╭─────────╮\n│  1 10 ░░ │\n│  ·  2  3 │\n╰─────────╯".replace(
        "─" * 9, "─" * 10
    )


def test_all_lines_of_a_drawing_are_equally_long() -> None:
    for board, symbols in [(Board(1, 1), ["0"]), (Board(3, 2), [*"12345", "0"]), (Board(2, 2), ["100", "1", "2", "0"])]:
        assert len({len(line) for line in board.draw(symbols).split("\n")}) == 1


def test_symbols_in() -> None:
    assert symbols_in("12 0", 3) == ["1", "2", "0"]
    assert symbols_in("12 0", 2) == ["12", "0"]
    assert symbols_in("12 0", 2, 3) == ["12", "0"]


def test_symbols_without_separators_are_counted_one_by_one() -> None:
    with pytest.raises(PositionError, match="expected 9 symbols, found 8"):
        Board(3, 3).split("12345678", [Part(9, tuple("012345678"))])
