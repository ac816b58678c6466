"""Processes of the program and of dask that start in milliseconds: forks of one process that has loaded the libraries.

Each is a process of its own, with its own number, signals and memory; only imports and compilation were done before.
Run as a program, this file is the process that is forked. Tests of what happens while a process starts, of the memory
that it takes, and of other variables for libraries start a fresh one.
"""

import array
import atexit
import ctypes
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

PROGRAM = [sys.executable, "-c", "from antipodes.cli.program import main; main()"]
DASK = ("distributed.cli.dask_scheduler", "distributed.cli.dask_worker")
READ_AT_IMPORT = ("PYTHON", "NUMBA_", "ZARR_", "DASK_", "MALLOC_", "LD_")
"""How the names of variables start that libraries or Python read only once."""
ADOPT = 36
"""Linux's PR_SET_CHILD_SUBREAPER: processes whose parent has ended become children of this one."""
LARGEST = 1 << 20
"""Bytes of a request at most."""


def popen(command: Sequence[str], **options: Any) -> "subprocess.Popen[Any]":
    """Like `subprocess.Popen`; the program, schedulers and workers are forked where that makes no difference."""
    return (Forked if forkable(command, options.get("env")) else subprocess.Popen)(command, **options)


def forkable(command: Sequence[str], environment: Mapping[str, str] | None) -> bool:
    """Whether a fork of the server is what the command would start."""
    known = list(command[:3]) == PROGRAM or (command[0] == sys.executable and command[1] == "-m" and command[2] in DASK)
    return known and sys.platform == "linux" and startup(environment or os.environ) == startup(os.environ)


def startup(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that decide how a process starts."""
    return {name: value for name, value in environment.items() if name.startswith(READ_AT_IMPORT)}


class Forked(subprocess.Popen[Any]):
    """A process that the server forks, and that becomes a child of this process."""

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
    """The process that is copied; it starts at the first request, and ends with this process."""

    _connection: socket.socket | None = None

    @classmethod
    def ask(cls, request: dict[str, Any], streams: list[int]) -> int:
        """Have a process forked whose first three files are these; its number."""
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
    """Load what the program and dask load, and the kernels of a search."""
    from importlib import import_module

    from antipodes.cli.main import COMMANDS, load_command
    from antipodes_tasks.bfs.partition import warm_up

    for commands in COMMANDS.values():
        for name in commands:
            load_command(name)
    for name in (*DASK, "antipodes.tables.run", "antipodes.tilings.run"):
        import_module(name)
    warm_up()


def serve(connection: socket.socket) -> dict[str, Any]:
    """Fork a process for each request; returns the request only in that process."""
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
        os.waitpid(parent, 0)  # from now on the child belongs to the tests' process
        connection.send(os.read(reading, 100) or b"the process has failed to start")
        for file in (*streams, reading):
            os.close(file)


def become(request: dict[str, Any], streams: Sequence[int], ready: int) -> None:
    """Make this process one that the request describes, and write its number as soon as its group can be killed."""
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
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr


def run(command: Sequence[str]) -> None:
    """What ``python`` does with the rest of a command."""
    kind, what, *arguments = command[1:]
    sys.path[0], sys.argv = "", [kind, *arguments]
    sys.modules["__main__"] = main = ModuleType("__main__")
    if kind == "-c":
        exec(what, main.__dict__)
    else:
        runpy.run_module(what, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    os.fsync = os.fstat  # type: ignore[assignment]  # as in the tests' process
    load()
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    run(request["command"])
