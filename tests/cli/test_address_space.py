"""A limit of the address space is named if memory runs out."""

import os
import resource
import subprocess
import sys

import pytest

from antipodes.cli.failures import status_of

LIMIT = 600 << 20


@pytest.mark.parametrize(
    "error",
    [
        ImportError("failed to map segment from shared object"),
        OSError("Could not find/load shared object file"),
        MemoryError(),
        RuntimeError("can't start new thread"),
    ],
)
def test_the_limit_is_named(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.delenv("ANTIPODES_TRACEBACK")
    assert status_of(fail) == 1
    assert "ulimit" not in capsys.readouterr().err
    monkeypatch.setattr(resource, "getrlimit", lambda which: (LIMIT, LIMIT))
    assert status_of(fail) == 1
    message = "out of memory: the address space of processes is limited to 600.0 MiB; raise it with: ulimit -v\n"
    assert capsys.readouterr().err.endswith(message)


def test_other_errors_are_not_blamed_on_the_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise RuntimeError("dictionary changed size during iteration")

    monkeypatch.delenv("ANTIPODES_TRACEBACK")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (LIMIT, LIMIT))
    assert status_of(fail) == 1
    assert "This is a bug" in capsys.readouterr().err


LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
if sys.argv[2] == "threads":
    import antipodes.cli.main
    antipodes.cli.main.main = lambda: print(os.environ["OPENBLAS_NUM_THREADS"])
if sys.argv[2] == "library":
    sys.modules["antipodes.cli.main"] = None
from antipodes.cli.program import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("what", "limit"), [("threads", 4 << 30), ("memory", 60 << 20)])
def test_libraries_load_in_one_thread_or_say_what_is_missing(what: str, limit: int) -> None:
    """OpenBLAS, which numpy loads, sometimes spins for minutes if it cannot create threads."""
    command = [sys.executable, "-c", LIMITED, str(limit), what]
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    message = "antipodes: out of memory: the address space of processes is limited; raise it with: ulimit -v\n"
    expected = (0, "1\n", "") if what == "threads" else (1, "", message)
    assert (done.returncode, done.stdout, done.stderr) == expected


def test_a_missing_library_is_not_blamed_on_the_limit() -> None:
    command = [sys.executable, "-c", LIMITED, str(4 << 30), "library"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ModuleNotFoundError" in done.stderr
    assert "ulimit" not in done.stderr
