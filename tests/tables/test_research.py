"""Batches of successors, datasets and evaluations of heuristics, against breadth-first search in plain Python."""

import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import distances as search
from numpy.typing import NDArray

import antipodes as ap
from antipodes.puzzles.config import as_config
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.events import PositionsChecked
from antipodes.tables.evaluation import shared
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import UNREACHABLE, Table, open_table
from antipodes_tasks.base.errors import ClosedError, InputError, PositionError, StoreError, UnfinishedError

Labels = tuple[int, ...]
After = Callable[[Labels], Iterable[Labels]]
L, X = [1, 2, 3, 4, 0], [1, 0, 2, 3, 4]
A, B = [1, 2, 3, 4, 5, 6, 0], [0, 2, 1, 6, 4, 5, 3]


def slid(here: Labels, columns: int) -> Iterable[Labels]:
    """Positions of tiles after one slides into the empty square, which is 0."""
    blank = here.index(0)
    for other in range(len(here)):
        (a, b), (c, d) = divmod(blank, columns), divmod(other, columns)
        if abs(a - c) + abs(b - d) == 1:
            there = list(here)
            there[blank], there[other] = there[other], 0
            yield tuple(there)


def rearranged(here: Labels, *moves: list[int]) -> Iterable[Labels]:
    return (tuple(here[place] for place in move) for move in moves)


def turned(here: Labels) -> Iterable[Labels]:
    first, second = here
    return ((first + 1) % 5, second), (first, (second + 2) % 3)


def climbed(here: Labels) -> Iterable[Labels]:
    (height,) = here
    return ((after,) for after in (height + 7, height - 5) if 0 <= after < 100)


def inverse(move: list[int]) -> list[int]:
    return [move.index(place) for place in range(len(move))]


def climb(step: int, heights: Any) -> Any:
    after = heights + step
    return after, ((after >= 0) & (after < 100)).all(axis=1)


