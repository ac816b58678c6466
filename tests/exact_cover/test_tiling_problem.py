"""Boards, pieces and problems: parsing, numbering, orientations and symmetries."""

import tomllib

import numpy as np
import pytest
from documents import blocks
from project import DOCS
from tiling_brute_force import turns

from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.exact_cover.partition_search import search_partition
from antipodes_tasks.exact_cover.partitions import partitions_of
from antipodes_tasks.exact_cover.pieces import PENTOMINOES, Coordinates, Piece, parse_piece, piece_set
from antipodes_tasks.exact_cover.placements import placements_of, symmetry_of
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem, parse_board, parse_problem

CHESSBOARD = "\n".join(["." * 8] * 3 + ["...##..."] * 2 + ["." * 8] * 3)


def rectangle(rows: int, columns: int, layers: int = 1) -> str:
    return "\n\n".join(["\n".join(["." * columns] * rows)] * layers)


@pytest.mark.parametrize(
    ("drawing", "symmetries"),
    [
        (rectangle(6, 10), 4),
        (rectangle(5, 5), 8),
        (CHESSBOARD, 8),
        (rectangle(4, 5, 3), 8),
        (rectangle(2, 5, 5), 16),
        (rectangle(3, 3, 3), 48),
        ("..#\n...", 1),
        ("..\n..\n.#", 1),
        (".#\n..", 2),
        ("#.\n..\n\n..\n.#", 12),
        ("....#\n....#", 4),
        (".#.\n#.#\n.#.", 8),
        (".", 1),
    ],
)
def test_symmetries_of_a_board(drawing: str, symmetries: int) -> None:
    found = parse_board(drawing).symmetries
    assert len(found) == symmetries
    assert (found[0] == np.arange(found.shape[1])).all()
    assert all((np.sort(row) == np.arange(len(row))).all() for row in found)


def test_cells_are_numbered_down_the_short_side_first() -> None:
    assert parse_board("...\n.#.").cells[:, 1:].tolist() == [[0, 0], [1, 0], [0, 1], [0, 2], [1, 2]]
    assert parse_board("..\n.#\n..").cells[:, 1:].tolist() == [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]]


def test_neighbours_and_cross_section() -> None:
    board = parse_board("...\n.#.")
    assert board.neighbours == [(0, 1), (0, 2), (2, 3), (3, 4)]
    assert (board.cross_section, parse_board(rectangle(4, 5, 3)).cross_section) == (2, 12)


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        ("", r"\[board\] cells: the drawing is empty"),
        ("..\n.", r"\[board\] cells: expected lines of 2 symbols, found '\.'"),
        ("..\n..\n\n..", r"\[board\] cells: expected 2 lines in layer 2, found 1"),
        ("..\n.x", r"\[board\] cells: expected '\.' \(a cell\), '\?' .* or '#' \(a hole\), found 'x'"),
        ("##", r"\[board\] cells: expected 1 to 1,024 cells, found 0"),
        (rectangle(25, 41), r"\[board\] cells: expected 1 to 1,024 cells, found 1,025"),
    ],
)
def test_wrong_boards_are_refused(drawing: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_board(drawing)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, r"\[board\] colour: unknown key; expected name, cells, pieces, where, description"),
        ({"name": 3}, r"\[board\] name: expected a string, found 3"),
        ({"name": "a/b"}, r"\[board\] name: expected at most 60"),
        ({"cells": None}, r"\[board\] cells: expected a string, found None"),
        ({"cells": rectangle(5, 11)}, r"\[board\] cells: the pieces fill 60 cells, but the board has 55"),
        ({"pieces": 12}, r"\[board\] pieces: expected the name of a set, letters, or a table of drawings, found 12"),
        ({"pieces": {}}, r"\[board\] pieces: expected"),
        ({"pieces": "FQ"}, r"\[board\] pieces: expected letters from FILNPTUVWXYZ, found 'Q'"),
        ({"pieces": ["F", "F"]}, r"\[board\] pieces: the letter 'F' occurs twice"),
        ({"pieces": []}, r"\[board\] pieces: the list of pieces is empty"),
        ({"pieces": {"a": 5}}, r"\[board\] pieces\.a: expected a drawing, found 5"),
        ({"pieces": {"a": "?"}}, r"\[board\] pieces\.a: .* found '\?'"),
        ({"pieces": "octominoes"}, r"expected letters from FILNPTUVWXYZ, or one of the sets .* found 'octominoes'"),
        (
            {"pieces": {"a": {"shape": "#", "copies": 2}}},
            r"pieces\.a\.copies: unknown key; expected shape, count, one_",
        ),
        ({"pieces": {"a": {"count": 2}}}, r"\[board\] pieces\.a: expected a drawing, found None"),
        ({"pieces": {"a": {"shape": "#", "count": 0}}}, r"a\.count: expected an integer from 1 to 1,024, found 0"),
        (
            {"pieces": {"a": {"shape": "#", "count": True}}},
            r"a\.count: expected an integer from 1 to 1,024, found True",
        ),
        ({"pieces": {"a": {"shape": "#", "one_sided": 1}}}, r"pieces\.a\.one_sided: expected true or false, found 1"),
        ({"cells": "?" * 55}, r"the pieces fill 60 cells, .* and at least that many .*; found 0 and 55"),
        ({"cells": "." * 61 + "?"}, r"the pieces fill 60 cells, .* found 61 and 62"),
        (
            {"cells": rectangle(2, 3), "pieces": {"D": {"shape": "##", "count": 2}, "D.1": "##"}},
            r"\[board\] pieces: the names of pieces and copies must differ .*, but 'D\.1' occurs twice",
        ),
        ({2: "x", "b": 3}, r"\[board\] 2: unknown key"),
        ({"pieces": {"a": {2: "x", "b": 3}}}, r"pieces\.a\.2: unknown key"),
        ({"where": 3}, r"\[board\] where: expected a list of conditions, found 3"),
        (
            {"where": ["X is nice"]},
            r"\[board\] where: expected a condition such as 'X covers 23' .*, found 'X is nice'",
        ),
        ({"where": ["Q covers 1"]}, r"\[board\] where: expected a piece among F, I, L, .*, found 'Q'"),
        ({"where": ["X covers 60"]}, r"\[board\] where: expected a cell, 0 to 59 or as row,column, found '60'"),
        ({"where": ["X avoids 6,0"]}, r"\[board\] where: expected a cell, 0 to 59 or as row,column, found '6,0'"),
    ],
)
def test_wrong_problems_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_problem({"name": "test", "cells": rectangle(6, 10), **change})


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigError, match=r"\[board\]: the key 'cells' is missing"):
        parse_problem({"name": "test"})


