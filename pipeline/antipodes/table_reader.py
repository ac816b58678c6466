"""The function that opens tables, for rooms below them: tables are made of configs, and some configs of a table."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Puzzle
    from antipodes_tasks.rules.moves import Labels


class LayeredTable(Protocol):
    """What a config asks of a table."""

    @property
    def puzzle(self) -> "Puzzle":
        """The puzzle of the table."""

    def positions_at(self, depth: int, limit: int) -> "Labels":
        """The positions at a depth, ``(n, places)``, at most ``limit``; InputError if there is no such depth."""


Opener = Callable[[str], AbstractContextManager[LayeredTable]]
_given: list[Opener] = []


def give(opener: Opener) -> None:
    """Say how tables are opened by their name, path or URL: the package does when it is imported."""
    _given[:] = [opener]


def open_table(name: str) -> AbstractContextManager[LayeredTable]:
    """A table, by its name, path or URL; raises as `antipodes.open_table`."""
    return _given[0](name)
