"""The check of a table: wrong depths, counts and manifests; the order of its tasks, and the blocks in memory."""

import pickle
import shutil
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from journals import set_journal
from numpy.typing import NDArray
from stores import change_manifest, contents, depths_in, flip_bit, resume, set_depth
from waiting import PATIENCE

from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config
from antipodes.runs.verification import BlockCache, CheckMemory, Verification, reading_order
from antipodes.system.events import CheckStarted, Event, PositionsChecked, silence
from antipodes.system.machine import human
from antipodes.tables.check_bytes import read_block
from antipodes.tables.check_depths import plan_memory
from antipodes.tables.check_sample import check_sample
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes.tables.verify import verify
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.bfs.bitmaps import Depths
from antipodes_tasks.bfs.proof import RowDepths
from antipodes_tasks.spaces.arrangements import Arrangements
from antipodes_tasks.spaces.space import Space

POSITIONS = 181_440
SEVEN = {"name": "seven", "family": "sliding", "rows": 2, "columns": 4, "start": "1 2 3 4 5 6 7 0"}


def depths(store: Path) -> np.ndarray[Any, Any]:
    array: Any = zarr.open_array(store / "depth", mode="r")
    return np.asarray(array[:]).ravel()


def problems(store: Path) -> str:
    verdict = verify(store, Threads(2))
    assert verdict.ok == (not verdict.problems)
    return " | ".join(verdict.problems)


@pytest.fixture
def line(tmp_path: Path) -> Path:
    """A table most of whose positions cannot be reached, up to depth 6."""
    settings = {"name": "line", "family": "sliding", "rows": 1, "columns": 7, "start": "0 1 1 2 3 4 5"}
    run_puzzle(Config(settings), tmp_path / "line.zarr")
    return tmp_path / "line.zarr"


def test_a_correct_table(finished: Path) -> None:
    verdict = verify(finished, Threads(2))
    assert (verdict.ok, verdict.checked_states, verdict.sampled_states, verdict.problems) == (True, POSITIONS, 1000, ())


def committed_depths(store: Path) -> Depths:
    manifest = TableStore(store).read()
    return depths_in(TableStore(store), manifest)


def test_depths_of_an_uncommitted_layer_are_ignored(unfinished: Path) -> None:
    planted = committed_depths(unfinished)
    planted.ravel()[np.flatnonzero(planted == 255)[:5]] = TableStore(unfinished).read().committed_depth + 1
    set_journal(unfinished, planted)
    assert verify(unfinished, Threads(2)).ok


@pytest.mark.parametrize(("before", "change"), [(0, 1), (1, -1), (20, 2), (31, 1), (31, -1), (255, 7), (255, -1)])
def test_any_single_wrong_depth(before: int, change: int, eight: Path, line: Path) -> None:
    store, rng = line if before == 255 else eight, np.random.default_rng(before)
    index = int(rng.choice(np.flatnonzero(depths(store) == before)))
    set_depth(store, index, lambda depth: (depth + change) % 256)
    found = problems(store)
    if before == 255 and (before + change) % 256 > 31:
        assert found == "", "a greater depth than the radius counts as unreached"
    else:
        assert found


def test_the_kinds_of_problems(eight: Path) -> None:
    start = int(np.flatnonzero(depths(eight) == 0)[0])
    set_depth(eight, start, lambda _: 4)
    set_depth(eight, int(np.flatnonzero(depths(eight) == 31)[0]), lambda _: 0)
    found = problems(eight)
    assert "1 x a start whose depth is not 0: 1 2 3 4 5 6 7 8 0" in found
    assert "3 x reached, but no predecessor is at the previous depth" in found
    assert "the manifest counts" in found


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (29, 31, "1 x more than one deeper than a predecessor"),
        (255, 4, "1 x reached, but no predecessor is at the previous depth"),
        (31, 0, "reached, but no predecessor is at the previous depth"),
    ],
)
def test_a_wrong_depth_is_named(before: int, after: int, told: str, eight: Path, line: Path) -> None:
    store = line if before == 255 else eight
    set_depth(store, int(np.flatnonzero(depths(store) == before)[0]), lambda _: after)
    assert told in problems(store)


@pytest.mark.parametrize(("before", "after"), [(9, 8), (255, 5), (4, 255)])
def test_wrong_depths_of_an_unfinished_table(before: int, after: int, unfinished: Path) -> None:
    planted = committed_depths(unfinished)
    planted.ravel()[np.flatnonzero(planted == before)[0]] = after
    set_journal(unfinished, planted)
    assert "the manifest counts" in problems(unfinished)


def test_two_wrong_depths_that_the_counts_do_not_show(unfinished: Path) -> None:
    planted = committed_depths(unfinished)
    places = [np.flatnonzero(planted == depth)[0] for depth in (5, 8)]
    planted.ravel()[places] = 8, 5
    set_journal(unfinished, planted)
    assert "reached, but no predecessor is at the previous depth" in problems(unfinished)


