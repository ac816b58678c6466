"""The folder to which the processes of a local cluster spill results."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from antipodes.executors.distributed.local import PREFIX, scratch_folder

HOLD = """
import time
from antipodes.executors.distributed.local import scratch_folder
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
