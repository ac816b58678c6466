"""The progress of a search for tilings, as it is printed."""

import io

import pytest
from programs import Terminal

from antipodes.progress import show
from antipodes.progress.show import describe, show_progress
from antipodes.system.events import PartitionsCommitted, PartitionSearched, PartitionsInProgress, TilingSearchStarted

UNDER_WAY = PartitionsInProgress(4, 8, 2, 80_000_000, 1500, 1317, 24_000_000.0)


def test_lines() -> None:
    assert describe(TilingSearchStarted("6x10", 8, 0, 0)) == "6x10: 8 partitions; starting"
    assert (
        describe(TilingSearchStarted("6x10", 8, 3, 875))
        == "6x10: 8 partitions; resumes, 3 of them searched, 875 tilings known"
    )
    searched = PartitionSearched(4, 8, 1317, 24_000_000.0)
    assert describe(searched) == "partition 4 of 8: 1,317 tilings so far, 24.0 million placements/s"
    assert describe(UNDER_WAY) == (
        "4 of 8 partitions searched: 1,317 tilings, and 1,500 found in partitions under way; "
        "80,000,000 placements, 24.0 million/s"
    )
    assert describe(PartitionsCommitted(8, 8)) == "committed 8 of 8 partitions"


def test_a_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    terminal = Terminal()
    with show_progress(False, terminal) as listener:
        listener(TilingSearchStarted("6x10", 8, 3, 875))
        listener(PartitionSearched(4, 8, 1317, 24_000_000.0))
        listener(UNDER_WAY)
        listener(PartitionsCommitted(4, 8))
    shown = terminal.getvalue()
    for expected in ("6x10", "4 of 8 partitions", "1,317 tilings, 1,500 under way 24.0 million placements/s"):
        assert expected in shown


def test_a_line_of_the_partitions_under_way_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 5.0, 11.0, 11.0, 15.0])
    monkeypatch.setattr(show.time, "perf_counter", lambda: next(clock))
    terminal = io.StringIO()
    lines = show.PlainLines(terminal)
    for _ in range(3):
        lines(UNDER_WAY)
    (line,) = terminal.getvalue().splitlines()  # of three events
    assert line.endswith(describe(UNDER_WAY))
