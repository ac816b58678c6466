"""Spaces reduced by symmetries, against the same puzzle without."""

import json
import pickle
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from numpy.typing import NDArray
from reduced_spaces import check_agreement, depths_of, reduced_spaces
from symmetric_puzzles import swap_puzzles, twist_puzzles
from symmetric_transforms import symmetric_puzzles
from table_search import layers_by_engine
from transform_puzzles import puzzle_of

import antipodes as ap
from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.machine import available_workers
from antipodes_tasks.base.errors import FieldError, InputError, StoreDamagedError
from antipodes_tasks.properties import symmetry_images
from antipodes_tasks.rules.parts import values
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces import canonical_rows, choose_cut, row_classes, row_tables, selection
from antipodes_tasks.spaces.reduced_numbering import Reduced
from antipodes_tasks.spaces.row_symmetries import maps_rows_to_rows
from antipodes_tasks.spaces.selection import best_space, every_cut, numbering_of, stored_space
from antipodes_tasks.spaces.space import NOT_NUMBERED, Space

Depths = NDArray[np.int64]
LISTED_ROWS = 10_000
"""Rows whose least are found in both ways."""
MEASURED, MAX_WIDTH, PYTHON_BYTES = 1, 500, 1 << 17
"""Number of spaces whose memory is measured, their maximum number of columns; and bytes of objects besides arrays."""


def check_all(puzzle: Puzzle) -> int:
    """Check all reduced spaces of a puzzle; how many there are."""
    rules = puzzle.rules
    whole = every_cut(rules, numbering_of(rules))[0]
    expected = depths_of(whole, whole.filler.filled())
    spaces = list(reduced_spaces(rules))
    for space in spaces:
        check_agreement(space, expected)
    return len(spaces)


@settings(max_examples=2 * settings().max_examples, suppress_health_check=list(HealthCheck))
@given(symmetric_puzzles() | twist_puzzles() | swap_puzzles())
def test_random_puzzles(puzzle: Puzzle) -> None:
    """Of several parts and starts, with one-way moves, twists or empty places."""
    assume(check_all(puzzle))


@pytest.mark.parametrize(
    ("settings", "order"),
    [
        ({"family": "hanoi", "pegs": 4, "discs": 4}, 6),
        ({"family": "hanoi", "pegs": 6, "discs": 2}, 120),
        ({"family": "generators", "start": "a a a", "moves": {"L": [1, 2, 0]}}, 2),
        ({"family": "generators", "start": "0 1 2 3 4 5", "moves": {"L": [1, 2, 3, 4, 5, 0], "X": "(0 2)(3 5)"}}, 2),
    ],
)
def test_families(settings: dict[str, Any], order: int) -> None:
    puzzle = puzzle_from({"name": "p", **settings})
    assert len(choose_cut.symmetries_listed(puzzle.rules)) == order
    assert check_all(puzzle)


@pytest.mark.parametrize("name", ["ivy", "eight-puzzle", "knights-coloured"])
def test_bundled_puzzles_have_the_layers_of_all_positions(name: str) -> None:
    rules = load_config(name).puzzle.rules
    whole, reduced = best_space(rules), best_space(rules, "on")
    expected = layers_by_engine(whole.filler.filled(), whole.rank(whole.starts))
    depths, weights = depths_of(reduced, reduced.filler.filled(), 2), np.repeat(reduced.weights, reduced.width)
    reached = depths >= 0
    assert np.bincount(depths[reached], weights[reached]).tolist() == expected


@pytest.fixture(scope="module")
def cube() -> Space:
    """The 2x2x2 in half turns."""
    return best_space(load_config("2x2x2").puzzle.rules, "on")


def test_the_cube_has_984_rows(cube: Space) -> None:
    assert (cube.rows, cube.width, cube.size, cube.full_space.size) == (984, 2187, 2_152_008, 88_179_840)
    assert cube.weights is not None
    assert (int(cube.weights.sum()), int((cube.weights < 48).sum())) == (40_320, 244)
    closing = cube.filler.filled().closing
    assert closing is not None
    assert len(closing.rows) <= 244


