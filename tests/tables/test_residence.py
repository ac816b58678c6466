"""The shards of a process: when others may read them, and what they read if the run goes back meanwhile."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from direct_channel import DirectChannel
from journals import begun, journal_at, move_links
from waiting import PATIENCE

from antipodes.tables.journal import Journal
from antipodes.tables.layers import residence
from antipodes.tables.layers.bit_shard import Boundary
from antipodes.tables.layers.residence import Neighbourhood, RowResidence, hold
from antipodes.tables.layers.shard import Shard
from antipodes_tasks.base.errors import InterruptedRunError

ROWS = {"kind": "rows", "token": "", "rows": [[0, 60]], "shards": [0, 1]}
FOUND = {"kind": "found", "token": ""}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return journal_at(tmp_path)


def alone(journal: Journal) -> RowResidence:
    """All shards of a search in one process that others could ask."""
    everywhere = Neighbourhood("search", {"here": [0, 1]}, 3, DirectChannel())
    created = {number: (itself, shard) for number, shard in enumerate(begun(journal, [3, 2]))}
    held = hold(RowResidence, created, None, "here", everywhere, 1)
    assert isinstance(held, RowResidence)
    return held


def itself(shard: Shard) -> Shard:
    """Return a shard that exists already."""
    return shard


def advanced(held: RowResidence, depth: int, layers: int, token: str = "") -> list[list[int]]:
    return held.advance(move_links(), depth, layers, 1, token)


def test_a_layer_is_read_when_it_is_settled(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    held, seen = alone(journal), list[tuple[bool, bool, bool]]()
    assert not held.is_ready({**ROWS, "depth": 0}), "the run has not set a depth"
    settle = RowResidence._settle

    def watched(*arguments: Any) -> None:
        seen.append(
            (
                held.is_ready({**FOUND, "depth": 1}),
                held.is_ready({**ROWS, "depth": 0}),
                held.is_ready({**ROWS, "depth": 1}),
            )
        )
        settle(*arguments)

    monkeypatch.setattr(RowResidence, "_settle", watched)
    advanced(held, 0, 1)
    assert seen == [(True, True, False)]
    assert held.is_ready({**ROWS, "depth": 1})
    assert not held.is_ready({**ROWS, "depth": 2})
    assert not held.is_ready({**ROWS, "depth": 1, "token": "other"})


def test_rows_that_are_read_while_the_run_goes_back_are_not_used(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bits may be those of both depths, and a reader that did not go back yet would log what follows from them."""
    held = alone(journal)
    advanced(held, 0, 3)
    question = {**ROWS, "depth": 3}
    found = held.answer(question)
    assert isinstance(found, Boundary)
    assert found.parts
    boundary = residence.boundary  # type: ignore[attr-defined]

    def meanwhile(*arguments: Any) -> Boundary:
        rows: Boundary = boundary(*arguments)
        held.shards[1].go_back(2, "new")
        return rows

    monkeypatch.setattr(residence, "boundary", meanwhile)
    assert held.answer(question) is None


def test_tasks_of_an_earlier_token_get_and_find_nothing(journal: Journal) -> None:
    held = alone(journal)
    advanced(held, 0, 3)
    for shard in held.shards.values():
        shard.go_back(1, "new")
    assert held.answer({**ROWS, "depth": 3}) is None
    with pytest.raises(InterruptedRunError, match="returned to an earlier depth"):
        advanced(held, 3, 1)
    assert [sum(layer) for layer in zip(*advanced(held, 1, 2, "new"), strict=True)] == [
        sum(layer) for layer in zip(*advanced(alone(journal), 0, 3), strict=True)
    ][1:]


def test_no_shard_goes_back_while_another_reads_it(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that the run has given up may do so in another thread, and log what it finds."""
    held, reads, may_go_on = alone(journal), threading.Event(), threading.Event()
    advanced(held, 0, 3)
    shard, search = held.shards[0], type(held.shards[0]).search

    def slow(*arguments: Any) -> int:
        reads.set()
        assert may_go_on.wait(PATIENCE)
        return search(*arguments)

    monkeypatch.setattr(type(shard), "search", slow)
    changed: list[int] = []
    go_back = type(shard).go_back
    monkeypatch.setattr(type(shard), "go_back", lambda *arguments: changed.append(1) or go_back(*arguments))
    with ThreadPoolExecutor(2) as pool:
        late = pool.submit(shard.advance, [held.shards[1]], move_links(), 3, 1, "")
        assert reads.wait(PATIENCE)
        back = pool.submit(held.go_back, 2, "new")
        assert not changed
        may_go_on.set()
        assert late.result() == advanced(alone(journal), 0, 4)[0][3:]
        back.result()
    assert len(changed) == 2


def test_a_residence_takes_over_the_shards_of_an_earlier_one(journal: Journal) -> None:
    """A task that has been given up may still have the earlier one."""
    earlier = alone(journal)
    kept, lost = earlier.shards[0], earlier.shards[1]
    new = begun(journal, [3, 2])[1]
    everywhere = Neighbourhood("again", {"here": [0, 1]}, 3, DirectChannel())
    held = hold(RowResidence, {1: (itself, new)}, earlier, "here", everywhere, 1)
    assert held.shards == {0: kept, 1: new}
    assert earlier.shards == {0: kept, 1: lost}
    assert sys.getsizeof(held) >= sys.getsizeof(new)
    assert sys.getsizeof(held) < sys.getsizeof(earlier)
