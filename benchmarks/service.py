"""The service on a table of half a billion positions: clients make random moves, and request a view for each move.

Other clients then send as much work as they can, as a client that wants to block the service would.
"""

import asyncio
import json
import multiprocessing
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from benchmarks.measure import ANTIPODES, Row, run

TITLE = "The service"
PUZZLE = "seven-tiles"
CLIENTS, MOVES, ROUNDS = 20, 100, 5
"""Numbers of simultaneous clients, moves per client and round, and rounds."""
PAUSE = 0.5
"""Mean seconds that a user looks at a position before the next move."""
ATTACKERS, PIPELINED = 100, 200
"""Number of connections that pipeline requests, and the number of requests on each."""
BODY_BYTES = 1 << 20
"""Size of a body that is sent in chunks of one byte."""
Attack = Callable[[str, int], Awaitable[None]]


@dataclass(frozen=True)
class Server:
    """A running `antipodes serve`."""

    process: "subprocess.Popen[str]"
    address: str
    """Host and port, separated by a colon."""

    @property
    def busy(self) -> float:
        """Processor seconds used so far."""
        times = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> int:
        """Bytes of memory used at present."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def measure() -> list[Row]:
    """Return all rows. The table takes about 400 MB in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/{PUZZLE}.zarr"
        run([*ANTIPODES, "run", PUZZLE, "--store", store, "--quiet"])
        with _serving(store) as server:
            _walks(server, clients=1, pause=0)  # loads chunks and kernels
            alone = _walks(server, clients=1, pause=0)
            paused = _walks(server, CLIENTS, PAUSE)
            busy = server.busy
            rounds = [(_walks(server, CLIENTS, pause=0), server.memory) for _ in range(ROUNDS)]
            busy = (server.busy - busy) / (ROUNDS * CLIENTS * MOVES)
            chunked, pipelined = _walk_during(server, _send_tiny_chunks), _walk_during(server, _pipeline)
    at_once = [seconds for walked, _ in rounds for seconds in walked]
    before, after = rounds[0][1], rounds[-1][1]
    asked = (ROUNDS - 1) * CLIENTS * MOVES
    return [
        _row("one client", "50 ms", "", alone),
        _row(f"{CLIENTS} clients, one move per {PAUSE} s each", "50 ms", "100 ms", paused),
        _row(f"{CLIENTS} clients, next move immediately after each answer", "", "100 ms", at_once),
        _row("one client, while another sends 1 MiB in chunks of one byte", "", "500 ms", chunked),
        _row(f"one client, while {ATTACKERS} others pipeline {PIPELINED} requests each", "", "500 ms", pipelined),
        Row(f"{CLIENTS} clients, processor time per move", "", f"{1e3 * busy:.1f} ms"),
        Row(f"memory after {asked:,} more requests", "unchanged", f"{_mib(after)}, {_mib(before)} before"),
    ]


def _row(who: str, middle: str, slow: str, seconds: list[float]) -> Row:
    slowest = statistics.quantiles(seconds, n=100)[98]
    wanted = ", ".join(text for text in (middle and f"median {middle}", slow and f"p99 {slow}") if text)
    found = f"median {1e3 * statistics.median(seconds):.1f} ms, p99 {1e3 * slowest:.1f} ms"
    return Row(f"`{PUZZLE}`, time per move, {who}", wanted, found)


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
    """Let several clients walk at the same time, and return the seconds that each move took."""

    async def all_of_them() -> list[float]:
        walks = [_walk(server.address, random.Random(number), pause) for number in range(clients)]
        return [seconds for walked in await asyncio.gather(*walks) for seconds in walked]

    return asyncio.run(all_of_them())


async def _walk(address: str, rng: random.Random, pause: float) -> list[float]:
    """Make random moves from a random position over one connection, and return the seconds that each move took."""
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


def _walk_during(server: Server, attack: Attack) -> list[float]:
    """Let one client walk while other clients repeat an attack, and return the seconds that each move took."""
    begun = multiprocessing.Event()
    attacker = multiprocessing.Process(target=_repeat, args=(attack, server.address, begun))
    attacker.start()
    try:
        begun.wait()
        return _walks(server, clients=1, pause=PAUSE / 10)
    finally:
        attacker.terminate()
        attacker.join()


def _repeat(attack: Attack, address: str, begun: Event) -> None:
    async def repeat() -> None:
        host, port = address.rsplit(":", 1)
        while True:
            begun.set()
            with suppress(ConnectionError):  # the service may refuse the attack
                await attack(host, int(port))

    asyncio.run(repeat())


async def _send_tiny_chunks(host: str, port: int) -> None:
    _, writer = await asyncio.open_connection(host, port)
    head = f"POST /api/v1/stores/{PUZZLE}/distances HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    writer.write(head.encode())
    for _ in range(BODY_BYTES >> 12):
        writer.write(b"1\r\nx\r\n" * (1 << 12))
        await writer.drain()
    writer.close()


async def _pipeline(host: str, port: int) -> None:
    request = f"GET /api/v1/stores/{PUZZLE}/view HTTP/1.1\r\nHost: localhost\r\nConnection: {{}}\r\n\r\n"

    async def client() -> None:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write((request.format("keep-alive") * (PIPELINED - 1) + request.format("close")).encode())
        while await reader.read(1 << 16):
            pass
        writer.close()

    await asyncio.gather(*(client() for _ in range(ATTACKERS)))


async def _asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: str) -> Any:
    writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    if not head.startswith("http/1.1 200"):
        raise RuntimeError(head)
    return json.loads(await reader.readexactly(int(head.partition("content-length: ")[2].split()[0])))
