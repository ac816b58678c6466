"""Layers as a bar chart, positions as boards, paths as rows of boards: all as text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.moves import Labels

BAR = 40
EIGHTHS = " ▏▎▍▌▋▊▉"
Paint = Callable[[str], str]
"""Adds what makes a terminal show a text in the colour of a goal's blocks."""


def draw_layers(layers: Sequence[int], most: int | None = None) -> str:
    """A line per depth: the depth, the number of positions, and a bar; of more than ``most`` the first and the last."""
    lines = draw_counts(dict(enumerate(layers))).split("\n")
    if most is not None and len(layers) > most:
        lines[1 + most // 2 : -(most // 2)] = ["  ..."]
    return "\n".join(lines)


def draw_counts(counts: Mapping[int, int]) -> str:
    """As `draw_layers`, for the depths that have a count."""
    most = max(counts.values())
    width = max(len(f"{most:,}"), len("positions"))
    lines = [f"depth  {'positions':>{width}}"]
    lines += [f"{depth:>5}  {count:>{width},}  {_bar(count, most)}".rstrip() for depth, count in counts.items()]
    return "\n".join(lines)


def is_drawn(puzzle: Puzzle, position: Labels) -> bool:
    """Whether the drawing of a position is more than its text."""
    return puzzle.draw(position) != puzzle.format(position)


def draw(puzzle: Puzzle, position: Labels, paint: Paint | None = None) -> str:
    """A position as a drawing; ``paint`` adds a colour to the blocks of a goal."""
    return "\n".join(_painted(puzzle, position, 0, paint))


def draw_positions(
    puzzle: Puzzle, positions: Labels, columns: int, captions: Sequence[str] = (), paint: Paint | None = None
) -> str:
    """Positions ``(n, places)`` as drawings side by side, as many in a row as ``columns`` characters hold."""
    return _side_by_side([(puzzle, position) for position in positions], columns, captions, paint)


def draw_path(
    puzzle: Puzzle, path: Labels, columns: int, captions: Sequence[str] = (), paint: Paint | None = None
) -> str:
    """The path ``(distance + 1, places)`` from a position, each board under its distance from the end, or a caption.

    Interchangeable blocks keep their letters along the path.
    """
    captions = captions or [str(len(path) - 1 - step) for step in range(len(path))]
    return _side_by_side(puzzle.along(path), columns, captions, paint)


def _side_by_side(
    boards: Iterable[tuple[Puzzle, Labels]], columns: int, captions: Sequence[str], paint: Paint | None
) -> str:
    boards = list(boards)
    width = max((len(line) for puzzle, position in boards for line in puzzle.draw(position).split("\n")), default=0)
    drawings = [_painted(puzzle, position, width, paint) for puzzle, position in boards]
    height = max(map(len, drawings), default=0)
    drawings = [one + [" " * width] * (height - len(one)) for one in drawings]
    if captions:
        drawings = [[caption.center(width), *one] for caption, one in zip(captions, drawings, strict=True)]
    each = max(1, (columns + 2) // (width + 2))
    groups = [drawings[first : first + each] for first in range(0, len(drawings), each)]
    return "\n".join("\n".join("  ".join(line).rstrip() for line in zip(*group, strict=True)) for group in groups)


def _painted(puzzle: Puzzle, position: Labels, width: int, paint: Paint | None) -> list[str]:
    """The lines of a drawing, filled with blanks to the width; with ``paint``, parts of them in a colour."""
    lines = [line.ljust(width) for line in puzzle.draw(position).split("\n")]
    if paint is None:
        return lines
    of_goal = puzzle.highlighted(position)
    painted = []
    for number, line in enumerate(lines):
        groups = groupby(enumerate(line), key=lambda pair: (number, pair[0]) in of_goal)
        texts = [(is_goal, "".join(one for _, one in group)) for is_goal, group in groups]
        painted.append("".join(paint(text) if is_goal else text for is_goal, text in texts))
    return painted


def _bar(count: int, most: int) -> str:
    eighths = round(8 * BAR * count / most)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
