"""The cost of a network, which a plan estimates, compared with moves that are followed one by one."""

import numpy as np
import pytest
from every_kind import FAST, NUMBERED, config_of, options_of, slow_unless_in

from antipodes.puzzles.config import load_config
from antipodes.tables.planning.network import network_cost, network_rate, sent_rows
from antipodes.tables.planning.plan import plan_cut, plan_run
from antipodes_tasks.base.errors import InputError


@pytest.mark.parametrize("name", slow_unless_in(FAST, NUMBERED))
def test_no_more_rows_are_sent(name: str) -> None:
    space, _ = plan_cut(config_of(name).puzzle, options_of(name).symmetry)
    target = space.filler.filled().target
    for workers in (1, 2, 3, 7):
        ends = np.arange(1, workers + 1) * space.rows // workers
        owner = np.searchsorted(ends, np.arange(space.rows), "right")
        sent = {
            (row, int(owner[to]))
            for row, moves in enumerate(target.tolist())
            for to in moves
            if to >= 0 and owner[to] != owner[row]
        }
        assert len(sent) <= sent_rows(space, workers)


@pytest.mark.parametrize(("workers", "copies"), [(1, 0), (2, 0.5), (4, 1.5), (8, 2)])
def test_rows_of_seven_tiles(workers: int, copies: float) -> None:
    """In runs, 480, 1,438 and 1,920 MB of bits were sent with 2, 4 and 8 workers."""
    space, _ = plan_cut(load_config("seven-tiles").puzzle)
    assert sent_rows(space, workers) == copies * space.rows


def test_the_cost_of_seven_tiles() -> None:
    """Fewer workers are useful on a slower network, because they get most rows of all others."""
    plan = plan_run(load_config("seven-tiles").puzzle, 8, processes=8)
    fast, slow = (network_cost(plan, 8, 1, 10.0, rate) for rate in (1e12, 1e6))
    assert fast is not None
    assert slow is not None
    assert fast.sent_bytes == slow.sent_bytes == pytest.approx(1.1 * 2 * plan.space.size, rel=1e-6)
    assert slow.seconds == pytest.approx(slow.sent_bytes / 8 / 1e6)
    assert (slow.useful_workers, fast.useful_workers) == (1, 31)


@pytest.mark.parametrize(("text", "rate"), [("10Gbit", 1.25e9), ("1.5 Mbit/s", 187_500), ("1kbit", 125)])
def test_rates(text: str, rate: float) -> None:
    assert network_rate(text, "--network") == rate


@pytest.mark.parametrize(
    "text", ["", "10", "10G", "0Gbit", "1e3Gbit", "-1Gbit", "nan", "\u0663Gbit", "9" * 50 + "Gbit"]
)
def test_no_rates(text: str) -> None:
    with pytest.raises(InputError, match="--network: expected a rate such as 1Gbit"):
        network_rate(text, "--network")
