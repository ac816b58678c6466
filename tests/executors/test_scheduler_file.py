"""Scheduler files that are complete, incomplete, or something else."""

import json
import os
import threading
from pathlib import Path

import pytest

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
