"""Heuristics trained and tested with a table: positions and distances drawn from it, and errors by depth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.positions import ReachedPositions
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.rules.moves import Labels, Moves

PERMUTED = 4
"""A part of 1 / PERMUTED or more is drawn by a permutation of the whole, less by numbers until enough differ."""


class Dataset(NamedTuple):
    """Different positions in random order, and the distance of each."""

    positions: Labels
    """``(n, places)``."""
    distances: NDArray[np.int32]
    """``(n,)``."""

    def __repr__(self) -> str:
        if not len(self.distances):
            return "<Dataset: no positions>"
        least, most = self.distances.min(), self.distances.max()
        return f"<Dataset: {len(self.distances):,} positions, distances {least} to {most}>"


def draw(
    reached: ReachedPositions,
    layers: Sequence[int],
    depths: Sequence[int],
    n: int,
    rng: np.random.Generator,
    balanced: bool,
) -> Dataset:
    """``n`` different positions at some depths of a table, in random order.

    Positions are counted by depth, then by entry, and numbers of them are drawn; so the numbers depend on nothing but
    the generator and the sizes of the layers. Chunks that hold none of them are not read.
    """
    sizes = np.array([layers[depth] for depth in depths], dtype=np.int64)
    begins = (np.cumsum(layers, dtype=np.int64) - layers)[list(depths)]
    if balanced:
        each = zip(begins.tolist(), sizes.tolist(), shared(sizes, n).tolist(), strict=True)
        numbers = np.concatenate([begin + different(size, quota, rng) for begin, size, quota in each])
    else:
        numbers = different(int(sizes.sum()), n, rng)
        ends = np.cumsum(sizes)
        numbers += (begins - ends + sizes)[np.searchsorted(ends, numbers, side="right")]
    rng.shuffle(numbers)
    return Dataset(*reached.numbered(numbers))


def different(size: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``n`` different numbers below ``size``, each set of them as probable as any other."""
    if PERMUTED * n >= size:
        return rng.permutation(size)[:n]
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < n:  # the first n different ones of a sequence: none is drawn that is not needed
        drawn = np.concatenate((drawn, rng.integers(size, size=n - len(drawn))))
        drawn.sort(kind="stable")  # which merges, after the first time; np.unique would hash, ten times as slow
        drawn = drawn[np.diff(drawn, prepend=-1) > 0]
    return drawn


