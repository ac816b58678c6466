"""The space of fields: a bijection, tables that are the moves, cuts that a row decides, and what is refused."""

from typing import Any

import numpy as np
import pytest
from brute_force import layers_of
from oracles import ORACLES
from own_puzzles import divided, jugs, towers
from table_search import layers_by_engine

from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import FieldError, InputError
from antipodes_tasks.spaces.mixed_radix import MixedRadix, deciding_order, fields_of
from antipodes_tasks.spaces.selection import best_space, stored_space
from antipodes_tasks.spaces.space import Space, SpaceRecord


def engine_layers(space: Space) -> list[int]:
    return layers_by_engine(space.filler.filled(), space.rank(space.rules.start_labels))


@pytest.mark.parametrize(("pegs", "discs"), [(3, 7), (4, 6), (5, 4)])
def test_towers(pegs: int, discs: int) -> None:
    layers = engine_layers(best_space(towers(pegs, discs).rules))
    assert sum(layers) == pegs**discs
    if pegs == 3:
        assert len(layers) - 1 == 2**discs - 1
    if pegs == 4:
        assert len(layers) - 1 >= ORACLES["hanoi"]["4 pegs, moves from peg to peg for n = 1..15"][discs - 1]


def test_the_small_discs_are_the_row_of_towers() -> None:
    space = best_space(towers(4, 8).rules)
    assert isinstance(space.numbering, MixedRadix)
    assert (space.rows, space.width) == (64, 1024)
    assert space.numbering.order == tuple(range(8))
    tables = space.filler.filled()
    used = np.unique(tables.column_map[tables.target >= 0])
    assert len(used) == 1 + 4 * 3
    assert tables.undirected


def test_the_fields_that_decide_come_first() -> None:
    """The last dial turns alone, the first as the last one says."""

    def last(dials: Any) -> Any:
        dials[:, 1] = (dials[:, 1] + 1) % 5
        return dials

    def first(dials: Any) -> Any:
        dials[:, 0] = (dials[:, 0] + dials[:, 1]) % 6
        return dials

    puzzle = define_puzzle(name="dials", radices=[6, 5], start=[0, 0], moves={"last": last, "first": first})
    assert deciding_order(puzzle.parts, puzzle.moves) == ((1, 0), (1, 2))
    space = divided(puzzle.rules, (1, 0), 1)
    assert space
    assert (space.rows, space.width) == (5, 6)
    assert engine_layers(space) == layers_of(puzzle)
    assert divided(puzzle.rules, (0, 1), 1) is None


def test_jugs_are_listed_apart() -> None:
    space = best_space(jugs().rules)
    assert (space.rows, space.width, space.filler.most_column_maps) == (216, 1, 1)
    assert engine_layers(space) == [1, 2, 3, 2, 2, 2, 2, 2]
    assert not space.filler.filled().undirected


@pytest.mark.slow
def test_pieces_that_functions_move() -> None:
    """The eight puzzle: the arrangement is one field, so each has a row of its own."""

    def slide(by: int, stays: Any) -> Any:
        def slid(tiles: Any) -> Any:
            blank = (tiles == 0).argmax(axis=1)
            legal, every = ~stays(blank), np.arange(len(tiles))
            other = np.where(legal, blank + by, blank)
            tiles[every, blank] = tiles[every, other]
            tiles[every, other] = 0
            return tiles, legal

        return slid

    moves = {
        "up": slide(-3, lambda blank: blank < 3),
        "down": slide(3, lambda blank: blank >= 6),
        "left": slide(-1, lambda blank: blank % 3 == 0),
        "right": slide(1, lambda blank: blank % 3 == 2),
    }
    inverses = {"up": "down", "left": "right"}
    puzzle = define_puzzle(name="eight", start="123456780", moves=moves, inverses=inverses)
    space = best_space(puzzle.rules)
    assert (space.rows, space.width) == (362_880, 1)
    assert engine_layers(space) == ORACLES["sliding/eight-puzzle"]["layers"]


def test_a_plain_puzzle_has_one_column() -> None:
    assert best_space(towers(4, 8, plain=True).rules).width == 1


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ({}, "details.order: expected a list of integers"),
        ({"order": "0"}, "details.order: expected a list of integers"),
        ({"order": [True, 1, 2], "column_maps": 1}, "details.order: expected a list of integers"),
        ({"order": [0, 1, 1], "column_maps": 1}, "details.order: expected each of 0 to 2 once"),
        ({"order": [0, 1, 2]}, "details.column_maps: expected a positive integer, found None"),
        ({"order": [0, 1, 2], "column_maps": 0}, "details.column_maps"),
        ({"order": [0, 1, 2], "column_maps": 1 << 40}, "details.column_maps"),
    ],
)
def test_a_wrong_record_is_refused(details: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError, match=message):
        MixedRadix.restored(jugs().rules, SpaceRecord("fields", 216, 1, details))


def test_a_record_of_other_rows_is_refused() -> None:
    with pytest.raises(FieldError, match="27 rows of 8 columns match no row/column split"):
        stored_space(jugs().rules, SpaceRecord("fields", 27, 8, {"order": [0, 1, 2], "column_maps": 1}))


def rarely(rare: Any) -> Puzzle:
    """Twenty bits that flip, but for one position in a million."""

    def flip(bit: int) -> Any:
        def flipped(bits: Any) -> Any:
            ones = bits.all(axis=1)
            bits[:, bit] ^= 1
            bits[ones] = rare(bits[ones])
            return bits

        return flipped

    return define_puzzle(name="bits", radices=[2] * 20, start=[0] * 20, moves={f"{bit}": flip(bit) for bit in (0, 19)})


def test_rows_that_do_not_decide_are_found_although_a_sample_has_none() -> None:
    def rare(bits: Any) -> Any:
        bits[:, :3] = 0
        return bits

    space = best_space(rarely(rare).rules)
    assert space.width > 1
    with pytest.raises(InputError, match=r"move '0': the new values of the fields at places .* plain=True"):
        space.filler.filled()


def test_more_column_maps_than_a_sample_showed_are_refused() -> None:
    puzzle = towers(4, 6)
    space = Space(puzzle.rules, MixedRadix(fields_of(puzzle.parts), tuple(range(6)), 2, max_maps=3), 2)
    with pytest.raises(
        InputError,
        match=r"effects that a sample of positions did not reveal \(3 column maps are too few\); .* plain=True",
    ):
        space.filler.filled()


def test_moves_that_are_not_undone_as_said_are_found() -> None:
    def up(dials: Any) -> Any:
        return (dials + 1) % 7

    puzzle = define_puzzle(name="dial", radices=[7], start=[0], moves={"up": up}, inverses={"up": "up"})
    with pytest.raises(InputError, match=r"move 'up': its inverse does not undo it: it does not"):
        best_space(puzzle.rules).filler.filled()
