"""Hosts with their own addresses on one machine: network namespaces with links to a switch."""

import os
import subprocess
import uuid
from types import TracebackType

from mounts import check

NETWORK = "10.83.0"


class Hosts:
    """Hosts on a switch, which has its own namespace, as a context manager that removes all of them."""

    def __init__(self, count: int) -> None:
        run = f"t{os.getpid() % 10000}{uuid.uuid4().hex[:3]}"
        self.switch = f"{run}-s"
        self.names = [f"{run}-{number}" for number in range(1, count + 1)]

    def __enter__(self) -> "Hosts":
        check(["ip", "netns", "add", self.switch], "there can be no network namespaces here")
        self._in_switch("link", "add", "bridge", "type", "bridge")
        self._in_switch("link", "set", "bridge", "up")
        for number, name in enumerate(self.names, 1):
            self._plug_in(number, name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in (*self.names, self.switch):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def at(self, number: int) -> tuple[object, ...]:
        """Return the words with which a command that runs on a host begins; the first host is number 1."""
        return ("ip", "netns", "exec", self.names[number - 1])

    def address(self, number: int) -> str:
        """Return the address of a host."""
        return f"{NETWORK}.{number}"

    def cut(self, number: int) -> None:
        """Cut the link of a host."""
        self._in_switch("link", "set", f"port{number}", "down")

    def heal(self, number: int) -> None:
        """Restore the link of a host."""
        self._in_switch("link", "set", f"port{number}", "up")

    def _plug_in(self, number: int, name: str) -> None:
        _ip("netns", "add", name)
        self._in_switch("link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
        self._in_switch("link", "set", f"port{number}", "master", "bridge", "up")
        _ip("-n", name, "addr", "add", f"{self.address(number)}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", name, "link", "set", device, "up")

    def _in_switch(self, *words: str) -> None:
        _ip("-n", self.switch, *words)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
