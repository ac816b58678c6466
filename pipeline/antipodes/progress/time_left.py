"""The rate of a run and the estimated time left, from its events.

A missing estimate is better than a wrong one. So there is no estimate before it is reliable, nor for puzzles whose
number of reachable positions is unknown.
"""

from dataclasses import dataclass, field, replace

from antipodes.runs.forecast import LayerCosts, layers_to_come
from antipodes.system.events import (
    Assembling,
    Event,
    LayerFinished,
    PositionsChecked,
    PositionsSolved,
    Preparing,
    Restoring,
    SearchStarted,
    TablesBuilt,
    TilingSearchStarted,
    WorkersLost,
)

STEADY_SECONDS = 1.0
"""Minimum seconds of a phase before its time left is estimated."""
LEAST_SECONDS, LEAST_LAYERS, LEAST_SHARE = 2.0, 3, 0.01
"""Minimum seconds, layers and fraction of the positions before the time left of a search is estimated."""
MAX_RESUMED = 0.9
"""Maximum fraction of positions found by earlier runs; beyond it, the rest of the search is too short to estimate the
cost of a whole search."""
ASSEMBLY_SHARE = 0.5
"""Seconds of assembly per second of a whole search, used until the rate of the assembly itself is known."""


@dataclass(frozen=True)
class SteadyPhase:
    """A phase whose units all cost about the same, so that its rate is constant."""

    kind: type[Event]
    """The type of its events."""
    began: float
    """Time when the phase began, in seconds."""
    before: int
    """Number of units that were done at that time."""
    of: int
    """Total number of units."""
    done: int
    told_at: float
    """Time of the last event."""

    @property
    def rate(self) -> float | None:
        """Units per second, or None if unknown."""
        seconds, done = self.told_at - self.began, self.done - self.before
        return done / seconds if seconds > 0 and done > 0 else None

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds left, or None if they cannot be estimated yet."""
        if self.rate is None or self.told_at - self.began < STEADY_SECONDS:
            return None
        return max(0.0, (self.of - self.done) / self.rate - (now - self.told_at))


@dataclass
class SearchEstimate:
    """A search of layers and the assembly that follows it; the cost of commits is part of the layers' cost.

    A search that has found half of the positions is not half done: every layer has a fixed cost, and large layers cost
    more. Therefore the sizes of the remaining layers are forecast, and a cost model is fitted to the measured layers.
    """

    reachable: int
    before: int
    """Number of positions that were known when it began."""
    assembles: bool
    """Whether a table is assembled at the end."""
    began: float
    told_at: float
    """Time when the last layer ended."""
    counts: list[int] = field(default_factory=list)
    """Sizes of consecutive layers."""
    costs: LayerCosts = field(default_factory=LayerCosts)
    expected: tuple[float, float] | None = None
    """Estimated seconds of the next layer, and of everything after it; None if they cannot be estimated."""

    def layer(self, count: int, states: int, now: float) -> None:
        """Record a layer of ``count`` positions; ``states`` is the number of positions up to it."""
        self.costs.add(count, now - self.told_at)
        self.counts.append(count)
        self.told_at = now
        measured = now - self.began >= LEAST_SECONDS and len(self.costs.blocks) >= LEAST_LAYERS
        resumed = self.assembles and self.before > MAX_RESUMED * self.reachable
        if measured and not resumed and states >= LEAST_SHARE * self.reachable:
            sizes = layers_to_come(self.counts, states, self.reachable)
            layer, rest = self.costs.of(sizes[:1]), self.costs.of(sizes[1:])
            self.expected = layer, rest + self._assembly(now - self.began + layer + rest)

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds left; a layer that has taken longer than expected is assumed to end now."""
        if self.expected is None:
            return None
        layer, rest = self.expected
        return max(0.0, layer - (now - self.told_at)) + rest

    def _assembly(self, search: float) -> float:
        """Return the estimated seconds of assembly, given the total seconds that this run spends on searching."""
        return ASSEMBLY_SHARE * search / (1 - self.before / self.reachable) if self.assembles else 0.0


class TimeLeft:
    """Estimates the time left from the events of a run; all times are seconds on one clock.

    While move tables are built or the journal is replayed, the estimate covers only this phase. From then on, it covers
    the whole run, including assembly.
    """

    def __init__(self) -> None:
        self._phase: SearchEstimate | SteadyPhase | None = None
        self._started: SearchStarted | None = None
        self._states = 0

    def note(self, event: Event, now: float) -> None:
        """Record an event that happens now."""
        match event:
            case (
                TablesBuilt(done, of)
                | Preparing(_, done, of)
                | Restoring(done, of)
                | Assembling(done, of)
                | PositionsChecked(done, of)
                | PositionsSolved(done, of)
            ):
                phase = self._phase
                if isinstance(phase, SteadyPhase) and phase.kind is type(event) and done >= phase.done:
                    self._phase = replace(phase, of=of, done=done, told_at=now)
                else:
                    self._phase = SteadyPhase(type(event), now, done, of, done, now)
            case SearchStarted():
                self._started, self._states = event, event.states
                self._search(now)
            case LayerFinished(_, count, states):
                self._states = states
                if isinstance(self._phase, SearchEstimate):
                    self._phase.layer(count, states, now)
                else:  # workers joined, and move tables were built again
                    self._search(now)
            case WorkersLost(_, int(), recomputed):
                self._states -= recomputed
                self._search(now)
            case TilingSearchStarted():
                self._phase = None

    @property
    def rate(self) -> float | None:
        """Units per second of a phase other than a search; None if unknown."""
        return self._phase.rate if isinstance(self._phase, SteadyPhase) else None

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds left, or None if they cannot be estimated."""
        return self._phase.seconds_left(now) if self._phase else None

    def _search(self, now: float) -> None:
        """Start estimating a search that begins with the known positions."""
        started, known = self._started, self._states
        self._phase = None
        if started is not None and started.reachable is not None:
            counts = [known] if known == 1 else []
            self._phase = SearchEstimate(started.reachable, known, started.assembles, now, now, counts)


def duration(seconds: float) -> str:
    """Return seconds as text, such as ``0:07`` or ``1:02:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