def test_wrong_counts_in_the_manifest(eight: Path) -> None:
    layers = list(TableStore(eight).read().layers)
    layers[5], layers[6] = layers[6], layers[5]
    change_manifest(eight, layers=layers)
    assert "the manifest counts" in problems(eight)


def test_wrong_depths_and_damaged_counts_are_both_told(eight: Path) -> None:
    set_depth(eight, int(np.flatnonzero(depths(eight) == 29)[0]), lambda _: 31)
    flip_bit(eight / "layer_counts/c/0/0", 4711)
    found = problems(eight)
    assert "1 x more than one deeper than a predecessor" in found
    assert "layer_counts/c/0/0 is corrupt" in found


def test_counts_of_other_chunks(chunked: Path) -> None:
    store = TableStore(chunked)
    counts = store.layer_counts(manifest := store.read())
    counts[[3, 7]] = counts[[7, 3]]
    store.commit(replace(manifest, layer_counts=store.write_counts(manifest, counts)))
    assert problems(chunked) == "the index has wrong numbers of positions at each depth for 2 chunks"


def test_other_antipodes_in_the_manifest(eight: Path) -> None:
    first, last = TableStore(eight).read().antipodes
    change_manifest(eight, antipodes=[first, last - 1])
    assert problems(eight) == "the antipodes in the manifest are not the first positions at the greatest depth"


@pytest.mark.parametrize("assembled", [False, True])
def test_finished_too_early(assembled: bool, unfinished: Path) -> None:
    """The search ended although there are deeper positions, before or after the table was assembled."""
    store, known = TableStore(unfinished), committed_depths(unfinished)
    ended = replace(store.read(), searched=True, antipodes=np.flatnonzero(known == store.read().radius).tolist())
    store.create_arrays(ended)
    store.commit_arrays(ended)
    if assembled:
        assert resume(unfinished).complete
    assert "or unreached" in problems(unfinished)


def test_the_fingerprint_of_another_puzzle(eight: Path) -> None:
    change_manifest(eight, fingerprint="0" * 64)
    assert "0000" in problems(eight)


class Counting:
    """Counts how often each block is read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times: Counter[int] = Counter()

        def counted(store: TableStore, manifest: TableManifest, number: int) -> RowDepths:
            self.times[number] += 1
            return read_block(store, manifest, number)

        monkeypatch.setattr("antipodes.tables.check_depths.read_block", counted)


@pytest.fixture(scope="module")
def in_chunks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished table of seven tiles in many chunks; not to be changed."""
    store = tmp_path_factory.mktemp("chunked") / "t.zarr"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("antipodes.tables.layers.division.CHUNK_STATES", (1 << 7, 1 << 10))
        run_puzzle(Config(SEVEN), store)
    return store


@pytest.fixture
def chunked(in_chunks: Path, tmp_path: Path) -> Path:
    """A copy of the table in many chunks, which a test may damage."""
    return Path(shutil.copytree(in_chunks, tmp_path / "chunked.zarr"))


def memory_of(store: Path, workers: int) -> CheckMemory:
    """The memory of a check without a limit."""
    return plan_memory(TableStore(store).read(), Verification(Threads(workers), None, 0, silence))


def room_for(store: Path, workers: int, blocks: int) -> int:
    """The memory limit of a check that keeps this many blocks."""
    memory = memory_of(store, workers)
    return memory.fixed + blocks * memory.block


