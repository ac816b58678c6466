from itertools import pairwise

import numpy as np
import random_tables
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from antipodes_tasks.bfs.bitmaps import UNREACHED, Depths
from antipodes_tasks.bfs.partition import sources
from antipodes_tasks.bfs.proof import MAX_EXAMPLES, Findings, RowDepths, Wrong, check_block, least_before
from antipodes_tasks.move_tables import MoveTables

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
    """The findings in random blocks, against predecessors in other random blocks."""
    bounds, edges = (
        [0, *sorted(rng.integers(1, len(depths), size=2)), len(depths)] if len(depths) > 1 else [0, 1] for _ in range(2)
    )
    before = [RowDepths(first, depths[first:end]) for first, end in pairwise(edges)]
    findings = []
    for numbers, (first, end) in zip(sources(tables, edges, bounds), pairwise(bounds), strict=True):
        least = least_before(first, end, (before[one] for one in numbers), tables, expanded, depths.dtype.name)
        findings.append(check_block(RowDepths(first, depths[first:end]), least, starts, deepest, 1))
    return findings


def deepest_of(depths: Depths) -> int:
    return int(depths[depths != 65535].max())


def all_of(findings: list[Findings], kind: str) -> int:
    return sum(getattr(one, kind).count for one in findings)


def listed(findings: list[Findings], kind: str, expected: set[int]) -> bool:
    """Whether the findings count the expected positions, and list the first of them in each block."""
    found: list[Wrong] = [getattr(one, kind) for one in findings]
    indices = np.concatenate([one.first for one in found]).tolist()
    complete = all(len(one.first) == min(one.count, MAX_EXAMPLES) for one in found)
    return complete and sum(one.count for one in found) == len(expected) and set(indices) <= expected


@given(seeds, st.sampled_from(["uint8", "uint16"]))
def test_distances_are_correct(rng: np.random.Generator, dtype: str) -> None:
    tables, starts, depths = some_tables(rng)
    deepest, wide = deepest_of(depths), depths.astype(dtype)
    wide[depths == 65535] = UNREACHED[dtype]
    findings = check(rng, tables, starts, wide, deepest, deepest)
    assert [all_of(findings, kind) for kind in ("skipped", "unsupported", "not_zero")] == [0, 0, 0]
    layers = np.sum([one.layers for one in findings], axis=0).tolist()
    assert layers == [*np.bincount(depths[depths <= deepest]).tolist(), int((depths == 65535).sum())]


@given(seeds)
def test_an_unfinished_table_is_correct_up_to_its_depth(rng: np.random.Generator) -> None:
    tables, starts, depths = some_tables(rng)
    committed = int(rng.integers(deepest_of(depths) + 1))
    depths[depths > committed] = rng.choice([65535, committed + 1])
    findings = check(rng, tables, starts, depths, committed, committed - 1)
    assert [all_of(findings, kind) for kind in ("skipped", "unsupported", "not_zero")] == [0, 0, 0]


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
    assert listed(findings, "skipped", skipped)
    assert listed(findings, "unsupported", unsupported)
    assert listed(findings, "not_zero", {start for start in starts.tolist() if depths.ravel()[start] != 0})


@given(seeds)
def test_successors_by_the_tables(rng: np.random.Generator) -> None:
    tables, _, depths = some_tables(rng)
    sample = rng.integers(depths.size, size=10)
    neighbours = tables.successors(sample)
    for place, index in enumerate(sample.tolist()):
        expected = random_tables.successors(tables, *divmod(index, depths.shape[1]))
        found = neighbours.indices[neighbours.of == place].tolist()
        assert sorted(found) == sorted(row * depths.shape[1] + column for row, column in expected)


@given(seeds, st.integers(0, 2**63 - 1))
def test_a_position_of_each_depth_is_drawn(rng: np.random.Generator, seed: int) -> None:
    depths = rng.integers(0, 9, size=(1, 300)).astype(np.uint8)
    drawn = check_block(RowDepths(7, depths), depths, np.zeros(0, dtype=np.int64), 6, seed).drawn
    assert (drawn >= 7 * 300).all()
    assert np.minimum(depths[0, drawn - 7 * 300], 7).tolist() == list(range(8))


def test_each_position_of_a_depth_is_drawn_as_often() -> None:
    depths = np.zeros((1, 10), dtype=np.uint8)
    no_starts = np.zeros(0, dtype=np.int64)
    times = np.zeros(10, dtype=np.int64)
    for seed in range(5000):
        times[check_block(RowDepths(0, depths), depths, no_starts, 0, seed * 7919).drawn[0]] += 1
    assert times.min() > 400
    assert times.max() < 600


def test_a_table_that_is_wrong_everywhere_lists_few_positions() -> None:
    depths = np.full((3, 5000), 4, dtype=np.uint8)
    least = np.full_like(depths, 9)
    unsupported = check_block(RowDepths(1, depths), least, np.array([5001], dtype=np.int64), 10, 0).unsupported
    assert unsupported.count == 14_999
    assert unsupported.first.tolist() == [5000, 5002, 5003, 5004, 5005]
