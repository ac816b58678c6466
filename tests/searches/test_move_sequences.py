"""Moves that searches skip: after another move, in symmetric beginnings; and inverse positions."""

import numpy as np
import pytest

from antipodes.puzzles.config import load_config
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.searches.move_sequences import Inverses, followers, followers_as_bits
from antipodes_tasks.searches.symmetric_starts import stages_of


def test_moves_that_need_not_follow_are_left_out() -> None:
    moves = transforms_of(load_config("2x2x2").puzzle.rules)
    names = moves.names
    one, every = (followers(moves, every) for every in (False, True))
    after_u = {names[number] for number in one[names.index("U")]}
    assert after_u == {"R", "R2", "R'", "F", "F2", "F'", "D", "D2", "D'", "L", "L2", "L'", "B", "B2", "B'"}
    after_d = {names[number] for number in one[names.index("D")]}
    assert after_d == after_u - {"D", "D2", "D'"}
    assert {names[number] for number in every[names.index("D")]} == after_d | {"U", "U2", "U'"}
    assert one[-1] == every[-1] == list(range(len(moves)))


@pytest.mark.parametrize("name", ["2x2x2-corner", "pyraminx", "skewb-corner", "2x2x3", "m12"])
def test_inverses_are_as_far(name: str) -> None:
    puzzle = load_config(name).puzzle
    inverses = Inverses.of(puzzle.rules, puzzle.start_labels[0])
    assert inverses is not None
    random = np.random.default_rng(1)
    numbers = random.integers(len(puzzle.moves), size=12).tolist()
    forwards, backwards = puzzle.start_labels, puzzle.start_labels
    for number in numbers:
        forwards = puzzle.moves.move(number, forwards)[0]
    for number in inverses.moves[numbers[::-1]].tolist():
        backwards = puzzle.moves.move(number, backwards)[0]
    assert np.array_equal(inverses.image(forwards[0]), backwards[0])
    assert np.array_equal(inverses.image(backwards[0]), forwards[0])


def test_of_beginnings_that_symmetries_exchange_there_is_one() -> None:
    rules = load_config("2x2x2").puzzle.rules
    symmetries = symmetries_of(rules, rules.start_labels[:1]).elements()
    images = np.array([one.moves for one in symmetries])
    follow = followers_as_bits(rules, False)
    (stage,) = stages_of(rules, images, False, follow, 12)
    named = [[rules.moves.names[move] for move in beginning] for beginning in stage.beginnings.tolist()]
    first = sorted({beginning[0] for beginning in named})
    assert first == ["U", "U2"]
    assert sorted({tuple(beginning[:2]) for beginning in named if beginning[0] == "U2"}) == [
        ("U2", "D"), ("U2", "D2"), ("U2", "F"), ("U2", "F2")
    ]  # fmt: skip
    assert len({tuple(sorted(map(tuple, images[:, beginning].tolist()))) for beginning in stage.beginnings}) == len(
        named
    )
    halves, quarters = stages_of(rules, images, True, follow, 12)
    assert {rules.moves.names[beginning[0]] for beginning in halves.beginnings.tolist()} == {"U2"}
    left = {rules.moves.names[move] for beginning in quarters.beginnings.tolist() for move in beginning}
    assert not any(name.endswith("2") for name in left)
    (alone,) = stages_of(rules, images[:1], False, follow, 12)
    assert alone.beginnings.shape == (1, 0)
