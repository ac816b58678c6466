"""The layers to come, and what they cost.

The logarithm of a layer's size, over the depths, rises, bends and falls. Its slope becomes smaller for two reasons: by
about as much each layer, as in sliding puzzles, and the faster the more positions are used up, as in twisty puzzles.
The first is measured on the small layers; the second, the *saturation*, is chosen so that the layers add up.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

SLOPE_LAYERS = 2
"""Layers over which the slope is measured: over one, it would swing in puzzles where odd and even layers differ."""
UNSATURATED = 0.02
"""The share of all positions up to which saturation is not yet felt."""
MIN_SCALE, MAX_SCALE, HALVINGS = 1e-6, 20.0, 30
"""The interval in which the bend or the saturation is sought, and how often it is halved, on a logarithmic scale."""


def layers_to_come(counts: Sequence[int], found: int, reachable: int) -> list[float]:
    """The expected sizes of the layers after the last of ``counts``; they add up to what is left to find.

    ``counts`` are the sizes of two or more consecutive layers, and ``found`` the positions up to the last of them.
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
    else:  # the small layers bend too much, or there were too few of them to tell
        expected = _fitting(lambda bend: walk(bend, 0.0), left)
    scale = left / sum(expected) if expected else 0.0
    return [scale * count for count in expected] or [float(left)]


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
    low, high = MIN_SCALE, MAX_SCALE
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        if sum(walk(middle)) > left:
            low = middle
        else:
            high = middle
    return walk(high)


TOGETHER_SECONDS = 1e-4
"""Layers that are told within so many seconds of each other were submitted to a cluster together."""


@dataclass
class LayerCosts:
    """What layers cost: seconds for each, and seconds for the square root of its size.

    The cost grows more slowly than the size: large layers pull instead of pushing, and share words of bits. On recorded
    runs the root foretells the large layers best from the small ones; the large ones then correct it.
    """

    blocks: list[tuple[int, float, float]] = field(default_factory=list)
    """Layers, the sum of the roots of their sizes, and the seconds of all: one block each, or several on a cluster."""

    def add(self, count: int, seconds: float) -> None:
        """Note that a layer of ``count`` positions was told ``seconds`` after the one before."""
        block = 1, math.sqrt(count), seconds
        if self.blocks and seconds < TOGETHER_SECONDS:
            layers, roots, its_seconds = self.blocks.pop()
            block = layers + 1, roots + block[1], its_seconds + seconds
        self.blocks.append(block)

    def of(self, sizes: list[float]) -> float:
        """The seconds that layers of these sizes will take."""
        each, root = self._fitted()
        return each * len(sizes) + root * sum(map(math.sqrt, sizes))

    def _fitted(self) -> tuple[float, float]:
        """Seconds for a layer, and for the root of its size: least squares, neither below 0."""
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
