"""A run that ends at any point: the next one resumes, and leaves the same store as an undisturbed one."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from every_kind import config_of, many_parts
from faults import Killed, killing
from journals import files
from stores import chunk_files, contents, resume, stop_after

from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config
from antipodes.storage.backend import Storage
from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.manifest_file import ManifestFile
from antipodes.system.events import Assembling, Event, JournalCorrupt, SearchStarted
from antipodes.tables.journal import Journal
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.search.shards import Shards
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.verify import verify

EVERY_LAYER = RunOptions(workers=2, checkpoint_every=0)
Patch = pytest.MonkeyPatch
Searched = tuple[Config, dict[str, bytes]]
PANCAKES = Config({"name": "pancakes", "family": "pancake", "n": 5, "enumerated": True})


@pytest.fixture(scope="module")
def config() -> Config:
    return config_of("corners and equal edges")


@pytest.fixture(scope="module")
def whole(config: Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of an undisturbed run."""
    store = tmp_path_factory.mktemp("whole") / "t.zarr"
    run_puzzle(config, store, RunOptions(workers=2))
    return contents(store)


@pytest.fixture(scope="module")
def searched(request: pytest.FixtureRequest, config: Config, whole: dict[str, bytes]) -> Iterator[Searched]:
    """A puzzle whose table has bits or keys, and the files of its table."""
    if request.param == "bits":
        yield config, whole
        return
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        many_parts(patch)
        patch.setattr("antipodes.tables.store.table_manifest.KEY_CHUNK", 30)
        patch.setattr("antipodes.tables.layers.key_assembly.TASK_KEYS", 60)
        assert plan_run(PANCAKES.puzzle).partition_count > 2
        run_puzzle(PANCAKES, Path(folder) / "t.zarr", RunOptions(workers=2))
        yield PANCAKES, contents(Path(folder) / "t.zarr")


BEFORE, AFTER = (True,), (False,)
POINTS: list[tuple[str, type, str, int, tuple[bool, ...]]] = [
    ("bits", Shards, "flush", 1, BEFORE),
    ("bits", Journal, "put", 1, AFTER),
    ("bits", Journal, "put", 9, BEFORE),
    ("bits", ManifestFile, "write", 0, BEFORE + AFTER),
    ("keys", ManifestFile, "write", 4, AFTER),
    *(("bits", ManifestFile, "write", at, BEFORE + AFTER) for at in (10, 11)),
    ("bits keys", TableStore, "create_arrays", 0, BEFORE),
    ("keys", TableStore, "write_keys", 3, AFTER),
    ("bits", TableStore, "write_chunk", 0, BEFORE + AFTER),
    ("keys", TableStore, "write_chunk", 3, AFTER),
    ("keys", TableStore, "commit_arrays", 2, AFTER),
    ("bits", TableStore, "complete", 0, BEFORE),
    ("bits", DirectoryStorage, "delete", 1, BEFORE + AFTER),
]
"""Calls of a run that commits each layer (10 of the bits), of the beginning of the assembly, and of the table; and
whether the run is killed before or after each of them."""


@pytest.mark.parametrize(
    ("searched", "kind", "name", "at", "before"),
    [
        pytest.param(searched, *call, before, id=f"{searched}-{call[1]}-{call[2]}-{'before' if before else 'after'}")
        for searched in ("bits", "keys")
        for of, *call, moments in POINTS
        if searched in of.split()
        for before in moments
    ],
    indirect=["searched"],
)
def test_killed_at(
    kind: type, name: str, at: int, before: bool, searched: Searched, tmp_path: Path, monkeypatch: Patch
) -> None:
    store, (config, whole) = tmp_path / "t.zarr", searched
    with monkeypatch.context() as patch:
        patch.setattr(kind, name, killing(getattr(kind, name), at, before))
        with pytest.raises(Killed):
            run_puzzle(config, store, EVERY_LAYER)
    assert run_puzzle(config, store, RunOptions(workers=1)).complete
    assert contents(store) == whole


@pytest.mark.parametrize(("kind", "tasks"), [("bits", 1), ("keys", 2)])
def test_the_chunks_of_a_task_are_read_together(
    kind: str, tasks: int, config: Config, tmp_path: Path, monkeypatch: Patch
) -> None:
    """A bucket takes a while to answer each request. There are many chunks, each with a segment for every depth."""
    many_parts(monkeypatch)
    monkeypatch.setattr("antipodes.tables.layers.key_assembly.TASK_KEYS", 60)
    store = tmp_path / "t.zarr"
    config = PANCAKES if kind == "keys" else config
    with monkeypatch.context() as patch:
        patch.setattr(TableStore, "write_chunk", killing(TableStore.write_chunk, 0, before=True))
        with pytest.raises(Killed):
            run_puzzle(config, store, RunOptions(workers=1, checkpoint_every=1e-9))
    read, requests = Journal._read, list[str]()

    def watched(journal: Journal, key: str, *place: int) -> memoryview:
        requests.append(key)
        return read(journal, key, *place)

    monkeypatch.setattr(Journal, "_read", watched)
    assert run_puzzle(config, store, RunOptions(workers=1)).complete
    assert 0 < len(requests) <= tasks * len(set(requests))


