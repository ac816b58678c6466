"""Tables of patterns of puzzles whose moves are legal everywhere: bounds, lengths, symmetries, and what is refused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_problems import scrambled

from antipodes.puzzles.abstraction import Abstraction, pattern_settings
from antipodes.puzzles.config import Config, load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving import pattern_heuristic, pattern_values
from antipodes.solving.pattern_heuristic import load_patterns
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import Table, open_table
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError, UnfinishedError
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.searches import deepening, quotient
from antipodes_tasks.searches.breadth_first import bfs, bidirectional
from antipodes_tasks.searches.deepening import ida_star
from antipodes_tasks.searches.move_sequences import Inverses
from antipodes_tasks.searches.permutation_pdb import PermutationPatterns
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.progress import TimeLimitReached
from antipodes_tasks.searches.step_tables import MAX_MOVES
from antipodes_tasks.spaces.selection import numbering_of

Orbit = tuple[str, int] | None
"""The pieces of an orbit in a pattern, without blanks, and their orientations; None if it is left out."""
PATTERNS: dict[str, dict[str, Mapping[str, Orbit]]] = {
    "2x2x2-corner": {"places": {"CORNERS": ("0123456", 1)}, "twists": {"CORNERS": ("0000000", 3)}},
    "pyraminx": {"edges": {"AXIALS": None}, "flips": {"EDGES": ("001111", 2)}},
    "skewb-corner": {"corners": {"CENTRES": None}, "centres": {"CORNERS1": ("0123", 1), "CORNERS2": ("012", 1)}},
}
"""Two patterns of each puzzle."""


def defined(text: str, orbits: Mapping[str, Orbit]) -> str:
    """A definition in which some orbits have other pieces, other orientations, or are left out."""
    lines, made, starts = iter(text.splitlines()), list[str](), False
    for line in lines:
        words = line.split() or [""]
        starts = words[0] == "StartState" or (starts and words[0] != "End")
        if words[0] == "Set" and words[1] in orbits:
            orbit = orbits[words[1]]
            made += [] if orbit is None else [f"Set {words[1]} {words[2]} {orbit[1]}"]
        elif words[0] in orbits:
            own, permutation, twists = orbits[words[0]], next(lines), ""
            if f"Set {words[0]} {len(permutation.split())} 1" not in text:
                twists = next(lines)
            if own is not None:
                made += [line, " ".join(own[0]) if starts else permutation, *([twists] if own[1] > 1 else [])]
        else:
            made.append(line)
    return "\n".join(made)


def settings_of(name: str, pattern: str, orbits: Mapping[str, Orbit], turns: str = "half") -> dict[str, Any]:
    bundled = load_config(name).settings
    return {
        "name": f"{name}-{pattern}",
        "family": "twisty",
        "format": "tws",
        "turns": turns,
        "definition": defined(bundled["definition"], orbits),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("turns")


def store(folder: Path, settings: Mapping[str, Any], symmetry: str | None = None) -> Path:
    """The table of some settings; each is made once."""
    path = folder / f"{settings['name']}.zarr"
    if not path.exists():
        run_puzzle(Config(settings), path, RunOptions(workers=1, symmetry=symmetry))
    return path


def stores(folder: Path, name: str, patterns: Sequence[str]) -> list[Path]:
    return [store(folder, settings_of(name, own, PATTERNS[name][own])) for own in patterns]


def whole_table(folder: Path, name: str) -> Table:
    return open_table(store(folder, load_config(name).settings))


def heuristic(puzzle: Puzzle, addresses: Sequence[Path]) -> PermutationPatterns:
    found = load_patterns(puzzle.rules, None, addresses)
    assert isinstance(found, PermutationPatterns)
    return found


@pytest.mark.parametrize(
    ("name", "forgotten"),
    [
        *((name, {}) for name in PATTERNS),
        ("pyraminx", {"drop_orientation": ["EDGES:4,5,6"], "keep": ["EDGES:1,2,3"], "omit": ["AXIALS"]}),
        ("ivy", {"drop_orientation": ["CORNERS:2"], "keep": ["CENTRES:1"]}),
    ],
)
def test_bounds_are_admissible_and_consistent_and_lead_to_shortest_paths(
    name: str, forgotten: dict[str, list[str]], folder: Path
) -> None:
    """Of two patterns, or of one in which some pieces lose their orientation."""
    puzzle = load_config(name).puzzle
    if forgotten:
        found = heuristic(puzzle, [store(folder, pattern_settings(puzzle, Abstraction(**forgotten)))])
    else:
        found = heuristic(puzzle, stores(folder, name, list(PATTERNS[name])))
    labels = np.concatenate((puzzle.start_labels, scrambled(puzzle, 100), scrambled(puzzle, 20, moves=3)))
    with whole_table(folder, name) as table:
        distances = table.distances(labels)
    bounds = found.estimates(labels)
    assert (bounds <= distances).all()
    assert bounds[0] == 0 < bounds.mean()
    after = puzzle.successors_many(labels)
    steps = np.abs(found.estimates(after.positions[after.legal]) - np.repeat(bounds, after.legal.sum(axis=1)))
    assert steps.max() == 1
    for one, distance in zip(labels[::24], distances[::24].tolist(), strict=True):
        answer = ida_star(Problem.of(puzzle.rules, one), heuristic=found)
        assert answer.distance == distance
        assert len(answer.solutions[0]) == distance + 1
        for before, then in zip(answer.solutions[0], answer.solutions[0][1:], strict=False):
            assert then.tolist() in puzzle.rules.successors(before).tolist()
        assert puzzle.start_labels[0].tolist() == answer.solutions[0][-1].tolist()


def test_the_table_of_a_puzzle_is_a_pattern_of_it_in_another_metric(folder: Path) -> None:
    quarter = load_config("2x2x2-corner-quarter").puzzle
    found = heuristic(quarter, [store(folder, load_config("2x2x2-corner").settings)])
    for one in scrambled(quarter, 4, moves=9):
        problem = Problem.of(quarter.rules, one)
        assert ida_star(problem, heuristic=found).distance == bidirectional(problem).distance
    half, address = load_config("2x2x2-corner").puzzle, store(folder, load_config("2x2x2-corner-quarter").settings)
    with pytest.raises(
        InputError, match="no move of 2x2x2-corner-quarter corresponds to the move 'U2' of 2x2x2-corner"
    ):
        heuristic(half, [address])


def test_a_table_of_a_group_says_the_distance(folder: Path) -> None:
    puzzle = load_config("m12").puzzle
    assert numbering_of(puzzle.rules).KIND == "group"
    address = store(folder, load_config("m12").settings)
    found = heuristic(puzzle, [address])
    labels = scrambled(puzzle, 50)
    with open_table(address) as table:
        assert np.array_equal(found.estimates(labels), table.distances(labels))
    answer = ida_star(Problem.of(puzzle.rules, labels[0]), heuristic=found)
    assert answer.distance == answer.expanded == found.estimate(labels[0])


def test_symmetric_views_raise_the_bound(folder: Path) -> None:
    puzzle = load_config("pyraminx").puzzle
    found = heuristic(puzzle, stores(folder, "pyraminx", ["flips"]))
    assert len(found.views) > 1
    labels = scrambled(puzzle, 100)
    alone = replace(found, views=found.views[:1])
    assert (found.estimates(labels) >= alone.estimates(labels)).all()
    assert found.estimates(labels).mean() > alone.estimates(labels).mean()
    assert found.name == f"pyraminx-flips, greatest of {len(found.views)}"


def test_an_unreachable_position_is_known_to_be(folder: Path) -> None:
    text = "Set A 4 1\nStartState\nA\n0 1 2 3\nEnd\nMoveTransformation R\nA\n1 0 3 2\nEnd"
    text += "\nMoveTransformation S\nA\n2 3 0 1\nEnd"
    settings = {"name": "four", "family": "twisty", "format": "tws", "definition": text}
    puzzle = puzzle_from(settings)
    found = heuristic(puzzle, [store(folder, settings)])
    problem = Problem(puzzle.rules, np.array([1, 2, 3, 0], dtype=np.uint8), puzzle.start_labels)
    assert found.estimate(problem.position) == UNREACHABLE_COST
    answer = ida_star(problem, heuristic=found)
    assert (str(answer.outcome), answer.expanded) == ("unreachable", 0)


def test_where_pieces_are_equal_there_are_no_inverses(folder: Path) -> None:
    puzzle = puzzle_from(settings_of("pyraminx", "flips", PATTERNS["pyraminx"]["flips"]))
    assert Inverses.of(puzzle.rules, puzzle.start_labels[0]) is None
    found = heuristic(
        puzzle, [store(folder, settings_of("pyraminx", "equal", {"AXIALS": None, "EDGES": ("001111", 2)}))]
    )
    for one in scrambled(puzzle, 4):
        problem = Problem.of(puzzle.rules, one)
        assert ida_star(problem, heuristic=found).distance == bidirectional(problem).distance


@pytest.mark.parametrize("most_rows", [1, quotient.MAX_ROWS])
def test_tables_reduced_by_symmetries_say_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_rows: int
) -> None:
    """A table with too many rows is expanded; other tables are read as they are."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(quotient, "MAX_ROWS", most_rows)
    monkeypatch.setattr(pattern_values, "LEAST_CACHED", 1)
    monkeypatch.setattr(pattern_values, "LEAST_CACHED_ROWS", 1)
    puzzle = load_config("2x2x2").puzzle
    settings = settings_of("2x2x2", "reduced", {"CORNERS": ("01222222", 3)})
    whole, reduced = tmp_path / "whole.zarr", tmp_path / "reduced.zarr"
    for path, symmetry in ((whole, "off"), (reduced, "on")):
        run_puzzle(Config(settings), path, RunOptions(workers=1, symmetry=symmetry))
    assert TableStore(reduced).read().index_size < TableStore(whole).read().index_size
    labels = scrambled(puzzle, 300)
    expected = heuristic(puzzle, [whole])
    for _ in range(2):  # made, then from the cache
        found = heuristic(puzzle, [reduced])
        assert np.array_equal(found.estimates(labels), expected.estimates(labels))
        assert (found.values.tobytes() == expected.values.tobytes()) == (most_rows == 1)
        monkeypatch.setattr(pattern_values, "read_store", pytest.fail)
        monkeypatch.setattr(
            pattern_values, "quotient_of", lambda *_: None if most_rows == 1 else pytest.fail("not cached")
        )
    monkeypatch.setattr(pattern_heuristic, "MAX_EXPANDED", 100)
    if most_rows == 1:
        with pytest.raises(InputError, match=r'has 122,472 positions, more than the limit of 100; .* symmetry="off"'):
            heuristic(puzzle, [reduced])
    else:
        heuristic(puzzle, [reduced])


