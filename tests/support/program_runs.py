"""Runs of the program in processes of their own, whose messages tests wait for."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from forks import PROGRAM, popen
from waiting import PATIENCE, wait_until


class Run:
    """The program in a process of its own; its messages are read as they come."""

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
        """Its messages so far."""
        return "".join(self.lines)

    def wait_for(self, text: str, seconds: float = PATIENCE) -> None:
        """Return once its messages contain the text; AssertionError if it ends without."""

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
        """Return once it has settled this layer."""
        self.wait_for(f"depth {depth}:")

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def end(self, seconds: float = 2 * PATIENCE) -> tuple[int, str, str]:
        """Its exit status, its output, and its messages."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"it does not end; it said:\n{self.err}") from error
        for reader in self._readers:
            reader.join()
        return status, "".join(self._out), self.err

    def finish(self) -> dict[str, Any]:
        """Its ``--json`` report, once it ended with status 0."""
        status, out, err = self.end()
        assert status == 0, err
        check_no_noise(err)
        return dict(json.loads(out))

    def fail(self, status: int, *texts: str) -> str:
        """Its last message, which contains the texts, once it ended with this status."""
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
    """AssertionError if a library has written a message, or a traceback."""
    for sign in ("Traceback", "distributed", "tornado", "asyncio", "Error:", "Warning"):
        assert sign not in err.replace("dask.distributed", ""), err


Begin = Callable[..., Run]
"""The fixture that starts the program in a process of its own."""
Same = Callable[..., None]
"""The fixture that compares a store with that of threads."""
EVERY_LAYER: list[object] = ["--checkpoint-every", 0]
"""Options with which a run commits each layer."""
