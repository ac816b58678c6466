from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from strategies import any_contents, puzzle_settings

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import ConfigError, InputError, PositionError
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.arrangements import Arrangements

EIGHT: dict[str, Any] = {"name": "8", "family": "sliding", "rows": 3, "columns": 3, "start": "123456780"}


def positions(puzzle: Puzzle) -> np.ndarray[Any, Any]:
    index = Arrangements(puzzle.rules.counts)
    return index.unrank(np.arange(index.size))[:200]


@given(puzzle_settings())
def test_parse_inverts_format(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    for labels in positions(puzzle):
        assert puzzle.parse(puzzle.format(labels)).tolist() == labels.tolist()


@given(puzzle_settings())
def test_drawings_have_a_line_a_row(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    lines = puzzle.draw(puzzle.start_labels[0]).split("\n")
    assert len(lines) == (2 * puzzle.board.rows + 1 if "walls" in table else puzzle.board.rows + 2)
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 3 4 5 6 7 8", "expected 9 symbols, found 8"),
        ("1 2 3 4 5 6 7 8 9", "found '9'"),
        ("1 2 3 4 5 6 7 7 0", "expected 1 x '7', found 2"),
        ("0 0 0 0 0 0 0 0 0", "expected 1 x '0', found 9"),
        ("1 2 3 4 5 6 7 8 x", "found 'x'"),
        ("١ 2 3 4 5 6 7 8 0", "found '١'"),
    ],
)
def test_parse_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        puzzle_from(EIGHT).parse(text)


@pytest.mark.parametrize(
    "labels",
    [np.zeros((1, 8)), np.zeros(9), np.full((1, 9), -1), np.full((1, 9), 9), np.full((1, 9), 300), np.zeros((2, 3, 3))],
)
def test_checked_refuses(labels: np.ndarray[Any, Any]) -> None:
    with pytest.raises(PositionError):
        puzzle_from(EIGHT).checked(labels)


def test_checked_checks_every_position() -> None:
    right = list(range(9))
    with pytest.raises(PositionError, match="expected 1 x '7', found 2"):
        puzzle_from(EIGHT).checked(np.array([right, right, [0, 1, 2, 3, 4, 5, 6, 7, 7]]))


def test_different_tables_have_different_fingerprints() -> None:
    fingerprint = puzzle_from(EIGHT).fingerprint
    assert puzzle_from({**EIGHT, "name": "other", "description": "words"}).fingerprint == fingerprint
    assert puzzle_from({**EIGHT, "start": "1 2 3 / 4 5 6 / 7 8 ."}).fingerprint == fingerprint
    for change in ({"start": "123456708"}, {"start": ["123456780", "123456708"]}, {"rows": 1, "columns": 9}):
        assert puzzle_from({**EIGHT, **change}).fingerprint != fingerprint


def test_the_order_of_starts_does_not_change_the_fingerprint() -> None:
    a, b = "123456780", "123456708"
    one, two = puzzle_from({**EIGHT, "start": [a, b]}), puzzle_from({**EIGHT, "start": [b, a]})
    assert one.fingerprint == two.fingerprint


@pytest.mark.parametrize("family", ["chess", None, ["sliding"], 5])
def test_families(family: object) -> None:
    with pytest.raises(ConfigError, match="family: expected one of"):
        puzzle_from({"name": "p", "family": family})


@pytest.mark.parametrize("name", ["three-colours", "2x2x2", "hanoi-3-pegs"])
@pytest.mark.parametrize("count", [3, 20_000], ids=["few", "many"])
def test_wrong_pieces_are_found_in_one_as_in_many(name: str, count: int) -> None:
    puzzle = load_config(name).puzzle
    assert all(puzzle.rules.holds(one) for one in any_contents(puzzle, 20).tolist())
    labels = any_contents(puzzle, count)
    puzzle.checked(labels)
    for place in range(puzzle.places):
        wrong = labels.copy()
        wrong[-1, place] += 1
        ranges = puzzle.rules.ranges
        here = next(part for part, at in zip(puzzle.parts, ranges, strict=True) if at.start <= place < at.stop)
        is_one = here.counts is None and wrong[-1, place] < len(here.symbols)
        assert puzzle.rules.holds(wrong[-1].tolist()) == is_one
        if not is_one:
            with pytest.raises(ValueError, match="expected"):
                puzzle.checked(wrong)


def test_moves_as_permutations() -> None:
    stack = puzzle_from({"name": "stack", "family": "pancake", "n": 5})
    assert stack.permutations.shape == (4, 5)
    for move, permutation in zip(stack.actions, stack.permutations, strict=True):
        assert np.array_equal(stack.apply(stack.start_labels[0], move), stack.start_labels[0][permutation])
    cube = load_config("2x2x2-corner").puzzle
    turns = dict(zip(cube.actions, cube.permutations, strict=True))
    assert cube.permutations.shape == (9, 7 + 7 * 3)
    for name in "UFR":
        assert np.array_equal(turns[name][turns[name]], turns[f"{name}2"])
        assert np.array_equal(turns[f"{name}2"][turns[f"{name}2"]], np.arange(28))
        assert np.array_equal(turns[name][turns[f"{name}'"]], np.arange(28))
    with pytest.raises(InputError, match="are not permutations"):
        load_config("eight-puzzle").puzzle.permutations  # noqa: B018


def test_one_move() -> None:
    eight = puzzle_from(EIGHT)
    assert sorted(map(str, eight.actions)) == ["D", "L", "R", "U"]
    after = {bytes(eight.apply("1 2 3 4 5 6 7 8 0", move)) for move in ("R", "D")}
    assert after == {bytes(one) for one in eight.successors(eight.start_labels[0])}
    number = list(eight.actions).index("R")
    assert eight.apply(eight.start_labels[0], number).tolist() == eight.apply(eight.start_labels[0], "R").tolist()
    with pytest.raises(PositionError, match="not legal"):
        eight.apply(eight.start_labels[0], "U")
    for other in ("", "R R", "R2", "X"):
        with pytest.raises(PositionError, match=f"there is no move '{other}'; expected one of "):
            eight.apply(eight.start_labels[0], other)
    with pytest.raises(InputError, match="a move"):
        eight.apply(eight.start_labels[0], 4)
    unnamed = replace(eight, rules=replace(eight.rules, moves=Transforms((), [[1, 0, *range(2, 9)]], [9] * 9)))
    assert unnamed.actions == range(1)
    assert unnamed.apply(unnamed.start_labels[0], 0).tolist() == [2, 1, 3, 4, 5, 6, 7, 8, 0]
