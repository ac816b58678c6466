"""Pieces: their drawings, and their orientations."""

import pytest

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.exact_cover.pieces import PENTOMINOES, Coordinates, Piece, parse_piece

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
        ("", "expected at least one cell"),
        ("..\n..", "expected at least one cell"),
        ("#?", r"expected '#' or a letter for a cell, found '\?'"),
    ],
)
def test_wrong_pieces_are_refused(drawing: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_piece("bad", drawing)
