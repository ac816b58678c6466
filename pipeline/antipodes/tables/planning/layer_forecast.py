"""The sizes of the layers to come, from those so far and from the number of positions that can be reached.

The logarithm of a layer's size, over the depths, rises, bends and falls. Its slope becomes smaller for two reasons: by
about as much each layer, as in sliding puzzles, and the faster the more positions are used up, as in twisty puzzles.
The first is measured on the small layers; the second, the *saturation*, is chosen so that the layers add up.
"""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

SLOPE_LAYERS = 2
"""Layers over which the slope is measured: over one, it would swing in puzzles where odd and even layers differ."""
UNSATURATED = 0.02
"""The share of all positions up to which saturation is not yet felt."""
LEAST, MOST, HALVINGS = 1e-6, 20.0, 30
"""The interval in which the bend or the saturation is sought, and how often it is halved, on a logarithmic scale."""


def layers_to_come(counts: Sequence[int], found: int, reachable: int) -> list[float]:
    """The expected sizes of the layers after the last of ``counts``; they add up to what is left to find.

    ``counts`` are the sizes of two or more consecutive layers, and ``found`` the positions up to the last of them.
    """
    left = reachable - found
    if left <= 0:
        return []
    bend = _bend(counts, found, reachable)

    def walk(bend: float, saturation: float) -> list[float]:
        return _walk(counts[-1], _slope(counts), bend, saturation, found, reachable)

    if sum(walk(bend, 0.0)) > left:
        expected = _fitting(lambda saturation: walk(bend, saturation), left)
    else:  # the small layers bend too much, or there were too few of them to tell
        expected = _fitting(lambda bend: walk(bend, 0.0), left)
    scale = left / sum(expected) if expected else 0.0
    return [scale * count for count in expected] or [float(left)]


def _slope(counts: Sequence[int]) -> float:
    """By how much the logarithm of a layer's size grows per layer, at the last layers."""
    layers = min(SLOPE_LAYERS, len(counts) - 1)
    return math.log(counts[-1] / counts[-1 - layers]) / layers


def _bend(counts: Sequence[int], found: int, reachable: int) -> float:
    """By how much the slope falls per layer while there is no saturation; 0 where no layers tell."""
    before = found - sum(counts)
    small = sum(before + known < UNSATURATED * reachable for known in accumulate(counts))
    end = max(2, min(small, len(counts) - 1))
    begin = end // 2  # the first layers are irregular
    middle = (begin + end) // 2
    if end - begin < 2:
        return 0.0
    first = math.log(counts[middle] / counts[begin]) / (middle - begin)
    second = math.log(counts[end] / counts[middle]) / (end - middle)
    return max(0.0, 2 * (first - second) / (end - begin))


def _walk(count: float, slope: float, bend: float, saturation: float, found: float, reachable: int) -> list[float]:
    """The layers that follow, until one is empty or there are clearly too many positions in all."""
    layers: list[float] = []
    while found <= 3 * reachable:
        slope -= bend + saturation * min(found / reachable, 1.0)
        count *= math.exp(slope)
        if count < 1:
            break
        layers.append(count)
        found += count
    return layers


def _fitting(walk: Callable[[float], list[float]], left: float) -> list[float]:
    """The walk that adds up to at most, and about, ``left``; its parameter lowers the sum."""
    low, high = LEAST, MOST
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        if sum(walk(middle)) > left:
            low = middle
        else:
            high = middle
    return walk(high)
