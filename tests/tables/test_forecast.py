"""The sizes and the costs of the layers to come, foretold from the first layers of known puzzles."""

import math
from itertools import accumulate

import pytest
from known_layers import LAYERS

from antipodes.tables.planning.forecast import LayerCosts, layers_to_come


@pytest.mark.parametrize("name", LAYERS)
def test_the_number_of_layers_to_come(name: str) -> None:
    layers, reachable = LAYERS[name], sum(LAYERS[name])
    for depth, found in enumerate(accumulate(layers)):
        if 0.01 * reachable <= found <= 0.95 * reachable:
            expected, left = layers_to_come(layers[: depth + 1], found, reachable), len(layers) - 1 - depth
            assert math.isclose(sum(expected), reachable - found)
            assert abs(len(expected) - left) <= 3 + 0.2 * left, f"after depth {depth}"


def test_a_resumed_search_knows_only_its_own_layers() -> None:
    layers, reachable = LAYERS["sliding seed-1"], sum(LAYERS["sliding seed-1"])
    expected = layers_to_come(layers[28:32], sum(layers[:32]), reachable)
    assert abs(len(expected) - (len(layers) - 32)) <= 6


def test_nothing_is_to_come_when_all_positions_are_found() -> None:
    assert layers_to_come([1, 2, 3], 6, 6) == []


def test_layers_that_no_curve_fits_still_add_up() -> None:
    assert layers_to_come([1000, 10, 1], 1011, 1012) == [1.0]


def test_layers_of_a_cluster_that_are_told_together() -> None:
    alone, together = LayerCosts(), LayerCosts()
    for count in (100, 400, 900, 1600, 2500, 3600):
        alone.add(count, 1 + count**0.5)
    for first, second in ((100, 400), (900, 1600), (2500, 3600)):
        together.add(first, 2 + first**0.5 + second**0.5)
        together.add(second, 1e-6)
    assert together.of([1e4, 1e6]) == pytest.approx(alone.of([1e4, 1e6]), rel=1e-4)
    assert alone.of([1e4, 1e6]) == pytest.approx(2 + 100 + 1000)


def test_costs_are_never_negative() -> None:
    falling, rising = LayerCosts(), LayerCosts()
    for count, seconds in ((100, 3.0), (400, 2.0), (900, 1.0)):
        falling.add(count, seconds)
        rising.add(count, 4.0 - seconds - 0.9)
    assert falling.of([1e8]) == pytest.approx(2.0)
    assert rising.of([1.0]) > 0
