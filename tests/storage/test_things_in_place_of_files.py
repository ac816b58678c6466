"""Pipes, sockets, directories and links in the place of a store's files: nothing waits for them or follows them."""

import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import all_stores
import pytest
from programs import Command
from stores import contents
from waiting import PATIENCE


def pipe(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    """A socket; its path may be longer than the system takes, so it is made beside its name."""
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def link(path: Path) -> None:
    """A link to what was there before, which is outside of the store now."""
    folder = next(parent for parent in path.parents if (parent / "outside").exists())
    path.symlink_to(folder / "outside")


THINGS: dict[str, Callable[[Path], None]] = {
    "pipe": pipe,
    "socket": listening,
    "directory": Path.mkdir,
    "link": link,
    "link to nothing": lambda path: path.symlink_to(path.with_name("nothing")),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
}
COMMANDS = {
    "status": ["STORE"],
    "list": ["."],
    "verify": ["STORE", "--quiet"],
    "layers": ["STORE"],
    "query": ["STORE", "--depth", "3"],
    "farthest": ["STORE"],
    "tilings": ["STORE"],
    "resume": ["STORE", "--quiet"],
    "remove": ["STORE", "--yes"],
}


def places(kind: str) -> list[str]:
    """The files and folders of a store that differ in kind: of chunks and journal files the first, and the lock."""
    files = sorted(all_stores.files_of(kind))
    folders = {str(parent) for file in files for parent in Path(file).parents if str(parent) != "."}
    first = {(str(Path(file).parent), file.endswith(".json")): file for file in reversed(files)}
    return [*sorted({*first.values(), *folders}), "../t.zarr.lock"]


@pytest.fixture
def deadline() -> Iterator[Callable[[], object]]:
    """Ends a test that waits; the time begins again at each call."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, late)
    yield lambda: signal.alarm(int(PATIENCE))
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


CASES = [
    *(("unfinished table", thing) for thing in ("pipe", "directory", "link")),
    *(("unfinished counts", "link"), ("tilings", "link")),
]
MORE_CASES = [
    *(("unfinished table", thing) for thing in THINGS if ("unfinished table", thing) not in CASES),
    *(("table", "pipe"), ("unfinished tilings", "pipe")),
]


@pytest.mark.parametrize(
    ("kind", "thing"), [*CASES, *(pytest.param(*case, marks=pytest.mark.slow) for case in MORE_CASES)]
)
def test_nothing_waits(kind: str, thing: str, deadline: Callable[[], object], cli: Command, tmp_path: Path) -> None:
    """At any place in the store. A test finds the places, not the collection of tests: the stores are computed."""
    for place in places(kind):
        deadline()
        for command, arguments in COMMANDS.items():
            store = all_stores.store_of(kind, tmp_path / "t.zarr")
            path = Path(os.path.normpath(store / place))
            if path.exists():
                path.rename(tmp_path / "outside")
            elif thing == "link":
                (tmp_path / "outside").write_bytes(b"{}")
            THINGS[thing](path)
            kept = kept_outside(tmp_path)
            outcome = cli(command, *(store if one == "STORE" else one for one in arguments))
            assert len(outcome.err.splitlines()) <= 1, (place, command, outcome)
            assert "Traceback" not in outcome.err, (place, command, outcome)
            assert "unexpected" not in outcome.err, (place, command, outcome)
            assert kept_outside(tmp_path) == kept, (place, command)
            clear(tmp_path)


def kept_outside(folder: Path) -> object:
    path = folder / "outside"
    return contents(path) if path.is_dir() else path.read_bytes() if path.exists() else None


def clear(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
