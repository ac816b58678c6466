import io

import pytest

from antipodes.cli.progress import describe, show_progress
from antipodes.events import Committed, Event, LayerSettled, PartitionSettled, SearchStarted, Widened, silence

EVENTS: list[tuple[Event, str | None]] = [
    (SearchStarted("p", 1000, 0, 1, False), "p: begins; 1,000 positions in all, reachable or not"),
    (
        SearchStarted("p", 1000, 0, 1, False, holds_depths=False),
        "p: begins; 1,000 positions in all, reachable or not; depths exceed the memory limit: each layer is written",
    ),
    (SearchStarted("p", 1000, 7, 50, True), "p: resumes from depth 7, 50 positions known; 1,000 positions in all"),
    (LayerSettled(3, 1234, 5678, 2.5e6), "depth 3: 1,234 positions, 5,678 so far, 2.5 million/s"),
    (Committed(9), "committed up to depth 9"),
    (Widened(254), "depths beyond 254 take 16 bits"),
    (PartitionSettled(3, 1, 4), None),
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("event", "text"), EVENTS)
def test_describe(event: Event, text: str | None) -> None:
    described = describe(event)
    assert described == text if text is None else described is not None and described.startswith(text)


def test_plain_lines_without_a_terminal() -> None:
    stream = io.StringIO()
    with show_progress(quiet=False, stream=stream) as listener:
        for event, _ in EVENTS:
            listener(event)
    assert len(stream.getvalue().splitlines()) == sum(text is not None for _, text in EVENTS)
    assert "\x1b" not in stream.getvalue()


def test_quiet() -> None:
    for stream in (io.StringIO(), Terminal()):
        with show_progress(quiet=True, stream=stream) as listener:
            assert listener is silence
        assert stream.getvalue() == ""


def test_the_live_line_is_erased_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("antipodes.cli.progress.REDRAW_SECONDS", 0)
    stream = Terminal()
    with show_progress(quiet=False, stream=stream) as listener:
        for event, _ in EVENTS:
            listener(event)
    assert "\x1b[2K" in stream.getvalue(), "the line is erased"
