"""Odd arguments to all of the API: each call succeeds, or raises an error of the project."""

import inspect
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import antipodes as api
from antipodes_tasks.base.errors import AntipodesError

EACH = 6
"""Odd values for each parameter, drawn from all of them."""
RING = {"name": "ring", "start": "ABC.", "moves": {"L": [1, 2, 3, 0], "X": "(0 1)"}}
DIAL = {"name": "dial", "radices": [3], "start": [0], "moves": {"up": lambda dials: (dials + 1) % 3}}
BOARD = '[board]\nname = "b"\ncells = "...."\n[board.pieces]\nD = { shape = "##", count = 2 }\n'
GOOD = {
    "labels": [0, 1, 2, 3],
    "position": "ABC.",
    "path": [[0, 1, 2, 3]],
    "sequence": "L",
    "text": "ABC.",
    "puzzle": "2x2x2",
}
"""Arguments that methods accept, by the names of their parameters; for others a number will do."""
CALLED = ("listener", "interrupted", "heuristic", "progress")
"""Parameters whose own errors come back to the caller."""


class Text(str):
    """A kind of text."""


class Number(int):
    """A kind of number."""


def odd_values() -> list[Any]:
    arrays = [np.array(1), np.array("x"), np.array([1.5]), np.zeros(0), np.zeros((2, 2, 2)), np.array([None])]
    masked, huge = np.ma.masked_array([1], [True]), np.array([2**64 - 1], dtype="u8")
    scalars = [np.int8(1), np.float32(1), np.bool_(True), np.str_("x"), np.datetime64("2020"), np.timedelta64(1)]
    numbers = [-1, 0, 3, 10**30, 2**63, 1.5, float("nan"), float("inf"), 2j, Decimal(1), Number(2)]
    texts = ["", "x", "\0", "\ud800", "9" * 5000, b"1", bytearray(b"x"), Text("x"), Path("x"), Path("\0")]
    lists = [[], [None], [[]], [[1], [2, 3]], ["x"], [1.5], [b"x"], [True], (), (1, 2), range(0), range(10**12)]
    tables = [{}, {"x": 1}, {1: 2}, {None: None}, {"x": None}, {"a": b"x"}, {"a": [0.5]}, set(), {1}, iter([1])]
    positions = [[0, 1, 2, 9], [-1, 0, 1, 2], np.full(4, np.nan), np.zeros((0, 4), int), np.array(5), range(10**9)]
    others = [None, True, False, object(), object, len, lambda: None, ..., NotImplemented, Exception("x")]
    return [*numbers, *texts, *lists, *tables, *positions, *others, *scalars, *arrays, masked, huge]


@pytest.fixture
def calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, tuple[Callable[..., Any], dict[str, Any]]]]:
    """All functions of the API and methods of its classes, with arguments that they accept."""
    monkeypatch.chdir(tmp_path)
    ring = api.define_puzzle(**RING)
    Path("b.toml").write_text(BOARD)
    api.run(ring, "table", workers=1)
    api.run(ring, "counts", workers=1, counts_only=True)
    api.tile("b.toml", "tilings", workers=1)
    calls: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "run": (api.run, {"puzzle": ring, "store": "table"}),
        "solve": (api.solve, {"puzzle": ring, "position": ".ABC"}),
        "pieces": (api.define_puzzle, RING),
        "fields": (api.define_puzzle, DIAL),
        "check_puzzle": (api.check_puzzle, {"puzzle": ring}),
        "load_config": (api.load_config, {"name_or_path": "eight-puzzle"}),
        "load_puzzle": (api.load_puzzle, {"name_or_path": "eight-puzzle"}),
        "load_board": (api.load_board, {"name_or_path": "6x10"}),
        "open_table": (api.open_table, {"address": "table"}),
        "open_counts": (api.open_counts, {"address": "counts"}),
        "open_tilings": (api.open_tilings, {"address": "tilings"}),
        "verify": (api.verify, {"address": "table"}),
        "verify_tilings": (api.verify_tilings, {"address": "tilings"}),
        "count_tilings": (api.count_tilings, {"board": api.load_board("b.toml")}),
        "tile": (api.tile, {"board": "b.toml", "store": "tilings"}),
        "components": (api.components, {"puzzle": ring}),
        "hardest_starts": (api.hardest_starts, {"puzzle": ring, "goal": "ABC."}),
        "graph": (api.graph, {"puzzle": ring}),
        "export": (api.export, {"address": "table", "folder": "results"}),
        "report": (api.report, {"address": "table", "output": "page.html"}),
        "load_patterns": (api.load_patterns, {"puzzle": ring}),
        "solve_many": (api.solve_many, {"puzzle": ring, "positions": ["ABC."]}),
        "symmetries": (api.symmetries, {"puzzle": ring}),
        "Config": (api.Config, {"settings": {"name": "x"}}),
        "BoardConfig": (api.BoardConfig, {"settings": {"name": "x"}}),
        "Transforms": (api.Transforms, {"names": ["a"], "origin": [[0]], "moduli": [3]}),
    }
    with api.open_table("table") as table, api.open_counts("counts") as counts, api.open_tilings("tilings") as tilings:
        group = api.symmetries(ring)
        answers = (table.dataset(2, 1), table.evaluate(lambda labels: np.zeros(len(labels), int)), tilings[0])
        described = (api.load_board("b.toml"), api.load_config("eight-puzzle"), group, group.elements()[0])
        stores = (table, counts, tilings, ring, api.define_puzzle(**DIAL))
        for one in (*stores, *answers, *described, api.graph(ring), api.solve(ring, ".ABC")):
            calls |= {f"{type(one).__name__} of {one!r:.60}: {name}": call for name, call in methods(one)}
        yield calls


