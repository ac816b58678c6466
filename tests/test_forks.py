"""Processes that tests fork are what a fresh start makes."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from forks import FOLDER, PROGRAM, Forked, forkable, popen
from waiting import PATIENCE

ASKED = [*PROGRAM, "rank", "--permutation", "3 1 2 0"]
VARIES = re.compile(r"\d{4}-\d\d-\d\d [\d:]{8} |antipodes: compiling machine code.*\n")
"""The time, and a message that only the first process prints, if the kernels are not there yet."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
def test_a_forked_process_has_the_arguments_streams_folder_and_variables_of_a_fresh_one(tmp_path: Path) -> None:
    board = '[board]\nname = "domino"\ncells = "##"\n'
    (tmp_path / "wrong.toml").write_text(board)
    for command in (ASKED, [*PROGRAM, "tile", "wrong.toml"]):
        ended = []
        for start in (popen, subprocess.Popen):
            with start(
                command,
                cwd=tmp_path,
                env={**os.environ, "COLUMNS": "70"},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as process:
                out, err = process.communicate()
                ended.append((out, re.sub(VARIES, "", err), process.returncode))
        assert ended[0] == ended[1]
        assert ended[0][0] or ended[0][1]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
def test_a_forked_process_can_be_killed_with_its_group_as_soon_as_it_is_there() -> None:
    process = popen([*PROGRAM, "query", "none", "-"], stdin=subprocess.PIPE, start_new_session=True)
    assert isinstance(process, Forked)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait(PATIENCE) == -signal.SIGKILL


def test_other_programs_and_other_variables_for_libraries_start_afresh() -> None:
    assert not forkable([sys.executable, "-m", "antipodes"], None)
    assert not forkable(["sh", "-c", "exec", *ASKED], None)
    assert not forkable([sys.executable, __file__], None)
    assert forkable([sys.executable, f"{FOLDER}/disk_kills.py"], None)
    assert not forkable(ASKED, {**os.environ, "NUMBA_CACHE_DIR": "/elsewhere"})
