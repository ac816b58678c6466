"""Errors on their way from a worker to the client."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from clusters import Cluster
from program_runs import Run
from s3 import Bucket
from tblib import pickling_support

from antipodes.executors.distributed.worker import named
from antipodes.puzzles.config import load_config
from antipodes.system.events import Assembling, Event
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes_tasks.base import errors
from antipodes_tasks.base.errors import AntipodesError, StoreDamagedError, StoreError, WorkerFailedError

Begin = Callable[..., Run]


def all_below(kind: type[AntipodesError]) -> set[type[AntipodesError]]:
    return {kind}.union(*(all_below(one) for one in kind.__subclasses__()))


def test_all_errors_survive_pickling() -> None:
    kinds = all_below(AntipodesError)
    assert errors.WorkersLostError in kinds
    assert len(kinds) > 15
    for kind in kinds:
        there = pickle.loads(pickle.dumps(kind("what was said")))
        assert (type(there), str(there)) == (kind, "what was said")


class NoWayBackError(OSError):
    """As some of zarr's errors and a panic of obstore are: it can be pickled, but not unpickled."""

    def __init__(self, store: str, path: str) -> None:
        super().__init__(f"nothing at {path} in {store}")

    def __reduce__(self) -> tuple[object, ...]:
        return NoWayBackError, ("one argument",)


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (NoWayBackError("s", "p"), WorkerFailedError),
        (StoreDamagedError("chunk"), StoreDamagedError),
        (MemoryError(), WorkerFailedError),
        (SystemExit(3), WorkerFailedError),
        (KeyError("k" * 100_000), WorkerFailedError),
        (RuntimeError("can't start new thread"), WorkerFailedError),
    ],
)
def test_what_a_task_raises_survives_the_way(
    raised: BaseException, expected: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "antipodes.executors.distributed.worker"
    monkeypatch.setattr(f"{module}.this_worker", lambda: "worker tcp://here:1")
    monkeypatch.setattr(f"{module}.get_worker", lambda: None)
    monkeypatch.setattr(f"{module}.report_to", lambda report: None)

    def task() -> None:
        try:
            raise NoWayBackError("inner", "cause")
        except OSError as cause:
            raise raised from cause

    with pytest.raises(expected, match="worker tcp://here:1") as caught:
        named(task)
    pickling_support.install(caught.value)  # as dask does
    there = pickle.loads(pickle.dumps(caught.value))
    assert type(there) is expected
    assert len(str(there)) < 3000
    assert isinstance(there, StoreError) == (expected is StoreDamagedError)


def test_metadata_that_vanish_in_mid_run(tmp_path: Path) -> None:
    store, options = tmp_path / "t.zarr", RunOptions(workers=1, checkpoint_every=0)

    def remove(event: Event) -> None:
        if isinstance(event, Assembling):
            (store / "depth" / "zarr.json").unlink()

    with pytest.raises(StoreError, match=r"depth/zarr.json is missing; restore it from a copy"):
        run_puzzle(load_config("eight-puzzle"), store, options, remove)


@pytest.mark.slow
def test_a_worker_with_another_environment(cluster: Cluster, begin: Begin, bucket: Bucket) -> None:
    """It cannot use the store that the others can."""
    cluster.add_workers(1)
    cluster.add_workers(1, environment={"AWS_ENDPOINT_URL": "127.0.0.1:9000"})
    run = begin("run", "eight-puzzle", "--store", bucket.url(), "--scheduler", cluster.address)
    run.fail(1, "worker tcp://", "AWS_ENDPOINT_URL: expected a URL such as https://host:9000, found '127.0.0.1:9000'")
