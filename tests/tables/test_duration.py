"""The estimate of a run's time."""

import math
import time
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from oracles import LAYERS

from antipodes.puzzles.config import Config, load_config
from antipodes.runs.forecast import LayerCosts, layers_to_come
from antipodes.system.machine import GIB
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.search import duration
from antipodes.tables.strategies.commitment import CHECKPOINTS
from antipodes_tasks import move_tables
from antipodes_tasks.base.jit import Lazy
from antipodes_tasks.bfs.bitmaps import expand, pull

HANOI = Config({"name": "many layers", "family": "hanoi", "pegs": 3, "discs": 9})


@pytest.mark.parametrize("config", [HANOI, load_config("m12")], ids=["hanoi", "m12"])
def test_estimates(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duration, "FILL_SECONDS", 0.01)
    for limit in ("TRIAL_SECONDS", "LONGEST_LAYER", "TRIAL_TABLES"):  # so that a busy machine finishes the trial
        monkeypatch.setattr(duration, limit, math.inf)
    # a moment in which the machine stands still would be extrapolated
    monkeypatch.setattr(duration, "time", SimpleNamespace(perf_counter=time.process_time))
    puzzle = config.puzzle
    with_table = duration.estimate_duration(plan_run(puzzle, 2, GIB), 2, tmp_path / "no" / "such", start=0.5)
    counts = duration.estimate_duration(plan_run(puzzle, 2, GIB, commitment=CHECKPOINTS), 2, tmp_path)
    assert min(with_table.start, with_table.tables, with_table.search, with_table.write) > 0
    assert counts.write == 0
    assert with_table.known
    assert with_table.seconds < 1000
    assert not list(tmp_path.iterdir()), "nothing stays on the disk"


@pytest.mark.parametrize("bits", [0, 15], ids=["maps of 32 bits", "maps of 16 bits"])
def test_the_kernels_are_loaded_before_the_trial_is_timed(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling them for a first plan took seconds, from which a search of days was predicted."""
    layers_tried, watches = duration._layers_tried, list[list[int]]()

    def compiled() -> list[int]:
        return [len(cast(Lazy[..., object], kernel).made.signatures) for kernel in (expand, pull)]

    def watched(*arguments: Any) -> tuple[list[int], list[float], bool]:
        watches.append(compiled())
        tried = layers_tried(*arguments)
        assert compiled() == watches[-1]
        return tried

    monkeypatch.setattr(move_tables, "INDICES_OF_INT16", 1 << bits)
    monkeypatch.setattr(duration, "_layers_tried", watched)
    monkeypatch.setattr(duration, "TRIAL_TABLES", math.inf)
    duration.estimate_duration(plan_run(load_config("eight-puzzle").puzzle, 1), 1, None)
    assert len(watches) == 1


def test_a_trial_that_ends_counts_all_layers_and_more_workers_than_processors_share_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = plan_run(load_config("three-colours").puzzle, 8)
    monkeypatch.setattr(duration, "TRIAL_SECONDS", math.inf)
    monkeypatch.setattr(duration, "available_workers", lambda: 1)
    searched: list[duration._Search] = []
    search = duration._search_seconds

    def once(*arguments: Any) -> duration._Search:
        searched.append(search(*arguments))
        return searched[-1]

    monkeypatch.setattr(duration, "_search_seconds", once)
    estimated = duration.estimate_duration(plan, 8, None)
    assert searched[0].states == 12_108_096
    assert estimated.search == pytest.approx(searched[0].seconds / 8)


def test_a_trial_stops_as_soon_as_the_remaining_layers_can_be_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_run(load_config("three-colours").puzzle, 1)
    monkeypatch.setattr(duration, "TRIAL_SECONDS", math.inf)
    monkeypatch.setattr(duration, "LONGEST_LAYER", math.inf)
    monkeypatch.setattr(duration, "ENOUGH_SECONDS", 0.0)
    tried: list[tuple[list[int], list[float], bool]] = []
    layers_tried = duration._layers_tried

    def once(*arguments: Any) -> tuple[list[int], list[float], bool]:
        tried.append(layers_tried(*arguments))
        return tried[-1]

    monkeypatch.setattr(duration, "_layers_tried", once)
    assert duration.estimate_duration(plan, 1, None).known
    (counts, _, ended) = tried[0]
    assert not ended
    assert sum(counts) >= duration.LEAST_SHARE * 12_108_096 > sum(counts[:-1])


@pytest.mark.parametrize("limit", ["available_memory", "TRIAL_BYTES", "TRIAL_TABLES", "LONGEST_LAYER"])
def test_without_a_trial_a_typical_rate_gives_a_range(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duration, limit, (lambda: 0) if limit == "available_memory" else 0.0)
    estimated = duration.estimate_duration(plan_run(load_config("three-colours").puzzle, 2), 2, None)
    assert not estimated.known
    assert estimated.search > 0
    assert estimated.longer > 0
    assert estimated.write > 0


@pytest.mark.parametrize("name", LAYERS)
def test_the_number_of_layers_to_come(name: str) -> None:
    layers, reachable = LAYERS[name], sum(LAYERS[name])
    for depth, found in enumerate(accumulate(layers)):
        if 0.01 * reachable <= found <= 0.95 * reachable:
            expected, left = layers_to_come(layers[: depth + 1], found, reachable), len(layers) - 1 - depth
            assert math.isclose(sum(expected), reachable - found)
            assert abs(len(expected) - left) <= 3 + 0.2 * left, f"after depth {depth}"


def test_a_resumed_search_knows_only_its_own_layers() -> None:
    layers, reachable = LAYERS["sliding seed-1"], sum(LAYERS["sliding seed-1"])
    expected = layers_to_come(layers[28:32], sum(layers[:32]), reachable)
    assert abs(len(expected) - (len(layers) - 32)) <= 6


def test_nothing_is_to_come_when_all_positions_are_found() -> None:
    assert layers_to_come([1, 2, 3], 6, 6) == []


def test_layers_that_no_curve_fits_still_add_up() -> None:
    assert layers_to_come([1000, 10, 1], 1011, 1012) == [1.0]


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
