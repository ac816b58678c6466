"""``antipodes play``: walk through a puzzle on the terminal, with the distance after each move."""

import codecs
import os
import re
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from antipodes.cli.command import PositionsCommand, command, commands, obeys
from antipodes.cli.drawing import paint
from antipodes.cli.shared_options import MoveSequence, PuzzleOfStore, Store
from antipodes.cli.streams import input_batches, print_drawing, print_line, terminal_columns
from antipodes.cli.usage import naming
from antipodes.solving.walkthrough import Game, NextMove, check_playable
from antipodes.stores import find_named
from antipodes.system.parameters import one_of
from antipodes.tables.drawing import draw
from antipodes.tables.table import Table, open_table
from antipodes_tasks.base.errors import PositionError, UnreachableError
from antipodes_tasks.base.quoting import counted, printable, quote

Position = Annotated[
    list[str] | None,
    typer.Argument(metavar="POSITION", help="A position, written as in the config. [default: a random one]"),
]
STEP, BACK, QUIT = ("", "step", "space"), ("b", "back", "backspace"), ("q", "quit", "exit")
ARROWS = {"left": "L", "right": "R", "up": "U", "down": "D"}
HELP = (
    "space: next move of a shortest path   backspace or b: back   q: quit\n"
    "a move: its name or number, then Enter if a longer one begins with it\n"
    "pasted: several moves such as R U R', or a position"
)
SIGNS = {-1: "nearer", 0: "as far", 1: "farther"}
NAMES = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\x1bOC": "right",
    "\x1bOD": "left",
    " ": "space",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x04": "quit",  # Ctrl-D, the end of the input
}
MARK_PASTES, MARK_NO_PASTES = "\x1b[?2004h", "\x1b[?2004l"
"""Ask a terminal to mark pasted text, and to stop marking it; a terminal that cannot do so ignores both."""
PIECES = re.compile(
    r"\x1b\[200~(?P<marked>.*?)\x1b\[201~|(?P<key>\x1b[\[O][\d;]*[A-Za-z~])|(?P<text>[^\x1b]+)", re.DOTALL
)
"""A marked paste, a key that sends an escape sequence, or characters."""
UNFINISHED = re.compile(r"\x1b\[200~(?!.*\x1b\[201~).*\Z|\x1b([\[O][\d;]*)?\Z", re.DOTALL)
"""An incomplete item at the end of the input so far; the rest comes with the next bytes."""
WORDS = re.compile(r"([^\s\x00-\x1f\x7f]+([ \t]+[^\s\x00-\x1f\x7f]+)+|(?!(.)\3*\b)[^\s\x00-\x1f\x7f]{8,})[\r\n]?")
"""Several words on a line, or one long word: too much to be typed between two redraws, so it was pasted."""
AT_ONCE, MAX_AT_ONCE = 1 << 12, 1 << 20
"""Number of bytes per read, and maximum number of bytes read before the screen is drawn again."""

app = commands()


@command(
    app,
    "play",
    "antipodes play eight-puzzle",
    'antipodes play eight-puzzle "8 6 7 / 2 5 4 / 3 0 1" --once',
    kind=PositionsCommand,
)
@obeys(one_of("position", "moves", "depth"), position="a position")
def play(
    store: Store,
    position: Position = None,
    moves: MoveSequence = None,
    depth: Annotated[
        int | None, typer.Option(min=0, metavar="D", help="Begin at a random position at this depth.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print a shortest path and exit.")] = False,
    puzzle: PuzzleOfStore = None,
) -> None:
    """Walk from a position to the start or goal, and see the distance after each move."""
    named = find_named(store, puzzle)
    with open_table(named.address, puzzle=named.puzzle) as table:
        check_playable(table)
        player = Player(Game(table, _begin(table, position, moves, depth)))
        if once:
            _print_path(player)
        elif sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            _by_keys(player)
        else:
            _by_lines(player)


def _begin(table: Table, position: list[str] | None, moves: str | None, depth: int | None) -> str:
    """Return the position to begin at, as a string."""
    if position:
        return " ".join(position)
    if moves is not None:
        with naming("--moves"):
            return table.puzzle.format(table.puzzle.follow(moves)[-1])
    return table.puzzle.format(table.random_position(depth))


def _print_path(player: "Player") -> None:
    """Print each position of a shortest path and the move to the next one."""
    game = player.game
    while True:
        print_line(f"{game.distance} left")
        print_drawing(draw(game.puzzle, game.position, paint()))
        made = game.step()
        if made is None:
            return
        print_line(f"move {made.name}" if game.puzzle.moves.names else "")


