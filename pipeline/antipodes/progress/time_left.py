"""The rate of a run and the seconds that it still needs, from its events.

No time is better than a wrong one: there is none until it can be told, and none for puzzles of which nobody knows how
many positions can be reached.
"""

from dataclasses import dataclass, replace

from antipodes.events import (
    Assembling,
    Committed,
    Committing,
    Event,
    LayerSettled,
    PartitionSettled,
    PositionsChecked,
    Restoring,
    SearchStarted,
    TablesBuilt,
    TilingSearchStarted,
    WorkersLost,
)
from antipodes.tables.planning.forecast import SearchForecast

STEADY_SECONDS = 1.0
"""Seconds of a phase before its time is told."""


@dataclass
class SteadyPhase:
    """A phase whose units all cost about the same, so that it continues at the rate it has had."""

    began: float
    """When it began, in seconds."""
    before: int
    """Units that were done then."""
    of: int
    """Units to be done in all."""
    done: int
    told_at: float
    """When so many units were ``done``."""

    @property
    def rate(self) -> float | None:
        """Units per second; None before there is one."""
        seconds, done = self.told_at - self.began, self.done - self.before
        return done / seconds if seconds > 0 and done > 0 else None

    def left(self, now: float) -> float | None:
        """Seconds left; None where they cannot be told yet."""
        if self.rate is None or self.told_at - self.began < STEADY_SECONDS:
            return None
        return max(0.0, (self.of - self.done) / self.rate - (now - self.told_at))


class TimeLeft:
    """Follows the events of a run; all times are seconds on one clock.

    While move tables are built or the journal is replayed, the time left is that of this phase; from then on that of
    the whole run, assembly included.
    """

    def __init__(self) -> None:
        self._phase: SearchForecast | SteadyPhase | None = None
        self._kind: type[Event] | None = None
        """The event that tells of the steady phase."""
        self._search: SearchStarted | None = None
        self._states = 0

    def told(self, event: Event, now: float) -> None:
        """Note an event that happens now."""
        match event:
            case TablesBuilt(done, of) | Restoring(done, of) | Assembling(done, of) | PositionsChecked(done, of):
                self._advance(type(event), done, of, now)
            case SearchStarted():
                self._search, self._states = event, event.states
                self._start(now)
            case LayerSettled(_, count, states):
                self._states = states
                if isinstance(self._phase, SearchForecast):
                    self._phase.layer(count, states, now)
                else:  # move tables were built anew, since workers joined
                    self._start(now)
            case WorkersLost(_, _, recomputed):
                self._states -= recomputed
                self._start(now)
            case TilingSearchStarted():
                self._phase = None
            case _ if isinstance(self._phase, SearchForecast):
                _note(self._phase, event, now)

    @property
    def rate(self) -> float | None:
        """Units per second of a phase other than a search; None before there is one."""
        return self._phase.rate if isinstance(self._phase, SteadyPhase) else None

    def left(self, now: float) -> float | None:
        """Seconds left; None where they cannot be told, or not yet."""
        return self._phase.left(now) if self._phase else None

    def _start(self, now: float) -> None:
        """A search starts from the positions that are known."""
        started = self._search
        if started is None or started.reachable is None:
            self._phase = None
        else:
            self._phase = SearchForecast(started.reachable, self._states, started.assembles, now)

    def _advance(self, kind: type[Event], done: int, of: int, now: float) -> None:
        if isinstance(self._phase, SteadyPhase) and self._kind is kind and done >= self._phase.done:
            self._phase = replace(self._phase, of=of, done=done, told_at=now)
        else:
            self._phase, self._kind = SteadyPhase(now, done, of, done, now), kind


def _note(search: SearchForecast, event: Event, now: float) -> None:
    """Pass an event on to a search."""
    match event:
        case PartitionSettled(_, settled, partitions):
            search.partition(settled / partitions, now)
        case Committing():
            search.committing(now)
        case Committed():
            search.committed(now)
