"""Forecasts of the remaining layers and of their cost.

As a function of depth, the logarithm of a layer's size rises, bends and falls. Two effects decrease its slope:

* The *bend* decreases it by about the same amount in each layer, as in sliding puzzles. It is measured on the small
  layers.
* The *saturation* decreases it more, the more positions are already visited, as in twisty puzzles. It is chosen so that
  the sizes of all layers add up to the number of reachable positions.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

SLOPE_LAYERS = 2
"""Number of layers over which the slope is measured. Over a single layer it would oscillate, since odd and even layers
may differ."""
UNSATURATED = 0.02
"""Maximum share of visited positions at which saturation has no effect yet."""
MIN_SCALE, MAX_SCALE, HALVINGS = 1e-6, 20.0, 30
"""The interval in which the bend or the saturation is searched for, and how often it is halved on a log scale."""


def layers_to_come(counts: Sequence[int], found: int, reachable: int) -> list[float]:
    """Return the expected sizes of the layers after the last of ``counts``, which add up to the remaining positions.

    ``counts`` are the sizes of two or more consecutive layers, and ``found`` is the number of positions up to the last.
    """
    left = reachable - found
    if left <= 0:
        return []
    layers = min(SLOPE_LAYERS, len(counts) - 1)
    slope = math.log(counts[-1] / counts[-1 - layers]) / layers
    bend = _bend(counts, found, reachable)

    def walk(bend: float, saturation: float) -> list[float]:
        return _walk(counts[-1], slope, bend, saturation, found, reachable)

    if sum(walk(bend, 0.0)) > left:
        expected = _fitting(lambda saturation: walk(bend, saturation), left)
    else:  # the small layers bend too much, or there were too few of them
        expected = _fitting(lambda bend: walk(bend, 0.0), left)
    scale = left / sum(expected) if expected else 0.0
    return [scale * count for count in expected] or [float(left)]


def _bend(counts: Sequence[int], found: int, reachable: int) -> float:
    """Return how much the slope decreases per layer without saturation, or 0 if there are too few layers."""
    before = found - sum(counts)
    small = sum(before + known < UNSATURATED * reachable for known in accumulate(counts))
    end = max(2, min(small, len(counts) - 1))
    begin = end // 2  # ignores the first layers, which are irregular
    middle = (begin + end) // 2
    if end - begin < 2:
        return 0.0
    first = math.log(counts[middle] / counts[begin]) / (middle - begin)
    second = math.log(counts[end] / counts[middle]) / (end - middle)
    return max(0.0, 2 * (first - second) / (end - begin))


def _walk(count: float, slope: float, bend: float, saturation: float, found: float, reachable: int) -> list[float]:
    """Return the next layers, until a layer is empty or there are clearly too many positions in total."""
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
    """Return the result of ``walk`` with the largest sum up to ``left``; larger arguments give smaller sums."""
    low, high = MIN_SCALE, MAX_SCALE
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        if sum(walk(middle)) > left:
            low = middle
        else:
            high = middle
    return walk(high)


TOGETHER_SECONDS = 1e-4
"""Layers that are reported within this number of seconds of each other were submitted to a cluster together."""


@dataclass
class LayerCosts:
    """The cost of a layer: a constant time, plus a time proportional to the square root of the layer's size.

    The cost grows more slowly than the size: large layers use pull instead of push, and share words of bits. In
    recorded runs, the square root of the size gives the best prediction of the time of large layers from the time of
    small layers. Once large layers are known, they correct the prediction.
    """

    blocks: list[tuple[int, float, float]] = field(default_factory=list)
    """For each report: the number of layers (several only on a cluster), the sum of the square roots of their sizes,
    and their seconds."""

    def add(self, count: int, seconds: float) -> None:
        """Add a layer of ``count`` positions that was reported ``seconds`` after the previous layer."""
        block = 1, math.sqrt(count), seconds
        if self.blocks and seconds < TOGETHER_SECONDS:
            layers, roots, its_seconds = self.blocks.pop()
            block = layers + 1, roots + block[1], its_seconds + seconds
        self.blocks.append(block)

    def of(self, sizes: list[float]) -> float:
        """Return the expected seconds for layers of these sizes."""
        each, root = self._fitted()
        return each * len(sizes) + root * sum(map(math.sqrt, sizes))

    def _fitted(self) -> tuple[float, float]:
        """Return the constant and the factor of the cost, in seconds, fitted by least squares; both are at least 0."""
        nn = nr = rr = ns = rs = 0.0
        for layers, roots, seconds in self.blocks:
            nn, nr, rr = nn + layers * layers, nr + layers * roots, rr + roots * roots
            ns, rs = ns + layers * seconds, rs + roots * seconds
        determinant = nn * rr - nr * nr
        alike = determinant <= 1e-9 * nn * rr
        each, root = (0.0, 0.0) if alike else ((ns * rr - rs * nr) / determinant, (rs * nn - ns * nr) / determinant)
        if alike or root < 0:
            return ns / nn, 0.0
        return (each, root) if each >= 0 else (0.0, rs / rr)
