"""Turns obey the laws of a group, and do what the formula of their fields says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from twisty_search import solved, turned

from antipodes.puzzles.formats.definition import Orbit, Turn, TwistyDefinition, identity
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
    at_once = turned(solved(PUZZLE), one.then(other), PUZZLE)
    assert np.array_equal(both, at_once)


@given(turns(), st.integers(-100, 100))
def test_powers_are_repetitions(turn: Turn, exponent: int) -> None:
    repeated = NOTHING
    for _ in range(abs(exponent)):
        repeated = repeated.then(turn)
    assert turn.power(abs(exponent)) == repeated
    assert turn.power(exponent).then(turn.power(-exponent)) == NOTHING
    assert turn.then(turn.inverse()) == turn.inverse().then(turn) == NOTHING


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
