"""The rate of a run and the seconds that it still needs, from its events.

No time is better than a wrong one: there is none until it can be told, and none for puzzles whose number of reachable
positions is unknown.
"""

from dataclasses import dataclass, field, replace

from antipodes.events import (
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
from antipodes.tables.planning.forecast import LayerCosts, layers_to_come

STEADY_SECONDS = 1.0
"""Seconds of a phase before its time is told."""
LEAST_SECONDS, LEAST_LAYERS, LEAST_SHARE = 2.0, 3, 0.01
"""Seconds, layers, and share of positions that a search must have found before its time is told."""
MAX_RESUMED = 0.9
"""The share of positions that earlier runs may have found; with more, the search that is left says nothing of the
whole."""
ASSEMBLY_SHARE = 0.5
"""Seconds of assembly per second of a whole search; assembly is told by its own rate as soon as it has one."""


@dataclass(frozen=True)
class SteadyPhase:
    """A phase whose units all cost about the same, so that it continues at the rate it has had."""

    kind: type[Event]
    """The event that tells of it."""
    began: float
    """When it began, in seconds."""
    before: int
    """Units that were done then."""
    of: int
    """Units to be done in all."""
    done: int
    told_at: float
    """When ``done`` was last told."""

    @property
    def rate(self) -> float | None:
        """Units per second; None before there is one."""
        seconds, done = self.told_at - self.began, self.done - self.before
        return done / seconds if seconds > 0 and done > 0 else None

    def seconds_left(self, now: float) -> float | None:
        """Seconds left; None where they cannot be told yet."""
        if self.rate is None or self.told_at - self.began < STEADY_SECONDS:
            return None
        return max(0.0, (self.of - self.done) / self.rate - (now - self.told_at))


@dataclass
class Search:
    """A search for layers, and the assembly that follows it; commits count as parts of layers.

    A search is not half done when half of the positions are found: a layer costs something however small it is, and
    large layers cost more. So the layers to come are forecast, and their costs are fitted to those that were measured.
    """

    reachable: int
    before: int
    """Positions that were known when it began."""
    assembles: bool
    """Whether a table is assembled when it ends."""
    began: float
    told_at: float
    """When the last layer ended."""
    counts: list[int] = field(default_factory=list)
    """The sizes of consecutive layers."""
    costs: LayerCosts = field(default_factory=LayerCosts)
    expected: tuple[float, float] | None = None
    """Seconds of the next layer, and of all that follows; None where they cannot be told, or not yet."""

    def layer(self, count: int, states: int, now: float) -> None:
        """A layer of ``count`` positions is found, with ``states`` positions up to it."""
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
        """Seconds left; a layer that takes longer than expected is over in a moment."""
        if self.expected is None:
            return None
        layer, rest = self.expected
        return max(0.0, layer - (now - self.told_at)) + rest

    def _assembly(self, search: float) -> float:
        """The seconds of assembly; ``search`` are those of the positions that this run finds."""
        return ASSEMBLY_SHARE * search / (1 - self.before / self.reachable) if self.assembles else 0.0


class TimeLeft:
    """Follows the events of a run; all times are seconds on one clock.

    While move tables are built or the journal is replayed, the time left is that of this phase; from then on that of
    the whole run, assembly included.
    """

    def __init__(self) -> None:
        self._phase: Search | SteadyPhase | None = None
        self._started: SearchStarted | None = None
        self._states = 0

    def note(self, event: Event, now: float) -> None:
        """Note an event that happens now."""
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
                if isinstance(self._phase, Search):
                    self._phase.layer(count, states, now)
                else:  # move tables were built anew, since workers joined
                    self._search(now)
            case WorkersLost(_, _, recomputed):
                self._states -= recomputed
                self._search(now)
            case TilingSearchStarted():
                self._phase = None

    @property
    def rate(self) -> float | None:
        """Units per second of a phase other than a search; None before there is one."""
        return self._phase.rate if isinstance(self._phase, SteadyPhase) else None

    def seconds_left(self, now: float) -> float | None:
        """Seconds left; None where they cannot be told, or not yet."""
        return self._phase.seconds_left(now) if self._phase else None

    def _search(self, now: float) -> None:
        """A search starts from the positions that are known."""
        started, known = self._started, self._states
        self._phase = None
        if started is not None and started.reachable is not None:
            counts = [known] if known == 1 else []
            self._phase = Search(started.reachable, known, started.assembles, now, now, counts)


def duration(seconds: float) -> str:
    """Seconds as a person reads them, such as ``0:07`` or ``1:02:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
