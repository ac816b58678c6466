"""The time that a search still needs, for searches whose layers and costs are known."""

import pytest
from known_layers import LAYERS

from antipodes.tables.planning.forecast import ASSEMBLY_SHARE, LayerCosts, SearchForecast

SECONDS = 600.0
"""What each search takes."""


def costs(layers: list[int], share_of_layers: float) -> list[float]:
    """Seconds of each layer after the first: a share of all is the same for each, the rest is that of its positions."""
    each, found = SECONDS * share_of_layers / (len(layers) - 1), sum(layers[1:])
    return [each + SECONDS * (1 - share_of_layers) * count / found for count in layers[1:]]


def search(
    layers: list[int], seconds: list[float], until: float, assembles: bool = False
) -> tuple[SearchForecast, float]:
    """A search up to the layer that ends last before a time, and when it ends."""
    forecast, now, states = SearchForecast(sum(layers), 1, assembles, 0.0), 0.0, 1
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
        left = forecast.left(now)
        if left is not None:
            assert abs(left - (SECONDS - now)) < error * SECONDS, f"after {part:.0%}"
        else:
            assert part == 0.5, "it is known later"


def test_no_time_is_told_in_the_beginning() -> None:
    layers = LAYERS["sliding seed-1"]
    forecast, now = search(layers, costs(layers, 0.5), 0.1 * SECONDS)
    assert forecast.left(now) is None


def test_the_time_left_runs_down_within_a_layer() -> None:
    layers = LAYERS["2x2x2 no fixed corner, quarter turns"]
    forecast, now = search(layers, costs(layers, 0.02), 0.6 * SECONDS)
    begin, later = forecast.left(now), forecast.left(now + 10)
    assert begin is not None
    assert later == pytest.approx(begin - 10)


def test_partitions_of_a_layer_correct_its_time() -> None:
    layers = LAYERS["2x2x2 no fixed corner, quarter turns"]
    forecast, now = search(layers, costs(layers, 0.02), 0.4 * SECONDS)
    forecast.partition(0.5, now + 300)
    slow = forecast.left(now + 300)
    forecast.partition(0.9, now + 310)
    fast = forecast.left(now + 310)
    assert slow is not None
    assert fast is not None
    assert fast < slow - 50


def test_a_commit_is_no_part_of_a_layer() -> None:
    layers = LAYERS["sliding seed-1"]
    forecast, now = search(layers, costs(layers, 0.5), 0.5 * SECONDS)
    before = forecast.left(now)
    forecast.committing(now)
    assert forecast.left(now + 30) == before, "it stands still"
    forecast.committed(now + 30)
    after = forecast.left(now + 30)
    assert before is not None
    assert after == pytest.approx(before * (1 + 30 / now)), "there will be more of them"


def test_assembly_follows() -> None:
    layers = LAYERS["sliding seed-1"]
    seconds = costs(layers, 0.5)
    forecast, now = search(layers, seconds, 0.9 * SECONDS)
    with_table, _ = search(layers, seconds, 0.9 * SECONDS, assembles=True)
    left, both = forecast.left(now), with_table.left(now)
    assert left is not None
    assert both == pytest.approx(left + ASSEMBLY_SHARE * (now + left), rel=1e-6)


def test_a_resumed_search() -> None:
    layers = LAYERS["sliding seed-1"]
    seconds = costs(layers, 0.5)
    forecast = SearchForecast(sum(layers), sum(layers[:30]), False, 0.0)
    now, states = 0.0, sum(layers[:30])
    for depth in range(30, 40):
        now, states = now + seconds[depth - 1], states + layers[depth]
        forecast.layer(layers[depth], states, now)
    left = forecast.left(now)
    assert left is not None
    assert left == pytest.approx(sum(seconds[39:]), rel=0.4)


def test_layers_of_a_cluster_that_are_told_together() -> None:
    alone, together = LayerCosts(), LayerCosts()
    for count in (100, 400, 900, 1600, 2500, 3600):
        alone.add(count, 1 + count**0.5)
    for first, second in ((100, 400), (900, 1600), (2500, 3600)):
        together.add(first, 2 + first**0.5 + second**0.5)
        together.add(second, 1e-6)
    assert together.of([1e4, 1e6]) == pytest.approx(alone.of([1e4, 1e6]), rel=1e-4)
    assert alone.of([1e4, 1e6]) == pytest.approx(2 + 100 + 1000)


def test_costs_are_never_negative() -> None:
    falling, rising = LayerCosts(), LayerCosts()
    for count, seconds in ((100, 3.0), (400, 2.0), (900, 1.0)):
        falling.add(count, seconds)
        rising.add(count, 4.0 - seconds - 0.9)
    assert falling.of([1e8]) == pytest.approx(2.0)
    assert rising.of([1.0]) > 0
