"""The sizes of the layers to come, foretold from the first layers of puzzles whose layers are known."""

import math
from itertools import accumulate

import pytest
from known_layers import LAYERS

from antipodes.tables.planning.forecast import layers_to_come


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
