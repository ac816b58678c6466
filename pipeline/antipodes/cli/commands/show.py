"""``antipodes show``: tilings as drawings, on the terminal and in files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.command import add
from antipodes.cli.commands.tile import Where
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Store
from antipodes.cli.output import print_json, say, terminal_columns
from antipodes.cli.pictures import Gif, PictureFiles, Png, Size, Svg
from antipodes.storage.address import in_shell
from antipodes.stores.named import find_store
from antipodes_tasks.errors import ConfigError, InputError
from antipodes_tasks.quoting import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from antipodes.tilings.table import Tilings

SHOWN, SHOWN_IN_FILES = 6, 60
"""Tilings drawn unless a limit is given."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "Tilings",
        "show",
        show,
        "antipodes show 6x10",
        "antipodes show 6x10 --number 1000 --lines",
        "antipodes show 6x10 --all --svg 6x10.svg",
    )


def show(
    store: Store,
    letters: Annotated[bool, typer.Option("--letters", help="Draw a letter in each cell.")] = False,
    lines: Annotated[
        bool, typer.Option("--lines", help="Draw lines between the pieces. [default: letters and lines]")
    ] = False,
    steps: Annotated[bool, typer.Option("--steps", help="Draw a tiling piece by piece.")] = False,
    number: Annotated[int | None, typer.Option(metavar="N", help="Draw only tiling N, counted from 1.")] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=f"Draw at most N tilings. [default: {SHOWN}; {SHOWN_IN_FILES} in files]"),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Draw all tilings.")] = False,
    where: Annotated[list[str] | None, Where] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Also show rotated and reflected copies.")] = False,
    svg: Svg = None,
    png: Png = None,
    gif: Gif = None,
    size: Size = None,
    as_json: AsJson = False,
) -> None:
    """Draw the tilings in a store: the first of them, one, or all."""
    with loading():
        from antipodes.tilings.table import open_tilings, tilings_view

    _check_choice(number, limit, every)
    style = "letters" if letters and not lines else "lines" if lines and not letters else "both"
    pictures = PictureFiles.of(svg, png, gif, size)
    with open_tilings(find_store(store), raw) as tilings:
        matching = _matching(tilings, where or [])
        shown = None if every else limit or (SHOWN_IN_FILES if pictures else SHOWN)
        chosen = _chosen(tilings, matching, number, steps, shown)
        if as_json:
            print_json(tilings_view(tilings, chosen, len(matching)))
        elif not len(matching):
            which = " like that" if where and len(tilings) else ""
            print(f"{tilings.problem.name}: no tilings{which}{'' if tilings.complete else ' yet'}")
        elif pictures:
            _write(tilings, chosen, steps, pictures)
        else:
            _print(tilings, chosen, len(matching), steps, style)
    if not tilings.complete:
        say(f"unfinished; resume with: antipodes resume {in_shell(find_store(store))}")


def _check_choice(number: int | None, limit: int | None, every: bool) -> None:
    given = [
        name
        for name, value in (("--number", number), ("--limit", limit), ("--all", every))
        if value not in (None, False)
    ]
    if len(given) > 1:
        raise InputError(f"expected one of --number, --limit and --all, found {' and '.join(given)}")


def _matching(tilings: "Tilings", where: list[str]) -> Sequence[int]:
    """The tilings that fulfil all conditions, counted from 0."""
    try:
        return [int(index) for index in tilings.where(*where)] if where else range(len(tilings))
    except ConfigError as error:
        raise InputError(f"--{error}") from None


def _chosen(
    tilings: "Tilings", matching: Sequence[int], number: int | None, steps: bool, limit: int | None
) -> Sequence[int]:
    """The tilings to show, counted from 0."""
    count = len(tilings)
    if number is not None:
        if not 1 <= number <= count:
            expected = f"1 to {count}" if count else "none, as there are no tilings"
            raise InputError(f"--number: expected {expected}, found {number}")
        if number - 1 not in matching:
            raise InputError(f"--number: expected a tiling that fulfils all conditions of --where, found {number}")
        return [number - 1]
    return matching[: 1 if steps else limit]


def _print(tilings: "Tilings", chosen: Sequence[int], matching: int, in_steps: bool, style: str) -> None:
    from antipodes.cli.colour import print_canvas
    from antipodes.tilings.drawing import draw_sheet

    shown = [tilings.array[index] for index in chosen]
    captions = [f"{index + 1:,} of {len(tilings):,}" for index in chosen]
    if in_steps:
        shown, captions = _steps(tilings, chosen)
    print_canvas(tilings.problem, draw_sheet(tilings.problem, shown, captions, style, terminal_columns()))
    if len(chosen) < matching and len(chosen) > 1:
        print(f"and {matching - len(chosen):,} more: --all")


def _steps(tilings: "Tilings", chosen: Sequence[int]) -> "tuple[list[NDArray[np.int32]], list[str]]":
    from antipodes.tilings.drawing import steps

    shown = [placed for index in chosen for placed in steps(tilings.problem, tilings.array[index])]
    pieces = tilings.problem.copies
    return shown, [f"{step % pieces + 1} of {pieces}" for step in range(len(shown))]


def _write(tilings: "Tilings", chosen: Sequence[int], in_steps: bool, pictures: PictureFiles) -> None:
    from antipodes.tilings.drawing import draw_tiling

    shown = _steps(tilings, chosen)[0] if in_steps else [tilings.array[index] for index in chosen]
    what = f"tiling {chosen[0] + 1}" if len(chosen) == 1 else counted(len(chosen), "tiling")
    pictures.write([draw_tiling(tilings.problem, tiling) for tiling in shown], f"{what} of {len(tilings):,}")
