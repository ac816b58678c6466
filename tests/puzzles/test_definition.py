"""Turns obey the laws of a group and the formula of their fields; their powers have names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisty_search import solved, turned

from antipodes.puzzles.formats.definition import MAX_MOVES, Orbit, Turn, TwistyDefinition, expand, identity
from antipodes.puzzles.sequences import parse_sequence
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.permutations.parity import cycles

ORBITS = (
    Orbit("CORNER", (0, 1, 2, 3), 3, (0, 1, 2, 0)),
    Orbit("EDGE", (0, 0, 1, 1, 2), 2, (0, 0, 1, 1, 0)),
    Orbit("CENTRE", (0, 1, 2, 2, 3, 3), 1, (0,) * 6),
)
PUZZLE = TwistyDefinition("", ORBITS, {}, {})
NOTHING = identity(ORBITS)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    permutations = tuple(tuple(draw(st.permutations(range(len(orbit.pieces))))) for orbit in ORBITS)
    twists = tuple(tuple(draw(st.integers(0, orbit.orientations - 1)) for _ in orbit.pieces) for orbit in ORBITS)
    return Turn(permutations, twists, tuple(orbit.orientations for orbit in ORBITS))


@given(turns(), turns())
def test_one_after_another(one: Turn, other: Turn) -> None:
    both = turned(turned(solved(PUZZLE), one, PUZZLE), other, PUZZLE)
    at_once = turned(solved(PUZZLE), one.compose(other), PUZZLE)
    assert np.array_equal(both, at_once)


@given(turns(), st.integers(-100, 100))
def test_powers_are_repetitions(turn: Turn, exponent: int) -> None:
    repeated = NOTHING
    for _ in range(abs(exponent)):
        repeated = repeated.compose(turn)
    assert turn.power(abs(exponent)) == repeated
    assert turn.power(exponent).compose(turn.power(-exponent)) == NOTHING
    assert turn.compose(turn.inverse()) == turn.inverse().compose(turn) == NOTHING


@given(turns())
def test_the_order_is_the_first_power_that_changes_nothing(turn: Turn) -> None:
    powers = [turn.power(exponent) for exponent in range(1, turn.order + 1)]
    assert powers.index(NOTHING) == turn.order - 1
    assert turn.power(10**18 * turn.order + 1) == turn
    assert [power.order == 1 for power in powers] == [False] * (turn.order - 1) + [True]


@given(st.permutations(range(9)))
def test_cycles_go_along_a_permutation(permutation: list[int]) -> None:
    found = cycles(permutation)
    assert sorted(place for cycle in found for place in cycle) == list(range(9))
    for cycle in found:
        assert [permutation[place] for place in cycle] == [*cycle[1:], cycle[0]]


def cycle(length: int, places: int = 12, first: int = 0) -> Turn:
    """A turn of that order."""
    origins = list(range(places))
    origins[first : first + length] = [*range(first + 1, first + length), first]
    return Turn((tuple(origins),), ((0,) * places,), (1,))


@pytest.mark.parametrize(
    ("order", "half", "quarter"),
    [
        (2, ["R"], ["R"]),
        (3, ["R", "R'"], ["R", "R'"]),
        (4, ["R", "R2", "R'"], ["R", "R'"]),
        (5, ["R", "R2", "R2'", "R'"], ["R", "R'"]),
        (6, ["R", "R2", "R3", "R2'", "R'"], ["R", "R'"]),
    ],
)
def test_names_of_powers(order: int, half: list[str], quarter: list[str]) -> None:
    assert list(expand({"R": cycle(order)})) == half
    assert list(expand({"R": cycle(order)}, "quarter")) == quarter
    assert list(expand({"R": cycle(order)}, "single")) == ["R"]


def test_names_that_others_have_are_no_names_of_powers() -> None:
    others = {"R2": cycle(3), "R'": cycle(4).inverse()}
    assert list(expand({"R": cycle(4)}, others=others)) == ["R", "(R)2", "R'"]


def test_nothing_and_repetitions_are_left_out() -> None:
    turns = {"R": cycle(4), "N": cycle(1), "S": cycle(4).inverse(), "T": cycle(3)}
    assert list(expand(turns)) == ["R", "R2", "R'", "T", "T'"]
    assert list(expand(turns, "single")) == ["R", "S", "T"]
    with pytest.raises(ConfigError, match="turns: none of the turns changes anything"):
        expand({"N": cycle(1)})


@pytest.mark.parametrize(
    "turns",
    [
        {"R2": cycle(4)},
        {"R'": cycle(5)},
        {"R2'": cycle(5), "R": cycle(3)},
        {"R": cycle(5), "R'": cycle(5, first=4), "R2": cycle(5, first=2)},
        {"a1": cycle(7), "a12": cycle(5)},
        {"'": cycle(4), "''": cycle(5)},
    ],
)
def test_names_are_read_back_as_their_moves(turns: dict[str, Turn]) -> None:
    moves = expand(turns)
    assert len(moves) == len(set(moves.values()))
    assert len(moves) == len(expand({f"T{chr(65 + k)}": turn for k, turn in enumerate(turns.values())}))
    for name, move in moves.items():
        assert parse_sequence(name, moves) == move
        if name.startswith(("(", *turns)):
            assert parse_sequence(name, turns) == move, name


def test_refused() -> None:
    with pytest.raises(ConfigError, match="turns: expected one of half, quarter, single, found 'face'"):
        expand({"R": cycle(4)}, "face")
    long = cycle(MAX_MOVES, MAX_MOVES + 10).compose(cycle(9, MAX_MOVES + 10, MAX_MOVES + 1))
    with pytest.raises(
        ConfigError,
        match=r"turns: with all their powers, the turns make more than 1,024 moves \('L' alone makes 9215\); use",
    ):
        expand({"R": cycle(4, MAX_MOVES + 10), "L": long})
    assert list(expand({"L": long}, "quarter")) == ["L", "L'"]
