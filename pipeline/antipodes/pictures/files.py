"""Pictures written to the files that a person names."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from antipodes.pictures.sheet import sheet
from antipodes.pictures.svg import svg
from antipodes_tasks.errors import InputError, StoreError
from antipodes_tasks.puzzles.picture import Picture
from antipodes_tasks.quoting import quote, shorten

SVG, PNG, GIF = "svg", "png", "gif"


def check_endings(files: Mapping[str, Path]) -> None:
    """Raise InputError unless the name of each file ends as its kind does."""
    for kind, path in files.items():
        if path.suffix.lower() != f".{kind}":
            raise InputError(f"--{kind}: expected a file name ending in .{kind}, found {quote(str(path))}")


def write_pictures(
    files: Mapping[str, Path], pictures: Sequence[Picture], captions: Sequence[str] = (), size: int | None = None
) -> None:
    """Write pictures to files of these kinds: a GIF shows one after another, the others are sheets.

    Parameters
    ----------
    files
        The path of each kind of file: SVG, PNG, GIF.
    pictures
        At least one.
    captions
        A line of text above each; none, or one each.
    size
        The width of the widest picture in pixels, by default its own.

    Raises
    ------
    InputError
        The name of a file has another ending, or Pillow is needed and missing.
    StoreError
        A file cannot be written.
    """
    check_endings(files)
    scale = 1.0 if size is None else size / max(one.width for one in pictures)
    for kind, path in files.items():
        content = _content(kind, pictures, captions, scale)
        try:
            path.write_bytes(content)
        except OSError as error:
            raise StoreError(f"cannot write {shorten(str(path))}: {error.strerror or error}") from error


def _content(kind: str, pictures: Sequence[Picture], captions: Sequence[str], scale: float) -> bytes:
    if kind == GIF:
        from antipodes.pictures.raster import gif

        return gif([sheet([one], captions[number : number + 1]) for number, one in enumerate(pictures)], scale)
    whole = sheet(pictures, captions)
    if kind == PNG:
        from antipodes.pictures.raster import png

        return png(whole, scale)
    return svg(whole, scale).encode()