def _by_lines(player: "Player") -> None:
    """Obey the lines of standard input, one command each; an empty line makes the next move."""
    print_drawing(screen(player))
    for line in chain.from_iterable(input_batches()):
        player.obey(line)
        if player.has_quit:
            return
        print_drawing(screen(player), flush=True)


def _by_keys(player: "Player") -> None:
    """Obey keys on an alternate screen, which disappears at the end; the last position is printed."""
    typing = Typing(player)
    with Console().screen(hide_cursor=False) as shown, keys() as pressed:
        while not player.has_quit:
            text = f"{screen(player)}\n\n{HELP}\n> {printable(typing.typed)}"
            shown.update(Text.from_ansi(text))
            typing.obey(next(pressed))
    print_drawing(screen(player))


class Player:
    """Makes the moves that the user asks for."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.has_quit = False
        self.message = ""
        """Result of the last command in a few words; empty if the screen shows the result."""

    def obey(self, command: str) -> None:
        """Carry out a command or key. If it is unclear, nothing changes, and `message` explains why."""
        word = command.strip()
        self.message = ""
        if (choice := self._named(word)) is not None:
            self.game.make(choice)
        elif word.lower() in QUIT:
            self.has_quit = True
        elif word.lower() in BACK:
            self.message = "" if self.game.undo() else "no move to undo"
        elif word.lower() in STEP:
            made = self.game.step()
            self.message = f"move {made.name}" if made else f"this is the {self.game.puzzle.depth_zero}"
        elif (choice := self._find_choice(word)) is not None:
            self.game.make(choice)
        else:
            self._obey_several(word)

    def _obey_several(self, text: str) -> None:
        """Start over at a position, make the moves of a sequence, or obey several commands."""
        puzzle, words = self.game.puzzle, text.split()
        try:
            if puzzle.is_position(text):
                self.game.begin_at(puzzle.parse(text))
            elif len(words) > 1 and not self._follow(text):
                self._obey_words(words)
            elif len(words) == 1:
                self.game.follow(text)
        except UnreachableError as error:
            self.message = str(error)
        except PositionError:
            names = " ".join(one.name for one in self.game.choices)
            self.message = f"expected a legal move ({names}), step, back, quit, or a position; found {quote(text)}"

    def _follow(self, text: str) -> bool:
        """Make the moves if the text is a sequence of moves; return whether it is."""
        try:
            self.game.follow(text)
        except PositionError:
            return False
        return True

    def _obey_words(self, words: list[str]) -> None:
        """Obey the words until one is unclear."""
        for number, word in enumerate(words):
            self.obey(word)
            if self.is_unclear:
                self.message += f", word {number + 1} of {len(words)}"
            if self.has_quit or self.is_unclear:
                return

    @property
    def is_unclear(self) -> bool:
        """Whether the last command was not understood."""
        return self.message.startswith("expected")

    def waits_after(self, typed: str) -> bool:
        """Return whether a longer command begins with ``typed``, so that only Enter completes the command."""
        choices = self.game.choices
        words = [one.name for one in choices]
        if have_numbers(choices):
            words += [str(number) for number in range(1, len(choices) + 1)]
        return any(len(word) > len(typed) and word.lower().startswith(typed.lower()) for word in words)

    def _named(self, word: str) -> NextMove | None:
        """Return the legal move of this name, or None."""
        return next((one for one in self.game.choices if one.name == word), None)

    def _find_choice(self, word: str) -> NextMove | None:
        """Return the legal move for an arrow key, a number, or a name in the other case if that is clear; or None."""
        if word in ARROWS:
            return self._named(ARROWS[word])
        choices = self.game.choices
        cube = self.game.puzzle.sequences.cube
        is_wide = cube is not None and word in cube.words  # small letters of cubes are turns of two layers
        close = [one for one in choices if one.name.lower() == word.lower() and not is_wide]
        if len(close) == 1:
            return close[0]
        if have_numbers(choices) and word.isascii() and word.isdecimal() and 1 <= int(word) <= len(choices):
            return choices[int(word) - 1]
        return None


def have_numbers(choices: Sequence[NextMove]) -> bool:
    """Return whether moves can be chosen by their numbers; not if numbers are their names, as for pancakes."""
    return any(not one.name.isdecimal() for one in choices)


class Typing:
    """Turns keys into commands of a player, and keeps the characters of an incomplete command."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.typed = ""
        """Beginning of a command."""
        self._is_wrong = False
        """Whether the last key was not understood; the Enter after a wrong name makes no move."""

    def obey(self, pressed: "list[Pressed]") -> None:
        """Take keys and pasted texts that arrived together."""
        for one in pressed:
            if self._player.has_quit:
                return
            if one.pasted:
                self._command(self.typed + one.text)
            else:
                self._key(one.text)

    def _key(self, key: str) -> None:
        was_wrong, self._is_wrong = self._is_wrong, False
        if self.typed and key == "backspace":
            self.typed = self.typed[:-1]
        elif key == "enter" and (self.typed or not was_wrong):
            self._command(self.typed)
        elif key == "enter":
            return
        elif len(key) > 1:
            self._command(key)
        elif self._player.waits_after(self.typed + key):
            self.typed += key
        else:
            self._command(self.typed + key)
            self._is_wrong = self._player.is_unclear

    def _command(self, text: str) -> None:
        self._player.obey(text)
        self.typed = ""


