"""Clusters of real processes, which end with their test."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import distributed
import psutil
from forks import popen
from waiting import PATIENCE, wait_until

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


def python_path(folder: Path, **modules: str) -> dict[str, str]:
    """Return an environment in which Python finds modules with these sources before all others."""
    folder.mkdir()
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return {"PYTHONPATH": str(folder)}


def with_other(package: str, folder: Path) -> dict[str, str]:
    """Return an environment in which a package reports another version."""
    return python_path(folder, sitecustomize=OTHER_VERSION.format(package=package))


class Group:
    """A process and its descendants, in a process group of their own."""

    def __init__(self, command: Sequence[object], log: Path, environment: Mapping[str, str], cwd: Path) -> None:
        self.log = log
        with log.open("wb") as file:
            self.process = popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env={**os.environ, **environment},
                cwd=cwd,
                start_new_session=True,
            )

    def signal(self, number: int) -> None:
        """Send a signal to all remaining processes of the group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """Kill the whole group with ``kill -9``."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Freeze the whole group, so that it looks like a machine that no longer answers."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen group continue."""
        self.signal(signal.SIGCONT)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Freeze the whole group for the duration of the block."""
        self.stop()
        try:
            yield
        finally:
            self.thaw()

    @property
    def nannied(self) -> psutil.Process:
        """Return the worker process of a nanny, which may have to restart it first."""

        def running() -> list[psutil.Process]:
            below = psutil.Process(self.process.pid).children(recursive=True)
            with suppress(psutil.NoSuchProcess):
                return [one for one in below if "spawn_main" in " ".join(one.cmdline())]
            return []

        found: list[psutil.Process] = wait_until(running, "the nanny has started a worker")
        return found[0]


class Client(distributed.Client):
    """dask's client, which is closed if the scheduler's first answer comes with a message to all clients.

    dask asserts that this never happens, and leaves such a client half open.
    """

    async def _ensure_connected(self, timeout: Any = None) -> None:
        try:
            await super()._ensure_connected(timeout)
        except AssertionError as error:
            raise ConnectionError("several messages") from error


def connect(address: str) -> Client:
    """Open a client, again if the scheduler sends a message to all clients at that moment."""
    for _ in range(4):
        with suppress(ConnectionError):
            return Client(address, timeout=PATIENCE, set_as_default=False)
    return Client(address, timeout=PATIENCE, set_as_default=False)


class Cluster:
    """A scheduler and workers on this machine, as a context manager that ends all of them."""

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
        """Start a scheduler, on a free port unless the options name a port."""
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
        """Start a worker, which joins when it is ready."""
        kind = ["--nanny" if nanny else "--no-nanny"]
        if "--memory-limit" not in options:
            kind += ["--memory-limit", "0"]
        local = ["--local-directory", self.folder / "scratch"]
        command = [*prefix, *WORKER, *kind, *local, *options, self.address]
        return self._start("worker", command, environment or {}, cwd or self.folder)

    def add_workers(self, count: int, *options: object, examined: bool = False, **more: Any) -> list[Group]:
        """Start ``count`` workers, and return when all of them have joined, others may leave meanwhile.

        A run asks a worker that joins for its versions; if they are to be ``examined``, return when it has answered.
        """
        with self.client() as client:
            present = workers_of(client)
            added = [self.add_worker(*options, **more) for _ in range(count)]

            def joined() -> list[str]:
                return list(workers_of(client).keys() - present.keys())

            wait_until(lambda: len(joined()) >= count, f"{count} workers have joined")
            if examined:
                # a worker does nothing else while it loads the program for its answer
                wait_until(lambda: loaded(client, joined()), "they have told their versions")
        return added

    @property
    def address(self) -> str:
        """Address of the scheduler."""
        return str(self._written_address())

    @contextmanager
    def client(self) -> Iterator[Client]:
        """Connect a client of the test, which is separate from the client of a run."""
        with connect(self.address) as client:
            yield client

    def workers(self) -> dict[str, Any]:
        """Return the scheduler's description of each worker, by address."""
        with self.client() as client:
            return workers_of(client)

    def wait_for_workers(self, count: int) -> None:
        """Return as soon as there are ``count`` workers."""
        with self.client() as client:
            wait_until(lambda: len(workers_of(client)) == count, f"there are {count} workers")

    def tasks(self) -> int:
        """Return the number of tasks that the scheduler holds."""
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


def loaded(client: Client, workers: list[str]) -> bool:
    """Whether the workers have loaded the program."""
    return all(client.run(lambda: "antipodes.executors.distributed.worker" in sys.modules, workers=workers).values())


def workers_of(client: Client) -> dict[str, Any]:
    """Return the scheduler's description of each worker, by address."""
    return dict(client.scheduler_info(n_workers=-1)["workers"])
