"""A* and beam search against breadth-first distances, with named heuristics, tables of distances and own functions."""

import numpy as np
import pytest

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.solving.solve import ONE_PATH, SEARCHES, solve, solve_many
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.keys.steps import CompiledSteps, Steps
from antipodes_tasks.searches.answer import Outcome, Proof
from antipodes_tasks.searches.best_first import astar, beam
from antipodes_tasks.searches.breadth_first import Reached
from antipodes_tasks.searches.deepening import ida_star
from antipodes_tasks.searches.problem import Problem


def zero_estimates(labels):
    return np.zeros(len(labels))


class Distances:
    """All distances of a puzzle with reversible moves, as a function from positions to distances."""

    def __init__(self, settings):
        self.rules = puzzle_from({"name": "small", **settings}).rules
        problem = Problem.of(self.rules, self.rules.first)
        self.reached = Reached(problem.goals, problem.steps, problem.packing)
        while self.reached.expand():
            pass

    def __call__(self, labels):
        return self.reached.depths(self.reached.packing.pack(labels))

    def positions(self, each=1):
        """Return some positions at every depth."""
        layers = [self.reached.packing.unpack(self.reached.layer(d)) for d in range(self.reached.depth + 1)]
        return np.concatenate([layer[:: max(1, len(layer) // each)][:each] for layer in layers])


PUZZLES = {
    "sliding": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0"},
    "topspin": {"family": "topspin", "n": 6},
    "hanoi": {"family": "hanoi", "pegs": 3, "discs": 3},
}


@pytest.fixture(scope="module", params=PUZZLES)
def distances(request):
    return Distances(PUZZLES[request.param])


def test_successors_of_packed_positions_are_packed_successors(distances):
    rules, packing = distances.rules, distances.reached.packing
    labels = distances.positions(each=3)
    steps = Problem.of(rules, rules.first).steps
    assert isinstance(steps, CompiledSteps)
    for one in (steps, Steps(len(rules.moves), rules.moves.move)):
        after, before = one.packed_successors(packing.pack(labels), packing)
        expected, rows = one.successors(labels)
        assert np.array_equal(packing.unpack(after), expected)
        assert np.array_equal(before, rows)
        reached = {(row, bytes(position)) for row, position in zip(before.tolist(), packing.unpack(after), strict=True)}
        assert reached == {(row, bytes(b)) for row, a in enumerate(labels) for b in rules.moves.successors(a)}


def check_path(rules, answer, position):
    (path,) = answer.solutions
    assert len(path) == answer.distance + 1
    assert np.array_equal(path[0], position)
    assert bytes(path[-1]) in set(map(bytes, rules.start_labels))
    assert None not in rules.moves.moves_on_path(path)


def test_astar_finds_shortest_paths_with_admissible_functions(distances):
    functions = {
        "perfect": distances,
        "zero": zero_estimates,
        "inconsistent": lambda labels: np.where(labels[:, 0] % 2 == 0, distances(labels), 0),
        "fractions": lambda labels: (distances(labels) - 0.5).clip(0).astype(np.float32),
    }
    for position in distances.positions():
        depth = int(distances(position[np.newaxis])[0])
        for name, function in functions.items():
            answer = astar(Problem.of(distances.rules, position), heuristic=function)
            check_path(distances.rules, answer, position)
            assert (answer.distance, answer.proved, answer.bound) == (depth, Proof.SHORTEST, 1.0), name
            assert (answer.violations, answer.conditional) == (0, depth > 0)


@pytest.mark.parametrize("weight", [1.5, 3])
def test_weighted_astar_keeps_its_bound(distances, weight):
    for position in distances.positions():
        depth = int(distances(position[np.newaxis])[0])
        answer = astar(Problem.of(distances.rules, position), heuristic=lambda x: distances(x) // 2, weight=weight)
        check_path(distances.rules, answer, position)
        assert depth <= answer.distance <= weight * depth
        assert (answer.proved, answer.bound) in ((Proof.SHORTEST, 1.0), (Proof.WITHIN, weight))
        assert answer.proved == Proof.WITHIN or answer.distance == depth


@pytest.mark.parametrize("width", [1, 10**6])
def test_beam_returns_valid_paths_and_claims_no_more_than_it_knows(distances, width):
    for position in distances.positions()[::3]:
        depth = int(distances(position[np.newaxis])[0])
        for function in (distances, lambda labels: 7 * (labels != distances.rules.first).sum(axis=1)):
            answer = beam(Problem.of(distances.rules, position), heuristic=function, width=width)
            if answer.outcome == Outcome.NOT_FOUND:
                assert width < 10**6
                assert function is not distances
                continue
            check_path(distances.rules, answer, position)
            assert answer.distance >= depth
            if answer.proved == Proof.SHORTEST or function is distances:
                assert answer.distance == depth


def test_estimates_that_are_too_high_are_reported_and_nothing_is_claimed():
    distances = Distances(PUZZLES["sliding"])
    position = distances.positions()[-1]
    depth = int(distances(position[np.newaxis])[0])
    for function in (lambda labels: 3 * distances(labels), lambda labels: distances(labels) + 1):
        answer = astar(Problem.of(distances.rules, position), heuristic=function)
        check_path(distances.rules, answer, position)
        assert answer.violations > 0
        assert (answer.proved, answer.bound, answer.conditional) == (Proof.PATH, None, False)
        assert answer.distance >= depth


def test_drops_are_counted_but_are_no_violations():
    distances = Distances(PUZZLES["sliding"])
    position = distances.positions()[-1]
    depth = int(distances(position[np.newaxis])[0])
    uneven = astar(
        Problem.of(distances.rules, position), heuristic=lambda x: np.where(x[:, 0] % 2 == 0, distances(x), 0)
    )
    assert (uneven.distance, uneven.proved, uneven.violations) == (depth, Proof.SHORTEST, 0)
    assert uneven.drops > 0
    for even in (distances, zero_estimates):
        assert astar(Problem.of(distances.rules, position), heuristic=even).drops == 0


def test_a_goal_nearer_than_promised_is_reported():
    rules = puzzle_from({"name": "small", **PUZZLES["sliding"]}).rules
    goal, position = rules.first, rules.successors(rules.successors(rules.first)[0])[0]
    beside = {bytes(labels) for labels in rules.successors(goal)}
    function = lambda x: np.array([9 if bytes(labels) in beside else 0 for labels in x])  # noqa: E731
    answer = astar(Problem.of(rules, position), heuristic=function)
    assert (answer.proved, answer.bound, answer.conditional) == (Proof.PATH, None, False)
    assert answer.violations > 0


def test_an_estimate_above_zero_at_a_goal_is_a_violation_at_distance_zero_too():
    rules = puzzle_from({"name": "small", **PUZZLES["sliding"]}).rules
    answer = astar(Problem.of(rules, rules.first), heuristic=lambda x: np.full(len(x), 5))
    assert (answer.distance, answer.violations) == (0, 1)
    assert (answer.proved, answer.bound, answer.conditional) == (Proof.PATH, None, False)
    answer = astar(Problem.of(rules, rules.first), heuristic=zero_estimates)
    assert (answer.distance, answer.violations) == (0, 0)
    assert (answer.proved, answer.bound, answer.conditional) == (Proof.SHORTEST, 1, False)


@pytest.mark.parametrize("method", [*SEARCHES, *ONE_PATH])
def test_a_position_without_a_legal_move(method):
    """In a batch, too, it does not affect the other positions."""
    rules = puzzle_from({"name": "one-way", "family": "jump", "start": "AB--", "offsets": [[0, 1]]}).rules
    guide = {"heuristic": zero_estimates} if method in ONE_PATH else {}
    problems = [Problem.of(rules, labels) for labels in (rules.first[::-1], rules.first)]
    answers = [one.answer for one in solve_many(problems, method, threads=1, **guide)]
    assert [(one.outcome, one.distance) for one in answers] == [(Outcome.UNREACHABLE, None), (Outcome.SOLVED, 0)]


def test_beam_compares_the_estimates_on_its_path():
    distances = Distances(PUZZLES["sliding"])
    problem = Problem.of(distances.rules, distances.positions()[-1])
    high = beam(problem, heuristic=lambda x: 3 * distances(x), width=10**6)
    assert (high.violations, high.drops, high.proved) == (high.distance, high.distance, Proof.SHORTEST)
    exact = beam(problem, heuristic=distances, width=1)
    assert (exact.violations, exact.drops) == (0, 0)


def test_named_heuristics_and_goal_tests_prove_without_conditions():
    rules = load_config("eight-puzzle").puzzle.rules
    problem = Problem.of(rules, [8, 6, 7, 2, 5, 4, 3, 0, 1])
    for name in (None, "manhattan", "linear-conflict"):
        answer = solve(problem, "astar", heuristic=name)
        assert (answer.distance, answer.proved, answer.conditional) == (31, Proof.SHORTEST, False)
    blank_first = Problem.of(rules, problem.position, lambda labels: labels[:, 0] == 0)
    expected = solve(blank_first, "bfs").distance
    assert solve(blank_first, "astar", heuristic=zero_estimates).distance == expected
    assert solve(blank_first, "beam", heuristic=zero_estimates, width=10**6).distance == expected


def test_limits():
    rules = load_config("eight-puzzle").puzzle.rules
    problem = Problem.of(rules, [8, 6, 7, 2, 5, 4, 3, 0, 1])
    for method in ("astar", "beam"):
        limited = (
            solve(problem, method, heuristic=zero_estimates, max_depth=5, width=10**6)
            if method == "beam"
            else (solve(problem, method, heuristic=zero_estimates, max_depth=5))
        )
        assert (limited.outcome, limited.least) == (Outcome.DEPTH_LIMIT, 6)
        timed = solve(problem, method, heuristic=zero_estimates, max_seconds=0)
        assert timed.outcome == Outcome.TIME_LIMIT
        with pytest.raises(ResourceLimitError, match="allow more memory, or choose"):
            solve(problem, method, heuristic=zero_estimates, memory_limit=1000)
    unreachable = Problem.of(rules, [1, 2, 3, 4, 5, 6, 8, 7, 0])
    assert solve(unreachable, "astar", heuristic=zero_estimates).outcome == Outcome.UNREACHABLE


def failing(labels):
    raise ValueError("no estimate today")


class Tensor:
    def __array__(self, *_, **__):
        raise RuntimeError("use detach()")


WRONG = {
    "tensor": (lambda labels: Tensor(), r"cannot convert the Tensor that it returned: RuntimeError .*: use detach\(\)"),
    "shape": (lambda labels: 1.0, r"must return an array \(\d,\) of numbers; it returned \(\) of float64"),
    "columns": (lambda labels: labels, r"must return an array \(\d,\) of numbers; it returned \(\d, 9\) of uint8"),
    "text": (lambda labels: ["far"] * len(labels), "must return an array"),
    "nan": (lambda labels: np.full(len(labels), np.nan), "at least 0; it returned NaN"),
    "negative": (lambda labels: np.full(len(labels), -2), "at least 0; it returned -2"),
    "raising": (failing, r"^the heuristic failing: ValueError \(test_best_first.py, line \d+\): no estimate today"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("method", ["astar", "beam"])
def test_a_bad_function_is_named(case, method):
    function, message = WRONG[case]
    rules = load_config("eight-puzzle").puzzle.rules
    options = {"width": 1} if method == "beam" else {}
    name = "failing" if case == "raising" else "<lambda>"
    with pytest.raises(InputError, match=message) as raised:
        solve(Problem.of(rules, [8, 6, 7, 2, 5, 4, 3, 0, 1]), method, heuristic=function, **options)
    assert str(raised.value).startswith(f"the heuristic {name}")
    assert "\n" not in str(raised.value)


def test_options_are_checked():
    problem = Problem.of(load_config("eight-puzzle").puzzle.rules, [8, 6, 7, 2, 5, 4, 3, 0, 1])
    for search, options, message in (
        (astar, {"weight": 0.5}, "weight"),
        (astar, {"weight": 1e9}, "weight: expected at most 1000"),
        (beam, {"width": 0}, "width"),
        (astar, {"every": True}, "finds only one path"),
        (astar, {"heuristic": "gap"}, "gap needs moves that turn over"),
        (astar, {"heuristic": 5}, "expected manhattan, linear-conflict, gap, pattern tables or a function, found 5"),
        (ida_star, {"heuristic": zero_estimates}, "a function can guide astar and beam"),
    ):
        with pytest.raises(InputError, match=message):
            search(problem, **options)


def test_an_interrupt_in_the_function_ends_the_search():
    problem = Problem.of(load_config("eight-puzzle").puzzle.rules, [8, 6, 7, 2, 5, 4, 3, 0, 1])

    def pressed(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(problem, "astar", heuristic=zero_estimates, listener=pressed)


def test_many_positions_in_threads():
    distances = Distances(PUZZLES["topspin"])
    positions = distances.positions()
    problems = [Problem.of(distances.rules, position) for position in positions]
    answers = [one.answer.distance for one in solve_many(problems, "astar", heuristic=distances, threads=2)]
    assert answers == distances(positions).tolist()
