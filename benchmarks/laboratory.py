"""A laboratory on one machine: hosts that talk over links with a rate and a latency, and links that can be cut.

Each host is a network namespace with one TUN device. A thread of this process is the network between them: it reads
packets from the devices, holds each for the latency of the links, and writes it to the device of the receiver. A token
bucket filter limits what a host sends, and the thread what it receives. The kernel hands over large packets and cuts
them into pieces of 1500 bytes only for the accounting of TCP, as between virtual machines, so that a link of 10 Gbit/s
takes little processor time. All this needs root.
"""

import fcntl
import os
import select
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

PREFIX = "antipodes-"
SUBNET = "10.84.0"
DEVICE = Path("/dev/net/tun")
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
CHECKSUMS, SEGMENTS = 1, 2
"""What a device may leave to the receiver, as nothing is lost on the way."""
RECEIVER = 10 + 19
"""The last byte of the receiver's address, after the ten bytes of the packet's description."""
LARGEST_PACKET = 1 << 17
NETNS = Path("/run/netns")


class Network(threading.Thread):
    """The network between hosts: holds packets for the latency, and drops those from and to hosts that are cut off."""

    def __init__(self, devices: Mapping[int, int]) -> None:
        """``devices`` contains the file descriptor of each host's device."""
        super().__init__(daemon=True)
        self.latency, self.rate = 0.0, float("inf")
        """Seconds from host to host, and bytes per second that a host receives."""
        self.cut: set[int] = set()
        """Hosts that are cut off."""
        self.ended = threading.Event()
        self.carried_bytes = 0
        self._devices = dict(devices)
        self._hosts = {device: host for host, device in devices.items()}
        self._waiting: dict[int, deque[tuple[float, bytes]]] = {host: deque() for host in devices}
        self._free = dict.fromkeys(devices, 0.0)

    def run(self) -> None:
        """Carry packets until `ended` is set, before all other programs, which would otherwise add to the latency."""
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        while not self.ended.is_set():
            due = min((packets[0][0] for packets in self._waiting.values() if packets), default=time.monotonic() + 0.1)
            ready, _, _ = select.select(self._hosts, [], [], max(0.0, due - time.monotonic()))
            for device in ready:
                self._accept(device)
            self._deliver()

    def _accept(self, device: int) -> None:
        packet = os.read(device, LARGEST_PACKET)
        host = packet[RECEIVER]
        if host not in self._waiting or packet[10] >> 4 != 4 or {host, self._hosts[device]} & self.cut:
            return
        self._free[host] = max(time.monotonic() + self.latency, self._free[host] + len(packet) / self.rate)
        self._waiting[host].append((self._free[host], packet))
        self.carried_bytes += len(packet)

    def _deliver(self) -> None:
        now = time.monotonic()
        for host, packets in self._waiting.items():
            while packets and packets[0][0] <= now:
                _, packet = packets.popleft()
                if host not in self.cut:
                    os.write(self._devices[host], packet)


class Laboratory:
    """Hosts with the numbers 1, 2, ..., as a context manager that always removes them."""

    def __init__(self, hosts: int) -> None:
        self._names = {number: f"{PREFIX}{os.getpid()}-{number}" for number in range(1, hosts + 1)}
        self._devices: dict[int, int] = {}

    def __enter__(self) -> "Laboratory":
        remove_leftovers()
        try:
            for number in self._names:
                self._plug_in(number)
        except BaseException:
            self._remove()
            raise
        self.network = Network(self._devices)
        self.network.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.network.ended.set()
        self.network.join()
        self._remove()

    def at(self, host: int) -> Sequence[str]:
        """Return the words with which a command that runs on a host begins."""
        return ("ip", "netns", "exec", self._names[host])

    def address(self, host: int) -> str:
        """Return the address of a host."""
        return f"{SUBNET}.{host}"

    def limit(self, bits_per_second: float | None, latency: float) -> None:
        """Give all links this rate, or None for no limit, and this latency in seconds from host to host."""
        self.network.latency = latency
        self.network.rate = float("inf") if bits_per_second is None else bits_per_second / 8
        for name in self._names.values():
            shown = ("tc", "-n", name, "qdisc", "show", "dev", "net0")
            if "tbf" in subprocess.run(shown, check=True, capture_output=True, text=True).stdout:
                _run("tc", "-n", name, "qdisc", "del", "dev", "net0", "root")
            if bits_per_second is not None:
                rate = ("rate", f"{bits_per_second:.0f}bit", "burst", "256kb", "latency", "200ms")
                _run("tc", "-n", name, "qdisc", "add", "dev", "net0", "root", "tbf", *rate)

    def _plug_in(self, number: int) -> None:
        name, device = self._names[number], f"an{os.getpid() % 100_000}-{number}"
        _run("ip", "netns", "add", name)
        self._devices[number] = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
        flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR
        fcntl.ioctl(self._devices[number], TUNSETIFF, struct.pack("16sH22x", device.encode(), flags))
        fcntl.ioctl(self._devices[number], TUNSETOFFLOAD, CHECKSUMS | SEGMENTS)
        _run("ip", "link", "set", device, "netns", name, "name", "net0")
        _run("ip", "-n", name, "addr", "add", f"{self.address(number)}/24", "dev", "net0")
        for one in ("lo", "net0"):
            _run("ip", "-n", name, "link", "set", one, "up")

    def _remove(self) -> None:
        for device in self._devices.values():
            os.close(device)
        for name in self._names.values():
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def missing() -> str | None:
    """Return what this machine lacks for a laboratory, or None if there can be one."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "root on Linux"
    tools = [tool for tool in ("ip", "tc") if shutil.which(tool) is None]
    if tools:
        return f"the program {tools[0]} (package iproute2)"
    return None if DEVICE.exists() else f"{DEVICE}"


def remove_leftovers() -> None:
    """Remove the hosts of laboratories whose process was killed."""
    for path in NETNS.glob(f"{PREFIX}*-*"):
        number = path.name.split("-")[1]
        if number.isdecimal() and not Path("/proc", number).exists():
            subprocess.run(["ip", "netns", "del", path.name], check=False, capture_output=True)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
