"""Random walkers whose quantiles are the bounds of ranges."""

from collections.abc import Callable

import numpy as np
import pytest

from antipodes.puzzles.config import Config, load_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Keys, Packing, rows_of
from antipodes_tasks.keys.ranges import _moved, _stepped, _tag_word, layers
from antipodes_tasks.spaces.keyed import start_keys

STUCK = {"name": "stuck", "family": "jump", "start": "AAB/A-B/---", "offsets": [[0, 1], [1, 0], [1, 1]]}
"""Pieces that go right and down: most positions have few moves, and some none."""
TOWERS = {"name": "towers", "family": "hanoi", "pegs": 4, "discs": 36}
"""Keys of two words."""
PUZZLES: dict[str, Callable[[], Puzzle]] = {
    "one word": lambda: load_config("rush-hour").puzzle,
    "two words": lambda: Config(TOWERS).puzzle,
    "dead ends": lambda: Config(STUCK).puzzle,
}


def as_sets(keys: Keys) -> set[tuple[int, ...]]:
    return set(map(tuple, rows_of(keys).tolist()))


@pytest.mark.parametrize("tagged", [True, False])
@pytest.mark.parametrize("name", PUZZLES)
def test_each_walker_takes_a_step_of_its_own(name: str, tagged: bool) -> None:
    """Any of its own with the same probability: else a crowd stays where there are many moves."""
    rules = PUZZLES[name]().rules
    expansion = Expansion(rules, Packing.of(rules))
    word = _tag_word(expansion)
    assert word == expansion.packing.words - 1
    found = layers(expansion, start_keys(rules, expansion.packing))
    keys = np.concatenate([layer for layer, _ in zip(found, range(6), strict=False)])[:40]
    walkers = np.repeat(keys, 6, axis=0)
    rng = np.random.default_rng(1)
    after = _stepped(word, expansion, walkers, rng) if tagged else _moved(expansion, walkers, rng)
    for number in range(len(keys)):
        own = as_sets(expansion.successors(keys[number : number + 1])) or as_sets(keys[number : number + 1])
        stepped = as_sets(after[6 * number : 6 * number + 6])
        assert stepped <= own
        assert len(stepped) > 1 or len(own) < 3
