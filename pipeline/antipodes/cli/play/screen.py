"""What a player sees: the board, the distance, and the moves with the distances after them."""

from typing import TYPE_CHECKING

from antipodes_tasks.quoting import counted

if TYPE_CHECKING:
    from antipodes.cli.play.player import Player
    from antipodes.tables.drawing import Paint

HELP = (
    "space: next move of a shortest way   backspace or b: back   q: quit\n"
    "a move: its name or number, then Enter where longer ones begin alike\n"
    "pasted: several moves such as R U R', or a position"
)
SIGNS = {-1: "nearer", 0: "as far", 1: "farther"}


def screen(player: "Player", columns: int, paint: "Paint | None" = None) -> str:
    """The text of the screen, or of an answer, in lines of at most ``columns`` characters where words allow it."""
    from antipodes.tables.drawing import draw

    game = player.game
    distance = game.distance
    far = f"{counted(distance, 'move')} from the {game.puzzle.depth_zero}" if distance else "solved"
    made = f", after {counted(game.moves_made, 'move')}" if game.moves_made else ""
    lines = [f"{game.puzzle.name}: {far}{made}", draw(game.puzzle, game.position, paint)]
    lines += [*_moves(player, distance, columns)]
    if player.message:
        lines.append(player.message)
    return "\n".join(lines)


def _moves(player: "Player", distance: int, columns: int) -> list[str]:
    """The legal moves in lines, each with its number, its name and the distance after it."""
    choices = player.game.choices
    numbered = any(not one.name.isdecimal() for one in choices)
    words = []
    for number, one in enumerate(choices, start=1):
        sign = SIGNS[(one.distance > distance) - (one.distance < distance)]
        words.append(f"{f'{number} ' if numbered else ''}{one.name}: {one.distance} ({sign})")
    width = max(map(len, words), default=0) + 3
    each = max(1, (columns + 3) // width)
    return ["".join(word.ljust(width) for word in words[at : at + each]).rstrip() for at in range(0, len(words), each)]