@pytest.mark.parametrize("pieces", ["PUV", "P U,V", "P,   U,   V,     ", ["P", "U", "V"]])
def test_some_of_the_pentominoes(pieces: object) -> None:
    problem = parse_problem({"name": "test", "cells": rectangle(3, 5), "pieces": pieces})
    assert [piece.name for piece in problem.pieces] == ["P", "U", "V"]


def test_the_pentominoes_are_the_default() -> None:
    assert parse_problem({"name": "test", "cells": rectangle(6, 10)}).pieces == PENTOMINOES


def test_the_fingerprint_is_that_of_board_and_pieces() -> None:
    one, same, other = (
        parse_problem({"name": name, "cells": rectangle(3, 5), "pieces": pieces})
        for name, pieces in (("one", "PUV"), ("same", ["P", "U", "V"]), ("other", "PUW"))
    )
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_the_fingerprint_of_boards_of_earlier_versions() -> None:
    """Stores made before pieces had counts stay valid."""
    known = "646eff8a201fec11ba9199210831e891751fa659fcec9b24ab21e716d743a2e5"
    assert parse_problem({"name": "test", "cells": rectangle(6, 10)}).fingerprint == known


def test_the_fingerprint_does_not_depend_on_the_order_of_conditions_or_on_repetition() -> None:
    plain = {"name": "test", "cells": rectangle(4, 4), "pieces": {"D": {"shape": "##", "count": 8}}}
    one, other = (
        parse_problem({**plain, "where": where})
        for where in (["D covers 0", "D avoids 0 1"], ["D avoids 0 1", "D covers 0", "D  covers 0,0"])
    )
    assert one.fingerprint == other.fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"cells": "...?\n....\n....\n....\n"},
        {"pieces": {"D": {"shape": "##", "count": 2}, "E": {"shape": "##", "count": 6}}},
        {"pieces": {"D": {"shape": "##", "count": 8, "one_sided": True}}},
        {"where": ["D covers 0"]},
        {"where": ["D avoids 0 1"]},
    ],
)
def test_the_fingerprint_is_that_of_counts_sides_optional_cells_and_conditions(change: dict[str, object]) -> None:
    plain = {"name": "test", "cells": rectangle(4, 4), "pieces": {"D": {"shape": "##", "count": 8}}}
    if "?" in str(change.get("cells", "")):
        change = {**change, "pieces": {"D": {"shape": "##", "count": 7}, "d": "#"}}
    assert parse_problem({**plain, **change}).fingerprint != parse_problem(plain).fingerprint


