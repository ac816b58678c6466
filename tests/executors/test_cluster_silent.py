"""Schedulers and workers that are there and do not answer: it is said what is waited for, and the wait has an end."""

import gc
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from clusters import Cluster, wait_until
from distributed import Client
from stores import contents

from antipodes.config import load_config
from antipodes.errors import InputError, InterruptedRunError, SchedulerError
from antipodes.events import Event, LayerSettled, Waiting, WorkerRefused, silence
from antipodes.executors.distributed import announce, connection, heartbeat, requests, versions
from antipodes.executors.distributed.cluster import Cluster as Workers
from antipodes.executors.distributed.scheduler_file import address_in
from antipodes.tables.run import RunOptions, run_puzzle

EIGHT = load_config("eight-puzzle")
ByThreads = Callable[[str], dict[str, bytes]]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits that end soon."""
    for module, name, seconds in (
        (connection, "CONNECT_SECONDS", 1.0),
        (announce, "ANNOUNCE_SECONDS", 0.2),
        (requests, "CONNECT_SECONDS", 1.0),
        (requests, "ANSWER_SECONDS", 2.0),
        (connection, "NOTICE_SECONDS", 0.5),
        (versions, "VERSIONS_SECONDS", 3.0),
        (heartbeat, "HEARTBEAT_SECONDS", 0.2),
        (heartbeat, "ANNOUNCE_SECONDS", 0.4),
        (heartbeat, "CONNECT_SECONDS", 2.0),
        (heartbeat, "UNHEARD_SECONDS", 2.0),
    ):
        monkeypatch.setattr(module, name, seconds)


def never() -> bool:
    return False


def test_what_a_listener_raises_while_something_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(event: Event) -> None:
        told.set()
        raise KeyError(event)

    told = threading.Event()
    monkeypatch.setattr(announce, "ANNOUNCE_SECONDS", 0.01)
    with pytest.raises(KeyError, match="an answer"), announce.announced(stop, "an answer"):
        told.wait(10)


@pytest.fixture
def listening() -> Iterator[Callable[[bytes], str]]:
    """Gives the address of something that accepts connections and says this, and no more."""
    bound: list[socket.socket] = []

    def listen(greeting: bytes) -> str:
        here = socket.create_server(("127.0.0.1", 0))
        bound.append(here)

        def accept() -> None:
            while True:
                try:
                    there, _ = here.accept()
                except OSError:
                    return
                bound.append(there)
                there.sendall(greeting)

        threading.Thread(target=accept, daemon=True).start()
        return f"tcp://127.0.0.1:{here.getsockname()[1]}"

    yield listen
    for one in bound:
        one.close()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("greeting", [b"", bytes(4), b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_what_accepts_and_is_no_scheduler(greeting: bytes, listening: Callable[[bytes], str], tmp_path: Path) -> None:
    address, events, begin = listening(greeting), list[Event](), time.monotonic()
    with pytest.raises(SchedulerError, match=f"no dask scheduler answers at {address}"):
        run_puzzle(EIGHT, tmp_path / "t.zarr", RunOptions(scheduler=address), events.append)
    assert time.monotonic() - begin < 10
    gc.collect()
    assert not [one for one in gc.get_objects() if isinstance(one, Client) and one.status == "connecting"]
    if not greeting:
        assert events == [Waiting(f"the dask scheduler at {address} to answer")]


class StoppingScheduler:
    """A listener that stops the scheduler at an event."""

    def __init__(self, cluster: Cluster, at: type) -> None:
        self.cluster, self.at = cluster, at
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, self.at) and self.cluster.scheduler is not None:
            self.cluster.scheduler.stop()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("command", ["run", "tile"])
def test_a_scheduler_that_stops_in_mid_run(command: str, cluster: Cluster, tmp_path: Path) -> None:
    """It is a matter of seconds until the run ends, with what is kept and the command that resumes it."""
    from antipodes.events import PartitionSearched
    from antipodes.tilings.config import load_board
    from antipodes.tilings.run import tile_board

    cluster.add_workers(1)
    options = RunOptions(scheduler=cluster.address, checkpoint_every=0)
    stopping = StoppingScheduler(cluster, LayerSettled if command == "run" else PartitionSearched)
    begin = partial(run_puzzle, EIGHT) if command == "run" else partial(tile_board, load_board("4x15"))
    with pytest.raises(InterruptedRunError, match=r"has not answered for 2 seconds; .* kept; resume with: antipodes"):
        begin(tmp_path / "t.zarr", options=options, listener=stopping)
    assert Waiting("the dask scheduler to answer") in stopping.events


@pytest.mark.usefixtures("impatient")
def test_a_scheduler_that_stops_before_workers_are_examined(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There is no store yet: the command to type is the one that began."""
    cluster.add_workers(1)
    examine = versions.VersionCheck.examine

    def stopped(*arguments: Any) -> Any:
        assert cluster.scheduler is not None
        cluster.scheduler.stop()
        return examine(*arguments)

    monkeypatch.setattr(versions.VersionCheck, "examine", stopped)
    options = RunOptions(scheduler=cluster.address, started_by=("run", "eight-puzzle"))
    again = f"start over with: antipodes run eight-puzzle --store {tmp_path}/t.zarr --scheduler {cluster.address}"
    with pytest.raises(InterruptedRunError, match=f"has not answered.*; nothing is stored yet; {again}"):
        run_puzzle(EIGHT, tmp_path / "t.zarr", options)


