"""Drawings of positions, on a terminal in colour and in files."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from antipodes.cli.options import names_given
from antipodes.cli.streams import print_drawing, say, terminal_columns
from antipodes.pictures import check_endings, write_pictures
from antipodes.puzzles.picture import Picture
from antipodes.puzzles.puzzle import Puzzle
from antipodes.tables.drawing import Paint, draw_path, draw_positions
from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import counted, shorten
from antipodes_tasks.rules.moves import Labels

ON_GOAL, PLAIN = "\x1b[1;97;41m", "\x1b[0m"
"""White on red, as pictures have the blocks of a goal; and back."""
Svg = Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw what is shown into an SVG file.")]
Png = Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Draw what is shown into a PNG file.")]
Gif = Annotated[
    Path | None, typer.Option("--gif", metavar="FILE", help="Draw what is shown, one after another, into a GIF.")
]
Size = Annotated[
    int | None,
    typer.Option("--size", min=16, max=4096, metavar="PIXELS", help="With a picture: the width of each position."),
]
MAX_DRAWN = 1000
"""Positions of a picture: more would be too small to see, or too large to open."""


def in_colour() -> bool:
    """Whether stdout is a terminal that shows colours, and the variable NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint() -> Paint | None:
    """What gives the blocks of a goal their colour in a drawing; None if there are no colours."""
    return (lambda text: f"{ON_GOAL}{text}{PLAIN}") if in_colour() else None


def print_positions(puzzle: Puzzle, positions: Labels) -> None:
    """Print positions ``(n, places)`` side by side."""
    print_drawing(draw_positions(puzzle, positions, terminal_columns(), paint=paint()))


def print_path(puzzle: Puzzle, path: Labels, captions: Sequence[str] = ()) -> None:
    """Print a path ``(distance + 1, places)``, each board under its distance from the end, or under a caption."""
    print_drawing(draw_path(puzzle, path, terminal_columns(), captions, paint()))


@dataclass(frozen=True, slots=True)
class PictureFiles:
    """The files that positions are to be drawn into."""

    files: dict[str, Path]
    size: int | None

    @classmethod
    def of(
        cls, svg: Path | None = None, png: Path | None = None, gif: Path | None = None, size: int | None = None
    ) -> "PictureFiles":
        """The files that were asked for; InputError if one has another ending, or there is a size and no file."""
        files = {kind: path for kind, path in (("svg", svg), ("png", png), ("gif", gif)) if path is not None}
        if files:
            check_endings(files)
        elif size is not None:
            raise InputError("--size: expected --svg, --png or --gif beside it, found none")
        return cls(files, size)

    def __bool__(self) -> bool:
        return bool(self.files)

    def check_count(self, positions: int) -> None:
        """Raise InputError if there are more positions than a picture can show."""
        if self.files and positions > MAX_DRAWN:
            kind = next(iter(self.files))
            raise InputError(
                f"--{kind}: expected at most {MAX_DRAWN:,} positions, found {positions:,}; --limit N helps"
            )

    def check_not_with(self, others: Mapping[str, bool]) -> None:
        """Raise InputError if there are files beside an option that was given and has no picture."""
        if self.files and (names := names_given(others)):
            raise InputError(f"--{next(iter(self.files))}: not with {names[0]}")

    def draw(self, boards: Iterable[tuple[Puzzle, Labels]], captions: Sequence[str] = ()) -> None:
        """Draw positions, each by a puzzle, into the files, and say so; nothing if there are no files or positions."""
        pictures = [puzzle.picture(position) for puzzle, position in boards] if self.files else []
        if pictures:
            self.check_count(len(pictures))
            self.write(pictures, counted(len(pictures), "position"), captions)

    def write(self, pictures: Sequence[Picture], what: str, captions: Sequence[str] = ()) -> None:
        """Write pictures to the files, at least one, and say ``what`` they show."""
        write_pictures(self.files, pictures, captions, self.size)
        say(f"{what} drawn into {shorten(' and '.join(map(str, self.files.values())))}")

    def draw_steps(self, puzzle: Puzzle, path: Labels) -> None:
        """Draw the positions ``(distance + 1, places)`` of a path, each under the moves that are left."""
        self.draw(puzzle.along(path), [str(left) for left in reversed(range(len(path)))])
