"""Each number that the page shows is that of the position on the board, however late an answer comes."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen

import pytest
from explorer_pages import AN_HOUR, Open, distance, expect_position, piece, with_a_clock
from playwright.sync_api import Page, Route, expect

pytestmark = pytest.mark.slow  # a page in the browser takes seconds of CPU time

FAR, FARTHER = "6 4 7 8 5 0 3 2 1", "8 6 7 2 5 4 3 0 1"
EIGHT = f"/#/eight-puzzle?{urlencode({'position': FAR})}"
RECORDER = """() => {
  window.shown = new Set();
  const text = (selector) => document.querySelector(selector)?.textContent ?? "";
  const moves = () => [...document.querySelectorAll(".moves .move")].map((one) => one.getAttribute("aria-label"));
  const record = () => {
    const label = document.querySelector(".board svg")?.getAttribute("aria-label") ?? "";
    const position = label.match(/^Board: ([^,]*)/)?.[1];
    if (position) window.shown.add(JSON.stringify([position, text("#distance"), text(".paths"), moves()]));
  };
  const changes = { subtree: true, childList: true, characterData: true, attributes: true };
  new MutationObserver(record).observe(document.getElementById("main"), changes);
}"""
"""Records which numbers stand beside which board, after each change of the page."""


def answer(address: str, store: str, what: str, position: str) -> Any:
    """What the API says of a position."""
    with urlopen(f"{address}/api/v1/stores/{store}/{what}?{urlencode({'position': position})}") as found:
        return json.load(found)


def numbers_of(paths: str) -> str:
    """The text of a number of shortest paths."""
    return "" if paths == "0" else f"{int(paths):,} shortest path{'' if paths == '1' else 's'}"


def moves_of(address: str, store: str, position: str) -> dict[str, str]:
    """The label of each move of a position, by its name."""
    words = {-1: "nearer", 0: "as far", 1: "farther"}
    found = answer(address, store, "successors", position)
    return {one["move"]: f"{one['move']}: {words[one['change']]}, distance {one['distance']}" for one in found}


def expect_numbers(page: Page, address: str, position: str) -> None:
    """Wait for all numbers of a position of the eight-puzzle."""
    found = answer(address, "eight-puzzle", "path", position)
    expect_position(page, position)
    expect(distance(page)).to_have_text(str(found["distance"]))
    expect(page.locator(".paths")).to_have_text(numbers_of(found["count"]) if found["distance"] else "")
    labels = moves_of(address, "eight-puzzle", position).values()
    for label in labels:
        expect(page.locator(".moves").get_by_role("button", name=label, exact=True)).to_be_visible()


def check_recorded(page: Page, address: str) -> set[str]:
    """Compare all that the page has shown with the API; returns the positions."""
    positions = set()
    for position, far, paths, moves in map(json.loads, page.evaluate("[...window.shown]")):
        found = answer(address, "eight-puzzle", "path", position)
        assert far in (str(found["distance"]), ""), position
        assert paths in (numbers_of(found["count"]), ""), position
        labels = moves_of(address, "eight-puzzle", position)
        known = [one for one in moves if ":" in one]
        assert set(known) <= set(labels.values()), position
        positions.add(position)
    return positions


def test_every_number_is_that_of_the_position(open_page: Open, address: str) -> None:
    page = open_page(EIGHT, with_a_clock, fresh=True)
    page.evaluate(RECORDER)
    expect_numbers(page, address, FAR)
    page.get_by_role("button", name="Start", exact=True).click()
    start = "1 2 3 4 5 6 7 8 0"
    expect_numbers(page, address, start)
    page.get_by_role("button", name="Farthest").click()
    expect_numbers(page, address, FAR)
    page.get_by_role("button", name="Redo").click()  # the trail went back to its first entry
    expect_numbers(page, address, start)
    page.get_by_role("button", name="Undo").click()
    expect_numbers(page, address, FAR)
    page.get_by_role("button", name="Best move").click()
    page.keyboard.press("Control+z")
    expect_numbers(page, address, FAR)
    page.locator(".moves .move").first.click()
    page.go_back()
    expect_numbers(page, address, FAR)
    page.locator("#entry").fill(FARTHER)
    page.locator("#entry").press("Enter")
    expect_numbers(page, address, FARTHER)
    play_some_steps(page, address)
    assert {start, FAR, FARTHER} < check_recorded(page, address)


def play_some_steps(page: Page, address: str) -> None:
    """Play three moves of the shortest path, and go on by hand."""
    path = answer(address, "eight-puzzle", "path", FARTHER)["path"]
    page.clock.pause_at(AN_HOUR)
    page.get_by_role("button", name="Play a shortest path to the start").click()
    page.clock.run_for(1900)  # a step takes 620 milliseconds
    expect_position(page, path[3])
    page.get_by_role("button", name="Pause").click()
    expect_numbers(page, address, path[3])
    page.get_by_role("button", name="Undo").click()
    expect_numbers(page, address, path[2])


class Held:
    """Requests that wait until a test releases them, and all later ones."""

    def __init__(self, page: Page, address: str) -> None:
        self.routes: list[Route] = []
        self.released = False
        page.route(re.compile(address), self.take)

    def take(self, route: Route) -> None:
        if self.released:
            route.continue_()
        else:
            self.routes.append(route)

    def release(self) -> None:
        self.released = True
        for route in self.routes:
            route.continue_()

    def asked(self) -> list[str]:
        return [parse_qs(urlsplit(route.request.url).query)["position"][0] for route in self.routes]


def test_a_late_number_of_paths_is_not_shown_beside_another_position(open_page: Open, address: str) -> None:
    page = open_page("/#/eight-puzzle")
    expect(page.locator(".move")).to_have_count(2)
    held = Held(page, r"/path\?")
    with page.expect_request(re.compile(r"/path\?")) as late:
        page.get_by_role("button", name="Farthest").click()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("this is the start", exact=True)).to_be_visible()
    page.evaluate(RECORDER)
    with page.expect_event("requestfinished", lambda one: one == late.value):
        held.release()
    page.get_by_role("tab", name="Graph").click()  # the page goes on after the answer
    expect(page.locator(".graph-words")).not_to_be_empty()
    expect(page.locator(".paths")).to_have_text("")
    check_recorded(page, address)


def test_moves_are_not_said_to_lead_where_they_led_before(open_page: Open) -> None:
    page = open_page("/#/tiles?position=1 2 3 0 4 5")
    moves = page.locator(".moves")
    expect(moves.get_by_role("button", name="L: nearer, distance 1")).to_be_visible()
    held = Held(page, r"/view\?")
    page.keyboard.press("Space")
    expect(distance(page)).to_have_text("1")
    expect(moves.get_by_role("button", name="L", exact=True)).to_have_text("L…")
    expect(page.get_by_text("of them leads nearer")).to_be_hidden()
    expect(page.get_by_role("button", name="Best move")).to_be_disabled()
    held.release()
    expect(moves.get_by_role("button", name="L: nearer, distance 0")).to_be_visible()


def test_a_click_that_ends_after_the_moves_are_known_offers_them(open_page: Open) -> None:
    page = open_page("/#/tiles")
    expect(page.locator(".move")).to_have_count(2)
    held = Held(page, r"/view\?")
    piece(page, "5").click()
    expect(distance(page)).to_have_text("1")
    box = piece(page, "5").bounding_box()
    assert box
    page.mouse.move(box["x"] - box["width"] / 2, box["y"] + box["height"] / 2)  # the empty place
    page.mouse.down()
    held.release()
    expect(page.get_by_role("button", name="L: nearer, distance 0")).to_be_visible()
    page.mouse.up()
    expect(page.get_by_role("group", name="Moves of this piece").get_by_role("button")).to_have_count(3)


def test_play_begins_at_the_position_on_the_board(open_page: Open) -> None:
    page = open_page("/#/tiles?position=0 2 3 1 4 5")
    expect(page.locator(".paths")).to_have_text("1 shortest path")
    held, paths = Held(page, r"/view\?"), Held(page, r"/path\?")
    page.keyboard.press("Space")
    expect(distance(page)).to_have_text("2")
    page.get_by_role("button", name="Play a shortest path to the start").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    paths.release()
    expect(distance(page)).to_have_text("0")
    assert paths.asked() == ["1 2 3 0 4 5"]
    held.release()
    expect(page.locator(".trail .point")).to_have_count(4)


def test_what_was_meant_for_one_position_is_not_done_at_another(open_page: Open) -> None:
    page = open_page("/#/tiles?position=0 2 3 1 4 5")
    expect(page.locator(".paths")).to_have_text("1 shortest path")
    held = Held(page, r"/view\?")
    page.keyboard.press("Space")
    expect(distance(page)).to_have_text("2")
    page.keyboard.press("Space")  # waits for the moves of this position
    page.get_by_role("button", name="Undo").click()
    expect(distance(page)).to_have_text("3")
    held.release()
    expect(page.locator(".paths")).to_have_text("1 shortest path")
    expect_position(page, "0 2 3 1 4 5")


@pytest.mark.parametrize(
    ("jump", "later"),
    [
        ("random", "move"),
        ("moves", "back"),
        pytest.param("farthest", "undo", marks=pytest.mark.slow),
        pytest.param("position", "start", marks=pytest.mark.slow),
    ],
)
def test_a_late_answer_does_not_undo_a_later_step(open_page: Open, jump: str, later: str) -> None:
    asked, act = JUMPS[jump]
    page = open_page("/#/tiles?position=1 2 0 4 5 3")
    expect(distance(page)).to_have_text("1")
    page.get_by_role("button", name="R: farther, distance 2").click()
    expect(page.get_by_role("button", name="L: nearer, distance 1")).to_be_visible()
    held = Held(page, asked)
    with page.expect_request(re.compile(asked)):
        act(page)
    step, there = LATER_STEPS[later]
    step(page)
    expect(distance(page)).to_have_text(there)
    held.release()
    page.get_by_role("tab", name="Graph").click()  # the page goes on after the answer
    expect(page.locator(".graph-words")).not_to_be_empty()
    expect(distance(page)).to_have_text(there)
    expect(page.locator("#problem")).to_be_hidden()


JUMPS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "random": (r"/random", lambda page: page.get_by_role("button", name="Random").click()),
    "farthest": (r"/antipodes", lambda page: page.get_by_role("button", name="Farthest").click()),
    "position": (r"/view\?position=0", lambda page: submit(page, "0 2 3 1 4 5")),
    "moves": (r"/view\?position=R", lambda page: submit(page, "R R")),
}
"""What a person does whose answer is late, and the address that is asked."""
LATER_STEPS: dict[str, tuple[Callable[[Page], None], str]] = {
    "move": (lambda page: page.get_by_role("button", name="L: nearer, distance 1").click(), "1"),
    "undo": (lambda page: page.get_by_role("button", name="Undo").click(), "1"),
    "start": (lambda page: page.get_by_role("button", name="Start", exact=True).click(), "0"),
    "back": (lambda page: page.evaluate("history.back()"), "1"),
}
"""What a person does while an answer is late, and the distance to which it leads."""


def submit(page: Page, text: str) -> None:
    """Type a position or moves, and leave the field."""
    page.locator("#entry").fill(text)
    page.locator("#entry").press("Enter")


def test_a_late_answer_does_not_change_another_store(open_page: Open) -> None:
    page = open_page("/#/tiles")
    expect(distance(page)).to_have_text("0")
    held = Held(page, r"/random")
    with page.expect_request(re.compile("/random")) as late:
        page.get_by_role("button", name="Random").click()
    with page.expect_event("requestfailed", lambda one: one == late.value):  # nobody waits for it any more
        page.evaluate("location.hash = '#/one-way'")
    expect(page.get_by_role("heading", name="one-way")).to_be_visible()
    held.release()
    page.get_by_role("tab", name="Distribution").click()
    expect(page).to_have_url(re.compile("#/one-way.view=distribution$"))


def test_a_list_is_there_again_when_its_depth_is_chosen_again(open_page: Open) -> None:
    page = open_page("/#/tiles?view=distribution")
    boards = page.get_by_role("button", name="Put on the board")
    expect(distance(page)).to_have_text("0")  # the chart is drawn anew with the mark of the position
    for count in (3, 0, 3):
        page.get_by_role("button", name="depth 2: 3 positions").click()
        expect(boards).to_have_count(count)
    boards.nth(1).click()
    expect(boards.nth(1)).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".view [aria-current]")).to_have_count(0)


def test_a_pattern_leaves_with_its_answer(open_page: Open) -> None:
    page = open_page("/#/tiles?view=pattern&pattern=1 ? ? ? ? 0")
    words = page.get_by_text("24 positions match")
    expect(words).to_be_visible()
    page.locator("#pattern").fill("")
    page.get_by_role("button", name="Count").click()
    expect(words).to_be_hidden()
    expect(page.locator(".view .thumb")).to_have_count(0)
    page.go_back()
    expect(words).to_be_visible()
    page.locator("#pattern").fill("(")
    page.get_by_role("button", name="Count").click()
    expect(page.locator("#problem")).to_contain_text("pattern '('")
    expect(words).to_be_hidden()


def test_a_path_is_shown_again_after_a_visit_to_the_start(open_page: Open) -> None:
    page = open_page("/#/tiles?position=1 2 3 0 4 5")
    page.get_by_role("button", name="Show a shortest path").click()
    boards = page.get_by_role("region", name="Boards of the path").get_by_role("button")
    expect(boards).to_have_count(3)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".path")).to_be_hidden()
    page.get_by_role("button", name="Undo").click()
    expect(boards).to_have_count(3)
    expect(page.locator(".sequence")).to_have_text("L L")
