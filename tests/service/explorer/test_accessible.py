"""The page for everyone: screen readers, keyboards, phones, light and dark, less motion."""

import pytest
from browsers import violations
from explorer_pages import Open, distance, expect_position, visit
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.slow  # a page in the browser takes seconds of CPU time

VIEWS = {
    "start": ("/", ".card"),
    "moves": ("/#/tiles?position=1 2 3 0 4 5", ".move"),
    "distribution": ("/#/tiles?view=distribution&depth=2", ".thumb"),
    "pattern": ("/#/tiles?view=pattern&pattern=1 ? ? ? ? 0", ".thumb"),
    "unfinished": ("/#/unfinished", ".move"),
}
"""An address of each view, and what is there once it is complete; the other views have the same parts."""
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
WAYS = (*(path for path, _ in VIEWS.values()), "/#/blocks?view=antipodes", "/#/counted", "/#/wide", "/#/twisty")


def shown(page: Page, name: str) -> Page:
    path, last = VIEWS[name]
    visit(page, path)
    expect(page.locator(last).first).to_be_visible()
    return page


def test_no_view_has_a_serious_violation(open_page: Open) -> None:
    page = open_page("/")
    assert {name: violations(shown(page, name)) for name in VIEWS} == {name: {} for name in VIEWS}


def test_nothing_overflows_on_a_phone(open_page: Open) -> None:
    page, wide = open_page("/", **PHONE), {}
    for path in WAYS:
        visit(page, path)
        expect(page.locator("main").locator(".card, .move, .bar, .thumb").first).to_be_visible()
        wide[path] = page.evaluate("document.documentElement.scrollWidth")
    assert wide == dict.fromkeys(WAYS, PHONE["viewport"]["width"])  # type: ignore[index]


def test_a_phone_shows_the_board_and_the_distance_at_once(open_page: Open) -> None:
    page = open_page("/#/tiles?position=1 2 3 0 4 5", **PHONE)
    expect(distance(page)).to_have_text("2")
    box = distance(page).bounding_box()
    assert box
    assert box["y"] + box["height"] < 740
    page.locator(".board g.piece").filter(has=page.locator("text='4'")).tap()
    expect(distance(page)).to_have_text("1")


def tab_to(page: Page, name: str) -> None:
    """Press the tab key until the focus is on a control of this name."""
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
        )
        if str(focused).strip().startswith(name):
            return
    raise AssertionError(f"the tab key never reaches {name}")


def test_all_is_done_by_keys_alone(open_page: Open) -> None:
    page = open_page("/")
    expect(page.locator(".card").first).to_be_visible()
    tab_to(page, "tiles")
    page.keyboard.press("Enter")
    expect(distance(page)).to_have_text("0")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(distance(page)).to_have_text("1")
    tab_to(page, "D: ")
    page.keyboard.press("Enter")
    expect(distance(page)).to_have_text("2")
    expect(page.locator(".move:focus")).to_be_visible()
    page.get_by_role("tab", name="Moves").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Distribution")).to_be_focused()
    expect(page.get_by_role("button", name="depth 2:").first).to_be_visible()
    tab_to(page, "depth 2:")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="5 positions at depth 3")).to_be_visible()
    expect(page.get_by_role("button", name="depth 3: 5 positions")).to_be_focused()
    tab_to(page, "Put on the board")
    page.keyboard.press("Enter")
    expect(distance(page)).to_have_text("3")


def test_the_first_tab_skips_to_the_content(open_page: Open) -> None:
    page = open_page("/#/tiles")
    expect(distance(page)).to_have_text("0")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    expect_position(page, "1 2 3 4 5 0")


def test_a_reader_hears_the_distance(open_page: Open) -> None:
    page = open_page("/#/tiles?position=1 2 3 0 4 5")
    expect(page.locator("[aria-live=polite]", has=distance(page))).to_contain_text("moves from the start")
    expect(page.get_by_role("img", name="Board: 1 2 3 0 4 5, distance 2")).to_be_visible()


def test_the_switch_of_colours_is_remembered(open_page: Open) -> None:
    page = open_page("/", color_scheme="light")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.get_by_role("button", name="Colours: as the system").click()
    page.get_by_role("button", name="Colours: light").click()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert page.evaluate(colour) != light
    page.reload()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert page.evaluate(colour) != light


@pytest.mark.parametrize(("motion", "glides"), [("reduce", False), ("no-preference", True)])
def test_pieces_glide_unless_less_motion_is_asked_for(open_page: Open, motion: str, glides: bool) -> None:
    page = open_page("/#/tiles?position=1 2 3 0 4 5", reduced_motion=motion)
    expect(page.locator(".move")).to_have_count(2)
    page.evaluate(
        "() => { const animate = Element.prototype.animate; window.glides = 0;"
        " Element.prototype.animate = function (...given) { window.glides++; return animate.apply(this, given); }; }"
    )
    page.keyboard.press("Space")
    expect(distance(page)).to_have_text("1")
    assert (page.evaluate("window.glides") > 0) is glides
