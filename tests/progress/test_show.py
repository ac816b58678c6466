import io
from datetime import datetime

import pytest
from programs import Terminal

from antipodes.progress.show import describe, show_progress
from antipodes.system.events import (
    Assembling,
    CheckStarted,
    Committed,
    Event,
    JournalCorrupt,
    LayerFinished,
    PartitionFinished,
    PositionsChecked,
    Preparing,
    Restoring,
    SearchStarted,
    TablesBuilt,
)

EVENTS: list[tuple[Event, str | None]] = [
    (SearchStarted("p", 1000, 0, 1, False), "p: starting; 1,000 positions in total, reachable or not"),
    (SearchStarted("p", 1000, 7, 50, True), "p: resumes from depth 7, 50 positions known; 1,000 positions in total"),
    (LayerFinished(3, 1234, 5678, 2.5e6), "depth 3: 1,234 positions, 5,678 so far, 2.5 million/s"),
    (Committed(9), "committed up to depth 9"),
    (JournalCorrupt(("one",), 4), "one: resuming from depth 4"),
    (JournalCorrupt((), -1), "files of the journal are missing: resuming from the start"),
    (PartitionFinished(3, 1, 4), None),
    (TablesBuilt(3, 4), None),
    (Preparing("listing rows", 3, 4000), "listing rows: 3 of 4,000 parts"),
    (Restoring(1 << 20, 3 << 30), "restoring: 1,048,576 of 3,221,225,472 positions read"),
    (Assembling(500, 1000), "assembling: 500 of 1,000 positions on disk"),
    (CheckStarted("p", 1000), "p: checking 1,000 positions"),
    (PositionsChecked(500, 1000), "checking: 500 of 1,000 positions compared"),
]


@pytest.mark.parametrize(("event", "text"), EVENTS)
def test_describe(event: Event, text: str | None) -> None:
    described = describe(event)
    assert described == text if text is None else described is not None and described.startswith(text)


def test_plain_lines_without_a_terminal() -> None:
    stream = io.StringIO()
    with show_progress(quiet=False, stream=stream) as listener:
        for event, _ in EVENTS:
            listener(event)
    lines = stream.getvalue().splitlines()
    told = [text for _, text in EVENTS if text is not None]
    assert [line[len("2026-11-22 21:32:30 ") :][: len(text)] for line, text in zip(lines, told, strict=True)] == told
    for line in lines:
        datetime.fromisoformat(line[: len("2026-11-22 21:32:30")])
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("phase", [Restoring, Assembling, PositionsChecked])
def test_plain_lines_of_a_long_phase_come_now_and_then(
    phase: type[Restoring | Assembling | PositionsChecked], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("antipodes.progress.show.time.perf_counter", lambda: now[0])
    stream = io.StringIO()
    with show_progress(quiet=False, stream=stream) as listener:
        for second in range(26):
            now[0] = float(second)
            listener(phase(4 * second, 100))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 4, "at the begin and the end, and every ten seconds"
    assert lines[1].endswith("0:15 left")
    assert "left" not in lines[0] + lines[3]


def test_quiet_prints_only_corruption() -> None:
    for stream in (io.StringIO(), Terminal()):
        with show_progress(quiet=True, stream=stream) as listener:
            for event, _ in EVENTS:
                listener(event)
        lines = [line.split(" ", 2)[2] for line in stream.getvalue().splitlines()]
        assert lines == [describe(event) for event, _ in EVENTS if isinstance(event, JournalCorrupt)]


def test_the_live_line_is_erased_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with show_progress(quiet=False, stream=stream) as listener:
        for event, _ in EVENTS:
            listener(event)
    assert "\x1b[2K" in stream.getvalue(), "the line is erased"