def test_tables_that_do_not_fit_are_refused(folder: Path, tmp_path: Path) -> None:
    puzzle = load_config("pyraminx").puzzle
    refused: dict[str, dict[str, Any]] = {
        "no move of m12 corresponds to the move 'U' of pyraminx": dict(load_config("m12").settings),
        "pyraminx-single has irreversible moves, so its distances to the start are not known": settings_of(
            "pyraminx", "single", {"AXIALS": None, "EDGES": ("012345", 2)}, turns="single"
        ),
    }
    for message, settings in refused.items():
        with pytest.raises(InputError, match=message):
            heuristic(puzzle, [store(folder, settings)])
    merged = settings_of("pyraminx", "flips", PATTERNS["pyraminx"]["flips"])
    with pytest.raises(InputError, match="pyraminx-edges distinguishes pieces that are identical in"):
        heuristic(puzzle_from(merged), stores(folder, "pyraminx", ["edges"]))
    with pytest.raises(
        InputError, match=r"sliding puzzle with one blank, or moves that are always legal; .* hanoi-3-pegs"
    ):
        load_patterns(load_config("hanoi-3-pegs").puzzle.rules, None, stores(folder, "pyraminx", ["edges"]))
    slides = {"name": "s", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0", "metric": "slides"}
    dial = "Set P 3 1\nSolved\nEnd\nMove A\nP\n2 3 1\nEnd\nIllegal P 3 1\n"
    barred = {"name": "b", "family": "twisty", "format": "tws", "definition": dial}
    for one, reason in ((slides, "take several tiles"), (barred, "are not always legal")):
        with pytest.raises(
            InputError, match=f"always legal; this does not hold for {one['name']}, whose moves {reason}$"
        ):
            load_patterns(puzzle_from(one).rules, None, stores(folder, "pyraminx", ["edges"]))
    goal = scrambled(puzzle, 1)[0]
    with pytest.raises(InputError, match="the goal of pyraminx does not correspond to the start of pyraminx-edges"):
        load_patterns(puzzle.rules, goal, stores(folder, "pyraminx", ["edges"]))
    begun = tmp_path / "begun.zarr"
    run_puzzle(Config(merged), begun, RunOptions(workers=1), interrupted=lambda: True)
    with pytest.raises(UnfinishedError, match=r"begun.zarr is unfinished; resume with: antipodes resume"):
        heuristic(puzzle, [begun])


def test_searches_with_reduced_tables_expand_the_same_positions(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(pattern_values, "LEAST_CACHED_ROWS", 1)
    puzzle = load_config("pyraminx").puzzle
    settings = settings_of("pyraminx", "edges", PATTERNS["pyraminx"]["edges"])
    plain = heuristic(puzzle, [store(folder, {**settings, "name": "whole"}, "off")])
    address = store(folder, {**settings, "name": "reduced"}, "on")
    labels = scrambled(puzzle, 30, moves=8)
    for _ in range(2):  # made, then from the cache
        reduced = heuristic(puzzle, [address])
        assert reduced.views[0].table.quotient is not None
        assert len(reduced.values) < len(plain.values) * 0.7
        assert np.array_equal(reduced.estimates(labels), plain.estimates(labels))
        for one in labels[:3]:
            problem = Problem.of(puzzle.rules, one)
            answer, expected = ida_star(problem, heuristic=reduced), ida_star(problem, heuristic=plain)
            assert (answer.distance, answer.expanded) == (expected.distance, expected.expanded)


def test_what_moves_do_guides_long_searches_in_the_same_way(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    puzzle = load_config("pyraminx").puzzle
    found = heuristic(puzzle, [store(folder, settings_of("pyraminx", "to-step", {"AXIALS": None}), "on")])
    problems = [Problem.of(puzzle.rules, one) for one in scrambled(puzzle, 2, moves=8)]
    before = [ida_star(problem, heuristic=found, every=True) for problem in problems]
    alone = [ida_star(problem, heuristic=found) for problem in problems]
    nothing = replace(found, room=100)
    nothing.prepare(2)
    assert nothing.steps is None
    monkeypatch.setattr(deepening, "PREPARE_AFTER_SECONDS", -1.0)
    for problem, every, one in zip(problems, before, alone, strict=True):
        answer = ida_star(problem, heuristic=found)
        assert found.steps is not None
        assert answer.distance == one.distance
        assert answer.solutions[0].tobytes() == one.solutions[0].tobytes()
        all_paths = ida_star(problem, heuristic=found, every=True)
        assert (all_paths.expanded, all_paths.generated) == (every.expanded, every.generated)
        with monkeypatch.context() as patch:
            patch.setattr(deepening, "SHARED_DESCENT_SECONDS", -1.0)
            shared = ida_star(problem, heuristic=found, threads=2)
            others = ida_star(problem, heuristic=found, every=True, threads=2)
        assert shared.solutions[0].tobytes() == one.solutions[0].tobytes()
        assert (others.expanded, others.generated) == (every.expanded, every.generated)
        assert others.solution_count == every.solution_count
        assert {path.tobytes() for path in others.solutions} == {path.tobytes() for path in every.solutions}


def test_a_puzzle_may_have_more_moves_than_words_have_bits(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(deepening, "PREPARE_AFTER_SECONDS", -1.0)

    def settings(name: str, rings: bool) -> dict[str, Any]:
        lines = ["Set A 3 2", *["Set B 5 1"] * rings, "StartState", "A", "0 1 2", "0 0 0"]
        lines += [*["B", "0 1 2 3 4"] * rings, "End"]
        for move, twists in (("R", "1 0 0"), ("S", "0 1 0"), ("T", "0 0 1")):
            lines += [f"MoveTransformation {move}", "A", "1 2 0", twists, *["B", "1 2 3 4 0"] * rings, "End"]
        return {"name": name, "family": "twisty", "format": "tws", "turns": "half", "definition": "\n".join(lines)}

    puzzle = puzzle_from(settings("rings", rings=True))
    found = heuristic(puzzle, [store(folder, settings("ring", rings=False), "on")])
    assert len(found.views[0].table.rules.moves) <= MAX_MOVES < len(puzzle.moves)
    assert found.views[0].table.quotient is not None
    for one in scrambled(puzzle, 3):
        problem = Problem.of(puzzle.rules, one)
        assert ida_star(problem, heuristic=found).distance == bidirectional(problem).distance
    assert found.steps is None


@pytest.fixture(scope="module")
def stepped(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> PermutationPatterns:
    """Pyraminx by a reduced table without its axials, with the words of long searches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        pattern = store(folder, settings_of("pyraminx", "to-step", {"AXIALS": None}), "on")
        found = heuristic(load_config("pyraminx").puzzle, [pattern])
    found.prepare(2)
    assert found.steps is not None
    return found


def kept_by_symmetries(found: PermutationPatterns, labels: Labels) -> Numbers:
    """How many symmetries keep each of some positions, ``(n,)``."""
    return np.sum([one is None or (one.image(labels) == labels).all(axis=1) for one in found.symmetries], axis=0)


@pytest.mark.slow
def test_symmetric_positions_are_as_far_where_symmetric_paths_are_left_out(
    folder: Path, stepped: PermutationPatterns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deepening, "SHARED_DESCENT_SECONDS", -1.0)  # each depth takes long
    random = np.random.default_rng(1)
    numbering = numbering_of(stepped.rules)
    with whole_table(folder, "pyraminx") as table:
        labels = numbering.unrank(random.choice(numbering.size, 40_000, replace=False))
        labels = labels[kept_by_symmetries(stepped, labels) > 1][:8]
        distances = table.distances(labels).tolist()
    assert len(set(distances)) > 2
    for number, (position, distance) in enumerate(zip(labels, distances, strict=True)):
        problem = Problem.of(stepped.rules, position)
        answer = ida_star(problem, heuristic=stepped, threads=1 + number % 2)
        assert answer.distance == distance == len(answer.solutions[0]) - 1
        for before, then in pairwise(answer.solutions[0]):
            assert then.tolist() in stepped.rules.successors(before).tolist()
        assert np.array_equal(answer.solutions[0][-1], stepped.goal)
    for threads, position in enumerate(labels[np.argsort(distances)[:2]], start=1):
        problem = Problem.of(stepped.rules, position)
        answer, expected = ida_star(problem, every=True, heuristic=stepped, threads=threads), bfs(problem, every=True)
        assert {path.tobytes() for path in answer.solutions} == {path.tobytes() for path in expected.solutions}


def test_central_positions_are_as_far_where_paths_begin_with_a_chosen_class(
    folder: Path, stepped: PermutationPatterns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deepening, "SHARED_DESCENT_SECONDS", -1.0)
    inverses, moves = Inverses.of(stepped.rules, stepped.goal), transforms_of(stepped.rules)
    assert inverses is not None
    axials, edges = stepped.rules.ranges[1], stepped.rules.ranges[-1]
    labels = np.repeat(stepped.goal[np.newaxis], 162, axis=0)  # twists of the axials, and all edges flipped or none
    labels[:, axials] = np.arange(162)[:, np.newaxis] // 3 ** np.arange(4) % 3
    labels[81:, edges] = 1
    assert all(inverses.commute(moves, one) for one in labels)
    assert not any(inverses.commute(moves, one) for one in scrambled(load_config("pyraminx").puzzle, 10))
    with whole_table(folder, "pyraminx") as table:
        distances = table.distances(labels).tolist()
    stages = list[int]()
    for number, (position, distance) in enumerate(list(zip(labels, distances, strict=True))[1::52]):
        answer = ida_star(Problem.of(stepped.rules, position), heuristic=stepped, threads=1 + number % 2)
        assert answer.distance == distance
        assert np.array_equal(answer.solutions[0][-1], stepped.goal)
        assert stepped.steps is not None
        stages.append(len(stepped._stages(position, distance, False)))
    assert min(stages) < max(stages)


def test_what_takes_long_before_a_search_can_be_ended(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading, computing a quotient and making words ask each time whether to go on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    puzzle = load_config("pyraminx").puzzle
    addresses = [store(folder, settings_of("pyraminx", "to-end", {"AXIALS": None}), "on")]

    def pulse_after(times: int) -> Callable[[], None]:
        left = iter(range(times))

        def pulse() -> None:
            if next(left, None) is None:
                raise TimeLimitReached

        return pulse

    with pytest.raises(TimeLimitReached):
        load_patterns(puzzle.rules, None, addresses, pulse_after(0))
    ended = 0
    while ended < 1000:  # at each place in turn, until there is none left
        try:
            found = load_patterns(puzzle.rules, None, addresses, pulse_after(ended))
            break
        except TimeLimitReached:
            ended += 1
    assert ended >= 2  # computing the quotient and reading the store call it at least once each
    assert isinstance(found, PermutationPatterns)
    with pytest.raises(TimeLimitReached):
        found.prepare(2, pulse_after(0))
    assert found.steps is None
    found.prepare(2)
    assert found.steps is not None
