"""What the service says of positions, against the tables themselves and brute force."""

import json
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from key_puzzles import as_config, one_way
from puzzle_settings import TOWERS
from service_client import Client, fits
from service_stores import TABLES, UNFINISHED, client_of, config_of, every_text, shortest_paths, unreachable_text

from antipodes.drawing.picture import Disc, Line, Picture, Polygon, Rectangle, Region, Text
from antipodes.puzzles.config import load_config
from antipodes.service import positions
from antipodes.service.counted_paths import shortest_paths as paths_of
from antipodes.service.encoded_answers import PICTURE, drawn
from antipodes.service.pattern_matches import PicturedMatches
from antipodes.service.positions import Distance, Positions, Successor, View
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import Table, open_table
from antipodes_tasks.base.errors import UnreachableError

names = st.sampled_from(list(TABLES))
numbers = st.integers(0, 2**31)


def picture_json(picture: Picture) -> Any:
    """A picture as an answer has it."""
    return json.loads(drawn(picture).text)


def some_text(table: Table, number: int) -> str:
    """One of the positions that the table has an entry for, reached or not."""
    return table.puzzle.format(table.space.unrank([number % table.index_size])[0])


@given(name=names, number=numbers)
def test_a_view_is_what_the_table_says(client: Client, tables: dict[str, Table], name: str, number: int) -> None:
    table = tables[name]
    text = some_text(table, number)
    view = client.value(f"/stores/{name}/view", {"position": text})
    assert fits(view, View)
    position = table.puzzle.parse(text)
    here = table.distance(text, None)
    assert (view["position"], view["distance"], view["reached"]) == (text, here, True)
    assert table.space.unrank([view["index"]])[0].tolist() == position.tolist()
    assert view["picture"] == picture_json(table.puzzle.picture(position))
    after = {table.puzzle.format(one) for one in table.puzzle.successors(position)}
    assert {one["position"] for one in view["successors"]} == after
    for one in [*view["successors"], *view.get("predecessors", [])]:
        check_neighbour(table, position, here, one)
    if table.puzzle.moves.reversible:
        assert "predecessors" not in view
    else:
        before = {table.puzzle.format(one) for one in table.puzzle.predecessors(position)}
        assert {one["position"] for one in view["predecessors"]} == before
    nearer = view.get("predecessors", view["successors"])
    assert view["shortest_moves"] == sum(one["change"] == -1 for one in nearer) * bool(here)
    assert bool(view["shortest_moves"]) == bool(here)


def check_neighbour(table: Table, position: Any, here: int | None, one: dict[str, Any]) -> None:
    labels = table.puzzle.parse(one["position"])
    distance = table.distance(labels, None)
    assert one["distance"] == distance
    assert one["change"] == (None if distance is None or here is None else distance - here)
    assert table.space.unrank([one["index"]])[0].tolist() == labels.tolist()
    assert one["picture"] == picture_json(table.puzzle.followed(position, labels).picture(labels))
    if one.get("move") is not None:
        assert table.puzzle.move_names(np.array([position, labels])) is not None
        assert one["move"] in table.puzzle.moves.names


@given(name=names, number=numbers)
def test_a_position_by_its_text_its_index_and_its_moves(
    client: Client, tables: dict[str, Table], name: str, number: int
) -> None:
    table = tables[name]
    text = some_text(table, number)
    path = f"/stores/{name}/view"
    view = client.value(path, {"position": text})
    assert client.value(path, {"index": view["index"]}) == view
    start = client.value(path)
    assert start["position"] == table.puzzle.format(table.puzzle.rules.first)
    assert start["distance"] == table.distance(table.puzzle.rules.first)
    for one in start["successors"]:
        if one["move"] is not None:
            assert client.value(path, {"moves": one["move"]})["position"] == one["position"]
    for one in view["successors"]:
        if one["move"] is not None:
            for begin in ({"position": text}, {"index": view["index"]}):
                found = client.value(path, {**begin, "moves": one["move"]})
                assert fits(found, View)
                step = {"position": one["position"], "move": one["move"], "distance": one["distance"]}
                assert (found["index"], found["steps"]) == (one["index"], [step])


@given(name=names, number=numbers)
def test_successors_and_the_distance_are_those_of_the_view(
    client: Client, tables: dict[str, Table], name: str, number: int
) -> None:
    text = some_text(tables[name], number)
    view = client.value(f"/stores/{name}/view", {"position": text})
    successors = client.value(f"/stores/{name}/successors", {"position": text})
    assert fits(successors, list[Successor])
    keys = ("position", "move", "distance", "change")
    assert successors == [{key: one[key] for key in keys} for one in view["successors"]]
    distance = client.value(f"/stores/{name}/distance", {"position": text})
    assert distance == {"position": text, "distance": view["distance"]}