def test_the_least_rows_are_the_same_with_and_without_machine_code(
    cube: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbering = cube.numbering
    assert isinstance(numbering, Reduced)
    labels = cube.full_space.unrank(np.random.default_rng(1).integers(cube.full_space.size, size=300))
    least = numbering.classes.minimum_images(labels)
    monkeypatch.setattr(row_classes, "MAX_NUMPY_IMAGES", 0)
    monkeypatch.setattr(row_classes, "MAX_NUMPY_ROWS", 0)
    compiled = row_classes.RowClasses(numbering.frame, numbering.images)
    assert compiled.keys.tolist() == numbering.classes.keys.tolist()
    assert [each.tolist() for each in compiled.minimum_images(labels)] == [each.tolist() for each in least]


def test_images_are_the_same_with_and_without_machine_code(cube: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    numbering = cube.numbering
    assert isinstance(numbering, Reduced)
    random = np.random.default_rng(2)
    labels, numbers = (
        cube.full_space.unrank(random.integers(cube.full_space.size, size=300)),
        random.integers(48, size=300),
    )
    expected = numbering.images.image(labels, numbers)
    monkeypatch.setattr(symmetry_images, "MIN_CONTENTS_TO_COMPILE", 0)
    assert (numbering.images.image(labels, numbers) == expected).all()


def test_a_kept_row_is_found_by_its_key_and_no_other(cube: Space) -> None:
    numbering = cube.numbering
    assert isinstance(numbering, Reduced)
    kept = numbering.classes.row_numbers()
    assert [row_classes.number_of_row(key, kept) for key in kept.keys[:50]] == list(range(50))
    others = np.setdiff1d(kept.keys[:50] + np.uint64(1), kept.keys)
    beyond = [np.uint64(0), kept.keys[-1] + np.uint64(1), kept.keys[-1] * np.uint64(2), ~np.uint64(0)]
    assert {row_classes.number_of_row(key, kept) for key in (*others, *beyond)} == {-1}


@pytest.mark.slow
def test_the_dino_cube_is_cut_between_opposite_edges() -> None:
    space = best_space(load_config("dino").puzzle.rules, "on")
    numbering = space.numbering
    assert isinstance(numbering, Reduced)
    (classes,) = numbering.frame.classes
    assert isinstance(classes, tuple)
    assert sorted(map(classes.count, set(classes))) == [4, 4, 4]
    assert space.size < space.full_space.size / 40
    sample = np.random.default_rng(2).integers(space.size, size=50)
    tables = space.filler.filled()
    assert not len(space.successors(sample).differing(tables.successors(sample)))


def test_a_space_is_built_again_from_its_record_and_in_other_processes(cube: Space) -> None:
    indices = np.random.default_rng(3).integers(cube.size, size=100)
    record = replace(cube.record, details=json.loads(json.dumps(cube.record.details)))
    for again in (stored_space(cube.rules, record), pickle.loads(pickle.dumps(cube))):
        assert again.record == cube.record
        assert (again.unrank(indices) == cube.unrank(indices)).all()


def damaged(details: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Details that are not those of the 2x2x2."""
    symmetries = details["symmetries"]
    yield {**details, "of": "fields"}
    yield {**details, "details": None}
    yield {**details, "classes": None}
    yield {**details, "classes": [[0] * 7, 0]}
    yield {**details, "classes": [[*range(7), 200], 0]}
    yield {**details, "classes": [[0, 0, *range(1, 7)], 0]}
    yield {**details, "classes": [0, 0]}
    yield {**details, "classes": [list(range(8)), 3]}
    yield {**details, "symmetries": None}
    yield {**details, "symmetries": {**symmetries, "places": symmetries["places"][:1]}}
    yield {**details, "symmetries": {**symmetries, "carriers": [99] * 16}}
    yield {**details, "symmetries": {**symmetries, "labels": np.array(symmetries["labels"])[:, ::-1].tolist()}}
    swapped = np.array(symmetries["places"])
    swapped[:, [0, 1]] = swapped[:, [1, 0]]
    yield {**details, "symmetries": {**symmetries, "places": swapped.tolist()}}
    yield {**details, "order": 24}
    yield {**details, "positions": 7}


def test_other_records_are_refused(cube: Space) -> None:
    record = cube.record
    for details in damaged(json.loads(json.dumps(record.details))):
        with pytest.raises(FieldError):
            stored_space(cube.rules, replace(record, details=details))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("three-colours", "the puzzle has no symmetries"),
        ("klotski", "it is of the kind keys"),
        ("lights-out-5x5", "symmetries would not save time"),
    ],
)
def test_what_is_not_reduced_says_why(name: str, message: str) -> None:
    with pytest.raises(InputError, match=f"the table of {name} cannot be reduced: .*{message}"):
        best_space(load_config(name).puzzle.rules, "on")


def test_positions_without_a_number_have_no_entry(cube: Space) -> None:
    labels = cube.full_space.unrank(np.arange(5))
    labels[:, -1] = (labels[:, -1] + 1) % 3
    assert cube.rank(labels).tolist() == [NOT_NUMBERED] * 5


@pytest.mark.parametrize("start", ["1 2 3 / 4 0 5 / 6 7 8", "1 1 2 / 3 0 3 / 2 1 1"])
def test_boards(start: str) -> None:
    """Boards with as many symmetries as their colours allow, and half an index where all tiles differ."""
    rows = 3 if "1 1" in start else 2
    text = " / ".join(start.split(" / ")[:rows])
    puzzle = puzzle_from({"name": "p", "family": "sliding", "rows": rows, "columns": 3, "start": text})
    assert check_all(puzzle)


@pytest.mark.parametrize(("name", "order"), [("2x2x2", 48), ("eight-puzzle", 1), ("klotski", 1), ("three-colours", 1)])
def test_symmetries_are_used_where_they_pay(name: str, order: int) -> None:
    assert best_space(load_config(name).puzzle.rules, "auto").numbering.symmetries == order


@pytest.mark.slow
def test_what_takes_much_memory_is_reduced_even_if_that_saves_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = load_config("skewb").puzzle.rules
    monkeypatch.setattr(selection, "MAX_UNREDUCED_COST", 0)
    assert best_space(rules, "auto").numbering.symmetries == 1
    monkeypatch.setattr(choose_cut, "MIN_POSITIONS_FOR_LONG_SEARCH", best_space(rules).size)
    assert best_space(rules, "auto").numbering.symmetries == 48


def test_values_that_no_moves_lead_to_are_no_matter(tmp_path: Path) -> None:
    moves = Transforms(
        ["B"] * 4,
        [[0, 1, 2]] * 4,
        [3] * 3,
        [[1, 2, 0], [0, 0, 0], [0, 0, 0], [2, 1, 0]],
        [[4, 7, 1], [3, 1, 7], [3, 4, 7], [4, 7, 4]],
    )
    puzzle = puzzle_of((values(3, 3),), [(0, 2, 1), (1, 0, 1)], moves)
    ap.run(puzzle, tmp_path / "table.zarr", symmetry="on", progress=False)
    with ap.open_table(tmp_path / "table.zarr", puzzle=puzzle) as table:
        assert table.layers == [2]


@pytest.mark.parametrize("name", ["2x2x2", "hanoi-4-pegs", "lights-out-5x5", "eight-puzzle"])
def test_least_rows_are_listed_in_order_without_the_others(name: str) -> None:
    """Rows with twists, with all pieces of one parity, with classes of equal pieces, and values of one sum."""
    rules = load_config(name).puzzle.rules
    images, listed = choose_cut.symmetries_listed(rules), 0
    for frame in choose_cut.cuts_of(rules, images):
        fitting = np.flatnonzero(maps_rows_to_rows(frame, images))
        if len(fitting) > 1 and frame.has_keys and frame.all_rows <= LISTED_ROWS:
            classes = row_classes.RowClasses(frame, images[fitting])
            keys, weights = canonical_rows.least_rows(frame, images[fitting])
            assert keys.tolist() == classes.keys.tolist()
            assert weights.tolist() == classes.weights.tolist()
            listed += 1
    assert listed >= 3


@pytest.mark.slow
def test_tables_are_filled_in_the_memory_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """With small row blocks, most of the memory is for the tables, as it is in large spaces."""
    monkeypatch.setattr(row_tables, "LINES", 256)
    rules, checked = load_config("pyraminx").puzzle.rules, 0
    for warm, space in zip(reduced_spaces(rules), reduced_spaces(rules), strict=True):
        if not 1 < space.width < MAX_WIDTH:
            continue
        warm.filler.filled()  # loads the kernels
        tracemalloc.start()
        space.filler.filled()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        planned = space.filler.table_bytes + space.filler.building_bytes(available_workers())
        assert peak <= planned + PYTHON_BYTES
        if peak > 8 * PYTHON_BYTES:
            checked += 1
            assert planned <= 1.6 * peak, "row tables and column maps are not there together while rows are filled"
        if checked == MEASURED:
            break
    assert checked


def test_the_rows_of_a_store_are_counted_when_they_are_needed(cube: Space) -> None:
    wrong = stored_space(cube.rules, replace(cube.record, rows=cube.rows + 1))
    assert wrong.rows == cube.rows + 1
    with pytest.raises(StoreDamagedError, match="the store has 985 rows, but the puzzle has 984"):
        wrong.rank(cube.starts)
