"""Puzzles by a person's own definition: fields, texts, code that raises or prints, shapes."""

import re
import signal
import sys
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_puzzles import CAPACITY, jugs

import antipodes as ap
from antipodes.checking import check_puzzle
from antipodes.drawing.picture import SQUARE, Text
from antipodes.puzzles.custom import define_puzzle, puzzle_of
from antipodes.tables.table import open_table
from antipodes_tasks.base.errors import ConfigError, InputError, PositionError, SourceError
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.transforms import Transforms


def turn(dials: Any) -> Any:
    return (dials + 1) % 3


def dial(**more: Any) -> Any:
    return define_puzzle(**{"name": "dial", "radices": [3], "start": [0], "moves": {"turn": turn}, **more})


def test_fields_of_different_radices() -> None:
    puzzle = jugs()
    assert [(part.places, len(part.symbols)) for part in puzzle.parts] == [(1, limit + 1) for limit in CAPACITY]
    assert puzzle.format(puzzle.start_labels[0]) == "8 0 0"
    assert puzzle.parse("3,5/0").tolist() == [3, 5, 0]
    assert puzzle.draw([3, 5, 0]) == "3 5 0"


def test_fields_of_one_radix_are_one_part() -> None:
    puzzle = dial(radices=[2, 2, 3], start=[0, 1, 2])
    assert [(part.places, part.symbols) for part in puzzle.parts] == [(2, ("0", "1")), (1, ("0", "1", "2"))]
    assert puzzle.parse("012").tolist() == [0, 1, 2]


def test_permutations_are_transforms() -> None:
    puzzle = define_puzzle(name="ring", start="A B C .", moves={"L": [1, 2, 3, 0], "X": "(0 1)"})
    assert isinstance(puzzle.moves, Transforms)
    assert puzzle.rules.symbols == (".", "A", "B", "C")
    assert [puzzle.format(after) for after in puzzle.successors(puzzle.parse("A B C ."))] == ["B C . A", "B A C ."]


def test_the_inverse_of_a_permutation_among_functions_is_known() -> None:
    puzzle = define_puzzle(name="ring", start=[0, 1, 1], moves={"L": [1, 2, 0], "same": lambda pieces: pieces})
    assert isinstance(puzzle.moves, Functions)
    assert [puzzle.moves.has_inverse(number) for number in range(2)] == [True, False]
    before, found = puzzle.moves.undo(0, np.array([[0, 1, 1]], dtype=np.uint8))
    assert (before.tolist(), found.tolist()) == ([[1, 0, 1]], [True])


def test_moves_of_another_kind_stay_as_they_are() -> None:
    moves = Transforms(["up"], [[0]], [3], [[1]])
    assert dial(moves=moves).moves is moves


def test_endless_masks_are_refused() -> None:
    for masks in (count(),):
        with pytest.raises(InputError, match="expected at most 1,048,576 rows of masks, found more"):
            Transforms(["up"], [[0]], [3], [[1]], masks)
        with pytest.raises(InputError, match="expected at most 1,048,576 masks in a row, found more"):
            Transforms(["up"], [[0]], [3], [[1]], [masks])


def test_symbols_write_pieces() -> None:
    puzzle = define_puzzle(name="ring", start="..ab", symbols="ab.", moves={"L": [1, 2, 3, 0]})
    assert puzzle.starts == ((2, 2, 0, 1),)
    assert puzzle.rules.counts == (1, 1, 2)
    assert puzzle.format([0, 1, 2, 2]) == "a b . ."


def test_symbols_write_values() -> None:
    puzzle = dial(symbols=["red", "green", "blue"], start="green")
    assert puzzle.parse("blue").tolist() == [2]
    assert puzzle.format([1]) == "green"


@pytest.mark.parametrize("start", [[[0], [2]], ["0", "2"], [(0,), np.array([2])], [[0], "2", [0]]])
def test_several_starts(start: Any) -> None:
    assert dial(start=start).starts == ((0,), (2,))


