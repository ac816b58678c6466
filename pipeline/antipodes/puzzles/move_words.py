"""Words of moves: moves one after another, with the rotation of the cube in which they end."""

from dataclasses import dataclass

from antipodes.puzzles.cube_rotations import UNROTATED, Rotation
from antipodes_tasks.errors import PositionError

PRIME = "'"
LONGEST = 10_000
"""Moves of a sequence: powers and brackets write more of them in a few characters than anyone can follow."""


@dataclass(frozen=True, slots=True)
class Word:
    """Moves one after another, as sequences are made of; see `antipodes.puzzles.sequences.Composable`."""

    steps: tuple[tuple[str, bool], ...]
    """The name of each move on the unrotated cube, and whether it is undone instead."""
    held: Rotation = UNROTATED
    """How the cube is held after the moves, which renames those that follow; only cubes are rotated."""

    def compose(self, other: "Word") -> "Word":
        """These moves, and after them the others."""
        _check_length(len(self.steps) + len(other.steps))
        return Word(self.steps + _renamed(other.steps, self.held), self.held.compose(other.held))

    def power(self, exponent: int) -> "Word":
        """These moves so many times; undone, from the last to the first, if the exponent is negative."""
        _check_length(len(self.steps) * abs(exponent))
        if exponent < 0:
            return self._undone().power(-exponent)
        if self.held == UNROTATED or not self.steps:
            return Word(self.steps * exponent, self.held.power(exponent))
        repeated = [_renamed(self.steps, self.held.power(number)) for number in range(exponent)]
        return Word(tuple(step for steps in repeated for step in steps), self.held.power(exponent))

    def _undone(self) -> "Word":
        """The moves undone, from the last to the first, after the rotation undone."""
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
