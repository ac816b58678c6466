"""Stores that are replaced, continued, damaged or removed while they are served, and what the service keeps."""

import gc
import shutil
import threading
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from service_client import Client
from service_stores import TABLES, UNFINISHED, client_of, config_of
from stores import chunk_files, flip_bit, stop_after
from tiling_stores import SQUARE, tiled

from antipodes.service.library import Library, stores_named
from antipodes.storage.backend import MANIFEST
from antipodes.stores import listing_of
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore

OPTIONS = RunOptions(workers=1, checkpoint_every=0)


@pytest.fixture
def store(stores: Path, tmp_path: Path) -> Path:
    """A copy of a table, which a test may change."""
    return Path(shutil.copytree(stores / "fields.zarr", tmp_path / "it.zarr"))


@pytest.fixture
def client(store: Path) -> Client:
    """A client of a service that has opened the table."""
    client = client_of(store)
    assert client.value("/stores/it/distance")["distance"] == 0
    return client


def run(store: Path, settings: dict[str, Any], layers: int = 1000, **more: Any) -> None:
    options = RunOptions(workers=1, checkpoint_every=0, **more)
    run_puzzle(config_of("it", settings), store, options, interrupted=stop_after(layers))


def test_a_run_that_goes_on_is_followed(tmp_path: Path) -> None:
    store = tmp_path / "it.zarr"
    run(store, UNFINISHED, layers=3)
    client = client_of(store)
    before = client.value("/stores/it")
    run(store, UNFINISHED, layers=2)
    between = client.value("/stores/it")
    run(store, UNFINISHED)
    after = client.value("/stores/it")
    assert before["committed_depth"] < between["committed_depth"] < after["committed_depth"]
    assert len({before["version"], between["version"], after["version"]}) == 3
    assert (before["complete"], between["complete"], after["complete"]) == (False, False, True)
    farthest = client.value("/stores/it/antipodes")["positions"][0]
    assert client.value("/stores/it/distance", {"position": farthest})["distance"] == after["radius"]


def test_a_store_that_is_replaced(client: Client, store: Path) -> None:
    version = client.value("/stores/it")["version"]
    run(store, TABLES["arrangement"], overwrite=True)
    facts = client.value("/stores/it")
    assert facts["family"] == "sliding"
    assert facts["version"] != version
    assert client.value("/stores/it/view")["position"] == facts["start"]


def test_a_table_that_becomes_tilings(client: Client, store: Path) -> None:
    shutil.rmtree(store)
    tiled(SQUARE, store)
    assert client.value("/stores/it")["kind"] == "tilings"
    assert client.refused("/stores/it/view") == "this needs a table, but the store contains tilings"


def test_a_store_that_is_removed_and_comes_back(client: Client, store: Path, tmp_path: Path) -> None:
    store.rename(tmp_path / "away")
    gone = f"the store at {store} no longer exists"
    assert client.refused("/stores/it/view", status=503) == gone
    assert client.refused("/stores/it", status=503) == gone
    (row,) = client.value("/stores")
    assert (row["name"], row["kind"]) == ("it", None)
    assert "not a store" in row["problem"]
    (tmp_path / "away").rename(store)
    assert client.value("/stores/it/view")["distance"] == 0


def test_a_damaged_manifest(client: Client, store: Path) -> None:
    flip_bit(store / MANIFEST, 1000)
    assert "is corrupt" in client.refused("/stores/it/view", status=503)
    (row,) = client.value("/stores")
    assert "is corrupt" in row["problem"]


def test_a_damaged_chunk(store: Path) -> None:
    for chunk in chunk_files(store):
        flip_bit(chunk, 100)
    client = client_of(store)
    assert "is corrupt" in client.refused("/stores/it/view", status=503)
    assert client.value("/stores/it/layers")["complete"]


def test_damaged_tilings(tmp_path: Path) -> None:
    tiled(SQUARE, tmp_path / "it.zarr")
    for chunk in (tmp_path / "it.zarr" / "tilings" / "c").rglob("*"):
        if chunk.is_file():
            flip_bit(chunk, 99)
    client = client_of(tmp_path / "it.zarr")
    assert "is corrupt" in client.refused("/stores/it/tilings", status=503)
    (row,) = client.value("/stores")
    assert "is corrupt" in row["problem"]


