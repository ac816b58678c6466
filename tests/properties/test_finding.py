"""The symmetries that are found: known groups, all maps tried on small puzzles, and what a symmetry promises."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from math import lcm

import numpy as np
import pytest
from group_puzzles import twisty
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import additive_settings, blocks_settings, jump_settings, sliding_settings
from symmetric_puzzles import (
    board,
    bundled,
    of_family,
    reached,
    swap_puzzles,
    swap_symmetries,
    twist_puzzles,
    twist_symmetries,
)
from transform_puzzles import transform_puzzles

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.notation import Lists
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.permutations.parity import cycles
from antipodes_tasks.properties.finding import Symmetries, symmetries_of
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.parts import pieces, values
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms

ORDERS: dict[str, tuple[Callable[[], Puzzle], int]] = {
    "4x4 board, tiles different, blank in a corner": (partial(board, "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0"), 2),
    "3x3 board, tiles equal, blank in the middle": (partial(board, "x x x/x . x/x x x"), 8),
    "a hole in the middle, blanks in the corners": (partial(board, ". x ./x # x/. x ."), 8),
    "the same, one wall": (partial(board, ". x ./x # x/. x .", walls=[[0, 1]]), 1),
    "some tiles free": (partial(board, "1 x 2/x . x/3 x 4", free=["x"]), 8),
    "Lights Out": (partial(of_family, "lights-out", rows=4, columns=4), 8),
    "Lights Out, one corner on at the start": (
        partial(of_family, "lights-out", rows=3, columns=3, start="1 0 0/0 0 0/0 0 0"),
        8,
    ),
    "3 pegs": (partial(of_family, "hanoi", pegs=3, discs=4), 2),
    "5 pegs": (partial(of_family, "hanoi", pegs=5, discs=2), 24),
    "pegs, discs on two": (partial(of_family, "hanoi", pegs=5, discs=3, start="0 0 1"), 6),
    "a dial of five": (
        lambda: Puzzle.of("p", "p", "", None, [values(1, 5)], [(0,)], Transforms("ab", [[0]] * 2, [5], [[1], [4]])),
        2,
    ),
    **{name: (partial(bundled, name), 48) for name in ("2x2x2", "3x3x3-squares", "skewb")},
    **{name: (partial(bundled, name), 24) for name in ("ivy",)},
    "Klotski": (partial(bundled, "klotski"), 2),
    "blocks in four corners": (partial(of_family, "blocks", start="AB..CD/A....D/....../E....G/EF..HG"), 4),
    "a block that cannot move": (partial(of_family, "blocks", start="AAA/.B./..C"), 1),
    "2x2x2 with a fixed corner": (partial(bundled, "2x2x2-corner"), 6),
    "pyraminx, GAP": (partial(twisty, "pyraminx.gap"), 24),
    "2x2x2, KPuzzle": (partial(twisty, "2x2x2.kpuzzle.json"), 48),
}


BOARDS = st.one_of(sliding_settings(), jump_settings(), additive_settings(), blocks_settings())


@pytest.mark.parametrize("name", ORDERS)
def test_known_orders(name: str) -> None:
    puzzle, order = ORDERS[name]
    found = symmetries_of(puzzle().rules)
    assert found.order == order == len(found.elements())
    assert found.elements()[0].is_identity
    check(found)


def check(found: Symmetries) -> None:
    """What symmetries promise, on positions near the starts."""
    labels = reached(found.rules)
    different = {one.image(labels).tobytes() for one in found.elements(5000)}
    assert len(different) <= found.order
    for one in (*found.generators, *found.elements(5000)[:50]):
        assert set(map(bytes, one.image(found.starts))) == set(map(bytes, found.starts))
        for number, image in enumerate(one.moves.tolist()):
            after, legal = found.rules.moves.move(number, labels)
            image_after, image_legal = found.rules.moves.move(image, one.image(labels))
            assert (legal == image_legal).all()
            assert (one.image(after)[legal] == image_after[legal]).all()


@settings(max_examples=3 * settings().max_examples)
@given(swap_puzzles())
def test_swaps_have_the_symmetries_that_trying_all_finds(puzzle: Puzzle) -> None:
    found = symmetries_of(puzzle.rules)
    assert found.order == len(swap_symmetries(puzzle.rules))
    check(found)


@given(twist_puzzles())
def test_twists_have_the_symmetries_that_trying_all_finds(puzzle: Puzzle) -> None:
    found = symmetries_of(puzzle.rules)
    assert found.order == len(twist_symmetries(puzzle.rules))
    check(found)


@settings(max_examples=3 * settings().max_examples)
@given(st.one_of(transform_puzzles(), twist_puzzles(with_conditions=True), BOARDS.map(puzzle_from)))
def test_symmetries_keep_their_promise(puzzle: Puzzle) -> None:
    check(symmetries_of(puzzle.rules))


def test_a_move_that_is_never_legal_is_like_no_other() -> None:
    moves = Transforms("ab", [[1, 0]] * 2, [1, 1], allowed=[[1, 1], [1, 0]])
    puzzle = Puzzle.of("p", "p", "", Lists((2,)), [pieces((0, 0), ("x",))], [(0, 0)], moves)
    assert [one.moves.tolist() for one in symmetries_of(puzzle.rules).elements()] == [[0, 1]]


def test_a_cube_given_by_its_stickers() -> None:
    puzzle = twisty("3x3x3.gap")
    found = symmetries_of(puzzle.rules)
    assert found.order == 48
    check(found)
    places = {tuple(one.places.tolist()) for one in found.elements()}
    assert sorted(map(repeats, map(np.array, places))) == [1, *[2] * 19, *[3] * 8, *[4] * 12, *[6] * 8]
    assert {tuple(one[place] for place in other) for one in places for other in places} == places


def repeats(places: np.ndarray) -> int:
    return lcm(*map(len, cycles(places.tolist())))


def test_goals_instead_of_starts() -> None:
    rules = bundled("knights-labelled").rules
    goals = reached(rules)[-2:]
    found = symmetries_of(rules, goals)
    assert {bytes(one) for one in found.starts} == {bytes(one) for one in goals}
    check(found)


def test_a_large_group_is_not_listed() -> None:
    found = symmetries_of(of_family("hanoi", pegs=7, discs=2).rules)
    assert found.order == 720
    with pytest.raises(ResourceLimitError, match="expected at most 719 symmetries, found 720"):
        found.elements(719)
    assert len(found.elements(720)) == 720


@pytest.mark.slow
def test_the_library_stays_whole() -> None:
    program = (
        "import sys; import antipodes as ap; assert ap.symmetries('hanoi-3-pegs').order == 2;"
        "assert 'igraph' not in sys.modules and 'matplotlib' not in sys.modules;"
        "import igraph; assert igraph.Graph.Ring(4).count_automorphisms() == 8"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_functions_are_not_known() -> None:
    moves = Functions({"up": lambda dials: (dials + 1) % 5}, [values(1, 5)])
    with pytest.raises(
        InputError, match="the moves of dial are functions, so its symmetries are unknown; define it with symmetries="
    ):
        symmetries_of(Rules((values(1, 5),), ((0,),), moves, name="dial"))


def test_symmetries_name_the_puzzle_that_was_asked_for() -> None:
    """Two puzzles of the same rules share no result that names one of them."""
    square = {"family": "sliding", "rows": 2, "columns": 2, "start": "1 2 3 0"}
    for name in ("first", "second"):
        found = symmetries_of(puzzle_from({**square, "name": name}).rules)
        assert repr(found) == f"<Symmetries of {name}: a group of order {found.order}>"
