"""Processes of the program and of dask that start in milliseconds, as forks of a server that has loaded the libraries.

Each fork is a real process with its own id, signals and memory, but imports and compilation are already done. Programs
of the tests, which are files in this folder, start in the same way. If this file is run as a program, it is the server.
Tests of startup, of memory, and of environment variables for libraries start fresh processes instead.
"""

import array
import atexit
import ctypes
import gc
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from waiting import PATIENCE

PROGRAM = [sys.executable, "-c", "from antipodes.cli.program import main; main()"]
DASK = ("distributed.cli.dask_scheduler", "distributed.cli.dask_worker")
FOLDER = Path(__file__).parent
"""The folder of programs of the tests; a command starts one by the path of its file."""
ON_HOST = ["ip", "netns", "exec"]
"""The words with which a command begins that runs on a host of its own; its name follows."""
READ_AT_IMPORT = ("PYTHON", "NUMBA_", "ZARR_", "MALLOC_", "GLIBC_", "LD_")
"""Prefixes of the environment variables that Python or a library reads only when it starts."""
ADOPT = 36
"""Linux's PR_SET_CHILD_SUBREAPER: descendants whose parent has ended become children of this process."""
LARGEST = 1 << 20
"""Maximum number of bytes of a request."""


def popen(command: Sequence[str], **options: Any) -> "subprocess.Popen[Any]":
    """Start a process like `subprocess.Popen`, but as a fork if that makes no difference."""
    return (Forked if forkable(command, options.get("env")) else subprocess.Popen)(command, **options)


def forkable(command: Sequence[str], environment: Mapping[str, str] | None) -> bool:
    """Return whether a fork of the server can replace the process that the command would start."""
    command = command[4:] if list(command[:3]) == ON_HOST else command
    known = list(command[:3]) == PROGRAM or (
        command[0] == sys.executable
        and (Path(command[1]).parent == FOLDER or (command[1] == "-m" and command[2] in DASK))
    )
    return known and sys.platform == "linux" and startup(environment or os.environ) == startup(os.environ)


def startup(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that a process reads when it starts."""
    return {name: value for name, value in environment.items() if name.startswith(READ_AT_IMPORT)}


class Forked(subprocess.Popen[Any]):
    """A process that the server forks and that then becomes a child of this process."""

    def _execute_child(self, args: Sequence[str], *details: Any) -> None:
        cwd, environment, pipes, session = details[4], details[5], details[9:15], details[-2]
        request = {
            "command": list(args),
            "cwd": str(cwd or Path.cwd()),
            "environment": dict(environment or os.environ),
            "session": bool(session),
        }
        streams = [theirs if theirs != -1 else own for own, theirs in enumerate((pipes[0], pipes[3], pipes[5]))]
        self.pid = Server.ask(request, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)


class Server:
    """The process that is forked; it starts with the first request, and ends with this process."""

    _connection: socket.socket | None = None

    @classmethod
    def ask(cls, request: dict[str, Any], streams: list[int]) -> int:
        """Fork a process with these three standard streams, and return its process id."""
        connection = cls._connection or cls._start()
        packed = array.array("i", streams).tobytes()
        connection.sendmsg([json.dumps(request).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)])
        return int(connection.recv(100))

    @classmethod
    def _start(cls) -> socket.socket:
        assert ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0) == 0
        cls._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        size = (socket.SOL_SOCKET, socket.SO_SNDBUF, LARGEST)
        cls._connection.setsockopt(*size)
        command = [sys.executable, __file__, str(theirs.fileno())]
        server = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        atexit.register(server.kill)
        return cls._connection


def load() -> None:
    """Load all modules of the program and dask, and the kernels of a search."""
    from importlib import import_module

    from antipodes.cli.main import COMMANDS, load_command
    from antipodes.executors.distributed import version_check
    from antipodes.puzzles import python_source
    from antipodes_tasks.base import jit
    from antipodes_tasks.bfs.partition import warm_up

    for commands in COMMANDS.values():
        for name in commands:
            load_command(name)
    for name in (*DASK, "antipodes.tables.run", "antipodes.tilings.run"):
        import_module(name)
    warm_up()
    # On a busy machine, workers and second processes answer late, and kernels that need no compilation load slowly.
    version_check.VERSIONS_SECONDS = 60.0
    python_source.SECOND_SECONDS = jit.REPORT_AFTER_SECONDS = PATIENCE


def serve(connection: socket.socket) -> dict[str, Any]:
    """Fork a process for each request; only the new process returns from this function, with the request."""
    while True:
        content, rights, _, _ = connection.recvmsg(LARGEST, socket.CMSG_SPACE(3 * array.array("i").itemsize))
        if not content:
            os._exit(0)
        streams = array.array("i", rights[0][2])
        reading, writing = os.pipe()
        parent = os.fork()
        if not parent:
            if os.fork():
                os._exit(0)
            become(request := json.loads(content), streams, writing)
            return request
        os.close(writing)
        os.waitpid(parent, 0)  # from now on, the new process is a child of the tests' process
        connection.send(os.read(reading, 100) or b"the process has failed to start")
        for file in (*streams, reading):
            os.close(file)


def move_to_host(name: str) -> None:
    """Continue in the network namespace of a host, as ``ip netns exec`` does."""
    with open(f"/run/netns/{name}") as host:
        assert ctypes.CDLL(None).setns(host.fileno(), 0) == 0


def become(request: dict[str, Any], streams: Sequence[int], ready: int) -> None:
    """Turn this process into the requested one; write its process id as soon as its group can be killed."""
    import dask  # the tests' process, which imports this module, loads no dask for it

    if request["session"]:
        os.setsid()
    os.chdir(request["cwd"])
    os.write(ready, str(os.getpid()).encode())
    for file, stream in enumerate(streams):
        os.dup2(stream, file)
    os.closerange(3, max(*streams, ready) + 100)
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    dask.config.refresh()
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr


def run(command: Sequence[str]) -> None:
    """Run a command, without its interpreter, as ``python`` does."""
    if list(command[:3]) == ON_HOST:
        move_to_host(command[3])
        command = command[4:]
    kind, what, *arguments = command[1:]
    if Path(kind).parent == FOLDER:  # the server's own folder, where a program finds other modules of the tests
        sys.argv = list(command[1:])
        runpy.run_path(kind, run_name="__main__")
        return
    sys.path[0], sys.argv = "", [kind, *arguments]
    sys.modules["__main__"] = main = ModuleType("__main__")
    if kind == "-c":
        exec(what, main.__dict__)
    else:
        runpy.run_module(what, run_name="__main__", alter_sys=True)


def leave(status: int) -> None:
    """End as Python does, but do not take the server's modules apart, which takes half a second of CPU time."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # Python has a message and a status for it
        sys.exit(status)
    os._exit(status)


if __name__ == "__main__":
    os.fsync = os.fstat  # type: ignore[assignment]  # as in the tests' process
    load()
    gc.freeze()  # a collection in a fork would copy all that it shares with the server
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        run(request["command"])
    except SystemExit as end:
        if isinstance(end.code, str):
            raise
        leave(int(end.code or 0))
    leave(0)
