"""Drawings of positions, in colour on the terminal, and in picture files."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from antipodes.cli.streams import print_drawing, print_message, terminal_columns
from antipodes.drawing.image_files import check_endings, write_pictures
from antipodes.drawing.picture import Picture
from antipodes.puzzles.puzzle import Puzzle
from antipodes.tables.drawing import Paint, draw_path, draw_positions
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import counted, shorten

ON_GOAL, PLAIN = "\x1b[1;97;41m", "\x1b[0m"
"""Escape sequences for white on red, the colour of goal blocks in pictures, and for plain text."""
Svg = Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Write an SVG picture of the positions shown.")]
Png = Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Write a PNG picture of the positions shown.")]
Gif = Annotated[
    Path | None, typer.Option("--gif", metavar="FILE", help="Write an animated GIF of the positions shown.")
]
Size = Annotated[
    int | None,
    typer.Option("--size", min=16, max=4096, metavar="PIXELS", help="With a picture: width of each position."),
]
MAX_DRAWN = 1000
"""Maximum number of positions in a picture; more would be too small to see, or too large to open."""


def in_colour() -> bool:
    """Return whether stdout is a terminal with colours and the variable NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint() -> Paint | None:
    """Return a function that colours the blocks of a goal in a drawing, or None if there are no colours."""
    return (lambda text: f"{ON_GOAL}{text}{PLAIN}") if in_colour() else None


def print_positions(puzzle: Puzzle, positions: Labels) -> None:
    """Print positions ``(n, places)`` side by side."""
    print_drawing(draw_positions(puzzle, positions, terminal_columns(), paint=paint()))


def print_path(puzzle: Puzzle, path: Labels, captions: Sequence[str] = ()) -> None:
    """Print a path ``(distance + 1, places)``, each board with its distance to the end, or with a caption."""
    print_drawing(draw_path(puzzle, path, terminal_columns(), captions, paint()))


@dataclass(frozen=True, slots=True)
class PictureFiles:
    """The files to draw positions into."""

    files: dict[str, Path]
    size: int | None

    @classmethod
    def of(cls, size: int | None = None, **options: Path | None) -> "PictureFiles":
        """Return the given files, of all ``options`` of the command for pictures.

        Raises InputError if a suffix is wrong, or if a size is given without a file.
        """
        files = {kind: path for kind, path in options.items() if path is not None}
        if files:
            check_endings(files)
        elif size is not None:
            *others, last = (f"--{kind}" for kind in options)
            raise InputError(f"--size can only be used with {', '.join(others)} or {last}")
        return cls(files, size)

    def __bool__(self) -> bool:
        return bool(self.files)

    def check_count(self, positions: int) -> None:
        """Raise InputError if a picture cannot show this many positions."""
        if self.files and positions > MAX_DRAWN:
            kind = next(iter(self.files))
            raise InputError(
                f"--{kind}: a picture shows at most {MAX_DRAWN:,} positions, not {positions:,}; use --limit N"
            )

    def draw(self, boards: Iterable[tuple[Puzzle, Labels]], captions: Sequence[str] = ()) -> None:
        """Draw positions into the files and report this; do nothing if there are no files or positions."""
        pictures = [puzzle.picture(position) for puzzle, position in boards] if self.files else []
        if pictures:
            self.check_count(len(pictures))
            self.write(pictures, counted(len(pictures), "position"), captions)

    def write(self, pictures: Sequence[Picture], what: str, captions: Sequence[str] = ()) -> None:
        """Write at least one picture to the files and report ``what`` they show."""
        write_pictures(self.files, pictures, captions, self.size)
        print_message(f"{what} drawn into {shorten(' and '.join(map(str, self.files.values())))}")

    def draw_steps(self, puzzle: Puzzle, path: Labels) -> None:
        """Draw the positions ``(distance + 1, places)`` of a path, each with the number of moves left."""
        self.draw(puzzle.along(path), [str(left) for left in reversed(range(len(path)))])
