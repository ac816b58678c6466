from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from numpy.typing import NDArray
from stores import change_manifest, chunk_files, contents, set_depth

import antipodes.tables.verify
from antipodes.config import Config, load_config
from antipodes.errors import NotAStoreError, ResourceLimitError
from antipodes.executors.threads import Threads
from antipodes.puzzles.puzzle import Puzzle
from antipodes.spaces.arrangements import Index
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.sample import check_sample
from antipodes.tables.store import TableStore
from antipodes.tables.verify import verify

RIGHT = 362_880


def depths(store: Path) -> np.ndarray[Any, Any]:
    array: Any = zarr.open_array(store / "depth", mode="r")
    return np.asarray(array[:]).ravel()


def problems(store: Path) -> str:
    verdict = verify(store, Threads(2))
    assert verdict.ok == (not verdict.problems)
    return " | ".join(verdict.problems)


def test_a_right_table(finished: Path) -> None:
    verdict = verify(finished, Threads(2))
    assert (verdict.ok, verdict.checked_states, verdict.sampled_states, verdict.problems) == (True, RIGHT, 1000, ())


def test_an_unfinished_table(unfinished: Path) -> None:
    assert verify(unfinished, Threads(2)).ok


def test_nothing_committed(tmp_path: Path) -> None:
    from antipodes.tables.plan import plan_run

    config = load_config("eight-puzzle")
    TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle))
    assert verify(tmp_path / "t.zarr", Threads(1)).checked_states == 0


def test_depths_of_a_later_layer_do_no_harm(unfinished: Path) -> None:
    index = int(np.flatnonzero(depths(unfinished) == 255)[0])
    set_depth(unfinished, index, lambda _: 11)
    assert verify(unfinished, Threads(2)).ok


@pytest.mark.parametrize("before", [0, 1, 5, 20, 30, 31, 255])
@pytest.mark.parametrize("change", [1, -1, 2, -2, 7])
def test_any_single_wrong_depth(before: int, change: int, eight: Path) -> None:
    rng = np.random.default_rng(before)
    index = int(rng.choice(np.flatnonzero(depths(eight) == before)))
    set_depth(eight, index, lambda depth: (depth + change) % 256)
    found = problems(eight)
    if before == 255 and (before + change) % 256 > 31:
        assert found == "", "another depth beyond the last is unreached all the same"
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


def test_reached_out_of_nowhere(eight: Path) -> None:
    nowhere = int(np.flatnonzero(depths(eight) == 255)[0])
    set_depth(eight, nowhere, lambda _: 12)
    assert "1 x reached, but no predecessor is one less deep" in problems(eight)


def test_a_second_zero(eight: Path) -> None:
    far = int(np.flatnonzero(depths(eight) == 31)[0])
    set_depth(eight, far, lambda _: 0)
    assert "reached, but no predecessor is one less deep" in problems(eight)


def test_wrong_depths_of_an_unfinished_table(unfinished: Path) -> None:
    set_depth(unfinished, int(np.flatnonzero(depths(unfinished) == 9)[0]), lambda _: 10)
    assert problems(unfinished)


def test_a_lie_in_the_record(eight: Path) -> None:
    layers = list(TableStore(eight).read().layers)
    layers[5], layers[6] = layers[6], layers[5]
    change_manifest(eight, layers=layers)
    assert "the manifest counts" in problems(eight)


def test_finished_too_early(unfinished: Path) -> None:
    change_manifest(unfinished, complete=True)
    assert "or unreached" in problems(unfinished)


def test_a_record_of_other_figures(eight: Path) -> None:
    change_manifest(eight, fingerprint="0" * 64)
    assert "0000" in problems(eight)


def test_exchanged_chunks(tmp_path: Path) -> None:
    config = load_config("five-tiles")
    run_puzzle(config, tmp_path / "t.zarr", RunOptions(workers=2))
    chunks = chunk_files(tmp_path / "t.zarr")
    assert len(chunks) > 2
    first, second = chunks[0].read_bytes(), chunks[1].read_bytes()
    chunks[0].write_bytes(second)
    chunks[1].write_bytes(first)
    assert problems(tmp_path / "t.zarr")


def test_one_way_moves(tmp_path: Path) -> None:
    table = {"name": "one-way", "family": "jump", "start": "AB---/-----", "offsets": [[0, 1], [1, 0], [-1, -1]]}
    run_puzzle(Config(table), tmp_path / "t.zarr")
    assert verify(tmp_path / "t.zarr", Threads(2)).ok


@pytest.mark.parametrize("workers", [1, 3])
def test_memory_that_holds_not_all(workers: int, eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(antipodes.tables.verify, "available_memory", lambda: 700_000)
    before = contents(eight)
    assert verify(eight, Threads(workers)).ok
    set_depth(eight, int(np.flatnonzero(depths(eight) == 20)[0]), lambda _: 22)
    assert problems(eight)
    assert contents(eight) != before


def test_no_table(tmp_path: Path) -> None:
    with pytest.raises(NotAStoreError):
        verify(tmp_path / "none.zarr", Threads(1))


def test_move_tables_that_do_not_fit(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(antipodes.tables.verify, "available_memory", lambda: 1000)
    with pytest.raises(ResourceLimitError, match="1000 bytes are available"):
        verify(eight, Threads(1))


def test_each_time_another_sample_is_drawn(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[list[int]] = []

    def noting(puzzle: Puzzle, index: Index, sample: NDArray[np.int64], *others: Any) -> dict[str, NDArray[np.int64]]:
        drawn.append(sorted(sample.tolist()))
        return check_sample(puzzle, index, sample, *others)

    monkeypatch.setattr("antipodes.tables.verify.check_sample", noting)
    first, second = (verify(eight, Threads(2)).sample_seed for _ in range(2))
    assert first != second
    assert drawn[0] != drawn[1]
    assert verify(eight, Threads(2), first).ok
    assert drawn[2] == drawn[0]


def test_wrong_numbers_of_starts(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a run that numbers a few positions wrong, but many right, would begin with them."""
    rank = Index.rank
    monkeypatch.setattr(Index, "rank", lambda index, labels: rank(index, labels) ^ (len(labels) < 3))
    assert "the indices of the starts" in problems(eight)
