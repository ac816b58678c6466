"""Measuring whole commands: their time, and the memory that the operating system reports."""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE / "build"
ANTIPODES = (str(Path(sys.executable).with_name("antipodes")),)


@dataclass(frozen=True)
class Run:
    """One run of a command."""

    seconds: float
    """Duration from start to exit."""
    peak_bytes: int
    """Peak memory."""
    output: str
    """Everything that the command printed to stdout."""


@dataclass(frozen=True)
class Row:
    """One row of the results: the measurement, its target (or an empty string), and the result."""

    what: str
    target: str
    measured: str


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Run:
    """Run a command to its end. Raise RuntimeError if it fails."""
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


def measured(name: str) -> tuple[str, list[Row]]:
    """Return the title and the rows of a module of this package, measured in a new process.

    A command that is started by a large process counts that process's memory as its own peak.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measure, name).result()


def _measure(name: str) -> tuple[str, list[Row]]:
    module = import_module(f"benchmarks.{name}")
    return module.TITLE, module.measure()


def build(source: str) -> str:
    """Compile a C program of this folder, and return the path of the executable."""
    BUILD.mkdir(exist_ok=True)
    program = BUILD / Path(source).stem
    subprocess.run(["gcc", "-O3", "-march=native", str(HERE / source), "-o", str(program)], check=True)
    return str(program)


def median(values: Sequence[float]) -> float:
    """Return the median of the values."""
    return statistics.median(values)


def machine() -> str:
    """Return the machine and the versions of the libraries, on one line."""
    from importlib.metadata import version

    cores = len(os.sched_getaffinity(0))
    parts = [f"{name} {version(name)}" for name in ("numpy", "numba", "dask", "zarr")]
    return f"{platform.machine()}, {cores} cores, Python {platform.python_version()}, {', '.join(parts)}"