@pytest.mark.parametrize(
    ("name", "count", "area"),
    [
        ("trominoes", 2, 6),
        ("tetrominoes", 5, 20),
        ("one-sided-tetrominoes", 7, 28),
        ("pentominoes", 12, 60),
        ("one-sided-pentominoes", 18, 90),
        ("hexominoes", 35, 210),
        ("one-sided-hexominoes", 60, 360),
        ("tetracubes", 8, 32),
        ("pentacubes", 29, 145),
    ],
)
def test_named_sets(name: str, count: int, area: int) -> None:
    """The numbers of polyominoes (OEIS A000105), of one-sided ones (A000988), and of polycubes (A000162)."""
    pieces = parse_problem({"name": "test", "cells": rectangle(1, area), "pieces": name}).pieces
    assert len(pieces) == len({piece.name for piece in pieces}) == count
    assert all(piece.connected for piece in pieces)
    shapes = {piece.orientations()[0].tobytes() for piece in pieces if not piece.one_sided}
    assert len(shapes) == (0 if name.startswith("one-sided") else count)


def test_a_mirror_image_has_the_small_letter() -> None:
    pieces = {piece.name: piece for piece in piece_set("one-sided-pentominoes")}
    assert "".join(sorted(pieces)) == "FILNPTUVWXYZflnpyz"
    mirrored = {(0, row, 2 - column) for _, row, column in pieces["F"].cells}
    assert set(pieces["f"].cells) == mirrored
    assert len(pieces["F"].orientations()) == 4


def test_cells_are_counted_in_reading_order_without_holes() -> None:
    problem = parse_problem(
        {"name": "test", "cells": "#...\n...#", "pieces": {"a": "###", "b": "##", "c": "#"},
         "where": ["b covers 3 1,1", "c avoids 0"]}
    )  # fmt: skip
    covered = [sorted(map(tuple, problem.board.cells[list(one.cells)][:, 1:].tolist())) for one in problem.where]
    assert covered == [[(1, 0), (1, 1)], [(0, 1)]]


def test_symmetries_form_a_group_on_the_placements() -> None:
    problem = parse_problem({"name": "test", "cells": CHESSBOARD})
    actions = symmetry_of(problem).placements
    known = {action.tobytes() for action in actions}
    assert len(known) == 8
    assert all(first[second].tobytes() in known for first in actions for second in actions)
    assert (placements_of(problem).piece[actions] == placements_of(problem).piece).all()


def test_reflections_count_where_the_mirror_image_is_among_the_pieces() -> None:
    twist, mirrored = "##\n#.\n\n.#\n..", "##\n.#\n\n#.\n.."
    alone = parse_problem({"name": "t", "cells": rectangle(2, 2, 2), "pieces": {"a": twist, "b": twist}})
    paired = parse_problem({"name": "t", "cells": rectangle(2, 2, 2), "pieces": {"a": twist, "b": mirrored}})
    assert (len(symmetry_of(alone)), len(symmetry_of(paired))) == (24, 48)
    assert sorted(map(tuple, np.unique(symmetry_of(paired).pieces, axis=0).tolist())) == [(0, 1), (1, 0)]


def test_placements_are_sorted_and_all_different() -> None:
    placements = placements_of(parse_problem({"name": "test", "cells": rectangle(6, 10)}))
    assert len(placements) == 2056
    assert (np.diff(placements.piece) >= 0).all()
    assert len(np.unique(placements.masks, axis=0)) == 2056
    assert [len(placements.of(piece)) for piece in range(12)] == np.bincount(placements.piece).tolist()


def test_the_example_of_the_documentation() -> None:
    (example,) = blocks((DOCS / "how-to" / "tilings.md").read_text(encoding="utf-8"), "toml")
    problem = parse_problem(tomllib.loads(example)["board"])
    assert [(piece.name, piece.size, piece.count) for piece in problem.pieces] == [("V", 3, 2), ("long", 4, 1)]
    assert len(possible_tilings(problem)) > 0


def possible_tilings(problem: TilingProblem) -> np.ndarray:
    return np.concatenate([search_partition(problem, number).tilings for number in range(len(partitions_of(problem)))])


