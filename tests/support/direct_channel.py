"""A channel between objects of one process that count as processes, without a network."""

import time
from collections.abc import Mapping
from typing import Any

from antipodes.executors.api import Peer


class DirectChannel:
    """A channel for executors that run the tasks of all processes in threads of this one."""

    def __init__(self) -> None:
        self.peers: dict[tuple[str, str], Peer] = {}

    def open(self, name: str, peer: Peer) -> None:
        """Let tasks ask a peer, whose address is its own."""
        self.peers[name, peer.own] = peer  # type: ignore[attr-defined]

    def ask(self, name: str, questions: Mapping[str, Any]) -> "DirectAnswers":
        """Ask when the answers are waited for."""
        return DirectAnswers(self, name, questions)

    def answer(self, name: str, address: str, question: Any) -> Any:
        """Return the answer of a peer as soon as there is one."""
        while True:
            peer = self.peers[name, address]
            if peer.is_ready(question) and (answer := peer.answer(question)) is not None:
                return answer
            time.sleep(0.0001)


class DirectAnswers:
    """Answers that are computed when they are waited for."""

    def __init__(self, channel: DirectChannel, name: str, questions: Mapping[str, Any]) -> None:
        self._asked = channel, name, questions

    def wait(self) -> list[Any]:
        """Return the answers."""
        channel, name, questions = self._asked
        return [channel.answer(name, address, question) for address, question in questions.items()]

    def cancel(self) -> None:
        """Do nothing."""
