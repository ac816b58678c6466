"""The views of a table: distribution, antipodes, pattern; and counts."""

import io
import re

import pytest
from explorer_pages import Open, distance, expect_position, visit
from PIL import Image
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.slow  # a page in the browser takes seconds of CPU time

LAYERS = [1, 2, 3, 5, 6, 7, 10, 12, 12, 16, 23, 25, 28, 39, 44, 40, 29, 21, 18, 12, 6, 1]
"""Of the 2x3 puzzle: A151944 of the OEIS counts its antipodes, and the sum is 360."""


def open_view(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def heights(page: Page) -> list[float]:
    return [float(bar.get_attribute("height") or 0) for bar in page.locator(".chart .bar .fill").all()]


def test_the_distribution_is_drawn_linear_and_logarithmic_and_is_a_table_too(open_page: Open) -> None:
    page = open_page("/#/tiles?view=distribution")
    bars = page.get_by_role("group", name="Positions at each depth").get_by_role("button")
    expect(bars).to_have_count(len(LAYERS))
    assert [int(re.findall(r": (\d+)", bar.get_attribute("aria-label") or "")[0]) for bar in bars.all()] == LAYERS
    linear = heights(page)
    assert linear.index(max(linear)) == LAYERS.index(max(LAYERS))
    page.get_by_role("button", name="Logarithmic").click()
    expect(page).to_have_url(re.compile("scale=log"))
    assert heights(page)[1] > linear[1]
    page.get_by_text("As numbers").click()
    expect(page.get_by_role("row", name="14 44")).to_be_visible()


def test_a_bar_of_tabs_that_fits_has_no_shadow(open_page: Open) -> None:
    page = open_page("/#/tiles?view=distribution", color_scheme="dark")
    tabs = page.get_by_role("tablist", name="Views")
    expect(tabs).to_be_visible()
    image = Image.open(io.BytesIO(tabs.screenshot())).convert("L")
    assert len({image.getpixel((x, image.height // 8)) for x in (1, 8, image.width - 8, image.width - 2)}) == 1


def test_the_last_depth_is_labelled(open_page: Open) -> None:
    page = open_page("/#/tiles?view=distribution", viewport={"width": 390, "height": 800})
    labels = page.locator(".chart text.tick[text-anchor=middle]")
    expect(labels.last).to_have_text("21")
    chart, label = page.locator(".chart").bounding_box(), labels.last.bounding_box()
    assert chart
    assert label
    assert label["x"] + label["width"] <= chart["x"] + chart["width"], "the label is not cut"


def test_percentages_are_rounded_but_never_to_all(open_page: Open) -> None:
    parts = [0.99877, 0.99949, 0.999999999, 0.991, 0.5051, 0.0126, 1]
    page = open_page("/")
    found = page.evaluate(
        "async (parts) => parts.map((await import(document.scripts[0].src.replace('main', 'elements'))).formatPercent)",
        parts,
    )
    assert found == ["99.9 %", "99.9490 %", "99.9999 %", "99.1 %", "51 %", "1.3 %", "100 %"]


def test_a_bar_of_tabs_that_scrolls_has_a_shadow_where_tabs_are_hidden(open_page: Open) -> None:
    page = open_page("/#/tiles?view=distribution", viewport={"width": 390, "height": 800})
    tabs = page.get_by_role("tablist", name="Views")
    expect(tabs).to_be_visible()
    assert tabs.evaluate("one => one.scrollWidth > one.clientWidth")
    shown = []
    for left in (0, 10_000):
        tabs.evaluate("(one, left) => { one.scrollLeft = left; }", left)
        image = Image.open(io.BytesIO(tabs.screenshot())).convert("L")
        shown.append([image.getpixel((x, image.height // 8)) for x in (0, image.width - 1)])
    (begin, hidden_right), (hidden_left, end) = shown
    assert begin == end
    assert hidden_right != end
    assert hidden_left != begin


def test_a_bar_lists_positions_at_its_depth(open_page: Open) -> None:
    page = open_page("/#/tiles?view=distribution")
    expect(distance(page)).to_have_text("0")  # the chart is drawn anew with the mark of the position
    page.get_by_role("button", name="depth 2: 3 positions").click()
    boards = page.get_by_role("button", name="Put on the board")
    expect(boards).to_have_count(3)
    boards.first.click()
    expect(distance(page)).to_have_text("2")
    expect(page.get_by_role("button", name="depth 2: 3 positions, this position")).to_be_visible()
    page.get_by_role("button", name="depth 14: 44 positions").click()
    expect(page.get_by_role("heading", name="44 positions at depth 14")).to_be_visible()
    expect(boards).to_have_count(24)
    page.get_by_role("button", name="Show more").click()
    expect(boards).to_have_count(44)
    page.get_by_role("button", name="A random one").click()
    expect(distance(page)).to_have_text("14")


def test_the_antipodes_are_a_gallery(open_page: Open) -> None:
    page = open_page("/#/jumps?view=antipodes")
    expect(page.get_by_text("positions are farthest")).to_be_visible()
    boards = page.get_by_role("button", name="Put on the board")
    boards.first.click()
    expect(boards.first).to_have_attribute("aria-current", "true")
    expect(distance(page)).to_have_text(page.locator(".facts span").first.inner_text().removeprefix("radius "))


def test_a_pattern_has_a_distribution_beside_the_whole(open_page: Open) -> None:
    page = open_page("/#/tiles")
    open_view(page, "Pattern")
    page.locator("#pattern").fill("1 ? ? ? ? 0")
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("24 positions match, 12 of them reached.")).to_be_visible()
    expect(page.locator(".chart .behind")).to_have_count(len(LAYERS))
    expect(page.get_by_role("heading", name="Nearest: 1 at depth 0")).to_be_visible()
    page.locator(".view .thumbs").last.get_by_role("button").first.click()
    expect(distance(page)).not_to_have_text("0")
    page.locator("#pattern").fill("1 ? (")
    page.get_by_role("button", name="Count").click()
    expect(page.locator("#problem")).to_contain_text("pattern '1 ? ('")


def test_what_is_wrong_with_an_address_stays_in_sight(open_page: Open) -> None:
    page = open_page("/#/tiles?view=pattern&pattern=1 ? (")
    expect(distance(page)).to_have_text("0")
    expect(page.locator(".paths")).to_have_count(1)
    expect(page.locator("#problem")).to_contain_text("pattern '1 ? ('")


def test_views_are_in_the_address_and_in_the_history(open_page: Open) -> None:
    page = open_page("/#/tiles")
    expect(page.get_by_role("tab", name="Moves")).to_have_attribute("aria-selected", "true")
    open_view(page, "Antipodes")
    expect(page.get_by_text("1 position is farthest: 21 moves from the start.")).to_be_visible()
    open_view(page, "Distribution")
    page.go_back()
    expect(page.get_by_role("tab", name="Antipodes")).to_have_attribute("aria-selected", "true")


def test_counts_show_their_distribution_and_antipodes(open_page: Open) -> None:
    page = open_page("/#/counted")
    expect(distance(page)).to_have_text("21")
    expect(page.locator(".chart .bar")).to_have_count(len(LAYERS))
    expect(page.get_by_text("only their counts were kept, so positions cannot be queried")).to_be_visible()
    expect(page.get_by_role("tab")).to_have_count(2)
    visit(page, "/#/markup")  # names are text
    expect(page.get_by_text("<b>&\"'", exact=True).first).to_be_visible()
    expect_position(page, "<b>&\"' 1 2")
    assert page.locator("main b").count() == 0
