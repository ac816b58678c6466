"""Searches with tables, compared with breadth-first search: every shortest path, once, and unreachable positions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_moves import with_inverses
from reduced_spaces import reduced_spaces
from search_problems import check_paths, paths_from, random_walk
from strategies import any_contents, sliding_settings
from transform_puzzles import puzzle_of, transform_puzzles

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.properties.piece_distances import costs_of_pieces
from antipodes_tasks.rules.parts import Part, moduli_of, pieces
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.searches import deepening
from antipodes_tasks.searches.abstractions import abstraction_of
from antipodes_tasks.searches.breadth_first import bfs
from antipodes_tasks.searches.deepening import ida_star
from antipodes_tasks.searches.packed import BYTES
from antipodes_tasks.searches.pattern_databases import UNREACHED, Patterns
from antipodes_tasks.searches.permutation_pdb import PermutationPatterns
from antipodes_tasks.searches.permutation_views import PermutationTable
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.quotient import quotient_of
from antipodes_tasks.searches.sliding_pdb import PatternTable, SlidingPatterns
from antipodes_tasks.searches.sliding_rows import SwapRows
from antipodes_tasks.spaces.reduced_numbering import Reduced
from antipodes_tasks.spaces.selection import numbering_of
from antipodes_tasks.spaces.space import Numbering, Space

ROOM = 1 << 24


def distances(puzzle: Puzzle, numbering: Numbering) -> NDArray[np.uint8]:
    """The distance of each entry from the start, by brute force."""
    found = np.full(numbering.size, UNREACHED, dtype=np.uint8)
    for key, (depth, _) in paths_from(puzzle).items():
        found[numbering.rank_one(list(key))] = depth
    return found


def with_one_start(puzzle: Puzzle) -> Puzzle:
    return replace(puzzle, rules=replace(puzzle.rules, starts=puzzle.rules.starts[:1]))


def first_part(puzzle: Puzzle) -> Puzzle:
    """The pattern that leaves out all parts but the first."""
    places = puzzle.parts[0].places
    moves = puzzle.moves
    assert isinstance(moves, Transforms)
    own = Transforms(moves.names, moves.origin[:, :places], moves.moduli[:places], moves.added[:, :places])
    rules = replace(puzzle.rules, parts=puzzle.parts[:1], starts=(puzzle.starts[0][:places],), moves=own)
    return replace(puzzle, rules=rules)


def turn_patterns(puzzle: Puzzle, pattern: Puzzle) -> PermutationPatterns:
    """The heuristic of the table of a pattern, as `load_patterns` makes it."""
    numbering = numbering_of(pattern.rules)
    goal, values = puzzle.start_labels[0], distances(pattern, numbering)
    table = PermutationTable(pattern.rules, numbering, abstraction_of(puzzle.rules, goal, pattern.rules), 0, BYTES)
    return PermutationPatterns.of(puzzle.rules, goal, [table], values, ROOM)


def reduced_patterns(puzzle: Puzzle, space: Space) -> PermutationPatterns:
    """The heuristic of the puzzle's own table, which is reduced by symmetries."""
    quotient, goal = quotient_of(space, 1), puzzle.start_labels[0]
    assert quotient is not None
    every = quotient.numbering.unrank(np.arange(quotient.numbering.size))
    entries, symmetries = quotient.located(np.arange(len(every)))
    assert np.array_equal(entries, space.rank(every))
    assert isinstance(space.numbering, Reduced)
    images = space.numbering.images.image(every, symmetries)
    for move in range(len(puzzle.moves)):
        after = puzzle.rules.moves.move(move, every)[0]
        expected = space.numbering.images.image(after, symmetries)
        for number in np.unique(symmetries).tolist():
            of = symmetries == number
            found = puzzle.rules.moves.move(int(quotient.moves[number, move]), images[of])[0]
            assert np.array_equal(found, expected[of])
    same = abstraction_of(puzzle.rules, goal, puzzle.rules)
    table = PermutationTable(puzzle.rules, quotient.numbering, same, 0, BYTES, quotient)
    return PermutationPatterns.of(puzzle.rules, goal, [table], distances(puzzle, space.numbering), ROOM)


def swap_patterns(puzzle: Puzzle) -> SlidingPatterns:
    """The heuristic of the puzzle's own table."""
    goal = puzzle.start_labels[0]
    numbering = numbering_of(puzzle.rules)
    same = np.arange(len(puzzle.symbols), dtype=np.uint8)
    table = PatternTable("own", SwapRows(puzzle.rules, numbering), same, distances(puzzle, numbering))
    return SlidingPatterns.of(puzzle.rules, goal, [table], costs_of_pieces(puzzle.rules, goal[np.newaxis]))


def check_all_paths(puzzle: Puzzle, heuristic: Patterns, seeds: Sequence[int]) -> None:
    """Compare all shortest paths of some positions with those of breadth-first search."""
    for seed in seeds:
        problem = Problem.of(puzzle.rules, random_walk(puzzle, seed, 1 + seed % 9))
        expected = bfs(problem, every=True, listed=10_000)
        for threads in (1, 2):
            found = ida_star(problem, every=True, listed=10_000, heuristic=heuristic, threads=threads)
            assert (found.distance, found.solution_count) == (expected.distance, expected.solution_count)
            assert {path.tobytes() for path in found.solutions} == {path.tobytes() for path in expected.solutions}
            check_paths(problem, found)
            if found.solution_count > 1:
                event("several paths")
        few = ida_star(problem, every=True, listed=1, heuristic=heuristic)
        assert (few.solution_count, len(few.solutions)) == (expected.solution_count, 1)


