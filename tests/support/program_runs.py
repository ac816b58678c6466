"""Runs of the program in separate processes, for whose messages tests can wait."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from forks import PROGRAM, popen
from waiting import PATIENCE, wait_until


class Run:
    """The program in a separate process; its messages are read as soon as they come."""

    def __init__(
        self, arguments: Sequence[object], cwd: Path, environment: Mapping[str, str], prefix: Sequence[object]
    ) -> None:
        command = [str(word) for word in (*prefix, *PROGRAM, *arguments)]
        self.lines: list[str] = []
        self._out: list[str] = []
        self.process = popen(
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
        """The messages of the program so far."""
        return "".join(self.lines)

    def wait_for(self, text: str, seconds: float = PATIENCE, since: int = 0) -> None:
        """Return as soon as the messages contain a text; raise AssertionError if the program ends without it.

        The first ``since`` lines do not count.
        """

        def said() -> bool:
            ended = self.process.poll() is not None
            if ended:
                self._readers[1].join()
            found = text in "".join(self.lines[since:])
            assert found or not ended, f"ended without {text!r}:\n{self.err}"
            return found

        try:
            wait_until(said, f"it says {text!r}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; it said:\n{self.err}") from error

    def wait_for_depth(self, depth: int) -> None:
        """Return as soon as the run has found a layer."""
        self.wait_for(f"depth {depth}:")

    def signal(self, number: int) -> None:
        """Send the program a signal."""
        self.process.send_signal(number)

    def worker_processes(self) -> list[psutil.Process]:
        """Return the processes of the workers of a run with ``--scheduler local``."""
        below = psutil.Process(self.process.pid).children(recursive=True)
        return [one for one in below if "spawn_main" in " ".join(one.cmdline())]

    def end(self, seconds: float = 2 * PATIENCE) -> tuple[int, str, str]:
        """Wait for the end of the program; return its exit status, output and messages."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"it does not end; it said:\n{self.err}") from error
        for reader in self._readers:
            reader.join()
        return status, "".join(self._out), self.err

    def finish(self) -> dict[str, Any]:
        """Wait until the program ends with status 0, and return its ``--json`` report."""
        status, out, err = self.end()
        assert status == 0, err
        check_no_noise(err)
        return dict(json.loads(out))

    def fail(self, status: int, *texts: str) -> str:
        """Wait until the program ends with a status; return its last message, which must contain the texts."""
        ended, _, err = self.end()
        assert ended == status, err
        check_no_noise(err)
        last = err.splitlines()[-1]
        assert last.startswith("antipodes: ")
        for text in texts:
            assert text in last, err
        return last

    def kill(self) -> None:
        """Kill the program and its descendants with ``kill -9``."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def check_no_noise(err: str) -> None:
    """Raise AssertionError if a library has written a message, or if there is a traceback."""
    for sign in ("Traceback", "distributed", "tornado", "asyncio", "Error:", "Warning"):
        assert sign not in err.replace("dask.distributed", ""), err


Begin = Callable[..., Run]
"""The fixture that starts the program in a separate process."""
Same = Callable[..., None]
"""The fixture that checks that a store equals the store of a run on threads."""
EVERY_LAYER: list[object] = ["--checkpoint-every", 0]
"""Options with which a run commits each layer."""
