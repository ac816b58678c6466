"""Ctrl-C while a Python program waits for a run: it commits, and says how to go on."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import antipodes as ap
from antipodes.runs.interruption import Interruption
from antipodes.storage.retry import watch
from antipodes.system.events import Assembling, Event, LayerFinished, PartitionSearched
from antipodes_tasks.base.errors import InputError


def press(times: int = 1) -> None:
    """Press Ctrl-C; the signal arrives before this returns."""
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGINT)


def at_depth(depth: int, times: int = 1) -> Callable[[Event], None]:
    """A listener that presses Ctrl-C when a depth is settled."""

    def listener(event: Event) -> None:
        if isinstance(event, LayerFinished) and event.depth == depth:
            press(times)

    return listener


def test_a_run_commits_and_says_how_to_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "t.zarr"
    with pytest.raises(KeyboardInterrupt) as stopped:
        ap.run("eight-puzzle", store, progress=at_depth(9))
    assert str(stopped.value) == f"interrupted: depths 0 to 9 are kept in {store}; the same call resumes"
    assert "committing what was found; interrupt again" in capsys.readouterr().err
    with ap.open_table(store) as table:
        assert (table.radius, table.complete) == (9, False)
    assert ap.run("eight-puzzle", store).resumed_from == 9


def test_a_run_that_overwrites_is_not_to_start_over(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match="the same call without overwrite resumes"):
        ap.run("eight-puzzle", tmp_path / "t.zarr", progress=at_depth(9), overwrite=True)


def test_a_second_one_stops_immediately(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match="stopped immediately"):
        ap.run("eight-puzzle", tmp_path / "t.zarr", progress=at_depth(9, times=2))
    assert not watch.ending
    assert ap.run("eight-puzzle", tmp_path / "t.zarr").complete


def test_a_run_that_was_complete_all_the_same(tmp_path: Path) -> None:
    def listener(event: Event) -> None:
        if isinstance(event, Assembling) and event.done == event.of:
            press()

    assert ap.run("eight-puzzle", tmp_path / "t.zarr", progress=listener).complete


def test_tilings(tmp_path: Path) -> None:
    def listener(event: Any) -> None:
        if isinstance(event, PartitionSearched):
            press()

    with pytest.raises(KeyboardInterrupt, match=r"interrupted: \d of 7 partitions are kept in"):
        ap.tile("6x10", tmp_path / "t.zarr", workers=1, progress=listener)
    assert ap.tile("6x10", tmp_path / "t.zarr").tilings == 2339


def test_who_asks_to_stop_gets_a_report(tmp_path: Path) -> None:
    assert not ap.run("eight-puzzle", tmp_path / "t.zarr", interrupted=lambda: True).complete


def test_the_handler_of_a_program_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        with Interruption(lambda: False) as interruption:
            press()
            assert not interruption.requested()
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed == [signal.SIGINT]


def test_python_s_own_handler_is_put_back() -> None:
    with Interruption(lambda: False) as interruption:
        press()
        assert interruption.requested()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(InputError, match="interrupted"):
        Interruption(5)  # type: ignore[arg-type]
