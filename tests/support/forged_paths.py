"""Forged stores whose values are paths, URLs, names and huge numbers; and what commands open because of them.

As a program, ``python tests/support/forged_paths.py KIND STEP`` puts such values into the manifest of a store, one
after another (each ``STEP``-th of all pairs of a place and a value), and runs twelve commands on the store. It prints
a line for each file that a command opens, changes or deletes although it does not for an honest store, for each
connection and process, and for each command that ends with a bug or needs too much memory. The last line is the number
of commands.
"""

import contextlib
import copy
import io
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import all_stores
from stores import read_manifest, write_manifest

from antipodes.cli.main import run_command
from antipodes.storage.backend import GROUP, MANIFEST

COMMANDS = [
    ["status", "t.zarr"],
    ["list", "."],
    ["layers", "t.zarr"],
    ["verify", "t.zarr", "--quiet"],
    ["query", "t.zarr", "--depth", "1", "--limit", "2"],
    ["query", "t.zarr", "1 2 3 4 5 0", "--path"],
    ["farthest", "t.zarr"],
    ["show", "t.zarr"],
    ["report", "t.zarr", "--output", "out.html"],
    ["export", "t.zarr", "out.results"],
    ["resume", "t.zarr", "--quiet", "--workers", "1"],
    ["remove", "t.zarr", "--yes"],
]
MORE_KEYS = ("file", "source", "store", "spill", "definition", "sha256", "path", "pattern", "family", "scheduler")
"""Keys that are added to the manifest, its puzzle and its details."""
CHANGING = (
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "shutil",
)
LOOKING = ("open", "os.listdir", "os.scandir")
OUTSIDE = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "subprocess.Popen", "os.exec", "os.system")
MAX_GROWTH = 1 << 30
"""Maximum growth of the memory of this process in bytes."""


class Watch:
    """The files that the process uses, and its connections and processes, while it is watched."""

    def __init__(self) -> None:
        self.used: set[tuple[str, str]] | None = None
        sys.addaudithook(self._event)

    def _event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.used is None:
            return
        if event.startswith(OUTSIDE):
            self.used.add((event, repr(arguments)[:200]))
        elif event.startswith((*CHANGING, *LOOKING)):
            paths = [one for one in arguments if isinstance(one, str | bytes | os.PathLike)]
            kind = "open" if event in LOOKING else event
            for path in paths[: 2 if event in ("os.rename", "os.link", "os.symlink") else 1]:
                self.used.add((kind, os.fsdecode(path)))

    @contextlib.contextmanager
    def watching(self) -> Iterator[set[tuple[str, str]]]:
        """Yield the set to which the events of the block are added."""
        self.used = used = set[tuple[str, str]]()
        try:
            yield used
        finally:
            self.used = None


def is_ordinary(kind: str, path: str, here: str) -> bool:
    """Return whether it is ordinary to use a file: of the store, the output, Python's modules, or the system."""
    name = os.path.join(here, path)
    if "/" not in path:  # relative to a folder that is open, as the program opens the files of a store
        return path in STORED or path.startswith(("t.zarr", ".t.zarr", "out.")) or path in ("depth", "journal")
    parts = os.path.relpath(name, here).split(os.sep)
    if parts[0] == "." or parts[0].startswith(("t.zarr", ".t.zarr", "out.")):
        return ".." not in parts
    code = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]), "/proc", "/sys", "/dev/null")
    return kind == "open" and os.path.abspath(name).startswith(code)


STORED = {MANIFEST, GROUP}


def places_in(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a JSON value, of a list only the first."""
    items = (
        list(value.items()) if isinstance(value, dict) else [*enumerate(value)][:1] if isinstance(value, list) else []
    )
    return [path for key, one in items for path in [(*here, key), *places_in(one, (*here, key))]]


def replaced(content: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of a JSON value with another value at a place."""
    found = copy.deepcopy(content)
    inner: Any = found
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return found


def values(bait: Path) -> list[Any]:
    """Return values that are paths of existing files, URLs, names, and huge numbers."""
    return [
        f"{bait}/evil.py:puzzle", f"{bait}/file.tws", str(bait), "../bait", "../bait/file.tws", "evil:puzzle",
        "http://127.0.0.1:9/x", "s3://127.0.0.1:9/x", "file:///etc/hostname", {"file": f"{bait}/file.tws"},
        {"table": str(bait)}, [f"{bait}/file.tws"], 2**40, 2**62, 10**30, [2**40] * 2, "9" * 5000,
    ]  # fmt: skip


def run(command: list[str]) -> tuple[int, str]:
    """Run a command in this process; return its exit status and what it printed on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_command(command)
    return status, err.getvalue()


def main(kind: str, step: int) -> None:
    """Run the commands, and print what is not ordinary."""
    with tempfile.TemporaryDirectory() as folder:
        here, bait = Path(folder, "here"), Path(folder, "bait")
        os.environ["XDG_DATA_HOME"] = os.environ["XDG_CACHE_HOME"] = str(here / "out.home")
        here.mkdir()
        bait.mkdir()
        (bait / "evil.py").write_text("from antipodes import define_puzzle\nopen('was-run', 'w')\npuzzle = 1\n")
        (bait / "file.tws").write_text("Name x\n")
        os.chdir(here)
        watch, ran, honest = Watch(), 0, dict[str, set[tuple[str, str]]]()
        for _ in range(2):  # the second time, all modules are loaded
            for command in COMMANDS:
                all_stores.store_of(kind, here / "t.zarr")
                with watch.watching() as used:
                    run(command)
                honest[str(command)] = used
        all_stores.store_of(kind, here / "t.zarr")
        whole = read_manifest(here / "t.zarr" / MANIFEST)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        top = [(key,) for key in MORE_KEYS]
        inner = [(name, key) for name in ("puzzle", "board", "details") if name in whole for key in MORE_KEYS]
        changes = [(place, value) for place in [*places_in(whole), *top, *inner] for value in values(bait)]
        for place, value in changes[::step]:
            for command in COMMANDS:
                shutil.rmtree(here / "t.zarr", ignore_errors=True)
                all_stores.store_of(kind, here / "t.zarr")
                write_manifest(here / "t.zarr" / MANIFEST, replaced(whole, place, value))
                with watch.watching() as used:
                    status, err = run(command)
                ran += 1
                about = f"{command[0]}: {'.'.join(map(str, place))} = {str(value)[:60]}"
                if status not in (0, 1, 2) or "internal error" in err or "Traceback" in err:
                    print(f"{about}: status {status}: {err.strip()[:300]}")
                for event, path in sorted(used - honest[str(command)]):
                    if event.startswith(OUTSIDE) or not is_ordinary(event, path, str(here)):
                        print(f"{about}: {event} {path}")
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                if (peak - before) * 1024 > MAX_GROWTH:
                    print(f"{about}: {(peak - before) / 1024:.0f} MiB")
                    before = peak
        if sorted(path.name for path in bait.rglob("*")) != ["evil.py", "file.tws"]:
            print(f"files were changed: {list(bait.rglob('*'))}")
        print(ran)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