def methods(one: Any) -> Iterator[tuple[str, tuple[Callable[..., Any], dict[str, Any]]]]:
    of_sequences = {"index", "count"} if isinstance(one, api.Tilings) else set()  # raise ValueError, as those of lists
    for name, method in inspect.getmembers(type(one), inspect.isfunction):
        if (name[0] == "_" and name not in ("__getitem__", "__contains__")) or name in {"close", *of_sequences}:
            continue
        required = [p.name for p in inspect.signature(method).parameters.values() if p.default is p.empty][1:]
        yield name, (getattr(one, name), {parameter: GOOD.get(parameter, 0) for parameter in required})


def called(function: Callable[..., Any], good: dict[str, Any], parameter: inspect.Parameter, value: Any) -> Any:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return function(value)
    given = {**good, parameter.name: value}
    return function(*given.values()) if parameter.kind is parameter.POSITIONAL_ONLY else function(**given)


@pytest.mark.slow
def test_odd_arguments_raise_errors_of_the_project(calls: dict[str, tuple[Callable[..., Any], dict[str, Any]]]) -> None:
    """The values are drawn with a fixed seed, so that the same calls are made each time."""
    rng, odd = random.Random(19), odd_values()
    foreign = []
    for name, (function, good) in calls.items():
        for parameter in inspect.signature(function).parameters.values():
            for value in rng.sample(odd, EACH):
                if parameter.name in CALLED and callable(value):
                    continue
                try:
                    result = called(function, good, parameter, value)
                    if isinstance(result, Iterator):
                        list(islice(result, 3))
                except AntipodesError:
                    pass
                except Exception as error:
                    foreign.append(f"{name}({parameter.name}={value!r:.40}): {type(error).__name__}: {error}")
    assert foreign == []


@pytest.fixture(scope="module")
def ring_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("ring") / "table"
    api.run(api.define_puzzle(**RING), store, workers=1)
    return store


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ring, _: api.hardest_starts(ring, None), "a goal as a string, found None"),
        (lambda ring, _: api.symmetries(ring, []), "positions of 4 places"),
        (lambda ring, _: api.symmetries(ring, -1), "a position of 4 places"),
        (lambda _, table: table.dataset(2, depths=np.array(5)), r"depths \(n,\)"),
        (lambda _, table: table.dataset(2, depths=range(10**9)), "at most 65,535 depths, found more"),
        (lambda *_: api.load_board("6x10").under(5), "conditions as a list of strings, found int 5"),
        (lambda *_: api.load_board("6x10").under("I covers 0"), "conditions as a list of strings, found 'I covers 0'"),
        (lambda ring, _: api.symmetries(ring).elements(None), "a number of symmetries as an integer, found None"),
        (lambda ring, _: api.symmetries(ring).classes(float("nan")), "a number of symmetries as an integer"),
        (lambda ring, _: api.symmetries(ring).images([]), "4 places"),
        (lambda ring, _: api.symmetries(ring).fixing([0, 1, 2, 2]), "expected"),
        (lambda ring, _: api.symmetries(ring).elements()[0].image([[0, 1, 2, 9]]), "expected"),
        (lambda ring, _: api.symmetries(ring).elements()[0].image(np.full((1, 4), 200, np.uint8)), "expected"),
        (lambda ring, _: api.solve(ring, "ABC.", method=np.zeros(0)), "a method as a string"),
        (lambda ring, _: api.solve_many(ring, ["ABC."], threads=10**30), "threads from 1 to 4096"),
    ],
)
def test_the_message_names_the_argument(call: Callable[..., Any], message: str, ring_store: Path) -> None:
    with api.open_table(ring_store) as table, pytest.raises(api.errors.InputError, match=message):
        call(table.puzzle, table)
