import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from waiting import PATIENCE, wait_until

from antipodes_tasks.base import jit


def test_the_working_clock_stands_still_while_kernels_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(jit.time, "monotonic", lambda: now[0])
    loading = jit.Stopwatch()
    monkeypatch.setattr(jit, "loading", loading)
    begin = jit.working_clock()
    with loading.running():
        now[0] += 5
        with loading.running():  # another function, perhaps in another thread
            now[0] += 2
            assert (loading.seconds, jit.working_clock()) == (7, begin)
        now[0] += 1
    now[0] += 3
    assert (loading.seconds, jit.working_clock()) == (8, begin + 3)


def test_long_compilation_is_reported_once_while_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "REPORT_AFTER_SECONDS", 0.05)
    told: list[float] = []
    reported = threading.Event()

    def tell() -> None:
        told.append(time.monotonic())
        reported.set()

    watch = jit.Watch(tell)
    watch.begin()
    assert reported.wait(PATIENCE)
    assert len(told) == 1
    watch.begin()
    watch.end()
    watch.end()
    assert len(told) == 1


def test_short_compilation_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looks = [0.0], list[Callable[[], None]]()
    monkeypatch.setattr(jit.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(jit.threading, "Timer", lambda _, look: threading.Thread(target=looks.append, args=(look,)))
    told: list[bool] = []
    watch = jit.Watch(lambda: told.append(True))
    watch.begin()
    watch.end()
    wait_until(lambda: looks, "the timer begins")
    looks[0]()
    assert not told
    now[0] += jit.REPORT_AFTER_SECONDS
    watch.begin()  # long after the first
    assert told


@pytest.mark.slow
def test_a_first_run_reports_the_compilation(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("antipodes")
    with subprocess.Popen(
        [program, "run", "eight-puzzle"],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        first = running.stderr.readline()
        running.kill()
    assert first.startswith("antipodes: ")
    assert "compiling machine code" in first


@jit.kernel
def counts(words):
    found = np.empty((len(words), 3), dtype=np.uint64)
    for n in range(len(words)):
        found[n] = jit_ones(words[n]), jit_trailing(words[n]), jit_leading(words[n])
    return found


jit_ones, jit_trailing, jit_leading = jit.popcount, jit.trailing_zeros, jit.leading_zeros


def test_instructions_on_bits() -> None:
    words = np.array([1, 2, 1 << 63, 0b1011000, (1 << 64) - 1], dtype=np.uint64)
    expected = [(word.bit_count(), (word & -word).bit_length() - 1, 64 - word.bit_length()) for word in map(int, words)]
    assert counts(words).tolist() == [list(each) for each in expected]
    in_python = [(jit.popcount(word), jit.trailing_zeros(word), jit.leading_zeros(word)) for word in words]
    assert in_python == expected


@pytest.mark.slow
def test_numba_is_imported_at_the_first_call_of_a_kernel() -> None:
    loaded = "import sys; from antipodes_tasks.bfs import bitmaps; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
