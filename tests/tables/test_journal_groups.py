"""Shards of partitions: what they find, spill, write, restore and replay is the same in every way."""

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from journals import (
    CHUNK_ROWS,
    SPACE,
    advance,
    begun,
    depths,
    files,
    journal_at,
    move_links,
    new_shards,
    rows_of,
    search,
)

from antipodes.storage.file_lock import FileLock
from antipodes.tables.journal import Journal
from antipodes.tables.layers.bit_shard import boundary
from antipodes.tables.layers.shard import Shard
from antipodes.tables.layers.shard_segments import flush, write
from antipodes.tables.strategies.commitment import JOURNAL, flush_shards
from antipodes_tasks.base.errors import InterruptedRunError
from antipodes_tasks.bfs.bitmaps import Depths
from antipodes_tasks.bfs.partition import State


@pytest.fixture(autouse=True)
def _unlocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets shards write without a lock."""
    monkeypatch.setattr(FileLock, "check_token", lambda self, token: None)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return journal_at(tmp_path)


def undisturbed(journal: Journal) -> tuple[list[int], Depths]:
    """The layers after the first, and the depths, of a search in one shard."""
    shards = begun(journal, [5])
    return search(shards, 0), depths(shards)


@pytest.mark.parametrize(("sizes", "lean"), [([1, 1, 1, 1, 1], True), ([1, 3, 1], False), ([4, 1], True), ([5], True)])
def test_the_shards_do_not_change_the_result(sizes: list[int], lean: bool, journal: Journal) -> None:
    layers, expected = undisturbed(journal)
    shards = begun(journal, sizes)
    assert search(shards, 0, lean=lean) == layers
    assert np.array_equal(depths(shards), expected)
    counts = np.concatenate([one.segments.counts(len(layers) + 1) for one in shards])
    chunks = expected.reshape(-1, CHUNK_ROWS * SPACE.width)
    assert counts.tolist() == [[int((here == at).sum()) for at in range(len(layers) + 1)] for here in chunks]


def test_a_single_shard_advances_several_layers(journal: Journal) -> None:
    layers, expected = undisturbed(journal)
    (alone,) = begun(journal, [5])
    found = [count for depth in range(0, len(layers), 4) for count in alone.advance([], move_links(), depth, 4, "")]
    assert found[: len(layers)] == layers
    assert not any(found[len(layers) :])
    assert np.array_equal(depths([alone]), expected)


def test_only_rows_with_moves_into_the_readers_are_sent(journal: Journal) -> None:
    shards = begun(journal, [2, 1, 2])
    sent: set[int] = set()
    for depth in range(8):
        found = boundary(shards[:1], move_links(), [rows_of(shards[2])], depth, "")
        sent |= {int(row) for part in found.parts for row in part.rows}
        advance(shards, depth)
    assert sent
    assert all((move_links().tables.target[row] >= 32).any() for row in sent)


@pytest.mark.parametrize("buffer_bytes", [-10_000, -600, -500])
def test_spilled_segments_are_in_files(buffer_bytes: int, journal: Journal, tmp_path: Path) -> None:
    """Bits that are planned for but not needed make room for segments, hence the negative numbers."""
    _, expected = undisturbed(journal)
    shards = begun(journal, [2, 3], buffer_bytes)
    search(shards, 0)
    assert files(tmp_path)
    for one in shards:
        held = one.segments.log.size + sum(state.nbytes for state in one.states)
        assert not one.segments.log.size or held <= buffer_bytes + sum(state.most_bytes for state in one.states)
    assert np.array_equal(depths(shards), expected)


def flushed(journal: Journal, depth: int, sizes: Sequence[int] = (2, 3)) -> list[Shard]:
    """Shards that are written at every third depth up to this one."""
    shards = begun(journal, sizes)
    for at in range(depth + 1):
        if at % 3 == 0 or at == depth:
            flush([one.segments for one in shards], at, "")
        if at < depth:
            advance(shards, at)
    return shards


@pytest.mark.parametrize("depth", [0, 1, 8, 12])
def test_restored_shards_go_on(depth: int, journal: Journal) -> None:
    layers, expected = undisturbed(journal)
    flushed(journal, depth)
    shards = new_shards(journal, [1, 3, 1])  # divided in another way
    for one in shards:
        JOURNAL.restore(one, depth, journal.load(one.segments.first_chunk, one.segments.end_chunk))
    assert [one.depth for one in shards] == [depth] * 3
    assert np.sum([JOURNAL.layers(one) for one in shards], axis=0).tolist() == [1, *layers[:depth]]
    assert sum(one.count(depth) for one in shards) == [1, *layers][depth]
    assert search(shards, depth) == layers[depth:]
    assert np.array_equal(depths(shards), expected)


def test_flushing_again_writes_nothing(journal: Journal, tmp_path: Path) -> None:
    shards = flushed(journal, 6)
    before = [path.name for path in files(tmp_path)]
    flush([one.segments for one in shards], 6, "")
    assert [path.name for path in files(tmp_path)] == before


def uneven(journal: Journal) -> list[Shard]:
    """Shards restored at depth 9, which one of them lacks after depth 6, and which another had passed."""
    shards = begun(journal, [2, 2, 1])
    search(shards, 0, 6)
    flush([one.segments for one in shards], 6, "")
    search(shards, 6, 4)
    write([one.segments for one in shards[:1]], 10, "", durable=True)  # the second one was killed before
    search(shards, 10, 2)
    write([one.segments for one in shards[2:]], 12, "", durable=True)
    restored = new_shards(journal, [2, 2, 1])
    for one in restored:
        JOURNAL.restore(one, 9, journal.load(one.segments.first_chunk, one.segments.end_chunk))
    return restored


def test_shards_that_are_restored_unevenly_replay(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    layers, expected = undisturbed(journal)
    shards = uneven(journal)
    assert [(one.depth, one.segments.searched) for one in shards] == [(9, 10), (6, 6), (9, 12)]
    assert sum(one.go_back(6, "new") for one in shards) == layers[5]
    searched: list[tuple[int, int]] = []
    original = State.advance

    def watched(self: State, depth: int, *arguments: object) -> int:
        searched.append((self.part.number, depth))
        return original(self, depth, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(State, "advance", watched)
    found = []
    while count := advance(shards, 6 + len(found), "new"):
        found.append(count)
    assert found == layers[6:]
    assert {depth for number, depth in searched if number in (0, 1)} == set(range(11, len(layers) + 2))
    assert {depth for number, depth in searched if number in (2, 3)} == set(range(7, len(layers) + 2))
    assert {depth for number, depth in searched if number == 4} == set(range(13, len(layers) + 2))
    assert np.array_equal(depths(shards), expected)


def test_uneven_shards_write_what_is_missing(journal: Journal) -> None:
    layers, expected = undisturbed(journal)
    shards = uneven(journal)
    for one in shards:
        one.go_back(6, "")
    assert search(shards, 6, len(layers) - 6) == layers[6:]
    flush([one.segments for one in shards], len(layers), "")
    stored = journal.load(0, 15)
    assert stored.known.tolist() == [len(layers)] * 15
    assert stored.counts(len(layers) + 1).sum(axis=0).tolist() == [1, *layers]
    last = new_shards(journal, [5])
    JOURNAL.restore(last[0], len(layers), journal.load(0, 15))
    assert np.array_equal(depths(last), expected)


@pytest.mark.parametrize("depth", [0, 5, 10, 11])
def test_shards_go_back_and_replay(depth: int, journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    layers, expected = undisturbed(journal)
    shards = begun(journal, [2, 3], 100)
    search(shards, 0, 11)
    assert sum(one.go_back(depth, "new") for one in shards) == [1, *layers][depth]
    with monkeypatch.context() as patch:  # nothing is searched again
        patch.setattr("antipodes_tasks.bfs.partition.expand", None)
        patch.setattr("antipodes_tasks.bfs.partition.pull", None)
        again = [advance(shards, at, "new") for at in range(depth, 11)]
    assert again == layers[depth:11]
    found = []
    while count := advance(shards, 11 + len(found), "new"):
        found.append(count)
    assert found == layers[11:]
    assert np.array_equal(depths(shards), expected)


def test_a_shard_does_not_go_forward(journal: Journal) -> None:
    (alone,) = begun(journal, [5])
    search([alone], 0, 4)
    count = alone.count(4)
    assert alone.go_back(4, "") == count
    assert alone.go_back(6, "") == 0
    assert alone.depth == 4


def test_a_task_that_runs_twice_finds_the_same(journal: Journal) -> None:
    layers, expected = undisturbed(journal)
    shards = begun(journal, [2, 3])
    for depth, count in enumerate(layers):
        assert advance(shards, depth) == count
        assert advance(shards, depth) == count
    assert np.array_equal(depths(shards), expected)


def test_a_task_of_an_earlier_token_changes_nothing(journal: Journal, tmp_path: Path) -> None:
    shards = begun(journal, [2, 3])
    search(shards, 0, 5)
    for one in shards:
        one.go_back(3, "new")
    before = [(one.depth, [state.visited.copy() for state in one.states]) for one in shards]
    for late in (
        lambda: advance(shards, 3, ""),
        lambda: boundary(shards[:1], move_links(), [range(60)], 3, ""),
        lambda: flush_shards(shards, 5, ""),
    ):
        with pytest.raises(InterruptedRunError, match="returned to an earlier depth"):
            late()
    assert files(tmp_path) == []
    for one, (depth, visited) in zip(shards, before, strict=True):
        assert one.depth == depth
        assert all(np.array_equal(state.visited, bits) for state, bits in zip(one.states, visited, strict=True))


def test_a_shard_that_dask_makes_anew_is_not_searched(journal: Journal) -> None:
    """It is at its first depth, whatever the depth of the others."""
    (alone,) = begun(journal, [5])
    for task in (
        lambda: alone.advance((), move_links(), 7, 1, "first"),
        lambda: boundary([alone], move_links(), [range(60)], 7, "first"),
    ):
        with pytest.raises(InterruptedRunError, match="the shard was lost"):
            task()


def test_the_memory_of_a_shard_is_known(journal: Journal) -> None:
    (alone,) = begun(journal, [5])
    for layers in (0, 9):
        search([alone], 0, layers)
        bits = sum(state.nbytes for state in alone.states)
        assert bits <= sys.getsizeof(alone) - alone.segments.log.size < 1.5 * bits


def test_a_shard_cannot_be_copied(journal: Journal) -> None:
    """Dask would copy it to another worker or to disk, and tasks would change one copy and read the other."""
    with pytest.raises(TypeError, match="cannot leave its process"):
        pickle.dumps(begun(journal, [5]))


def test_a_frontier_that_is_gone_is_not_taken_for_an_empty_one(journal: Journal) -> None:
    """A late task would leave out positions."""
    (alone,) = begun(journal, [5])
    search([alone], 0, 6)
    assert alone.count(5) > 0
    with pytest.raises(InterruptedRunError, match="depth 4"):
        alone.frontiers(4)
    alone.go_back(4, "")
    assert alone.count(4) > 0