STAIRS = define_puzzle(
    name="stairs",
    radices=[100],
    start=[0],
    moves={"up": partial(climb, 7), "down": partial(climb, -5)},
    enumerated=True,
)
FIRST, SECOND = np.array([1, 0]), np.array([0, 2])
DIALS = define_puzzle(
    name="dials",
    radices=[5, 3],
    start=[0, 0],
    moves={
        "first": lambda dials: (dials + np.array([1, 0])) % (5, 3),
        "second": lambda dials: (dials + np.array([0, 2])) % (5, 3),
    },
)
TILES = {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0"}
RING = {"family": "generators", "start": "0 1 2 3 4", "moves": {"L": L, "X": X}, "turns": "quarter"}
FANO = {"family": "generators", "n": 7, "moves": {"A": A, "B": B}, "turns": "single"}
KINDS: dict[str, tuple[Puzzle, After]] = {
    "arrangements": (puzzle_from({"name": "tiles", **TILES}), partial(slid, columns=3)),
    "orbits": (puzzle_from({"name": "ring", **RING}), lambda here: rearranged(here, L, inverse(L), X)),
    "group": (puzzle_from({"name": "fano", **FANO}), lambda here: rearranged(here, A, B)),
    "fields": (DIALS, turned),
    "keys": (STAIRS, climbed),
}


@pytest.fixture(params=KINDS, scope="module")
def kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterable[tuple[Table, After]]:
    """A table whose space is of each kind, and the rules of its puzzle."""
    puzzle, after = KINDS[request.param]
    store = tmp_path_factory.mktemp("research") / "t.zarr"
    run_puzzle(as_config(puzzle), store, RunOptions(workers=1))
    with open_table(store, puzzle=puzzle) as table:
        assert request.param == table.space.unchecked.numbering.KIND
        yield table, after


def expected(table: Table, after: After) -> dict[Labels, int]:
    """The distance of each position, by search."""
    starts = [tuple(start) for start in table.puzzle.start_labels.tolist()]
    found: Any = search(starts, after)  # type: ignore[arg-type]
    return dict(found)


def test_successors_of_many_positions(kind: tuple[Table, After]) -> None:
    table, after = kind
    every = list(expected(table, after))
    found = table.puzzle.successors_many(every)
    moves = len(table.puzzle.moves)
    assert (found.positions.shape, found.legal.shape) == ((len(every), moves, table.puzzle.places), (len(every), moves))
    assert found.names == table.puzzle.moves.names
    for here, positions, legal in zip(every, found.positions, found.legal, strict=True):
        assert {tuple(one) for one in positions[legal].tolist()} == {*after(here)}
        assert (positions[~legal] == here).all(), "where a move is illegal nothing moves"
    distances = table.distances(found.positions)
    assert distances.shape == found.legal.shape
    assert distances[3, 0] == table[found.positions[3, 0]]
    texts = [table.puzzle.format(one) for one in every[:5]]
    assert (table.puzzle.successors_many(texts).positions == found.positions[:5]).all()
    assert table.distances(texts).tolist() == table.distances(every[:5]).tolist()
    assert table.puzzle.successors_many(np.empty((0, table.puzzle.places), dtype=np.uint8)).legal.shape == (0, moves)


def test_a_dataset_of_all_positions_has_each_once(kind: tuple[Table, After]) -> None:
    table, after = kind
    true = expected(table, after)
    for balanced in (False, True):
        positions, distances = table.dataset(len(true), seed=1, balanced=balanced)
        assert dict(zip(map(tuple, positions.tolist()), distances.tolist(), strict=True)) == true


def test_datasets(kind: tuple[Table, After]) -> None:
    table, after = kind
    true, n = expected(table, after), min(40, len(table) // 2)
    positions, distances = table.dataset(n, seed=5)
    assert (positions.shape, distances.shape) == ((n, table.puzzle.places), (n,))
    assert [true[tuple(one)] for one in positions.tolist()] == distances.tolist()
    assert len({tuple(one) for one in positions.tolist()}) == n
    assert (table.dataset(n, np.random.default_rng(5)).positions == positions).all(), "the same for the same seed"
    assert not np.array_equal(table.dataset(n, seed=6).positions, positions)
    depths = range(1, table.radius)
    quotas = shared(np.array([table.layers[depth] for depth in depths]), n)
    balanced = table.dataset(n, 5, depths=depths, balanced=True)
    assert np.bincount(balanced.distances, minlength=table.radius)[1:].tolist() == quotas.tolist()
    assert {*table.dataset(n, 5, depths=depths).distances.tolist()} <= {*depths}
    assert len(table.dataset(0, 5).distances) == 0


def test_quotas_are_as_equal_as_the_layers_allow() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        sizes = rng.integers(1, 20, size=rng.integers(1, 9))
        n = int(rng.integers(0, sizes.sum() + 1))
        quotas = shared(sizes, n)
        assert quotas.sum() == n
        assert (quotas <= sizes).all()
        least = quotas[quotas < sizes].min(initial=20)
        assert quotas.max(initial=0) <= least + 1, "no layer gives two more than one that could have given more"


@pytest.fixture(scope="module")
def table(finished: Path) -> Table:
    return open_table(finished)


def test_a_dataset_depends_on_the_seed_alone(finished: Path, unfinished: Path, table: Table) -> None:
    """Not on the cache, on other calls, nor on whether the depths are in arrays or still in the journal."""
    drawn = table.dataset(300, 9, depths=range(11))
    with open_table(finished, cache_bytes=0) as uncached, open_table(unfinished) as journal:
        for other in (uncached, journal):
            again = other.dataset(300, 9, depths=range(11))
            assert (again.positions == drawn.positions).all()
            assert (again.distances == drawn.distances).all()
        assert len(journal.dataset(len(journal), 1).positions) == sum(table.layers[:11])
        with pytest.raises(InputError, match="from 0 to 10"):
            journal.dataset(1, depths=[11])


def manhattan(positions: Any) -> Any:
    """The sum over the tiles of the eight-puzzle of rows and columns to their places, tile by tile."""
    total = np.zeros(len(positions), dtype=np.int64)
    for tile in range(1, 9):
        row, column = np.divmod((positions == tile).argmax(axis=1), 3)
        total += abs(row - (tile - 1) // 3) + abs(column - (tile - 1) % 3)
    return total


def assert_errors(result: ap.Evaluation, distances: NDArray[Any], estimates: NDArray[Any]) -> None:
    """Compare errors and spreads with those of numpy, from all positions at once."""
    reached = distances >= 0
    distances, estimates = distances[reached].astype(float), estimates[reached].astype(float)
    errors = distances - estimates
    assert result.mean_signed_error == pytest.approx(errors.mean())
    assert result.mean_absolute_error == pytest.approx(np.abs(errors).mean())
    assert result.root_mean_square_error == pytest.approx(np.sqrt((errors**2).mean()))
    for depth in range(len(result.count)):
        there = distances == depth
        values = (result.mean, result.spread, result.minimum, result.maximum, result.overestimate)
        if there.any():
            each, excess = estimates[there], estimates[there] - depth
            expected = (each.mean(), each.std(), each.min(), each.max(), excess.max())
            assert [value[depth] for value in values] == pytest.approx(expected, rel=1e-6, abs=1e-6)
            assert result.signed_error[depth] == pytest.approx(errors[there].mean(), rel=1e-6, abs=1e-6)
            assert result.absolute_error[depth] == pytest.approx(np.abs(errors[there]).mean())
        else:
            assert np.isnan([value[depth] for value in values]).all()


def test_errors_of_heuristics_that_are_too_high_large_or_drawn(table: Table) -> None:
    """Errors of both signs cancel in the signed error alone; a constant of 1e9 costs no digits of the spread."""
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 3, table.index_size)
    drawn = table.dataset(700, 11)
    for offset in (20.0, 1e9):
        estimates = table.depths[:].ravel() + noise + offset

        def heuristic(positions: NDArray[np.uint8], estimates: NDArray[Any] = estimates) -> NDArray[Any]:
            found: NDArray[Any] = estimates[table.space.rank(positions)]
            return found

        everywhere = table.space.unrank(np.arange(table.index_size))
        result = table.evaluate(heuristic)
        assert_errors(result, table.distances(everywhere), heuristic(everywhere))
        assert abs(result.mean_signed_error + offset) < 0.1
        assert result.mean_absolute_error > 2
        assert_errors(table.evaluate(heuristic, 700, 11), drawn.distances, heuristic(drawn.positions))


def test_infinite_estimates(table: Table) -> None:
    result = table.evaluate(lambda positions: np.where(positions[:, 0] == 0, np.inf, 0.0))
    assert result.mean_absolute_error == result.root_mean_square_error == np.inf
    assert set(result.spread.tolist()) == {0, np.inf}
    assert not result.admissible


@pytest.mark.slow
def test_a_plot_of_an_evaluation(table: Table, tmp_path: Path) -> None:
    result = table.evaluate("manhattan", n=1000, seed=1)
    figure = result.plot(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 1000
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("distance", "heuristic")
    assert "a sample of 1,000 positions: mean absolute error" in axes.get_title("left")
    assert result.plot().axes[0].lines[0].get_ydata() == pytest.approx(result.mean, nan_ok=True)
    with pytest.raises(InputError, match="expected a file name ending in"):
        result.plot(tmp_path / "plot.doc")
    with pytest.raises(StoreError, match="cannot write"):
        result.plot(tmp_path / "missing" / "plot.svg")


def test_manhattan_is_admissible(table: Table) -> None:
    positions = table.space.unrank(np.arange(table.index_size))
    distances, estimates = table.distances(positions), manhattan(positions)
    result = table.evaluate("manhattan", consistency=True)
    assert (result.admissible, result.counterexample, result.consistent, result.exhaustive) == (True, None, True, True)
    assert result.count.tolist() == table.layers
    assert result.mean_signed_error == pytest.approx(np.mean(distances - estimates))
    assert result.mean_heuristic == pytest.approx(np.mean(estimates))
    assert result.mean_distance == pytest.approx(np.mean(distances))
    assert_errors(result, distances, estimates)


def test_twice_manhattan_is_not(table: Table) -> None:
    result = table.evaluate(lambda positions: 2 * manhattan(positions), consistency=True)
    assert (result.admissible, result.consistent) == (False, False)
    assert result.counterexample is not None
    excess = 2 * manhattan(result.counterexample[np.newaxis])[0] - table[result.counterexample]
    assert excess == np.nanmax(result.overestimate) > 0
    assert "not admissible (up to 22 too much), not consistent" in repr(result)


def test_the_worst_positions_are_listed(table: Table) -> None:
    """Against numpy: the largest errors, the largest first, and the first positions of the table among equal ones."""
    positions = table.space.unrank(np.arange(table.index_size))
    distances, estimates = table.distances(positions), 2 * manhattan(positions)
    events = list[object]()
    result = table.evaluate(lambda positions: 2 * manhattan(positions), progress=events.append)
    reached = np.flatnonzero(distances >= 0)
    excess = (estimates - distances)[reached]
    for listed, errors in ((result.worst, np.abs(excess)), (result.counterexamples, excess)):
        order = reached[np.argsort(-errors, kind="stable")[:10]]
        for found, expected in zip(listed, (positions, distances, estimates), strict=True):
            assert found.tolist() == expected[order].tolist()
    assert events[-1] == PositionsChecked(len(table), len(table))
    assert not len(table.evaluate("manhattan").counterexamples.positions)


class Estimator:
    """A model as scikit-learn has them, which returns these numbers of each position."""

    def __init__(self, predict: Callable[[Any], Any]) -> None:
        self.predict = predict


def test_a_model_with_predict(table: Table) -> None:
    model = Estimator(lambda labels: manhattan(labels)[:, np.newaxis] - 0.5)
    result = table.evaluate(model)
    assert result.name == "Estimator"
    assert result.mean_heuristic == pytest.approx(table.evaluate("manhattan").mean_heuristic - 0.5)
    assert result.minimum[0] == -0.5
    one_hot = Estimator(lambda columns: columns.reshape(len(columns), 9, 9).argmax(axis=2)[:, 0])
    first = table.evaluate(lambda labels: labels[:, 0], encode="one-hot")
    assert table.evaluate(one_hot, encode="one-hot").mean.tolist() == pytest.approx(
        table.evaluate(lambda labels: labels[:, 0]).mean.tolist(), nan_ok=True
    )
    assert first.name == "<lambda>"


def test_the_page_of_an_evaluation(table: Table, tmp_path: Path) -> None:
    result = table.evaluate(lambda positions: 2 * manhattan(positions), n=1000, seed=3)
    page = ap.report(result, tmp_path / "page.html").read_text()
    assert "A sample of positions was compared" in page
    assert f"{result.mean_absolute_error:.3f}" in page
    assert page.count("<figure") == 21
    assert table.puzzle.format(result.worst.positions[0]) in page
    admissible = ap.report(table.evaluate("manhattan"), tmp_path / "page.html").read_text()
    assert "Not admissible" not in admissible
    with pytest.raises(InputError, match=r"ending in \.html"):
        ap.report(result, tmp_path / "page.txt")


def test_a_sample_is_enough_to_refute(table: Table) -> None:
    result = table.evaluate(lambda positions: 2 * manhattan(positions), n=1000, seed=3)
    assert (int(result.count.sum()), result.exhaustive, result.admissible) == (1000, False, False)
    assert (
        result.mean_signed_error
        == table.evaluate(lambda positions: 2 * manhattan(positions), 1000, 3).mean_signed_error
    )
    assert np.isnan(result.mean[result.count == 0]).all()


def test_linear_conflicts_and_the_table_itself(table: Table) -> None:
    conflict, perfect = table.evaluate("linear-conflict"), table.evaluate(table.distances, consistency=True)
    assert conflict.admissible
    assert table.evaluate("manhattan").mean_signed_error > conflict.mean_signed_error > perfect.mean_signed_error == 0
    assert perfect.consistent
    columns = perfect.to_dict()
    assert list(columns) == [
        *("depth", "count", "mean", "spread", "minimum", "maximum"),
        *("signed_error", "absolute_error", "overestimate"),
    ]
    assert columns["mean"].tolist() == columns["depth"].tolist()
    head, *lines = str(perfect).splitlines()
    assert head.split() == list(columns)
    assert lines[31].split() == ["31", "2", "31.000", "0.000", "31.000", "31.000", "0.000", "0.000", "0.000"]


def test_predictions_are_the_distances(table: Table, unfinished: Path) -> None:
    exchanged = np.array([[2, 1, 3, 4, 5, 6, 7, 8, 0]])
    positions, distances = table.dataset(100, seed=1)
    predicted = table.predict(np.concatenate((positions, exchanged)))
    assert (predicted.dtype, predicted.tolist()) == (np.float32, [*distances.tolist(), np.inf])
    for wrong in (exchanged[0], exchanged[:, 1:], exchanged.astype(float), exchanged + 1):
        with pytest.raises(PositionError, match="expected"):
            table.predict(wrong)
    with ap.open_table(unfinished) as begun, pytest.raises(UnfinishedError, match="is beyond depth"):
        begun.predict(table.antipodes())


def test_one_way_moves_have_no_named_heuristic(tmp_path: Path) -> None:
    puzzle = puzzle_from({"name": "one-way", "family": "jump", "start": "A--", "offsets": [[0, 1]]})
    run_puzzle(as_config(puzzle), tmp_path / "t.zarr", RunOptions(workers=1))
    with open_table(tmp_path / "t.zarr") as table:
        with pytest.raises(InputError, match="manhattan needs reversible moves"):
            table.evaluate("manhattan")
        assert table.evaluate(lambda positions: positions.argmax(axis=1), consistency=True).consistent


def test_puzzles_without_a_named_heuristic_say_so(kind: tuple[Table, After]) -> None:
    table, _ = kind
    if table.puzzle.name == "tiles":
        assert table.evaluate("linear-conflict").admissible
    else:
        with pytest.raises(
            InputError, match=f"^manhattan needs moves that take one piece.*{table.puzzle.name} has other moves$"
        ):
            table.evaluate("manhattan")


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda table: table.dataset(-1), "from 0 to 181440"),
        (lambda table: table.dataset(181441), "from 0 to 181440"),
        (lambda table: table.dataset(3, depths=[0, 1]).positions[0] is None, None),
        (lambda table: table.dataset(4, depths=[0, 1]), "from 0 to 3"),
        (lambda table: table.dataset(1.5), "integer"),
        (lambda table: table.dataset(1, "a"), "a seed"),
        (lambda table: table.dataset(1, depths=[]), "the list is empty"),
        (lambda table: table.dataset(1, depths=[32]), "from 0 to 31"),
        (lambda table: table.dataset(1, depths=5), "depths"),
        (lambda table: table.dataset(1, depths="12"), "depths"),
        (lambda table: table.dataset(1, balanced=1), "balanced"),
        (lambda table: table.dataset(1, depths=range(10**12)), "at most 65,535 depths"),
        (lambda table: table.dataset(1, depths=np.array(5)), r"depths \(n,\)"),
        (lambda table: table.evaluate(5), "a heuristic"),
        (lambda table: table.evaluate("euclid"), "manhattan, linear-conflict"),
        (lambda table: table.evaluate(lambda positions: 5), r"array \([0-9]+,\) of numbers; it returned \(\)"),
        (lambda table: table.evaluate(lambda positions: positions), "it returned"),
        (lambda table: table.evaluate(lambda positions: np.full(len(positions), np.nan), n=3), "NaN"),
        (lambda table: table.evaluate(lambda positions: ["a"] * len(positions), n=3), "it returned"),
        (lambda table: table.evaluate(lambda positions: [[1], [1, 2]], n=3), "cannot convert the list"),
        (lambda table: table.evaluate(lambda positions: positions[:, 0] - 1.0), "at least 0; it returned -1"),
        (lambda table: table.evaluate(lambda positions: positions[:, 0] > 1), "it returned .* of bool"),
        (lambda table: table.evaluate(lambda positions: 1 / 0), r"ZeroDivisionError \(test_research.py, line \d+\)"),
        (lambda table: table.evaluate(manhattan, n="all"), "integer"),
        (lambda table: table.evaluate(manhattan, consistency=1), "consistency"),
        (lambda table: table.evaluate(manhattan, encode="bits"), "encode of labels, one-hot; found 'bits'"),
        (lambda table: table.evaluate(Estimator(lambda x: x)), r"the heuristic Estimator must return an array"),
        (lambda table: table.evaluate(Estimator(lambda x: np.full(len(x), np.nan))), "numbers; it returned NaN"),
        (lambda table: table.puzzle.successors_many([["a"]]), "positions"),
        (lambda table: table.puzzle.successors_many("123456780"), "positions"),
        (lambda table: table.puzzle.successors_many(["1 2 3"]), "position '1 2 3'"),
        (lambda table: table.puzzle.successors_many(["123456780", 5]), "position"),
        (lambda table: table.distances(np.zeros((2, 2, 9), dtype=np.uint8)), "expected"),
        (lambda table: table.distances(np.zeros((2, 2, 0), dtype=np.uint8)), "9 places"),
    ],
)
def test_odd_arguments(ask: Callable[[Table], Any], match: str | None, table: Table) -> None:
    if match is None:
        assert ask(table) is False
        return
    with pytest.raises((InputError, PositionError), match=match):
        ask(table)


