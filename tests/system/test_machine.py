import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from antipodes.system import machine
from antipodes.system.machine import MIB

AGE = (
    "import time; time.sleep(0.5); from antipodes.system.machine import process_began as b; "
    "print(time.perf_counter() - b())"
)
CHILD = "from antipodes.system.machine import peak_memory; print(peak_memory())"
LARGE_PARENT = f"""
import subprocess, sys
taken = b"x" * {400 * MIB}
print(subprocess.run([sys.executable, "-c", {CHILD!r}], capture_output=True, text=True, check=True).stdout)
"""


def test_the_memory_of_the_process_that_started_a_run_does_not_count() -> None:
    """Linux counts it in `getrusage`, since the process is a copy of its parent before it becomes this program."""
    done = subprocess.run([sys.executable, "-c", LARGE_PARENT], capture_output=True, text=True, check=True)
    assert 2 * MIB < int(done.stdout) < 300 * MIB


def test_macos_reports_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = SimpleNamespace(ru_maxrss=5 * MIB)
    monkeypatch.setattr(machine, "STATUS", Path("/no/file"))
    monkeypatch.setattr(machine, "_private", machine._PrivatePeak())
    monkeypatch.setattr(
        machine, "resource", SimpleNamespace(RUSAGE_SELF=0, RUSAGE_CHILDREN=-1, getrusage=lambda _: usage)
    )
    monkeypatch.setattr(machine, "sys", SimpleNamespace(platform="darwin"))
    assert machine.peak_memory() == 5 * MIB


def test_the_age_of_a_process_counts_from_its_creation() -> None:
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", AGE], capture_output=True, text=True, check=True)
    assert 0.5 <= float(done.stdout) <= time.perf_counter() - begin + 0.02  # Linux tells hundredths


FILE_MIB, OWN_MIB = 100, 60
MAPPED = f"""
import mmap, sys
from antipodes.system.machine import note_memory, peak_memory

def map_file():
    with open(sys.argv[1], "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    assert not any(mapped[::4096])
    return mapped

before = peak_memory()
if sys.argv[2] == "file first":
    kept = map_file()
    taken = b"x" * {OWN_MIB * MIB}
else:
    taken = b"x" * {OWN_MIB * MIB}
    del taken
    note_memory()
    kept = map_file()
print(peak_memory() - before)
"""


@pytest.mark.parametrize("order", ["file first", "memory first"])
def test_pages_of_files_do_not_count(order: str, tmp_path: Path) -> None:
    """How much of a library the system maps depends on how its file was written."""
    file = tmp_path / "library"
    file.write_bytes(bytes(FILE_MIB * MIB))
    command = [sys.executable, "-c", MAPPED, file, order]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert OWN_MIB * MIB - MIB < int(done.stdout) < (OWN_MIB + 5) * MIB
