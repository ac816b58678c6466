"""Pieces that cover several places: legal moves against dictionaries, and refusals."""

from typing import Any

import numpy as np
import pytest
from bandaged import FRONT_RIGHT, TURNS, random_puzzle

from antipodes.puzzles.config import puzzle_from
from antipodes_tasks.base.errors import ConfigError, PositionError
from antipodes_tasks.rules.rules import Rules


def _depths(rules: Rules) -> dict[tuple[str, ...], int]:
    """Return the distances that the product's moves on arrays of labels produce."""
    depths = {bytes(start): 0 for start in rules.start_labels}
    frontier = rules.start_labels
    while len(frontier):
        after = rules.moves.steps(frontier)[2]
        depth = max(depths.values()) + 1
        new = {key: depth for key in map(bytes, after) if key not in depths}
        depths |= new
        frontier = np.array([list(key) for key in new], dtype=np.uint8).reshape(-1, rules.places)
    return {tuple(rules.symbols[label] for label in key): depth for key, depth in depths.items()}


def test_distances_of_random_puzzles_equal_those_found_with_dictionaries() -> None:
    divided = 0
    for seed in range(25):
        bandaged, puzzle = random_puzzle(seed)
        assert _depths(puzzle.rules) == bandaged.distances()
        assert puzzle.moves.reversible or bandaged.turns == "single"
        divided += len(set(puzzle.moves.names)) < len(puzzle.moves)
    assert divided > 5  # puzzles in which one place of a piece does not determine the others


def test_the_support_of_the_generator_also_decides_about_its_powers() -> None:
    settings = {"name": "p", "family": "generators", "n": 7, "moves": {"A": "(0 1)(2 3 4 5)", "B": "(0 2)"}}
    free = puzzle_from({**settings, "pieces": [[0, 2]]})
    assert {"A", "A2", "A'"} <= set(free.moves.names)
    blocked = puzzle_from({**settings, "pieces": [[1, 6], [3, 4]], "moves": {"A": "(0 1)(2 3 4 5)", "B": "(0 1 6)"}})
    assert [blocked.moves.names[number] for number in blocked.moves.moves_on_path(blocked.follow("B"))] == ["B"]
    with pytest.raises(PositionError, match="'A2' as move 1 is not legal there"):
        blocked.follow("A2")  # it leaves the places 0 and 1 alone


def test_a_bandaged_cube_is_described_by_a_list_of_stickers() -> None:
    puzzle = puzzle_from({"name": "p", "family": "generators", "n": 24, "moves": TURNS, "pieces": [FRONT_RIGHT]})
    assert [name for name in puzzle.moves.names if name[0] == "U"] == ["U", "U2", "U'"]
    after = puzzle.moves.steps(puzzle.rules.start_labels)[1]
    assert {puzzle.moves.names[number][0] for number in after} == {"R", "F"}


LINE = {"name": "p", "family": "generators", "n": 5, "moves": {"A": "(0 1)", "B": "(0 1 2 3)"}}
TORN = "place 0 holds 'A', but the other places do not hold the rest of the piece 'A B'"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"pieces": [[0, 1], [1, 2]]}, "pieces: expected each place at most once, found 1 twice"),
    ({"pieces": [[0, 0]]}, "pieces: expected each place at most once, found 0 twice"),
    ({"pieces": [[0, 5]]}, "pieces: expected places from 0 to 4, found 5"),
    ({"pieces": [[0, True]]}, "pieces: expected places from 0 to 4, found True"),
    ({"pieces": [[0]]}, "pieces: expected lists of two or more places, such as [[0, 1]], found [[0]]"),
    ({"pieces": "0 1"}, "pieces: expected lists of two or more places, such as [[0, 1]], found '0 1'"),
    ({"pieces": [[1, 4]], "moves": {"A": "(0 1)"}}, "pieces: the move A is never legal: it always moves only some"),
    ({"n": 65, "pieces": [[0, 1]]}, "pieces: expected at most 64 different pieces, found 65"),
    (
        {"start": ["A B 2 3 4", "A 2 3 4 B"], "n": 5, "pieces": [[0, 1]]},
        f"pieces: start 2: {TORN}",
    ),
    (
        {"start": "A B A B C", "moves": {"A": "(1 3 4)", "B": "(0 1 2 3 4)"}, "pieces": [[0, 1], [2, 3]]},
        "pieces: the pieces [0, 1] and [2, 3] have a symbol in common, and the places of their symbols do not show",
    ),
    (
        {"start": "A B 2 3 4", "goal": "A 2 B 3 4", "pieces": [[0, 1]]},
        f"goal: position 'A 2 B 3 4': {TORN}",
    ),
    (
        {"start": "A B 2 3 4", "starts": ["A B ? ? ?", "B 2 A 3 4"], "pieces": [[0, 1]]},
        "starts: position 'B 2 A 3 4': place 0 holds 'B', but the other places do not hold the rest of the piece 'A B'",
    ),
    (
        {"start": "A B 2 3 4", "goal": "A ? B ? ?", "pieces": [[0, 1]]},
        "goal: no position of the puzzle matches the pattern 'A ? B ? ?'",
    ),
]


@pytest.mark.parametrize("key", ["goal", "starts"])
def test_patterns_of_goals_and_starts_match_only_positions_with_whole_pieces(key: str) -> None:
    puzzle = puzzle_from({**LINE, "start": "A B 2 3 4", "pieces": [[0, 1]], key: "A ? ? ? 4"})
    found = {puzzle.format(start) for start in puzzle.start_labels}
    assert found == {"A B 2 3 4", "A B 3 2 4", "A 2 3 B 4", "A 3 2 B 4"}


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_wrong_pieces_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        puzzle_from({**LINE, **changes})
    assert f"[puzzle] {message}" in str(refused.value)
