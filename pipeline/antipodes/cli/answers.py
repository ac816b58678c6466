"""The answers of `query` to positions, each printed as soon as it is known."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from antipodes.cli.colour import print_path
from antipodes.cli.output import BAD_INPUT, FAILED, print_json_list, say
from antipodes.cli.streams import input_batches
from antipodes_tasks.errors import AntipodesError, InputError, PositionError
from antipodes_tasks.quoting import shorten

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Puzzle
    from antipodes.tables.queries import Found
    from antipodes.tables.table import Table
    from antipodes_tasks.rules.moves import Labels

MOST_BEFORE_THE_FIRST = 100
"""Lines of input that may be no positions before the first that is one: more of them are the wrong file."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Some positions as texts, looked up together."""

    texts: Sequence[str]
    lines: Sequence[int] | None = None
    """The number of each in standard input; None: they are arguments, and all must be positions."""


def asked(positions: Sequence[str]) -> Iterator[Asked]:
    """The positions, those on standard input in place of ``-``."""
    arguments: list[str] = []
    for text in positions:
        if text != "-":
            arguments.append(text)
            continue
        yield Asked(arguments)
        arguments = []
        yield from _from_input()
    yield Asked(arguments)


def _from_input() -> Iterator[Asked]:
    """The lines that are not blank."""
    before = 0
    for lines in input_batches():
        numbered = [(number, text) for number, text in enumerate(lines, start=before + 1) if text.strip()]
        before += len(lines)
        yield Asked([text for _, text in numbered], [number for number, _ in numbered])


class Answers:
    """The answers of a table to positions. A line of input without an answer is reported, and the others go on."""

    def __init__(self, table: "Table", with_path: bool, as_moves: bool = False, keep: bool = False) -> None:
        if as_moves and not table.puzzle.moves.names:
            name = shorten(table.puzzle.name)
            raise InputError(f"--as-moves: expected a puzzle whose moves have names, found {name}")
        self.status = 0
        """The exit status: that of the worst line of input."""
        self._kept: list[Found] | None = [] if keep else None
        self._table = table
        self._with_path = with_path
        self._as_moves = as_moves
        self._answered = self._refused = 0

    def show(self, batches: Iterable[Asked], as_json: bool, key: str | None = None, **others: Any) -> int:
        """Print the answers to all, in JSON as a list or below a ``key`` after the ``others``; the exit status."""
        puzzle = self._table.puzzle
        found = self._found(batches)
        if as_json:
            from antipodes.tables.report import found_view

            views = (found_view(puzzle, one, self._with_path, self._as_moves) for one in found)
            print_json_list(views, key, **others)
        else:
            for one in found:
                self._print(one)
        if self._refused > 1:
            say(f"{self._refused:,} of {self._refused + self._answered:,} lines have no answer")
        return self.status

    @property
    def boards(self) -> "tuple[list[tuple[Puzzle, Labels]], list[str]]":
        """The positions of the answers, if these are kept, those of their paths included; the distance of each."""
        boards: list[tuple[Puzzle, Labels]] = []
        captions: list[str] = []
        for found in self._kept or []:
            path = found.path if self._with_path else None
            way = list(self._table.puzzle.along(found.position[None] if path is None else path))
            boards += way
            captions += [
                "unreachable" if found.distance is None else str(found.distance - step) for step in range(len(way))
            ]
        return boards, captions

    def _found(self, batches: Iterable[Asked]) -> "Iterator[Found]":
        for found in self._answers_to(batches):
            if self._kept is not None:
                self._kept.append(found)
            yield found

    def _answers_to(self, batches: Iterable[Asked]) -> "Iterator[Found]":
        from antipodes.tables.queries import Found
        from antipodes.tables.table import look_up, look_up_each

        with_path = self._with_path or self._as_moves
        for batch in batches:
            if batch.lines is None:
                yield from look_up(self._table, batch.texts, with_path)
                continue
            answers = look_up_each(self._table, batch.texts, with_path)
            for line, answer in zip(batch.lines, answers, strict=True):
                if isinstance(answer, Found):
                    self._answered += 1
                    yield answer
                else:
                    self._refuse(line, answer)
            sys.stdout.flush()

    def _refuse(self, line: int, error: AntipodesError) -> None:
        """Report a line of input that has no answer; InputError where no line had one for long."""
        say(f"line {line:,}: {error}")
        self._refused += 1
        self.status = max(self.status, BAD_INPUT if isinstance(error, PositionError) else FAILED)
        if not self._answered and self._refused == MOST_BEFORE_THE_FIRST:
            raise InputError(f"standard input: expected positions, found none in the first {line:,} lines")

    def _print(self, found: "Found") -> None:
        from antipodes.tables.drawing import draw_moves, draw_scramble, moves_back

        puzzle = self._table.puzzle
        if self._as_moves:
            print(f"{'scramble: ' * self._with_path}{draw_scramble(puzzle, found.path)}")
            if not self._with_path:
                return
        distance = "unreachable" if found.distance is None else str(found.distance)
        print(f"{puzzle.format(found.position)}: {distance}")
        if self._with_path and found.path is not None:
            print_path(puzzle, found.path)
            come_from = "" if puzzle.moves.reversible else puzzle.depth_zero
            print(draw_moves(moves_back(puzzle, found.path), come_from), end="")
