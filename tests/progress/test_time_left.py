"""The time that a run still needs, from its events in all phases."""

import pytest
from known_layers import LAYERS

from antipodes.events import (
    Assembling,
    Event,
    LayerSettled,
    PartitionSettled,
    Restoring,
    SearchStarted,
    TablesBuilt,
    TilingSearchStarted,
    WorkersLost,
)
from antipodes.progress.time_left import TimeLeft

LAYERS_OF_A_SEARCH = LAYERS["sliding seed-1"]
STATES = sum(LAYERS_OF_A_SEARCH)


def started(states: int = 1, reachable: int | None = STATES) -> SearchStarted:
    return SearchStarted("p", STATES, 0, states, states > 1, reachable=reachable, assembles=False)


def searched(times: TimeLeft, depths: range, now: float) -> float:
    """Tell of layers that take ten seconds each; the time afterwards."""
    for depth in depths:
        now += 10
        states = sum(LAYERS_OF_A_SEARCH[: depth + 1])
        times.told(LayerSettled(depth, LAYERS_OF_A_SEARCH[depth], states, 1e6), now)
    return now


@pytest.mark.parametrize("phase", [TablesBuilt, Restoring, Assembling])
def test_a_steady_phase(phase: type[TablesBuilt | Restoring | Assembling]) -> None:
    times = TimeLeft()
    times.told(phase(200, 1000), 50.0)
    assert (times.left(50.0), times.rate) == (None, None), "an earlier run may have done the first of it"
    times.told(phase(250, 1000), 50.5)
    assert times.left(50.5) is None, "that is too early to tell"
    times.told(phase(400, 1000), 52.0)
    assert times.rate == 100
    assert times.left(52.0) == 6
    assert times.left(55.0) == 3
    assert times.left(90.0) == 0
    times.told(phase(1000, 1000), 60.0)
    assert times.left(60.0) == 0


def test_a_phase_has_a_rate_of_its_own() -> None:
    times = TimeLeft()
    for event, now in ((Restoring(0, 100), 0.0), (Restoring(100, 100), 10.0), (Assembling(0, 100), 20.0)):
        times.told(event, now)
    assert (times.rate, times.left(20.0)) == (None, None)
    times.told(Assembling(50, 100), 30.0)
    assert (times.rate, times.left(30.0)) == (5, 10)


def test_a_search() -> None:
    times = TimeLeft()
    times.told(started(), 0.0)
    now = searched(times, range(1, 30), 0.0)
    left = times.left(now)
    assert left == pytest.approx(10 * (len(LAYERS_OF_A_SEARCH) - 30), rel=0.3)
    times.told(PartitionSettled(30, 1, 2), now + 5)
    later = times.left(now + 5)
    assert later == pytest.approx(left - 5, abs=1)


def test_no_time_where_nobody_knows_how_many_positions_can_be_reached() -> None:
    times = TimeLeft()
    times.told(started(reachable=None), 0.0)
    assert times.left(searched(times, range(1, 40), 0.0)) is None


def test_after_a_loss_of_workers_the_search_is_measured_anew() -> None:
    times = TimeLeft()
    times.told(started(), 0.0)
    now = searched(times, range(1, 30), 0.0)
    times.told(WorkersLost("one", 24, sum(LAYERS_OF_A_SEARCH[25:30])), now)
    assert times.left(now) is None
    now = searched(times, range(25, 40), now)
    assert times.left(now) == pytest.approx(10 * (len(LAYERS_OF_A_SEARCH) - 40), rel=0.3)


def test_tables_that_are_built_again_interrupt_a_search() -> None:
    times = TimeLeft()
    times.told(started(), 0.0)
    now = searched(times, range(1, 20), 0.0)
    times.told(TablesBuilt(0, 10), now)
    times.told(TablesBuilt(10, 10), now + 10)
    now = searched(times, range(20, 40), now + 10)
    assert times.left(now) == pytest.approx(10 * (len(LAYERS_OF_A_SEARCH) - 40), rel=0.3)


@pytest.mark.parametrize("event", [TilingSearchStarted("b", 8, 0, 0), PartitionSettled(1, 1, 2)])
def test_other_events_tell_no_time(event: Event) -> None:
    times = TimeLeft()
    times.told(event, 0.0)
    assert (times.left(100.0), times.rate) == (None, None)
