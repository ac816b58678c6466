"""The layers to come, and the seconds that a search for them and the assembly still need.

The logarithm of a layer's size, over the depths, rises, bends and falls. Its slope becomes smaller for two reasons: by
about as much each layer, as in sliding puzzles, and the faster the more positions are used up, as in twisty puzzles.
The first is measured on the small layers; the second, the *saturation*, is chosen so that the layers add up.

A search is not half done when half of the positions are found: a layer costs something however small it is, and large
layers cost more. So the layers to come are forecast, and the cost of a layer is fitted to those that were measured.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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


LEAST_SECONDS, LEAST_LAYERS, LEAST_SHARE = 2.0, 3, 0.01
"""What a search must have behind it before its time is told: seconds, layers, and the share of positions found."""
TOGETHER_SECONDS = 1e-4
"""Layers that are told within so many seconds of each other were submitted to a cluster together."""
ASSEMBLY_SHARE = 0.5
"""Seconds of assembly per second of a whole search; assembly is told by its own rate as soon as it has one."""
MOST_RESUMED = 0.9
"""The share of positions that earlier runs may have found; with more, the search that is left says nothing of the
whole."""


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


class SearchForecast:
    """A search for layers; all times are seconds on one clock."""

    def __init__(self, reachable: int, states: int, assembles: bool, now: float) -> None:
        """A search begins with ``states`` positions known; ``assembles``: a table is assembled when it ends."""
        self._reachable = reachable
        self._assembles = assembles
        self._before = self._found = states
        self._began = self._layer_began = self._told_at = now
        self._share = 0.0
        """The share of the partitions that have finished the layer, as it was when last told."""
        self._counts = [states] if states == 1 else []
        self._costs = LayerCosts()
        self._expected: list[float] | None = None
        """The sizes of the layers to come; None where they are to be forecast anew."""
        self._commit_began: float | None = None
        """When the commit under way began; None: none is."""
        self._commit_seconds = 0.0

    def layer(self, count: int, states: int, now: float) -> None:
        """A layer of ``count`` positions is found, with ``states`` positions up to it."""
        self._costs.add(count, now - self._layer_began)
        self._counts.append(count)
        self._found, self._layer_began, self._told_at, self._share = states, now, now, 0.0
        self._expected = None

    def partition(self, share: float, now: float) -> None:
        """A share of the partitions has finished the layer after the last."""
        self._share, self._told_at = share, now

    def committing(self, now: float) -> None:
        """A commit begins."""
        self._commit_began = now

    def committed(self, now: float) -> None:
        """The commit is over; its time is not that of a layer."""
        seconds = 0.0 if self._commit_began is None else now - self._commit_began
        self._commit_began = None
        self._commit_seconds += seconds
        self._layer_began += seconds
        self._told_at += seconds

    def left(self, now: float) -> float | None:
        """Seconds left, with those of assembly; None where they cannot be told, or not yet.

        They stand still during a commit, whose end is not known.
        """
        now = now if self._commit_began is None else self._commit_began
        searched = now - self._began - self._commit_seconds
        if searched < LEAST_SECONDS or not self._is_representative():
            return None
        rest = self._rest_of_search(now)
        commits = self._commit_seconds * rest / searched
        return rest + commits + self._assembly(searched + rest)

    def _is_representative(self) -> bool:
        """Whether the layers that were measured say enough about those to come."""
        enough = len(self._costs.blocks) >= LEAST_LAYERS and self._found >= LEAST_SHARE * self._reachable
        return enough and (self._before <= MOST_RESUMED * self._reachable or not self._assembles)

    def _rest_of_search(self, now: float) -> float:
        if self._expected is None:
            self._expected = layers_to_come(self._counts, self._found, self._reachable)
        if not self._expected:
            return 0.0
        spent, todo = self._told_at - self._layer_began, 1 - self._share
        layer = todo * (todo * self._costs.of(self._expected[:1]) + spent)  # the more is done, the more it tells
        return max(0.0, layer - (now - self._told_at)) + self._costs.of(self._expected[1:])

    def _assembly(self, search: float) -> float:
        """The seconds of assembly; ``search`` are those of the positions that this run finds."""
        share_of_this_run = 1 - self._before / self._reachable
        return ASSEMBLY_SHARE * search / share_of_this_run if self._assembles else 0.0
