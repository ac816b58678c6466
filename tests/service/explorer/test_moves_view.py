"""The legal moves, previews, the meaning of names, stickers, letter keys, other paths, and the sign of loading."""

import re
from typing import Any

import pytest
from explorer_pages import Open, distance, expect_position, piece, visit
from playwright.sync_api import Locator, Page, Route, expect

pytestmark = pytest.mark.slow  # a page in the browser takes seconds of CPU time

TILES = "/#/tiles?position=1 2 3 0 4 5"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def moves(page: Page) -> Locator:
    return page.get_by_role("group", name="Legal moves").get_by_role("button")


def sticker(page: Page, number: int) -> Locator:
    """A sticker of a net, in reading order."""
    stickers = page.locator(".board g.piece").filter(has=page.locator("rect, polygon"))
    return stickers.nth(number)


def test_moves_are_sorted_by_what_they_lead_to(open_page: Open) -> None:
    page = open_page("/#/pancakes?position=5 1 4 2 3")
    expect(moves(page)).to_have_count(4)
    signs = page.locator(".move .sign").all_inner_texts()
    order = ["−1", "0", "+1"]
    assert signs == sorted(signs, key=order.index)
    assert len(set(signs)) > 1


def test_a_move_is_shown_on_the_board_before_it_is_made(open_page: Open) -> None:
    page = open_page(TILES)
    left = moves(page).filter(has_text="L")
    expect(page.get_by_role("img", name="Board: 1 2 3 0 4 5, distance 2")).to_be_visible()
    page.mouse.move(5, 5)
    left.hover()
    expect(page.get_by_role("img", name="Preview of L: 1 2 3 4 0 5, nearer, distance 1")).to_be_visible()
    expect(page.locator(".board .changed")).to_have_count(1)
    expect_position(page, "1 2 3 0 4 5")
    expect(distance(page)).to_have_text("2")
    page.mouse.move(5, 5)
    expect(page.get_by_role("img", name="Board: 1 2 3 0 4 5, distance 2")).to_be_visible()
    left.click()
    expect(page.get_by_role("img", name="Board: 1 2 3 4 0 5, distance 1")).to_be_visible()
    expect(page.locator(".board.preview")).to_have_count(0)  # the pointer rests
    page.mouse.move(5, 5)
    moves(page).first.hover()
    expect(page.locator(".board.preview")).to_have_count(1)
    page.mouse.move(5, 5)
    piece(page, "5").click()  # the preview has left the pieces where they are
    expect_position(page, "1 2 3 4 5 0")


def test_the_focus_shows_a_move_and_enter_makes_it(open_page: Open) -> None:
    page = open_page(TILES)
    expect(moves(page)).to_have_count(2)
    page.get_by_role("tab", name="Moves").focus()
    page.keyboard.press("Tab")
    if page.evaluate("document.activeElement.id") == "view":
        page.keyboard.press("Tab")
    expect(moves(page).first).to_be_focused()
    expect(page.get_by_role("img", name="Preview of L")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("img", name="Board: 1 2 3 4 0 5, distance 1")).to_be_visible()
    expect(page.locator(".move:focus")).to_have_count(1)
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".board.preview")).to_have_count(0)


def test_a_sticker_offers_the_turns_of_its_piece_those_of_its_face_first(open_page: Open) -> None:
    page = open_page("/#/2x2x2")
    expect(page.locator(".board .movable")).to_have_count(24)
    page.mouse.move(*centre(sticker(page, 6)))  # the front face begins in the second row of the net
    page.mouse.down()
    page.mouse.up()
    menu = page.get_by_role("group", name="Moves of this piece").get_by_role("button")
    expect(menu).to_have_count(9)
    names = [text.split(":")[0] for text in (one.get_attribute("aria-label") or "" for one in menu.all())]
    assert names[:3] == ["F", "F2", "F'"]
    assert {name[0] for name in names} == {"F", "U", "L"}
    menu.first.click()
    expect(distance(page)).to_have_text("1")
    page.keyboard.press("Shift+F")
    expect(distance(page)).to_have_text("0")


def centre(made: Locator) -> tuple[float, float]:
    box = made.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_letters_turn_faces(open_page: Open) -> None:
    page = open_page("/#/2x2x2")
    expect(moves(page)).to_have_count(18)
    page.keyboard.press("r")
    expect(distance(page)).to_have_text("1")
    page.keyboard.press("u")
    expect(distance(page)).to_have_text("2")
    page.keyboard.press("Shift+U")
    expect(distance(page)).to_have_text("1")
    page.keyboard.press("Shift+R")
    expect(distance(page)).to_have_text("0")
    page.locator("#entry").press("r")
    expect(distance(page)).to_have_text("0")


