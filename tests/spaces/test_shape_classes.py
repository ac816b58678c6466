"""Classes of positions under free moves: distances and tables against dictionaries that use no code of ours."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bandaged import Bandaged, from_cycles, random_puzzle
from every_kind import many_parts
from stores import LayersSeen, contents

import antipodes as ap
from antipodes.puzzles.config import as_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle
from antipodes.tables.strategies.bit_strategy import BitStrategy
from antipodes.tables.strategies.disk_strategy import DiskStrategy
from antipodes.tables.strategies.strategy import Strategy
from antipodes_tasks.base.errors import FieldError, InputError
from antipodes_tasks.move_tables import Indices, MoveTables
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.class_graph import class_graph
from antipodes_tasks.spaces.class_symmetries import automorphisms
from antipodes_tasks.spaces.reduced_classes import ReducedClasses
from antipodes_tasks.spaces.selection import best_space, stored_space
from antipodes_tasks.spaces.shape_classes import ShapeClasses
from antipodes_tasks.spaces.space import Space


def _depths(space: Space) -> dict[int, int]:
    """Return the distance of each reached entry that a search with the move tables finds."""
    tables, depths = space.filler.filled(), dict[int, int]()
    frontier, depth = np.unique(space.rank(space.starts)), 0
    while len(frontier):
        frontier = _closed(frontier, tables)
        depths |= dict.fromkeys(frontier.tolist(), depth)
        frontier = np.unique(tables.successors(frontier).indices)
        frontier = frontier[[one not in depths for one in frontier.tolist()]]
        depth += 1
    return depths


def _closed(entries: Indices, tables: MoveTables) -> Indices:
    """Return some entries and all equivalent entries, which other symmetric classes of their rows have."""
    if tables.closing is None:
        return entries
    found, (rows, begins, maps) = [entries], tables.closing
    for row, first, end in zip(rows.tolist(), begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        columns = entries[entries // tables.column_maps.shape[1] == row] % tables.column_maps.shape[1]
        found.append(row * tables.column_maps.shape[1] + tables.column_maps[maps[first:end]][:, columns].ravel())
    return np.unique(np.concatenate(found))


def _compare_reduced(whole: Space, found: dict[int, int]) -> Space:
    """Compare a table up to symmetry with the distances of all classes, which are known to be right."""
    numbering = ReducedClasses(whole.rules)
    space, width = Space(whole.rules, numbering, numbering.cuts[0]), numbering.radices[-1]
    depths = _depths(space)
    every, classes = np.arange(space.size), np.arange(whole.size)
    assert (space.rank(space.unrank(every)) == every).all()
    assert [depths.get(entry) for entry in space.rank(whole.unrank(classes)).tolist()] == [
        found.get(one) for one in classes.tolist()
    ]
    of, positions = numbering.positions_of_entries(every)
    assert (np.bincount(of) == numbering.weights[every // width]).all()
    assert (np.sort(whole.rank(positions)) == classes).all()
    assert (space.rank(positions) == of).all()
    numbers = np.arange(len(of)) - np.searchsorted(of, of)
    assert (numbering.one_of(of, numbers) == positions).all()
    assert not len(space.successors(every).differing(space.filler.filled().successors(every)))
    return space


def _space(rules: Rules) -> Space:
    space = best_space(rules)
    assert isinstance(space.numbering, ShapeClasses)
    return space


def _compare(bandaged: Bandaged, free: list[str]) -> Space:
    """Compare every reachable position and class of a puzzle with those found with dictionaries."""
    rules = puzzle_from({**bandaged.settings, "free": free}).rules
    expected, space = bandaged.class_distances(free), _space(rules)
    numbers = {symbol: number for number, symbol in enumerate(rules.symbols)}
    labels = np.array([[numbers[symbol] for symbol in position] for position in expected], dtype=np.uint8)
    entries = space.rank(labels).tolist()
    found = _depths(space)
    assert [found[entry] for entry in entries] == [depth for depth, _ in expected.values()]
    by_entry = dict(zip(entries, expected.values(), strict=True))
    assert [by_entry[entry] for entry in entries] == list(expected.values())
    assert len(found) == len({first for _, first in expected.values()})  # one entry for each class
    _compare_reduced(space, found)
    one_of_each = space.unrank(np.array(sorted(found)))
    assert space.rank(one_of_each).tolist() == sorted(found)
    return space


ROTATING = from_cycles({"T": "(0 1 2 3 4 5)", "S": "(0 6)(1 7)(2 8)"}, 9)
PUZZLES: dict[str, tuple[Bandaged, list[str]]] = {
    "every rotation of a shape": (Bandaged(list("aAbBcC123"), ROTATING, [[0, 1], [2, 3], [4, 5]]), ["T"]),
    "identical pieces": (Bandaged(list("xyxyxy123"), ROTATING, [[0, 1], [2, 3], [4, 5]]), ["T"]),
    "identical pieces of one place": (Bandaged(list("aAbBcCxxy"), ROTATING, [[0, 1], [2, 3], [4, 5]]), ["T"]),
    "two free generators": (
        Bandaged(
            list("aA12bB34"), from_cycles({"T": "(0 1 2 3)", "B": "(4 5 6 7)", "S": "(0 4)(1 5)"}, 8), [[0, 1], [4, 5]]
        ),
        ["T", "B"],
    ),
    "free moves that are not always legal": (Bandaged(list("aAbBcC123"), ROTATING, [[0, 1], [2, 3], [4, 5]]), ["S"]),
    "free moves that generate everything": (
        Bandaged(list("aA123"), from_cycles({"T": "(0 2)(1 3)", "U": "(2 3)", "V": "(3 4)"}, 5), [[0, 1]]),
        ["T", "U"],
    ),
    "no larger pieces": (Bandaged(list("123456"), from_cycles({"T": "(0 1 2 3)", "S": "(2 3 4 5)"}, 6), []), ["T"]),
    "identical pieces, none larger": (
        Bandaged(list("112233"), from_cycles({"T": "(0 1 2 3)", "S": "(2 3 4 5)"}, 6), []),
        ["T"],
    ),
    "only the empty word": (
        Bandaged(list("aA123"), from_cycles({"T": "(2 3)", "U": "(0 1 2 3 4)"}, 5), [[0, 1]]),
        ["U"],
    ),
    "no legal move": (
        Bandaged(list("aA123"), from_cycles({"T": "(0 2)(1 3 4)", "S": "(0 2 3)"}, 5), [[0, 1], [2, 4]]),
        ["T"],
    ),
}


@pytest.mark.parametrize("name", PUZZLES)
def test_classes_and_distances_equal_those_found_with_dictionaries(name: str) -> None:
    _compare(*PUZZLES[name])


@pytest.mark.parametrize("seed", range(12))
def test_classes_of_random_puzzles(seed: int) -> None:
    bandaged, _ = random_puzzle(seed)
    metric = "half" if bandaged.turns == "single" else bandaged.turns
    _compare(bandaged._replace(turns=metric), ["A"])


def test_a_small_relative_of_square_1_in_the_twist_metric() -> None:
    settings = {"name": "small", "family": "square-1", "start": "A1B23C4D-"}
    whole, puzzle = puzzle_from(settings), puzzle_from({**settings, "metric": "twist"})
    space = _space(puzzle.rules)
    found = _depths(space)
    assert list(Counter(found.values()).values()) == [1, 16, 61, 96, 58, 8]
    seen = {bytes(whole.rules.start_labels[0])}
    for position in (waiting := list(seen)):
        for after in map(bytes, whole.moves.successors(np.frombuffer(position, dtype=np.uint8))):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    entries = space.rank(np.array([list(position) for position in seen], dtype=np.uint8))
    assert len(entries) == 8640
    assert Counter(entries.tolist()) == dict.fromkeys(found, 36)  # a class consists of 6 * 6 turns of a position


def _square_1(starts: Sequence[str]) -> Puzzle:
    return puzzle_from({"name": "relative", "family": "square-1", "metric": "twist", "start": list(starts)})


def _class_distances(puzzle: Puzzle) -> dict[bytes, int]:
    """Return the distance of every reachable position: turns are free, and a slash counts."""
    moves = puzzle.moves.elementary
    turns = [number for number, name in enumerate(moves.names) if name != "/"]
    slash, layer, found, depth = moves.names.index("/"), [*map(bytes, puzzle.rules.given_starts)], {}, 0
    while layer:
        labels = np.array([list(one) for one in layer], dtype=np.uint8)
        turned = np.unique(np.concatenate([labels, *(moves.move(turn, labels)[0] for turn in turns)]), axis=0)
        found |= dict.fromkeys(map(bytes, turned), depth)
        after, legal = moves.move(slash, turned)
        layer = [one for one in dict.fromkeys(map(bytes, after[legal])) if one not in found]
        depth += 1
    return found


RELATIVES: dict[str, tuple[list[str], int]] = {
    "the solved position": (["A1B23C4D-"], 32),
    "after a slash": (["A13CB24D/"], 8),
    "both": (["A1B23C4D-", "A13CB24D/"], 4),
    "both middles": (["A1B23C4D-", "A1B23C4D/"], 16),
    "identical pieces": (["A1A23B4C-"], 16),
    "a single shape with one row": (["A12B34-"], 8),
    "many edges": (["1A2B3CD4-"], 8),
}


@pytest.mark.parametrize("name", RELATIVES)
def test_relatives_of_square_1_up_to_symmetry(name: str) -> None:
    starts, order = RELATIVES[name]
    puzzle = _square_1(starts)
    expected, space = _class_distances(puzzle), _space(puzzle.rules)
    found = _depths(space)
    entries = space.rank(np.array([list(position) for position in expected], dtype=np.uint8))
    assert [found[entry] for entry in entries.tolist()] == list(expected.values())
    assert _compare_reduced(space, found).numbering.symmetries == order


def test_a_map_of_classes_that_changes_a_move_is_no_symmetry() -> None:
    """The exchange of the layers if the middle is flipped is one; a map that exchanges two slots of a class is not."""
    rules = _square_1(["A1B23C4D-"]).rules
    graph = class_graph(rules)
    assert graph is not None
    group = automorphisms(rules, graph)
    assert len(group) == 8
    for rearranged in (graph.moves[0].origins[0], graph.moves[0].origins[-1]):
        origins = graph.moves[0].origins.copy()
        origins[0] = np.roll(rearranged, 1)
        changed = replace(graph, moves=[graph.moves[0]._replace(origins=origins), *graph.moves[1:]])
        assert len(automorphisms(rules, changed)) < len(group)


def test_a_store_up_to_symmetry(tmp_path: Path) -> None:
    """Its layers, positions and paths are those of all classes, found with dictionaries."""
    puzzle = _square_1(["A1B23C4D-"])
    expected, whole = _class_distances(puzzle), _space(puzzle.rules)
    positions = np.array([list(position) for position in expected], dtype=np.uint8)
    depths = np.array([*expected.values()])
    report = ap.run(puzzle, store=tmp_path / "t.zarr", symmetry="on")
    assert report.layers == (np.bincount(depths) // 36).tolist()  # a class consists of 6 * 6 turns of a position
    assert not ap.verify(tmp_path / "t.zarr").problems
    with ap.open_table(tmp_path / "t.zarr") as table:
        assert isinstance(table.space.stored.numbering, ReducedClasses)
        assert table.distances(positions).tolist() == depths.tolist()
        for depth in range(table.radius + 1):
            classes = np.unique(whole.rank(positions[depths == depth])).tolist()
            assert sorted(whole.rank(table.positions_at(depth)).tolist()) == classes
            assert sorted(whole.rank(table.sample(depth, len(classes), seed=1)).tolist()) == classes
        some = positions[:: len(positions) // 50]
        for position, path in zip(some, table.paths(some), strict=True):
            assert path is not None
            assert table.distances(path).tolist() == [*range(expected[bytes(position)], -1, -1)]


def _run(folder: Path, strategy: Strategy, **more: Any) -> dict[str, bytes]:
    """Return the files of a table up to symmetry, whose run is interrupted after three layers, and then resumed."""
    config, options, seen = (
        as_config(_square_1(["A1B23C4D-"])),
        RunOptions(symmetry="on", workers=2, **more),
        LayersSeen(3),
    )
    with pytest.MonkeyPatch.context() as patch:
        many_parts(patch)
        patch.setattr("antipodes.tables.planning.plan.STRATEGIES", (strategy,))
        stopped = run_puzzle(config, folder / "t.zarr", options, seen, seen.enough)
        assert not stopped.complete
        assert not ap.verify(folder / "t.zarr").problems
        assert run_puzzle(config, folder / "t.zarr", options).layers == [1, 16, 61, 96, 58, 8]
    assert not ap.verify(folder / "t.zarr").problems
    return contents(folder / "t.zarr")


def test_a_table_on_disk_up_to_symmetry(tmp_path: Path) -> None:
    in_memory = _run(tmp_path / "memory", BitStrategy(bits=2), checkpoint_every=0)
    assert _run(tmp_path / "disk", DiskStrategy(), checkpoint_every=0) == in_memory


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("of", "shapes"),
        ("details", None),
        ("details", {}),
        ("positions", 1439),
        ("positions", "1440"),
        ("order", 64),
        ("order", -1),
        ("order", None),
        ("column_maps", 1),
        ("shapes", 1 << 70),
        ("classes", [4]),
        ("row", []),
        ("column", {"first": 0}),
    ],
)
def test_a_record_that_does_not_match_is_refused(field: str, value: Any) -> None:
    rules = _square_1(["A1B23C4D-"]).rules
    record = best_space(rules, "on").record
    assert isinstance(stored_space(rules, record).numbering, ReducedClasses)
    details = dict(record.details)
    if field in details["details"]:
        details["details"] = details["details"] | {field: value}
    else:
        details[field] = value
    with pytest.raises(FieldError, match=r"^\S.*$"):
        stored_space(rules, replace(record, details=details))
    with pytest.raises(FieldError, match=r"^\S.*$"):
        stored_space(rules, replace(record, rows=record.rows + 1))


def test_rows_do_not_depend_on_the_tables_that_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = _square_1(["A1B23C4D-"]).rules
    frame = ReducedClasses.of(rules).frame
    monkeypatch.setattr("antipodes_tasks.spaces.shape_classes.MAX_KEPT_RANKS", 0)
    other = replace(frame)  # without cached properties
    for one, same in zip(frame.rows, other.rows, strict=True):
        assert str(one) == str(same)
    assert (frame.rows.number == other.rows.number).all()
    assert (frame.rows.turn == other.rows.turn).all()
    assert frame.row_images >= len(frame.rows.turns.origins) * frame.row.size


@pytest.mark.parametrize(
    ("constant", "reason"),
    [
        ("class_symmetries.MAX_TURNED_MOVES", "symmetries are found for at most 1 moves, not"),
        ("class_symmetries.MAX_SYMMETRIES", "it has more than 1 symmetries"),
        ("reduced_classes.MAX_START_CLASSES", "symmetries are found for at most 1 starts, not 2"),
        ("reduced_classes.MAX_ROW_IMAGES", "comparing its rows with their images would take too long"),
    ],
)
def test_tables_that_would_take_too_long_are_not_reduced(
    constant: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"antipodes_tasks.spaces.{constant}", 1)
    monkeypatch.setattr("antipodes_tasks.spaces.reduced_classes._latest", [])
    rules = _square_1(["A1B23C4D-", "A13CB24D/"]).rules
    with pytest.raises(InputError, match=f"the table of relative cannot be reduced: {reason}"):
        best_space(rules, "on")


def test_without_symmetries_a_table_is_not_reduced() -> None:
    bandaged = random_puzzle(2)[0]._replace(turns="half")
    rules = puzzle_from({**bandaged.settings, "free": ["A"]}).rules
    with pytest.raises(InputError, match="cannot be reduced: the puzzle has no symmetries"):
        best_space(rules, "on")


@pytest.mark.slow
def test_the_classes_and_the_first_layers_of_square_1() -> None:
    space = _space(puzzle_from({"name": "square-1-twist", "family": "square-1", "metric": "twist"}).rules)
    assert space.size == 435_891_456_000
    seen = layer = np.unique(space.rank(space.starts))
    sizes = [len(layer)]
    for _ in range(3):
        layer = np.setdiff1d(space.successors(layer).indices, seen)
        seen = np.union1d(seen, layer)
        sizes.append(len(layer))
    assert sizes == [1, 64, 1153, 17050]  # published layers of Square-1 in the twist metric
