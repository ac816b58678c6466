"""Paths, best moves and compact successors of many positions, against single positions and the rules of the puzzle."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_kind import FAST, PUZZLES, SEARCHED, slow_unless_in
from stores import stop_after

import antipodes as ap
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes_tasks.base.errors import InputError, PositionError, StoreDamagedError, UnfinishedError
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.swaps import Swaps

DIAL = ap.define_puzzle(name="dial", radices=[7, 3], start=[0, 0], moves={
    "up": lambda dials: (dials + np.array([1, 0])) % (7, 3),
    "on": lambda dials: ((dials + np.array([0, 1])) % (7, 3), dials[:, 0] > 3),
})  # fmt: skip
"""A puzzle whose moves have no known inverses."""


@pytest.fixture(
    params=[*slow_unless_in(FAST, [name for name in PUZZLES if name in (*SEARCHED, "blocks")]), "unknown inverses"],
    scope="module",
)
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ap.Table:
    """A finished table of each kind of puzzle."""
    name, store = request.param, tmp_path_factory.mktemp("paths") / "t.zarr"
    reduced = "on" if name.startswith("reduced") else None
    puzzle: Any = DIAL if name == "unknown inverses" else ap.Config({"name": "puzzle", **PUZZLES[name]})
    ap.run(puzzle, store, workers=1, symmetry=reduced)
    return ap.open_table(store, puzzle=puzzle)


def some_positions(table: ap.Table, n: int = 300) -> np.ndarray[Any, Any]:
    return table.dataset(min(n, len(table)), seed=7).positions


def test_paths_are_those_of_single_positions(table: ap.Table) -> None:
    puzzle, positions = table.puzzle, some_positions(table)
    starts, distances = set(map(bytes, puzzle.start_labels)), table.distances(positions).tolist()
    paths = table.paths(positions)
    for position, distance, path in zip(positions, distances, paths, strict=True):
        assert path is not None
        assert path.shape == (distance + 1, puzzle.places)
        assert (path[0] == position).all()
        assert bytes(path[-1]) in starts
    for position, path in zip(positions[:30], paths, strict=False):
        assert np.array_equal(path, table.path(position))
    for path in paths[:20]:
        assert path is not None
        for after, before in pairwise(path):
            assert bytes(after) in set(map(bytes, puzzle.successors(before)))


def test_batches_have_no_influence(table: ap.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    positions = some_positions(table, 40)
    whole = table.paths(positions)
    for module in ("paths", "reached_positions"):
        monkeypatch.setattr(f"antipodes.tables.{module}.BATCH", 7)
    assert all(np.array_equal(*pair) for pair in zip(whole, table.paths(positions), strict=True))
    texts = [table.puzzle.format(position) for position in positions[:3]]
    assert all(np.array_equal(*pair) for pair in zip(whole, table.paths(texts), strict=False))
    assert table.paths([]) == []


def test_compact_successors_are_the_legal_ones(table: ap.Table) -> None:
    puzzle, positions = table.puzzle, some_positions(table)
    every, legal = puzzle.successors_many(positions), puzzle.successors_many(positions, compact=True)
    assert (legal.count, legal.names) == (len(positions), tuple(dict.fromkeys(legal.names)))
    assert (np.diff(legal.parents) >= 0).all()
    assert set(legal.names) == set(every.names)
    found = {(int(p), int(m), bytes(a)) for p, m, a in zip(legal.parents, legal.moves, legal.positions, strict=True)}
    number = {name: number for number, name in enumerate(legal.names)}
    expected = {
        (int(row), number[every.names[move]] if number else int(move), bytes(every.positions[row, move]))
        for row, move in zip(*np.nonzero(every.legal), strict=True)
    }
    assert found == expected
    assert len(found) == len(legal)
    listed = legal.by_position()
    assert [len(one) for one in listed] == np.bincount(legal.parents, minlength=len(positions)).tolist()
    none = puzzle.successors_many(positions[:0], compact=True)
    assert (len(none), none.by_position(), none.positions.shape) == (0, [], (0, puzzle.places))


def test_steps_of_swaps_are_those_of_any_moves(table: ap.Table) -> None:
    moves, positions = table.puzzle.moves, some_positions(table)
    if isinstance(moves, Swaps):
        for own, plain in ((moves.steps, Moves.steps), (moves.steps_back, Moves.steps_back)):
            for found, expected in zip(own(positions), plain(moves, positions), strict=True):
                assert np.array_equal(found, expected)


def test_a_board_whose_last_squares_touch_no_other() -> None:
    for settings in ({"walls": ["b1|b2", "a1|b1"], "start": "1 0 / 0 0"}, {"start": "1 0 / # 0", "walls": ["b1|b2"]}):
        board = {"name": "walled", "family": "sliding", "rows": 2, "columns": 2, **settings}
        puzzle = ap.Config(board).puzzle
        moves, start = puzzle.moves, puzzle.start_labels
        assert isinstance(moves, Swaps)
        for own, plain in ((moves.steps, Moves.steps), (moves.steps_back, Moves.steps_back)):
            for found, expected in zip(own(start), plain(moves, start), strict=True):
                assert np.array_equal(found, expected)


def test_best_moves_lead_nearer(table: ap.Table) -> None:
    puzzle, positions = table.puzzle, some_positions(table)
    if not puzzle.moves.reversible:
        with pytest.raises(InputError, match="has irreversible moves, so its best moves are unknown"):
            table.best_moves(positions)
        return
    best, distances = table.best_moves(positions), table.distances(positions)
    every = puzzle.successors_many(positions)
    nearer = every.legal & (table.distances(every.positions) == distances[:, np.newaxis] - 1)
    expected = {(int(row), bytes(every.positions[row, move])) for row, move in zip(*np.nonzero(nearer), strict=True)}
    found = {(int(row), bytes(after)) for row, after in zip(best.parents, best.positions, strict=True)}
    assert found == expected
    for names, distance in zip(best.by_position(), distances.tolist(), strict=True):
        assert bool(names) == (distance > 0)


def test_the_names_of_directions_have_one_order() -> None:
    """Whatever the size of the board, and whichever squares it lacks."""
    for rows, columns in ((3, 3), (2, 4), (4, 2)):
        tiles = " ".join(map(str, range(1, rows * columns)))
        settings = {"name": "b", "family": "sliding", "rows": rows, "columns": columns, "start": f"{tiles} 0"}
        puzzle = ap.Config(settings).puzzle
        legal = puzzle.successors_many(puzzle.start_labels, compact=True)
        assert legal.names == ("U", "D", "L", "R")
        assert legal.by_position() == [["D", "R"]]
    row = ap.Config({"name": "row", "family": "sliding", "rows": 1, "columns": 3, "start": "1 0 2"}).puzzle
    assert row.successors_many(["1 0 2"], compact=True).names == ("L", "R")


def test_a_graph_of_many_edges_takes_memory_for_legal_moves_only() -> None:
    edges = [[a, b] for a in range(200) for b in range(200) if a != b]
    pairs = Swaps(edges)
    labels = np.tile(np.minimum(np.arange(200), 250).astype(np.uint8), (2000, 1))
    parents, numbers, positions = pairs.steps(labels)
    assert (len(parents), positions.shape) == (2000 * 199, (2000 * 199, 200))
    assert set(np.array(edges)[numbers][:, 1].tolist()) == {0}


def test_unreachable_positions(finished: Path) -> None:
    with ap.open_table(finished) as table:
        texts = ["2 1 3 4 5 6 7 8 0", "1 2 3 4 5 6 7 0 8", "1 2 3 4 5 6 7 8 0", "2 1 3 4 5 6 7 0 8"]
        lengths = [None if path is None else len(path) for path in table.paths(texts)]
        assert lengths == [None, 2, 1, None]
        assert table.best_moves(texts).by_position() == [[], ["L"], [], []]
        assert table.paths(texts[:1]) == [None]
        for ask in (table.paths, table.best_moves):
            with pytest.raises(PositionError):
                ask(["1 2 3"])
            with pytest.raises(PositionError):
                ask(np.full((1, 9), np.nan))


def test_several_starts(tmp_path: Path) -> None:
    starts = ["1 2 3 4 5 0", "0 1 2 3 4 5"]
    settings = {"name": "two", "family": "sliding", "rows": 2, "columns": 3, "start": starts}
    with ap.open_table(ap.run(ap.Config(settings), tmp_path / "t.zarr", workers=1).store) as table:
        positions = some_positions(table, 100)
        ends = {bytes(path[-1]) for path in table.paths(positions) if path is not None}
        assert ends == set(map(bytes, table.puzzle.start_labels))
        assert table.best_moves(starts).by_position() == [[], []]


def test_an_unfinished_table(tmp_path: Path) -> None:
    run_puzzle(ap.load_config("eight-puzzle"), tmp_path / "t.zarr", RunOptions(workers=1, checkpoint_every=0),
               interrupted=stop_after(12))  # fmt: skip
    with ap.open_table(tmp_path / "t.zarr") as table:
        known = table.positions_at(table.radius, 30)
        assert {len(path) for path in table.paths(known) if path is not None} == {table.radius + 1}
        assert (np.bincount(table.best_moves(known).parents) > 0).all()
        for ask in (table.paths, table.best_moves):
            with pytest.raises(UnfinishedError, match="8 6 7 2 5 4 3 0 1 is beyond depth"):
                ask([*map(table.puzzle.format, known[:2]), "8 6 7 2 5 4 3 0 1"])


def test_a_table_that_contradicts_the_moves(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ap.open_table(eight) as table:
        read = type(table._chunks).distances

        def wrong(self: Any, indices: Any) -> Any:
            found = read(self, indices)
            return np.where(found == 5, 6, found)

        position = table.positions_at(8, 3)
        monkeypatch.setattr(type(table._chunks), "distances", wrong)
        with pytest.raises(StoreDamagedError, match="but it has no predecessor at depth 5"):
            table.paths(position)