def test_a_change_between_two_steps_of_an_answer(
    client: Client, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store is replaced after it was opened for an answer: the answer is that of the new one."""
    run(tmp_path / "new.zarr", TABLES["arrangement"])
    read, replaced = TableStore.read_chunk, []

    def read_chunk(self: TableStore, *arguments: Any) -> Any:
        if not replaced:
            replaced.append(True)
            shutil.rmtree(store)
            (tmp_path / "new.zarr").rename(store)
        return read(self, *arguments)

    fresh = client_of(store)
    monkeypatch.setattr(TableStore, "read_chunk", read_chunk)
    assert fresh.value("/stores/it/distance")["distance"] == 0
    assert fresh.value("/stores/it")["family"] == "sliding"


def test_finished_answers_are_kept_by_browsers_and_others_are_not(client: Client, store: Path, stores: Path) -> None:
    answer = client.get("/stores/it/view")
    tag = answer.headers["etag"]
    again = client.get("/stores/it/view", if_none_match=f'"other", W/{tag}')
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    run(store, TABLES["arrangement"], overwrite=True)
    assert client.get("/stores/it/view", if_none_match=tag).status == 200
    running = client_of(stores / "unfinished.zarr")
    for changing in (running.get("/stores/unfinished/view"), client.get("/stores/it/random"), client.get("/stores/it")):
        assert changing.headers["cache-control"] == "no-store"
        assert "etag" not in changing.headers


def test_a_small_cache_holds_the_tables_that_were_used_last(stores: Path) -> None:
    names = ["fields", "orbits", "starts"]
    storages = stores_named([str(stores / f"{name}.zarr") for name in names])
    sizes = {name: Library(storages, 1).opened(name).cache_bytes for name in names}
    library = Library(storages, sizes["fields"] + sizes["orbits"])
    fields, orbits = library.opened("fields"), library.opened("orbits")
    assert library.opened("fields") is fields
    library.opened("starts")
    assert library.opened("fields") is fields or sizes["starts"] > sizes["orbits"]
    assert library.opened("orbits") is not orbits
    assert orbits.table.distance(orbits.table.puzzle.rules.first) == 0, "a thread that has it can still read it"


def test_threads_open_a_store_once(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(stores_named([str(store)]), 1 << 20)
    begin, found, read, calls = threading.Barrier(8), [], TableStore.read, []

    def counted(self: TableStore) -> Any:
        calls.append(self)
        return read(self)

    def open_it() -> None:
        begin.wait()
        found.append(library.opened("it"))

    monkeypatch.setattr(TableStore, "read", counted)
    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(calls), len(set(map(id, found)))) == (1, 1)


def test_the_row_of_a_finished_store_is_read_once_for_each_version(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, read = Library(stores_named([str(store)]), 1), []
    monkeypatch.setattr(
        "antipodes.service.library.listing_of", lambda storage: read.append(storage) or listing_of(storage)
    )
    first = library.row("it")
    assert library.row("it") == first
    assert len(read) == 1
    run(store, UNFINISHED, layers=3, overwrite=True)
    assert library.row("it").to_record().complete is False
    assert library.row("it").to_record().states < 720
    assert len(read) == 3


@pytest.mark.slow
def test_requests_leave_nothing_behind(stores: Path) -> None:
    """What is answered again and again allocates nothing more: a leak would grow with each round."""
    client = client_of(stores)
    asked = [
        *[
            (f"/stores/{name}/{what}", {})
            for name in ("fields", "counts", "unfinished", "square")
            for what in ("view", "path")
        ],
        ("/stores/square/tilings/2.svg", {}),
        ("/stores/fields/pattern", {"pattern": "? ? ? ?"}),
        ("/stores/nothing/view", {}),
        ("/stores", {}),
    ]

    def memory_after(rounds: int) -> int:
        for _ in range(rounds):
            for path, parameters in asked:
                client.get(path, parameters)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        # Threads of earlier tests may allocate memory meanwhile, so one series of rounds that adds nothing is enough.
        sizes = [memory_after(rounds) for rounds in (2, 3, 3, 3)]
        assert min(after - before for before, after in pairwise(sizes)) < 12_000
    finally:
        tracemalloc.stop()
