"""Puzzles with more column maps than 16 bits number."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import Position, distances, exchanged, layers

from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config
from antipodes.puzzles.families import puzzle_from
from antipodes.tables.run import run_puzzle
from antipodes.tables.table import open_table
from antipodes.tables.verify import verify
from antipodes_tasks.move_tables import INDICES_OF_INT16, index_type
from antipodes_tasks.spaces import swap_tables
from antipodes_tasks.spaces.selection import best_space, every_cut, numbering_of

SQUARES = 184
START = "-B" + "A" * (SQUARES - 2)


def settings(**moves: Any) -> dict[str, Any]:
    return {"name": "wide", "family": "jump", "start": START, **moves}


COMPLETE = settings(offsets=[[0, step] for step in range(1 - SQUARES, SQUARES)])


def test_the_numbers_take_as_many_bytes_as_they_need() -> None:
    assert (index_type(1 << 15), index_type((1 << 15) + 1)) == (np.int16, np.int32)
    with pytest.raises(OverflowError):
        index_type((1 << 31) + 1)
    space = best_space(Config(COMPLETE).puzzle.rules)
    assert space.filler.most_column_maps > INDICES_OF_INT16
    tables = space.filler.filled()
    assert (tables.column_map.dtype, tables.column_map.min()) == (np.int32, 0)
    assert tables.column_map.max() < len(tables.column_maps)


def random_graph() -> dict[str, Any]:
    """A graph with few edges, whose moves still have more column maps than 16 bits number."""
    rng = random.Random(1)
    return settings(edges=[[end, place] for place in range(1, SQUARES) for end in {0, rng.randrange(place)}])


@pytest.mark.slow
def test_against_brute_force(tmp_path: Path) -> None:
    around: list[set[int]] = [set() for _ in range(SQUARES)]
    for a, b in random_graph()["edges"]:
        around[a].add(b)
        around[b].add(a)

    def after(position: Position) -> Iterable[Position]:
        empty = position.index("-")
        return (exchanged(position, other, empty) for other in around[empty])

    expected = distances([tuple(START)], after)
    config = Config(random_graph())
    assert best_space(config.puzzle.rules).filler.most_column_maps > INDICES_OF_INT16
    report = run_puzzle(config, tmp_path / "t.zarr")
    assert list(report.manifest.layers) == layers(expected)
    some = random.Random(1).sample(sorted(expected), 1000)
    with open_table(tmp_path / "t.zarr") as table:
        assert table.distances(["".join(one) for one in some]).tolist() == [expected[one] for one in some]
    assert verify(tmp_path / "t.zarr", Threads(2)).ok


def test_verify_names_wrapped_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swap_tables, "index_type", lambda count: np.int16)
    run_puzzle(Config(random_graph()), tmp_path / "t.zarr")
    verdict = verify(tmp_path / "t.zarr", Threads(2))
    assert not verdict.ok
    assert "moves by the rules of the puzzle that differ from the move tables" in " | ".join(verdict.problems)


def test_cuts_that_no_array_can_hold_are_compared() -> None:
    rules = puzzle_from({"name": "stack", "family": "pancake", "n": 13}).rules
    bytes_of = [space.filler.table_bytes for space in every_cut(rules, numbering_of(rules))]
    assert min(bytes_of) < 1 << 26
    assert max(bytes_of) > 1 << 33