def test_a_letter_of_an_illegal_move_says_so(open_page: Open) -> None:
    page = open_page("/#/tiles")
    expect(moves(page)).to_have_count(2)
    page.keyboard.press("u")
    expect(page.locator("#said")).to_have_text("U is not legal here")
    page.keyboard.press("r")
    expect(distance(page)).to_have_text("1")


HINTS = {
    "tiles": ("Click or drag a piece; ← → ↑ ↓ move a piece; Space makes a best move.", "Tap or drag a piece."),
    "lights": ("Click a piece to move or change it; Space makes a best move.", "Tap a piece to move or change it."),
    "one-way": ("Click or drag a piece; A B make the moves with these names.", "Tap or drag a piece."),
    "2x2x2": (
        "Click a sticker to choose a turn of its piece; U F R D … make the moves with these names, Shift+U makes U';"
        " Space makes a best move.",
        "Tap a sticker to choose a turn of its piece.",
    ),
}
"""For each store, how the board is used with a mouse and a keyboard, and with fingers."""


@pytest.mark.parametrize(("number", "options"), [(0, {}), (1, PHONE)])
def test_hints_name_what_applies(open_page: Open, number: int, options: dict[str, Any]) -> None:
    page = open_page("/", **options)
    for name, texts in HINTS.items():
        visit(page, f"/#/{name}")
        expect(page.locator(".hint").first).to_have_text(texts[number])
        expect(page.locator(".hint").first).to_be_visible()
    if options:
        visit(page, "/#/tiles?view=graph")
        expect(page.locator(".graph-hint")).not_to_contain_text("keys")


def test_the_names_of_moves_are_explained(open_page: Open) -> None:
    page = open_page("/#/2x2x2")
    page.get_by_text("What the names mean").click()
    expect(page.locator(".meanings div").filter(has_text="R'")).to_have_text("R'undoes R")
    visit(page, "/#/one-way")
    expect(page.get_by_role("heading", name="one-way")).to_be_visible()
    page.get_by_text("What the names mean").click()
    expect(page.locator(".meanings")).to_contain_text("(0 1 2 3 4)")


def test_other_shortest_paths_are_stepped_through(open_page: Open) -> None:
    page = open_page("/#/pancakes?position=2 5 3 1 4")
    page.get_by_role("button", name="Show a shortest path").click()
    place, sequence = page.locator(".path-place"), page.locator(".sequence")
    expect(place).to_have_text(re.compile(r"^path 1 of \d+, \d+ moves$"))
    count = int(re.findall(r"of (\d+)", place.inner_text())[0])
    expect(page.locator(".paths")).to_have_text(f"{count} shortest paths")
    seen = {sequence.inner_text()}
    following = page.get_by_role("button", name="Next path")
    for number in range(2, count + 1):
        following.click()
        expect(place).to_contain_text(f"path {number} of {count}")
        seen.add(sequence.inner_text())
    assert len(seen) == count > 1
    expect(following).to_be_disabled()
    expect(page.get_by_role("button", name="Previous path")).to_be_focused()
    page.keyboard.press("Enter")
    expect(place).to_contain_text(f"path {count - 1} of {count}")
    moves(page).first.click()
    expect(place).to_contain_text(re.compile("path 1 of|the only one"))


def test_a_path_of_one_way_moves_begins_at_the_start(open_page: Open) -> None:
    page = open_page("/#/one-way?position=2 3 4 0 1")
    page.get_by_role("button", name="Show a shortest path").click()
    expect(page.get_by_role("heading", name="shortest path from the start")).to_be_visible()
    boards = page.get_by_role("region", name="Boards of the path").get_by_role("button")
    expect(boards.first).to_have_attribute("title", "0 1 2 3 4")
    expect(boards.last).to_have_attribute("aria-current", "true")


def test_words_of_goals_and_of_several_starts(open_page: Open) -> None:
    page = open_page("/#/goal")
    expect(page.locator(".distance-words")).to_have_text("moves from the goal")
    page.locator("#entry").fill("0 1 2 / 3 4 5")
    page.locator("#entry").press("Enter")
    expect(page.locator(".distance-words")).to_have_text("this is the goal")
    visit(page, "/#/starts")
    expect(page.locator(".distance-words")).to_have_text("this is a start")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".distance-words")).to_have_text("move from the nearest start")


def test_a_sign_of_loading_after_half_a_second(open_page: Open) -> None:
    page = open_page(TILES, lambda page: page.clock.install(time=0), fresh=True)
    expect(moves(page)).to_have_count(2)
    page.clock.pause_at(3600)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/antipodes?*", hold)
    with page.expect_request("**/antipodes?*"):
        page.get_by_role("button", name="Farthest").click()
    sign = page.locator(".loading")
    page.clock.run_for(400)
    expect(sign).to_be_hidden()
    page.clock.run_for(200)
    expect(sign).to_have_text("Loading…")
    expect(sign).to_be_visible()
    held[0].continue_()
    expect(distance(page)).to_have_text("21")
    expect(sign).to_be_hidden()