def test_all_fit_into_memory(chunked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    assert verify(chunked, Threads(3)).ok
    assert set(counting.times.values()) == {1}
    assert len(counting.times) >= 18


@pytest.mark.parametrize(("workers", "blocks"), [(1, 7), (3, 0)])
def test_few_fit_into_memory(workers: int, blocks: int, chunked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    limit, before = room_for(chunked, workers, blocks), contents(chunked)
    assert verify(chunked, Threads(workers), memory_limit=limit).ok
    assert max(counting.times.values()) > 1
    assert contents(chunked) == before


def test_a_wrong_depth_while_few_fit_into_memory(chunked: Path) -> None:
    limit = room_for(chunked, 2, 1)
    set_depth(chunked, int(np.flatnonzero(depths(chunked) == 20)[0]), lambda depth: depth + 1)
    assert not verify(chunked, Threads(2), memory_limit=limit).ok


def test_progress_is_told(chunked: Path) -> None:
    events: list[Event] = []
    verify(chunked, Threads(2), listener=events.append)
    assert events[0] == CheckStarted("seven", positions := 20_160)
    done = [event.done for event in events[1:] if isinstance(event, PositionsChecked)]
    assert done == sorted(set(done))
    assert len(done) == len(events) - 1 >= 9
    assert events[-1] == PositionsChecked(positions, positions)


def test_a_limit_that_is_too_low_names_the_least(eight: Path) -> None:
    least = memory_of(eight, 1).fixed
    with pytest.raises(ResourceLimitError, match=rf"takes at least {human(least)} .*; the limit is 1000 bytes"):
        verify(eight, Threads(1), memory_limit=1000)
    assert verify(eight, Threads(1), memory_limit=least).ok


def test_too_little_memory_is_free(eight: Path) -> None:
    scheduler = Threads(1)
    scheduler.memory = 1000
    with pytest.raises(ResourceLimitError, match="1000 bytes are available"):
        verify(eight, scheduler)


def test_each_time_another_sample_is_drawn(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[list[int]] = []

    def noting(space: Space, sample: NDArray[np.int64], *others: Any) -> dict[str, NDArray[np.int64]]:
        drawn.append(sorted(sample.tolist()))
        return check_sample(space, sample, *others)

    monkeypatch.setattr("antipodes.tables.check_depths.check_sample", noting)
    first, second = (verify(eight, Threads(2)).sample_seed for _ in range(2))
    assert first != second
    assert drawn[0] != drawn[1]
    assert verify(eight, Threads(3), first).ok
    assert drawn[2] == drawn[0]


def test_wrong_indices_of_starts(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranking that is wrong for a few positions and correct for many: a run would start from these indices."""
    rank = Arrangements.rank
    monkeypatch.setattr(Arrangements, "rank", lambda space, labels: rank(space, labels) ^ (len(labels) < 3))
    assert "the indices of the starts" in problems(eight)


tasks = st.lists(st.lists(st.integers(0, 9), unique=True, max_size=4), max_size=12)
capacities = st.integers(0, 5)


def block(number: int) -> RowDepths:
    return RowDepths(number, np.full((1, 1), number, dtype=np.uint16))


def reads(uses: Sequence[Sequence[int]], capacity: int) -> int:
    """How many blocks are read if memory holds ``capacity`` of them."""
    read = 0

    def count(number: int) -> RowDepths:
        nonlocal read
        read += 1
        return block(number)

    blocks = BlockCache(count, uses, capacity)
    for numbers in uses:
        for number in numbers:
            assert blocks.get(number).first_row == number
            assert len(blocks._held) <= capacity
    return read


@given(tasks, capacities)
def test_each_task_is_in_the_order_once(needs: list[list[int]], capacity: int) -> None:
    assert sorted(reading_order(needs, capacity)) == list(range(len(needs)))


@given(tasks)
def test_with_room_for_all_each_block_is_read_once(needs: list[list[int]]) -> None:
    assert reads(needs, 10) == len({number for numbers in needs for number in numbers})


@given(tasks, capacities)
def test_no_more_is_read_than_by_keeping_the_last_blocks(uses: list[list[int]], capacity: int) -> None:
    held: list[int] = []
    misses = 0
    for number in (number for numbers in uses for number in numbers):
        misses += number not in held
        held = [*(one for one in held if one != number), number][-capacity:] if capacity else []
    assert reads(uses, capacity) <= misses


def test_neighbours_in_a_grid_are_read_together() -> None:
    """Each of 20 x 20 tasks needs its own block and those beside it; rows of the grid exceed memory."""
    side = 20
    needs = [
        [row * side + column for row, column in ((y, x), (y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1))
         if 0 <= row < side and 0 <= column < side]
        for y in range(side) for x in range(side)
    ]  # fmt: skip
    room = side
    by_rows = reads(needs, room)
    assert reads([needs[task] for task in reading_order(needs, room)], room) < 0.8 * by_rows


def test_threads_wait_for_a_block_that_another_one_reads() -> None:
    begun, go_on, times = threading.Event(), threading.Event(), list[int]()

    def slow(number: int) -> RowDepths:
        times.append(number)
        begun.set()
        go_on.wait(PATIENCE)
        return block(number)

    blocks, found = BlockCache(slow, [[3], [3]], 1), list[RowDepths]()
    threads = [threading.Thread(target=lambda: found.append(blocks.get(3))) for _ in range(2)]
    threads[0].start()
    begun.wait(PATIENCE)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join()
    assert times == [3]
    assert found[0] is found[1]


def test_an_error_reaches_all_that_wait() -> None:
    def fail(number: int) -> RowDepths:
        raise OSError(number)

    blocks = BlockCache(fail, [[3], [3]], 1)
    for _ in range(2):
        with pytest.raises(OSError, match="3"):
            blocks.get(3)


def test_blocks_travel_without_those_in_memory() -> None:
    blocks = BlockCache(block, [[3], [3]], 1)
    blocks.get(3)
    there = pickle.loads(pickle.dumps(blocks))
    assert not there._held
    assert there.get(3).first_row == there.get(3).first_row == 3
