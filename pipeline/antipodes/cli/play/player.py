"""A person who walks through a table: each command is a key or a word."""

from enum import Enum
from typing import TYPE_CHECKING

from antipodes.quoting import quote

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
            self.message = f"move {made.name}" if made else "this is the start"
        elif (choice := self._meant(word)) is not None:
            self.game.make(choice)
        else:
            names = " ".join(one.name for one in self.game.choices)
            self.message = f"expected a legal move ({names}), step, back or quit; found {quote(word)}"
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
