"""The progress of a search for tilings, as it is printed."""

import pytest
from terminal import Terminal

from antipodes.events import PartitionsCommitted, PartitionSearched, TilingSearchStarted
from antipodes.progress.event_lines import describe
from antipodes.progress.show import show_progress


def test_lines() -> None:
    assert describe(TilingSearchStarted("6x10", 8, 0, 0)) == "6x10: 8 partitions; begins"
    assert (
        describe(TilingSearchStarted("6x10", 8, 3, 875))
        == "6x10: 8 partitions; resumes, 3 of them searched, 875 tilings known"
    )
    searched = PartitionSearched(4, 8, 1317, 24_000_000.0)
    assert describe(searched) == "partition 4 of 8: 1,317 tilings so far, 24.0 million placements/s"
    assert describe(PartitionsCommitted(8, 8)) == "committed 8 of 8 partitions"


def test_a_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    terminal = Terminal()
    with show_progress(False, terminal) as listener:
        listener(TilingSearchStarted("6x10", 8, 3, 875))
        listener(PartitionSearched(4, 8, 1317, 24_000_000.0))
        listener(PartitionsCommitted(4, 8))
    shown = terminal.getvalue()
    for expected in ("6x10", "4 of 8 partitions", "1,317 tilings 24.0 million placements/s"):
        assert expected in shown
