"""The program as tests run it: in this process, or as a process of its own."""

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
    """Forget the puzzles in Python that this process loaded or was given, as another process would not know them."""
    python_source._NAMED.clear()
    python_source._GIVEN.clear()


Command = Callable[..., Outcome]
Process = Callable[..., "subprocess.Popen[str]"]


def kill_within(seconds: float, victim: "subprocess.Popen[str]", rng: random.Random) -> None:
    """Kill a process at a random time, at most N seconds after its first message; it may have ended before."""
    assert victim.stderr is not None
    victim.stderr.readline()
    time.sleep(rng.uniform(0, seconds))
    victim.kill()
    victim.communicate()
