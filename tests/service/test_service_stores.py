"""What the service says of stores: the list, the facts, layers, antipodes, graphs, boards and tilings."""

import gzip
import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import Command, forget_puzzles
from service_client import Client, fits
from service_stores import MARKUP, TABLES, TILINGS, client_of
from stores import read_manifest

import antipodes as ap
from antipodes.drawing.image_files import png, svg
from antipodes.service import overview
from antipodes.service.graph import DrawnGraph, graph_of, graph_view
from antipodes.service.library import stores_named
from antipodes.service.tiling_answers import ChosenTilings, TiledBoard, TilingImage
from antipodes.storage.backend import MANIFEST
from antipodes.system.records import values_of
from antipodes.tables.json_results import LayerCounts
from antipodes.tables.table import Table
from antipodes.tilings.drawing import draw_tiling
from antipodes.tilings.table import open_tilings, places
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.option_names import command_line

Refused = Callable[..., str]


def as_json(value: object) -> Any:
    """A value as JSON has it: lists for tuples, texts for keys."""
    return json.loads(json.dumps(value, default=values_of))


def test_the_list(client: Client, cli: Command, stores: Path) -> None:
    rows = client.value("/stores")
    assert fits(rows, list[overview.Row])
    listed = json.loads(cli("list", stores, "--json").out)
    assert [row["name"] for row in rows] == [row["name"] for row in listed]
    for row, expected in zip(rows, listed, strict=True):
        del expected["path"]
        assert {**row, **expected} == row
        assert row["picture"] is not None


@pytest.mark.parametrize("name", [*TABLES, "unfinished", "empty", "counts", *TILINGS])
def test_the_facts_are_those_of_the_command_line(client: Client, cli: Command, stores: Path, name: str) -> None:
    facts = client.value(f"/stores/{name}")
    assert fits(facts, overview.Facts)
    status = json.loads(cli("status", stores / f"{name}.zarr", "--json").out)
    assert {**facts, **status} == facts
    assert facts["kind"] == ("counts" if name == "counts" else "tilings" if name in TILINGS else "table")
    command = facts["command"].split()
    asked = ["--depth", 0, "--count"] if command[1] == "query" else []
    assert cli(*command[1:], *asked).status == 0


@pytest.mark.parametrize("name", TABLES)
def test_the_puzzle_of_a_table(client: Client, tables: dict[str, Table], name: str) -> None:
    facts, puzzle = client.value(f"/stores/{name}"), tables[name].puzzle
    assert facts["family"] == TABLES[name]["family"]
    assert facts["start"] == puzzle.format(puzzle.rules.first)
    assert (facts["starts"], facts["radius"]) == (tables[name].layers[0], tables[name].radius)
    assert facts["moves"] == (list(dict.fromkeys(puzzle.moves.names)) or None)
    assert facts["sequence_names"] == (list(puzzle.sequences.names) if puzzle.moves.names else None)
    assert facts["reversible"] == puzzle.moves.reversible
    assert facts["graph"] is True
    assert facts["picture"] == client.value(f"/stores/{name}/view")["picture"]


@pytest.mark.parametrize("name", ["unfinished", "empty", "counts"])
def test_layers(client: Client, cli: Command, stores: Path, name: str) -> None:
    found = client.value(f"/stores/{name}/layers")
    assert fits(found, LayerCounts)
    assert found == json.loads(cli("layers", stores / f"{name}.zarr", "--json").out)


@pytest.mark.parametrize("name", [*TABLES, "counts"])
def test_antipodes(client: Client, cli: Command, stores: Path, name: str) -> None:
    found = client.value(f"/stores/{name}/antipodes", {"limit": 3})
    assert fits(found, overview.Antipodes)
    assert len(found.pop("pictures")) == len(found["positions"])
    assert found == json.loads(cli("farthest", stores / f"{name}.zarr", "--limit", 3, "--json").out)


def test_a_store_of_another_kind_has_no_distances(client: Client) -> None:
    assert client.refused("/stores/counts/view") == "this needs a table, but the store contains only counts of layers"
    assert client.refused("/stores/square/view") == "this needs a table, but the store contains tilings"
    assert client.refused("/stores/square/layers") == "this needs a table, but the store contains tilings"
    assert client.refused("/stores/fields/tilings") == "this needs tilings, but the store contains a table"


