"""How many layers are submitted together, and when a commit is due."""

import pytest

from antipodes.runs.options import RunOptions
from antipodes.tables.layers import commits as pace
from antipodes.tables.layers.commits import BLOCK_SECONDS, FIRST_BLOCK, MOST_TOGETHER, Pace


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock, to be set."""
    now = [1000.0]
    monkeypatch.setattr(pace.time, "monotonic", lambda: now[0])
    return now


def pace_of(*, every: float | None = None, shares_memory: bool = False) -> Pace:
    chosen = Pace.of(RunOptions(checkpoint_every=every), shares_memory)
    chosen.restored()
    return chosen


def test_fast_blocks_are_doubled_and_slow_ones_halved() -> None:
    chosen = pace_of()
    assert chosen.layers_together == FIRST_BLOCK
    chosen.advanced(FIRST_BLOCK, 0)
    assert chosen.layers_together == min(2 * FIRST_BLOCK, MOST_TOGETHER)
    chosen.advanced(FIRST_BLOCK, BLOCK_SECONDS)
    assert chosen.layers_together == FIRST_BLOCK // 2
    chosen.advanced(1, 10 * BLOCK_SECONDS)
    assert chosen.layers_together == 1


@pytest.mark.parametrize(("every", "shares_memory"), [(0, False), (None, True)])
def test_single_layers(every: float | None, shares_memory: bool) -> None:
    """Each is to be committed, or there is no round trip to save."""
    assert pace_of(every=every, shares_memory=shares_memory).layers_together == 1


@pytest.mark.parametrize(("every", "shares_memory", "seconds"), [(7, True, 7), (None, True, 120), (None, False, 30)])
def test_seconds_between_commits(every: float | None, shares_memory: bool, seconds: float, clock: list[float]) -> None:
    chosen = pace_of(every=every, shares_memory=shares_memory)
    clock[0] += seconds - 1
    assert not chosen.is_commit_overdue
    clock[0] += 1
    assert chosen.is_commit_overdue


@pytest.mark.parametrize(("every", "wait"), [(None, 900), (5, 5)])
def test_long_commits_are_rarer_unless_told_otherwise(every: float | None, wait: float, clock: list[float]) -> None:
    chosen = pace_of(every=every)
    chosen.committed(100)
    clock[0] += wait - 1
    assert not chosen.is_commit_overdue
    clock[0] += 1.001
    assert chosen.is_commit_overdue
