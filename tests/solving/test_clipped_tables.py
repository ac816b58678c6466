"""Tables with two bits per entry, which merge short distances, and searches that use them far from the goal."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from search_problems import scrambled

from antipodes.puzzles.abstraction import Abstraction, pattern_settings
from antipodes.puzzles.config import Config, load_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving import pattern_heuristic, pattern_values, table_cache
from antipodes.solving.pattern_values import space_of
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import open_table
from antipodes_tasks.searches import deepening
from antipodes_tasks.searches.answer import Answer
from antipodes_tasks.searches.bundles import bundle_rows, bundles_of
from antipodes_tasks.searches.deepening import ida_star
from antipodes_tasks.searches.depth_first import DEPTH, FOUND
from antipodes_tasks.searches.digits import split
from antipodes_tasks.searches.dual_lookups import DualViews
from antipodes_tasks.searches.packed import BYTES, HALVES, Encoding
from antipodes_tasks.searches.permutation_pdb import PermutationPatterns
from antipodes_tasks.searches.problem import Problem, Request
from antipodes_tasks.searches.shares import WHOLE
from antipodes_tasks.searches.staged_search import Beginning, StagedSearch
from antipodes_tasks.searches.symmetric_starts import Stage, bits_of, whole_tree


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 1000])
@pytest.mark.parametrize("encoding", [BYTES, HALVES, Encoding(2, 1), Encoding(2, 9)])
def test_values_are_decoded_as_they_were_encoded_or_clipped(encoding: Encoding, count: int) -> None:
    largest = 13 if encoding != BYTES else 254
    distances = np.random.default_rng(count).integers(0, largest, size=count, endpoint=True).astype(np.uint8)
    values = encoding.encode(distances)
    assert len(values) == encoding.size(count)
    found = encoding.decode(values, np.arange(count))
    if not encoding.clipped:
        assert np.array_equal(found, distances)
        return
    base = encoding.base
    assert np.array_equal(found, np.where(distances <= base, 0, np.minimum(distances, base + 3)))


def test_unreachable_entries_have_the_largest_value() -> None:
    unreached = np.array([255, 3, 255], dtype=np.uint8)
    for encoding in (BYTES, HALVES):
        assert encoding.decode(encoding.encode(unreached), np.arange(3)).tolist() == [encoding.mask, 3, encoding.mask]


@pytest.fixture(scope="module")
def puzzle() -> Puzzle:
    """The corners of the 3x3x3."""
    return Config(pattern_settings(load_config("3x3x3").puzzle, Abstraction(omit=["EDGES"]))).puzzle


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The table of the twists, and that of the twists and layers, both reduced by symmetries."""
    cube, folder = load_config("3x3x3").puzzle, tmp_path_factory.mktemp("clipped")
    found = list[Path]()
    for equal in (["CORNERS:1,2,3,4,5,6,7,8"], ["CORNERS:1,2,3,4", "CORNERS:5,6,7,8"]):
        found.append(folder / f"{len(equal)}.zarr")
        pattern = Config(pattern_settings(cube, Abstraction(omit=["EDGES"], equal=equal)))
        run_puzzle(pattern, found[-1], RunOptions(symmetry="on"))
    return found


@pytest.fixture(scope="module")
def exact(puzzle: Puzzle, tables: list[Path]) -> PermutationPatterns:
    """The heuristic of both tables with exact distances."""
    found = pattern_heuristic.load_patterns(puzzle.rules, None, tables)
    assert isinstance(found, PermutationPatterns)
    return found


