"""The order of the tasks of a check, and the blocks that stay in memory between them."""

import pickle
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes.tables.verification import Blocks, reading_order
from antipodes_tasks.bfs.proof import Block

tasks = st.lists(st.lists(st.integers(0, 9), unique=True, max_size=4), max_size=12)
capacities = st.integers(0, 5)


def block(number: int) -> Block:
    return Block(number, np.full((1, 1), number, dtype=np.uint16))


def reads(uses: Sequence[Sequence[int]], capacity: int) -> int:
    """How many blocks are read if memory holds ``capacity`` of them."""
    read = 0

    def count(number: int) -> Block:
        nonlocal read
        read += 1
        return block(number)

    blocks = Blocks(count, uses, capacity)
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

    def slow(number: int) -> Block:
        times.append(number)
        begun.set()
        go_on.wait(10)
        return block(number)

    blocks, found = Blocks(slow, [[3], [3]], 1), list[Block]()
    threads = [threading.Thread(target=lambda: found.append(blocks.get(3))) for _ in range(2)]
    threads[0].start()
    begun.wait(10)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join()
    assert times == [3]
    assert found[0] is found[1]


def test_an_error_reaches_all_that_wait() -> None:
    def fail(number: int) -> Block:
        raise OSError(number)

    blocks = Blocks(fail, [[3], [3]], 1)
    for _ in range(2):
        with pytest.raises(OSError, match="3"):
            blocks.get(3)


def test_blocks_travel_without_those_in_memory() -> None:
    blocks = Blocks(block, [[3], [3]], 1)
    blocks.get(3)
    there = pickle.loads(pickle.dumps(blocks))
    assert not there._held
    assert there.get(3).first_row == there.get(3).first_row == 3
