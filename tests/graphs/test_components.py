"""The components of puzzles, against brute force over all their positions, and what is published."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from math import prod

import numpy as np
import pytest
from brute_force import distances
from hypothesis import given, reject
from hypothesis import strategies as st
from strategies import additive_settings, blocks_settings, sliding_settings
from transform_puzzles import transform_puzzles

import antipodes as ap
from antipodes.graphs.components import Component, Components, components, hardest_starts
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.pattern import all_placements
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import InputError, SizeLimitError

SQUARES = 8
"""Squares of boards on which all labels are tried."""


def all_labels(puzzle: Puzzle) -> Iterator[tuple[int, ...]]:
    """All labels with the pieces of a puzzle."""
    symbols = [range(len(part.symbols)) for part in puzzle.parts for _ in range(part.places)]
    return (labels for labels in product(*symbols) if puzzle.rules.holds(list(labels)))


def successors_of(puzzle: Puzzle) -> dict[bytes, list[bytes]]:
    """All positions with the pieces of a puzzle, and where moves lead from each."""
    every = {bytes(puzzle.checked([labels])[0]) for labels in all_labels(puzzle)}
    found = {here: [bytes(one) for one in puzzle.successors(list(here))] for here in every}
    assert every.issuperset(one for after in found.values() for one in after)
    return found


def strong_components_of(after: dict[bytes, list[bytes]]) -> set[frozenset[bytes]]:
    """The sets of positions that lead to each other, by what each reaches."""
    reached = {here: distances([here], after.__getitem__).keys() for here in after}
    return {frozenset(one for one in reached[here] if here in reached[one]) for here in after}


def weak_components_of(after: dict[bytes, list[bytes]]) -> int:
    """The number of sets that no move leads between."""
    both: dict[bytes, set[bytes]] = {here: set(there) for here, there in after.items()}
    for here, some in after.items():
        for there in some:
            both[there].add(here)
    return len({frozenset(distances([here], both.__getitem__)) for here in after})


def check(puzzle: Puzzle) -> None:
    after, found = successors_of(puzzle), components(puzzle)
    check_sizes(after, strong_components_of(after), found)
    for one in found:
        example = bytes(puzzle.parse(one.example))
        (own,) = (each for each in strong_components_of(after) if example in each)
        reached = distances([example], lambda here, own=own: own.intersection(after[here]))
        assert (len(reached), max(reached.values())) == (one.size, one.radius)


def check_sizes(after: dict[bytes, list[bytes]], expected: set[frozenset[bytes]], found: Components) -> None:
    sizes = Counter[int]()
    for one in found:
        sizes[one.size] += one.count
    assert sizes == Counter(map(len, expected))
    assert found.weakly_connected == weak_components_of(after)


@pytest.mark.slow
@given(sliding_settings() | additive_settings())
def test_boards(settings: dict[str, object]) -> None:
    check(puzzle_from(settings))


@given(transform_puzzles().filter(lambda puzzle: puzzle.moves.reversible))
def test_transforms(puzzle: Puzzle) -> None:
    check(puzzle)


@given(blocks_settings().filter(lambda settings: puzzle_from(settings).places <= SQUARES))
def test_blocks_are_placed_in_every_way(settings: dict[str, object]) -> None:
    puzzle = puzzle_from(settings)
    written = [labels for labels in all_labels(puzzle) if is_written(puzzle, labels)]
    placed = [tuple(one) for labels in all_placements(puzzle) for one in labels.tolist()]
    assert sorted(placed) == sorted(written)


def is_written(puzzle: Puzzle, labels: tuple[int, ...]) -> bool:
    """Whether labels stand for whole blocks: then they can be written, and what is written is read as them."""
    try:
        return puzzle.parse(puzzle.format(labels)).tolist() == list(labels)
    except (InputError, LookupError):
        return False


def test_half_of_the_eight_puzzle_is_out_of_reach() -> None:
    assert ap.components("eight-puzzle") == [Component(181_440, 31, 2, "0 1 2 3 4 5 6 7 8")]


def test_a_config_that_lists_positions_for_its_table_has_the_same_components() -> None:
    settings = {"name": "p", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0"}
    assert ap.components(ap.Config({**settings, "enumerated": True})) == ap.components(ap.Config(settings))


def test_a_bandaged_puzzle_whose_table_lists_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    conditions = {"L": "[^X] ? ? ? ? ?", "R": "? ? ? [^X] ? ?"}
    moves = {"L": "(0 1 2 3)", "R": "(3 4 5)"}
    settings = {"name": "bandaged", "family": "generators", "start": "a a b b c X", "moves": moves}
    config = ap.Config({**settings, "conditions": conditions})
    numbered = ap.components(config)
    monkeypatch.setattr("antipodes.puzzles.families.generators.MAX_NUMBERED", 1)
    listed = ap.Config({**settings, "conditions": conditions})
    assert listed.puzzle.rules.enumerated
    assert ap.components(listed) == numbered
    assert sum(one.size * one.count for one in numbered) == 180


def test_all_arrangements_of_a_listed_puzzle_may_be_too_many() -> None:
    start = " ".join([*map(str, range(21)), "X"])
    moves, conditions = {"L": "(0 1 2 3 4 5)"}, {"L": " ".join(["[^X]", *["?"] * 21])}
    settings = {"name": "p", "family": "generators", "start": start, "moves": moves, "conditions": conditions}
    with pytest.raises(
        SizeLimitError, match=r"found about 10\^21; unreachable arrangements of the pieces count as well"
    ):
        ap.components(ap.Config(settings))


def test_functions_of_a_listed_puzzle_are_not_tried_on_other_positions() -> None:
    puzzle = define_puzzle(
        name="p", start=[0, 0], radices=[3, 3], moves={"A": lambda at: (at + 1) % 3}, enumerated=True
    )
    with pytest.raises(InputError, match="only accept positions that are reachable from its start"):
        ap.components(puzzle)


def test_the_cars_of_rush_hour_stay_in_order() -> None:
    """Two cars in one lane, with room for both orders, never pass each other."""
    lane = {"name": "lane", "family": "blocks", "start": "AAABB.", "axis": True, "moves": "slides"}
    assert [(one.size, one.count) for one in components(puzzle_from(lane))] == [(3, 2)]


@st.composite
def one_way_puzzles(draw: st.DrawFn) -> Puzzle:
    """A few places with few values, and moves that lead from one content to another, where they are legal."""
    radices = draw(st.lists(st.integers(2, 3), min_size=1, max_size=3))
    size = prod(radices)
    target = [
        draw(st.lists(st.integers(0, size), min_size=size, max_size=size)) for _ in range(draw(st.integers(1, 2)))
    ]

    def move(table: list[int]) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
        def moved(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            after = np.array(table)[np.ravel_multi_index(tuple(labels.T), radices)]
            legal = after < size
            return np.stack(np.unravel_index(np.where(legal, after, 0), radices), axis=1), legal

        return moved

    moves = {f"M{number}": move(table) for number, table in enumerate(target)}
    return define_puzzle(name="one-way", radices=radices, start=[0] * len(radices), moves=moves, plain=True)


@given(one_way_puzzles())
def test_moves_that_lead_one_way(puzzle: Puzzle) -> None:
    check(puzzle)


def test_pieces_that_jump_one_way() -> None:
    check(puzzle_from({"name": "p", "family": "jump", "start": "AB--/-A-#", "offsets": [[0, 1], [1, 0]]}))


def test_a_long_way_there_and_none_back() -> None:
    """The search in depth goes along a way of 10,000 positions before it turns back, twenty times."""

    def on(at: np.ndarray) -> np.ndarray:
        number = (100 * at[:, 1].astype(int) + at[:, 2] + 1) % 10_000
        return np.stack([at[:, 0], number // 100, number % 100], axis=1)

    def up(at: np.ndarray) -> np.ndarray:
        return np.stack([np.minimum(at[:, 0] + 1, 19), at[:, 1], at[:, 2]], axis=1)

    line = define_puzzle(name="line", radices=[20, 100, 100], start=[0, 0, 0], moves={"on": on, "up": up})
    found = components(line)
    assert [(one.size, one.radius, one.count) for one in found] == [(10_000, 9999, 20)]
    assert found.weakly_connected == 1


def farthest_of(after: dict[bytes, list[bytes]], goals: set[bytes]) -> dict[bytes, int]:
    """The distance of each position that reaches a goal."""
    before: dict[bytes, list[bytes]] = {here: [] for here in after}
    for here, some in after.items():
        for there in some:
            before[there].append(here)
    return distances(goals, before.__getitem__)


def check_hardest(puzzle: Puzzle, after: dict[bytes, list[bytes]], goal: bytes, text: str) -> None:
    found, expected = hardest_starts(puzzle, text), farthest_of(after, {goal})
    hardest = {here for here, distance in expected.items() if distance == max(expected.values())}
    assert (found.distance, found.count, found.goals) == (max(expected.values()), len(hardest), 1)
    assert (found.reaching, found.total) == (len(expected), len(after))
    assert {bytes(puzzle.parse(one)) for one in found.positions} <= hardest
    assert len(found.positions) == min(20, len(hardest))


@given(one_way_puzzles(), st.integers(0, 100))
def test_the_farthest_from_a_goal_where_moves_lead_one_way(puzzle: Puzzle, number: int) -> None:
    """Distances are those to the goal, not from it."""
    after = successors_of(puzzle)
    goal = sorted(after)[number % len(after)]
    check_hardest(puzzle, after, goal, puzzle.format(tuple(goal)))


@given(blocks_settings().filter(lambda settings: puzzle_from(settings).places <= SQUARES), st.integers(0, 100))
def test_the_hardest_start_of_blocks(settings: dict[str, object], number: int) -> None:
    puzzle = puzzle_from(settings)
    every = [bytes(one) for labels in all_placements(puzzle) for one in labels]
    after = {here: [bytes(one) for one in puzzle.successors(list(here))] for here in every}
    check_sizes(after, strong_components_of(after), components(puzzle))
    goal = every[number % len(every)]
    check_hardest(puzzle, after, goal, puzzle.format(tuple(goal)))


@pytest.mark.parametrize(
    ("start", "distinct", "sizes"),
    [
        (".BB/FFF", False, [2, 2]),
        ("IF/.F/.F", False, [3, 3]),
        ("..F./C#F./C#../....", True, None),
    ],
)
def test_blocks_stand_also_where_no_single_block_can_go_from_the_start(
    start: str, distinct: bool, sizes: list[int] | None
) -> None:
    """Keys that hold only what the start's blocks reach one by one would take different positions for one."""
    settings = {"name": "p", "family": "blocks", "start": start, "distinct": distinct}
    found = check_blocks(settings)
    if sizes is not None:
        assert [one.size for one in found for _ in range(one.count)] == sizes


