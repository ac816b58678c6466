"""A person who walks through a table: each command is a key or a word."""

from enum import Enum
from typing import TYPE_CHECKING

from antipodes.cli.play.keys import Pressed
from antipodes_tasks.errors import PositionError, UnreachableError
from antipodes_tasks.quoting import quote

if TYPE_CHECKING:
    from antipodes.tables.game import Choice, Game

STEP, BACK, QUIT = ("", "step", "space"), ("b", "back", "backspace"), ("q", "quit", "exit")
ARROWS = {"left": "L", "right": "R", "up": "U", "down": "D"}


class Ended(Enum):
    """Whether the player goes on."""

    NO = "no"
    YES = "yes"


class Player:
    """Makes the moves that a person asks for."""

    def __init__(self, game: "Game") -> None:
        self.game = game
        self.message = ""
        """What came of the last command, in a few words; empty if that can be seen."""

    def obey(self, command: str) -> Ended:
        """Do what a word or the name of a key says; what is unclear changes nothing and leaves a message."""
        word = command.strip()
        self.message = ""
        if (choice := self._named(word)) is not None:
            self.game.make(choice)
        elif word.lower() in QUIT:
            return Ended.YES
        elif word.lower() in BACK:
            self.message = "" if self.game.back() else "no move to take back"
        elif word.lower() in STEP:
            made = self.game.step()
            self.message = f"move {made.name}" if made else f"this is the {self.game.puzzle.depth_zero}"
        elif (choice := self._meant(word)) is not None:
            self.game.make(choice)
        else:
            return self._obey_several(word)
        return Ended.NO

    def _obey_several(self, text: str) -> Ended:
        """Begin anew at a position, make the moves of a sequence, or obey words one after another."""
        puzzle, words = self.game.puzzle, text.split()
        try:
            if puzzle.is_position(text):
                self.game.begin_at(puzzle.parse(text))
            elif len(words) > 1 and not self._leads(text):
                return self._obey_words(words)
            elif len(words) == 1:
                self.game.follow(text)
        except UnreachableError as error:
            self.message = str(error)
        except PositionError:
            names = " ".join(one.name for one in self.game.choices)
            self.message = f"expected a legal move ({names}), step, back, quit or a position; found {quote(text)}"
        return Ended.NO

    def _leads(self, text: str) -> bool:
        """Whether the text is a sequence of moves, which are then made."""
        try:
            self.game.follow(text)
        except PositionError:
            return False
        return True

    def _obey_words(self, words: list[str]) -> Ended:
        """Obey each word, up to one that is unclear."""
        for number, word in enumerate(words):
            if self.obey(word) is Ended.YES:
                return Ended.YES
            if self.message.startswith("expected"):
                self.message += f", word {number + 1} of {len(words)}"
                break
        return Ended.NO

    def waits_after(self, typed: str) -> bool:
        """Whether a longer command begins with what was typed, so that Enter has to tell where it ends."""
        choices = self.game.choices
        words = [*(one.name for one in choices), *(str(number) for number in range(1, len(choices) + 1))]
        return any(len(word) > len(typed) and word.lower().startswith(typed.lower()) for word in words)

    def _named(self, word: str) -> "Choice | None":
        """The legal move of this name."""
        return next((one for one in self.game.choices if one.name == word), None)

    def _meant(self, word: str) -> "Choice | None":
        """The legal move of an arrow key, of a name in another case if that is clear, or of a number."""
        if word in ARROWS:
            return self._named(ARROWS[word])
        choices = self.game.choices
        close = [one for one in choices if one.name.lower() == word.lower()]
        if len(close) == 1:
            return close[0]
        if word.isascii() and word.isdecimal() and 1 <= int(word) <= len(choices):
            return choices[int(word) - 1]
        return None


class Typing:
    """Keys one after another as commands of a player: what was typed so far, until it is one."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.typed = ""
        """The beginning of a command."""
        self.ended = Ended.NO

    def obey(self, pressed: "list[Pressed]") -> None:
        """Take keys and pasted texts, which came together."""
        for one in pressed:
            if self.ended is Ended.YES:
                return
            if one.pasted:
                self._command(self.typed + one.text)
            else:
                self._key(one.text)

    def _key(self, key: str) -> None:
        if self.typed and key == "backspace":
            self.typed = self.typed[:-1]
        elif key == "enter":
            self._command(self.typed)
        elif len(key) > 1:
            self._command(key)
        elif self._player.waits_after(self.typed + key):
            self.typed += key
        else:
            self._command(self.typed + key)

    def _command(self, text: str) -> None:
        self.ended, self.typed = self._player.obey(text), ""
