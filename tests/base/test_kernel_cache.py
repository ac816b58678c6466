"""Compiled kernels: of their files only those that fit are loaded, and their parts are compiled with them."""

import importlib.util
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.codegen import CPUCodeLibrary

from antipodes_tasks.base import jit, kernel_cache

SOURCE = """
from antipodes_tasks.base.jit import kernel

@kernel
def twice(number):
    return 2 * number

@kernel
def thrice(number):
    return 3 * number
"""


@pytest.fixture(autouse=True)
def _beside_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file with two kernels, whose cache is next to it."""
    path = tmp_path / "cached_kernels.py"
    path.write_text(SOURCE)
    return path


def imported(path: Path) -> ModuleType:
    """Return a new module with the code of a file, as another process would import it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def copies(source: Path, *codes: str) -> Iterator[Path]:
    """Write each code into a folder of its own, under the name of the source, and yield the paths."""
    for number, code in enumerate(codes):
        path = source.parent / f"installation {number}" / source.name
        path.parent.mkdir()
        path.write_text(code)
        yield path


def file_of(path: Path, kernel: str) -> Path:
    """Return the only file of a kernel in the cache."""
    (file,) = path.parent.glob(f"__pycache__/{path.stem}.{kernel}-*.nbc")
    return file


def times_compiled(kernel: Any) -> int:
    return sum(kernel.made.stats.cache_misses.values())


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-5])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)


