"""Random positions from which a goal is reachable, for decisions that depend on typical positions."""

import numpy as np

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.rules.parts import random_numbers
from antipodes_tasks.rules.rules import Rules

SAMPLE, WALK = 256, 40
"""Number of random positions, and number of random moves that lead to each."""


def solvable_sample(rules: Rules, goal: Labels) -> Labels:
    """Return positions ``(SAMPLE, places)`` from which a goal ``(places,)`` is reachable; always the same positions."""
    numbers = random_numbers(SAMPLE * WALK, "views").reshape(WALK, SAMPLE) % np.uint64(len(rules.moves))
    labels = np.tile(goal, (SAMPLE, 1))
    for drawn in numbers:
        for move in range(len(rules.moves)):
            chosen = drawn == move
            labels[chosen] = rules.moves.undo(move, labels[chosen])[0]
    return labels