@pytest.mark.usefixtures("impatient")
def test_a_worker_that_is_frozen_when_a_run_begins(cluster: Cluster, by_threads: ByThreads, tmp_path: Path) -> None:
    """It is left out, which is said, and takes part once it answers."""
    frozen, _ = cluster.add_workers(2)
    with cluster.client() as client, Workers(client) as scheduler:
        frozen.stop()
        events: list[Event] = []
        assert scheduler.wait_for_workers(events.append, never)
        assert len(scheduler.members) == 1
        (silent,) = cluster.workers().keys() - scheduler.members.keys()
        said = [Waiting("2 workers to say what they run"), WorkerRefused(f"worker {silent} does not answer")]
        assert [event for event in events if event in said] == said
        run_puzzle(EIGHT, tmp_path / "t.zarr", RunOptions(checkpoint_every=0), scheduler=scheduler)
        frozen.go_on()
        wait_until(lambda: scheduler.workers_changed, "it is known that the worker answers")
        assert scheduler.wait_for_workers(events.append, never)
        assert len(scheduler.members) == 2
    assert contents(tmp_path / "t.zarr") == by_threads("eight-puzzle")


@pytest.mark.usefixtures("impatient")
def test_a_member_that_freezes_is_named(cluster: Cluster) -> None:
    (frozen,) = cluster.add_workers(1)
    events: list[Event] = []
    with cluster.client() as client, Workers(client) as scheduler:
        assert scheduler.wait_for_workers(events.append, never)
        frozen.stop()
        waiting = threading.Thread(target=partial(scheduler.run_on_all_workers, (time.sleep, 0)))
        waiting.start()
        said = Waiting(f"worker {next(iter(scheduler.members))}, which has not been heard of for 2 seconds")
        wait_until(lambda: said in events, "it is said who is waited for")
        frozen.go_on()
        waiting.join(30)
        assert not waiting.is_alive()


def test_runs_that_share_workers_leave_each_other_alone(cluster: Cluster) -> None:
    """The memory that a worker keeps is given back when the last of its runs ends."""
    cluster.add_workers(1)
    with cluster.client() as one, cluster.client() as other, Workers(other) as lasting:
        assert lasting.wait_for_workers(silence, never)
        with Workers(one) as short:
            assert short.wait_for_workers(silence, never)
            for scheduler in (short, lasting):
                scheduler.on_worker_start((time.sleep, 0))
            wait_until(lambda: runs_of(other) == 2, "the worker knows of both")
        assert runs_of(other) == 1
    with cluster.client() as client:
        assert runs_of(client) == 0


def runs_of(client: Client) -> int:
    """How many runs the only worker knows of, once it has heard of those that begin."""

    def count() -> int:
        from antipodes.executors.distributed.worker import _runs

        return len(_runs)

    (found,) = client.run(count).values()
    return int(found)


def test_whatever_a_task_raises_ends_the_run(cluster: Cluster) -> None:
    """Not the worker, nor with a traceback; and not never."""

    def raising(kind: type[BaseException]) -> None:
        raise kind("of a task")

    cluster.add_workers(1)
    with cluster.client() as client, Workers(client) as scheduler:
        assert scheduler.wait_for_workers(silence, never)
        for number, kind in enumerate((SystemExit, KeyboardInterrupt, type("PanicException", (BaseException,), {}))):
            name = f"raise-{uuid.uuid4().hex}"
            handles = scheduler.persist({(name, number): (raising, kind)})
            with pytest.raises(RuntimeError, match=rf"worker tcp://.*: {kind.__name__}: of a task"):
                scheduler.gather(list(handles.values()))
        assert list(cluster.workers()) == list(scheduler.members)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", "an empty file"),
        ("hello", "no JSON object with an address"),
        ("{}", "no JSON object with an address"),
        ("[" * 100_000, "no JSON object with an address"),
        ('{"address": 5}', "no JSON object with an address"),
        ('{"address": "ftp://x"}', "found 'ftp://x'"),
    ],
)
def test_scheduler_files_that_no_scheduler_wrote(
    content: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antipodes.executors.distributed.scheduler_file.FLUSH_SECONDS", 0.1)
    (tmp_path / "s.json").write_text(content)
    with pytest.raises(InputError, match=found):
        address_in(str(tmp_path / "s.json"), 5)


def test_scheduler_files_that_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", "/dev/zero", "a\0b"):
        with pytest.raises(InputError, match="expected a file that can be read"):
            address_in(str(path), 5)


def test_a_scheduler_file_that_is_being_written(tmp_path: Path) -> None:
    path, address = tmp_path / "s.json", "tcp://127.0.0.1:8786"
    path.write_text('{"addr')
    threading.Timer(0.3, path.write_text, [json.dumps({"address": address})]).start()
    assert address_in(str(path), 5) == address
