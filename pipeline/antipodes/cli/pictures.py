"""The options with which commands draw positions into files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.output import say
from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import counted, shorten

if TYPE_CHECKING:
    from antipodes.puzzles.picture import Picture
    from antipodes.puzzles.puzzle import Puzzle as PuzzleItself
    from antipodes_tasks.rules.moves import Labels

Svg = Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw what is shown into an SVG file.")]
Png = Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Draw what is shown into a PNG file.")]
Gif = Annotated[
    Path | None, typer.Option("--gif", metavar="FILE", help="Draw what is shown, one after another, into a GIF.")
]
Size = Annotated[
    int | None,
    typer.Option("--size", min=16, max=4096, metavar="PIXELS", help="With a picture: the width of each position."),
]
MOST_DRAWN = 1000
"""Positions of a picture: more would be too small to see, or too large to open."""


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
            from antipodes.pictures import check_endings

            check_endings(files)
        elif size is not None:
            raise InputError("--size: expected --svg, --png or --gif beside it, found none")
        return cls(files, size)

    def __bool__(self) -> bool:
        return bool(self.files)

    def check_count(self, positions: int) -> None:
        """Raise InputError if there are more positions than a picture can show."""
        if self.files and positions > MOST_DRAWN:
            kind = next(iter(self.files))
            raise InputError(
                f"--{kind}: expected at most {MOST_DRAWN:,} positions, found {positions:,}; --limit N helps"
            )

    def check_not_with(self, others: Mapping[str, bool]) -> None:
        """Raise InputError if there are files beside an option that was given and has no picture."""
        for other, given in others.items():
            for kind in self.files if given else ():
                raise InputError(f"--{kind}: not with {other}")

    def draw(self, boards: "Iterable[tuple[PuzzleItself, Labels]]", captions: Sequence[str] = ()) -> None:
        """Draw positions, each by a puzzle, into the files, and say so; nothing if there are no files or positions."""
        pictures = [puzzle.picture(position) for puzzle, position in boards] if self.files else []
        if pictures:
            self.check_count(len(pictures))
            self.write(pictures, counted(len(pictures), "position"), captions)

    def write(self, pictures: "Sequence[Picture]", what: str, captions: Sequence[str] = ()) -> None:
        """Write pictures to the files, at least one, and say ``what`` they show."""
        from antipodes.pictures import write_pictures

        write_pictures(self.files, pictures, captions, self.size)
        say(f"{what} drawn into {shorten(' and '.join(map(str, self.files.values())))}")

    def draw_way(self, puzzle: "PuzzleItself", path: "Labels") -> None:
        """Draw the positions ``(distance + 1, places)`` of a way, each under the moves that are left."""
        self.draw(puzzle.along(path), [str(left) for left in reversed(range(len(path)))])
