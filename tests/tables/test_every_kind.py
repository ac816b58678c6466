"""Every kind of puzzle through every feature, against a breadth-first search by the rules of the puzzle."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from every_kind import (
    FAST,
    FUNCTIONS,
    KINDS,
    NUMBERED,
    PUZZLES,
    SETTINGS,
    config_of,
    known_moves,
    known_positions,
    many_parts,
    options_of,
    slow_unless_in,
)
from programs import Command
from service_client import Client
from service_stores import client_of
from stores import LayersSeen, contents, flip_bit, stop_after, toml
from symmetry_classes import check_layers_up_to_symmetry

import antipodes as ap
from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config
from antipodes.solving.solve import solve, solve_by_table
from antipodes.system.events import Event, Restoring, SearchStarted
from antipodes.tables.counts import open_counts
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.chunks import UNREACHABLE
from antipodes.tables.store.manifest import MAX_ANTIPODES
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import Table, open_table
from antipodes.tables.verify import verify
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, StoreDamagedError, UnfinishedError, UnreachableError
from antipodes_tasks.searches.problem import Problem


@pytest.fixture(scope="module", autouse=True)
def _many_parts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        many_parts(patch)
        yield


@pytest.fixture(params=slow_unless_in(FAST, KINDS), scope="module")
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


@pytest.fixture
def table(config: Config, store: Path) -> Iterator[Table]:
    with open_table(store, puzzle=config) as opened:
        yield opened


@pytest.fixture
def layers(name: str) -> list[int]:
    """The number of positions at each depth, by brute force."""
    return list(map(len, known_positions(name)))


def test_every_position(name: str, table: Table) -> None:
    """Its distance, its index, and its depth in the lists of positions."""
    known = known_positions(name)
    assert (table.layers, table.radius, len(table)) == (list(map(len, known)), len(known) - 1, sum(map(len, known)))
    for depth, positions in enumerate(known):
        assert (table.distances(positions) == depth).all()
        indices = table.space.rank(positions)
        assert len(np.unique(indices)) == len(positions)
        assert np.array_equal(table.space.unrank(indices), positions)
        assert (table.distances_by_index(indices) == depth).all()
        expected = sorted(map(bytes, positions))
        assert sorted(map(bytes, table.positions_at(depth))) == expected
        assert sorted(map(bytes, np.concatenate([*table.batches_at(depth)]))) == expected
        assert sorted(map(bytes, table.sample(depth, len(positions), seed=1))) == expected
        assert len(table.positions_at(depth, 3)) == min(3, len(positions))
        assert bytes(table.random_position(depth, np.random.default_rng(depth))) in expected
    assert sorted(map(bytes, table.antipodes())) == sorted(map(bytes, known[-1]))
    others = np.setdiff1d(np.arange(table.index_size), table.space.rank(np.concatenate(known)))
    assert (table.distances_by_index(others) == UNREACHABLE).all()


def test_the_moves_of_every_position(name: str, table: Table) -> None:
    """How many lead farther, to the same depth and nearer, on average at each depth and in the whole table."""
    known, found = known_moves(name), table.branching()
    every, sizes = np.concatenate(known), list(map(len, known))
    assert (found.exact, found.complete, found.positions, found.counted) == (True, True, len(every), len(every))
    assert [(one.depth, one.positions, one.counted) for one in found.depths] == [
        (depth, size, size) for depth, size in enumerate(sizes)
    ]
    means = [[one.farther, one.same, one.nearer] for one in found.depths]
    assert np.allclose(means, [np.mean(one, axis=0) for one in known])
    assert np.allclose([one.moves for one in found.depths], [one.sum(axis=1).mean() for one in known])
    assert np.allclose([found.farther, found.same, found.nearer], every.mean(axis=0))
    assert found.moves == pytest.approx(every.sum(axis=1).mean())


def test_the_check_of_a_table(name: str, config: Config, store: Path, layers: list[int], tmp_path: Path) -> None:
    """A correct table passes; each of its chunks with one wrong bit is found, and not read."""
    verdict = verify(store, Threads(2), puzzle=config)
    assert verdict.ok, verdict.problems
    assert verdict.sampled_states
    manifest = TableStore(store).read()
    assert list(manifest.positions) == layers
    assert verdict.checked_states == manifest.numbered >= manifest.states
    shutil.copytree(store, tmp_path / "t.zarr")
    positions = np.concatenate(known_positions(name))
    arrays = ("layer_counts", "depth", "keys", "first_keys")
    chunks = [sorted((tmp_path / "t.zarr" / array / "c").rglob("0")) for array in arrays]
    damaged = [next(one for one in some if one.is_file()) for some in chunks if some]
    assert len(damaged) > 1
    for number, chunk in enumerate(damaged):
        content, key = chunk.read_bytes(), str(chunk.relative_to(tmp_path / "t.zarr"))
        flip_bit(chunk, 4711 * (number + 1))
        assert f"{key} is corrupt" in str(verify(tmp_path / "t.zarr", Threads(1), puzzle=config))
        if not key.startswith("layer_counts"):
            with pytest.raises(StoreDamagedError):
                read_everything(tmp_path / "t.zarr", config, positions)
        chunk.write_bytes(content)


def read_everything(store: Path, config: Config, positions: Labels) -> None:
    """Read the depths of all entries, and the keys of all positions if the table has keys."""
    with open_table(store, puzzle=config) as table:
        table.distances_by_index(np.arange(table.index_size))
        table.distances(positions)


def test_an_interrupted_run_is_resumed(name: str, config: Config, store: Path, tmp_path: Path) -> None:
    options, known = options_of(name, workers=2, checkpoint_every=0), known_positions(name)
    stopped = run_puzzle(config, tmp_path / "t.zarr", options, interrupted=stop_after(2))
    assert not stopped.complete
    with open_table(tmp_path / "t.zarr", puzzle=config) as table:
        assert table.layers == list(map(len, known[: stopped.radius + 1]))
        for depth, positions in enumerate(known[: stopped.radius + 1]):
            assert (table.distances(positions) == depth).all()
        if stopped.radius < len(known) - 1:
            with pytest.raises(UnfinishedError):
                table.distance(known[-1][0])
    verdict = verify(tmp_path / "t.zarr", Threads(1), puzzle=config)
    assert (verdict.problems, verdict.complete) == ((), False)
    events: list[Event] = []
    run_puzzle(config, tmp_path / "t.zarr", options_of(name, workers=1), events.append)
    assert [one.depth for one in events if isinstance(one, SearchStarted)] == [stopped.radius]
    if stopped.manifest.space == "keys":
        assert [one for one in events if isinstance(one, Restoring)][-1].done == sum(stopped.layers)
    assert contents(tmp_path / "t.zarr") == contents(store)


def test_layers_are_counted_without_a_table(name: str, config: Config, table: Table, tmp_path: Path) -> None:
    """With checkpoints, stopped and resumed; also up to symmetry if positions are numbered by their places."""
    unique = name in (*NUMBERED, "reduced functions")
    options = options_of(name, workers=2, checkpoint_every=0, counts_only=True, unique=unique)
    seen = LayersSeen(3)
    first = run_puzzle(config, tmp_path / "c.zarr", options, seen, seen.enough)
    report = run_puzzle(config, tmp_path / "c.zarr", replace(options, unique=False))
    assert (report.layers, report.complete) == (table.layers, True)
    assert first.complete or report.resumed_from == first.radius
    assert sorted(contents(tmp_path / "c.zarr")) == ["commit.json", "zarr.json"]
    with open_counts(tmp_path / "c.zarr", puzzle=config) as counts:
        assert counts.antipodes().tolist() == table.antipodes(MAX_ANTIPODES).tolist()
        assert (counts.layers, counts.radius, len(counts)) == (table.layers, table.radius, len(table))
        if unique:
            assert counts.unique_layers() == table.unique_layers()
    if not unique:
        with pytest.raises(InputError, match=r"its symmetries are unknown|are searched as keys; compute the table"):
            run_puzzle(config, tmp_path / "u.zarr", replace(options, unique=True))
        assert not (tmp_path / "u.zarr").exists()


def test_the_graph_has_every_move_and_is_a_component(name: str, config: Config) -> None:
    found, puzzle, known = ap.graph(config), config.puzzle, known_positions(name)
    nodes = [bytes(labels) for labels in found.labels]
    depths = {bytes(one): depth for depth, positions in enumerate(known) for one in positions}
    assert dict(zip(nodes, found.depths.tolist(), strict=True)) == depths
    expected = {(here, bytes(there)) for here in nodes for there in puzzle.successors(list(here))}
    edges = [(nodes[one], nodes[other]) for one, other in found.edges.tolist()]
    assert set(edges) == {(here, there) for here, there in expected if here != there}
    assert len(set(edges)) == len(edges)
    if name in FUNCTIONS:
        with pytest.raises(InputError, match="only accept positions that are reachable"):
            ap.components(config)
    elif name in {"bandaged", "keys of corners"}:
        with pytest.raises(InputError, match="pieces that cover several places"):
            ap.components(config)
    elif puzzle.moves.reversible and len(puzzle.starts) == 1:
        assert len(nodes) in {one.size for one in ap.components(config)}


def test_layers_up_to_symmetry(name: str, table: Table) -> None:
    if name in FUNCTIONS:
        with pytest.raises(InputError, match="its symmetries are unknown"):
            table.unique_layers()
        return
    depths = {tuple(one): depth for depth, some in enumerate(known_positions(name)) for one in some.tolist()}
    check_layers_up_to_symmetry(table, depths)


def test_the_moves_of_a_path_lead_along_it(table: Table) -> None:
    puzzle = table.puzzle
    for position in table.antipodes(3):
        path = table.path(position)
        assert table.distances(path).tolist() == list(range(table.radius, -1, -1))
        forth = path if puzzle.moves.reversible else path[::-1]
        names = puzzle.move_names(forth)
        assert names is not None
        assert np.array_equal(puzzle.follow(" ".join(names), forth[0]), forth)


def test_searches_agree_with_the_table(table: Table) -> None:
    if not table.puzzle.moves.reversible:
        return  # distances from the start are not those to it
    for depth in range(min(table.radius, 5) + 1):
        position = table.random_position(depth, np.random.default_rng(depth))
        problem = Problem.of(table.puzzle.rules, position)
        every = solve_by_table(problem, table, every=True)
        for method in ("bfs", "bidirectional", "iddfs"):
            found = solve(problem, method, every=True)
            assert (found.distance, found.solution_count) == (depth, every.solution_count), method


def test_a_table_of_one_way_moves_does_not_solve(store_of: Callable[[str], Path]) -> None:
    with open_table(store_of("one-way")) as table, pytest.raises(ValueError, match="needs reversible moves"):
        solve_by_table(Problem.of(table.puzzle.rules, table.antipodes(1)[0]), table)


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Client]:
    """Replaces the store of a service, which takes a quarter of a second to start, and returns a client."""
    served = tmp_path_factory.mktemp("served") / "x.zarr"
    client = cache(lambda: client_of(served))

    def replace_store(store: Path) -> Client:
        shutil.rmtree(served, ignore_errors=True)
        shutil.copytree(store, served)
        return client()

    return replace_store


COMMANDS_FAST = ("corners and equal edges", "one-way", "reduced goals")
COMMANDS_TRIED = (
    *COMMANDS_FAST,
    "cars",
    "several blanks",
    "keys of tiles",
    "hanoi",
    "free tiles",
    "group",
    "reduced twists",
)
"""Names of puzzles that differ in their notation, or in what commands have to refuse."""


@pytest.mark.parametrize("name", slow_unless_in(COMMANDS_FAST, COMMANDS_TRIED))
def test_commands(name: str, cli: Command, serve: Callable[[Path], Client], tmp_path: Path) -> None:
    config, known = Config({"name": "x", **SETTINGS[name]}), known_positions(name)
    run = {"symmetry": "on"} if name.startswith("reduced") else {}
    (tmp_path / "x.toml").write_text(toml(config.settings, run))
    report = json.loads(cli("run", "x.toml", "--json").out)
    assert (report["complete"], report["layers"]) == (True, list(map(len, known)))
    planned = json.loads(cli("plan", "x.toml", "--json").out)
    assert planned["index_size"] in (
        {None, report["index_size"]} if planned["space"] == "keys" else {report["index_size"]}
    )
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
    if planned["index_size"] is None:
        assert cli("rank", "x.toml", farthest[0]).status == 2
    else:
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

    check_results(cli, serve, config, report["layers"], farthest[0])


def check_dataset(cli: Command, puzzle: ap.Puzzle, layers: list[int]) -> None:
    """Check the rows that the command writes of the table of the puzzle ``x.toml``."""
    import pyarrow.parquet

    assert cli("export", "x", "data", "--parquet").status == 0
    rows = pyarrow.parquet.read_table("data/data").to_pydict()
    assert np.bincount(rows["distance"]).tolist() == layers
    assert len(set(rows["position"])) == sum(layers)
    for text, labels in list(zip(rows["position"], rows["labels"], strict=True))[::100]:
        assert text == puzzle.format(labels)
    with open_table(Path("outputs/x.zarr"), puzzle=puzzle) as table:
        assert np.array_equal(table.space.unrank(rows["index"]), rows["labels"])


def check_results(cli: Command, serve: Callable[[Path], Client], config: Config, layers: list[int], far: str) -> None:
    """Check what commands and the service make of the table of the puzzle ``x.toml``."""
    puzzle, radius = config.puzzle, len(layers) - 1
    assert cli("report", "x", "--output", "x.html").status == 0
    assert all(f">{count:,}<" in Path("x.html").read_text(encoding="utf-8") for count in layers)
    assert cli("export", "x", "results").status == 0
    results = json.loads(Path("results/results.json").read_text(encoding="utf-8"))
    assert (results["layers"], results["positions"], results["radius"]) == (layers, sum(layers), radius)
    assert far in results["antipodes"]["positions"]
    check_dataset(cli, puzzle, layers)
    client = serve(Path("outputs/x.zarr"))
    assert client.value("/stores/x/layers") == json.loads(cli("layers", "x", "--json").out)
    view = client.value("/stores/x/view", {"position": far})
    assert {one["position"] for one in view["successors"]} == {
        puzzle.format(one) for one in puzzle.successors(puzzle.parse(far))
    }
    path = client.value("/stores/x/path", {"position": far})
    assert (view["distance"], path["distance"], len(path["path"])) == (radius, radius, radius + 1)
    near = puzzle.format(puzzle.starts[0])
    if puzzle.moves.reversible:
        Path("some.txt").write_text(f"{far}\n{near}\n")
        solved = cli("solve", "x.toml", "--batch", "some.txt", "--output", "out.json", "--quiet")
        assert solved.status == 0, solved
        assert [one["distance"] for one in json.loads(Path("out.json").read_text())] == [radius, 0]


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
        assert table.distance(odd, None) is None
        assert table.distances(np.array([odd, table.puzzle.start_labels[0]])).tolist() == [UNREACHABLE, 0]
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
def test_odd_sequences(refused: Callable[..., str]) -> None:
    for number, odd in enumerate(("\udcff\udcfe", "a\x00b", "\x1b[31m", "9" * 5000, "-1", "(" * 50_000, "é")):
        message = refused(*(["query", "x"], ["solve", "x.toml"])[number % 2], "--moves", odd)
        assert "moves" in message
        assert "unexpected" not in message


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
