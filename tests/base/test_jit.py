import importlib.util
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from antipodes_tasks.base import jit

SOURCE = """
from antipodes_tasks.base.jit import kernel

@kernel
def twice(number):
    return 2 * number
"""


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("cached_kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("damage", ["moved", "cut", "empty"])
def test_a_cache_that_cannot_be_read_is_replaced(damage: str, tmp_path: Path) -> None:
    source = tmp_path / "cached_kernels.py"
    source.write_text(SOURCE)
    assert imported(source).twice(4) == 8
    (index,) = (tmp_path / "__pycache__").glob("*.nbi")
    whole = index.read_bytes()
    version = pickle.dumps(pickle.loads(whole))
    moved = version + b"cno_such_module\nMoved\n."
    index.write_bytes({"moved": moved, "cut": whole[:-5], "empty": b""}[damage])
    again = imported(source)
    assert again.twice(5) == 10
    assert sum(again.twice.made.stats.cache_misses.values()) == 1
    last = imported(source)
    assert last.twice(6) == 12
    assert sum(last.twice.made.stats.cache_hits.values()) == 1


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
    watch = jit.Watch(lambda: told.append(time.monotonic()))
    watch.begin()
    time.sleep(0.3)
    assert len(told) == 1
    watch.begin()
    watch.end()
    watch.end()
    assert len(told) == 1


def test_short_compilation_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "REPORT_AFTER_SECONDS", 0.05)
    told: list[bool] = []
    watch = jit.Watch(lambda: told.append(True))
    watch.begin()
    watch.end()
    time.sleep(0.3)
    assert not told
    watch.begin()  # long after the first
    assert told


def test_compilation_of_kernels_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    watch = jit.Watch(lambda: None)
    monkeypatch.setattr(watch, "begin", lambda: heard.append("begin"))
    monkeypatch.setattr(watch, "end", lambda: heard.append("end"))
    monkeypatch.setattr(jit, "watch", watch)
    source = tmp_path / "watched_kernels.py"
    source.write_text(SOURCE)
    imported(source).twice(1)
    assert heard == ["begin", "end"]


def test_all_the_time_until_a_kernel_can_run_is_loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import of numba, and then compilation or reading the cache."""
    now = [0.0]
    monkeypatch.setattr(jit.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(jit, "loading", jit.Stopwatch())
    source = tmp_path / "slow_kernels.py"
    source.write_text(SOURCE)

    def slowly(function: Callable[..., Any], seconds: int) -> Callable[..., Any]:
        def slow(*args: Any) -> Any:
            now[0] += seconds
            return function(*args)

        return slow

    for seconds in (111, 101):  # the second one is loaded from the cache
        begin, kernel = jit.loading.seconds, imported(source).twice
        monkeypatch.setattr(kernel, "_make", slowly(jit._compiled, 100))
        monkeypatch.setattr(kernel.made._cache, "load_overload", slowly(kernel.made._cache.load_overload, 1))
        monkeypatch.setattr(kernel.made._compiler, "compile", slowly(kernel.made._compiler.compile, 10))
        assert kernel(4) == 8
        now[0] += 1000  # work
        assert kernel(5) == 10
        assert jit.loading.seconds - begin == seconds


@pytest.mark.slow
def test_a_first_run_reports_the_compilation(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("antipodes")
    done = subprocess.run(
        [program, "run", "eight-puzzle", "--json"],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.startswith("antipodes: ")
    assert "compiling machine code" in done.stderr.splitlines()[0]


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


def test_numba_is_imported_at_the_first_call_of_a_kernel() -> None:
    loaded = "import sys; from antipodes_tasks.bfs import bitmaps; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
