"""The network of the laboratory for clusters, without hosts: packets through pairs of sockets."""

import os
import socket
from collections.abc import Iterator

import pytest

from benchmarks import laboratory, network
from benchmarks.laboratory import RECEIVER, Network

PACKET = bytes([*bytes(10), 4 << 4, *bytes(RECEIVER - 11), 2, *b"hello"])
"""A packet of IP version 4 to host 2."""


@pytest.fixture
def ends() -> Iterator[dict[int, tuple[socket.socket, socket.socket]]]:
    """For each host, its own end and that of the network."""
    pairs = {host: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for host in (1, 2)}
    for pair in pairs.values():
        pair[0].setblocking(False)
    yield pairs
    for pair in pairs.values():
        for end in pair:
            end.close()


def carried(ends: dict[int, tuple[socket.socket, socket.socket]], *, latency: float = 0.0, cut: int = 0) -> bytes:
    """Return what host 2 receives when host 1 sends the packet."""
    devices = {host: pair[1].fileno() for host, pair in ends.items()}
    carrier = Network(devices)
    carrier.latency = latency
    carrier.cut = {cut}
    ends[1][0].send(PACKET)
    carrier._accept(devices[1])
    carrier._deliver()
    try:
        return ends[2][0].recv(100)
    except BlockingIOError:
        return b""


def test_packets_are_carried(ends: dict[int, tuple[socket.socket, socket.socket]]) -> None:
    assert carried(ends) == PACKET


def test_packets_wait_for_the_latency(ends: dict[int, tuple[socket.socket, socket.socket]]) -> None:
    assert carried(ends, latency=1000.0) == b""


@pytest.mark.parametrize("host", [1, 2])
def test_no_packet_passes_a_cut(host: int, ends: dict[int, tuple[socket.socket, socket.socket]]) -> None:
    assert carried(ends, cut=host) == b""


def test_without_root_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert laboratory.missing() == "root on Linux"
    (row,) = network.measure()
    assert row.measured == "skipped: needs root on Linux"
