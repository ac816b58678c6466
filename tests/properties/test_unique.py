"""Counts up to symmetry, and one position of each class, against orbits found by trying all images."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from brute_force import distances
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import jump_settings, sliding_settings
from symmetric_puzzles import board, bundled, of_family, swap_puzzles, twist_puzzle, twist_puzzles
from symmetry_classes import check_layers_up_to_symmetry, check_symmetric_layers
from transform_puzzles import transform_puzzles

from antipodes.puzzles.config import as_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.options import RunOptions
from antipodes.tables import up_to_symmetry
from antipodes.tables.run import run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.properties.fixed import BATCH_BYTES, fixed_positions
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.spaces.arrangements import Arrangements
from antipodes_tasks.spaces.orbits import Orbits

STICKERS = {
    "U": "(12 21)(13 22)(14 23)(15 18)(16 19)(17 20)",
    "R": "(6 21)(7 22)(8 23)(9 18)(10 19)(11 20)",
    "F": "(3 21)(4 22)(5 23)(9 15)(10 16)(11 17)",
}
"""Half turns of a 2x2x2: few arrangements are positions, since the stickers of a corner stay together."""
PUZZLES = {
    "knights": of_family("jump", start="BB-/---/WW-", moves="knight"),
    "a board of equal tiles": board("x x x/x . x/x x x"),
    "a board of three colours": board("a . a/b b b"),
    "free tiles": board("1 x 2/x . x", free=["x"]),
    "twists": twist_puzzle(
        [((1, 0, 2), (1, 2, 0)), ((0, 2, 1), (0, 1, 2)), ((2, 1, 0), (2, 0, 1))], [(0, 1, 2, 0, 0, 0)], 3
    ),
    "stickers": of_family("generators", start=" ".join(map(str, range(24))), moves=STICKERS),
    "goals": of_family("hanoi", pegs=3, discs=4, start=["1 1 1 1", "2 2 2 2"]),
}


@pytest.fixture(scope="module", params=PUZZLES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Puzzle, Path]:
    """A puzzle and its table."""
    puzzle = PUZZLES[request.param]
    store = tmp_path_factory.mktemp("unique") / "t.zarr"
    run_puzzle(as_config(puzzle), store, RunOptions(workers=1))
    return puzzle, store


def test_layers_and_antipodes_are_those_of_orbits(made: tuple[Puzzle, Path]) -> None:
    check_against_orbits(*made)


def check_against_orbits(puzzle: Puzzle, store: Path) -> None:
    depths = distances(puzzle.starts, lambda one: map(tuple, puzzle.successors(one).tolist()))
    with open_table(store) as table:
        check_layers_up_to_symmetry(table, depths)


@settings(max_examples=2 * settings().max_examples)
@given(
    st.one_of(
        st.one_of(swap_puzzles(), twist_puzzles(), transform_puzzles()),
        st.one_of(sliding_settings(), jump_settings()).map(puzzle_from),
    )
)
def test_fixed_positions_are_all_that_stay(puzzle: Puzzle) -> None:
    numbering = (Arrangements if isinstance(puzzle.moves, Swaps) else Orbits).of(puzzle.rules)
    every = numbering.unrank(np.arange(min(numbering.size, 5000)))
    for one in symmetries_of(puzzle.rules).generators[:3]:
        found = np.concatenate([every[:0], *fixed_positions(one)])
        assert len(np.unique(found, axis=0)) == len(found)
        assert (one.image(found) == found).all()
        if numbering.size == len(every):
            assert set(map(bytes, found)) >= set(map(bytes, staying(one, every)))


def staying(symmetry: Symmetry, positions: np.ndarray) -> np.ndarray:
    return positions[(symmetry.image(positions) == positions).all(axis=1)]


@st.composite
def copied_puzzles(draw: st.DrawFn) -> Puzzle:
    """Random permutations of few points, copied to many places, so that few arrangements are positions."""
    points, copies = draw(st.integers(3, 4)), draw(st.integers(3, 4))
    changes = st.permutations(range(points)).filter(lambda one: sorted(one) != one)
    moves = draw(st.lists(changes, min_size=1, max_size=3, unique_by=tuple))
    renamed = draw(st.permutations(range(points)))  # a symmetry, as its conjugates are moves, too
    moves += [[renamed.index(one[renamed[point]]) for point in range(points)] for one in moves]
    copied = {
        f"M{number}": [copy * points + image for copy in range(copies) for image in one]
        for number, one in enumerate(moves)
    }
    start = " ".join(map(str, range(copies * points)))
    return of_family("generators", start=start, moves=copied, turns="single")


@pytest.mark.slow
@given(copied_puzzles())
def test_few_positions_of_many_places_are_those_of_orbits(puzzle: Puzzle) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "t.zarr"
        run_puzzle(as_config(puzzle), store, RunOptions(workers=1))
        check_against_orbits(puzzle, store)


@pytest.mark.parametrize("share", [0.0, 1000.0])
def test_reading_the_table_and_listing_count_the_same(
    made: tuple[Puzzle, Path], share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle, store = made
    monkeypatch.setattr(up_to_symmetry, "LISTED_SHARE", share)
    with open_table(store) as table:
        depths = distances(puzzle.starts, lambda one: map(tuple, puzzle.successors(one).tolist()))
        check_symmetric_layers(table, depths)
        for depth, count in enumerate(table.unique_layers()):
            assert table._symmetric.unique_at(depth) == count


def test_too_many_arrangements_are_not_listed() -> None:
    rules = PUZZLES["stickers"].rules
    one = next(one for one in symmetries_of(rules).elements() if not one.is_identity)
    listed = fixed_positions(one, 1 << 16)
    with pytest.raises(ResourceLimitError):
        all(batch.nbytes <= BATCH_BYTES for batch in listed)


def test_conjugate_symmetries_are_in_one_class() -> None:
    found = symmetries_of(bundled("2x2x2").rules)
    classes = found.classes()
    assert sorted(size for _, size in classes) == [1, 1, 3, 3, 6, 6, 6, 6, 8, 8]  # of the full group of the cube
    assert sum(size for _, size in symmetries_of(of_family("hanoi", pegs=6, discs=2).rules).classes()) == 120


@pytest.mark.slow
def test_known_counts_of_the_2x2x2(tmp_path: Path) -> None:
    run_puzzle(as_config("2x2x2"), tmp_path / "t.zarr", RunOptions(workers=2))
    with open_table(tmp_path / "t.zarr") as table:
        assert table.unique_layers() == [1, 2, 9, 71, 637, 4449, 24653, 113073, 433709, 947300, 316616, 1450]
