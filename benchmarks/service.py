"""The service on a table of half a billion positions: 20 clients walk about, and each move asks for the next view."""

import asyncio
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from benchmarks.measure import ANTIPODES, Row, run

TITLE = "The service"
PUZZLE = "seven-tiles"
CLIENTS, MOVES, ROUNDS = 20, 100, 5
"""Clients at a time, the moves of each in a round, and the rounds, after each of which the memory is read."""
PAUSE = 0.5
"""Seconds, on average, that a person looks at a position before the next move."""


@dataclass(frozen=True)
class Server:
    """The program, which serves."""

    process: "subprocess.Popen[str]"
    address: str
    """Host and port."""

    @property
    def busy(self) -> float:
        """Seconds of processors that it has used."""
        times = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> int:
        """Bytes of memory that it has now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def measure() -> list[Row]:
    """All figures; the table takes some 400 MB of disk meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/{PUZZLE}.zarr"
        run([*ANTIPODES, "run", PUZZLE, "--store", store, "--quiet"])
        with _serving(store) as server:
            _walks(server, clients=1, pause=0)  # reads the chunks, compiles, loads
            alone = _walks(server, clients=1, pause=0)
            paused = _walks(server, CLIENTS, PAUSE)
            busy = server.busy
            rounds = [(_walks(server, CLIENTS, pause=0), server.memory) for _ in range(ROUNDS)]
            busy = (server.busy - busy) / (ROUNDS * CLIENTS * MOVES)
    at_once = [seconds for walked, _ in rounds for seconds in walked]
    before, after = rounds[0][1], rounds[-1][1]
    asked = (ROUNDS - 1) * CLIENTS * MOVES
    return [
        _row("a client alone", "50 ms", "", alone),
        _row(f"{CLIENTS} clients, a move each {PAUSE} s", "50 ms", "100 ms", paused),
        _row(f"{CLIENTS} clients, each move as soon as the one before is answered", "", "100 ms", at_once),
        Row("The same, processor time of a move", "", f"{1e3 * busy:.1f} ms"),
        Row(f"Memory after {asked:,} more requests", "as before", f"{_mib(after)}, before {_mib(before)}"),
    ]


def _row(who: str, middle: str, slow: str, seconds: list[float]) -> Row:
    slowest = statistics.quantiles(seconds, n=100)[98]
    wanted = ", ".join(text for text in (middle and f"median {middle}", slow and f"p99 {slow}") if text)
    found = f"median {1e3 * statistics.median(seconds):.1f} ms, p99 {1e3 * slowest:.1f} ms"
    return Row(f"A move on `{PUZZLE}`, {who}", wanted, found)


def _mib(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"


@contextmanager
def _serving(store: str) -> Iterator[Server]:
    process = subprocess.Popen([*ANTIPODES, "serve", store, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield Server(process, urlsplit(next(word for word in line.split() if word.startswith("http"))).netloc)
    finally:
        process.terminate()
        process.wait()


def _walks(server: Server, clients: int, pause: float) -> list[float]:
    """Seconds of each move of clients that walk at the same time."""

    async def all_of_them() -> list[float]:
        walks = [_walk(server.address, random.Random(number), pause) for number in range(clients)]
        return [seconds for walked in await asyncio.gather(*walks) for seconds in walked]

    return asyncio.run(all_of_them())


async def _walk(address: str, rng: random.Random, pause: float) -> list[float]:
    """A walk by random moves from a random position, over one connection."""
    host, port = address.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 22)
    store, seconds = f"/api/v1/stores/{PUZZLE}", []
    here = (await _asked(reader, writer, f"{store}/random?seed={rng.randrange(1 << 30)}"))["position"]
    for _ in range(MOVES):
        if pause:
            await asyncio.sleep(rng.uniform(0, 2 * pause))
        begin = time.perf_counter()
        view = await _asked(reader, writer, f"{store}/view?position={quote(here)}")
        seconds.append(time.perf_counter() - begin)
        here = rng.choice(view["successors"])["position"]
    writer.close()
    return seconds


async def _asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: str) -> Any:
    writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    if not head.startswith("http/1.1 200"):
        raise RuntimeError(head)
    return json.loads(await reader.readexactly(int(head.partition("content-length: ")[2].split()[0])))
