"""`solve` while it runs: progress and interruptions."""

import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command, Process
from stores import toml

from antipodes.cli.commands.solve import SearchProgress
from antipodes_tasks.searches.progress import Progress

FARTHEST = "8 6 7 / 2 5 4 / 3 0 1"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_search_with_one_line(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    ignored_where_tests_run_in_the_background = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr("antipodes.tables.solve.load_kernels", lambda *_, **__: signal.raise_signal(number))
    assert "stopped after 0." in refused("solve", "eight-puzzle", FARTHEST, status=75)
    assert signal.getsignal(signal.SIGTERM) == before
    signal.signal(signal.SIGINT, ignored_where_tests_run_in_the_background)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bfs", "bidirectional", "iddfs", "ida-star"])
def test_a_signal_interrupts_machine_code_within_seconds(process: Process, tmp_path: Path, method: str) -> None:
    tiles = " ".join(map(str, [*range(1, 16), 0]))
    puzzle = {"name": "fifteen", "family": "sliding", "rows": 4, "columns": 4, "start": tiles}
    (tmp_path / "fifteen.toml").write_text(toml(puzzle), encoding="utf-8")
    position = "15 14 13 12 11 10 9 8 7 6 5 4 3 1 2 0"  # far away
    running = process("solve", "fifteen.toml", position, "--method", method)
    assert running.stderr is not None
    assert re.match(rf"{method}: no path of fewer than \d+ moves so far, .* million/s", running.stderr.readline())
    running.send_signal(signal.SIGTERM)
    begin = time.perf_counter()
    output, errors = running.communicate(timeout=30)
    assert time.perf_counter() - begin < 2
    assert (running.returncode, output) == (75, "")
    assert re.match(r"antipodes: stopped after \d+\.\d s: no path of fewer than \d+ moves; nothing was saved", errors)
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize("method", ["bfs", "bidirectional", "iddfs", "ida-star"])
def test_a_search_shows_its_progress(cli: Command, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr("antipodes.cli.commands.solve.FIRST", 0)
    monkeypatch.setattr("antipodes.cli.commands.solve.REPEATED", 0)
    loud = cli("solve", "eight-puzzle", FARTHEST, "--method", method)
    assert loud.status == 0
    assert re.search(rf"{method}: no path of fewer than \d+ moves so far, [\d,]+ positions expanded", loud.err)
    quiet = cli("solve", "eight-puzzle", FARTHEST, "--method", method, "--quiet")
    assert (quiet.status, quiet.err) == (0, "")


def test_an_interrupted_search_says_what_is_ruled_out(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(progress: SearchProgress, latest: Progress) -> None:
        if (latest.least or 0) > 12:
            progress._last = latest
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(SearchProgress, "__call__", stop)
    arguments = ("solve", "eight-puzzle", FARTHEST, "--method", "bfs")
    assert "s: no path of fewer than 13 moves; nothing was saved" in refused(*arguments, status=75)
