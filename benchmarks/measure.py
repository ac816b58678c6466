"""Whole commands, measured as the operating system accounts for them."""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE / "build"
ANTIPODES = (str(Path(sys.executable).with_name("antipodes")),)


@dataclass(frozen=True)
class Run:
    """One run of a command."""

    seconds: float
    """From start to exit."""
    peak_bytes: int
    """The most memory that it took."""
    output: str
    """What it printed on stdout."""


@dataclass(frozen=True)
class Row:
    """One line of the results."""

    what: str
    target: str
    measured: str


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Run:
    """Run a command to its end; RuntimeError if it fails."""
    with tempfile.TemporaryFile("w+") as output:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.DEVNULL, env={**os.environ, **(environment or {})}
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} exited with {process.returncode}")
        output.seek(0)
        return Run(seconds, usage.ru_maxrss * 1024, output.read())


def build(source: str) -> str:
    """Compile a C program of this folder; the path of what came out."""
    BUILD.mkdir(exist_ok=True)
    program = BUILD / Path(source).stem
    subprocess.run(["gcc", "-O3", "-march=native", str(HERE / source), "-o", str(program)], check=True)
    return str(program)


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def machine() -> str:
    """The machine and the versions, on one line."""
    from importlib.metadata import version

    cores = len(os.sched_getaffinity(0))
    parts = [f"{name} {version(name)}" for name in ("numpy", "numba", "dask", "zarr")]
    return f"{platform.machine()}, {cores} cores, Python {platform.python_version()}, {', '.join(parts)}"
