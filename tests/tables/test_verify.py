from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from numpy.typing import NDArray
from stores import change_manifest, contents, set_depth

import antipodes.tables.verify
from antipodes.config import Config
from antipodes.errors import NotAStoreError, ResourceLimitError
from antipodes.executors.threads import Threads
from antipodes.spaces.arrangement.arrangement_space import ArrangementSpace
from antipodes.spaces.space import StateSpace
from antipodes.tables.run import run_puzzle
from antipodes.tables.sample import check_sample
from antipodes.tables.store.table_store import TableStore
from antipodes.tables.verify import verify

POSITIONS = 181_440


def depths(store: Path) -> np.ndarray[Any, Any]:
    array: Any = zarr.open_array(store / "depth", mode="r")
    return np.asarray(array[:]).ravel()


def problems(store: Path) -> str:
    verdict = verify(store, Threads(2))
    assert verdict.ok == (not verdict.problems)
    return " | ".join(verdict.problems)


@pytest.fixture
def line(tmp_path: Path) -> Path:
    """A table most of whose positions cannot be reached, up to depth 6."""
    settings = {"name": "line", "family": "sliding", "rows": 1, "columns": 7, "start": "0 1 1 2 3 4 5"}
    run_puzzle(Config(settings), tmp_path / "line.zarr")
    return tmp_path / "line.zarr"


def test_a_correct_table(finished: Path) -> None:
    verdict = verify(finished, Threads(2))
    assert (verdict.ok, verdict.checked_states, verdict.sampled_states, verdict.problems) == (True, POSITIONS, 1000, ())


def test_an_unfinished_table(unfinished: Path) -> None:
    assert verify(unfinished, Threads(2)).ok


def test_depths_of_an_uncommitted_layer_are_ignored(unfinished: Path) -> None:
    index = int(np.flatnonzero(depths(unfinished) == 255)[0])
    set_depth(unfinished, index, lambda _: 11)
    assert verify(unfinished, Threads(2)).ok


@pytest.mark.parametrize("before", [0, 1, 5, 20, 30, 31, 255])
@pytest.mark.parametrize("change", [1, -1, 2, -2, 7])
def test_any_single_wrong_depth(before: int, change: int, eight: Path, line: Path) -> None:
    store, rng = line if before == 255 else eight, np.random.default_rng(before)
    index = int(rng.choice(np.flatnonzero(depths(store) == before)))
    set_depth(store, index, lambda depth: (depth + change) % 256)
    found = problems(store)
    if before == 255 and (before + change) % 256 > 31:
        assert found == "", "a greater depth than the radius counts as unreached"
    else:
        assert found


def test_the_kinds_of_problems(eight: Path) -> None:
    start = int(np.flatnonzero(depths(eight) == 0)[0])
    set_depth(eight, start, lambda _: 4)
    set_depth(eight, int(np.flatnonzero(depths(eight) == 31)[0]), lambda _: 0)
    found = problems(eight)
    assert "1 x a start whose depth is not 0: 1 2 3 4 5 6 7 8 0" in found
    assert "3 x reached, but no predecessor is one less deep" in found
    assert "the manifest counts" in found


def test_too_deep(eight: Path) -> None:
    far = int(np.flatnonzero(depths(eight) == 29)[0])
    set_depth(eight, far, lambda _: 31)
    assert "1 x more than one deeper than a predecessor" in problems(eight)


def test_a_depth_without_a_predecessor(line: Path) -> None:
    unreached = int(np.flatnonzero(depths(line) == 255)[0])
    set_depth(line, unreached, lambda _: 4)
    assert "1 x reached, but no predecessor is one less deep" in problems(line)


def test_a_second_zero(eight: Path) -> None:
    far = int(np.flatnonzero(depths(eight) == 31)[0])
    set_depth(eight, far, lambda _: 0)
    assert "reached, but no predecessor is one less deep" in problems(eight)


def test_wrong_depths_of_an_unfinished_table(unfinished: Path) -> None:
    set_depth(unfinished, int(np.flatnonzero(depths(unfinished) == 9)[0]), lambda _: 10)
    assert problems(unfinished)


def test_wrong_counts_in_the_manifest(eight: Path) -> None:
    layers = list(TableStore(eight).read().layers)
    layers[5], layers[6] = layers[6], layers[5]
    change_manifest(eight, layers=layers)
    assert "the manifest counts" in problems(eight)


def test_finished_too_early(unfinished: Path) -> None:
    change_manifest(unfinished, complete=True)
    assert "or unreached" in problems(unfinished)


def test_the_fingerprint_of_another_puzzle(eight: Path) -> None:
    change_manifest(eight, fingerprint="0" * 64)
    assert "0000" in problems(eight)


def test_one_way_moves(tmp_path: Path) -> None:
    table = {"name": "one-way", "family": "jump", "start": "AB---/-----", "offsets": [[0, 1], [1, 0], [-1, -1]]}
    run_puzzle(Config(table), tmp_path / "t.zarr")
    assert verify(tmp_path / "t.zarr", Threads(2)).ok


@pytest.mark.parametrize("workers", [1, 3])
def test_memory_that_does_not_hold_the_table(workers: int, eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(antipodes.tables.verify, "available_memory", lambda: 700_000)
    before = contents(eight)
    assert verify(eight, Threads(workers)).ok
    assert contents(eight) == before
    set_depth(eight, int(np.flatnonzero(depths(eight) == 20)[0]), lambda _: 22)
    assert problems(eight)


def test_no_table(tmp_path: Path) -> None:
    with pytest.raises(NotAStoreError):
        verify(tmp_path / "none.zarr", Threads(1))


def test_move_tables_that_do_not_fit(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(antipodes.tables.verify, "available_memory", lambda: 1000)
    with pytest.raises(ResourceLimitError, match="1000 bytes are available"):
        verify(eight, Threads(1))


def test_each_time_another_sample_is_drawn(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[list[int]] = []

    def noting(space: StateSpace, sample: NDArray[np.int64], *others: Any) -> dict[str, NDArray[np.int64]]:
        drawn.append(sorted(sample.tolist()))
        return check_sample(space, sample, *others)

    monkeypatch.setattr("antipodes.tables.verify.check_sample", noting)
    first, second = (verify(eight, Threads(2)).sample_seed for _ in range(2))
    assert first != second
    assert drawn[0] != drawn[1]
    assert verify(eight, Threads(2), first).ok
    assert drawn[2] == drawn[0]


def test_wrong_indices_of_starts(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranking that is wrong for a few positions and correct for many: a run would start from these indices."""
    rank = ArrangementSpace.rank
    monkeypatch.setattr(ArrangementSpace, "rank", lambda space, labels: rank(space, labels) ^ (len(labels) < 3))
    assert "the indices of the starts" in problems(eight)