@given(
    st.data(), st.integers(1, 3), st.integers(2, 3), st.booleans(), st.booleans(), st.sampled_from(["steps", "slides"])
)
def test_blocks_of_any_shape(
    data: st.DataObject, rows: int, columns: int, distinct: bool, axis: bool, moves: str
) -> None:
    letters = data.draw(st.lists(st.sampled_from("..#AABBC"), min_size=rows * columns, max_size=rows * columns))
    start = "/".join("".join(letters[row * columns : (row + 1) * columns]) for row in range(rows))
    settings = {"name": "p", "family": "blocks", "start": start, "distinct": distinct, "axis": axis, "moves": moves}
    try:
        puzzle_from(settings)
    except InputError:  # no block or no empty square, or blocks that move along no axis
        reject()
    check_blocks(settings)


def check_blocks(settings: dict[str, object]) -> Components:
    puzzle = puzzle_from(settings)
    every = [bytes(one) for labels in all_placements(puzzle) for one in labels]
    assert len(set(every)) == len(every)
    after = {here: [bytes(one) for one in puzzle.successors(list(here))] for here in every}
    found = components(puzzle)
    check_sizes(after, strong_components_of(after), found)
    return found


def test_goals_that_no_position_is_are_refused() -> None:
    with pytest.raises(InputError, match=r"pattern '.*/QQQ\?': the start has no block like 'Q', of 3 squares in row 2"):
        hardest_starts(puzzle_from({"name": "p", "family": "blocks", "start": "AA../..BB"}), "????/QQQ?")
    with pytest.raises(InputError, match="expected limit"):
        hardest_starts(puzzle_from({"name": "p", "family": "blocks", "start": "AA./..B"}), "???/???", limit=0)
