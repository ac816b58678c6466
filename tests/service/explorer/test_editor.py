"""The editor: drafts of each kind of field (positions, none, or unreachable), and what the page says about them."""

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from browsers import violations
from explorer_pages import Open, distance, expect_position, visit
from explorer_site import SERIAL, TWISTY, served
from forks import PROGRAM, popen
from playwright.sync_api import Locator, Page, Route, expect
from puzzle_settings import DIALS
from waiting import PATIENCE, wait_until

from antipodes.puzzles.config import Config, load_config
from antipodes.tables.run import run_puzzle

pytestmark = pytest.mark.slow  # a page in the browser takes seconds of CPU time

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
TILES = {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 / 4 5 0"}


class Case(NamedTuple):
    """A puzzle, and drafts of it: a position, one that is none, and one that no moves lead to."""

    settings: dict[str, Any] | None
    legal: str
    illegal: str
    unreachable: str


CASES = {
    "blocks": Case({"family": "blocks", "start": "A.BB"}, ".ABB", "..BB", "BB.A"),
    "twisty": Case({"family": "twisty", "format": "tws", "definition": TWISTY}, "23141020", "11340000", "12341000"),
    "dials": Case(None, "200", "331", "010"),
}
"""A puzzle for each kind of field, and drafts of a symbol for each field."""
OTHERS: dict[str, dict[str, Any]] = {
    "sliding": TILES,
    "cars": {"family": "blocks", "axis": True, "start": "AA./..B/..B"},
    "eleven": {"family": "generators", "n": 11, "moves": {"A": "(0 1)"}, "enumerated": True},  # pieces 0 to 10
    "alone": {"family": "generators", "start": "a a a", "moves": {"A": "(0 1 2)"}},  # one position
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service of these puzzles, of the ivy cube, of an unfinished table, and of one position."""
    folder = tmp_path_factory.mktemp("editor")
    given = {name: case.settings for name, case in CASES.items() if case.settings is not None}
    for name, settings in {**given, **OTHERS}.items():
        run_puzzle(Config({"name": name, **settings}), folder / f"{name}.zarr", SERIAL)
    run_puzzle(load_config("ivy"), folder / "ivy.zarr", SERIAL)
    stopped = iter([False] * 3 + [True] * 1000)
    run_puzzle(
        Config({"name": "unfinished", **TILES}), folder / "unfinished.zarr", SERIAL, interrupted=stopped.__next__
    )
    (folder / "dials.py").write_text(DIALS)
    command = [*PROGRAM, "run", "dials.py:dials", "--quiet"]
    assert popen(command, cwd=folder, stdout=subprocess.DEVNULL).wait(PATIENCE) == 0
    (folder / "outputs" / "dials.zarr").rename(folder / "dials.zarr")
    with served(folder) as found:
        yield found


class Api:
    """Asks the service what the page should show."""

    def __init__(self, address: str, name: str) -> None:
        self._root = f"{address}/api/v1/stores/{name}"

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self._root + path) as answer:
            return json.load(answer)

    def check(self, symbols: list[str]) -> Any:
        request = urllib.request.Request(
            f"{self._root}/draft", json.dumps({"symbols": symbols}).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


@pytest.fixture
def open_editor(open_page: Open) -> Open:
    """Opens the editor of a puzzle, with its first verdict."""
    return lambda name, **options: begin_to_edit(open_page(f"/#/{name}", **options))


def begin_to_edit(page: Page) -> Page:
    expect(page.locator(".move").first).to_be_visible()
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(verdict(page)).to_contain_text("on the board")
    return page


def verdict(page: Page) -> Locator:
    return page.locator(".editor .verdict")


def use(page: Page) -> Locator:
    return page.get_by_role("button", name="Use this position")


def field(page: Page, number: int) -> Locator:
    return page.locator(f"[data-field='{number}']").first


def edit(page: Page, form: Any, target: list[str]) -> None:
    """Make the draft, which shows the position of the form, another one, as a person would."""
    if form["blocks"] is not None:
        move_blocks(page, form, target)
        return
    for number, (one, symbol) in enumerate(zip(form["fields"], target, strict=True)):
        group = form["groups"][one["group"]]
        known = [choice["symbol"] for choice in group["symbols"]]
        if group["kind"] == "values":
            for _ in range((known.index(symbol) - known.index(one["symbol"])) % len(known)):
                field(page, number).click()
        elif one["symbol"] != symbol:
            field(page, number).click()
            page.locator(f"[data-symbol='{one['group']} {symbol}']").click()


def move_blocks(page: Page, form: Any, target: list[str]) -> None:
    """Take the blocks that are elsewhere off the board, and put each on its first square if it is to be there."""
    now = [one["symbol"] for one in form["fields"]]
    places = {
        letter: [[at for at, one in enumerate(some) if one == letter] for some in (now, target)]
        for letter in form["blocks"]
    }
    moving = {letter: to for letter, (come_from, to) in places.items() if come_from != to}
    for letter in moving:
        field(page, now.index(letter)).click()
        page.get_by_role("button", name=f"Take {letter} off the board").click()
    for letter, to in moving.items():
        if to:
            page.get_by_role("button", name=f"Block {letter}, off the board").click()
            field(page, to[0]).click()


def expect_verdict(page: Page, answer: Any) -> None:
    """The page shows the verdict of the API, marks the same fields, and lets the draft be used if it is a position."""
    words = {
        "invalid": "This is not a position",
        "unreachable": "This is unreachable",
        "not reached yet": "Not reached yet",
    }
    if answer["verdict"] == "reached":
        moves = answer["distance"]
        expect(verdict(page)).to_have_text(f"{moves} move{'s' if moves > 1 else ''} from the start.")
    else:
        expect(verdict(page)).to_have_text(f"{words[answer['verdict']]}: {answer['reason']}.")
    expect(page.locator(".editor")).to_have_attribute("aria-busy", "false")  # or it is the verdict on an earlier draft
    usable = answer["verdict"] in ("reached", "not reached yet")
    expect(use(page)).to_be_enabled(enabled=usable)
    marked = {one.get_attribute("data-field") for one in page.locator(".field.wrong").all()}
    assert marked == {str(number) for number in answer["wrong"]}


@pytest.mark.parametrize("name", CASES)
def test_a_legal_an_illegal_and_an_unreachable_draft_of_each_kind(open_editor: Open, address: str, name: str) -> None:
    api, case = Api(address, name), CASES[name]
    page, form = open_editor(name), api.get("/draft")
    start = page.locator("#entry").input_value()
    drafts = {"invalid": case.illegal, "unreachable": case.unreachable, "reached": case.legal}
    for kind, text in drafts.items():
        target = list(text.replace("/", ""))
        answer = api.check(target)
        assert answer["verdict"] == kind, answer
        edit(page, form, target)
        expect_verdict(page, answer)
        expect_position(page, start)  # the board waits
        if kind != "reached":
            page.get_by_role("button", name="Reset").click()
            expect(verdict(page)).to_contain_text("on the board")
    use(page).click()
    expect_position(page, answer["position"])
    expect(distance(page)).to_have_text(str(answer["distance"]))
    expect(verdict(page)).to_contain_text("on the board")
    page.get_by_role("button", name="Undo (Ctrl+Z)").click()
    expect_position(page, start)


def test_stickers_are_edited_by_colour(open_editor: Open, address: str) -> None:
    api = Api(address, "ivy")
    page, form = open_editor("ivy"), api.get("/draft")
    near = api.get("/random?depth=2&seed=1")["position"]
    target = [one["symbol"] for one in api.get(f"/draft?position={urllib.request.quote(near)}")["fields"]]
    edit(page, form, target)
    expect_verdict(page, api.check(target))
    use(page).click()
    expect(distance(page)).to_have_text("2")
    centres = [number for number, one in enumerate(form["fields"]) if len(one["squares"]) > 1]
    swapped = list(target)
    swapped[centres[0]], swapped[centres[1]] = target[centres[1]], target[centres[0]]
    now = api.get(f"/draft?position={urllib.request.quote(near)}")
    edit(page, now, swapped)
    answer = api.check(swapped)
    assert answer["verdict"] == "unreachable"
    assert answer["reason"] == "odd permutation of CENTRES: two pieces are swapped"
    expect_verdict(page, answer)
    page.get_by_role("button", name="Reset").click()
    page.locator("[data-symbol='0 W']").click()  # a colour first, then stickers
    corners = [number for number, one in enumerate(form["fields"]) if len(one["squares"]) == 1][:3]
    for number in corners:
        field(page, number).click()
    painted = ["W" if number in corners else symbol for number, symbol in enumerate(target)]
    assert api.check(painted)["verdict"] == "invalid"
    expect_verdict(page, api.check(painted))


def test_edits_are_undone_one_after_another(open_editor: Open) -> None:
    page = open_editor("sliding")
    undo = page.get_by_role("button", name="Undo edit")
    expect(undo).to_be_disabled()
    field(page, 0).click()
    field(page, 1).click()  # swaps the two
    expect(verdict(page)).to_contain_text("odd permutation")
    field(page, 0).click()
    page.locator("[data-symbol='0 5']").click()
    expect(verdict(page)).to_have_text("This is not a position: piece 2 is missing; piece 5: 2 instead of 1.")
    expect(page.locator("[data-symbol='0 5'] .tally")).to_have_text("2/1")
    undo.click()
    expect(verdict(page)).to_contain_text("odd permutation")
    field(page, 0).focus()
    page.keyboard.press("Control+z")
    expect(verdict(page)).to_contain_text("on the board")
    expect(undo).to_be_disabled()
    expect(page.get_by_role("button", name="Reset")).to_be_disabled()
    expect_position(page, "1 2 3 4 5 0")


def test_a_verdict_that_comes_during_a_click_does_not_undo_it(open_editor: Open) -> None:
    page, held = open_editor("sliding"), list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/draft", hold)
    field(page, 0).click()
    with page.expect_request("**/draft"):
        page.locator("[data-symbol='0 5']").click()
    wait_until(lambda: held or page.wait_for_timeout(10), "the verdict is asked for")
    field(page, 1).click()
    page.locator("[data-symbol='0 4']").hover()
    page.mouse.down()
    held[0].continue_()
    expect(page.locator(".editor")).to_have_attribute("aria-busy", "false")
    page.mouse.up()
    expect(field(page, 1)).to_have_accessible_name(re.compile("^square b2: 4"))


def test_a_draft_stays_while_the_board_moves_and_a_reset_follows_it(open_editor: Open) -> None:
    page = open_editor("sliding")
    field(page, 0).click()
    field(page, 1).click()
    expect(field(page, 0)).to_have_accessible_name("square a2: 2")
    page.get_by_role("button", name="R: ").first.click()
    expect_position(page, "1 2 3 4 0 5")
    expect(field(page, 0)).to_have_accessible_name("square a2: 2")
    expect(verdict(page)).to_contain_text("odd permutation")
    page.get_by_role("button", name="Reset").click()
    expect(field(page, 4)).to_have_accessible_name("square b1: empty")
    expect(field(page, 0)).to_have_accessible_name("square a2: 1")
    expect(verdict(page)).to_have_text("1 move from the start; it is on the board.")


def test_a_block_moves_to_an_empty_region_and_not_onto_another(open_editor: Open) -> None:
    page = open_editor("cars")
    field(page, 8).click()  # the lower half of B, to the middle of its column
    field(page, 3).click()
    expect(verdict(page)).to_have_text("Block B does not fit there: block A is in the way.")
    field(page, 5).click()
    expect(verdict(page)).to_have_text("1 move from the start.")
    field(page, 2).click()
    field(page, 3).click()
    expect(field(page, 6)).to_have_accessible_name("square a1: B, wrong")
    expect(verdict(page)).to_have_text("This is not a position: block B must stay in column 3.")
    field(page, 3).press("Delete")
    expect(verdict(page)).to_have_text("This is not a position: block B is missing.")
    page.get_by_role("button", name="Block B, off the board").click()
    field(page, 8).click()
    expect(verdict(page)).to_have_text("Block B does not fit there: it would leave the board.")
    page.keyboard.press("Escape")


def test_a_position_that_an_unfinished_table_has_not_reached(open_editor: Open, address: str) -> None:
    api, page = Api(address, "unfinished"), open_editor("unfinished")
    target = list("450123")
    edit(page, api.get("/draft"), target)
    answer = api.check(target)
    assert answer["verdict"] == "not reached yet"
    expect_verdict(page, answer)
    use(page).click()
    expect_position(page, "4 5 0 1 2 3")
    expect(distance(page)).to_have_text("> 3")


def test_where_nothing_can_be_edited_there_is_no_button(open_page: Open) -> None:
    page = open_page("/#/alone")
    expect(page.get_by_role("button", name="Copy position")).to_be_visible()
    expect(page.get_by_role("button", name="Edit", exact=True)).to_be_hidden()


def test_keys_alone_edit_a_position(open_editor: Open) -> None:
    page = open_editor("sliding")
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.dataset.field") is None:
        page.keyboard.press("Tab")
    expect(field(page, 0)).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(field(page, 4)).to_be_focused()
    page.keyboard.press("0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("5")
    expect(verdict(page)).to_have_text("1 move from the start.")
    expect_position(page, "1 2 3 4 5 0")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(field(page, 4)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press(" ")
    expect(field(page, 1)).to_have_accessible_name("square b2: empty")
    expect(verdict(page)).to_have_text("2 moves from the start.")


def test_a_symbol_of_several_characters_is_typed(open_editor: Open) -> None:
    page = open_editor("eleven")
    undo = page.get_by_role("button", name="Undo edit")
    field(page, 2).press("2")
    expect(undo).to_be_disabled()  # it stands there already
    field(page, 2).press("1")
    expect(field(page, 2)).to_have_accessible_name("place 3: 1, wrong")
    field(page, 3).press("0")
    expect(field(page, 3)).to_have_accessible_name("place 4: 0, wrong")
    field(page, 3).press("1")
    field(page, 3).press("0")
    expect(field(page, 3)).to_have_accessible_name("place 4: 10, wrong")


def test_fingers_edit_on_a_phone(open_editor: Open) -> None:
    page = open_editor("ivy", **PHONE)
    for one in page.locator(".field").all():
        box = one.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 24
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.locator("[data-field]:not([aria-disabled])").first.tap()
    page.locator(".pick").nth(1).tap()
    expect(verdict(page)).to_contain_text("This is not a position")
    page.get_by_role("button", name="Undo edit").tap()
    expect(verdict(page)).to_contain_text("on the board")


def test_no_editor_has_a_serious_violation(open_page: Open) -> None:
    page = open_page("/")
    for name in ("ivy", "blocks", "twisty"):
        visit(page, f"/#/{name}")
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        begin_to_edit(page)
        field(page, 0).click()
        field(page, 1).click()
        expect(page.locator(".editor[aria-busy=false]")).to_be_visible()
        assert violations(page, ".editor") == {}, name
