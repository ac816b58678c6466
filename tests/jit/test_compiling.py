import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from antipodes_tasks.jit import compiling


def test_long_compilation_is_reported_once_while_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "TELL_SECONDS", 0.05)
    told: list[float] = []
    watch = compiling.Watch(lambda: told.append(time.monotonic()))
    watch.begin()
    time.sleep(0.3)
    assert len(told) == 1
    watch.begin()
    watch.end()
    watch.end()
    assert len(told) == 1


def test_short_compilation_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "TELL_SECONDS", 0.05)
    told: list[bool] = []
    watch = compiling.Watch(lambda: told.append(True))
    watch.begin()
    watch.end()
    time.sleep(0.3)
    assert not told
    watch.begin()  # long after the first
    assert told


def test_compilation_of_kernels_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    watch = compiling.Watch(lambda: None)
    monkeypatch.setattr(watch, "begin", lambda: heard.append("begin"))
    monkeypatch.setattr(watch, "end", lambda: heard.append("end"))
    monkeypatch.setattr(compiling, "watch", watch)
    import numba

    numba.njit(lambda number: number + 1)(1)
    assert heard == ["begin", "end"]


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
    assert done.stderr.startswith("antipodes: compiling machine code")
