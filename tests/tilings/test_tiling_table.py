"""Queries of tilings from Python."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from tiling_stores import BOX, COPIES, IMPOSSIBLE, SQUARE, tiled

from antipodes.tilings.table import Tiling, Tilings, open_tilings
from antipodes_tasks.base.errors import InputError, NotAStoreError
from antipodes_tasks.exact_cover.placements import placements_of, symmetry_of


@pytest.fixture(scope="module")
def six_by_ten(tmp_path_factory: pytest.TempPathFactory) -> Tilings:
    from antipodes.tilings.board_config import load_board
    from antipodes.tilings.run import tile_board

    store = tmp_path_factory.mktemp("tilings") / "6x10.zarr"
    tile_board(load_board("6x10"), store)
    return open_tilings(store)


def test_length_indices_and_slices(six_by_ten: Tilings) -> None:
    assert len(six_by_ten) == 2339
    all_of_them = list(six_by_ten)
    assert all_of_them[5] == six_by_ten[5] != six_by_ten[6]
    assert six_by_ten[-1] == six_by_ten[2338] == all_of_them[-1]
    assert six_by_ten[10:13] == all_of_them[10:13]
    assert len(set(all_of_them)) == 2339
    assert six_by_ten[5] in six_by_ten
    assert "tiling" not in six_by_ten
    assert next(reversed(six_by_ten)) == six_by_ten[-1]


@pytest.mark.parametrize("index", [2339, -2340, 10**9])
def test_an_index_out_of_range(index: int, six_by_ten: Tilings) -> None:
    with pytest.raises(IndexError, match=rf"expected a number from 0 to 2338, found {index}"):
        six_by_ten[index]


def test_the_order_is_that_of_the_placements(six_by_ten: Tilings) -> None:
    rows = [tuple(row) for row in six_by_ten.array.tolist()]
    assert rows == sorted(rows)
    assert np.array_equal(six_by_ten[7].placements, six_by_ten.array[7])


def test_the_cells_of_a_tiling_fill_the_board(six_by_ten: Tilings) -> None:
    cells = six_by_ten[1234].cells
    assert list(cells) == list("FILNPTUVWXYZ")
    assert sorted(cell for piece in cells.values() for cell in piece) == list(np.ndindex(6, 10))
    text = six_by_ten[1234].draw("letters").splitlines()
    assert all(text[row][column] == name for name, piece in cells.items() for row, column in piece)


def test_cells_in_a_box_name_their_layer(tmp_path: Path) -> None:
    with open_tilings(tiled(BOX, tmp_path / "box.zarr")) as tilings:
        assert len(tilings) == 9
        cells = tilings[0].cells.values()
        assert sorted(cell for piece in cells for cell in piece) == list(np.ndindex(2, 3, 5))


def numbers_of_copies(tilings: Tilings, fits: Callable[[Tiling], bool]) -> tuple[list[int], int]:
    """The numbers of the tilings of which a copy fits, and the number of copies, by testing every copy."""
    numbers, count = [], 0
    for number, row in enumerate(tilings.array):
        copies = symmetry_of(tilings.problem).expand(row[np.newaxis])
        fitting = sum(fits(Tiling(tilings.problem, copy)) for copy in copies)
        numbers += [number] if fitting else []
        count += fitting
    return numbers, count


def test_find_by_placements(six_by_ten: Tilings) -> None:
    wanted = six_by_ten[100].placements
    assert six_by_ten.find(*wanted.tolist()).tolist() == [100]
    images = symmetry_of(six_by_ten.problem).placements[1]
    assert six_by_ten.find(*images[wanted].tolist()).tolist() == [100]
    pair = wanted[[0, 9]].tolist()
    expected, _ = numbers_of_copies(six_by_ten, lambda one: set(pair) <= set(one.placements.tolist()))
    assert six_by_ten.find(*pair).tolist() == expected
    assert six_by_ten.find().tolist() == list(range(2339))
    with pytest.raises(InputError, match=r"expected a placement from 0 to 2055, found 2056"):
        six_by_ten.find(2056)


@pytest.fixture(scope="module")
def square(tmp_path_factory: pytest.TempPathFactory) -> Tilings:
    return open_tilings(tiled(SQUARE, tmp_path_factory.mktemp("square") / "square.zarr"))


def test_find_by_cells(square: Tilings, six_by_ten: Tilings) -> None:
    whole = square[3].cells["W"]
    found = square.containing("W", whole)
    assert found.tolist() == numbers_of_copies(square, lambda one: one.cells["W"] == whole)[0]
    assert six_by_ten.containing("X", [(0, 0)]).tolist() == []
    assert len(six_by_ten.containing("X", [])) == 2339


@pytest.mark.parametrize(
    ("piece", "cells", "message"),
    [
        ("Q", [(0, 0)], "expected a piece among F, I, L, N, P, T, U, V, W, X, Y, Z, found 'Q'"),
        ("X", [(6, 0)], r"expected cells of the board, such as \(0, 0\), found \(6, 0\)"),
        ("X", [(0, 0, 0)], r"found \(0, 0, 0\)"),
    ],
)
def test_pieces_and_cells_that_are_not_on_the_board(
    piece: str, cells: list[tuple[int, ...]], message: str, six_by_ten: Tilings
) -> None:
    with pytest.raises(InputError, match=message):
        six_by_ten.containing(piece, cells)


def test_raw_has_every_symmetric_copy(tmp_path: Path) -> None:
    store = tiled(SQUARE, tmp_path / "square.zarr")
    with open_tilings(store) as different, open_tilings(store, raw=True) as all_of_them:
        assert len(all_of_them) == 8 * len(different) == 80
        assert set(different) < set(all_of_them)
        mirrored = {"".join(line[::-1] for line in one.draw("letters").splitlines()) for one in all_of_them}
        assert mirrored == {"".join(one.draw("letters").splitlines()) for one in all_of_them}
        assert repr(all_of_them) == f"open_tilings({str(store)!r}, raw=True)"


def test_text_of_a_tiling(tmp_path: Path) -> None:
    with open_tilings(tiled(SQUARE, tmp_path / "square.zarr")) as tilings:
        first = tilings[0]
        assert str(first) == first.draw("both")
        assert repr(first) == f"<tiling of square: {first.draw('letters')!r}>"
        assert list(first.steps("letters"))[-1] == first.draw("letters")
        assert len(list(first.steps())) == 5
        assert Tiling(tilings.problem, first.placements.copy()) == first
        assert first != "a tiling"


def test_no_tilings(tmp_path: Path) -> None:
    with open_tilings(tiled(IMPOSSIBLE, tmp_path / "none.zarr")) as tilings:
        assert (len(tilings), list(tilings), tilings.complete) == (0, [], True)
        assert tilings.find(0).tolist() == []
        assert len(placements_of(tilings.problem)) > 0


def test_no_store(tmp_path: Path) -> None:
    with pytest.raises(NotAStoreError, match=r"there is no store at"):
        open_tilings(tmp_path / "nowhere.zarr")


def test_tilings_under_conditions(square: Tilings, six_by_ten: Tilings) -> None:
    covering = six_by_ten.matching("X covers 23")
    assert np.array_equal(covering.numbers, six_by_ten.where("X covers 2,3"))
    assert np.array_equal(covering.numbers, six_by_ten.containing("X", [(2, 3)]))
    assert covering.copies + six_by_ten.matching("X avoids 23").copies == 9356
    both = square.matching("W covers 12", "I avoids 0 4")
    corners = {(0, 0), (0, 4)}
    assert (both.numbers.tolist(), both.copies) == numbers_of_copies(
        square, lambda one: (2, 2) in one.cells["W"] and not corners & set(one.cells["I"])
    )
    assert 0 < both.copies < 80
    assert repr(covering) == "<MatchingTilings: 1,217 tilings up to symmetry, 1,493 in all>"


def test_images_of_a_condition_have_equal_numbers(six_by_ten: Tilings, tmp_path: Path) -> None:
    for cell in ("2,3", "2,6", "3,3", "3,6"):
        found = six_by_ten.matching(f"X covers {cell}")
        assert (found.classes, found.copies) == (1217, 1493), cell
    with open_tilings(six_by_ten._store.address, raw=True) as raw:
        found = raw.matching("X covers 3,6")
        assert (len(found), found.classes, found.copies) == (1493, 1217, 1493)


def test_matching_tilings_are_shown_as_the_copy_that_fits(six_by_ten: Tilings) -> None:
    found = six_by_ten.matching("X covers 3,6", "I avoids 0")
    for place, number in enumerate(found.numbers[:50].tolist()):
        shown, stored = found[place], six_by_ten[number]
        assert (3, 6) in shown.cells["X"]
        assert (0, 0) not in shown.cells["I"]
        copies = symmetry_of(six_by_ten.problem).expand(stored.placements[np.newaxis])
        assert shown.placements.tolist() in copies.tolist()
        if (3, 6) in stored.cells["X"] and (0, 0) not in stored.cells["I"]:
            assert shown == stored


def test_copies_in_conditions_and_cells(tmp_path: Path) -> None:
    with open_tilings(tiled(COPIES, tmp_path / "copies.zarr"), raw=True) as tilings:
        found = {index for index, tiling in enumerate(tilings) if _covers(tiling.cells, "D", (0, 0))}
        assert set(tilings.where("D covers 0")) == found != set()
        assert set(tilings.where("D avoids 0")) == set(range(len(tilings))) - found
        assert [*tilings[0].cells] == ["V.1", "V.2", "D.1", "D.2"]
        assert tilings.find(*tilings[3].placements).tolist() == [3]


def _covers(cells: Mapping[str, list[tuple[int, ...]]], piece: str, cell: tuple[int, ...]) -> bool:
    return any(cell in covered for label, covered in cells.items() if label.startswith(piece))


@pytest.mark.parametrize("condition", ["X", "Q covers 1", "X covers 60", "X touches 3"])
def test_wrong_conditions(condition: str, six_by_ten: Tilings) -> None:
    with pytest.raises(InputError, match="where: expected a "):
        six_by_ten.where(condition)
