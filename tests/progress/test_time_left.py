"""The time that a run still needs, from its events in all phases."""

import pytest
from oracles import LAYERS

from antipodes.progress.time_left import ASSEMBLY_SHARE, SearchEstimate, TimeLeft
from antipodes.system.events import (
    Assembling,
    Event,
    LayerFinished,
    PartitionFinished,
    Restoring,
    SearchStarted,
    TablesBuilt,
    TilingSearchStarted,
    WorkersLost,
)

LAYERS_OF_A_SEARCH = LAYERS["sliding seed-1"]
STATES = sum(LAYERS_OF_A_SEARCH)
SECONDS = 600.0
"""What each search with given costs takes."""


def started(states: int = 1, reachable: int | None = STATES) -> SearchStarted:
    return SearchStarted("p", STATES, 0, states, states > 1, reachable=reachable, assembles=False)


def searched(times: TimeLeft, depths: range, now: float) -> float:
    """Tell of layers that take ten seconds each; the time afterwards."""
    for depth in depths:
        now += 10
        states = sum(LAYERS_OF_A_SEARCH[: depth + 1])
        times.note(LayerFinished(depth, LAYERS_OF_A_SEARCH[depth], states, 1e6), now)
    return now


@pytest.mark.parametrize("phase", [TablesBuilt, Restoring, Assembling])
def test_a_steady_phase(phase: type[TablesBuilt | Restoring | Assembling]) -> None:
    times = TimeLeft()
    times.note(phase(200, 1000), 50.0)
    assert (times.seconds_left(50.0), times.rate) == (None, None), "an earlier run may have done the first of it"
    times.note(phase(250, 1000), 50.5)
    assert times.seconds_left(50.5) is None, "that is too early to tell"
    times.note(phase(400, 1000), 52.0)
    assert times.rate == 100
    assert times.seconds_left(52.0) == 6
    assert times.seconds_left(55.0) == 3
    assert times.seconds_left(90.0) == 0
    times.note(phase(1000, 1000), 60.0)
    assert times.seconds_left(60.0) == 0


def test_a_phase_has_a_rate_of_its_own() -> None:
    times = TimeLeft()
    for event, now in ((Restoring(0, 100), 0.0), (Restoring(100, 100), 10.0), (Assembling(0, 100), 20.0)):
        times.note(event, now)
    assert (times.rate, times.seconds_left(20.0)) == (None, None)
    times.note(Assembling(50, 100), 30.0)
    assert (times.rate, times.seconds_left(30.0)) == (5, 10)


def test_a_search() -> None:
    times = TimeLeft()
    times.note(started(), 0.0)
    now = searched(times, range(1, 30), 0.0)
    assert times.seconds_left(now) == pytest.approx(10 * (len(LAYERS_OF_A_SEARCH) - 30), rel=0.3)


def test_no_time_where_the_number_of_reachable_positions_is_unknown() -> None:
    times = TimeLeft()
    times.note(started(reachable=None), 0.0)
    assert times.seconds_left(searched(times, range(1, 40), 0.0)) is None


def test_after_a_loss_of_workers_the_search_is_measured_anew() -> None:
    times = TimeLeft()
    times.note(started(), 0.0)
    now = searched(times, range(1, 30), 0.0)
    times.note(WorkersLost("one", 24, sum(LAYERS_OF_A_SEARCH[25:30])), now)
    assert times.seconds_left(now) is None
    now = searched(times, range(25, 40), now)
    assert times.seconds_left(now) == pytest.approx(10 * (len(LAYERS_OF_A_SEARCH) - 40), rel=0.3)


def test_tables_that_are_built_again_interrupt_a_search() -> None:
    times = TimeLeft()
    times.note(started(), 0.0)
    now = searched(times, range(1, 20), 0.0)
    times.note(TablesBuilt(0, 10), now)
    times.note(TablesBuilt(10, 10), now + 10)
    now = searched(times, range(20, 40), now + 10)
    assert times.seconds_left(now) == pytest.approx(10 * (len(LAYERS_OF_A_SEARCH) - 40), rel=0.3)


