"""Drafts of positions: forms of all families, and the reasons why a draft is none, against tables and brute force."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import Command
from puzzle_settings import DIALS, TOWERS
from service_client import Client, fits
from service_stores import TABLES, UNFINISHED, client_of, config_of

from antipodes.drawing.picture import Rectangle
from antipodes.puzzles.config import bundled_configs, load_config
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.drafts import DraftError
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes.service.editor import Draft, FilledForm
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import Table
from antipodes_tasks.base.errors import PositionError

SERIAL = RunOptions(workers=1, checkpoint_every=0)


def form_of(client: Client, name: str, position: str | None = None) -> Any:
    form = client.value(f"/stores/{name}/draft", {} if position is None else {"position": position})
    assert fits(form, FilledForm)
    return form


def symbols_of(form: Any) -> list[str]:
    return [field["symbol"] for field in form["fields"]]


def checked(client: Client, name: str, symbols: list[str]) -> Any:
    answer = client.post(f"/stores/{name}/draft", {"symbols": symbols})
    assert answer.status == 200, answer
    assert fits(answer.json, Draft)
    found = answer.json
    assert (found["verdict"] == "reached") == (found["reason"] is None) == (found["distance"] is not None)
    assert (found["verdict"] == "invalid") == (found["position"] is None)
    return found


def served(folder: Path, name: str, settings: dict[str, Any]) -> Client:
    run_puzzle(config_of(name, settings), folder / f"{name}.zarr", SERIAL)
    return client_of(folder / f"{name}.zarr")


@pytest.mark.parametrize("name", bundled_configs())
def test_the_draft_of_a_position_is_that_position(name: str) -> None:
    puzzle = load_config(name).puzzle
    form = puzzle.notation.form(puzzle.parts)
    assert form.is_editable
    rng, position = np.random.default_rng(1), puzzle.rules.first
    for _ in range(12):
        draft = form.draft_of(puzzle.rules.written(position))
        form.check_symbols(draft)
        assert form.written(draft) == puzzle.rules.written(position)
        after = puzzle.successors(position)
        position = after[rng.integers(len(after))]


@given(name=st.sampled_from(list(TABLES)), number=st.integers(0, 2**31), changes=st.integers(0, 3))
def test_a_draft_is_what_the_table_says(
    client: Client, tables: dict[str, Table], name: str, number: int, changes: int
) -> None:
    table = tables[name]
    chance = random.Random(number)
    position = table.space.unrank([number % table.index_size])[0]
    form = form_of(client, name, table.puzzle.format(position))
    draft = symbols_of(form)
    for _ in range(changes):
        at = chance.randrange(len(draft))
        draft[at] = chance.choice(form["groups"][form["fields"][at]["group"]]["symbols"])["symbol"]
    found = checked(client, name, draft)
    text = "".join(draft) if form["blocks"] is not None else " ".join(draft)
    if not table.puzzle.is_position(text):
        assert found["verdict"] == "invalid"
    else:
        assert found["position"] == table.puzzle.format(table.puzzle.parse(text))
        assert found["distance"] == table.distance(text, None)
        assert found["verdict"] == ("unreachable" if found["distance"] is None else "reached")
        if found["verdict"] == "unreachable":
            assert "unreachable from" in found["reason"] or found["reason"] == table.obstacle(text)


def test_pieces_are_missing_or_too_many(client: Client) -> None:
    form = form_of(client, "arrangement")
    assert symbols_of(form) == ["1", "1", "2", "3", "4", "0"]
    assert [field["name"][7:] for field in form["fields"]] == ["a2", "b2", "c2", "a1", "b1", "c1"]
    assert [(one["label"], one["count"]) for one in form["groups"][0]["symbols"]][:2] == [("empty", 1), ("1", 2)]
    found = checked(client, "arrangement", ["1", "1", "1", "3", "3", "0"])
    assert found["reason"] == "piece 1: 3 instead of 2; piece 2 is missing; piece 3: 2 instead of 1; piece 4 is missing"
    assert found["wrong"] == [0, 1, 2, 3, 4]


def test_an_odd_permutation_says_so(tmp_path: Path) -> None:
    client = served(tmp_path, "tiles", {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0"})
    found = checked(client, "tiles", ["2", "1", "3", "4", "5", "0"])
    assert found["verdict"] == "unreachable"
    assert found["reason"].startswith("odd permutation")
    assert checked(client, "tiles", ["2", "3", "1", "4", "5", "0"])["distance"] == 14


def test_several_starts_are_all_considered(client: Client, tables: dict[str, Table]) -> None:
    """The two starts of the table have different parities: each position is reached from one of them."""
    for draft in ("2 1 3 4 5 0", "5 4 3 2 1 0", "4 5 3 2 1 0", "1 2 3 4 5 0"):
        found = checked(client, "starts", draft.split())
        assert found["distance"] == tables["starts"].distance(draft, None)
        assert found["verdict"] == ("reached" if found["distance"] is not None else "unreachable")


def test_stickers_of_no_piece_and_of_a_piece_twice() -> None:
    puzzle = load_config("2x2x2").puzzle
    form = puzzle.notation.form(puzzle.parts)
    draft = form.draft_of(puzzle.rules.written(puzzle.rules.first))
    at = {field.name: number for number, field in enumerate(form.fields)}
    assert draft[at["U1"]] == "W"
    painted = list(draft)
    painted[at["U1"]] = "Y"
    assert_invalid(form, painted, "white stickers: 3 instead of 4; yellow stickers: 5 instead of 4")
    swapped = list(draft)
    swapped[at["U1"]], swapped[at["D1"]] = "Y", "W"
    assert_invalid(
        form, swapped, "no piece has the colours yellow-orange-blue (U1, L1, B2); white-orange-green (D1, L4, F3)"
    )
    with pytest.raises(DraftError) as caught:
        form.written(swapped)
    assert {at["U1"], at["D1"]} <= set(caught.value.fields)
    assert len(caught.value.fields) == 6


def assert_invalid(form: Any, draft: list[str], reason: str) -> None:
    with pytest.raises(DraftError) as caught:
        form.written(draft)
    assert reason in str(caught.value)


def test_blocks_are_missing_or_of_another_shape(client: Client) -> None:
    form = form_of(client, "blocks")
    assert form["blocks"]["A"] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    draft = symbols_of(form)
    assert "".join(draft) == "AABCAAD.E.FF"
    without = [symbol if symbol != "F" else "." for symbol in draft]
    assert checked(client, "blocks", without)["reason"] == "block F is missing"
    bent = [*"AABC", *"A.D.", *"E.FF"]
    assert checked(client, "blocks", bent)["reason"] == "block A has another shape"
    apart = [*"A.BC", *"..D.", *"E.FA"]
    assert "the squares of block 'A' are not connected" in checked(client, "blocks", apart)["reason"]
    moved = checked(client, "blocks", [*"AABC", *"AA.D", *"E.FF"])
    assert (moved["verdict"], moved["position"]) == ("reached", "AABC/AA.D/E.FF")


def test_blocks_keep_to_their_lines(client: Client) -> None:
    form = form_of(client, "goal")
    assert "".join(symbols_of(form)) == "AA.BC..BC.DD"
    found = checked(client, "goal", [*"C..B", *"C..B", *"AADD"])
    assert found["verdict"] == "invalid"
    assert found["reason"] == "block A must stay in row 1"
    assert found["wrong"] == [8, 9]


def test_an_unfinished_table_has_not_reached_a_position(client: Client) -> None:
    settings = {"name": "stack", **UNFINISHED}
    puzzle = puzzle_from(settings)
    found = checked(client, "unfinished", ["4", "6", "2", "5", "1", "3"])
    assert (found["verdict"], found["reason"]) == ("not reached yet", "the table has reached depth 4 so far")
    assert found["position"] == "4 6 2 5 1 3"
    assert checked(client, "unfinished", puzzle.format(puzzle.rules.first).split())["distance"] == 0


def test_a_position_that_no_moves_can_make_is_unreachable_before_the_table_is_finished(tmp_path: Path) -> None:
    config = config_of("tiles", {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0"})
    run_puzzle(config, tmp_path / "tiles.zarr", SERIAL, interrupted=iter([False] * 3 + [True] * 99).__next__)
    client = client_of(tmp_path / "tiles.zarr")
    assert client.value("/stores/tiles")["complete"] is False
    assert checked(client, "tiles", ["2", "1", "3", "4", "5", "0"])["verdict"] == "unreachable"
    assert checked(client, "tiles", ["4", "5", "0", "1", "2", "3"])["verdict"] == "not reached yet"


def test_a_reduced_table_says_the_same(tmp_path: Path) -> None:
    run_puzzle(TOWERS, tmp_path / "whole.zarr", RunOptions(workers=1))
    run_puzzle(TOWERS, tmp_path / "reduced.zarr", RunOptions(workers=1, symmetry="on"))
    client = client_of(tmp_path)
    for number in range(0, 3**6, 110):
        draft = list(np.base_repr(number, 3).zfill(6))
        assert checked(client, "whole", draft) == checked(client, "reduced", draft)


def test_a_one_way_puzzle(tmp_path: Path) -> None:
    settings = {"family": "generators", "start": "a b b c", "moves": {"A": "(0 1 2)"}, "turns": "single"}
    client = served(tmp_path, "ring", settings)
    assert checked(client, "ring", [*"babc"])["distance"] == 1
    found = checked(client, "ring", [*"abcb"])
    assert (found["verdict"], found["distance"]) == ("unreachable", None)
    assert found["reason"] == "unreachable from the start: the finished table of 3 positions does not contain it"


def test_twists_are_below_their_pieces_and_dials_side_by_side(client: Client) -> None:
    form = form_of(client, "orbits")
    assert [group["kind"] for group in form["groups"]] == ["pieces", "values", "pieces"]
    squares = {field["name"]: field["squares"] for field in form["fields"]}
    assert squares["CORNERS place 2"] == [[0, 1]]
    assert squares["turn on CORNERS place 2"] == [[1, 1]]
    assert squares["EDGES place 1"] == [[2.5, 0]]
    dials = puzzle_of_dials()
    assert [field.squares for field in dials.notation.form(dials.parts).fields] == [((0, 0),), ((0, 1),), ((0, 2),)]


def puzzle_of_dials() -> Puzzle:
    return define_puzzle(name="dials", radices=[9, 6, 4], start=[0, 0, 0], moves={"up": lambda dials: dials})


def test_a_puzzle_in_python_refuses_what_its_parse_refuses(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(DIALS)
    assert cli("run", "own.py:dials", "--quiet").status == 0
    client = client_of(tmp_path / "outputs")
    assert checked(client, "dials", ["2", "0", "0"])["position"] == "caa"
    assert checked(client, "dials", ["0", "1", "0"])["verdict"] == "unreachable"
    refused = checked(client, "dials", ["3", "3", "1"])
    assert refused["verdict"] == "invalid"
    assert "the dials add up to more than 6" in refused["reason"]


def test_a_puzzle_with_a_shape_is_edited_on_its_board() -> None:
    moves = {"turn": [1, 2, 3, 4, 5, 0]}
    written = define_puzzle(name="shaped", start="a . b a b .", moves=moves, shape=(2, 3))
    config = {"name": "shaped", "family": "generators", "start": "a . b a b .", "moves": moves, "shape": [2, 3]}
    for puzzle in (written, puzzle_from(config)):
        form = puzzle.notation.form(puzzle.parts)
        assert [field.squares for field in form.fields] == [((row, column),) for row in range(2) for column in range(3)]
        found = {one.symbol: (one.label, one.colour) for one in form.groups[0].symbols}
        assert found.pop(".") == ("empty", None)
        drawn = [
            shape.fill for shape in puzzle.picture(puzzle.parse("a . b a b .")).shapes if isinstance(shape, Rectangle)
        ][1:3]
        assert found == {"a": ("a", drawn[0]), "b": ("b", drawn[1])}  # the colours of the board


def test_a_form_that_cannot_be_edited(tmp_path: Path) -> None:
    """All pieces are identical, so that there is one arrangement only."""
    client = served(tmp_path, "alike", {"family": "generators", "start": "a a a", "moves": {"A": "(0 1 2)"}})
    assert client.value("/stores/alike")["editable"] is False
    assert "cannot be edited field by field" in client.refused("/stores/alike/draft")
    assert client.post("/stores/alike/draft", {"symbols": ["a"] * 3}).status == 400


@pytest.mark.parametrize("name", TABLES)
def test_tables_can_be_edited_and_others_not(client: Client, name: str) -> None:
    assert client.value(f"/stores/{name}")["editable"] is True
    assert client.value("/stores/counts")["editable"] is False
    assert client.refused("/stores/counts/draft") == "this needs a table, but the store contains only counts of layers"


@pytest.mark.parametrize(("body", "status", "expected"), [
    ({"symbols": ["0"] * 3}, 400, "expected 4 symbols (one for each field), found 3"),
    ({"symbols": ["0", "0", "x", "0"]}, 400, "symbols[2]: disc 3 cannot hold this symbol"),
    ({"symbols": ["0"] * 1025}, 413, "symbols: expected at most 1024, found 1025"),
    ({"symbols": "0000"}, 400, "symbols: expected a list, found '0000'"),
    ({}, 400, "symbols: this parameter is missing"),
    ({"symbols": [1, 2, 3, 4]}, 400, "symbols.0: expected a string, found 1"),
])  # fmt: skip
def test_bodies_that_are_no_draft(client: Client, body: dict[str, object], status: int, expected: str) -> None:
    answer = client.post("/stores/fields/draft", body)
    assert (answer.status, answer.error) == (status, expected)


symbols = st.one_of(st.sampled_from([*"0123456789ABCDEF.-+#?", "empty", ""]), st.text("aZ09²é🙂\x00\n ", max_size=5))


@given(name=st.sampled_from([*TABLES, "unfinished", "empty"]), draft=st.lists(symbols, max_size=14))
def test_whatever_is_drafted_the_answer_is_a_verdict_or_one_line(client: Client, name: str, draft: list[str]) -> None:
    answer = client.post(f"/stores/{name}/draft", {"symbols": draft})
    assert answer.status in (200, 400)
    if answer.status == 200:
        assert fits(answer.json, Draft)


@given(name=st.sampled_from([*TABLES, "unfinished", "empty"]), number=st.integers(0, 2**32))
def test_any_symbols_of_the_form_get_a_verdict(client: Client, name: str, number: int) -> None:
    form, chance = form_of(client, name), random.Random(number)
    draft = [chance.choice(form["groups"][field["group"]]["symbols"])["symbol"] for field in form["fields"]]
    checked(client, name, draft)


@pytest.mark.parametrize("name", ["2x2x2-corner", "pyraminx", "skewb", "ivy", "dino", "halpern-kolmelij"])
def test_random_colours_are_refused_or_read_as_from_text(name: str) -> None:
    puzzle: Puzzle = load_config(name).puzzle
    form = puzzle.notation.form(puzzle.parts)
    chance, position = random.Random(3), puzzle.rules.first
    for _ in range(60):
        after = puzzle.successors(position)
        position = after[chance.randrange(len(after))]
        draft = form.draft_of(puzzle.rules.written(position))
        free = [number for number, field in enumerate(form.fields) if not field.fixed]
        one, other = chance.sample(free, 2)
        draft[one], draft[other] = draft[other], draft[one]
        try:
            written = form.written(draft)
        except PositionError:
            continue
        assert form.draft_of(written) == draft