def placements_by_the_book(problem: TilingProblem) -> list[tuple[int, list[int]]]:
    """The piece and the cells of each placement, numbered as `docs/reference/store-format.md` says."""
    places = [tuple(cell) for cell in np.argwhere(problem.board.numbers >= 0).tolist()]
    sides = [max(cell[axis] for cell in places) - min(cell[axis] for cell in places) for axis in range(3)]
    axes = sorted(range(3), key=lambda axis: (sides[axis], axis))[::-1]

    def key(cell: tuple[int, ...]) -> list[int]:
        return [cell[axis] for axis in axes]

    numbers = {cell: number for number, cell in enumerate(sorted(places, key=key))}
    found = []
    for piece, shape in enumerate(problem.pieces):
        turned = [np.array(shape.cells) @ turn for turn in turns(proper_only=True)]
        listed = [sorted(map(tuple, (cells - cells.min(axis=0)).tolist()), key=key) for cells in turned]
        for cells in sorted({tuple(one) for one in listed}, key=lambda one: [key(cell) for cell in one]):
            for corner in np.ndindex(problem.board.shape):
                covered = [tuple(int(a + b) for a, b in zip(corner, cell, strict=True)) for cell in cells]
                if all(cell in numbers for cell in covered):
                    found.append((piece, sorted(numbers[cell] for cell in covered)))
    return found


DRAWN = {"I": "####", "twist": "##\n#.\n\n.#\n..", "L": "##\n#.\n#.", "V": "##\n#.", "domino": "##"}


@pytest.mark.parametrize(
    ("cells", "pieces"),
    [
        (rectangle(6, 10), "pentominoes"),
        (rectangle(10, 6), "pentominoes"),
        (rectangle(4, 5, 3), "pentominoes"),
        (rectangle(5, 5), "ILPWY"),
        ("..#..\n.....\n\n.....\n##...", DRAWN),
    ],
)
def test_placements_are_numbered_as_the_store_format_says(cells: str, pieces: object) -> None:
    problem = parse_problem({"name": "test", "cells": cells, "pieces": pieces})
    placements = placements_of(problem)
    listed = [[cell for cell in row if cell >= 0] for row in placements.cells.tolist()]
    assert list(zip(placements.piece.tolist(), listed, strict=True)) == placements_by_the_book(problem)


FIXED = {"F": 8, "I": 2, "L": 8, "N": 8, "P": 8, "T": 4, "U": 4, "V": 4, "W": 4, "X": 1, "Y": 8, "Z": 4}
"""Fixed pentominoes: 63 in all (OEIS A001168)."""


def flat(cells: Coordinates) -> bool:
    return bool((cells[:, 0] == 0).all())


@pytest.mark.parametrize("piece", PENTOMINOES, ids=lambda piece: piece.name)
def test_orientations_of_the_pentominoes(piece: Piece) -> None:
    assert piece.size == 5
    assert piece.connected
    assert sum(map(flat, piece.orientations())) == FIXED[piece.name]
    assert len(piece.orientations()) == (3 if piece.name == "I" else 3 * FIXED[piece.name])


def test_a_solid_is_turned_and_never_mirrored() -> None:
    left, right = parse_piece("left", "##\n#.\n\n.#\n.."), parse_piece("right", "##\n.#\n\n#.\n..")
    turned = {cells.tobytes() for cells in left.orientations()}
    assert len(turned) == 12
    assert turned.isdisjoint(cells.tobytes() for cells in right.orientations())


def test_orientations_do_not_depend_on_the_drawing() -> None:
    one, other = parse_piece("one", "###\n#.."), parse_piece("other", "#\n#\n##")
    assert [a.tolist() for a in one.orientations()] == [b.tolist() for b in other.orientations()]


@pytest.mark.parametrize("drawing", ["\n  ##\n  #\n", "##\n#.", "...\n.ab\n.c.", "**\n* \n\n"])
def test_drawings_of_the_same_piece(drawing: str) -> None:
    assert parse_piece("V", drawing).cells == ((0, 0, 0), (0, 0, 1), (0, 1, 0))


def test_layers() -> None:
    assert parse_piece("post", "#\n\n#").cells == ((0, 0, 0), (1, 0, 0))


def test_a_piece_may_be_disconnected() -> None:
    assert not parse_piece("apart", "#.#").connected


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        ("", "the drawing has no cell"),
        ("..\n..", "the drawing has no cell"),
        ("#?", r"expected '#' or a letter for a cell, found '\?'"),
    ],
)
def test_wrong_pieces_are_refused(drawing: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_piece("bad", drawing)
