"""Damaged, cut, missing and foreign journal files: found by digests, searched again, told to readers."""

import errno
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from faults import WRITES, error, fault_at
from programs import Command
from stores import contents, depths_in, flip_bit, toml

from antipodes.puzzles.config import load_config
from antipodes.storage.backend import MANIFEST
from antipodes.system.events import Event, JournalCorrupt
from antipodes.tables.journal_file import PREFIX_BYTES
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes_tasks.base.errors import StoreDamagedError

SMALL = {"name": "small", "family": "hanoi", "pegs": 3, "discs": 4}
OTHER = {"name": "small", "family": "hanoi", "pegs": 4, "discs": 3}
EVERY_LAYER = RunOptions(checkpoint_every=0, workers=1)


def config_file(folder: Path, settings: dict[str, object]) -> Path:
    path = folder / f"{settings['pegs']}.toml"
    path.write_text(toml(settings))
    return path


def unfinished(folder: Path, settings: dict[str, object], writes: int) -> Path:
    """A store of a run that commits each layer, whose disk is full after so many writes."""
    store = folder / f"{settings['pegs']}-{writes}.zarr"
    config = load_config(str(config_file(folder, settings)))
    with fault_at(writes, error(errno.ENOSPC), (WRITES,), lasts=True), pytest.raises(OSError, match="No space"):
        run_puzzle(config, store, EVERY_LAYER)
    return store


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with stores of the same puzzle: ``searching`` and ``assembling``; not to be changed; and of another."""
    folder = tmp_path_factory.mktemp("journals")
    unfinished(folder, SMALL, 30).rename(folder / "searching")
    number = 30
    while not TableStore(store := unfinished(folder, SMALL, number)).read().searched:
        shutil.rmtree(store)
        number += 1
    store.rename(folder / "assembling")
    unfinished(folder, OTHER, 20).rename(folder / "other")
    run_puzzle(load_config(str(config_file(folder, SMALL))), folder / "whole")
    return folder


def files_of(store: Path) -> list[Path]:
    return sorted((store / "journal").iterdir())


def completed(store: Path, folder: Path) -> list[JournalCorrupt]:
    """Resume a store, whose table must become the right one; what the run says of its journal."""
    events: list[Event] = []
    run_puzzle(load_config(str(folder / "3.toml")), store, RunOptions(workers=1), events.append)
    assert contents(store) == contents(folder / "whole")
    return [event for event in events if isinstance(event, JournalCorrupt)]


def depths(store: Path) -> list[int]:
    """All committed depths; StoreDamagedError if some cannot be read."""
    with_store = TableStore(store)
    manifest = with_store.read()
    return [int(depth) for depth in depths_in(with_store, manifest).flat]


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "without the last byte": lambda content: content[:-1],
    "longer": lambda content: content + b"\0",
    "zeros": lambda content: bytes(len(content)),
    "huge header": lambda content: content[:8] + (2**63 - 1).to_bytes(8, "little") + content[PREFIX_BYTES:],
    "many segments": lambda content: content.replace(b'"segments": 1', b'"segments": 1' + b"0" * 12),
    "no segments": lambda content: content.replace(b'"segments": 1', b'"segments":-1'),
    "a bit of the header": lambda content: flipped(content, 8 * PREFIX_BYTES + 9),
    "the last bit": lambda content: flipped(content, 8 * len(content) - 1),
}
"""Changes of the content of a journal file."""


def changing(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


FAULTS: dict[str, Callable[[Path], object]] = {
    **{name: changing(change) for name, change in CHANGES.items()},
    "missing": Path.unlink,
    "of another puzzle": lambda path: shutil.copy(files_of(path.parents[2] / "other")[0], path),
    "of other chunks": lambda path: shutil.copy(
        next(other for other in files_of(path.parents[1]) if other != path), path
    ),
}


@pytest.mark.parametrize(
    ("which", "phase", "fault"),
    [
        *((0, "searching", fault) for fault in FAULTS),
        *((-1, "assembling", fault) for fault in ("the last bit", "missing")),
    ],
)
def test_a_fault_is_found_and_mended(which: int, phase: str, fault: str, folder: Path, cli: Command) -> None:
    store = folder / "faulty.zarr"
    shutil.copytree(folder / phase, store)
    try:
        FAULTS[fault](files_of(store)[which])
        with pytest.raises(StoreDamagedError, match="journal"):
            depths(store)
        outcome = cli("query", store, "--pattern", "*")
        assert outcome.status in (1, 2)
        assert len(outcome.err.splitlines()) == 1
        (told,) = completed(store, folder)
        assert told.depth < TableStore(folder / phase).read().committed_depth
    finally:
        shutil.rmtree(store)


def test_several_faults_at_once(folder: Path) -> None:
    rng, store = random.Random("several"), folder / "several.zarr"
    for phase in ("searching", "assembling"):
        shutil.copytree(folder / phase, store)
        for path in rng.sample(files_of(store), 4):
            flip_bit(path, rng.randrange(8 * path.stat().st_size))
        completed(store, folder)
        shutil.rmtree(store)


def test_no_journal_at_all(folder: Path) -> None:
    store = folder / "none.zarr"
    shutil.copytree(folder / "searching", store)
    shutil.rmtree(store / "journal")
    assert [event.depth for event in completed(store, folder)] == [-1]


@pytest.mark.parametrize("name", ["README", "0-1-3-copy", "x-y-z"])
def test_duplicates_and_foreign_files_do_no_harm(name: str, folder: Path) -> None:
    store = folder / "more.zarr"
    shutil.copytree(folder / "searching", store)
    known = depths(store)
    if name == "README":
        (store / "journal" / name).write_text("notes")
    else:
        shutil.copy(files_of(store)[1], store / "journal" / name)
    (store / "journal" / "folder").mkdir()
    assert depths(store) == known
    committed = TableStore(store).read().committed_depth
    assert [event.depth for event in completed(store, folder)] in ([], [committed])
    shutil.rmtree(store)


def test_a_damaged_duplicate_does_no_harm(folder: Path) -> None:
    """The segments of the first file of several are taken, and that one is deleted if it is damaged."""
    store = folder / "twice.zarr"
    shutil.copytree(folder / "searching", store)
    copy = store / "journal" / "0-1-copy"
    shutil.copy(files_of(store)[1], copy)
    flip_bit(copy, 8 * copy.stat().st_size - 1)
    completed(store, folder)


def test_a_commit_survives_a_journal_that_gets_worse(folder: Path) -> None:
    """Interrupted after the fault was found, the store still resumes, again from before the fault."""
    store = folder / "again.zarr"
    shutil.copytree(folder / "assembling", store)
    for which in (2, 5, 1):
        flip_bit(files_of(store)[which], 8 * PREFIX_BYTES + 9)
        with fault_at(5, error(errno.ENOSPC), (WRITES,), lasts=True), pytest.raises(OSError, match="No space"):
            run_puzzle(load_config(str(folder / "3.toml")), store, EVERY_LAYER)
    assert (store / MANIFEST).exists()
    completed(store, folder)
