"""The program, as tests run it in this process or in a separate process."""

import io
import random
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from antipodes.puzzles import python_source


@dataclass
class Outcome:
    status: int
    out: str
    err: str


def forget_puzzles() -> None:
    """Forget the Python puzzles that this process has loaded or was given, as if it were another process."""
    python_source._NAMED.clear()
    python_source._GIVEN.clear()


Command = Callable[..., Outcome]
Process = Callable[..., "subprocess.Popen[str]"]


def first_message(running: "subprocess.Popen[str]") -> str:
    """Return the first line on stderr; lines about compilation, which depend on the cache of kernels, are skipped."""
    assert running.stderr is not None
    return next((line for line in running.stderr if "compiling machine code" not in line), "")


def kill_within(seconds: float, victim: "subprocess.Popen[str]", rng: random.Random) -> None:
    """Kill a process, which may have ended already, at a random time within ``seconds`` after its first message."""
    first_message(victim)
    time.sleep(rng.uniform(0, seconds))
    victim.kill()
    victim.communicate()


class Terminal(io.StringIO):
    """A stream that records its output, and claims to be a terminal."""

    def isatty(self) -> bool:
        return True
