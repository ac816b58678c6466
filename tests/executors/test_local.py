"""The processes of a local cluster: signals, and the folder to which they spill results."""

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import Future
from pathlib import Path

import pytest

from antipodes.executors.distributed.connection import PREFIX, _deaf_loop, scratch_folder

HOLD = """
import time
from antipodes.executors.distributed.connection import scratch_folder
with scratch_folder() as folder:
    print(folder, flush=True)
    time.sleep(60)
"""


def test_folders_of_killed_runs_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    other = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, env=environment)
    assert other.stdout is not None
    theirs = Path(other.stdout.readline().strip())
    with scratch_folder() as ours:
        assert theirs.is_dir()
        (ours / "spilled").write_text("x")
    assert not ours.exists()
    other.send_signal(signal.SIGKILL)
    other.communicate()
    assert theirs.is_dir()
    with scratch_folder() as ours:
        assert [path.name for path in tmp_path.glob(f"{PREFIX}*")] == [ours.name]


def test_processes_of_a_local_cluster_never_get_signals() -> None:
    """Not even while they load Python: a Ctrl-C then showed their tracebacks, and the run failed."""
    mine = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with _deaf_loop() as loop:
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mine
        answer: Future[str] = Future()
        read = ["grep", "SigBlk", "/proc/self/status"]
        loop.add_callback(lambda: answer.set_result(subprocess.check_output(read, text=True)))
        blocked = int(answer.result(30).split()[1], 16)
    assert all(blocked & 1 << (number - 1) for number in (signal.SIGINT, signal.SIGTERM))