def test_what_has_no_distance(tmp_path: Path, finished: Path) -> None:
    asked = iter([True])
    puzzle = puzzle_from({"name": "tiles", **TILES})
    run_puzzle(as_config(puzzle), tmp_path / "t.zarr", RunOptions(workers=1), interrupted=lambda: next(asked, True))
    with open_table(tmp_path / "t.zarr") as nothing:
        if nothing.radius < 0:
            with pytest.raises(UnfinishedError):
                nothing.dataset(1)
    with open_table(finished) as closed:
        odd = closed.distances(["2 1 3 / 4 5 6 / 7 8 0"])
        assert odd.tolist() == [UNREACHABLE]
    with pytest.raises(ClosedError):
        closed.dataset(5)
    with pytest.raises(ClosedError):
        closed.evaluate("manhattan")


def test_a_dataset_as_a_data_frame(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = table.dataset(5, seed=1)
    frame = drawn.to_pandas()
    assert list(frame.columns) == [*(f"place_{place}" for place in range(9)), "distance"]
    assert frame.drop(columns="distance").to_numpy().tolist() == drawn.positions.tolist()
    assert frame.distance.tolist() == drawn.distances.tolist()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="to_pandas needs pandas"):
        drawn.to_pandas()


def test_progress_is_a_function(table: Table) -> None:
    with pytest.raises(InputError, match="progress: a function that can be called, found False"):
        table.evaluate("manhattan", progress=False)  # type: ignore[arg-type]
