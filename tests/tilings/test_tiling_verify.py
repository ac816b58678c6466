"""Damaged stores of tilings are recognised."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stores import change_manifest, contents, flip_bit
from tiling_stores import BOX, SQUARE, tiled

from antipodes.tables.run import RunOptions
from antipodes.tilings.board_config import BoardConfig
from antipodes.tilings.run import tile_board
from antipodes.tilings.store import TilingStore
from antipodes.tilings.table import open_tilings
from antipodes.tilings.verify import verify_tilings
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.exact_cover.placements import symmetry_of

Array = np.ndarray


@pytest.fixture
def square(tmp_path: Path) -> Path:
    return tiled(SQUARE, tmp_path / "square.zarr")


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    asked = iter(range(100))
    store = tmp_path / "unfinished.zarr"
    tile_board(BoardConfig(SQUARE), store, options=RunOptions(workers=1), interrupted=lambda: next(asked) >= 4)
    return store


def test_correct_stores(square: Path, unfinished: Path) -> None:
    finished, half = verify_tilings(square), verify_tilings(unfinished)
    assert (finished.ok, finished.checked_tilings, finished.problems) == (True, 10, ())
    assert half.ok
    assert 0 < half.checked_tilings <= 10


def test_every_bit_counts(square: Path) -> None:
    """A changed bit of any file makes reading fail, with a message that names the store."""
    files = {name: len(content) for name, content in contents(square).items()}
    rng = np.random.default_rng(0)
    for name, size in files.items():
        for bit in rng.integers(8 * size, size=12).tolist():
            flip_bit(square / name, bit)
            verdict = verify_tilings(square)
            assert not verdict.ok, (name, bit)
            assert str(square) in verdict.problems[0]
            with pytest.raises(StoreDamagedError, match=r"damaged|corrupt"), open_tilings(square) as tilings:
                assert tilings[0]
            flip_bit(square / name, bit)
    assert verify_tilings(square).ok


@pytest.mark.parametrize("name", ["zarr.json", "tilings/zarr.json", "tilings/c/0/0"])
def test_a_missing_file(name: str, square: Path) -> None:
    (square / name).unlink()
    assert not verify_tilings(square).ok
    with pytest.raises(StoreDamagedError, match=name), open_tilings(square) as tilings:
        assert tilings[0]


def rewritten(store: Path, change: Callable[[Array], Array]) -> tuple[str, ...]:
    """The problems after other tilings are stored, with matching checksums and counts."""
    directory = TilingStore(store)
    manifest = directory.read()
    tilings = change(directory.tilings(manifest))
    more = len(tilings) - manifest.tilings
    first = replace(manifest.searched[0], tilings=manifest.searched[0].tilings + more)
    searched = (first, *manifest.searched[1:])
    directory.finish(replace(manifest, searched=searched), (), tilings)
    return verify_tilings(store).problems


def swapped(tilings: Array) -> Array:
    return tilings[[1, 0, *range(2, len(tilings))]]


def moved(tilings: Array) -> Array:
    tilings[3, 2] += 1
    return tilings


def out_of_range(tilings: Array) -> Array:
    tilings[3, 2] = 10**6
    return tilings


def with_two_of_a_piece(tilings: Array) -> Array:
    tilings[3, 2] = tilings[3, 1]
    return tilings


def with_a_symmetric_copy(tilings: Array) -> Array:
    symmetry = symmetry_of(BoardConfig(SQUARE).problem)
    tilings[-1] = max(map(tuple, symmetry.copies(tilings[:1])[:, 0].tolist()))
    return tilings


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (swapped, "not in strictly ascending order"),
        (moved, "1 invalid tiling: numbers 4"),
        (out_of_range, "1 invalid tiling: numbers 4"),
        (with_two_of_a_piece, "1 invalid tiling: numbers 4"),
        (lambda tilings: tilings[1:], "the manifest lists 80 raw tilings, but the stored tilings expand to 72"),
        (lambda tilings: tilings[[0, *range(len(tilings))]], "1 duplicate tiling"),
        (with_a_symmetric_copy, "1 non-canonical tiling (not the smallest of its orbit): numbers 10"),
    ],
)
def test_wrong_tilings(change: Callable[[Array], Array], problem: str, square: Path) -> None:
    assert any(problem in found for found in rewritten(square, change))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"fingerprint": "0" * 64}, "corrupt: fingerprint: expected '"),
        ({"board": BOX}, "corrupt: fingerprint: expected '"),
        ({"pieces": ["I", "L", "P", "W", "X"]}, "corrupt: pieces: expected ('I', 'L', 'P', 'W', 'Y'), found"),
        ({"partitions": 7}, "corrupt: complete: expected false"),
    ],
)
def test_a_wrong_manifest(changes: dict[str, Any], problem: str, square: Path) -> None:
    change_manifest(square, **changes)
    assert problem in verify_tilings(square).problems[0]


def test_a_wrong_number_of_symmetric_copies(square: Path) -> None:
    directory = TilingStore(square)
    first, *rest = directory.read().searched
    change_manifest(square, searched=[vars(replace(first, raw_tilings=first.raw_tilings + 1)), *map(vars, rest)])
    assert verify_tilings(square).problems == (
        "the manifest lists 81 raw tilings, but the stored tilings expand to 80",
    )
    change_manifest(square, searched=[vars(replace(first, raw_tilings=0, tilings=1)), *map(vars, rest)])
    assert "corrupt: raw_tilings: expected at least 1, found 0" in verify_tilings(square).problems[0]


def test_commands_name_the_damaged_chunk(square: Path, cli: Any) -> None:
    flip_bit(square / "tilings/c/0/0", 100)
    for command in (["show", square], ["show", square, "--json"]):
        outcome = cli(*command)
        assert (outcome.status, outcome.out) == (1, "")
        assert "chunk" in outcome.err
        assert "is corrupt" in outcome.err
    verdict = cli("verify", square)
    assert verdict.status == 1
    assert "is corrupt" in verdict.out


def test_a_damaged_partition_is_not_resumed(unfinished: Path, cli: Any) -> None:
    chunk = next(unfinished.glob("partitions/*/c/0/0"))
    flip_bit(chunk, 50)
    outcome = cli("resume", unfinished, "--quiet")
    assert (outcome.status, outcome.out) == (1, "")
    assert f"chunk {chunk} is corrupt" in outcome.err
