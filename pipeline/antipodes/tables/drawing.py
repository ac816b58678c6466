"""Layers as a bar chart or a picture, positions as boards, and paths as rows of boards or names of moves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from antipodes.drawing.picture import cell_width
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.output_files import output_file
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, missing_package
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import counted, printable, quote

BAR = 40
EIGHTHS = " ▏▎▍▌▋▊▉"
BOARD_GAP, TEXT_GAP = "  ", "    "
"""Space between boards, and between positions in one line of text, which also contain spaces."""
Paint = Callable[[str], str]
"""Adds control characters to a text, so that a terminal shows it in the colour of a goal's blocks."""


def draw_layers(layers: Sequence[int], max_layers: int | None = None) -> str:
    """Draw one line per depth: the depth, the number of positions, and a bar; show about ``max_layers`` at most."""
    lines = draw_counts(dict(enumerate(layers))).split("\n")
    if max_layers is not None and len(layers) > max_layers:
        lines[1 + max_layers // 2 : -(max_layers // 2)] = ["  ..."]
    return "\n".join(lines)


def draw_counts(counts: Mapping[int, int], unique: Sequence[int] | None = None) -> str:
    """Draw the lines of `draw_layers` for the depths in ``counts``.

    ``unique`` contains the number of symmetry classes at each depth, beginning with depth 0.
    """
    most = max(counts.values())
    width = max(len(f"{most:,}"), len("positions"))
    unique_width = 0 if unique is None else max(len(f"{max(unique):,}"), len("unique"))
    lines = [f"depth  {'positions':>{width}}" + ("" if unique is None else f"  {'unique':>{unique_width}}")]
    for depth, count in counts.items():
        full, eighths = divmod(round(8 * BAR * count / most), 8)
        classes = "" if unique is None else f"{unique[depth]:>{unique_width},}  "
        lines.append(f"{depth:>5}  {count:>{width},}  {classes}{'█' * full}{EIGHTHS[eighths]}".rstrip())
    return "\n".join(lines)


def draw_columns(rows: Iterable[Sequence[object]]) -> list[str]:
    """Return one line for each row, with aligned columns; fractions have three digits after the point."""
    cells = [list(map(_cell, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in cells]


def _cell(value: object) -> str:
    return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def is_drawn(puzzle: Puzzle, position: Labels) -> bool:
    """Return whether the drawing of a position differs from its text."""
    return puzzle.draw(position) != puzzle.format(position)


def draw(puzzle: Puzzle, position: Labels, paint: Paint | None = None) -> str:
    """Draw a position; ``paint`` colours the blocks of a goal."""
    return "\n".join(_painted(puzzle, position, 0, paint))


def draw_positions(
    puzzle: Puzzle, positions: Labels, columns: int, captions: Sequence[str] = (), paint: Paint | None = None
) -> str:
    """Draw positions ``(n, places)`` side by side, as many in a row as fit into ``columns`` characters."""
    return _side_by_side([(puzzle, position) for position in positions], columns, captions, paint)


def draw_path(
    puzzle: Puzzle, path: Labels, columns: int, captions: Sequence[str] = (), paint: Paint | None = None
) -> str:
    """Draw a path ``(distance + 1, places)`` from a position; above each board is a caption or its distance to the end.

    Interchangeable blocks keep their letters along the path.
    """
    captions = captions or [str(len(path) - 1 - step) for step in range(len(path))]
    return _side_by_side(puzzle.along(path), columns, captions, paint)


def _side_by_side(
    boards: Iterable[tuple[Puzzle, Labels]], columns: int, captions: Sequence[str], paint: Paint | None
) -> str:
    boards = list(boards)
    width = max((cell_width(line) for puzzle, position in boards for line in _lines(puzzle, position)), default=0)
    drawings = [_painted(puzzle, position, width, paint) for puzzle, position in boards]
    height = max(map(len, drawings), default=0)
    gap = BOARD_GAP if height > 1 else TEXT_GAP
    drawings = [one + [" " * width] * (height - len(one)) for one in drawings]
    if captions:
        drawings = [[caption.center(width), *one] for caption, one in zip(captions, drawings, strict=True)]
    each = max(1, (columns + len(gap)) // (width + len(gap)))
    groups = [drawings[first : first + each] for first in range(0, len(drawings), each)]
    return "\n".join("\n".join(gap.join(line).rstrip() for line in zip(*group, strict=True)) for group in groups)


def _painted(puzzle: Puzzle, position: Labels, width: int, paint: Paint | None) -> list[str]:
    """Return the lines of a drawing, padded to the width; ``paint`` colours parts of them."""
    lines = [line + " " * (width - cell_width(line)) for line in _lines(puzzle, position)]
    if paint is None:
        return lines
    of_goal = puzzle.highlighted(position)
    painted = []
    for number, line in enumerate(lines):
        groups = groupby(enumerate(line), key=lambda pair: (number, pair[0]) in of_goal)
        texts = [(is_goal, "".join(one for _, one in group)) for is_goal, group in groups]
        painted.append("".join(paint(text) if is_goal else text for is_goal, text in texts))
    return painted


def _lines(puzzle: Puzzle, position: Labels) -> list[str]:
    """Return the lines of a drawing without control characters, which a puzzle written in Python could contain."""
    return [printable(line) for line in puzzle.draw(position).expandtabs().split("\n")]


def moves_back(puzzle: Puzzle, path: Labels) -> list[str] | None:
    """Return the names of the moves along a path from a position back to a start, or None if moves have no names.

    Each position of the path is a predecessor of the position before it. If moves are reversible, the result names the
    moves from each position of the path to the next. Otherwise such moves may not exist, so the result names the moves
    along the reversed path, from the start to the position.
    """
    return puzzle.move_names(path if puzzle.moves.reversible else path[::-1])


def scramble(puzzle: Puzzle, path: Labels) -> list[str]:
    """Return the names of the moves from the end of a path, which is a start or goal, to its first position."""
    return puzzle.move_names(puzzle.rules.reversed_path(path)) or []


def draw_scramble(puzzle: Puzzle, path: Labels | None) -> str:
    """Draw the moves of `scramble` in a line, and the position where they begin unless it is `Rules.first`."""
    if path is None:
        return "unreachable"
    elsewhere = "" if np.array_equal(path[-1], puzzle.rules.first) else f" (from {puzzle.format_path(path)[-1]})"
    return (" ".join(scramble(puzzle, path)) or "(no moves)") + elsewhere


def draw_moves(names: list[str] | None, come_from: str = "") -> str:
    """Return a line with the names of moves (from ``come_from``, if given), or an empty string if there are none."""
    if not names:
        return ""
    return f"moves{come_from and f' from the {come_from}'}: {printable(' '.join(names))}\n"


ENDINGS = (".svg", ".png", ".pdf")
"""Suffixes of files to which a plot can be written."""


def check_plot(path: Path | None) -> None:
    """Raise InputError if matplotlib is not installed, or if a plot cannot be written to a file with this name.

    ``path`` is None if the plot is not written to a file.
    """
    if path is not None and path.suffix.lower() not in ENDINGS:
        expected = f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        raise InputError(f"{option('plot')}: expected a file name ending in {expected}, found {quote(str(path))}")
    if find_spec("matplotlib") is None:
        raise missing_package(option("plot"), "matplotlib", "plot")


def plot_layers(layers: Sequence[int], name: str, path: Path, complete: bool = True) -> None:
    """Plot the number of positions at each depth to a file, in the format given by its suffix.

    Raises
    ------
    InputError
        See `check_plot`.
    StoreError
        The file cannot be written.
    """
    check_plot(path)
    save_plot(_figure(layers, name if complete else f"{name} (unfinished)"), path)


def save_plot(figure: Any, path: Path) -> None:
    """Write a matplotlib figure to a file; raise StoreError if it cannot be written."""
    with output_file(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=150)


def _figure(layers: Sequence[int], name: str) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    depths = range(len(layers))
    axes.bar(depths, layers, width=0.86, color="#3b6ea8")
    axes.set(xlabel="depth", ylabel="positions", xlim=(-0.8, len(layers) - 0.2))
    axes.set_title(f"{name}: {counted(sum(layers), 'position')}, radius {len(layers) - 1}", loc="left")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    logarithmic = axes.twinx()
    logarithmic.plot(depths, layers, color="#6b6b6b", linewidth=1, marker=".", markersize=3)
    logarithmic.set_yscale("log")
    logarithmic.set_ylabel("positions, logarithmic (line)", color="#6b6b6b")
    logarithmic.spines["top"].set_visible(False)
    return figure
