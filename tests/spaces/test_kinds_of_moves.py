"""A new kind of move is one class that states its moves; all other code stays the same."""

from dataclasses import replace

import numpy as np
import pytest

from antipodes.puzzles.config import Config, load_config
from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Packing
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.rules.moves import Moves, Pairs
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.searches.breadth_first import bidirectional
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.spaces.selection import best_space


class NewKind(Moves):
    """Moves that delegate to others, without being of their class."""

    def __init__(self, moves: Moves) -> None:
        self.made = moves

    def __len__(self) -> int:
        return len(self.made)

    @property
    def reversible(self) -> bool:
        return self.made.reversible

    @property
    def table_key(self) -> bytes:
        return b"new" + self.made.table_key

    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        return self.made.move(number, labels)

    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        return self.made.undo(number, labels)


class StatedAsPairs(NewKind):
    def __init__(self, moves: Moves) -> None:
        super().__init__(moves)
        self.pairs: Pairs | None = moves.pairs


class StatedAsTransforms(NewKind):
    @property
    def transforms(self) -> Transforms | None:
        return Transforms.of(self.made)


class OnlyApplied(NewKind):
    are_functions = True


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (load_config("eight-puzzle"), StatedAsPairs),
        (load_config("ivy"), StatedAsTransforms),
        (Config({"name": "towers", "family": "hanoi", "pegs": 3, "discs": 4}), OnlyApplied),
    ],
)
def test_a_new_kind_of_move_has_every_feature(config: Config, kind: type[NewKind]) -> None:
    rules = config.puzzle.rules
    new = replace(rules, moves=kind(rules.moves))
    expected, space = best_space(rules), best_space(new)
    if kind is not OnlyApplied:
        assert (space.record, best_space(new, "on").record) == (expected.record, best_space(rules, "on").record)
        assert symmetries_of(new).order == symmetries_of(rules).order
    assert space.filler.filled().target.max() < space.rows
    positions = expected.unrank(np.arange(0, expected.size, max(1, expected.size // 20)))
    one = positions[-1]
    assert bidirectional(Problem.of(new, one)).distance == bidirectional(Problem.of(rules, one)).distance
    assert _expanded(new, positions) == _expanded(rules, positions)


def _expanded(rules: Rules, positions: Labels) -> set[bytes]:
    packing = Packing.of(rules)
    keys = Expansion(rules, packing).successors(packing.pack(positions))
    return set(map(bytes, packing.unpack(keys)))
