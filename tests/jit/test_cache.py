"""Machine code that an earlier version of the program left in the cache."""

import importlib.util
import pickle
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = """
from antipodes_tasks.jit.compile import kernel

@kernel
def twice(number):
    return 2 * number
"""


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("cached_kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("damage", ["moved", "cut", "empty"])
def test_a_cache_that_cannot_be_read_is_replaced(damage: str, tmp_path: Path) -> None:
    source = tmp_path / "cached_kernels.py"
    source.write_text(SOURCE)
    assert imported(source).twice(4) == 8
    (index,) = (tmp_path / "__pycache__").glob("*.nbi")
    whole = index.read_bytes()
    version = pickle.dumps(pickle.loads(whole))
    moved = version + b"cno_such_module\nMoved\n."
    index.write_bytes({"moved": moved, "cut": whole[:-5], "empty": b""}[damage])
    again = imported(source)
    assert again.twice(5) == 10
    assert sum(again.twice.stats.cache_misses.values()) == 1
    last = imported(source)
    assert last.twice(6) == 12
    assert sum(last.twice.stats.cache_hits.values()) == 1
