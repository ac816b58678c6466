"""Texts and drawings of positions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes.puzzles.board import Board
from antipodes.puzzles.families.hanoi import Towers
from antipodes.puzzles.families.lights_out import Lights
from antipodes.puzzles.families.permutations import BurntPancakes, Pancakes, Ring
from antipodes.puzzles.notation import Notation, symbols_in
from antipodes_tasks.base.errors import PositionError
from antipodes_tasks.rules.parts import Part, values

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
        ("1 1 2 2 1 0 0", "found 7"),
        ("1 1 2 2 7 0", "expected one of 0 1 2 11, found '7'"),
        ("1 1 2 2 1 " + "9" * 5000, "99…"),
        ("9" * 5000, "found 1"),
        ("1 1 / 2 2 / 11 0", "expected 2 rows of 3, or one line, found rows of 2, 2, 2"),
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


@pytest.mark.parametrize(
    ("text", "message"), [("AB#-", "b2 is a hole.*found 'B' there"), ("A##-", "a1 is not a hole; found '#'")]
)
def test_holes_elsewhere_are_refused(text: str, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        Board(2, 2, frozenset({1}), ("-",), "").split(text, [Part(3, ("-", "A", "B"))])


def test_single_characters_are_told_apart_whatever_the_number_of_lines() -> None:
    board = Board(2, 2, frozenset({1, 2}), empty_symbols=("-",), separator="")
    assert board.split("-#/#A", [Part(2, ("-", "A"))]) == ["-", "A"]
    for text in ("-A/", "-/A", "-#/#A", "-##A"):
        assert board.split(text, [Part(2, ("-", "A"))]) == ["-", "A"]


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_split_inverts_join_on_boards(rows: int, columns: int, data: st.DataObject) -> None:
    symbols = ("0", "1", "2", "10", "tile")
    written = data.draw(st.lists(st.sampled_from(symbols), min_size=rows * columns, max_size=rows * columns))
    board = Board(rows, columns)
    assert board.split(board.join(written), [Part(len(written), tuple(symbols))]) == written


def test_draw_a_board() -> None:
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


def numbers(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, count + 1))


def places(count: int) -> Part:
    """Places that hold any of the pieces 1, 2, ...: notations do not count pieces."""
    return Part(count, numbers(count))


def burnt(count: int) -> list[Part]:
    return [places(count), values(count, 2, twists=True)]


CASES: list[tuple[Notation, list[Part]]] = [
    (Pancakes(numbers(4)), [places(4)]),
    (Pancakes(numbers(12)), [places(12)]),
    (BurntPancakes(1, numbers(1)), burnt(1)),
    (BurntPancakes(3, numbers(3)), burnt(3)),
    (BurntPancakes(11, numbers(11)), burnt(11)),
    (Ring(3), [places(5)]),
    (Ring(4), [places(12)]),
    (Towers(3, 5), [values(5, 3)]),
    (Lights(3, 4), [values(12, 2)]),
    (Lights(1, 1), [values(1, 2)]),
    (Lights(3, 1), [values(3, 2)]),
]


@pytest.mark.parametrize(("notation", "parts"), CASES, ids=str)
@given(data=st.data())
def test_split_inverts_join(notation: Notation, parts: list[Part], data: st.DataObject) -> None:
    symbols = [data.draw(st.sampled_from(part.symbols)) for part in parts for _ in range(part.places)]
    assert notation.split(notation.join(symbols), parts) == symbols


def test_drawings_differ_where_positions_do() -> None:
    for notation, parts in CASES:
        symbols = [part.symbols for part in parts for _ in range(part.places)]
        one = [known[0] for known in symbols]
        for place, known in enumerate(symbols):
            if len(known) > 1:
                other = [*one[:place], known[1], *one[place + 1 :]]
                assert notation.draw(other) != notation.draw(one)


@pytest.mark.parametrize(
    ("text", "pancakes", "sides"),
    [
        ("1 -2 3", "123", "010"),
        ("-3,-2/-1", "321", "111"),
        ("1-23", "123", "010"),
        ("-1-2-3", "123", "111"),
        ("1 2 3 / 0 1 0", "123", "010"),
        ("123/010", "123", "010"),
        ("1 2 3", "123", "000"),
    ],
)
def test_burnt_pancakes_are_read_with_signs_or_as_two_lists(text: str, pancakes: str, sides: str) -> None:
    assert BurntPancakes(3, numbers(3)).split(text, burnt(3)) == [*pancakes, *sides]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2", "expected 3 pancakes such as 1 or -1, found 2"),
        ("1 2 7", "expected one of 1 2 3, found '7'"),
        ("--1 2 3", "expected one of 1 2 3, found '-1'"),
        ("1 2 3 / 0 1 2", "expected one of 0 1, found '2'"),
    ],
)
def test_burnt_pancakes_refused(text: str, message: str) -> None:
    with pytest.raises(PositionError) as caught:
        BurntPancakes(3, numbers(3)).split(text, burnt(3))
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["10/01", "1001", "1 0 0 1", "*..*", "●○/○●"])
def test_lights_are_read_in_several_ways(text: str) -> None:
    assert Lights(2, 2).split(text, [values(4, 2)]) == list("1001")


DRAWN: list[tuple[Notation, list[Part], str, str]] = [
    (
        Pancakes(numbers(3)),
        [places(3)],
        "3 1 2",
        """
 (   3   )
   ( 1 )
  (  2  )
═══════════""",
    ),
    (
        BurntPancakes(3, numbers(3)),
        burnt(3),
        "-3 1 -2",
        """
 (▔▔▔3▔▔▔)
   (▁1▁)
  (▔▔2▔▔)
═══════════""",
    ),
    (
        Towers(3, 3),
        [values(3, 3)],
        "0 0 2",
        """
    │         │         │
    │         │         │
   ━1━        │         │
  ━━2━━       │      ━━━3━━━
────┴─────────┴─────────┴────""",
    ),
    (
        Ring(4),
        [places(7)],
        "1 2 3 4 5 6 7",
        """
  ╔═════════╗
╭─╢ 1 2 3 4 ╟─╮
│ ╚═════════╝ │
╰─── 7 6 5 ───╯""",
    ),
    (Lights(2, 3), [values(6, 2)], "010/111", "\n○ ● ○\n● ● ●"),
]


@pytest.mark.parametrize(("notation", "parts", "text", "drawing"), DRAWN)
def test_draw(notation: Notation, parts: list[Part], text: str, drawing: str) -> None:
    lines = notation.draw(notation.split(text, parts)).split("\n")
    assert [line.rstrip() for line in lines] == drawing.removeprefix("\n").split("\n")
    assert len({len(line) for line in lines}) == 1


def test_high_stacks_and_long_rings_keep_their_shape() -> None:
    stack = Pancakes(numbers(100)).draw(numbers(100)).split("\n")
    assert len(stack) == 101
    assert max(map(len, stack)) < 60
    assert len({len(line) for line in Ring(4).draw(numbers(100)).split("\n")}) == 1
    assert {line.count("│") for line in Towers(4, 30).draw(["0"] * 30).split("\n")[1:-1]} == {3}
