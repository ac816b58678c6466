"""Tables, counts, reports of runs, positions and paths, as shown in notebooks."""

from collections.abc import Sequence

from antipodes.drawing.markup import Html
from antipodes.drawing.notebook import Shown, card, figures
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.addresses import in_shell
from antipodes.tables.drawing import draw, draw_path, draw_positions, moves_back
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.quoting import counted

POSITION_SIDE, START_SIDE, PATH_SIDE = 160, 120, 90
"""Side length, in pixels, of the drawing of a position, of the start of a table, and of a board on a path."""
COLUMNS = 100
"""Maximum line length, in characters, of the boards in the text of a path."""
DEFAULT_LIMIT = 60
"""Number of positions that are shown together if no limit is given."""
MAX_STEPS = 120
"""Maximum number of boards of a path. If there are more, the boards in the middle are left out."""


def start_without_table(puzzle: Puzzle) -> Labels:
    """Return a position ``(places,)`` at depth 0, or the origin if only a search can find one that it reaches."""
    rules = puzzle.rules
    return rules.first if rules.depends_on_origin else rules.start_labels[0]


def show_result(
    kind: str,
    puzzle: Puzzle,
    start: Labels,
    layers: Sequence[int],
    complete: bool,
    address: str,
    more: Sequence[str] = (),
) -> Html:
    """Show a table or counts: the start, the key figures, and the distribution. ``more`` are additional lines."""
    lines = [f"{kind} of {counted(sum(layers), 'position')}", _radius(layers, complete), *more, address]
    unfinished = [] if complete else [f"resume with: antipodes resume {in_shell(address)}"]
    return card(puzzle.name, [*lines, *unfinished], [puzzle.picture(start)], START_SIDE, layers)


def _radius(layers: Sequence[int], complete: bool) -> str:
    """Return a line with the radius."""
    if not layers:
        return "nothing committed yet"
    reached = f"radius {len(layers) - 1:,}"
    return f"{reached}, {counted(layers[-1], 'antipode')}" if complete else f"{reached} so far, unfinished"


def show_position(puzzle: Puzzle, position: Labels, caption: str) -> Shown:
    """Show a position ``(places,)`` with a caption."""
    picture = card(caption, [puzzle.format(position)], [puzzle.picture(position)], POSITION_SIDE)
    return Shown(f"{draw(puzzle, position)}\n{caption}", picture)


def show_positions(puzzle: Puzzle, positions: Labels, distances: Sequence[str], count: int) -> Shown:
    """Show the first positions ``(n, places)`` of ``count`` positions, with their distances as strings."""
    first = "" if len(positions) == count else f", the first {len(positions):,}"
    title = f"{counted(count, 'position')}{first}: the moves from the {puzzle.depth_zero}"
    pictures = [(puzzle.picture(position), one) for position, one in zip(positions, distances, strict=True)]
    drawings = draw_positions(puzzle, positions, COLUMNS, distances)
    return Shown("\n".join(filter(None, (drawings, title))), figures(title, pictures, START_SIDE))


def show_path(puzzle: Puzzle, path: Labels) -> Shown:
    """Show a path ``(distance + 1, places)`` from a position to a start; each board shows the number of moves left."""
    moves = counted(len(path) - 1, "move")
    to = f"to the {puzzle.depth_zero}" if puzzle.moves.reversible else f"from the {puzzle.depth_zero}, in reverse"
    names = moves_back(puzzle, path) if puzzle.moves.reversible else None
    title = f"{moves} {to}" + (f": {' '.join(names)}" if names else "")
    steps = list(puzzle.along(path))
    shown = [*range(len(steps))]
    if len(shown) > MAX_STEPS:
        shown = [*shown[: MAX_STEPS // 2], *shown[-MAX_STEPS // 2 :]]
    boards = ((steps[step][0].picture(steps[step][1]), str(len(path) - 1 - step)) for step in shown)
    return Shown(f"{draw_path(puzzle, path, COLUMNS)}\n{title}", figures(title, boards, PATH_SIDE))
