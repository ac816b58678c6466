"""Tables of puzzles of every kind: several parts, values, conditions, one-way moves, equal pieces."""

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from brute_force import layers_of
from every_kind import PUZZLES, REDUCED, config_of, options_of
from programs import Command
from resume import resume
from stores import stop_after, toml

from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config
from antipodes.solving.solve import solve, solve_by_table
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.chunks import UNREACHABLE
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import open_table
from antipodes.tables.verify import verify
from antipodes_tasks.base.errors import UnreachableError
from antipodes_tasks.searches.problem import Problem


@pytest.fixture(params=PUZZLES, scope="module")
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def config(name: str) -> Config:
    return config_of(name)


@pytest.fixture(scope="module")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The finished table of a puzzle, made once; not to be changed."""

    @cache
    def make(name: str) -> Path:
        path = tmp_path_factory.mktemp("kinds") / "t.zarr"
        run_puzzle(config_of(name), path, options_of(name, workers=2))
        return path

    return make


@pytest.fixture
def store(name: str, store_of: Callable[[str], Path]) -> Path:
    return store_of(name)


def test_the_layers_of_brute_force(config: Config, store: Path) -> None:
    verdict = verify(store, Threads(2))
    assert verdict.ok, verdict.problems
    manifest = TableStore(store).read()
    assert list(manifest.positions) == layers_of(config.puzzle)
    assert manifest.states <= manifest.numbered


def test_an_interrupted_run_is_resumed(config: Config, name: str, store: Path, tmp_path: Path) -> None:
    options = options_of(name, workers=1, checkpoint_every=0)
    run_puzzle(config, tmp_path / "t.zarr", options, interrupted=stop_after(2))
    assert not TableStore(tmp_path / "t.zarr").read().complete
    assert verify(tmp_path / "t.zarr", Threads(1)).ok
    assert resume(tmp_path / "t.zarr", options).manifest == TableStore(store).read()


def test_distances_are_one_apart_along_moves(store: Path) -> None:
    with open_table(store) as table:
        for depth in range(table.radius + 1):
            position = table.random_position(depth, np.random.default_rng(depth))
            assert table.distance(table.puzzle.format(position)) == depth
            after = table.distances(table.puzzle.successors(position))
            assert (after >= 0).all()
            assert after.max() <= depth + 1


def test_the_moves_of_a_path_lead_along_it(store: Path) -> None:
    with open_table(store) as table:
        puzzle = table.puzzle
        for position in table.antipodes(3):
            path = table.path(position)
            assert len(path) == table.radius + 1
            forth = path if puzzle.moves.reversible else path[::-1]
            names = puzzle.move_names(forth)
            assert names is not None
            assert np.array_equal(puzzle.follow(" ".join(names), forth[0]), forth)


@pytest.mark.parametrize("method", ["bfs", "bidirectional", "iddfs"])
def test_searches_agree_with_the_table(method: str, store: Path) -> None:
    with open_table(store) as table:
        for depth in range(min(table.radius, 5) + 1):
            position = table.random_position(depth, np.random.default_rng(depth))
            if not table.puzzle.moves.reversible:
                continue  # distances from the start are not those to it
            problem = Problem.of(table.puzzle.rules, position)
            every = solve_by_table(problem, table, every=True)
            found = solve(problem, method, every=True)
            assert (found.distance, found.solution_count) == (depth, every.solution_count)


def test_a_table_of_one_way_moves_does_not_solve(store_of: Callable[[str], Path]) -> None:
    with open_table(store_of("one-way")) as table, pytest.raises(ValueError, match="needs reversible moves"):
        solve_by_table(Problem.of(table.puzzle.rules, table.antipodes(1)[0]), table)


@pytest.mark.parametrize("name", PUZZLES)
def test_commands(name: str, cli: Command, tmp_path: Path) -> None:
    config = Config({"name": "x", **PUZZLES[name]})
    run = {"symmetry": "on"} if name in REDUCED else {}
    (tmp_path / "x.toml").write_text(toml(config.settings, run))
    report = json.loads(cli("run", "x.toml", "--json").out)
    assert report["complete"]
    planned = json.loads(cli("plan", "x.toml", "--json").out)
    assert planned["index_size"] == report["index_size"]
    assert planned["reachable"] in (None, report["states"])
    farthest = json.loads(cli("farthest", "x", "--json", "--limit", 2).out)["positions"]
    (found,) = json.loads(cli("query", "x", farthest[0], "--path", "--json").out)
    assert (found["distance"], len(found["moves"])) == (report["radius"], report["radius"])
    puzzle = config.puzzle
    undone = puzzle.moves.reversible
    sequence = " ".join(found["moves"])
    first, last = (farthest[0], found["path"][-1]) if undone else (found["path"][-1], farthest[0])
    assert np.array_equal(puzzle.follow(sequence, puzzle.parse(first))[-1], puzzle.parse(last))
    (again,) = json.loads(cli("query", "x", *farthest[0].split(), "--json").out)
    assert again == {"position": farthest[0], "distance": report["radius"]}
    text = cli("query", "x", "--path", farthest[0]).out
    assert f"moves{'' if undone else ' from the start'}: {sequence}\n" in text
    ranked = json.loads(cli("rank", "x.toml", farthest[0], "--json").out)
    assert json.loads(cli("unrank", "x.toml", ranked["index"], "--json").out) == ranked
    assert cli("verify", "x").out.startswith("ok: ")
    assert f"{report['states']:,} of {report['index_size']:,}" in cli("status", "x").out
    assert cli("layers", "x").status == 0
    if undone:
        solved = json.loads(cli("solve", "x.toml", farthest[0], "--method", "table", "--json", "--quiet").out)
        assert (solved["method"], len(solved["moves"])) == ("table", report["radius"])
        every = json.loads(
            cli("solve", "x.toml", farthest[0], "--json", "--quiet", "--all", "--method", "bfs", "--list", 100).out
        )
        assert len(every["moves"]) == len(every["solutions"]) == min(100, every["solution_count"])
        assert solved["moves"] in every["moves"] or every["solution_count"] > 100
        for moves, path in zip(every["moves"], every["solutions"], strict=True):
            assert np.array_equal(puzzle.follow(" ".join(moves), puzzle.parse(path[0]))[-1], puzzle.parse(path[-1]))


@pytest.fixture
def corners(store_of: Callable[[str], Path], tmp_path: Path) -> None:
    """The puzzle ``x.toml``, and its table where commands look for it."""
    name = "corners and equal edges"
    (tmp_path / "x.toml").write_text(toml({"name": "x", **PUZZLES[name]}))
    shutil.copytree(store_of(name), tmp_path / "outputs" / "x.zarr")


@pytest.mark.usefixtures("corners")
def test_sequences_of_moves(cli: Command, refused: Callable[..., str]) -> None:
    (found,) = json.loads(cli("query", "x", "--moves", "U F' [U: F]", "--json").out)
    solved = json.loads(cli("solve", "x.toml", "--moves", "U F' [U: F]", "--json", "--quiet").out)
    assert found["distance"] == solved["distance"] == len(solved["moves"]) <= 5
    assert solved["solutions"][0][0] == found["position"]
    assert cli("query", "x", "--moves", "").out.endswith(": 0\n")
    text = cli("solve", "x.toml", "--moves", "U", "--quiet").out
    assert "moves: U'\n" in text
    assert "unknown move 'B' at character 3; the moves are U, U', F, F', x" in refused("query", "x", "--moves", "U B")
    assert "give one of positions, --moves, --depth and --pattern, not positions and --moves" in refused(
        "query", "x", "--moves", "U", found["position"]
    )
    assert "give one of positions" in refused("query", "x")
    every = refused("query", "x", "1", "--moves", "U", "--pattern", "?")
    assert "not positions and --moves and --pattern" in every
    assert "give either a position or --moves, not both" in refused(
        "solve", "x.toml", found["position"], "--moves", "U"
    )
    assert "unknown move 'X' at character 3; the moves are R, D, L, U" in refused(
        "solve", "eight-puzzle", "--moves", "D X"
    )


@pytest.mark.usefixtures("corners")
def test_a_rotation_may_lead_to_what_moves_do_not_reach(cli: Command) -> None:
    distances = []
    for text in ("x", "x2", "x U"):
        (found,) = json.loads(cli("query", "x", "--moves", text, "--json").out)
        distances.append(found["distance"])
    assert distances[1] == 0
    assert (distances[0] is None) == (distances[2] is None)


def test_positions_that_have_no_index(tmp_path: Path) -> None:
    """A group numbers what can be reached, and nothing else."""
    even = {"name": "even", "family": "generators", "n": 5, "moves": {"A": "(0 1 2)", "B": "(2 3 4)"}}
    run_puzzle(Config(even), tmp_path / "t.zarr")
    with open_table(tmp_path / "t.zarr") as table:
        assert (len(table), table.index_size) == (60, 60)
        odd = table.puzzle.parse("1 0 2 3 4")
        assert table.space.rank(odd[None]).tolist() == [-1]
        assert table.get_distance(odd) is None
        assert table.get_distances(np.array([odd, table.puzzle.start_labels[0]])) == [None, 0]
        assert table.distances(odd[None]).tolist() == [UNREACHABLE]
        with pytest.raises(UnreachableError, match="1 0 2 3 4 is unreachable"):
            table.path(odd)
        matches = table.match("? ? ? ? ?")
        assert (matches.count, matches.reached) == (120, 60)
        assert list(matches.by_distance.values()) == table.layers
        assert matches.nearest.tolist() == table.puzzle.start_labels.tolist()
        answer = solve_by_table(Problem.of(table.puzzle.rules, odd), table)
        assert answer.distance is None


def test_patterns_of_values(store_of: Callable[[str], Path]) -> None:
    with open_table(store_of("hanoi")) as table:
        assert list(table.match("? ? ? ?").by_distance.values()) == table.layers
        matches = table.match("[01] ? {2 0}")
        texts = {table.puzzle.format(one) for one in matches.nearest}
        assert matches.count == 2 * 4 * 2
        assert all(text.split()[0] in "01" and sorted(text.split()[2:]) == ["0", "2"] for text in texts)


@pytest.mark.usefixtures("corners")
@pytest.mark.parametrize(
    "odd", ["\udcff\udcfe", "a\x00b", "\x1b[31m", "9" * 5000, "-1", "x" * 100_000, "(" * 50_000, "é"]
)
def test_odd_sequences(odd: str, refused: Callable[..., str]) -> None:
    for arguments in (["query", "x"], ["solve", "x.toml"]):
        message = refused(*arguments, "--moves", odd)
        assert "moves" in message
        assert "unexpected" not in message


KLOTSKI = "BAAC/BAAC/DEEF/DGHF/I..J"
EXIT = "????/????/????/?AA?/?AA?"


@pytest.mark.parametrize(("puzzle", "moves"), [("klotski", 116), ("klotski-moves", 81)])
def test_the_large_block_of_klotski_leaves(cli: Command, puzzle: str, moves: int) -> None:
    """In 116 steps of one square, or 81 moves (M. Gardner, Scientific American, February 1964)."""
    solved = json.loads(cli("solve", puzzle, KLOTSKI, "--to", EXIT, "--json", "--quiet").out)
    assert solved["distance"] == len(solved["moves"]) == moves
    assert [row[1:3] for row in solved["solutions"][0][-1].split("/")[3:]] == ["AA", "AA"]
    to_the_end = json.loads(cli("solve", puzzle, "--moves", " ".join(solved["moves"]), "--to", EXIT, "--json").out)
    assert to_the_end["distance"] == 0


def test_klotski_has_a_table_as_any_puzzle_has(cli: Command, refused: Callable[..., str]) -> None:
    planned = json.loads(cli("plan", "klotski", "--json").out)
    assert (planned["index_size"], planned["reachable"], planned["space"]) == (25955, 25955, "keys")
    report = json.loads(cli("run", "klotski", "--quiet", "--json").out)
    assert (report["states"], report["index_size"]) == (25955, 25955)
    matches = json.loads(cli("query", "klotski", "--pattern", EXIT, "--json").out)
    assert matches["nearest"]["distance"] == 116
    assert matches["nearest"]["count"] == 2
    (found,) = json.loads(cli("query", "klotski", matches["nearest"]["positions"][0], "--path", "--json").out)
    assert (len(found["path"]), len(found["moves"])) == (117, 116)
    farthest = json.loads(cli("farthest", "klotski", "--json").out)
    assert (farthest["radius"], farthest["count"]) == (report["radius"], len(farthest["positions"]))
    rank = json.loads(cli("rank", "klotski", KLOTSKI, "--json").out)["index"]
    assert json.loads(cli("unrank", "klotski", str(rank), "--json").out)["position"] == KLOTSKI
    verdict = verify(Path("outputs/klotski.zarr"), Threads(2))
    assert (verdict.ok, verdict.checked_states) == (True, 25955)
    (apart,) = json.loads(cli("query", "klotski", "GHIJ/..BC/EEBC/DAAF/DAAF", "--json").out)
    assert apart["distance"] is None
    assert "expected 2 x '.', found 1" in refused("query", "klotski", KLOTSKI.replace(".", "K", 1))


@pytest.mark.parametrize(("goal", "layers"), [("B.A", None), (["B.A", "A.B", "BA."], [1, 2]), ("???", [3])])
def test_goals_that_the_start_cannot_reach_do_not_count(
    goal: str | list[str], layers: list[int] | None, cli: Command, refused: Callable[..., str]
) -> None:
    Path("p.toml").write_text(
        f'[puzzle]\nname = "p"\nfamily = "blocks"\ndistinct = true\nstart = "A.B"\ngoal = {json.dumps(goal)}\n'
    )
    if layers is None:
        assert "goal: the start can reach none of the goals" in refused("run", "p.toml")
        return
    report = json.loads(cli("run", "p.toml", "--quiet", "--json").out)
    assert (report["layers"], report["index_size"]) == (layers, 3)
    assert verify(Path("outputs/p.zarr"), Threads(1)).ok
    assert json.loads(cli("solve", "p.toml", "--moves", "A-right", "--to", "A.B", "--json").out)["distance"] == 1
    assert "3 positions searched by brute force" in cli("check", "p.toml").out


def test_cars_are_as_far_as_from_the_nearest_exit(cli: Command) -> None:
    start = "BBBCC./DDE.../AAEFG./.HHFG./I.JJGK/ILL..K"
    solved = json.loads(cli("solve", "rush-hour", start, "--json", "--quiet").out)
    assert solved["distance"] == 20
    assert solved["solutions"][0][-1].split("/")[2].endswith("AA")