@pytest.mark.parametrize("name", TABLES)
def test_the_graph(client: Client, tables: dict[str, Table], name: str) -> None:
    found = client.value(f"/stores/{name}/graph")
    assert fits(found, DrawnGraph)
    assert found == as_json(graph_view(tables[name], graph_of(tables[name])))
    assert client.value(f"/stores/{name}/graph") == found


def test_the_graph_of_a_neighbourhood(
    client: Client, tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("graph", "endpoints"):
        monkeypatch.setattr(f"antipodes.service.{module}.fits_whole", lambda table: False)
    found = client.value("/stores/fields/graph", {"position": "0 1 2 0", "limit": 7})
    assert found == as_json(graph_view(tables["fields"], graph_of(tables["fields"], "0 1 2 0", 7)))
    assert (found["whole"], len(found["nodes"]["index"])) == (False, 7)


def test_pictures_of_positions(client: Client, tables: dict[str, Table]) -> None:
    puzzle = tables["fields"].puzzle
    picture = puzzle.picture(puzzle.parse("0 1 2 0"))
    answer = client.get("/stores/fields/picture.svg", {"position": "0 1 2 0"})
    assert (answer.headers["content-type"].partition(";")[0], answer.body.decode()) == ("image/svg+xml", svg(picture))
    answer = client.get("/stores/fields/picture.png", {"position": "0 1 2 0"})
    assert (answer.headers["content-type"], answer.body) == ("image/png", png(picture, 3))


def test_a_png_without_pillow(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.service.endpoints.find_spec", lambda name: None)
    assert "picture.png needs Pillow, which the extra 'pictures' installs; picture.svg is available" in client.refused(
        "/stores/fields/picture.png", status=404
    )


@pytest.mark.parametrize("name", TILINGS)
def test_a_board(client: Client, stores: Path, name: str) -> None:
    found = client.value(f"/stores/{name}/board")
    assert fits(found, TiledBoard)
    with open_tilings(stores / f"{name}.zarr") as tilings:
        problem = tilings.problem
        assert (found["layers"], found["rows"], found["columns"]) == problem.board.shape
        assert found["cells"] == [list(place) for place in places(problem)]
        assert [one["name"] for one in found["pieces"]] == [piece.name for piece in problem.pieces]
        labels = [label for one in found["pieces"] for label in one["labels"]]
        assert labels == list(problem.labels)
        assert [one["count"] for one in found["pieces"]] == [len(one["labels"]) for one in found["pieces"]]
    assert len({one["colour"] for one in found["pieces"]}) == len(found["pieces"])


@given(name=st.sampled_from(list(TILINGS)), first=st.integers(0, 12), limit=st.integers(1, 5))
def test_tilings_by_their_numbers(client: Client, stores: Path, name: str, first: int, limit: int) -> None:
    found = client.value(f"/stores/{name}/tilings", {"first": first, "limit": limit})
    assert fits(found, ChosenTilings)
    with open_tilings(stores / f"{name}.zarr") as tilings:
        assert found["count"] == found["matching"] == len(tilings)
        expected = [
            {"number": k + 1, "pieces": tilings[k].cells} for k in range(first, min(first + limit, len(tilings)))
        ]
        assert found["tilings"] == as_json(expected)


@pytest.mark.parametrize("conditions", [["I covers 0"], ["I avoids 0", "L covers 3"], ["I covers 0", "I avoids 0"]])
def test_tilings_that_match_conditions(client: Client, stores: Path, conditions: list[str]) -> None:
    found = client.value("/stores/square/tilings", {"where": conditions, "limit": 200})
    with open_tilings(stores / "square.zarr") as tilings:
        chosen = tilings.where(*conditions).tolist()
        copies = tilings.matching(*conditions).copies
    assert [one["number"] for one in found["tilings"]] == [number + 1 for number in chosen]
    assert (found["matching"], found["count"]) == (found["matching_classes"], found["classes"]) == (len(chosen), 10)
    assert (found["matching_copies"], found["copies"]) == (copies, 80)
    for one in found["tilings"][:3]:
        images = client.value(f"/stores/square/tilings/{one['number']}/images", {"where": conditions})
        assert next(image["pieces"] for image in images if image["matches"]) == one["pieces"]
    assert "found 'I hides 0'" in client.refused("/stores/square/tilings", {"where": "I hides 0"})


@pytest.mark.parametrize("name", TILINGS)
def test_one_tiling_and_its_images(client: Client, stores: Path, name: str) -> None:
    with open_tilings(stores / f"{name}.zarr") as tilings, open_tilings(stores / f"{name}.zarr", raw=True) as raw:
        numbers, every = range(1, len(tilings) + 1), []
        for number in numbers:
            drawn = client.get(f"/stores/{name}/tilings/{number}.svg").body.decode()
            assert drawn == svg(draw_tiling(tilings.problem, tilings[number - 1].placements))
            images = client.value(f"/stores/{name}/tilings/{number}/images")
            assert fits(images, list[TilingImage])
            assert all(image["matches"] for image in images)
            assert as_json(tilings[number - 1].cells) in [image["pieces"] for image in images]
            every += [json.dumps(image["pieces"]) for image in images]
        assert sorted(every) == sorted(json.dumps(one.cells) for one in raw)
    for wrong in (0, len(numbers) + 1, 1 << 70):
        status = 404 if wrong == len(numbers) + 1 else 400
        client.refused(f"/stores/{name}/tilings/{wrong}/images", status=status)


@pytest.mark.parametrize(
    ("name", "expected"), [("fields", 81), ("unfinished", 720), ("empty", 720), ("counts", 360), ("square", None)]
)
def test_how_many_positions_there_will_be(client: Client, name: str, expected: int | None) -> None:
    (row,) = [row for row in client.value("/stores") if row["name"] == name]
    assert row["expected"] == client.value(f"/stores/{name}")["expected"] == expected


def test_long_answers_are_compressed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = client.get("/stores/fields/graph")
    monkeypatch.setattr("antipodes.service.answers.MIN_COMPRESSED_BYTES", len(plain.body))
    packed = client.get("/stores/fields/graph", accept_encoding="gzip, br")
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "accept-encoding")
    assert gzip.decompress(packed.body) == plain.body
    assert (packed.headers["etag"], int(packed.headers["content-length"])) == (plain.headers["etag"], len(packed.body))
    refused = client.get("/stores/fields/graph", accept_encoding="gzip;q=0")
    assert ("content-encoding" in refused.headers, refused.body) == (False, plain.body)
    short = client.get("/stores/fields/layers", accept_encoding="gzip")
    assert "content-encoding" not in short.headers


def test_markup_in_names_and_texts_stays_text(client: Client) -> None:
    facts = client.value(f"/stores/{MARKUP}")
    assert (facts["name"], facts["description"], facts["start"]) == (MARKUP, MARKUP, f"{MARKUP} 1 2")
    drawn = client.get(f"/stores/{MARKUP}/picture.svg").body.decode()
    texts = [element.text for element in ElementTree.fromstring(drawn).iter() if element.tag.endswith("text")]
    assert MARKUP in texts
    assert client.get(f"/stores/{MARKUP}/layers").headers["content-type"] == "application/json"


def test_stores_of_one_name_get_numbers(stores: Path, tmp_path: Path) -> None:
    (tmp_path / "other").symlink_to(stores)
    both = client_of(stores / "fields.zarr", tmp_path / "other" / "fields.zarr", stores / "fields.zarr")
    assert [row["name"] for row in both.value("/stores")] == ["fields", "fields-2"]
    assert both.value("/stores/fields-2/layers") == both.value("/stores/fields/layers")


def test_folders_that_are_no_stores_are_left_out(stores: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert stores_named([str(tmp_path)]) == []
    with pytest.raises(InputError, match="does not exist"):
        stores_named([str(tmp_path / "nowhere.zarr")])
    with pytest.raises(InputError, match="--puzzle needs exactly one STORE, found 2"):
        stores_named(["a", "b"], "x.py:y")


def test_advice_about_a_puzzle_without_a_file_suits_a_browser(tmp_path: Path) -> None:
    dials = ap.define_puzzle(name="dials", radices=[5, 3], start=[0, 0], moves={"a": lambda one: (one + 1) % (5, 3)})
    ap.run(dials, tmp_path / "dials.zarr", workers=1)
    forget_puzzles()
    with command_line():
        (row,) = client_of(tmp_path).value("/stores")
    advice = "; write it into a file and name it with --puzzle path.py:name; then start antipodes serve again"
    assert row["problem"].endswith(f"cannot be rebuilt from the store{advice}")


def test_a_puzzle_in_python_runs_no_code(cli: Command, tmp_path: Path) -> None:
    source, settings = tmp_path / "mine.py", dict(TABLES["fields"], name="line")
    code = f"from antipodes.puzzles.families import puzzle_from\nline = puzzle_from({settings!r})\n"
    source.write_text(code)
    assert cli("run", "mine.py:line", "--quiet").status == 0
    content = read_manifest(tmp_path / "outputs" / "line.zarr" / MANIFEST)
    forget_puzzles()
    source.write_text(f"{code}assert False, 'this code must not run'\n")
    client = client_of(tmp_path / "outputs")
    (row,) = client.value("/stores")
    assert (row["kind"], row["states"], row["picture"]) == ("table", 81, None)
    changed, recorded = (sha256(text.encode()).hexdigest()[:11] for text in (source.read_text(), code))
    assert f"{source}, which has changed since (SHA-256 {changed}… instead of {recorded}…)" in row["problem"]
    assert client.value("/stores/line/layers")["layers"] == content["layers"]
    facts = client.value("/stores/line")
    assert fits(facts, overview.Facts)
    assert (facts["states"], facts["start"], facts["graph"]) == (81, None, False)
    assert client.refused("/stores/line/view", status=503) == row["problem"]
    source.write_text(code)
    stores_named([str(tmp_path / "outputs" / "line.zarr")], f"{source}:line")
    assert client_of(tmp_path / "outputs").value("/stores/line/view")["distance"] == 0


def test_the_description_of_the_api(client: Client) -> None:
    answer = client.ask("GET", "/api/v1/openapi.json")
    description = answer.json
    assert description["openapi"].startswith("3.")
    paths = description["paths"]
    assert {"/api/v1/stores", "/api/v1/stores/{name}/view", "/api/v1/stores/{name}/distances"} <= paths.keys()
    assert paths["/api/v1/stores/{name}/draft"].keys() == {"get", "post"}
    for path, operations in paths.items():
        for operation in operations.values():
            assert operation["responses"].keys() == {"200", "4XX", "5XX"}, path
            failure = operation["responses"]["4XX"]["content"]["application/json"]["schema"]["$ref"]
            assert failure.endswith("/Failure")
            content = operation["responses"]["200"]["content"]
            assert content.get("application/json", {"schema": 1})["schema"], path
    for elsewhere in ("/docs", "/redoc", "/openapi.json"):
        assert client.ask("GET", elsewhere).status == 404


def test_the_page_has_a_version(client: Client) -> None:
    page = client.ask("GET", "/")
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    again = client.ask("GET", "/", headers={"if-none-match": page.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert client.ask("HEAD", "/").status == 200


def test_a_browser_asks_for_the_files_of_the_page_once(client: Client) -> None:
    addresses = re.findall(r'(?:src|href)="(static/[^"]+)"', client.ask("GET", "/").body.decode())
    assert len(addresses) > 20
    for address in addresses:
        file = client.ask("GET", f"/{address}")
        assert (file.status, file.headers["cache-control"]) == (200, "public, max-age=31536000, immutable"), address
    _, version, name = next(one for one in addresses if one.endswith("/api.js")).split("/")
    script = client.ask("GET", f"/static/{version}/{name}")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    # a page that was loaded before the service was updated goes on, but keeps nothing of it
    earlier = client.ask("GET", f"/static/{version[::-1]}/{name}")
    assert (earlier.status, earlier.headers["cache-control"], earlier.body) == (200, "no-cache", script.body)
    assert client.ask("GET", f"/static/{version}/index.html").status == 404
