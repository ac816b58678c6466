from itertools import pairwise

import numpy as np
import random_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from antipodes.bfs import partition
from antipodes.bfs.arrays import UNREACHED, Depths
from antipodes.bfs.proof import Block, Findings, check_partition
from antipodes.spaces import rules
from antipodes.spaces.move_tables import MoveTables

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def some_tables(rng: np.random.Generator) -> tuple[MoveTables, NDArray[np.int64], Depths]:
    """Random tables, starts, and the distances from them."""
    rows, width = int(rng.integers(1, 10)), int(rng.choice([1, 2, 20]))
    tables = random_tables.random_tables(rng, rows, width, bool(rng.integers(2)))
    starts = np.unique(rng.integers(rows * width, size=rng.integers(1, 4)))
    return tables, starts, random_tables.distances(tables, starts)


def check(
    rng: np.random.Generator, tables: MoveTables, starts: NDArray[np.int64], depths: Depths, deepest: int, expanded: int
) -> list[Findings]:
    """The findings in random partitions."""
    bounds = sorted({0, len(depths), *rng.integers(0, len(depths) + 1, size=2).tolist()})
    blocks = [Block(first, depths[first:end]) for first, end in pairwise(bounds)]
    before = partition.predecessors(partition.successors(tables, bounds))
    return [
        check_partition(block, [blocks[one] for one in before[number]], tables, starts, deepest, expanded, 1)
        for number, block in enumerate(blocks)
    ]


def deepest_of(depths: Depths) -> int:
    return int(depths[depths != 65535].max())


def all_of(findings: list[Findings], kind: str) -> list[int]:
    return np.concatenate([getattr(one, kind) for one in findings]).tolist()


@settings(deadline=None)
@given(seeds, st.sampled_from(["uint8", "uint16"]))
def test_distances_are_correct(rng: np.random.Generator, dtype: str) -> None:
    tables, starts, depths = some_tables(rng)
    deepest, wide = deepest_of(depths), depths.astype(dtype)
    wide[depths == 65535] = UNREACHED[dtype]
    findings = check(rng, tables, starts, wide, deepest, deepest)
    assert [all_of(findings, kind) for kind in ("skipped", "unsupported", "not_zero")] == [[], [], []]
    layers = np.sum([one.layers for one in findings], axis=0).tolist()
    assert layers == [*np.bincount(depths[depths <= deepest]).tolist(), int((depths == 65535).sum())]


@settings(deadline=None)
@given(seeds)
def test_an_unfinished_table_is_correct_up_to_its_depth(rng: np.random.Generator) -> None:
    tables, starts, depths = some_tables(rng)
    committed = int(rng.integers(deepest_of(depths) + 1))
    depths[depths > committed] = rng.choice([65535, committed + 1])
    findings = check(rng, tables, starts, depths, committed, committed - 1)
    assert [all_of(findings, kind) for kind in ("skipped", "unsupported", "not_zero")] == [[], [], []]


@settings(deadline=None)
@given(seeds)
def test_wrong_depths_are_found(rng: np.random.Generator) -> None:
    tables, starts, depths = some_tables(rng)
    deepest = deepest_of(depths)
    for index in rng.integers(depths.size, size=3):
        depths.ravel()[index] = rng.choice([*range(deepest + 1), 65535])
    skipped, unsupported = set(), set(np.flatnonzero(depths <= deepest).tolist()) - set(starts.tolist())
    for index, depth in enumerate(depths.ravel().tolist()):
        for row, column in random_tables.successors(tables, *divmod(index, depths.shape[1])):
            there = row * depths.shape[1] + column
            after = int(depths[row, column])
            if depth <= deepest and (after > deepest or after > depth + 1):
                skipped.add(there)
            if depth < after:
                unsupported.discard(there)
    findings = check(rng, tables, starts, depths, deepest, deepest)
    assert all_of(findings, "skipped") == sorted(skipped)
    assert all_of(findings, "unsupported") == sorted(unsupported)
    assert all_of(findings, "not_zero") == [start for start in starts.tolist() if depths.ravel()[start] != 0]


@settings(deadline=None)
@given(seeds)
def test_successors_by_the_tables(rng: np.random.Generator) -> None:
    tables, _, depths = some_tables(rng)
    sample = rng.integers(depths.size, size=10)
    neighbours = rules.by_tables(tables, sample)
    for place, index in enumerate(sample.tolist()):
        expected = random_tables.successors(tables, *divmod(index, depths.shape[1]))
        found = neighbours.indices[neighbours.of == place].tolist()
        assert sorted(found) == sorted(row * depths.shape[1] + column for row, column in expected)
