"""``antipodes play``: a shortest way step by step, or any other."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.colour import paint
from antipodes.cli.command import PositionsCommand, add
from antipodes.cli.loading import loading
from antipodes.cli.options import Given, MoveSequence, Store
from antipodes.cli.output import terminal_columns
from antipodes.cli.streams import input_lines
from antipodes.stores.named import find_store
from antipodes_tasks.errors import InputError

if TYPE_CHECKING:
    from antipodes.cli.play.player import Player
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
    puzzle: Given = None,
) -> None:
    """Walk from a position to the start or goal, with the distance always in sight."""
    with loading():
        from antipodes.cli.play.player import Player
        from antipodes.tables.game import Game, check_playable
        from antipodes.tables.table import open_table

    if sum(given is not None and given != [] for given in (position, moves, depth)) > 1:
        raise InputError("expected a position, --moves or --depth, found several of them")
    with open_table(find_store(store, puzzle)) as table:
        check_playable(table)
        player = Player(Game(table, _begin(table, position, moves, depth)))
        if once:
            _print_way(player)
        elif sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            _by_keys(player)
        else:
            _by_lines(player)


def _begin(table: "Table", position: list[str] | None, moves: str | None, depth: int | None) -> str:
    """The position to begin at, as a text."""
    if position:
        return " ".join(position)
    if moves is not None:
        return table.puzzle.format(table.puzzle.follow(moves)[-1])
    return table.puzzle.format(table.random_position(depth))


def _print_way(player: "Player") -> None:
    """Print each position of a shortest way, and the move that leads on."""
    from antipodes.tables.drawing import draw

    game = player.game
    while True:
        print(f"{game.distance} left")
        print(draw(game.puzzle, game.position, paint()))
        made = game.step()
        if made is None:
            return
        print(f"move {made.name}" if game.puzzle.moves.names else "")


def _by_lines(player: "Player") -> None:
    """Answer each line of standard input, a command each; an empty one is the next step."""
    from antipodes.cli.play.player import Ended
    from antipodes.cli.play.screen import screen

    print(screen(player, terminal_columns(), paint()))
    for line in input_lines():
        if player.obey(line) is Ended.YES:
            return
        print(screen(player, terminal_columns(), paint()), flush=True)


def _by_keys(player: "Player") -> None:
    """Obey keys, on a screen of its own, which disappears at the end; the last position stays."""
    from rich.console import Console
    from rich.text import Text

    from antipodes.cli.play.keys import keys
    from antipodes.cli.play.player import Ended, Typing
    from antipodes.cli.play.screen import HELP, screen

    typing = Typing(player)
    with Console().screen(hide_cursor=False) as shown, keys() as pressed:
        while typing.ended is Ended.NO:
            text = f"{screen(player, terminal_columns(), paint())}\n\n{HELP}\n> {typing.typed}"
            shown.update(Text.from_ansi(text))
            typing.obey(next(pressed))
    print(screen(player, terminal_columns(), paint()))
