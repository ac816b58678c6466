"""The live line in terminals of different widths."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from antipodes.progress.live import LiveDisplay, live_line
from antipodes.progress.show import describe
from antipodes.progress.time_left import TimeLeft, duration
from antipodes.system.events import (
    Assembling,
    Committing,
    Event,
    LayerFinished,
    PartitionFinished,
    PartitionSearched,
    Preparing,
    Restoring,
    SearchStarted,
    TablesBuilt,
    TilingSearchStarted,
)

BAR = "━╸╺"
"""The characters of a bar."""
BILLIONS = 29_059_430_400
START = SearchStarted("nine-tiles-of-many-colours", BILLIONS, 41, 10, True, reachable=BILLIONS)
LAYER = LayerFinished(41, 1_234_567_890, 15_123_456_789, 123.4e6)
PHASES: dict[str, tuple[list[Event], str, str]] = {
    "layer 41": ([START, LAYER], "layer 41", "123 million/s"),
    "layer 42": ([START, LAYER, PartitionFinished(42, 17, 256)], "layer 42", "123 million/s"),
    "writing": ([START, LAYER, Committing(41)], "writing", "123 million/s"),
    "assembling": ([Assembling(0, BILLIONS), Assembling(14_000_000_000, BILLIONS)], "assembling", "million/s"),
    "restoring": ([Restoring(0, 5 << 30), Restoring(2 << 30, 5 << 30)], "restoring", "million/s"),
    "preparing": ([TablesBuilt(0, 40), TablesBuilt(30, 40)], "preparing", ""),
    "listing": ([Preparing("listing rows", 0, 40), Preparing("listing rows", 30, 40)], "listing rows", ""),
    "tilings": (
        [TilingSearchStarted("6x10", 12, 0, 0), PartitionSearched(7, 12, 1317, 24e6)],
        "7 of 12",
        "24.0 million placements/s",
    ),
}


def drawn(events: list[Event], width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The line after the events, which come ten seconds apart, an hour after the command was started."""
    left = None if isinstance(events[0], TilingSearchStarted) else 4210.2
    clock = iter(10.0 * number for number in range(100))
    monkeypatch.setattr("antipodes.progress.live.time.perf_counter", lambda: next(clock))
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=True, color_system="standard")
    line = live_line(console, elapsed=lambda: 3723.0, left=lambda: left)
    display = LiveDisplay(line, TimeLeft(), describe)
    for event in events:
        display(event)
    console.print(line.get_renderable())
    (text,) = stream.getvalue().splitlines()
    return re.sub("\x1b\\[[0-9;]*m", "", text)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("phase", PHASES)
def test_the_line_fits(phase: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    events, doing, rate = PHASES[phase]
    line = drawn(events, width, monkeypatch)
    assert len(line) <= width
    times = ("1:02:03", "1:10:11 left")
    for expected in (doing, rate, *(times if phase != "tilings" else times[:1])):
        assert expected in line
    assert sum(map(line.count, BAR)) >= 8


def test_a_wide_line_says_more(monkeypatch: pytest.MonkeyPatch) -> None:
    events, _, _ = PHASES["layer 42"]
    found, partitions = "15,123,456,789 positions", "partition  17 of 256"
    assert found in drawn(events, 100, monkeypatch)
    assert found not in drawn(events, 99, monkeypatch)
    wide = drawn(events, 160, monkeypatch)
    for expected in (found, partitions, "nine-tiles-of-many-colours"):
        assert expected in wide


def test_a_long_name_is_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    start = replace(START, name="n" * 60)
    line = drawn([start, LAYER, PartitionFinished(42, 256, 256)], 160, monkeypatch)
    assert "n" * 29 + "… layer 42 partition 256 of 256" in line


def test_the_line_does_not_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    def columns_of_bar(states: int) -> tuple[int, int]:
        line = drawn([START, LayerFinished(41, 5, states, 99.9e6)], 120, monkeypatch)
        return line.index(BAR[0]), len(line)

    assert columns_of_bar(3_000_000_000) == columns_of_bar(29_000_000_000)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.9, "0:00"), (7, "0:07"), (599.9, "9:59"), (3600, "1:00:00"), (360000, "100:00:00")]
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text
