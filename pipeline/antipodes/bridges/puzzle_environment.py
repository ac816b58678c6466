"""The environment of Gymnasium that `antipodes.bridges.gymnasium.make` returns."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete
from numpy.typing import NDArray

from antipodes.drawing.image_files import image
from antipodes.tables.table import Table
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.rules.moves import LegalMoves
from antipodes_tasks.rules.parts import moduli_of

RENDER_MODE = "rgb_array"
Observation = NDArray[np.int64]


class PuzzleEnvironment(gymnasium.Env[Any, Any]):
    """An environment whose episodes start at some distances from a start of the table, and end there."""

    metadata = {"render_modes": [RENDER_MODE], "render_fps": 2}  # noqa: RUF012

    def __init__(self, table: Table, distances: Sequence[int], render_mode: str | None) -> None:
        self.table, self.render_mode = table, render_mode
        self._distances = distances
        self._numbers = {action: number for number, action in enumerate(table.puzzle.actions)}
        self.action_space = Discrete(len(self._numbers))
        self.observation_space = MultiDiscrete(moduli_of(table.puzzle.parts))
        self._position: Labels = table.puzzle.start_labels[0]

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode at a random position, or at ``options["position"]``; return the observation and ``info``.

        Raises PositionError or UnreachableError if the given position is invalid or unreachable.
        """
        super().reset(seed=seed)
        given = (options or {}).get("position")
        if given is None:
            depth = int(self.np_random.choice(self._distances))
            self._position = self.table.random_position(depth, self.np_random)
        else:
            self.table.distance(given)  # raises if it is invalid
            self._position = self.table.space.labels(given)
        return self._seen()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply a move; return the observation, the reward, whether the episode ended, False, and ``info``."""
        if not self.action_space.contains(action):
            raise InputError(f"expected an action from 0 to {len(self._numbers) - 1}, found {action!r}")
        legal = self._legal_moves()
        chosen = np.flatnonzero(self._actions(legal) == action)
        if len(chosen):
            self._position = legal.positions[chosen[0]]
        observation, info = self._seen()
        return observation, -1.0, info["distance"] == 0, False, info

    def render(self) -> NDArray[np.uint8] | None:
        """Return the picture of the position, ``(height, width, 3)``; None without a render mode."""
        if self.render_mode is None:
            return None
        return np.asarray(image(self.table.puzzle.picture(self._position), 1, RENDER_MODE))

    def _seen(self) -> tuple[Observation, dict[str, Any]]:
        """Return the observation and ``info``."""
        return self._position.astype(np.int64), {
            "distance": self.table.distance(self._position),
            "best_moves": self._actions(self.table.best_moves(self._position[np.newaxis])),
            "legal_moves": self._actions(self._legal_moves()),
        }

    def _legal_moves(self) -> LegalMoves:
        return self.table.puzzle.moves.legal_moves(self._position[np.newaxis])

    def _actions(self, moves: LegalMoves) -> NDArray[np.int64]:
        """Return the number of the action of each move ``(k,)``, ascending for the moves of the puzzle."""
        names = moves.names or self.table.puzzle.actions
        return np.array([self._numbers[names[move]] for move in moves.moves.tolist()], dtype=np.int64)
