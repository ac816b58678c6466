"""Square-1: positions at each distance against a program that places pieces instead of cells, and its notation."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from antipodes.puzzles.config import load_config
from antipodes.puzzles.drafts import DraftError
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import ConfigError, PositionError
from antipodes_tasks.properties.finding import symmetries_of

SOLVED = "A1B2C3D45E6F7G8H-"
SIX = "A1B23C4D-"
Position = tuple[frozenset[tuple[int, int, str]], bool]
"""The layer, the first cell and the symbol of each piece, and whether the middle layer is flipped."""


@pytest.fixture(scope="module")
def square_1() -> Puzzle:
    return load_config("square-1").puzzle


def square_1_of(start: str) -> Puzzle:
    return puzzle_from({"name": "small", "family": "square-1", "start": start})


def placed(text: str) -> tuple[Position, int]:
    """Return the position of a text, and the number of cells of a layer."""
    ends = np.cumsum([2 if one.isalpha() else 1 for one in text[:-1]]).tolist()
    size = ends[-1] // 2
    return (frozenset((*divmod(end, size), one) for end, one in zip([0, *ends], text[:-1], strict=False)), False), size


def turned(position: Position, upper: int, lower: int, size: int) -> Position:
    pieces, flipped = position
    return frozenset((layer, (at + (upper, lower)[layer]) % size, one) for layer, at, one in pieces), flipped


def slashed(position: Position, size: int) -> Position | None:
    """Return the position after a slash; None if the second half of a corner is behind the cut."""
    pieces, flipped = position
    half = size // 2
    if any(one.isalpha() and at % half == half - 1 for _, at, one in pieces):
        return None
    right = {(0, at) for at in range(half, size)} | {(1, at) for at in range(half)}
    return frozenset(
        (1 - layer, (at + half) % size, one) if (layer, at) in right else (layer, at, one) for layer, at, one in pieces
    ), not flipped


def class_of(position: Position, size: int) -> tuple[object, ...]:
    """Return a value that is equal for the positions that turns of the layers map to each other."""
    circles = []
    for layer in (0, 1):
        pieces = sorted((at, one) for one_layer, at, one in position[0] if one_layer == layer)
        circles.append(min(sorted(((at - first) % size, one) for at, one in pieces) for first, _ in pieces))
    return (*map(tuple, circles), position[1])


def layers_of(start: Position, size: int, depth: int) -> Iterator[int]:
    """Yield the number of positions at each distance: a turn of one layer or of both is a move, and so is a slash."""
    turns = list(product(range(size), repeat=2))[1:]
    known, frontier = {start}, {start}
    yield len(frontier)
    for _ in range(depth):
        after = {turned(one, *turn, size) for one in frontier for turn in turns}
        frontier = (after | {flat for one in frontier if (flat := slashed(one, size))}) - known
        known |= frontier
        yield len(frontier)


def classes_of(start: Position, size: int, depth: int) -> Iterator[int]:
    """Yield the number of classes under turns of the layers at each number of slashes."""
    known, frontier = {class_of(start, size)}, {class_of(start, size): start}
    yield len(frontier)
    for _ in range(depth):
        found = dict[object, Position]()
        for one, turn in product(frontier.values(), product(range(size), repeat=2)):
            after = slashed(turned(one, *turn, size), size)
            if after is not None and class_of(after, size) not in known:
                found[class_of(after, size)] = after
        frontier = found  # type: ignore[assignment]
        known |= frontier.keys()
        yield len(frontier)


def layers_by_moves(puzzle: Puzzle, depth: int) -> Iterator[int]:
    known = frontier = puzzle.start_labels
    yield len(frontier)
    for _ in range(depth):
        every = np.unique(np.concatenate((known, puzzle.moves.legal_moves(frontier).positions)), axis=0)
        seen = set(map(bytes, known))
        frontier = np.array([one for one in every if bytes(one) not in seen])
        known = every
        yield len(frontier)


@pytest.mark.slow
def test_positions_at_each_distance(square_1: Puzzle) -> None:
    assert list(layers_by_moves(square_1, 3)) == list(layers_of(*placed(SOLVED), 3)) == [1, 144, 206, 9024]


@pytest.mark.slow
def test_positions_at_greater_distances(square_1: Puzzle) -> None:
    assert list(layers_by_moves(square_1, 4)) == list(layers_of(*placed(SOLVED), 4))


@pytest.mark.parametrize("start", [SIX, "A1A11A1A-", "AB1C12DE4F-", "11112345-"])
def test_positions_of_relatives(start: str) -> None:
    assert list(layers_by_moves(square_1_of(start), 4)) == list(layers_of(*placed(start), 4))


def classes_by_moves(puzzle: Puzzle, sequence: str, depth: int) -> Iterator[int]:
    """Yield the number of classes at each number of slashes after a sequence; one position stands for each class."""
    moves, size = puzzle.moves, puzzle.places // 2
    turns = [number for number, name in enumerate(moves.names) if name != "/"]
    frontier, known = puzzle.follow(sequence)[-1:], np.empty((0, 3), dtype=np.int64)
    for slashes in range(depth + 1):
        if slashes:
            frontier = np.concatenate([frontier, *(moves.move(number, frontier)[0] for number in turns)])
            after, legal = moves.move(moves.names.index("/"), frontier)
            frontier = after[legal]
        layers = frontier[:, :-1].reshape(-1, 2, size).astype(np.int64)
        smallest = np.min([np.roll(layers, turn, axis=2) @ 32 ** np.arange(size) for turn in range(size)], axis=0)
        keys = np.concatenate((known, np.column_stack((smallest, frontier[:, -1]))))
        known, first = np.unique(keys, axis=0, return_index=True)
        frontier = frontier[first[first >= len(keys) - len(frontier)] - (len(keys) - len(frontier))]
        yield len(frontier)


def test_classes_at_each_number_of_slashes(square_1: Puzzle) -> None:
    start, size = placed(SOLVED)
    after_slash = slashed(start, size)
    assert after_slash is not None
    assert list(classes_by_moves(square_1, "", 2)) == list(classes_of(start, size, 2)) == [1, 64, 1153]
    assert list(classes_by_moves(square_1, "/", 2)) == list(classes_of(after_slash, size, 2)) == [1, 16, 281]


@pytest.mark.slow
def test_classes_are_those_of_masonjones(square_1: Puzzle) -> None:
    """J. Masonjones published the number of classes at each number of slashes in 2005."""
    assert list(classes_by_moves(square_1, "", 4)) == [1, 64, 1153, 17050, 235144]


@pytest.mark.parametrize(
    ("sequence", "position"),
    [
        ("", SOLVED),
        ("/", "A1B25E6FC3D47G8H/"),
        ("(1,0) / (3,-3) /", "6F4A3D7G1B5E8H2C-"),
        ("1,0/3,-3/", "6F4A3D7G1B5E8H2C-"),
        (" ( 13 , 12 )/(3,9) (0,0) / ", "6F4A3D7G1B5E8H2C-"),
        ("/ (3,0) / (-3,-3) / (0,3) /", "A1C3B2D45E7G6F8H-"),
        ("(-1,0)", "a1B2C3D45E6F7G8H-"),
        ("(−1,1)", "a1B2C3D4h5E6F7G8-"),
        ("[/: 6,6]", "5E6F7G8HA1B2C3D4-"),
    ],
)
def test_sequences_and_positions(square_1: Puzzle, sequence: str, position: str) -> None:
    """The sixth line is the example of the program virtual-sq1."""
    end = square_1.follow(sequence)[-1]
    assert square_1.format(end) == position
    assert (square_1.parse(position) == end).all()
    assert (square_1.parse(" ".join(position)) == end).all()


def test_moves_are_named_as_people_write_them(square_1: Puzzle) -> None:
    path = square_1.follow("7,0/3,9/0,0")
    assert square_1.move_names(path) == ["(-5,0)", "/", "(3,-3)", "/"]
    assert len(square_1.moves) == 144
    assert square_1.moves.reversible


@pytest.mark.parametrize(
    ("sequence", "message"),
    [
        ("/ (1,0) / (1,0) /", "'/' as move 3 is not legal there"),
        ("(-1,0)/", "'/' as move 2 is not legal there"),
        ("(1,0)/(x,3)", "unknown move 'x' at character 8"),
        ("(1,0", r"the bracket '\(' at character 1 is not closed"),
        ("1/", "unknown move '1/' at character 1"),
        ("R U", "unknown move 'R' at character 1"),
    ],
)
def test_wrong_sequences(square_1: Puzzle, sequence: str, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        square_1.follow(sequence)


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ("", "expected pieces that cover 24 cells"),
        ("A1B2C3D45E6F7GH-", "expected pieces that cover 24 cells .*, found 23"),
        ("A1B2C3DE45F6G7H8-", "the corner 'E' lies across two layers"),
        ("A1B2C3D45e6F7G8H-", "the small letter 'e' is not at the beginning of a layer"),
        ("A1B2C3D45E6F7G8I-", "expected one of .*, found 'I'"),
        ("A1B2C3D45E6F7G7H-", "expected 1 x '7', found 2; missing: '8'"),
        ("A1B2C3D45E6F7G8H+", "expected letters .*, found '\\+'"),
        ("A1B2C3D4/5E6F7G8H-", "expected letters .*, found '/'"),
    ],
)
def test_wrong_positions(square_1: Puzzle, position: str, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        square_1.parse(position)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start": "A1B-"}, "start: expected two layers of 4, 6, 8, 10 or 12 cells .*, found 5 cells in 'A1B-'"),
        ({"start": "A1B2C3D4E5-"}, "found 15 cells"),
        ({"start": "A123BC4D-"}, "the corner 'B' lies across two layers; each layer has 6 cells"),
        ({"start": ["A1B23C4D-", "A1B23C4E-"]}, "every position must have the same pieces, .*: D, E"),
        ({"metric": "slices"}, "metric: expected .*wca"),
        ({"moves": "/"}, "moves: unknown key"),
    ],
)
def test_wrong_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        puzzle_from({"name": "wrong", "family": "square-1", **settings})


def test_a_reflection_that_exchanges_the_layers_is_a_symmetry() -> None:
    """It exchanges the first and the second cells of corners."""
    assert symmetries_of(square_1_of(SIX).rules).order == 2


def test_patterns_of_starts_tear_no_corner() -> None:
    settings = {"name": "many", "family": "square-1", "start": "A1A11A1A-"}
    starts = puzzle_from({**settings, "starts": "Aa?????????? -"}).start_labels
    puzzle = puzzle_from(settings)
    assert all((puzzle.parse(puzzle.format(one)) == one).all() for one in starts)
    assert (
        len(starts) == 1 * 2 + 3 * 9 + 1 * 6
    )  # ways to fill the upper and the lower layer, with 3, 2 and 1 corners below
    with pytest.raises(ConfigError, match="no position of the puzzle matches the pattern"):
        puzzle_from({**settings, "goal": "AA?????????? -"})


def test_drawings(square_1: Puzzle) -> None:
    assert square_1.draw(square_1.parse("a1B2C3D45E6F7G8H/")).split("\n") == [
        "┊a│1│ B │2│ C │3│ D │4│A┊",
        "├───────────╫═══════════┤",
        "│7│ G │8│ H ║5│ E │6│ F │",
    ]


def test_pictures_show_each_piece_and_the_middle(square_1: Puzzle) -> None:
    flat, flipped = (square_1.picture(square_1.parse(SOLVED[:-1] + middle)) for middle in "-/")
    assert len(flat.shapes) == len(flipped.shapes) == 2 * 16 + 2 + 3
    assert [one != other for one, other in zip(flat.shapes, flipped.shapes, strict=True)].count(True) == 1


def test_drafts_of_an_editor(square_1: Puzzle) -> None:
    form, start = square_1.notation.form(square_1.parts), square_1.rules.written(square_1.rules.first)
    assert form.written(form.draft_of(start)) == start
    broken = [start[1], start[0], *start[2:]]
    assert start[:3] == ["A", "a", "1"]
    with pytest.raises(DraftError, match="each corner needs its second cell"):
        form.written(broken)
