"""Words: sequences of moves, together with the rotation of the cube after the last move."""

from dataclasses import dataclass

from antipodes.puzzles.cube_rotations import UNROTATED, Rotation
from antipodes_tasks.base.errors import PositionError

PRIME = "'"
LONGEST = 10_000
"""Maximum number of moves of a sequence; powers and brackets can abbreviate far longer ones."""


@dataclass(frozen=True, slots=True)
class Word:
    """A sequence of moves that implements `antipodes.puzzles.sequences.Composable`."""

    steps: tuple[tuple[str, bool], ...]
    """The name of each move on the unrotated cube, and whether the move is inverted."""
    held: Rotation = UNROTATED
    """The rotation of the cube after the moves, which renames all later moves; UNROTATED for other puzzles."""

    def compose(self, other: "Word") -> "Word":
        """Return these moves followed by the moves of another word."""
        _check_length(len(self.steps) + len(other.steps))
        return Word(self.steps + _renamed(other.steps, self.held), self.held.compose(other.held))

    def power(self, exponent: int) -> "Word":
        """Return these moves repeated ``exponent`` times, or their inverse repeated if the exponent is negative."""
        _check_length(len(self.steps) * abs(exponent))
        if exponent < 0:
            return self._undone().power(-exponent)
        if self.held == UNROTATED or not self.steps:
            return Word(self.steps * exponent, self.held.power(exponent))
        repeated = [_renamed(self.steps, self.held.power(number)) for number in range(exponent)]
        return Word(tuple(step for steps in repeated for step in steps), self.held.power(exponent))

    def _undone(self) -> "Word":
        """Return the inverse: the inverse rotation, then the inverse moves from the last to the first."""
        back = self.held.power(-1)
        steps = tuple((name, not undone) for name, undone in reversed(self.steps))
        return Word(_renamed(steps, back), back)


def _renamed(steps: tuple[tuple[str, bool], ...], held: Rotation) -> tuple[tuple[str, bool], ...]:
    if held == UNROTATED:
        return steps
    return tuple((held.renamed(name), undone) for name, undone in steps)


def _check_length(moves: int) -> None:
    if moves > LONGEST:
        raise PositionError(f"expected a sequence of at most {LONGEST:,} moves, found {moves:,}")