@given(name=names, number=numbers)
def test_a_path_is_a_shortest_one(client: Client, tables: dict[str, Table], name: str, number: int) -> None:
    table = tables[name]
    text = some_text(table, number)
    found = client.value(f"/stores/{name}/path", {"position": text})
    assert fits(found, positions.Path)
    try:
        distance = table.distance(text)
    except UnreachableError:
        assert (found["distance"], found["path"], found["count"]) == (None, None, "0")
        return
    assert found["path"][0] == text
    assert [table.distance(one) for one in found["path"]] == list(range(distance, -1, -1))
    assert len(found["moves"]) == distance
    assert len(found["pictures"]) == distance + 1
    backwards = table.puzzle.moves.reversible
    labels = table.puzzle.parse_many(found["path"])
    steps = labels if backwards else labels[::-1]
    assert None not in table.puzzle.moves.moves_on_path(steps)
    if table.puzzle.moves.names:
        assert found["moves"] == table.puzzle.move_names(steps)


@pytest.mark.parametrize("name", TABLES)
def test_the_number_of_shortest_paths(client: Client, tables: dict[str, Table], name: str) -> None:
    expected = shortest_paths(tables[name])
    some = dict(list(expected.items())[:: max(1, len(expected) // 4)])
    for text, number in some.items():
        assert client.value(f"/stores/{name}/path", {"position": text})["count"] == str(number)


def test_paths_are_not_counted_beyond_a_bound(
    client: Client, tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    farthest = every_text(tables["fields"])[-1]
    monkeypatch.setattr("antipodes.service.counted_paths.MAX_POSITIONS", 3)
    found = client.value("/stores/fields/path", {"position": farthest})
    assert found["count"] is None
    assert len(found["path"]) == found["distance"] + 1


@pytest.mark.parametrize("name", TABLES)
def test_an_unreachable_position(client: Client, tables: dict[str, Table], name: str) -> None:
    text = unreachable_text(tables[name])
    if text is None:
        assert len(tables[name]) == tables[name].index_size
        return
    found = client.value(f"/stores/{name}/distance", {"position": text})
    assert (found["distance"], found.get("obstacle")) == (None, tables[name].obstacle(text))
    assert client.post(f"/stores/{name}/distances", {"positions": [text]}).json == [found]
    view = client.value(f"/stores/{name}/view", {"position": text})
    assert (view["distance"], view["reached"], view["shortest_moves"]) == (None, True, 0)
    assert view.get("obstacle") == found.get("obstacle")
    assert {one["change"] for one in view["successors"]} <= {None}


def test_an_unfinished_table_says_how_far_it_is(client: Client) -> None:
    pancakes = config_of("unfinished", UNFINISHED).puzzle
    radius = client.value("/stores/unfinished")["committed_depth"]
    missing = {"distance": None, "reached": False, "depth": radius}
    edge = client.value("/stores/unfinished/positions", {"depth": radius, "limit": 1})["positions"][0]
    beyond = [
        one
        for one in client.value("/stores/unfinished/view", {"position": edge})["successors"]
        if one["distance"] is None
    ]
    assert beyond
    assert {one["change"] for one in beyond} == {None}
    text = beyond[0]["position"]
    assert client.value("/stores/unfinished/distance", {"position": text}) == {"position": text, **missing}
    path = client.value("/stores/unfinished/path", {"position": text})
    assert {key: path[key] for key in missing} == missing
    view = client.value("/stores/unfinished/view", {"position": text})
    assert {key: view[key] for key in missing} == missing
    assert len(view["successors"]) == len(pancakes.successors(pancakes.parse(text)))
    assert "unfinished" in client.refused("/stores/unfinished/antipodes")


@given(name=names, some=st.lists(numbers, max_size=20))
def test_many_distances_at_once(client: Client, tables: dict[str, Table], name: str, some: list[int]) -> None:
    table = tables[name]
    texts = [some_text(table, number) for number in some]
    answer = client.post(f"/stores/{name}/distances", {"positions": texts})
    assert answer.status == 200
    assert fits(answer.json, list[Distance])
    assert answer.json == [{"position": text, "distance": table.distance(text, None)} for text in texts]


def test_one_text_among_many_is_no_position(client: Client) -> None:
    answer = client.post("/stores/fields/distances", {"positions": ["0 0 0 0", "0 0 0"]})
    assert (answer.status, answer.error) == (400, "positions[1]: position '0 0 0': expected 4 symbols, found 3")


@given(name=names, depth=st.integers(0, 40), first=st.integers(0, 9), limit=st.integers(1, 9))
def test_positions_at_a_depth(
    client: Client, tables: dict[str, Table], name: str, depth: int, first: int, limit: int
) -> None:
    table, query = tables[name], {"depth": depth, "first": first, "limit": limit}
    if depth > table.radius:
        assert f"from 0 to {table.radius}" in client.refused(f"/stores/{name}/positions", query)
        return
    found = client.value(f"/stores/{name}/positions", query)
    assert fits(found, Positions)
    every = [table.puzzle.format(one) for one in table.positions_at(depth)]
    assert found["positions"] == every[first : first + limit]
    assert (found["count"], len(found["pictures"])) == (len(every), len(found["positions"]))


@given(name=names, seed=numbers)
def test_random_positions(client: Client, tables: dict[str, Table], name: str, seed: int) -> None:
    table = tables[name]
    depth = seed % (table.radius + 1)
    found = client.value(f"/stores/{name}/random", {"depth": depth, "seed": seed})
    assert found["distance"] == depth == table.distance(found["position"])
    assert found == client.value(f"/stores/{name}/random", {"depth": depth, "seed": seed})
    anywhere = client.value(f"/stores/{name}/random")
    assert anywhere["distance"] == table.distance(anywhere["position"])


def test_a_pattern(client: Client, tables: dict[str, Table]) -> None:
    found = client.value("/stores/arrangement/pattern", {"pattern": "[12] ? ? / ? ? ?"})
    assert fits(found, PicturedMatches)
    table = tables["arrangement"]
    matches = table.match("[12] ? ? / ? ? ?")
    assert (found["count"], found["reached"]) == (matches.count, matches.reached)
    assert found["by_distance"] == {str(depth): count for depth, count in matches.by_distance.items()}
    for side in ("nearest", "farthest"):
        texts = [table.puzzle.format(one) for one in getattr(matches, side)]
        assert (found[side]["positions"], found[side]["count"]) == (texts, len(texts))
        assert len(found[side]["pictures"]) == len(texts)
    assert "found 'Z'" in client.refused("/stores/arrangement/pattern", {"pattern": "Z ? ? / ? ? ?"})


def test_a_pattern_of_too_many_positions(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.service.pattern_matches.MAX_MATCHES", 10)
    error = client.refused("/stores/arrangement/pattern", {"pattern": "??? / ???"}, 413)
    assert "more than 10 positions match this pattern" in error


def test_only_some_of_many_nearest_positions_are_drawn(
    client: Client, tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antipodes.service.pattern_matches.MAX_SHOWN", 2)
    farthest = tables["starts"].match("??? / ???").farthest
    found = client.value("/stores/starts/pattern", {"pattern": "??? / ???"})["farthest"]
    assert found["count"] == len(farthest)
    assert len(found["positions"]) == len(found["pictures"]) == min(2, len(farthest))


def test_moves_without_inverses(client: Client, tables: dict[str, Table]) -> None:
    """The path of a pawn that never goes back: each position is one move before the one that it follows."""
    table = tables["pawns"]
    text = every_text(table)[-1]
    found = client.value("/stores/pawns/path", {"position": text})
    labels = table.puzzle.parse_many(found["path"][::-1])
    for before, after in pairwise(labels):
        assert after.tolist() in table.puzzle.successors(before).tolist()


def test_a_picture_is_its_shapes() -> None:
    shapes = (
        Rectangle(0, 1.5, 2, 3, "#ffffff", rounded=1),
        Disc(1, 2, 3, "none", "#000000"),
        Line(0, 0, 1, 1),
        Text(1, 2, '"<', 9),
        Region(0, 0, ((0, 1), (2, 3)), 4, "#123456"),
        Polygon(1, 2, ((0, 0), (3, 0.5), (0, 4)), "#123456", "#000000"),
    )
    found = picture_json(Picture(10, 20.5, shapes))
    assert fits(found, PICTURE)
    assert (found["width"], found["height"]) == (10, 20.5)
    expected = [{"kind": type(shape).__name__.lower(), **asdict(shape)} for shape in shapes]
    assert found["shapes"] == json.loads(json.dumps(expected))


def test_entries_that_stand_for_several_positions(tmp_path: Path) -> None:
    """A table of positions up to an exchange of pegs says of each position what the whole table says."""
    run_puzzle(TOWERS, tmp_path / "whole.zarr", RunOptions(workers=1))
    whole = client_of(tmp_path / "whole.zarr")
    texts = [whole.value("/stores/whole/view", {"index": index})["position"] for index in range(0, 3**6, 240)]
    known = {text: whole.value("/stores/whole/path", {"position": text}) for text in texts}
    layers = whole.value("/stores/whole/layers")
    run_puzzle(TOWERS, tmp_path / "reduced.zarr", RunOptions(workers=1, symmetry="on"))
    reduced = client_of(tmp_path / "reduced.zarr")
    assert reduced.value("/stores/reduced/layers") == layers
    for text in texts:
        found = reduced.value("/stores/reduced/path", {"position": text})
        assert {key: found[key] for key in ("distance", "count")} == {
            key: known[text][key] for key in ("distance", "count")
        }
        view = reduced.value("/stores/reduced/view", {"position": text})
        assert view == whole.value("/stores/whole/view", {"position": text})
        assert {one["change"] for one in view["successors"]} <= {-1, 0, 1}


MAX_PATHS = 8
"""Maximum number of paths of a position that are compared."""


@pytest.mark.parametrize("name", TABLES)
def test_each_shortest_path_has_a_number(client: Client, tables: dict[str, Table], name: str) -> None:
    table = tables[name]
    expected = shortest_paths(table)
    text = max(expected, key=lambda one: min(expected[one], MAX_PATHS))
    address, distance = f"/stores/{name}/path", table.distance(text)
    paths = set()
    for number in range(1, min(expected[text], MAX_PATHS) + 1):
        found = client.value(address, {"position": text, "number": number})
        assert fits(found, positions.Path)
        assert (found["number"], found["count"]) == (str(number), str(expected[text]))
        assert [table.distance(one) for one in found["path"]] == list(range(distance, -1, -1))
        steps = table.puzzle.parse_many(found["path"] if table.puzzle.moves.reversible else found["path"][::-1])
        assert None not in table.puzzle.moves.moves_on_path(steps)
        paths.add(tuple(found["path"]))
    assert len(paths) == min(expected[text], MAX_PATHS)
    assert client.value(address, {"position": text})["path"] in map(list, paths)
    for number in (0, expected[text] + 1):
        assert "number of a shortest path" in client.refused(address, {"position": text, "number": number}, 404)


def test_what_is_no_number_of_a_path(client: Client) -> None:
    for number in ("x", "-1", "1.5", "", "²", "9" * 4001):
        assert "number: expected a whole number" in client.refused("/stores/fields/path", {"number": number})
    text = client.value("/stores/unfinished/positions", {"depth": 4, "limit": 1})["positions"][0]
    beyond = [one for one in client.value("/stores/unfinished/successors", {"position": text}) if not one["distance"]]
    position = {"position": beyond[0]["position"]}
    assert client.value("/stores/unfinished/path", position)["number"] is None
    assert "no path" in client.refused("/stores/unfinished/path", {**position, "number": 1}, 404)


def test_paths_that_are_not_counted_have_no_numbers(
    client: Client, tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    position = {"position": every_text(tables["orbits"])[-1]}
    monkeypatch.setattr("antipodes.service.counted_paths.MAX_POSITIONS", 3)
    assert client.value("/stores/orbits/path", position)["number"] is None
    assert "too many" in client.refused("/stores/orbits/path", {**position, "number": 1}, 404)


def test_paths_of_moves_without_known_inverses_are_counted(tmp_path: Path) -> None:
    run_puzzle(as_config(one_way()), tmp_path / "one-way.zarr", RunOptions(workers=1))
    with open_table(tmp_path / "one-way.zarr", puzzle=one_way()) as table:
        assert not table.puzzle.moves.invertible
        counts = list(shortest_paths(table).items())
        assert max(count for _, count in counts) > 1
        for text, count in counts[::20]:
            paths = paths_of(table, table.puzzle.parse(text), table.distance(text))
            assert paths is not None
            assert paths.count == count


def test_rotations_and_slices_of_a_cube(tmp_path: Path) -> None:
    settings = load_config("3x3x3-squares").puzzle.settings
    assert settings is not None
    store = tmp_path / "squares.zarr"
    run_puzzle(
        config_of("squares", {**settings, "name": "squares", "only_moves": "U2 D2 R2 L2"}), store, RunOptions(workers=1)
    )
    client = client_of(store)
    view = "/stores/squares/view"
    names = client.value("/stores/squares")["sequence_names"]
    assert {"U2", "F2", "x", "M2", "r2", "Rw2"} <= set(names)
    assert "M" not in names
    found = client.value(view, {"moves": "z M2 r2"})
    assert found["position"] == client.value(view, {"moves": "U2 D2 D2"})["position"]
    assert len(found["steps"]) == 3


def test_free_moves_of_a_followed_sequence_have_names(tmp_path: Path) -> None:
    settings = {"family": "generators", "n": 5, "moves": {"L": "(0 1 2)", "R": "(2 3 4)"}, "free": ["L"]}
    store = tmp_path / "wheels.zarr"
    run_puzzle(config_of("wheels", settings), store, RunOptions(workers=1))
    steps = client_of(store).value("/stores/wheels/view", {"moves": "L R"})["steps"]
    assert [(step["move"], step["distance"]) for step in steps] == [("L", 0), ("R", 1)]
