"""How the positions of a puzzle of a user's own are read, written and drawn: by functions, or as lists of symbols."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from antipodes.puzzles.notation import Lists, Notation
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError, PositionError
from antipodes_tasks.rules.custom_function import CustomFunction
from antipodes_tasks.rules.parts import Part


@dataclass(frozen=True)
class OwnNotation(Notation):
    """Each function takes or gives a position as numbers, one a place; None: the symbols, separated by blanks."""

    parts: tuple[Part, ...]
    format: CustomFunction | None = None
    parse: CustomFunction | None = None
    drawing: CustomFunction | None = None

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """The symbol on each place; see `Notation`."""
        if self.parse is None:
            return Lists(tuple(part.places for part in parts)).split(text, parts)
        try:
            labels = self._labels(self.parse(text))
        except InputError as error:
            raise PositionError(str(error)) from error
        return [known[label] for known, label in zip(self._symbols, labels, strict=True)]

    def join(self, symbols: Sequence[str]) -> str:
        """One line of text."""
        if self.format is None:
            return " ".join(symbols)
        line = _text(self.format(self._numbers(symbols)), self.format.role)
        if not line.strip() or len(line.splitlines()) != 1:
            raise InputError(f"{self.format.role}: expected one line of text, found {arguments.found(line)}")
        return line

    def draw(self, symbols: Sequence[str]) -> str:
        """A drawing of one or several lines; without a function for that the line of text."""
        if self.drawing is None:
            return self.join(symbols)
        return _text(self.drawing(self._numbers(symbols)), self.drawing.role)

    @property
    def _symbols(self) -> list[tuple[str, ...]]:
        return [part.symbols for part in self.parts for _ in range(part.places)]

    def _numbers(self, symbols: Sequence[str]) -> tuple[int, ...]:
        return tuple(known.index(symbol) for known, symbol in zip(self._symbols, symbols, strict=True))

    def _labels(self, read: Any) -> list[int]:
        """The numbers that `parse` gave, in range; PositionError if they are something else."""
        assert self.parse is not None
        symbols = self._symbols
        numbers = read.tolist() if isinstance(read, np.ndarray) else read
        if not isinstance(numbers, list | tuple) or len(numbers) != len(symbols):
            count = f"{len(numbers)}" if isinstance(numbers, list | tuple) else arguments.found(read)
            raise PositionError(f"{self.parse.role}: expected {len(symbols)} numbers, found {count}")
        return [
            arguments.integer(number, f"{self.parse.role} to give numbers", 0, len(known) - 1, PositionError)
            for number, known in zip(numbers, symbols, strict=True)
        ]


def _text(value: object, role: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{role}: expected a text, found {arguments.found(value)}")
    return value
