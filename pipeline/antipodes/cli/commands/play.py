"""``antipodes play``: a shortest way step by step, or any other."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.command import PositionsCommand, add
from antipodes.cli.loading import loading
from antipodes.cli.options import MoveSequence, Store
from antipodes.cli.output import terminal_columns
from antipodes.cli.streams import input_lines
from antipodes.errors import InputError
from antipodes.stores.named import find_store

if TYPE_CHECKING:
    from antipodes.cli.play.player import Player
    from antipodes.puzzles.puzzle import Puzzle
    from antipodes.tables.table import Table

Position = Annotated[
    list[str] | None,
    typer.Argument(metavar="POSITION", help="A position as in the config. [default: a random one]"),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "Queries",
        "play",
        play,
        "antipodes play eight-puzzle",
        'antipodes play eight-puzzle "8 6 7 / 2 5 4 / 3 0 1" --once',
        kind=PositionsCommand,
    )


def play(
    store: Store,
    position: Position = None,
    moves: MoveSequence = None,
    depth: Annotated[
        int | None, typer.Option(min=0, metavar="D", help="Instead of a position: a random one at this depth.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print a shortest way, and ask for no moves.")] = False,
) -> None:
    """Walk from a position to the start, with the distance always in sight."""
    with loading():
        from antipodes.cli.play.player import Player
        from antipodes.tables.game import Game, check_playable
        from antipodes.tables.table import open_table

    if sum(given is not None and given != [] for given in (position, moves, depth)) > 1:
        raise InputError("expected a position, --moves or --depth, found several of them")
    with open_table(find_store(store)) as table:
        check_playable(table)
        player = Player(Game(table, _begin(table, position, moves, depth)))
        if once:
            _print_way(table.puzzle, player)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            _by_keys(table.puzzle, player)
        else:
            _by_lines(table.puzzle, player)


def _begin(table: "Table", position: list[str] | None, moves: str | None, depth: int | None) -> str:
    """The position to begin at, as a text."""
    if position:
        return " ".join(position)
    if moves is not None:
        return table.puzzle.format(table.puzzle.follow(moves)[-1])
    return table.puzzle.format(table.random_position(depth))


def _print_way(puzzle: "Puzzle", player: "Player") -> None:
    """Print each position of a shortest way, and the move that leads on."""
    game = player.game
    while True:
        print(f"{game.distance} left")
        print(puzzle.draw(game.position))
        made = game.step()
        if made is None:
            return
        print(f"move {made.name}" if puzzle.moves.names else "")


def _by_lines(puzzle: "Puzzle", player: "Player") -> None:
    """Answer each line of standard input, a command each; an empty one is the next step."""
    from antipodes.cli.play.player import Ended
    from antipodes.cli.play.screen import screen

    print(screen(puzzle, player, terminal_columns()))
    for line in input_lines():
        if player.obey(line) is Ended.YES:
            return
        print(screen(puzzle, player, terminal_columns()), flush=True)


def _by_keys(puzzle: "Puzzle", player: "Player") -> None:
    """Obey keys, on a screen of its own, which disappears at the end; the last position stays."""
    from rich.console import Console
    from rich.text import Text

    from antipodes.cli.play.keys import keys
    from antipodes.cli.play.player import Ended
    from antipodes.cli.play.screen import HELP, screen

    typed, ended = "", Ended.NO
    with Console().screen(hide_cursor=False) as shown, keys() as pressed:
        while ended is Ended.NO:
            shown.update(Text(f"{screen(puzzle, player, terminal_columns())}\n\n{HELP}\n> {typed}"))
            key = next(pressed)
            if typed and key == "backspace":
                typed = typed[:-1]
            elif key == "enter":
                ended, typed = player.obey(typed), ""
            elif len(key) > 1:
                ended, typed = player.obey(key), ""
            elif player.waits_after(typed + key):
                typed += key
            else:
                ended, typed = player.obey(typed + key), ""
    print(screen(puzzle, player, terminal_columns()))