def test_texts_by_functions() -> None:
    puzzle = dial(
        start="at 1",
        format=lambda position: f"at {position[0]}",
        parse=lambda text: [int(text.removeprefix("at "))],
        draw=lambda position: "\n".join("*" * position[0]),
    )
    assert puzzle.starts == ((1,),)
    assert puzzle.format([2]) == "at 2"
    assert puzzle.parse("at 2").tolist() == [2]
    assert puzzle.draw([2]) == "*\n*"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("at x", r"position 'at x': parse: ValueError \(test_custom.py, line \d+\): invalid literal for int"),
        ("at 7", "position 'at 7': expected parse: numbers from 0 to 2, found 7"),
    ],
)
def test_texts_that_are_no_position(text: str, message: str) -> None:
    puzzle = dial(parse=lambda text: [int(text.removeprefix("at "))])
    with pytest.raises(PositionError, match=message):
        puzzle.parse(text)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"format": lambda position: 3}, "format: expected a string, found int 3"),
        ({"format": lambda position: "a\nb"}, "format: expected one line of text"),
        ({"format": lambda position: position[5]}, r"format: IndexError \(test_custom.py, line \d+\)"),
        ({"draw": lambda position: None}, "draw: expected a string, found None"),
        ({"parse": lambda text: [0, 1]}, "parse: expected 1 numbers, found 2"),
    ],
)
def test_wrong_texts_are_refused(wrong: dict[str, Any], message: str) -> None:
    puzzle = dial(**wrong)
    with pytest.raises(InputError, match=message):
        (puzzle.format([1]), puzzle.draw([1]), puzzle.parse("1"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "a/b"}, "name: expected"),
        ({"radices": []}, "radices: expected numbers from 1 to 256"),
        ({"radices": [300]}, "radices: expected numbers from 1 to 256, found [300]"),
        ({"start": []}, "start: expected a position or a list of positions, found list"),
        ({"start": [0, 0]}, "start: expected 1 numbers, found 2"),
        ({"start": [3]}, "expected start: numbers from 0 to 2, found 3"),
        ({"start": "x"}, "start: expected one of 0 1 2, found 'x'"),
        ({"moves": {}}, "moves: expected a dict from names to functions or permutations, found dict"),
        ({"moves": {"a b": turn}}, "moves: expected names without spaces, found 'a b'"),
        ({"moves": {"a": [1]}}, "expected each of 0 to 0 once"),
        ({"moves": {"a": 5}}, "expected moves: a as a function, or a permutation of the places"),
        ({"moves": {"a": [0]}, "inverses": {"a": "a"}}, "inverses: not needed, because all moves are permutations"),
        ({"inverses": {"x": "turn"}}, "inverses: 'x' is not the name of a move"),
        ({"symbols": "ab"}, "symbols: expected 3 (one per value of a place), found 2"),
        ({"plain": 1}, "expected plain as True or False"),
        ({"format": "x"}, "expected format that can be called"),
    ],
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        dial(**wrong)


def test_starts_of_other_pieces_are_refused() -> None:
    with pytest.raises(InputError, match="start: expected 1 x '0', found 2"):
        define_puzzle(name="ring", start=[[0, 1, 1], [0, 0, 1]], moves={"L": [1, 2, 0]})


class Dial:
    """A dial of three positions.

    More of it.
    """

    radices = (3,)
    start = (0,)

    def moves(self) -> dict[str, Any]:
        return {"turn": self.turned}

    def turned(self, dials: Any) -> Any:
        return (dials + 1) % 3

    def format(self, position: tuple[int, ...]) -> str:
        return f"at {position[0]}"

    def parse(self, text: str) -> list[int]:
        return [int(text[3:])]


def test_a_class_has_the_arguments_as_attributes() -> None:
    puzzle = puzzle_of(Dial, "Dial")
    assert (puzzle.name, puzzle.description, puzzle.family) == ("Dial", "A dial of three positions.", "python")
    assert puzzle.format(puzzle.successors(puzzle.parse("at 2"))[0]) == "at 0"


def test_a_function_or_a_puzzle_is_a_definition() -> None:
    assert puzzle_of(jugs, "jugs").name == "own-jugs"
    assert puzzle_of(puzzle := jugs(), "jugs") is puzzle


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (3, "x: expected a Puzzle, or a function or class that defines one, found int 3"),
        (lambda: 3, "x: the function must return a Puzzle, but returned int 3"),
        (lambda one: 3, r"x: TypeError: .*missing 1 required positional argument"),
        (lambda: 1 / 0, r"x: ZeroDivisionError \(test_custom.py, line \d+\): division by zero"),
        (type("Empty", (), {}), "Empty: the attribute start is missing"),
        (type("Some", (), {"start": "01"}), "Some: the attribute moves is missing"),
    ],
)
def test_what_is_no_definition_is_refused(definition: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        puzzle_of(definition, "x")


def interrupted() -> None:
    signal.raise_signal(signal.SIGINT)


def interrupted_and_gone() -> None:
    try:
        interrupted()
    except KeyboardInterrupt:
        sys.exit()


def raises(kind: type[BaseException]) -> Callable[[], None]:
    def fails() -> None:
        raise kind

    return fails


class UnwrittenError(Exception):
    def __str__(self) -> str:
        raise LookupError


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (sys.exit, SourceError, r"^move 'turn': SystemExit \(test_custom.py, line \d+\)$"),
        (raises(SystemExit), SourceError, r"^move 'turn': SystemExit \(test_custom.py, line \d+\)$"),
        (raises(KeyboardInterrupt), SourceError, r"^move 'turn': KeyboardInterrupt \(test_custom.py, line \d+\)$"),
        (raises(GeneratorExit), SourceError, r"^move 'turn': GeneratorExit \(test_custom.py, line \d+\)$"),
        (
            raises(UnwrittenError),
            InputError,
            r"UnwrittenError \(test_custom.py, line \d+\): its message fails with LookupError",
        ),
        (raises(StopIteration), InputError, r"^move 'turn': StopIteration"),
        (raises(PositionError), PositionError, "^$"),
        (interrupted, KeyboardInterrupt, "^$"),
        (interrupted_and_gone, SystemExit, "^$"),
    ],
)
def test_code_that_raises(act: Callable[[], None], kind: type[BaseException], message: str) -> None:
    def move(dials: Any) -> Any:
        act()

    with pytest.raises(kind, match=message) as caught:
        dial(moves={"turn": move}).successors([0])
    assert caught.type is kind