def shared(sizes: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """How many of ``n`` each layer gives: as equal as their sizes allow, the larger ones one more."""
    quotas = np.zeros_like(sizes)
    left = n
    for done, layer in enumerate(np.argsort(sizes, kind="stable").tolist()):
        quotas[layer] = min(int(sizes[layer]), left // (len(sizes) - done))
        left -= int(quotas[layer])
    return quotas


BATCH = 1 << 16
"""Positions that are evaluated together at most."""
ROUNDING = 1e-6
"""By how much an estimate may exceed the distance and count as admissible: floats are rounded."""
Floats = NDArray[np.float64]
Estimator = Callable[[Labels], Any]
"""Takes positions ``(n, places)``, returns numbers ``(n,)``: an array, or what numpy makes one of."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Evaluation:
    """How a heuristic compares with the distances; arrays are by depth, NaN at depths without a position."""

    count: NDArray[np.int64]
    """``(depths,)``: how many positions were compared."""
    mean: Floats
    """``(depths,)``: the mean of the heuristic."""
    overestimate: Floats
    """``(depths,)``: the greatest difference of heuristic and distance; above 0 it is not admissible."""
    exhaustive: bool
    """Whether all reached positions were compared."""
    counterexample: Labels | None
    """A position ``(places,)`` with the greatest overestimate of all; None if there is none."""
    consistent: bool | None
    """Whether no move raised the heuristic by more than 1; None if that was not asked."""

    @property
    def error(self) -> Floats:
        """``(depths,)``: the mean of distance less heuristic."""
        error: Floats = np.arange(len(self.count)) - self.mean
        return error

    @property
    def admissible(self) -> bool:
        """Whether no compared position has a heuristic above its distance; a proof only if ``exhaustive``."""
        return self.counterexample is None

    @property
    def mean_distance(self) -> float:
        """The mean distance of the compared positions; NaN if there are none."""
        return self._mean_of(np.arange(len(self.count), dtype=np.float64))

    @property
    def mean_heuristic(self) -> float:
        """The mean heuristic of the compared positions."""
        return self._mean_of(self.mean)

    @property
    def mean_error(self) -> float:
        """The mean of distance less heuristic of the compared positions."""
        return self._mean_of(self.error)

    def _mean_of(self, values: Floats) -> float:
        compared = self.count > 0
        return float(np.average(values[compared], weights=self.count[compared])) if compared.any() else np.nan

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The columns of a table with a row for each depth, as pandas takes them: ``DataFrame(result.to_dict())``."""
        depths = np.arange(len(self.count))
        columns = (depths, self.count, self.mean, self.error, self.overestimate)
        return dict(zip(("depth", "count", "mean", "error", "overestimate"), columns, strict=True))

    def __repr__(self) -> str:
        excess = "" if self.admissible else f" (up to {np.nanmax(self.overestimate):g} too much)"
        verdict = f"{'not ' * bool(excess)}admissible{excess}"
        consistent = "" if self.consistent is None else ", consistent" if self.consistent else ", not consistent"
        compared = f"{'all' if self.exhaustive else 'a sample of'} {int(self.count.sum()):,} positions"
        means = f"mean {self.mean_heuristic:.2f} of {self.mean_distance:.2f}, error {self.mean_error:.2f}"
        return f"<Evaluation of {compared}: {verdict}{consistent}, {means}>"

    def __str__(self) -> str:
        """A line for each depth, and the summary."""
        names, *rows = [list(self.to_dict()), *zip(*self.to_dict().values(), strict=True)]
        head = f"{names[0]:>5} {names[1]:>14} {names[2]:>10} {names[3]:>10} {names[4]:>13}"
        lines = [f"{d:>5} {n:>14,} {mean:>10.3f} {error:>10.3f} {over:>13.3f}" for d, n, mean, error, over in rows]
        return "\n".join([head, *lines, repr(self)])


def evaluate(
    estimate: Callable[[Labels], Floats],
    batches: Iterable[tuple[Labels, NDArray[np.int32]]],
    depths: int,
    moves: Moves | None,
    exhaustive: bool,
) -> Evaluation:
    """Compare a heuristic with the distances ``(n,)`` of batches of positions ``(n, places)``.

    Moves are applied where the heuristic is to be consistent, too; ``depths`` is how many there are.
    """
    count, total = np.zeros(depths, dtype=np.int64), np.zeros(depths)
    over, counterexample = np.full(depths, -np.inf), None
    consistent = None if moves is None else True
    for positions, distances in batches:
        estimates = estimate(positions)
        count += np.bincount(distances, minlength=depths)
        total += np.bincount(distances, weights=estimates, minlength=depths)
        excess = estimates - distances
        worst = int(excess.argmax())
        if excess[worst] > max(ROUNDING, over.max()):
            counterexample = positions[worst].copy()
        np.maximum.at(over, distances, excess)
        if moves is not None and consistent:
            consistent = _is_consistent(estimate, positions, estimates, moves)
    compared = count > 0
    mean = np.divide(total, count, out=np.full(depths, np.nan), where=compared)
    return Evaluation(count, mean, np.where(compared, over, np.nan), exhaustive, counterexample, consistent)


def _is_consistent(estimate: Callable[[Labels], Floats], positions: Labels, estimates: Floats, moves: Moves) -> bool:
    """Whether no move raises the heuristic by more than 1."""
    for number in range(len(moves)):
        after, legal = moves.after(number, positions)
        if legal.any() and (estimate(after[legal]) > estimates[legal] + 1 + ROUNDING).any():
            return False
    return True


def in_batches(
    parts: Iterable[tuple[NDArray[Any], NDArray[np.int32]]],
) -> Iterator[tuple[NDArray[Any], NDArray[np.int32]]]:
    """Pairs of arrays, cut into batches; none is empty."""
    for first, second in parts:
        for begin in range(0, len(second), BATCH):
            yield first[begin : begin + BATCH], second[begin : begin + BATCH]


def checked_estimator(heuristic: Estimator) -> Callable[[Labels], Floats]:
    """The heuristic; InputError where it is no function, and from it where its results are no numbers ``(n,)``."""
    arguments.function(heuristic, "a heuristic, manhattan, linear-conflict or a function")

    def estimate(positions: Labels) -> Floats:
        returned = heuristic(positions.copy())  # it may change its argument
        try:
            result = np.asarray(returned)
        except ValueError:
            raise InputError(f"expected numbers ({len(positions)},) of the heuristic, found rows of them") from None
        if result.shape != (len(positions),) or result.dtype.kind not in "iuf" or np.isnan(result).any():
            kind = "NaN" if result.dtype.kind == "f" and np.isnan(result).any() else str(result.dtype)
            raise InputError(f"expected numbers ({len(positions)},) of the heuristic, found {result.shape} of {kind}")
        return result.astype(np.float64)

    return estimate
