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
        choice = self._choice(word)
        if choice is not None:
            self.game.make(choice)
        elif word.lower() in QUIT:
            return Ended.YES
        elif word.lower() in BACK:
            self.message = "" if self.game.back() else "no move to take back"
        elif word.lower() in STEP:
            made = self.game.step()
            self.message = f"move {made.name}" if made else "this is the start"
        else:
            names = " ".join(one.name for one in self.game.choices)
            self.message = f"expected a legal move ({names}), step, back or quit; found {quote(word)}"
        return Ended.NO

    def is_whole(self, typed: str) -> bool:
        """Whether typed characters are a command already, and not the beginning of a longer one."""
        names = [one.name for one in self.game.choices]
        words = [*names, *(BACK[:1] if "b" not in {name[:1] for name in names} else ())]
        words += QUIT[:1] if "q" not in {name[:1] for name in names} else ()
        return typed in words and not any(name != typed and name.startswith(typed) for name in names)

    def _choice(self, word: str) -> "Choice | None":
        """The legal move of a name, whose case counts only if several differ by it; of an arrow key, or a number."""
        choices = self.game.choices
        wanted = ARROWS.get(word, word)
        exact = [one for one in choices if one.name == wanted]
        close = [one for one in choices if one.name.lower() == wanted.lower()]
        if exact or len(close) == 1:
            return (exact or close)[0]
        if word.isascii() and word.isdecimal() and 1 <= int(word) <= len(choices):
            return choices[int(word) - 1]
        return None
