"""Lines of a file or of standard input that contain positions, or the moves that lead to them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels

COMMENT = "//"
"""Beginning of a comment in a sequence of moves."""


@dataclass(frozen=True, slots=True)
class PositionLines:
    """How the lines of an input are read: as positions or as sequences of moves."""

    puzzle: Puzzle
    are_moves: bool

    def numbered(self, lines: Iterable[str], first: int = 1) -> Mapping[int, str]:
        """Return the lines by their numbers, from ``first``, without blank lines and lines with only a comment."""
        numbered = enumerate(lines, start=first)
        return {number: line for number, line in numbered if self._content(line).strip()}

    def read(self, lines: Sequence[str]) -> Labels:
        """Return the position ``(n, places)`` of each line; raise PositionError for the first invalid line."""
        return self.puzzle.follow_many(lines) if self.are_moves else self.puzzle.parse_many(lines)

    def _content(self, line: str) -> str:
        return line.partition(COMMENT)[0] if self.are_moves else line
