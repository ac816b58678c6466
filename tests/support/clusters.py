"""Clusters of real processes, and runs of the program on them whose messages are waited for; nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil
from distributed import Client
from programs import PROGRAM

PATIENCE = 60.0
"""Seconds until a test takes it that what it waits for does not come; on a busy machine a process takes several."""
SCHEDULER = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
WORKER = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard", "--nthreads", "1"]

OTHER_VERSION = """
import importlib.metadata as metadata
version = metadata.version
metadata.version = lambda name: "0.0.1" if name == {package!r} else version(name)
"""
NO_ANTIPODES = """
import sys
sys.modules["antipodes"] = None
"""


def wait_until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """What the condition gives as soon as it is true; AssertionError with ``what`` if it takes too long."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {seconds} seconds in vain until {what}"
        time.sleep(0.02)
    return found


def python_path(folder: Path, **modules: str) -> dict[str, str]:
    """An environment in which Python finds these modules, made of their texts, before all others."""
    folder.mkdir()
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return {"PYTHONPATH": str(folder)}


def with_other(package: str, folder: Path) -> dict[str, str]:
    """An environment in which a package says that it is another version."""
    return python_path(folder, sitecustomize=OTHER_VERSION.format(package=package))


class Group:
    """A process, and all that it starts, in a group of its own."""

    def __init__(self, command: Sequence[object], log: Path, environment: Mapping[str, str], cwd: Path) -> None:
        self.log = log
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env={**os.environ, **environment},
                cwd=cwd,
                start_new_session=True,
            )

    def signal(self, number: int) -> None:
        """Send a signal to all processes of the group that are left."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """End all of it with ``kill -9``."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Freeze all of it, as a machine is that no longer answers."""
        self.signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let what was frozen go on."""
        self.signal(signal.SIGCONT)

    @property
    def nannied(self) -> psutil.Process:
        """The worker that a nanny watches over."""
        below = psutil.Process(self.process.pid).children(recursive=True)
        return next(one for one in below if "spawn_main" in " ".join(one.cmdline()))


class Cluster:
    """A scheduler and workers on this machine; a context manager that ends them all."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder / "cluster"
        self.folder.mkdir()
        self.environment = dict(environment or {})
        self.groups: list[Group] = []
        self.scheduler_file = self.folder / "scheduler.json"
        self.scheduler: Group | None = None

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for group in self.groups:
            group.kill()

    def start_scheduler(self, *options: object, prefix: Sequence[object] = ()) -> Group:
        """A scheduler at a free port unless the options name one."""
        self.scheduler_file.unlink(missing_ok=True)
        where = () if "--port" in options else ("--host", "127.0.0.1", "--port", 0)
        command = [*prefix, *SCHEDULER, *where, "--scheduler-file", self.scheduler_file, *options]
        self.scheduler = self._start("scheduler", command, {}, self.folder)
        wait_until(self._written_address, "the scheduler says where it is")
        return self.scheduler

    def add_worker(
        self,
        *options: object,
        nanny: bool = False,
        environment: Mapping[str, str] | None = None,
        prefix: Sequence[object] = (),
        cwd: Path | None = None,
    ) -> Group:
        """A worker, which joins when it is ready."""
        kind = ["--nanny" if nanny else "--no-nanny"]
        if "--memory-limit" not in options:
            kind += ["--memory-limit", "0"]
        local = ["--local-directory", self.folder / "scratch"]
        command = [*prefix, *WORKER, *kind, *local, *options, self.address]
        return self._start("worker", command, environment or {}, cwd or self.folder)

    def add_workers(self, count: int, *options: object, **more: Any) -> list[Group]:
        """So many workers, which have joined when it returns."""
        there = len(self.workers())
        added = [self.add_worker(*options, **more) for _ in range(count)]
        self.wait_for_workers(there + count)
        return added

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        return str(self._written_address())

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client of its own, to look from outside."""
        with Client(self.address, timeout="30s") as client:
            yield client

    def workers(self) -> dict[str, Any]:
        """What the scheduler knows of its workers, by their addresses."""
        with self.client() as client:
            return dict(client.scheduler_info(n_workers=-1)["workers"])

    def wait_for_workers(self, count: int) -> None:
        """Until there are so many."""
        with self.client() as client:
            wait_until(
                lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == count,
                f"there are {count} workers",
            )

    def tasks(self) -> int:
        """How many tasks the scheduler knows of."""
        with self.client() as client:
            return int(client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))

    def _start(self, name: str, command: Sequence[object], environment: Mapping[str, str], cwd: Path) -> Group:
        log = self.folder / f"{name}-{len(self.groups)}.log"
        self.groups.append(Group(command, log, {**self.environment, **environment}, cwd))
        return self.groups[-1]

    def _written_address(self) -> str | None:
        with suppress(FileNotFoundError, ValueError):
            return str(json.loads(self.scheduler_file.read_text())["address"])
        return None


class Run:
    """The program in a process of its own, whose messages are read as they come."""

    def __init__(
        self, arguments: Sequence[object], cwd: Path, environment: Mapping[str, str], prefix: Sequence[object]
    ) -> None:
        command = [str(word) for word in (*prefix, *PROGRAM, *arguments)]
        self.lines: list[str] = []
        self._out: list[str] = []
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env={**os.environ, "COLUMNS": "100", **environment},
            start_new_session=True,
        )
        self._readers = [
            threading.Thread(target=into.extend, args=(pipe,), daemon=True)
            for pipe, into in ((self.process.stdout, self._out), (self.process.stderr, self.lines))
        ]
        for reader in self._readers:
            reader.start()

    @property
    def err(self) -> str:
        """What it has said so far."""
        return "".join(self.lines)

    def wait_for(self, text: str, seconds: float = PATIENCE) -> None:
        """Until it has said this; AssertionError if it ends without."""

        def said() -> bool:
            ended = self.process.poll() is not None
            if ended:
                self._readers[1].join()
            found = text in self.err
            assert found or not ended, f"ended without {text!r}:\n{self.err}"
            return found

        try:
            wait_until(said, f"it says {text!r}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; it said:\n{self.err}") from error

    def wait_for_depth(self, depth: int) -> None:
        """Until it has settled this layer."""
        self.wait_for(f"depth {depth}:")

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def end(self, seconds: float = 2 * PATIENCE) -> tuple[int, str, str]:
        """Its exit status, and all that it printed and said."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"it does not end; it said:\n{self.err}") from error
        for reader in self._readers:
            reader.join()
        return status, "".join(self._out), self.err

    def finish(self) -> dict[str, Any]:
        """Its ``--json`` report, once it ended well."""
        status, out, err = self.end()
        assert status == 0, err
        check_no_noise(err)
        return dict(json.loads(out))

    def fail(self, status: int, *texts: str) -> str:
        """Its last line, once it ended with this status and said these in that line."""
        ended, _, err = self.end()
        assert ended == status, err
        check_no_noise(err)
        last = err.splitlines()[-1]
        assert last.startswith("antipodes: ")
        for text in texts:
            assert text in last, err
        return last

    def kill(self) -> None:
        """End it with ``kill -9``, and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def check_no_noise(err: str) -> None:
    """No line but those of the program."""
    for sign in ("Traceback", "distributed", "tornado", "asyncio", "Error:", "Warning"):
        assert sign not in err.replace("dask.distributed", ""), err
