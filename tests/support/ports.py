"""Ports for servers that are told their port."""

import random
import socket
from contextlib import suppress
from pathlib import Path

LOWEST = 10_000


def free_port() -> int:
    """Return a free port that the system gives to nobody: other processes get higher ones if they ask for any port."""
    highest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(LOWEST, max(highest, 2 * LOWEST))
        with suppress(OSError), socket.socket() as bound:
            bound.bind(("127.0.0.1", port))
            return port