@pytest.fixture(scope="module")
def clipped(puzzle: Puzzle, tables: list[Path]) -> PermutationPatterns:
    """The heuristic of both tables, with bundles of the larger one, which come from the cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tables[0].parent))
        patch.setattr(table_cache, "LEAST_CACHED", 1)
        patch.setattr(pattern_heuristic, "MAX_EXACT_ENTRIES", TableStore(tables[0]).read().index_size + 1)
        made = pattern_heuristic.load_patterns(puzzle.rules, None, tables)
        patch.setattr(pattern_values, "bundles_of", pytest.fail)
        found = pattern_heuristic.load_patterns(puzzle.rules, None, tables)
    assert isinstance(made, PermutationPatterns)
    assert isinstance(found, PermutationPatterns)
    assert made.bundles is not None
    assert found.bundles is not None
    assert all(np.array_equal(*both) for both in zip(made.bundles, found.bundles, strict=True))
    assert [view.table.bundles is not None for view in found.views] == [False] * found.exact + [True] * 3
    return found


@pytest.fixture(
    scope="module", params=[pytest.param(False, id="plain", marks=pytest.mark.slow), pytest.param(True, id="dual")]
)
def with_or_without_dual(clipped: PermutationPatterns, request: pytest.FixtureRequest) -> PermutationPatterns:
    """The clipped heuristic, and a copy that has no dual look-ups."""
    if request.param:
        assert clipped.dual is not None
        return clipped
    without = replace(clipped)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DualViews, "of", lambda *_: None)
        assert without.dual is None  # cached from now on
    return without


@pytest.mark.parametrize(
    ("omitted", "equal"),
    [
        ("EDGES", ["CORNERS:1,2,3,4,5,6,7,8"]),  # a single column
        ("CORNERS", ["EDGES:1,2,3,4,5,6,7,8,9,10,11,12"]),
        pytest.param(  # turns leave some rows unchanged
            "CORNERS", ["EDGES:1,2,3,4,9,10,11,12", "EDGES:5,6,7,8"], marks=pytest.mark.slow
        ),
    ],
)
def test_every_entry_is_in_a_word(omitted: str, equal: list[str], tmp_path: Path) -> None:
    pattern = Config(pattern_settings(load_config("3x3x3").puzzle, Abstraction(omit=[omitted], equal=equal)))
    run_puzzle(pattern, tmp_path / "table.zarr", RunOptions(symmetry="on"))
    table, manifest = open_table(tmp_path / "table.zarr"), TableStore(tmp_path / "table.zarr").read()
    space = space_of(TableStore(tmp_path / "table.zarr"), manifest)
    rows, stored = bundle_rows(space), np.empty(manifest.index_size, dtype=np.uint8)
    assert rows is not None
    table_cache.read_store(TableStore(tmp_path / "table.zarr"), manifest, BYTES, table_cache.writer(stored))
    every = np.arange(rows.numbering.size)
    distances = table.distances(rows.numbering.unrank(every))
    for base in (1, 3):
        bundles = bundles_of(space, rows, base, partial(Encoding(2, base).encode, stored), threads=2)
        assert bundles is not None
        assert np.array_equal(bundles.read(every), np.where(distances <= base, 0, np.minimum(distances, base + 3)))


def test_clipped_bounds_are_those_of_the_table(
    clipped: PermutationPatterns, tables: list[Path], puzzle: Puzzle
) -> None:
    labels = np.concatenate([scrambled(puzzle, 50, moves) for moves in range(9)])
    table, view = open_table(tables[1]), clipped.views[clipped.exact]
    assert view.table.bundles is not None
    distances, base = table.distances(view.table.abstraction.image(labels)), view.table.bundles.base
    assert 1 < base < table.radius - 2
    expected = np.where(distances <= base, 0, np.minimum(distances, base + 3))
    of_view = [np.array_equal(own, expected) for own in clipped.look_up(labels)[clipped.exact :]]
    assert any(of_view)
    assert (clipped.look_up(labels)[clipped.exact :].max(axis=0) >= expected).all()


def test_the_digits_of_an_inverse_follow_from_maps(clipped: PermutationPatterns, puzzle: Puzzle) -> None:
    dual, inverses = clipped.dual, clipped.inverses
    assert dual is not None
    assert inverses is not None
    goal = dual.tables.first + dual.tables.goal
    for root in scrambled(puzzle, 20, 20):
        maps, inverse = dual.maps_of(root), inverses.image(root)[np.newaxis]
        for view, own in zip(clipped.views[clipped.exact :], maps, strict=True):
            assert own[goal].tolist() == split(int(view.entries(inverse)[0]), view.table.digits)


def test_turns_of_two_opposite_faces_keep_the_goal_in_a_view(clipped: PermutationPatterns, puzzle: Puzzle) -> None:
    assert clipped.dual is not None
    kept, names = clipped.dual.tables.keeping, puzzle.rules.moves.names
    of_views = [
        "".join(name[0] for name, own in zip(names, kept, strict=True) if own >> u & 1)
        for u in np.arange(3, dtype=np.uint64)
    ]
    assert {"".join(sorted(own)) for own in of_views} == {"DDDUUU", "BBBFFF", "LLLRRR"}


@pytest.mark.slow
def test_bounds_of_inverses_during_a_search(clipped: PermutationPatterns, puzzle: Puzzle, tables: list[Path]) -> None:
    dual, inverses, bundles, table = clipped.dual, clipped.inverses, clipped.bundles, open_table(tables[1])
    assert dual is not None
    assert inverses is not None
    assert bundles is not None
    depth, root = bundles.base + 7, scrambled(puzzle, 1, 20)[0]
    arrays = puzzle.rules, clipped.views, clipped.arrays, clipped.values, bundles
    request = Request(every=True, max_depth=None, listed=1, memory_limit=1 << 30)
    search = StagedSearch.with_bundles(*arrays, (dual.tables, dual.maps_of(root)), root, depth, request)
    checked, looked_up, stage = 0, 0, whole_tree(clipped.follower_bits[True])
    beginning = Beginning.of(stage, root, puzzle.rules, clipped.views, clipped.values)
    advance = search.chain_stages([beginning], clipped.goal, clipped.effects, True, WHOLE)
    assert search.by_bundles is not None
    path, blocks = search.path, search.by_bundles[3]
    assert blocks is not None
    for _ in range(25):
        advance(1)
        level = int(path.tally[DEPTH])
        if depth - level <= bundles.base:
            continue
        for k in range(int(path.size[level])):
            moves, at = list[int](), k
            for above in range(level, 0, -1):
                moves.append(int(path.move[above, at]))
                at = int(path.parent[above, at])
            labels = root[np.newaxis]
            for move in reversed(moves):
                labels = puzzle.rules.moves.move(move, labels)[0]
            inverse = inverses.image(labels[0])[np.newaxis]
            for u, view in enumerate(clipped.views[clipped.exact :]):
                image = inverse if view.symmetry is None else view.symmetry.image(inverse)
                distance = int(table.distances(view.table.abstraction.image(image))[0])
                bound = int(blocks.bounds[level, k, u])
                assert bound <= distance
                if int(blocks.looked_up[level, k]) >> u & 1:
                    assert bound == min(distance, bundles.base + 3) or max(bound, distance) <= bundles.base
                    looked_up += 1
                checked += 1
    assert 30 < looked_up < checked


def test_a_second_stage_forgets_the_bounds_of_the_first(
    clipped: PermutationPatterns, exact: PermutationPatterns, puzzle: Puzzle
) -> None:
    """The first stage searches only first moves that begin no shortest path, the second one all pairs of moves."""
    dual, bundles, follow = clipped.dual, clipped.bundles, clipped.follower_bits[False]
    assert dual is not None
    assert bundles is not None
    root = np.array([0, 3, 5, 6, 1, 2, 7, 4, 1, 0, 0, 0, 2, 2, 0, 1], dtype=np.uint8)
    answer = ida_star(Problem.of(puzzle.rules, root), heuristic=exact, every=True)
    assert answer.distance == 8
    second, others = np.array([path[1] for path in answer.solutions]), follow.copy()
    for move in range(len(puzzle.rules.moves)):
        if (puzzle.rules.moves.move(move, root[np.newaxis])[0] == second).all(axis=1).any():
            others[-1] &= ~np.uint32(1 << move)
    pairs = [[one, two] for one in bits_of(int(follow[-1])) for two in bits_of(int(follow[one]))]
    stages = Stage(np.empty((1, 0), dtype=np.int64), others), Stage(np.array(pairs), follow)
    arrays = puzzle.rules, clipped.views, clipped.arrays, clipped.values, bundles
    request = Request(every=False, max_depth=None, listed=1, memory_limit=1 << 30)
    search = StagedSearch.with_bundles(*arrays, (dual.tables, dual.maps_of(root)), root, 8, request)
    beginnings = [Beginning.of(stage, root, puzzle.rules, clipped.views, clipped.values) for stage in stages]
    advance = search.chain_stages(beginnings, clipped.goal, clipped.effects, False, WHOLE)
    while not advance(1 << 20):
        pass
    assert search.path.tally[FOUND] == 1


@pytest.fixture(scope="module", params=[False, True], ids=["one", "every"])
def every(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def answers(exact: PermutationPatterns, puzzle: Puzzle, every: bool) -> list[tuple[Problem, Answer]]:
    """Problems of several distances, and their shortest paths by exact distances."""
    labels = np.concatenate([scrambled(puzzle, 2, moves) for moves in (0, 2, 4, 7, 9, 30)])
    problems = [Problem.of(puzzle.rules, one) for one in labels]
    return [(problem, ida_star(problem, heuristic=exact, every=every)) for problem in problems]


@pytest.mark.parametrize("threads", [1, 2])
def test_searches_find_shortest_paths(
    with_or_without_dual: PermutationPatterns,
    answers: list[tuple[Problem, Answer]],
    every: bool,
    threads: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deepening, "SHARED_DESCENT_SECONDS", 0.0)
    for problem, expected in answers if threads == 1 else answers[::3]:
        answer = ida_star(problem, heuristic=with_or_without_dual, every=every, threads=threads)
        assert answer.distance == expected.distance
        assert answer.solution_count == expected.solution_count
        for path in answer.solutions:
            assert np.array_equal(path[0], problem.position)
            assert len(path) == expected.distance + 1
        if every:
            assert {path.tobytes() for path in answer.solutions} == {path.tobytes() for path in expected.solutions}
