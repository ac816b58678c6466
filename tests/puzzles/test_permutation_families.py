"""Families whose moves are transforms, against published layers, by a plain search over successors."""

from typing import Any

import pytest
from brute_force import layers_of

from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.base.errors import ConfigError


def layers(**settings: Any) -> list[int]:
    return layers_of(puzzle_from({"name": "p", **settings}))


def test_hanoi_from_elsewhere() -> None:
    assert layers(family="hanoi", discs=3, start="0 1 2")[:2] == [1, 3]


def test_lights_out() -> None:
    assert sum(layers(family="lights-out", rows=2, columns=2)) == 16
    assert layers(family="lights-out", rows=3, columns=3) == layers(
        family="lights-out",
        lights=9,
        edges=[[0, 1], [1, 2], [3, 4], [4, 5], [6, 7], [7, 8], [0, 3], [3, 6], [1, 4], [4, 7], [2, 5], [5, 8]],
    )
    assert layers(family="lights-out", lights=3, edges=[]) == [1, 3, 3, 1]


def test_equal_pancakes() -> None:
    assert sum(layers(family="pancake", start="1 1 2 2 3")) == 30
    assert layers(family="pancake", start="11223") == layers(family="pancake", start="1 1 2 2 3")


def test_names_of_equal_moves_are_known() -> None:
    moves = {"A": "(0 1 2)", "B": [1, 2, 0], "C": [2, 0, 1], "N": "(0)"}
    puzzle = puzzle_from({"name": "p", "family": "generators", "start": "0 1 2", "moves": moves})
    assert puzzle.moves.names == ("A", "A'")
    for other, same in (("C N", "A"), ("B", "A'"), ("C2", "B")):
        assert puzzle.follow(other)[-1].tolist() == puzzle.follow(same)[-1].tolist() != [0, 1, 2]


def test_a_path_has_names() -> None:
    puzzle = puzzle_from({"name": "p", "family": "pancake", "n": 4})
    path = [puzzle.parse(text) for text in ("1 2 3 4", "3 2 1 4", "4 1 2 3")]
    assert puzzle.move_names(path) == ["3", "4"]


def test_n_may_stand_beside_a_start_with_as_many_pieces() -> None:
    settings = {"name": "p", "family": "topspin", "k": 3, "start": "1 1 1 2 2 2"}
    assert puzzle_from({**settings, "n": 6}).starts == puzzle_from(settings).starts


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "pancake"}, r"\[puzzle\]: the key 'n' or 'start' is missing"),
        ({"family": "pancake", "n": 1}, "expected at least 2 pancakes, found 1"),
        ({"family": "pancake", "n": 5, "start": "1 2"}, r"\[puzzle\] n: start has 2 pieces, but n is 5"),
        ({"family": "topspin", "n": "6", "start": "1 1 1 2 2 2"}, r"\[puzzle\] n: start has 6 pieces, but n is '6'"),
        ({"family": "pancake", "n": 257}, "n: expected an integer from 1 to 256, found 257"),
        ({"family": "pancake", "start": ["1 2 3", "1 2"]}, "expected 3 symbols in every position, found 2"),
        ({"family": "topspin", "n": 5, "k": 6}, "k: expected an integer from 2 to 5, found 6"),
        ({"family": "hanoi", "discs": 3, "start": "0 1"}, "expected the peg of each of 3 discs, found 2"),
        ({"family": "hanoi", "discs": 3, "start": "0 1 3"}, "expected pegs from 0 to 2, found '3'"),
        ({"family": "hanoi", "discs": 1000, "pegs": 64}, "expected at most 65,536 moves, found 4,032,000"),
        ({"family": "lights-out", "rows": 2}, r"\[puzzle\]: the key 'columns' is missing"),
        ({"family": "lights-out", "lights": 3, "edges": [[0, 3]]}, "expected lights from 0 to 2, found 3"),
        (
            {"family": "lights-out", "rows": 2, "columns": 2, "start": "0 1 2 0"},
            "start: expected one of 0 1, found '2'",
        ),
    ],
)
def test_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        puzzle_from({"name": "p", **settings})
