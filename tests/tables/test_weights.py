"""Entries that stand for several positions: towers of Hanoi with two pegs taken for the same."""

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import pytest

from antipodes.config import Config
from antipodes.runs.options import RunOptions
from antipodes.tables.run import RunReport, run_puzzle
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.table import open_table
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces import selection
from antipodes_tasks.spaces.move_tables import ILLEGAL, Fill, Filler, Indices, MoveTables
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.space import Numbering, SpaceRecord

TOWERS = Config({"name": "towers", "family": "hanoi", "pegs": 3, "discs": 6})
SWAPPED = np.array([0, 2, 1], dtype=np.uint8)
"""The pegs after the last two are exchanged, which maps starts to starts and moves to moves."""


@dataclass(frozen=True)
class Reduced(Numbering):
    """Positions up to an exchange of the last two pegs where that moves the smallest disc; else all positions."""

    KIND: ClassVar[str] = "reduced"

    whole: Orbits

    @classmethod
    def of(cls, rules: Rules) -> Self:
        return cls(Orbits.of(rules))

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        return cls.of(rules)

    @property
    def radices(self) -> tuple[int, ...]:
        return 2, *self.whole.radices[1:]

    @property
    def cuts(self) -> tuple[int]:
        return (len(self.radices),)

    def weights(self, leading: int) -> Indices:
        return np.repeat([1, 2], self.size // 2)

    def rank(self, labels: Labels) -> Indices:
        return self.whole.rank(np.where(labels[:, :1] == 2, SWAPPED[labels], labels))

    def unrank(self, indices: Indices) -> Labels:
        return self.whole.unrank(indices)

    def filler(self, rules: Rules, leading: int) -> "Successors":
        return Successors(rules, self)


@dataclass(frozen=True)
class Successors(Filler):
    """The entries one move after any of the positions that an entry stands for."""

    rules: Rules
    numbering: Reduced
    width: ClassVar[int] = 1  # type: ignore[assignment]
    most_moves: ClassVar[int] = 6  # type: ignore[assignment]
    most_column_maps: ClassVar[int] = 1  # type: ignore[assignment]

    @property
    def rows(self) -> int:
        return self.numbering.size

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        target = np.full((self.rows, self.most_moves), ILLEGAL, dtype=np.int32)
        for entry, labels in enumerate(self.numbering.unrank(np.arange(self.rows))):
            after = np.concatenate([self.rules.moves.successors(each) for each in (labels, SWAPPED[labels])])
            found = np.unique(self.numbering.rank(after))
            target[entry, : len(found)] = found
        return MoveTables(target, np.zeros((self.rows, 0), np.int16), np.zeros((1, 1), np.int32)), []

    def building_bytes(self, threads: int) -> int:
        return 0


@pytest.fixture
def reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(selection.KINDS, Reduced.KIND, "reduced.Reduced")
    monkeypatch.setattr(selection, "_kind_for", lambda rules: Reduced)
    monkeypatch.setattr(selection, "_kind", lambda name: Reduced)


def whole_layers(tmp_path: Path) -> tuple[int, ...]:
    return tuple(run_puzzle(TOWERS, tmp_path / "whole.zarr", RunOptions(workers=1)).manifest.layers)


def run(store: Path, layers: int = 1000, *, counts_only: bool = False) -> RunReport:
    """The report of a run that is interrupted after some layers."""
    asked = count()
    options = RunOptions(workers=2, counts_only=counts_only, checkpoint_every=0)
    return run_puzzle(TOWERS, store, options, interrupted=lambda: next(asked) >= layers)


def check(manifest: SearchManifest, expected: tuple[int, ...]) -> None:
    assert manifest.positions == expected[: len(manifest.layers)]
    assert all(entries <= positions for entries, positions in zip(manifest.layers, expected, strict=False))


@pytest.mark.parametrize("counts_only", [False, True])
def test_layers_count_positions_also_of_a_run_that_is_resumed(
    counts_only: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    expected = whole_layers(tmp_path)
    request.getfixturevalue("reduced")
    begun = run(tmp_path / "reduced.zarr", 9, counts_only=counts_only)
    assert not begun.complete
    check(begun.manifest, expected)
    report = run(tmp_path / "reduced.zarr", counts_only=counts_only)
    assert report.complete
    check(report.manifest, expected)
    assert sum(report.manifest.layers) == 2 * 3**5
    assert (report.manifest.states, report.to_json()["layers"]) == (3**6, list(expected))
    assert report.to_json()["antipodes"] == expected[-1]


def test_a_table_speaks_of_positions_and_finds_each(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    expected = whole_layers(tmp_path)
    with open_table(tmp_path / "whole.zarr") as whole:
        every = whole.space.unrank(np.arange(3**6))
        distances = whole.distances(every)
    request.getfixturevalue("reduced")
    run(tmp_path / "reduced.zarr")
    with open_table(tmp_path / "reduced.zarr") as table:
        assert (tuple(table.layers), len(table), table.index_size) == (expected, 3**6, 2 * 3**5)
        assert table.distances(every).tolist() == distances.tolist()


def test_a_table_without_weights_says_nothing_of_them(tmp_path: Path) -> None:
    run_puzzle(TOWERS, tmp_path / "whole.zarr", RunOptions(workers=1))
    assert "weighed" not in (tmp_path / "whole.zarr" / "commit.json").read_text()