def check_any_contents(puzzle: Puzzle, heuristic: Patterns) -> None:
    """Solve arrangements of the pieces, reachable or not."""
    for position in any_contents(puzzle, 4):
        problem = Problem.of(puzzle.rules, position)
        expected, found = bfs(problem), ida_star(problem, heuristic=heuristic)
        assert (found.outcome, found.distance) == (expected.outcome, expected.distance)
        bound = heuristic.estimate(position)
        assert bound == UNREACHABLE_COST or bound == heuristic.estimates(position[np.newaxis])[0]
        assert bound <= (UNREACHABLE_COST if expected.distance is None else expected.distance)
        event(str(found.outcome))


SEEDS = st.lists(st.integers(0, 1 << 16), min_size=3, max_size=3)


def legal_everywhere(puzzle: Puzzle) -> bool:
    return isinstance(puzzle.moves, Transforms) and puzzle.moves.allowed is None


def reversible(puzzle: Puzzle) -> Puzzle:
    assert isinstance(puzzle.moves, Transforms)
    return replace(
        with_one_start(puzzle), rules=replace(with_one_start(puzzle).rules, moves=with_inverses(puzzle.moves))
    )


@pytest.fixture
def _shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each depth counts as long, so that threads share it."""
    monkeypatch.setattr(deepening, "SHARED_DESCENT_SECONDS", -1.0)


@pytest.mark.usefixtures("_shared")
@given(transform_puzzles().filter(legal_everywhere).map(reversible), st.booleans(), SEEDS)
def test_turns(puzzle: Puzzle, partial: bool, seeds: list[int]) -> None:
    heuristic = turn_patterns(puzzle, first_part(puzzle) if partial else puzzle)
    check_all_paths(puzzle, heuristic, seeds)
    check_any_contents(puzzle, heuristic)


@st.composite
def mirrored_puzzles(draw: st.DrawFn) -> Puzzle:
    """Two rows of pieces, some of them identical, whose reflection leads the start to itself and moves to moves."""
    sizes = draw(st.tuples(st.integers(3, 5), st.integers(3, 4)))
    parts, start = list[Part](), list[int]()
    for size in sizes:
        half = draw(st.permutations([0, 1, 2]))[: (size + 1) // 2]
        labels = np.unique([*half, *half[: size // 2][::-1]], return_inverse=True)[1].tolist()
        start += labels
        parts.append(pieces(tuple(labels), tuple("abc"[: max(labels) + 1])))
    first, second = range(sizes[0]), range(sizes[0], sum(sizes))
    mirror = np.array([*first[::-1], *second[::-1]])
    made = [[*_cycle(first), *_swap(second)], [*_swap(first), *_cycle(second)]]  # these lead to every arrangement
    made += [[*draw(st.permutations(first)), *draw(st.permutations(second))]] * draw(st.integers(0, 1))
    origin = [own for one in made for own in (one, mirror[np.array(one)[mirror]].tolist())]
    moves = Transforms([f"m{k}" for k in range(len(origin))], origin, moduli_of(parts))
    return puzzle_of(tuple(parts), [tuple(start)], with_inverses(moves))


def _cycle(places: range) -> list[int]:
    return [*places[1:], places[0]]


def _swap(places: range) -> list[int]:
    return [places[1], places[0], *places[2:]]


@pytest.mark.usefixtures("_shared")
@given(mirrored_puzzles(), st.data(), SEEDS)
def test_reduced_tables(puzzle: Puzzle, data: st.DataObject, seeds: list[int]) -> None:
    spaces = [one for one in reduced_spaces(puzzle.rules) if one.numbering.frame.has_keys]  # type: ignore[attr-defined]
    assume(spaces)
    space = data.draw(st.sampled_from(spaces))
    heuristic = reduced_patterns(puzzle, space)
    event(f"{len(heuristic.views[0].table.digits)} digits, {min(space.width, 2)} columns")
    check_all_paths(puzzle, heuristic, seeds)
    check_any_contents(puzzle, heuristic)
    heuristic.prepare(1)
    assert heuristic.steps is not None
    check_all_paths(puzzle, heuristic, seeds)
    check_any_contents(puzzle, heuristic)


@pytest.mark.usefixtures("_shared")
@given(
    sliding_settings().filter(lambda one: isinstance(one["start"], str) and one["start"].split().count("0") == 1), SEEDS
)
def test_swaps(sliding: dict[str, Any], seeds: list[int]) -> None:
    puzzle = puzzle_from(sliding)
    assume(len(puzzle.successors(puzzle.start_labels[0])))
    check_all_paths(puzzle, swap_patterns(puzzle), seeds)
    check_any_contents(puzzle, swap_patterns(puzzle))


def test_identical_pieces_of_a_ring() -> None:
    """Several moves of a ring of identical pieces lead to the same position."""
    puzzle = puzzle_from({"name": "ring", "family": "topspin", "start": "a b b b"})
    problem = Problem.of(puzzle.rules, puzzle.parse("b b b a"))
    answer = ida_star(problem, every=True, heuristic=turn_patterns(puzzle, puzzle))
    assert (answer.distance, answer.solution_count, len(answer.solutions)) == (1, 1, 1)
