"""The stores that were found, and stores that change while they are looked at."""

import re
from pathlib import Path

import pytest
from explorer_pages import Open, distance, visit
from explorer_site import REACHED, growing_run
from playwright.sync_api import Locator, Page, expect


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("listitem").filter(has=page.get_by_role("link", name=name, exact=True))


def test_each_store_has_a_card_that_opens_it(open_page: Open, site: Path) -> None:
    page = open_page("/")
    expect(page.get_by_role("listitem")).to_have_count(len(list(site.glob("*.zarr"))))
    tiles = card(page, "tiles").first
    expect(tiles).to_contain_text("360")
    expect(tiles).to_contain_text("21")
    expect(tiles).to_contain_text("finished")
    expect(tiles.locator("svg")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="counts only")).to_have_count(1)
    expect(card(page, "square")).to_contain_text("10")
    expect(card(page, "damaged").locator(".card-problem")).to_contain_text("commit.json")
    card(page, "damaged").get_by_role("link").click()
    expect(page.locator("#problem")).to_contain_text("commit.json")
    page.get_by_role("link", name="All stores").click()
    card(page, "hanoi").get_by_role("link").click()
    expect(page).to_have_url(re.compile("#/hanoi$"))
    expect(distance(page)).to_have_text("0")
    page.get_by_role("link", name="Antipodes", exact=True).click()
    expect(page.get_by_role("heading", name="Your tables")).to_be_visible()
    expect(card(page, "hanoi")).to_be_visible()


@pytest.mark.slow
def test_a_store_that_is_not_there_is_an_error(open_page: Open) -> None:
    page = open_page("/#/elsewhere")
    expect(page.locator("#problem")).to_contain_text("elsewhere")
    visit(page, "/#/%E0%A4%A")
    expect(page.locator("#problem")).to_contain_text("%E0%A4%A")


@pytest.mark.slow
def test_how_far_an_unfinished_table_is(open_page: Open) -> None:
    page = open_page("/")
    expect(page.get_by_role("listitem").filter(has_text="unfinished ·")).to_contain_text("unfinished, 15 %")
    visit(page, "/#/unfinished?position=4 3 2 1 5 6")
    expect(page.get_by_text("of all so far")).to_be_visible()
    visit(page, "/#/lights?position=101/010/101")  # a part is never all
    expect(page.get_by_text("farther than 99.8 % of all")).to_be_visible()


@pytest.mark.slow
def test_an_unfinished_table_says_what_it_has_not_reached(open_page: Open) -> None:
    page = open_page("/#/unfinished?position=4 6 2 5 1 3")
    expect(page.get_by_text(f"not reached yet at depth {REACHED}")).to_be_visible()
    expect(page.get_by_text(f"Unfinished: depth {REACHED} is committed")).to_be_visible()
    page.get_by_role("tab", name="Antipodes").click()
    expect(page.get_by_text("The antipodes are only known once the table is finished")).to_be_visible()


@pytest.mark.slow
def test_pages_follow_a_run_that_is_under_way(open_page: Open, site: Path) -> None:
    start, page = open_page("/"), open_page("/#/growing?position=4 6 2 5 1 3")
    growing = start.get_by_role("listitem").filter(has_text="growing")
    expect(growing).to_contain_text("unfinished")
    expect(page.get_by_text(f"not reached yet at depth {REACHED}")).to_be_visible()
    with growing_run(site / "growing.zarr"):
        expect(page.get_by_text(f"A run is under way: depth {REACHED} is committed")).to_be_visible()
        expect(growing).to_contain_text("running")
        expect(growing.get_by_role("progressbar", name="Progress of growing")).to_be_visible()
        expect(start.get_by_text("1 run under way")).to_be_visible()
    expect(distance(page)).to_have_text("7")
    expect(page.get_by_text("radius 7")).to_be_visible()
    expect(growing.get_by_text("finished", exact=True)).to_be_visible()
    expect(growing).to_contain_text("720")


@pytest.mark.slow
def test_a_store_that_is_removed_is_said(open_page: Open, site: Path) -> None:
    page = open_page("/#/doomed")
    expect(distance(page)).to_have_text("0")
    away = (site / "doomed.zarr").rename(site / "away")
    try:
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # the person comes back to the tab
        expect(page.locator("#problem")).to_contain_text("doomed")
        page.locator(".move").first.click()
        expect(page.locator("#problem")).to_contain_text("doomed")
    finally:
        away.rename(site / "doomed.zarr")  # the test of all cards may come later


@pytest.mark.slow
def test_the_service_that_ends_is_said_until_it_is_back(open_page: Open) -> None:
    page = open_page("/#/tiles", fresh=True)
    expect(distance(page)).to_have_text("0")
    page.context.set_offline(True)
    page.get_by_role("button", name="R: farther").click()
    expect(page.locator("#problem")).to_contain_text("the service does not answer")
    expect(distance(page)).to_have_text("1")  # the move was known
    page.context.set_offline(False)
    expect(page.locator("#problem")).to_be_hidden()
    expect(page.locator(".move")).to_have_count(3)


def titles(page: Page) -> Locator:
    return page.get_by_role("list", name="Stores").get_by_role("heading")


@pytest.mark.slow
def test_stores_are_found_filtered_and_sorted(open_page: Open) -> None:
    page = open_page("/")
    expect(card(page, "tiles").first).to_be_visible()
    count = titles(page).count()
    page.get_by_role("searchbox", name="Find a puzzle").fill("five TILES")  # words of a description
    expect(titles(page)).to_have_text(["counted", "tiles"])
    expect(page.get_by_text(f"2 of {count} stores")).to_be_visible()
    page.reload()
    expect(titles(page)).to_have_text(["counted", "tiles"])
    page.get_by_role("searchbox").fill("")
    page.get_by_role("combobox", name="Show").select_option(label="pancake")
    page.get_by_role("combobox", name="Sort by").select_option(label="Most positions first")
    expect(titles(page).first).to_have_text("stack")
    expect(page).to_have_url(re.compile(r"show=family%3Apancake&sort=positions"))
    page.get_by_role("combobox", name="Show").select_option(label="Tilings")
    expect(titles(page)).to_have_text(["square"])
    page.get_by_role("combobox", name="Show").select_option(label="All stores")
    page.get_by_role("combobox", name="Sort by").select_option(label="Largest radius first")
    expect(titles(page).first).to_have_text("eight-puzzle")


@pytest.mark.slow
def test_a_list_of_many_stores_is_short_on_a_phone(open_page: Open) -> None:
    page = open_page("/", viewport={"width": 390, "height": 800})
    expect(card(page, "tiles").first).to_be_visible()
    heights = page.evaluate("[...document.querySelectorAll('.card')].map(card => card.offsetHeight)")
    assert max(heights) < 150, heights
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
