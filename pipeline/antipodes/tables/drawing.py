"""Layers as a bar chart, positions as boards, paths as rows of boards: all as text."""

from collections.abc import Mapping, Sequence

from antipodes.puzzles.puzzle import Labels, Puzzle

BAR = 40
EIGHTHS = " ▏▎▍▌▋▊▉"


def draw_layers(layers: Sequence[int]) -> str:
    """A line per depth: the depth, the number of positions, and a bar."""
    return draw_counts(dict(enumerate(layers)))


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


def draw_positions(puzzle: Puzzle, positions: Labels, columns: int, captions: Sequence[str] = ()) -> str:
    """Positions ``(n, places)`` as drawings side by side, as many in a row as ``columns`` characters hold."""
    drawings = [puzzle.draw(position).split("\n") for position in positions]
    width = max((len(line) for one in drawings for line in one), default=0)
    height = max(map(len, drawings), default=0)
    drawings = [[line.ljust(width) for line in one] + [" " * width] * (height - len(one)) for one in drawings]
    if captions:
        drawings = [[caption.center(width), *one] for caption, one in zip(captions, drawings, strict=True)]
    each = max(1, (columns + 2) // (width + 2))
    groups = [drawings[first : first + each] for first in range(0, len(drawings), each)]
    return "\n".join("\n".join("  ".join(line).rstrip() for line in zip(*group, strict=True)) for group in groups)


def draw_path(puzzle: Puzzle, path: Labels, columns: int) -> str:
    """The path ``(distance + 1, places)`` from a position to a start, each board under its distance."""
    return draw_positions(puzzle, path, columns, [str(len(path) - 1 - step) for step in range(len(path))])


def _bar(count: int, most: int) -> str:
    eighths = round(8 * BAR * count / most)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
