import subprocess
import sys
import time

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
    assert 5 * MIB < int(done.stdout) < 300 * MIB


def test_the_age_of_a_process_counts_from_its_creation() -> None:
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", AGE], capture_output=True, text=True, check=True)
    assert 0.5 <= float(done.stdout) <= time.perf_counter() - begin + 0.02  # Linux tells hundredths