@pytest.mark.parametrize("event", [TilingSearchStarted("b", 8, 0, 0), PartitionFinished(1, 1, 2)])
def test_other_events_tell_no_time(event: Event) -> None:
    times = TimeLeft()
    times.note(event, 0.0)
    assert (times.seconds_left(100.0), times.rate) == (None, None)


def costs(layers: list[int], share_of_layers: float) -> list[float]:
    """Seconds of each layer after the first: a share of all is the same for each, the rest is that of its positions."""
    each, found = SECONDS * share_of_layers / (len(layers) - 1), sum(layers[1:])
    return [each + SECONDS * (1 - share_of_layers) * count / found for count in layers[1:]]


def search(
    layers: list[int], seconds: list[float], until: float, assembles: bool = False
) -> tuple[SearchEstimate, float]:
    """A search up to the layer that ends last before a time, and when it ends."""
    forecast, now, states = SearchEstimate(sum(layers), 1, assembles, 0.0, 0.0, [1]), 0.0, 1
    for count, taken in zip(layers[1:], seconds, strict=True):
        if now + taken > until:
            break
        now, states = now + taken, states + count
        forecast.layer(count, states, now)
    return forecast, now


@pytest.mark.parametrize("share_of_layers", [0.02, 0.5])
@pytest.mark.parametrize("name", LAYERS)
def test_the_time_left_comes_true(name: str, share_of_layers: float) -> None:
    seconds = costs(LAYERS[name], share_of_layers)
    for part, error in ((0.5, 0.35), (0.75, 0.25), (0.9, 0.15)):
        forecast, now = search(LAYERS[name], seconds, part * SECONDS)
        left = forecast.seconds_left(now)
        if left is not None:
            assert abs(left - (SECONDS - now)) < error * SECONDS, f"after {part:.0%}"
        else:
            assert part == 0.5, "it is known later"


def test_no_time_is_told_in_the_beginning() -> None:
    forecast, now = search(LAYERS_OF_A_SEARCH, costs(LAYERS_OF_A_SEARCH, 0.5), 0.1 * SECONDS)
    assert forecast.seconds_left(now) is None


def test_the_time_left_runs_down_within_a_layer_as_long_as_that_was_expected_to_last() -> None:
    layers = LAYERS["2x2x2 no fixed corner, quarter turns"]
    forecast, now = search(layers, costs(layers, 0.02), 0.6 * SECONDS)
    begin, later = forecast.seconds_left(now), forecast.seconds_left(now + 10)
    assert begin is not None
    assert later == pytest.approx(begin - 10)
    assert forecast.seconds_left(now + 1000) == forecast.seconds_left(now + 2000) > 0  # type: ignore[operator]


def test_assembly_follows() -> None:
    seconds = costs(LAYERS_OF_A_SEARCH, 0.5)
    forecast, now = search(LAYERS_OF_A_SEARCH, seconds, 0.9 * SECONDS)
    with_table, _ = search(LAYERS_OF_A_SEARCH, seconds, 0.9 * SECONDS, assembles=True)
    left, both = forecast.seconds_left(now), with_table.seconds_left(now)
    assert left is not None
    assert both == pytest.approx(left + ASSEMBLY_SHARE * (now + left), rel=1e-6)


def test_a_resumed_search() -> None:
    seconds = costs(LAYERS_OF_A_SEARCH, 0.5)
    forecast = SearchEstimate(STATES, sum(LAYERS_OF_A_SEARCH[:30]), False, 0.0, 0.0)
    now, states = 0.0, sum(LAYERS_OF_A_SEARCH[:30])
    for depth in range(30, 40):
        now, states = now + seconds[depth - 1], states + LAYERS_OF_A_SEARCH[depth]
        forecast.layer(LAYERS_OF_A_SEARCH[depth], states, now)
    assert forecast.seconds_left(now) == pytest.approx(sum(seconds[39:]), rel=0.4)
