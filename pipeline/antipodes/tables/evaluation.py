"""Train and test heuristics with a table: draw positions with their distances, and compute errors by depth."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.events import Listener, PositionsChecked
from antipodes.tables.drawing import check_plot, save_plot
from antipodes.tables.reached_positions import ReachedPositions
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import imported
from antipodes_tasks.properties.heuristic_function import Floats
from antipodes_tasks.rules.moves import Moves

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

PERMUTED = 4
"""To draw at least 1 / PERMUTED of a set, the set is permuted; for less, numbers are drawn until enough differ."""


class Dataset(NamedTuple):
    """Different positions in random order, and their distances."""

    positions: Labels
    """``(n, places)``."""
    distances: NDArray[np.int32]
    """``(n,)``."""

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row per position, with the columns ``place_0``, ``place_1``, ... and ``distance``.

        Raises InputError if pandas is not installed.
        """
        pandas = imported("pandas", "to_pandas", "xarray")
        names = [f"place_{place}" for place in range(self.positions.shape[1])]
        return pandas.DataFrame(self.positions, columns=names).assign(distance=self.distances)

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
    """Return ``n`` different positions at some depths of a table, in random order.

    Positions are numbered by depth and then by entry, and random numbers are drawn. Therefore these numbers depend only
    on the generator and the sizes of the layers. Chunks without a drawn position are not read.
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
    """Return ``n`` different numbers below ``size``; all sets of ``n`` numbers are equally probable."""
    if PERMUTED * n >= size:
        return rng.permutation(size)[:n]
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < n:  # keeps the first n different numbers of a sequence, and draws no more than needed
        drawn = np.concatenate((drawn, rng.integers(size, size=n - len(drawn))))
        drawn.sort(kind="stable")  # from the second time on, this merges; np.unique takes ten times as long
        drawn = drawn[np.diff(drawn, prepend=-1) > 0]
    return drawn


def shared(sizes: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Divide ``n`` among the layers as equally as their sizes allow; the largest layers may get one more."""
    quotas = np.zeros_like(sizes)
    left = n
    for done, layer in enumerate(np.argsort(sizes, kind="stable").tolist()):
        quotas[layer] = min(int(sizes[layer]), left // (len(sizes) - done))
        left -= int(quotas[layer])
    return quotas


BATCH = 1 << 16
"""Maximum number of positions that are evaluated together."""
LISTED = 10
"""Maximum number of the worst positions, and of counterexamples, that an evaluation lists."""
ROUNDING = 1e-6
"""Rounding tolerance: how much an admissible estimate may exceed the distance."""


class Estimates(NamedTuple):
    """Positions with their distances and the values of a heuristic."""

    positions: Labels
    """``(n, places)``."""
    distances: NDArray[np.int32]
    """``(n,)``."""
    estimates: Floats
    """``(n,)``."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Evaluation:
    """The comparison of a heuristic with the distances, in arrays indexed by depth; NaN at depths without positions.

    The signed error of an estimate is the distance minus the heuristic. It is positive if the heuristic is too low.
    """

    count: NDArray[np.int64]
    """``(depths,)``: number of compared positions."""
    mean: Floats
    """``(depths,)``: mean of the heuristic."""
    spread: Floats
    """``(depths,)``: standard deviation of the heuristic among the compared positions; infinite if an estimate is."""
    minimum: Floats
    """``(depths,)``: minimum of the heuristic."""
    maximum: Floats
    """``(depths,)``: maximum of the heuristic."""
    absolute_error: Floats
    """``(depths,)``: mean of the absolute difference between heuristic and distance."""
    worst: Estimates
    """Up to 10 of the compared positions with the largest absolute errors, the largest first."""
    counterexamples: Estimates
    """Up to 10 of the compared positions with the largest overestimates, the largest first; none if admissible."""
    exhaustive: bool
    """Whether all reached positions were compared."""
    consistent: bool | None
    """Whether no move raised the heuristic by more than 1. None if this was not checked."""
    puzzle: Puzzle
    name: str
    """Name of the heuristic, or of the function or the class of the model."""

    @property
    def counterexample(self) -> Labels | None:
        """A position ``(places,)`` with the maximum overestimate, or None if no estimate is too high."""
        return next(iter(self.counterexamples.positions), None)

    @property
    def signed_error(self) -> Floats:
        """``(depths,)``: mean of distance minus heuristic."""
        error: Floats = self._depths - self.mean
        return error

    @property
    def overestimate(self) -> Floats:
        """``(depths,)``: maximum of heuristic minus distance. If any is above 0, the heuristic is not admissible."""
        excess: Floats = self.maximum - self._depths
        return excess

    @property
    def admissible(self) -> bool:
        """Whether no compared position has a heuristic above its distance. This is a proof only if ``exhaustive``."""
        return not len(self.counterexamples.positions)

    @property
    def mean_distance(self) -> float:
        """The mean distance of the compared positions, or NaN if there are none."""
        return self._mean_of(self._depths)

    @property
    def mean_heuristic(self) -> float:
        """The mean heuristic of the compared positions."""
        return self._mean_of(self.mean)

    @property
    def mean_signed_error(self) -> float:
        """The mean of distance minus heuristic over the compared positions."""
        return self._mean_of(self.signed_error)

    @property
    def mean_absolute_error(self) -> float:
        """The mean absolute difference between heuristic and distance over the compared positions."""
        return self._mean_of(self.absolute_error)

    @property
    def root_mean_square_error(self) -> float:
        """The square root of the mean squared difference between heuristic and distance over the compared positions."""
        return float(np.sqrt(self._mean_of(self.spread**2 + self.signed_error**2)))

    @property
    def _depths(self) -> Floats:
        return np.arange(len(self.count), dtype=np.float64)

    def _mean_of(self, values: Floats) -> float:
        compared = self.count > 0
        return float(np.average(values[compared], weights=self.count[compared])) if compared.any() else np.nan

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a table with one row per depth, as for ``pandas.DataFrame(result.to_dict())``."""
        names = ("count", "mean", "spread", "minimum", "maximum", "signed_error", "absolute_error", "overestimate")
        return {"depth": np.arange(len(self.count)), **{name: getattr(self, name) for name in names}}

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot the heuristic by distance: its mean, one standard deviation around it, its range, and the distance.

        Returns a matplotlib figure, which is also written to ``path`` if one is given.

        Raises
        ------
        InputError
            matplotlib is not installed, or a plot cannot be written to a file with this name.
        StoreError
            The file cannot be written.
        """
        file = None if path is None else Path(arguments.path_or_text(path, "a file"))
        check_plot(file)
        figure = _figure(self)
        if file is not None:
            save_plot(figure, file)
        return figure

    def __repr__(self) -> str:
        excess = "" if self.admissible else f" (up to {np.nanmax(self.overestimate):g} too much)"
        verdict = f"{'not ' * bool(excess)}admissible{excess}"
        consistent = "" if self.consistent is None else ", consistent" if self.consistent else ", not consistent"
        compared = f"{'all' if self.exhaustive else 'a sample of'} {int(self.count.sum()):,} positions"
        means = (
            f"mean {self.mean_heuristic:.2f} of {self.mean_distance:.2f}, absolute error {self.mean_absolute_error:.2f}"
        )
        return f"<Evaluation of {compared}: {verdict}{consistent}, {means}>"

    def __str__(self) -> str:
        """Return one line per depth and a summary."""
        columns = self.to_dict()
        widths = {name: max(len(name), 10) for name in columns} | {"depth": 5, "count": 14}
        head = " ".join(f"{name:>{widths[name]}}" for name in columns)
        rows = zip(*columns.values(), strict=True)
        shown = (f"{d:>5} {n:>14,} " + _line(numbers, list(widths.values())[2:]) for d, n, *numbers in rows)
        return "\n".join([head, *shown, repr(self)])


def _line(numbers: Sequence[float], widths: Sequence[int]) -> str:
    return " ".join(f"{number:>{width}.3f}" for number, width in zip(numbers, widths, strict=True))


def _figure(result: Evaluation) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes, depths = figure.subplots(), result._depths
    axes.fill_between(depths, result.minimum, result.maximum, color="#3b6ea8", alpha=0.15, linewidth=0, label="range")
    low, high = result.mean - result.spread, result.mean + result.spread
    axes.fill_between(depths, low, high, color="#3b6ea8", alpha=0.35, linewidth=0, label="standard deviation")
    axes.plot(depths, result.mean, color="#3b6ea8", marker=".", label="mean")
    axes.plot(depths, depths, color="#6b6b6b", linewidth=1, linestyle="--", label="distance")
    axes.set(xlabel="distance", ylabel="heuristic")
    axes.set_title(
        f"{'all' if result.exhaustive else 'a sample of'} {int(result.count.sum()):,} positions: "
        f"mean absolute error {result.mean_absolute_error:.2f}, root mean square {result.root_mean_square_error:.2f}",
        loc="left",
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


class _Tally:
    """Counts, sums, minima and maxima of estimates at each depth, accumulated batch by batch."""

    def __init__(self, depths: int) -> None:
        self._count = np.zeros(depths, dtype=np.int64)
        self._mean, self._squares, self._absolute = np.zeros(depths), np.zeros(depths), np.zeros(depths)
        self._minimum, self._maximum = np.full(depths, np.inf), np.full(depths, -np.inf)

    def add(self, distances: NDArray[np.int32], estimates: Floats) -> None:
        """Add estimates ``(n,)`` of positions with some distances ``(n,)``.

        Means and sums of squared deviations are merged by the method of T. F. Chan, G. H. Golub and R. J. LeVeque
        (1979), which does not subtract large squares from each other.
        """
        depths = len(self._count)
        count = np.bincount(distances, minlength=depths)
        total, new = self._count + count, np.maximum(count, 1)
        mean = np.bincount(distances, weights=estimates, minlength=depths) / new
        deviations = (estimates - mean[distances]) ** 2
        apart = np.where(count > 0, mean - self._mean, 0.0)
        share = count / np.maximum(total, 1)
        self._squares += np.bincount(distances, weights=deviations, minlength=depths)
        self._squares += apart**2 * self._count * share
        self._mean += apart * share
        self._absolute += np.bincount(distances, weights=np.abs(estimates - distances), minlength=depths)
        np.minimum.at(self._minimum, distances, estimates)
        np.maximum.at(self._maximum, distances, estimates)
        self._count = total

    def columns(self) -> dict[str, Any]:
        """Return the arrays of an evaluation of all estimates added so far."""
        number = np.maximum(self._count, 1)
        infinite = self._maximum == np.inf  # merging infinite means gives NaN
        return {
            "count": self._count,
            "mean": self._compared(np.where(infinite, np.inf, self._mean)),
            "spread": self._compared(np.where(infinite, np.inf, np.sqrt(self._squares / number))),
            "minimum": self._compared(self._minimum),
            "maximum": self._compared(self._maximum),
            "absolute_error": self._compared(self._absolute / number),
        }

    def _compared(self, values: Floats) -> Floats:
        """Return the values by depth, with NaN at depths without a position."""
        return np.where(self._count > 0, values, np.nan)


def _largest(kept: Estimates, batch: Estimates, error: Callable[[Floats], Floats], minimum: float) -> Estimates:
    """Return the kept positions and those of a batch with the largest errors, the largest first, at most LISTED.

    ``error`` is a function of the excess of an estimate over the distance. Only errors above the minimum are kept;
    among equal errors, the first found.
    """
    limit = minimum if len(kept.estimates) < LISTED else error(kept.estimates - kept.distances)[-1]
    new = error(batch.estimates - batch.distances) > limit
    positions = np.concatenate((kept.positions, batch.positions[new]))
    distances = np.concatenate((kept.distances, batch.distances[new]))
    estimates = np.concatenate((kept.estimates, batch.estimates[new]))
    order = np.argsort(-error(estimates - distances), kind="stable")[:LISTED]
    return Estimates(positions[order], distances[order], estimates[order])


def evaluate(
    estimate: Callable[[Labels], Floats],
    batches: Iterable[tuple[Labels, NDArray[np.int32]]],
    puzzle: Puzzle,
    name: str,
    depths: int,
    number: int,
    listener: Listener,
    *,
    consistency: bool,
    exhaustive: bool,
) -> Evaluation:
    """Compare a heuristic with the distances ``(n,)`` of batches of positions ``(n, places)``, ``number`` in all.

    ``depths`` is the number of depths. Consistency is checked by applying all moves.
    """
    tally, consistent, done = _Tally(depths), True if consistency else None, 0
    worst = counterexamples = Estimates(puzzle.start_labels[:0], np.empty(0, np.int32), np.empty(0))
    for positions, distances in batches:
        batch = Estimates(positions, distances, estimate(positions))
        with np.errstate(invalid="ignore", over="ignore"):  # a heuristic may be infinite
            tally.add(distances, batch.estimates)
        worst = _largest(worst, batch, np.abs, -np.inf)
        counterexamples = _largest(counterexamples, batch, np.positive, ROUNDING)
        if consistent:
            consistent = _is_consistent(estimate, positions, batch.estimates, puzzle.moves)
        done += len(positions)
        listener(PositionsChecked(done, number))
    return Evaluation(
        **tally.columns(),
        worst=worst,
        counterexamples=counterexamples,
        exhaustive=exhaustive,
        consistent=consistent,
        puzzle=puzzle,
        name=name,
    )


def _is_consistent(estimate: Callable[[Labels], Floats], positions: Labels, estimates: Floats, moves: Moves) -> bool:
    """Return whether no move raises the heuristic by more than 1."""
    for number in range(len(moves)):
        after, legal = moves.move(number, positions)
        if legal.any() and (estimate(after[legal]) > estimates[legal] + 1 + ROUNDING).any():
            return False
    return True


def in_batches(
    parts: Iterable[tuple[NDArray[Any], NDArray[np.int32]]],
) -> Iterator[tuple[NDArray[Any], NDArray[np.int32]]]:
    """Yield the pairs of arrays, cut into batches that are not empty."""
    for first, second in parts:
        for begin in range(0, len(second), BATCH):
            yield first[begin : begin + BATCH], second[begin : begin + BATCH]