def replace_by(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def replace(file: Path) -> None:
        file.unlink()
        make(file)

    return replace


DAMAGES = {
    "cut": cut,
    "bit": flip,
    "empty": lambda file: file.write_bytes(b""),
    "missing": lambda file: file.unlink(),
    "other bytes": lambda file: file.write_bytes(bytes(range(256)) * 40),
    "link": lambda file: file.symlink_to(file.rename(file.with_suffix(".moved"))),
    "fifo": replace_by(os.mkfifo),
    "device": replace_by(lambda file: file.symlink_to("/dev/zero")),
    "directory": replace_by(Path.mkdir),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_does_not_fit_is_compiled_again_and_replaced(damage: str, source: Path) -> None:
    assert imported(source).twice(4) == 8
    file = file_of(source, "twice")
    DAMAGES[damage](file)
    again, last = imported(source), imported(source)
    assert (again.twice(5), times_compiled(again.twice)) == (10, 1)
    assert (last.twice(6), times_compiled(last.twice)) == (12, 1 if damage == "directory" else 0)
    assert not list(file.parent.glob("*.nbc.*"))  # no temporary files are left


def test_files_of_killed_processes_are_deleted(source: Path) -> None:
    """Those of any kernel, because a kernel in a valid file is not written again; and only files of the program."""
    imported(source).twice(4)
    file = file_of(source, "twice")
    another = file.with_name("other.4.py311.0123456789abcdef.nbc")
    old = [file.with_name(f"{file.name}.abcd_123"), another.with_name(f"{another.name}.abcd_123")]
    new = file.with_name(f"{file.name}.efgh_456")
    others = [file.with_name(name) for name in ("k.1.nbc.sav_2025", f"{file.name}.mine", f"{file.name}.SAV_2025")]
    for leftover in (*old, new, *others):
        leftover.touch()
    for leftover in (*old, *others):
        os.utime(leftover, (0, 0))
    file.unlink()
    imported(source).twice(4)
    assert [one.exists() for one in (file, *old, new, *others)] == [True, False, False, True, True, True, True]


def test_compilation_is_watched_but_not_loading(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    watch = jit.Watch(lambda: None)
    monkeypatch.setattr(watch, "begin", lambda: heard.append("begin"))
    monkeypatch.setattr(watch, "end", lambda: heard.append("end"))
    monkeypatch.setattr(jit, "watch", watch)
    for _ in range(2):
        imported(source).twice(1)
    assert heard == ["begin", "end"]


def test_all_the_time_until_a_kernel_can_run_is_loading(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import of numba, and then compilation or reading the cache."""
    now = [0.0]
    monkeypatch.setattr(jit.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(jit, "loading", jit.Stopwatch())

    def slowly(function: Callable[..., Any], seconds: int) -> Callable[..., Any]:
        def slow(*args: Any) -> Any:
            now[0] += seconds
            return function(*args)

        return slow

    for seconds in (111, 101):  # the second one is loaded from the cache
        begin, kernel = jit.loading.seconds, imported(source).twice
        monkeypatch.setattr(kernel, "_make", slowly(jit._compiled, 100))
        monkeypatch.setattr(kernel.made._cache, "load_overload", slowly(kernel.made._cache.load_overload, 1))
        monkeypatch.setattr(kernel.made._compiler, "compile", slowly(kernel.made._compiler.compile, 10))
        assert kernel(4) == 8
        now[0] += 1000  # work
        assert kernel(5) == 10
        assert jit.loading.seconds - begin == seconds


def test_a_larger_file_than_any_kernel_is_not_read_completely(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "MAX_BYTES", 100)
    assert imported(source).twice(4) == 8
    again = imported(source)
    assert (again.twice(5), times_compiled(again.twice)) == (10, 1)


def test_exchanged_files_are_not_called(source: Path) -> None:
    first = imported(source)
    assert (first.twice(1), first.thrice(1)) == (2, 3)
    one, other = file_of(source, "twice"), file_of(source, "thrice")
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    again = imported(source)
    assert (again.twice(1), again.thrice(1)) == (2, 3)
    assert (times_compiled(again.twice), times_compiled(again.thrice)) == (1, 1)


def test_no_random_corruption_is_unpickled(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert imported(source).twice(4) == 8
    file, draw = file_of(source, "twice"), random.Random(51)
    whole = file.read_bytes()
    again = imported(source)
    cache, target, signature = again.twice.made._cache, again.twice.made.targetctx, (numba.int64,)
    assert cache.load_overload(signature, target) is not None
    monkeypatch.setattr(kernel_cache.pickle, "loads", lambda content: pytest.fail("unpickled"))
    for _ in range(100):
        content = bytearray(whole)
        for _ in range(draw.choice([1, 1, 1, 10, 1000])):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        begin, end = sorted(draw.choices(range(len(content)), k=2)) if draw.random() < 0.3 else (0, 0)
        del content[begin:end]
        if content != whole:
            file.write_bytes(content)
            assert cache.load_overload(signature, target) is None


def test_an_intact_file_that_needs_a_missing_module_is_compiled_again(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert imported(source).twice(4) == 8
    again = imported(source)
    monkeypatch.setattr(kernel_cache.pickle, "loads", lambda content: importlib.import_module("no_such_module"))
    assert (again.twice(5), times_compiled(again.twice)) == (10, 1)


INNER = """
from antipodes_tasks.base.jit import kernel

FACTOR = 2

@kernel
def product(number):
    return FACTOR * number
"""
OUTER = """
from typing import NamedTuple

from antipodes_tasks.base.jit import kernel
from inner_kernels import FACTOR, product

@kernel
def twice(number):
    return product(number)

@kernel
def added(number):
    return FACTOR + number
"""


@pytest.mark.parametrize("change", [("FACTOR = 2", "FACTOR = 7"), ("FACTOR * number", "FACTOR * number + 5")])
def test_code_and_constants_of_other_files_are_parts_of_a_kernel(
    change: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, outer = tmp_path / "inner_kernels.py", tmp_path / "outer_kernels.py"
    outer.write_text(OUTER)

    def answers(text: str) -> tuple[int, int]:
        inner.write_text(text)
        monkeypatch.setitem(sys.modules, "inner_kernels", imported(inner))
        module = imported(outer)
        return module.twice(10), module.added(10)

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert answers(INNER) == (20, 12)
    assert answers(INNER.replace(*change)) == ((70, 17) if change[1] == "FACTOR = 7" else (25, 12))


def test_fields_of_a_record_are_parts_of_a_signature(tmp_path: Path) -> None:
    path = tmp_path / "record_kernels.py"
    path.write_text(
        "from antipodes_tasks.base.jit import kernel\n\n@kernel\ndef difference(pair):\n    return pair.a - pair.b\n"
    )
    from collections import namedtuple

    for names, expected in (("a b", 3), ("b a", -3)):
        pair = namedtuple("Pair", names)
        assert imported(path).difference(pair(5, 2)) == expected


@pytest.mark.parametrize("problem", ["other users can write to", "belongs to another user"])
def test_a_folder_of_other_users_is_not_used(
    problem: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(jit, "watch", jit.Watch(lambda: None))
    imported(source).twice(4)
    ((file, folder),) = [(file, file.parent) for file in tmp_path.glob("cache/*/*.nbc")]
    assert jit.watch.reason_uncached is None
    if problem.startswith("other"):
        folder.chmod(0o775)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.stat(folder).st_uid + 1)
        os.chown(folder, os.getuid() or 1000, -1)
    file.unlink()
    again = imported(source)
    assert (again.twice(5), times_compiled(again.twice)) == (10, 1)
    assert not list(folder.iterdir())
    assert problem in str(jit.watch.reason_uncached)


def test_installations_share_a_folder(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    first, *others = (imported(path) for path in copies(source, SOURCE, SOURCE, SOURCE.replace("2 *", "5 *")))
    assert (first.twice(4), times_compiled(first.twice)) == (8, 1)
    assert [(one.twice(4), times_compiled(one.twice)) for one in others] == [(8, 0), (20, 1)]
    assert len(list(tmp_path.glob("cache/*/*.nbc"))) == 1


def test_new_folders_cannot_be_written_by_other_users(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    mask = os.umask(0)
    try:
        imported(source).twice(4)
    finally:
        os.umask(mask)
    (folder,) = tmp_path.glob("cache/*")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_kernels_are_compiled_if_no_folder_can_be_written(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(dir: Path) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", read_only)  # numba makes one to see whether it can write
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(jit, "watch", jit.Watch(lambda: None))
    assert imported(source).twice(4) == 8
    assert jit.watch.reason_uncached == "no cache directory can be written"


def test_a_full_disk_does_not_stop_a_kernel(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(old: str, new: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert imported(source).twice(4) == 8
    assert not list(source.parent.glob("__pycache__/*.nbc*"))


def test_arrays_that_cannot_be_written_have_files_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "array_kernels.py"
    path.write_text("from antipodes_tasks.base.jit import kernel\n\n@kernel\ndef first(words):\n    return words[0]\n")
    words = np.arange(3)
    assert imported(path).first(words) == 0
    words.flags.writeable = False
    assert imported(path).first(words) == 0
    assert len(list(tmp_path.glob("__pycache__/*.nbc"))) == 2


PARTS = """
from antipodes_tasks.base.jit import kernel

@kernel
def twice(number):
    return 2 * number

@kernel
def fourfold(number):
    return twice(twice(number))

@kernel
def eightfold(number):
    return twice(fourfold(number))

@kernel
def shown(numbers):
    print(numbers)
    return len(numbers)

@kernel
def length(numbers):
    return shown(numbers)
"""


@pytest.fixture
def kernels(tmp_path: Path) -> Any:
    """A module of kernels that have not been compiled."""
    path = tmp_path / "kernels_of_parts.py"
    path.write_text(PARTS)
    return imported(path)


def test_each_kernel_is_optimised_once_together_with_its_parts(kernels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    optimised, optimise = list[str](), CPUCodeLibrary._optimize_final_module

    def listed(library: Any) -> None:
        optimised.append(library.name)
        optimise(library)

    monkeypatch.setattr(CPUCodeLibrary, "_optimize_final_module", listed)
    assert kernels.eightfold(5) == 40
    assert optimised == ["eightfold"]
    assert kernels.fourfold(5) == 20  # it is also a kernel of its own
    assert optimised == ["eightfold", "fourfold"]


def test_parts_use_no_python_objects(kernels: Any) -> None:
    with pytest.raises(NotImplementedError, match="uses Python objects"):
        kernels.length(np.zeros(2))
