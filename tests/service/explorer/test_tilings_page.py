"""The page of tilings as a person uses it: the gallery, conditions, one tiling large, the keyboard."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from browsers import violations
from explorer_pages import AN_HOUR, Open, copied, with_a_clock
from explorer_site import served
from playwright.sync_api import Locator, Page, expect
from stores import stop_after
from tiling_stores import BOX, COPIES, IMPOSSIBLE, SQUARE, tiled

from antipodes.tables.run import RunOptions
from antipodes.tilings.board_config import BoardConfig
from antipodes.tilings.run import tile_board
from antipodes.tilings.table import Tilings, open_tilings

DOMINOES = {"name": "dominoes", "cells": "\n".join(["......"] * 6), "pieces": {"D": {"shape": "##", "count": 18}}}
RING = {"name": "ring", "cells": "\n".join(["....", ".##.", "...."]), "pieces": {"D": {"shape": "##", "count": 5}}}
MANY = 6728
"""Tilings of a 6x6 board with dominoes (P. W. Kasteleyn, 1961); the store has one of each orbit."""
BOARDS: dict[str, dict[str, Any]] = {
    "square": SQUARE,
    "box": BOX,
    "copies": COPIES,
    "impossible": IMPOSSIBLE,
    "dominoes": DOMINOES,
    "ring": RING,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tilings")
    for name, board in BOARDS.items():
        tiled(board, made / f"{name}.zarr")
    tile_board(
        BoardConfig(SQUARE),
        made / "growing.zarr",
        options=RunOptions(workers=1, checkpoint_every=0),
        interrupted=stop_after(3),
    )
    return made


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as found:
        yield found


def cells(page: Page) -> Locator:
    return page.get_by_role("option")


def cell(page: Page, place: int, count: int) -> Locator:
    return page.get_by_role("option", name=re.compile(f"^tiling {place:,} of {count:,}$"))


def words(page: Page) -> Locator:
    return page.locator(".tilings-head .lead")


def numbers(tilings: Tilings, *conditions: str) -> str:
    """The words above the gallery: the numbers of tilings up to symmetry and in all."""
    found = tilings.matching(*conditions)
    classes, copies = (f"{found.classes:,} of ", f"{found.copies:,} of ") if conditions else ("", "")
    return f"{classes}{tilings.classes:,} tilings up to symmetry, {copies}{tilings.copies:,} in all"


def large(page: Page) -> Locator:
    return page.get_by_role("region", name="One tiling")


def areas(page: Page) -> Locator:
    """The pieces that are laid in the large picture, by their names."""
    return page.locator(".large-figure svg g")


def board_cell(page: Page, row: int, column: int) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^row {row}, column {column}(,|$)"))


def test_all_tilings_of_a_small_board_are_there(open_page: Open) -> None:
    page = open_page("/#/square")
    expect(words(page)).to_have_text("10 tilings up to symmetry, 80 in all")
    expect(cells(page)).to_have_count(10)
    expect(page.locator(".gallery-cell svg")).to_have_count(10)
    expect(cell(page, 10, 10)).to_be_visible()


@pytest.mark.slow
def test_a_gallery_of_many_has_only_what_is_seen(open_page: Open, folder: Path) -> None:
    dominoes = open_tilings(folder / "dominoes.zarr")
    count = len(dominoes)
    assert MANY / 8 <= count < MANY / 7
    page = open_page("/#/dominoes")
    expect(words(page)).to_have_text(numbers(dominoes))
    expect(cell(page, 1, count)).to_be_visible()
    assert cells(page).count() < 80
    # At once: a wheel's way there has frames, and on a busy machine the page would note a place between two of them.
    page.locator(".gallery").evaluate("gallery => gallery.scrollTo(0, gallery.scrollHeight)")
    expect(cell(page, count, count)).to_be_visible()
    expect(cell(page, 1, count)).to_have_count(0)
    assert cells(page).count() < 80
    page.wait_for_url(re.compile(r"at=\d+"))
    page.reload()
    expect(cell(page, count, count)).to_be_visible()


@pytest.mark.slow
def test_keys_walk_through_the_gallery(open_page: Open) -> None:
    page = open_page("/#/square")
    cell(page, 1, 10).focus()
    page.keyboard.press("ArrowRight")
    expect(cell(page, 2, 10)).to_be_focused()
    page.keyboard.press("End")
    expect(cell(page, 10, 10)).to_be_focused()
    page.keyboard.press("Enter")
    expect(large(page).get_by_role("heading", name="Tiling 10")).to_be_visible()
    expect(cell(page, 10, 10)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(large(page)).to_have_count(0)
    expect(cell(page, 10, 10)).to_be_focused()
    page.keyboard.press("Home")
    expect(cell(page, 1, 10)).to_be_focused()


@pytest.mark.slow
def test_a_tiling_is_laid_piece_by_piece(open_page: Open) -> None:
    page = open_page("/#/square?tiling=4")
    expect(areas(page)).to_have_count(5)
    slider = page.get_by_role("slider", name="Pieces laid")
    slider.press("Home")
    expect(areas(page)).to_have_count(0)
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(areas(page)).to_have_count(2)
    expect(page.get_by_role("img", name="Tiling 4, 2 of 5 pieces laid")).to_be_visible()
    page.wait_for_url(re.compile("step=2"))
    large(page).get_by_role("button", name="Play").click()
    expect(areas(page)).to_have_count(5)
    expect(large(page).get_by_role("button", name="Play")).to_be_visible()
    expect(page).not_to_have_url(re.compile("step"))


@pytest.mark.slow
def test_the_next_and_the_images_of_a_tiling(open_page: Open) -> None:
    page = open_page("/#/square?tiling=4")
    images = page.get_by_role("button", name=re.compile("^Symmetric image"))
    expect(images).to_have_count(7)  # and the tiling itself
    itself = page.locator(".large-figure svg").inner_html()
    images.first.click()
    page.wait_for_url(re.compile("image=1"))
    assert page.locator(".large-figure svg").inner_html() != itself
    page.get_by_role("button", name="Next tiling").click()
    expect(page.get_by_role("heading", name="Tiling 5")).to_be_visible()
    expect(page.get_by_role("button", name="The tiling itself")).to_have_attribute("aria-pressed", "true")


def test_conditions_choose_among_the_tilings(open_page: Open, folder: Path) -> None:
    tilings = open_tilings(folder / "square.zarr")
    page = open_page("/#/square")
    page.get_by_role("radio", name="W", exact=True).click()
    board_cell(page, 3, 3).click()
    covering = len(tilings.where("W covers 2,2"))
    assert 0 < covering < 10
    expect(words(page)).to_have_text(numbers(tilings, "W covers 2,2"))
    expect(cells(page)).to_have_count(covering)
    expect(board_cell(page, 3, 3)).to_have_text("W")
    page.get_by_role("radio", name="I", exact=True).click()
    page.get_by_role("radio", name="avoids").click()
    board_cell(page, 1, 1).click()
    board_cell(page, 1, 5).click()
    both = tilings.where("W covers 2,2", "I avoids 0,0 0,4")
    in_words = numbers(tilings, "W covers 2,2", "I avoids 0,0 0,4")
    expect(words(page)).to_have_text(in_words)
    page.reload()
    expect(words(page)).to_have_text(in_words)
    for number in both.tolist():
        expect(page.locator(f'[role=option][data-number="{number + 1}"]')).to_be_visible()
    page.get_by_role("button", name="Remove: W covers").click()
    expect(words(page)).to_have_text(numbers(tilings, "I avoids 0,0 0,4"))
    page.go_back()
    expect(words(page)).to_have_text(in_words)


@pytest.mark.slow
def test_a_matching_tiling_is_shown_as_the_copy_that_fits(open_page: Open, folder: Path) -> None:
    tilings = open_tilings(folder / "square.zarr")
    matches = tilings.matching("I covers 4,4")
    place, number = next(
        (place, number) for place, number in enumerate(matches.numbers.tolist()) if matches[place] != tilings[number]
    )
    page = open_page("/#/square?where=I covers 4,4", with_a_clock, fresh=True)
    shown = page.locator(f'[role=option][data-number="{number + 1}"] svg path')
    expect(shown).to_have_count(6)
    paths = shown.evaluate_all("paths => paths.map((path) => path.getAttribute('d'))")
    page.locator(f'[role=option][data-number="{number + 1}"]').click()
    expect(areas(page)).to_have_count(5)
    chosen = page.locator(".large-images [aria-pressed=true]")
    expect(chosen).to_have_accessible_name(re.compile("^Symmetric image"))
    enlarged = chosen.locator("svg path").evaluate_all("paths => paths.map((path) => path.getAttribute('d'))")
    assert enlarged == paths
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.clock.pause_at(AN_HOUR)
    copy = page.get_by_role("button", name="Copy text")
    copy.click()
    expect(copy).to_have_class(re.compile("copied"))
    assert page.evaluate("navigator.clipboard.readText()") == matches[place].draw("letters")
    page.clock.run_for(2000)
    expect(copy).not_to_have_class(re.compile("copied"))
    page.get_by_role("button", name="The tiling itself").click()
    page.wait_for_url(re.compile("image=0"))
    page.reload()
    expect(page.get_by_role("button", name="The tiling itself")).to_have_attribute("aria-pressed", "true")


@pytest.mark.slow
def test_the_next_is_the_next_that_fits(open_page: Open, folder: Path) -> None:
    first, second = open_tilings(folder / "square.zarr").where("W covers 2,2")[:2].tolist()
    page = open_page(f"/#/square?where=W covers 2,2&tiling={first + 1}")
    expect(page.get_by_role("heading", name=f"Tiling {first + 1}", exact=True)).to_be_visible()
    page.get_by_role("button", name="Next tiling").click()
    expect(page.get_by_role("heading", name=f"Tiling {second + 1}", exact=True)).to_be_visible()


@pytest.mark.slow
def test_the_cells_of_the_board_are_reached_by_keys(open_page: Open) -> None:
    page = open_page("/#/ring")
    board_cell(page, 1, 1).focus()
    page.keyboard.press("ArrowDown")
    expect(board_cell(page, 2, 1)).to_be_focused()
    page.keyboard.press("ArrowRight")  # over the hole
    expect(board_cell(page, 2, 4)).to_be_focused()
    expect(page.locator(".filter-cell")).to_have_count(10)
    page.get_by_role("radio", name="covers").press("ArrowRight")
    expect(page.get_by_role("radio", name="avoids")).to_be_focused()
    expect(page.get_by_role("radio", name="avoids")).to_be_checked()


@pytest.mark.slow
def test_pictures_are_saved(open_page: Open) -> None:
    page = open_page("/#/square?tiling=4")
    expect(areas(page)).to_have_count(5)
    with page.expect_download() as svg:
        page.get_by_role("button", name="Save as SVG").click()
    assert svg.value.suggested_filename == "square-4.svg"
    image = ElementTree.parse(svg.value.path()).getroot()
    assert [text.text for text in image.iter("{http://www.w3.org/2000/svg}text")] != []
    with page.expect_download() as png:
        page.get_by_role("button", name="Save as PNG").click()
    assert png.value.suggested_filename == "square-4.png"
    assert Path(png.value.path()).read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_texts_are_copied(open_page: Open, folder: Path) -> None:
    page = open_page("/#/box?tiling=2&where=L covers 0,0,0", permissions=["clipboard-read", "clipboard-write"])
    expect(page.locator(".large-figure svg")).to_be_visible()
    buttons, store = page.get_by_role("button", name="Copy command"), folder / "box.zarr"
    assert copied(page, buttons.first) == f"antipodes show {store} --where 'L covers 0,0,0'"
    assert copied(page, buttons.last) == f"antipodes show {store} --number 2"
    assert copied(page, page.get_by_role("button", name="Copy text")) == open_tilings(store)[1].draw("letters")


@pytest.mark.slow
def test_the_layers_of_a_box_are_side_by_side(open_page: Open) -> None:
    page = open_page("/#/box?tiling=1")
    expect(page.get_by_role("button", name="layer 2, row 1, column 5")).to_be_visible()
    box = page.locator(".large-figure svg").bounding_box()
    assert box
    assert box["width"] > 2 * box["height"]  # two layers of 3x5


@pytest.mark.slow
def test_a_board_without_tilings_says_so(open_page: Open) -> None:
    page = open_page("/#/impossible")
    expect(page.get_by_text("there is no tiling")).to_be_visible()
    expect(words(page)).to_have_text("0 tilings")


@pytest.mark.slow
def test_conditions_that_nothing_fits_and_that_are_none(open_page: Open) -> None:
    page = open_page("/#/square?where=W covers 0,0 0,1 0,2")
    expect(page.get_by_text("No tiling satisfies these conditions.")).to_be_visible()
    page.goto(page.url.split("#")[0] + "#/square?where=nonsense")
    expect(page.get_by_role("alert")).to_contain_text("nonsense")
    page.get_by_role("button", name="Remove: nonsense").click()
    expect(words(page)).to_have_text("10 tilings up to symmetry, 80 in all")


@pytest.mark.slow
def test_an_address_of_no_tiling_shows_the_gallery(open_page: Open) -> None:
    page = open_page("/#/square?tiling=11&at=99&image=x&step=-1")
    expect(page.get_by_role("alert")).to_contain_text("11")
    expect(large(page)).to_have_count(0)
    expect(cells(page)).to_have_count(10)
    expect(page).not_to_have_url(re.compile("tiling="))


@pytest.mark.slow
def test_the_page_follows_a_search_that_is_under_way(open_page: Open, folder: Path) -> None:
    page = open_page("/#/growing")
    expect(words(page)).to_contain_text("the search is unfinished")
    tile_board(BoardConfig(SQUARE), folder / "growing.zarr", options=RunOptions(workers=1))
    expect(words(page)).to_have_text("10 tilings up to symmetry, 80 in all")
    expect(cells(page)).to_have_count(10)


@pytest.mark.slow
def test_on_a_phone_the_large_tiling_comes_to_the_reader(open_page: Open) -> None:
    page = open_page("/#/square", viewport={"width": 390, "height": 800})
    cell(page, 6, 10).click()
    expect(page.get_by_role("heading", name="Tiling 6")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_the_page_of_tilings_has_no_serious_violation(open_page: Open) -> None:
    page = open_page("/#/square?tiling=4&where=W covers 2,2; I avoids 0,0")
    expect(areas(page)).to_have_count(5)
    assert violations(page) == {}