def killed_in_assembly(config: Config, store: Path, monkeypatch: Patch, chunks: int) -> None:
    """A run that is killed when it has written and committed some chunks."""
    with monkeypatch.context() as patch:
        patch.setattr("antipodes.tables.layers.assembly.TASK_STATES", 1)
        patch.setattr(TableStore, "write_chunk", killing(TableStore.write_chunk, chunks, before=True))
        with pytest.raises(Killed):
            run_puzzle(config, store, RunOptions(workers=1, checkpoint_every=0))


def test_killed_in_the_middle_of_assembly(config: Config, tmp_path: Path, monkeypatch: Patch) -> None:
    """The chunks that are committed are not written again."""
    many_parts(monkeypatch)
    store = tmp_path / "t.zarr"
    run_puzzle(config, tmp_path / "whole.zarr")
    count = len(chunk_files(tmp_path / "whole.zarr"))
    assert count > 3
    killed_in_assembly(config, store, monkeypatch, count - 2)
    manifest = TableStore(store).read()
    assert (manifest.searched, manifest.complete) == (True, False)
    kept = manifest.chunks.numbers()
    assert kept
    written: list[int] = []
    original = TableStore.write_chunk

    def watched(self: TableStore, manifest: Any, chunk: int, *arguments: Any) -> int:
        written.append(chunk)
        return original(self, manifest, chunk, *arguments)

    monkeypatch.setattr(TableStore, "write_chunk", watched)
    events: list[Event] = []
    report = resume(store, RunOptions(workers=2), events.append)
    assert sorted(written) == [chunk for chunk in range(manifest.chunk_count) if chunk not in kept]
    assert not [event for event in events if isinstance(event, SearchStarted)]
    told = [event for event in events if isinstance(event, Assembling)]
    assert 0 < told[0].done < told[-1].done == told[-1].of
    assert (report.resumed_from, report.states_found) == (manifest.radius, 0)
    assert contents(store) == contents(tmp_path / "whole.zarr")


def test_a_stop_during_assembly(config: Config, whole: dict[str, bytes], tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("antipodes.tables.layers.assembly.TASK_STATES", 1)
    store, assembling = tmp_path / "t.zarr", iter([])

    def listen(event: Event) -> None:
        nonlocal assembling
        if isinstance(event, Assembling):
            assembling = iter([True] * 1000)

    for options in (RunOptions(workers=1), EVERY_LAYER):
        report = run_puzzle(config, store, options, listen, interrupted=lambda: next(assembling, False))
        assert not report.complete
        assert TableStore(store).read().searched
        assert files(store)
    assert resume(store).complete
    assert contents(store) == whole


@pytest.fixture
def damaged(config: Config, tmp_path: Path) -> Path:
    """A store of depth 7, of which a journal file is damaged."""
    run_puzzle(config, tmp_path / "t.zarr", EVERY_LAYER, interrupted=stop_after(7))
    path = next(path for path in files(tmp_path / "t.zarr") if path.name.split("-")[2] == "4")
    path.write_bytes(path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1]))
    return tmp_path / "t.zarr"


def test_damage_to_the_journal_is_searched_again(damaged: Path, whole: dict[str, bytes]) -> None:
    events: list[Event] = []
    report = resume(damaged, EVERY_LAYER, events.append)
    (event,) = [event for event in events if isinstance(event, JournalCorrupt)]
    assert event.depth == 3
    assert report.complete
    assert contents(damaged) == whole
    assert verify(damaged, Threads(2)).ok


def test_files_that_no_manifest_names_are_used(
    config: Config, whole: dict[str, bytes], tmp_path: Path, monkeypatch: Patch
) -> None:
    """Layers whose files were written before a kill are not searched again."""
    store = tmp_path / "t.zarr"
    with monkeypatch.context() as patch:
        patch.setattr(ManifestFile, "write", killing(ManifestFile.write, 5, before=True))
        with pytest.raises(Killed):
            run_puzzle(config, store, EVERY_LAYER)
    committed = TableStore(store).read().committed_depth
    searched: list[int] = []
    monkeypatch.setattr("antipodes_tasks.bfs.partition.State.advance", _noting(searched))
    assert resume(store).resumed_from == committed
    assert min(searched) == committed + 2
    assert contents(store) == whole


def _noting(depths: list[int]) -> Callable[..., int]:
    from antipodes_tasks.bfs.partition import State

    original = State.advance

    def advance(self: State, depth: int, *arguments: Any) -> int:
        depths.append(depth)
        return original(self, depth, *arguments)

    return advance


def test_small_runs_write_no_journal(config: Config, tmp_path: Path, monkeypatch: Patch) -> None:
    put: list[str] = []
    original = DirectoryStorage.put

    def watched(self: Storage, key: str, *arguments: Any, **named: Any) -> None:
        put.append(key)
        original(self, key, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(DirectoryStorage, "put", watched)
    run_puzzle(config, tmp_path / "t.zarr", RunOptions(workers=2))
    assert not [key for key in put if key.startswith("journal")]
