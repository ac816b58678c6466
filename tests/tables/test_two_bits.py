"""Two bits a position: the same tables and counts as with three, on threads and clusters, after kills and losses."""

from pathlib import Path

import numpy as np
import pytest
from every_kind import FEW, NUMBERED, SEARCHED, config_of, files_by_bits, options_of, slow_unless_in
from forgetful import Forgetful
from stores import contents, resume, stop_after

from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config, load_config
from antipodes.system.events import Event, WorkersLost
from antipodes.system.machine import MIB
from antipodes.tables.layers import division as dividing
from antipodes.tables.planning import plan as planning
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.strategies.bit_strategy import BitStrategy
from antipodes.tables.strategies.commitment import CHECKPOINTS
from antipodes.tables.strategies.key_strategy import KeyStrategy
from antipodes.tables.verify import verify
from antipodes_tasks.bfs.partition import State
from antipodes_tasks.bfs.two_bits import TwoBitState

PUZZLE = "knights-coloured"
RESTORE = State.restore
ALL_STRATEGIES = planning.STRATEGIES


@pytest.fixture
def two_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "STRATEGIES", (BitStrategy(bits=2), KeyStrategy()))


def many_partitions(patch: pytest.MonkeyPatch) -> None:
    """Chunks and partitions of a few positions."""
    patch.setattr(dividing, "CHUNK_STATES", (8, 64))
    patch.setattr(dividing, "PARTITION_STATES", 32)
    patch.setattr(dividing, "SCATTERED_PARTITIONS", 1000)


@pytest.mark.usefixtures("two_bits")
@pytest.mark.parametrize("name", slow_unless_in(FEW, [name for name in NUMBERED if name in SEARCHED]))
def test_every_kind_of_table(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many_partitions(monkeypatch)
    config, store = config_of(name), tmp_path / "t.zarr"
    planned = plan_run(config.puzzle, 2, symmetry=options_of(name).symmetry)
    assert planned.partition_count > 1 or planned.space.rows < 3
    assert planned.strategy == BitStrategy(bits=2)
    every_layer = options_of(name, workers=2, checkpoint_every=0)
    run_puzzle(config, store, every_layer, interrupted=stop_after(3))
    assert verify(store, Threads(2)).ok
    resume(store, every_layer)
    run_puzzle(config, tmp_path / "sent.zarr", options_of(name), scheduler=Forgetful(()))
    monkeypatch.undo()
    assert contents(store) == contents(tmp_path / "sent.zarr") == files_by_bits(name)


@pytest.mark.usefixtures("two_bits")
def test_counts_that_are_resumed_after_some_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, options = config_of("topspin"), RunOptions(workers=2, counts_only=True, checkpoint_every=0)
    many_partitions(monkeypatch)
    assert plan_run(config.puzzle, 2).partition_count > 4
    while not run_puzzle(config, tmp_path / "t.zarr", options, interrupted=stop_after(5)).complete:
        pass
    monkeypatch.setattr(planning, "STRATEGIES", ALL_STRATEGIES)
    run_puzzle(config, tmp_path / "three.zarr", options)
    assert contents(tmp_path / "t.zarr") == contents(tmp_path / "three.zarr")


def test_a_checkpoint_of_three_bits_is_resumed_with_two(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    config, options = load_config(PUZZLE), RunOptions(workers=2, counts_only=True, checkpoint_every=0)
    run_puzzle(config, tmp_path / "t.zarr", options, interrupted=stop_after(20))
    request.getfixturevalue("two_bits")
    report = resume(tmp_path / "t.zarr", options)
    assert report.resumed_from == 20
    request.getfixturevalue("monkeypatch").undo()
    assert report.manifest == run_puzzle(config, tmp_path / "three.zarr", options).manifest


@pytest.mark.usefixtures("two_bits")
@pytest.mark.parametrize(
    ("every", "call", "counts_only"),
    [(1e9, 33, True), (0.0, 71, False)],
)
def test_workers_are_lost(
    every: float, call: int, counts_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antipodes.tables.layers.commits.MAX_TOGETHER", 1)
    options = RunOptions(workers=2, checkpoint_every=every, counts_only=counts_only)
    report = run_puzzle(load_config(PUZZLE), tmp_path / "t.zarr", options, scheduler=Forgetful({call}))
    assert (report.complete, report.workers_lost) == (True, 1)
    monkeypatch.undo()
    assert report.manifest == run_puzzle(load_config(PUZZLE), tmp_path / "three.zarr", options).manifest


def test_what_is_left_of_the_workers_has_memory_for_two_bits_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the shards that are left are made anew, too."""
    lost, made = list[Event](), list[type[State]]()
    monkeypatch.setattr("antipodes.tables.layers.commits.MAX_TOGETHER", 1)
    monkeypatch.setattr(State, "restore", lambda state, *_: made.append(type(state)) or RESTORE(state, *_))

    def listener(event: Event) -> None:
        if isinstance(event, WorkersLost):
            lost.append(event)
            monkeypatch.setattr(planning, "STRATEGIES", (BitStrategy(bits=2),))

    options = RunOptions(workers=2, checkpoint_every=0)
    report = run_puzzle(load_config(PUZZLE), tmp_path / "t.zarr", options, listener, scheduler=Forgetful({60}))
    assert (report.complete, report.workers_lost) == (True, 1)
    assert set(made) == {TwoBitState}
    assert len(made) == plan_run(load_config(PUZZLE).puzzle, 2, processes=2).partition_count
    assert report.manifest == run_puzzle(load_config(PUZZLE), tmp_path / "three.zarr", options).manifest


def test_two_bits_are_planned_where_three_do_not_fit() -> None:
    puzzle = load_config("seven-tiles").puzzle
    ample = plan_run(puzzle, 2, commitment=CHECKPOINTS)
    three, two = (plan_run(puzzle, 2, ample.min_bytes - less, commitment=CHECKPOINTS) for less in (0, 1))
    assert (ample.strategy.bits, three.strategy.bits, two.strategy.bits) == (3, 3, 2)
    assert three.min_bytes == ample.min_bytes
    third = puzzle_bits(load_config("seven-tiles"))
    assert 0.9 * third < three.min_bytes - two.min_bytes < 1.1 * third
    assert two.min_bytes < 400 * MIB


def puzzle_bits(config: Config) -> int:
    """The bytes of a bit for each position."""
    space = plan_run(config.puzzle).space
    return int(np.prod([space.rows, -(-space.width // 64), 8]))
