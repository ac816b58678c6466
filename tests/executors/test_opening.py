"""Where schedulers are: scheduler files; and the processes of a local cluster, their signals and their folder."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from antipodes.executors.distributed.connection import PREFIX, _deaf_loop, scratch_folder
from antipodes.executors.opening import address_in
from antipodes_tasks.errors import InputError


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", "an empty file"),
        ("hello", "no JSON object with an address"),
        ("{}", "no JSON object with an address"),
        ("[" * 100_000, "no JSON object with an address"),
        ('{"address": 5}', "no JSON object with an address"),
        ('{"address": "ftp://x"}', "found 'ftp://x'"),
    ],
)
def test_files_that_no_scheduler_wrote_are_refused(
    content: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antipodes.executors.opening.FLUSH_SECONDS", 0.1)
    (tmp_path / "s.json").write_text(content)
    with pytest.raises(InputError, match=found):
        address_in(str(tmp_path / "s.json"), 5)


def test_paths_that_are_no_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", "/dev/zero", "a\0b"):
        with pytest.raises(InputError, match="expected a file that can be read"):
            address_in(str(path), 5)


def test_the_address_is_read_once_the_file_is_complete(tmp_path: Path) -> None:
    path, address = tmp_path / "s.json", "tcp://127.0.0.1:8786"
    path.write_text('{"addr')
    threading.Timer(0.3, path.write_text, [json.dumps({"address": address})]).start()
    assert address_in(str(path), 5) == address


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
