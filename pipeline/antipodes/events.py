"""What happens during a run, told to whoever listens."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Begun:
    """The search begins, or goes on, with the layer at ``depth``."""

    name: str
    index_size: int
    depth: int
    states: int
    """Positions up to that depth."""
    resumed: bool


@dataclass(frozen=True, slots=True)
class PartitionSettled:
    """Another partition of the layer at ``depth`` is done."""

    depth: int
    settled: int
    partitions: int
    """How many of them the layer has."""


@dataclass(frozen=True, slots=True)
class LayerSettled:
    """All positions at ``depth`` are known."""

    depth: int
    count: int
    states: int
    """Positions up to that depth."""
    rate: float
    """Positions that this run has found a second of search."""


@dataclass(frozen=True, slots=True)
class Committing:
    """All layers up to ``depth`` are about to be written."""

    depth: int


@dataclass(frozen=True, slots=True)
class Committed:
    """All layers up to ``depth`` are on disk."""

    depth: int


@dataclass(frozen=True, slots=True)
class Widened:
    """Depths past ``depth`` need 16 bits; those stored were converted."""

    depth: int


Event = Begun | PartitionSettled | LayerSettled | Committing | Committed | Widened
Listener = Callable[[Event], None]


def silence(event: Event) -> None:
    """A listener that does nothing."""