def test_an_interrupt_in_another_thread_is_of_the_code() -> None:
    failed = []

    def in_thread() -> None:
        try:
            dial(moves={"turn": lambda dials: raises(KeyboardInterrupt)()}).successors([0])
        except SourceError as error:
            failed.append(str(error))

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    assert "KeyboardInterrupt" in failed[0]


def test_code_prints_to_stderr_and_other_threads_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    stdout = sys.stdout

    def move(dials: Any) -> Any:
        print("of the move")
        thread = threading.Thread(target=print, args=("of another thread",))
        thread.start()
        thread.join()
        return dials

    dial(moves={"turn": move}).successors([0])
    print("afterwards")
    assert capsys.readouterr() == ("of another thread\nafterwards\n", "of the move\n")
    assert sys.stdout is stdout


def test_code_that_replaces_stdout_leaves_it_to_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    stdout = sys.stdout

    def move(dials: Any) -> Any:
        sys.stdout = sys.stderr
        return dials

    dial(moves={"turn": move}).successors([0])
    assert sys.stdout is stdout


FLIPS = {"A": lambda lamps: lamps ^ np.array([1, 1, 0, 1, 0, 0]), "B": [1, 0, 2, 3, 4, 5]}
BOXES = "╭───────╮\n│ · * · │\n│ * * · │\n╰───────╯"


def test_a_shape_draws_a_board() -> None:
    lamps = define_puzzle(
        name="lamps", radices=[2] * 6, symbols=".*", start=[0] * 6, moves=FLIPS, inverses={"A": "A"}, shape=(2, 3)
    )
    position = lamps.parse(". * . / * * .")
    assert lamps.draw(position) == BOXES
    assert lamps.format(position) == ". * . * * ."
    picture = lamps.picture(position)
    assert (picture.width, picture.height) == (3 * SQUARE + 8, 2 * SQUARE + 8)
    assert sum(isinstance(shape, Text) for shape in picture.shapes) == 3
    assert check_puzzle(lamps).ok


def test_a_drawing_goes_before_the_shape_in_terminals_only() -> None:
    dials = define_puzzle(
        name="dials", radices=[3] * 4, start=[0, 1, 2, 0], moves={"A": [1, 2, 3, 0]}, shape=np.array([2, 2]), draw=str
    )
    assert dials.draw([0, 1, 2, 0]) == "(0, 1, 2, 0)"
    assert dials.picture([0, 1, 2, 0]).width == 2 * SQUARE + 8
    texts = [shape.text for shape in dials.picture([0, 1, 2, 0]).shapes if isinstance(shape, Text)]
    assert texts == ["0", "1", "2", "0"], "0 is a value as any other"


@pytest.mark.parametrize("shape", [(2, 3), [3, 2], (1, 6), np.array([6, 1])])
def test_permutations_with_a_shape_need_no_code(shape: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    puzzle = define_puzzle(name="ring", start="A A B B C .", moves={"L": [1, 2, 3, 4, 5, 0]}, shape=shape)
    with open_table(ap.run(puzzle, workers=1).store) as table:
        found = table.puzzle
        assert found.family == "generators"
        for position in table.positions_at(1):
            assert found.draw(position) == puzzle.draw(position)
            assert found.picture(position) == puzzle.picture(position)
        assert len(found.draw(found.start_labels[0]).splitlines()) == int(shape[0]) + 2


@pytest.mark.parametrize("shape", [(2, 2), (0, 6), (-2, -3), (6,), (1, 2, 3), 6, "23", (2.0, 3.0), [[2, 3]], (True, 6)])
def test_shapes_that_do_not_fit(shape: Any) -> None:
    with pytest.raises(InputError, match="shape"):
        define_puzzle(name="ring", start="A A B B C .", moves={"L": [1, 2, 3, 4, 5, 0]}, shape=shape)
    settings = {"name": "ring", "family": "generators", "n": 6, "moves": {"L": [1, 2, 3, 4, 5, 0]}, "shape": shape}
    with pytest.raises(ConfigError, match="shape: expected"):
        ap.Config(settings).puzzle  # noqa: B018
