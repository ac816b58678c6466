"""Checks of how positions are written and read."""

from collections.abc import Iterator

from antipodes.checking.moves import listed
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.errors import PositionError
from antipodes_tasks.quoting import quote
from antipodes_tasks.rules.moves import Labels

NONSENSE = ("", "?!")
"""Texts that are no position of any puzzle."""


def notation_problems(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """The problems of texts and drawings of positions ``(n, places)``, different ones."""
    written: dict[str, Labels] = {}
    for labels in sample:
        text = puzzle.format(labels)
        if text in written:
            positions = f"{listed(written[text])} and {listed(labels)}"
            yield f"format: expected different texts, found {quote(text)} for {positions}"
            return
        written[text] = labels
        yield from _reading_problems(puzzle, text, labels)
        puzzle.draw(labels)
    for text in NONSENSE:
        try:
            read = puzzle.parse(text)
        except PositionError:
            continue
        yield f"parse: expected that it refuses {quote(text)}, found {listed(read)}"


def _reading_problems(puzzle: Puzzle, text: str, labels: Labels) -> Iterator[str]:
    expected = f"parse: expected {listed(labels)} from {quote(text)}, which format wrote"
    try:
        read = puzzle.parse(text)
    except PositionError as error:
        yield f"{expected}; found that {error}"
        return
    if (read != labels).any():
        yield f"{expected}; found {listed(read)}"