def screen(player: "Player") -> str:
    """Return the board, the distance, and the moves with their distances, as wide as the terminal allows."""
    game = player.game
    distance = game.distance
    far = f"{counted(distance, 'move')} from the {game.puzzle.depth_zero}" if distance else "solved"
    made = f", after {counted(game.moves_made, 'move')}" if game.moves_made else ""
    lines = [printable(f"{game.puzzle.name}: {far}{made}"), draw(game.puzzle, game.position, paint())]
    lines += _moves(game, terminal_columns())
    if player.message:
        lines.append(printable(player.message))
    return "\n".join(lines)


def _moves(game: Game, columns: int) -> list[str]:
    """Return lines with the legal moves, each with its number, its name and the distance after it."""
    choices, distance = game.choices, game.distance
    numbered = have_numbers(choices)
    words = []
    for number, one in enumerate(choices, start=1):
        sign = SIGNS[(one.distance > distance) - (one.distance < distance)]
        words.append(f"{f'{number} ' if numbered else ''}{printable(one.name)}: {one.distance} ({sign})")
    width = max(map(len, words), default=0) + 3
    each = max(1, (columns + 3) // width)
    return ["".join(word.ljust(width) for word in words[at : at + each]).rstrip() for at in range(0, len(words), each)]


class Pressed(NamedTuple):
    """The name of a key, a character, or pasted text."""

    text: str
    pasted: bool = False


@contextmanager
def keys() -> Iterator[Iterator[list[Pressed]]]:
    """Yield an iterator over the keys pressed, in lists of keys that arrived together; Ctrl-C works as usual.

    The end of the input counts as the key "quit". At exit, the terminal is restored, and pending input is dropped: the
    shell must not run the rest of a paste.
    """
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)
    try:
        print(MARK_PASTES, end="", flush=True)
        yield _pressed(number)
    finally:
        print(MARK_NO_PASTES, end="", flush=True)
        termios.tcsetattr(number, termios.TCSAFLUSH, before)


def _pressed(number: int) -> Iterator[list[Pressed]]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    rest = ""
    while read := _pending(number):
        text = rest + decoder.decode(read)
        unfinished = UNFINISHED.search(text)
        end = unfinished.start() if unfinished else len(text)
        rest = text[end:]
        yield [one for piece in PIECES.finditer(text[:end]) for one in _in_piece(piece)]
    yield [Pressed("quit")]


def _pending(number: int) -> bytes:
    """Return the bytes that have arrived, or wait until some arrive; return no bytes at the end of the input."""
    found = read = os.read(number, AT_ONCE)
    while read and len(found) < MAX_AT_ONCE and select.select([number], [], [], 0)[0]:
        read = os.read(number, AT_ONCE)
        found += read
    return found


def _in_piece(piece: re.Match[str]) -> Iterator[Pressed]:
    if piece["marked"] is not None:
        yield from (Pressed(line, pasted=True) for line in re.split(r"[\r\n]+", piece["marked"]) if line.strip())
    elif piece["key"] is not None:
        if piece["key"] in NAMES:  # other keys have no meaning here
            yield Pressed(NAMES[piece["key"]])
    else:
        at = 0
        for words in WORDS.finditer(piece["text"]):
            yield from map(_key, piece["text"][at : words.start()])
            yield Pressed(words[1], pasted=True)
            at = words.end()
        yield from map(_key, piece["text"][at:])


def _key(character: str) -> Pressed:
    return Pressed(NAMES.get(character, character))
