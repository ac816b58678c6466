"""Fields reduced by symmetries that a puzzle names, against the same puzzle without."""

import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from own_puzzles import jugs, lights, symmetric_towers
from reduced_spaces import check_agreement, depths_of
from symmetric_functions import symmetric_function_puzzle

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import FieldError, InputError
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces import choose_cut, reduced_fields
from antipodes_tasks.spaces.mixed_radix import MixedRadix
from antipodes_tasks.spaces.reduced_fields import ReducedFields, field_frames
from antipodes_tasks.spaces.row_symmetries import maps_rows_to_rows
from antipodes_tasks.spaces.selection import best_space, stored_space
from antipodes_tasks.spaces.space import Space


def symmetric_lights(side: int) -> Puzzle:
    squares = np.arange(side * side).reshape(side, side)
    return lights(
        side,
        side,
        symmetries={"turned": np.rot90(squares).ravel().tolist(), "mirrored": squares[::-1].ravel().tolist()},
    )


def reduced_spaces(rules: Rules) -> Iterator[Space]:
    """The reduced spaces of all cuts."""
    whole, images = best_space(rules).numbering, choose_cut.symmetries_listed(rules)
    assert isinstance(whole, MixedRadix)
    for frame in field_frames(rules, images):
        fitting = np.flatnonzero(maps_rows_to_rows(frame, images))
        numbering = ReducedFields.cut(rules, whole, frame, images[fitting])
        if len(fitting) > 1 and numbering is not None:
            yield Space(rules, numbering, numbering.cuts[0])


def check_all(puzzle: Puzzle) -> list[Space]:
    """Check all reduced spaces of a puzzle, and return them."""
    whole = best_space(puzzle.rules)
    expected = depths_of(whole, whole.filler.filled())
    spaces = list(reduced_spaces(puzzle.rules))
    for space in spaces:
        check_agreement(space, expected)
    return spaces


@settings(max_examples=settings().max_examples // 2, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6))
def test_random_functions(seed: int) -> None:
    puzzle = symmetric_function_puzzle(seed)
    assume(puzzle is not None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reduced_fields, "WIDTHS", (1, 1 << 15))
        assume(check_all(puzzle))


@pytest.mark.parametrize(
    ("puzzle", "order", "widths"),
    [
        (symmetric_towers(3, 6), 2, {1, 27, 81, 243}),
        (symmetric_towers(5, 4), 24, {1, 25, 125}),
        (symmetric_towers(4, 4, plain=True), 6, {1}),
        (symmetric_lights(3), 8, {1, 16, 64, 256}),
    ],
    ids=["3 pegs", "5 pegs", "plain", "lights"],
)
def test_puzzles_with_named_symmetries(puzzle: Puzzle, order: int, widths: set[int]) -> None:
    assert len(choose_cut.symmetries_listed(puzzle.rules)) == order
    spaces = check_all(puzzle)
    assert {space.width for space in spaces} == widths
    assert order in {space.numbering.symmetries for space in spaces}


@pytest.fixture(scope="module")
def discs() -> Space:
    """Eight discs on four pegs."""
    return best_space(symmetric_towers(4, 8).rules, "on")


def test_a_space_is_built_again_from_its_record_and_in_other_processes(discs: Space) -> None:
    indices = np.random.default_rng(1).integers(discs.size, size=100)
    record = replace(discs.record, details=json.loads(json.dumps(discs.record.details)))
    tables = discs.filler.filled()
    for again in (stored_space(discs.rules, record), pickle.loads(pickle.dumps(discs))):
        assert again.record == discs.record
        assert (again.unrank(indices) == discs.unrank(indices)).all()
        assert not len(again.successors(indices).differing(tables.successors(indices)))


def damaged(details: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Details that are not those of the discs."""
    yield {**details, "details": None}
    yield {**details, "details": {"order": [0, 1], "column_maps": 1}}
    yield {**details, "classes": [0] * 7}
    yield {**details, "classes": [2] * 8}
    yield {**details, "column_maps": 0}
    yield {**details, "column_maps": True}
    yield {**details, "order": 3}
    yield {**details, "symmetries": {**details["symmetries"], "places": [[1, 0, *range(2, 8)]] * 2}}


def test_other_records_are_refused(discs: Space) -> None:
    for details in damaged(json.loads(json.dumps(discs.record.details))):
        with pytest.raises(FieldError):
            stored_space(discs.rules, replace(discs.record, details=details))


def test_rows_that_do_not_decide_are_told_while_tables_are_filled(discs: Space) -> None:
    classes = [0] * 7 + [1]  # the largest disc alone
    space = stored_space(
        discs.rules, replace(discs.record, rows=2, width=4**7, details={**discs.record.details, "classes": classes})
    )
    with pytest.raises(InputError, match=r"move .*: the new values of the fields at places 7 depend on other fields"):
        space.filler.filled()


def test_symmetries_are_used_where_they_pay() -> None:
    assert best_space(symmetric_towers(4, 10).rules, "auto").numbering.symmetries == 6
    for puzzle in (symmetric_towers(4, 5), jugs()):
        assert best_space(puzzle.rules, "auto").numbering.symmetries == 1
    with pytest.raises(InputError, match="the table of own-jugs cannot be reduced: the puzzle has no symmetries"):
        best_space(jugs().rules, "on")
