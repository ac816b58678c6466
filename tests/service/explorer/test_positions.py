"""Positions that a person types, draws at random, copies and saves; those of the editor are in `test_editor`."""

import re
import shlex
from pathlib import Path

import pytest
from explorer_pages import Open, copied, distance, expect_position, visit
from playwright.sync_api import Page, expect

from antipodes.cli.main import run_command

pytestmark = pytest.mark.slow  # a page in the browser takes seconds of CPU time

PROBLEM = "#problem"
CLIPBOARD = ["clipboard-read", "clipboard-write"]


def enter(page: Page, text: str) -> None:
    page.locator("#entry").fill(text)
    page.locator("#entry").press("Enter")


def test_a_board_of_several_lines_is_pasted(open_page: Open) -> None:
    page = open_page("/#/tiles", permissions=CLIPBOARD)
    expect(distance(page)).to_have_text("0")
    page.evaluate("navigator.clipboard.writeText('1 2 3\\n0 4 5\\n')")
    page.locator("#entry").fill("")
    page.locator("#entry").press("Control+v")
    expect_position(page, "1 2 3 / 0 4 5")
    page.locator("#entry").press("Enter")
    expect(distance(page)).to_have_text("2")


def test_moves_are_typed_and_lead_on_from_the_board(open_page: Open) -> None:
    page = open_page("/#/tiles")
    expect(distance(page)).to_have_text("0")
    enter(page, "R R")
    expect_position(page, "1 2 3 0 4 5")
    enter(page, "D")
    expect_position(page, "0 2 3 1 4 5")
    expect(distance(page)).to_have_text("3")
    enter(page, "U [L, L]2 (L)2")
    expect_position(page, "1 2 3 4 5 0")
    expect(distance(page)).to_have_text("0")
    enter(page, "R R R")
    expect(page.locator(PROBLEM)).to_contain_text("moves 'R R R': 'R' as move 3 is not legal there")
    expect_position(page, "R R R")  # to be mended


def test_what_is_no_position_is_said_in_one_line_until_it_is_dismissed(open_page: Open) -> None:
    page = open_page("/#/tiles")
    expect(distance(page)).to_have_text("0")
    enter(page, "1 2 3 4")
    expect(page.locator(PROBLEM)).to_contain_text("expected 6 symbols, found 4")
    expect_position(page, "1 2 3 4")  # to be mended
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator(PROBLEM)).to_be_hidden()
    enter(page, "1 2 3 / 0 4 5")
    expect(distance(page)).to_have_text("2")
    expect_position(page, "1 2 3 0 4 5")


def test_a_link_with_a_wrong_position_says_so_and_shows_the_start(open_page: Open) -> None:
    page = open_page("/#/tiles?position=9 9")
    expect(page.locator(".move")).to_have_count(2)
    expect(distance(page)).to_have_text("0")
    expect(page.locator(PROBLEM)).to_contain_text("expected")
    page.locator(".move").first.click()
    expect(page.locator(PROBLEM)).to_be_hidden()


def test_a_random_position_at_a_depth_and_the_start(open_page: Open) -> None:
    page = open_page("/#/tiles")
    page.get_by_label("Depth of the random position").fill("13")
    page.get_by_role("button", name="Random").click()
    expect(distance(page)).to_have_text("13")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(distance(page)).to_have_text("0")
    page.get_by_role("button", name="Farthest").click()
    expect(distance(page)).to_have_text("21")
    page.get_by_label("Depth of the random position").fill("99")  # there are none
    page.get_by_role("button", name="Random").click()
    expect(page.locator(PROBLEM)).to_contain_text("99")


def test_a_link_opens_the_same_store_position_and_view(open_page: Open) -> None:
    page = open_page("/#/tiles")
    enter(page, "1 2 3 0 4 5")
    expect(distance(page)).to_have_text("2")
    page.get_by_role("tab", name="Distribution").click()
    page.get_by_role("button", name="Logarithmic").click()
    page.get_by_role("button", name=re.compile("^depth 5:")).click()
    expect(page.get_by_role("heading", name="at depth 5")).to_be_visible()
    other = open_page(page.url[page.url.index("/#") :])
    expect(distance(other)).to_have_text("2")
    expect(other.get_by_role("button", name="Logarithmic")).to_have_attribute("aria-pressed", "true")
    expect(other.get_by_role("heading", name="at depth 5")).to_be_visible()


def test_the_position_and_the_link_are_copied(open_page: Open) -> None:
    page = open_page("/#/tiles?position=1 2 3 0 4 5", permissions=CLIPBOARD)
    expect(distance(page)).to_have_text("2")
    assert copied(page, page.get_by_role("button", name="Copy position")) == "1 2 3 0 4 5"
    assert copied(page, page.get_by_role("button", name="Copy link")) == page.url


COPIED = {
    "Moves": ("", "moves: L L"),
    "Distribution": ("&view=distribution", "depth  positions"),
    "Antipodes": ("&view=antipodes", "21"),
    "Pattern": ("&view=pattern&pattern=1 [2 3] ? ? ? 0", "12 positions match 1 [2 3]"),
}
"""For each view, its part of the address, and what the copied command prints."""


def test_the_command_that_shows_the_same_is_copied(open_page: Open, capsys: pytest.CaptureFixture[str]) -> None:
    page = open_page("/", permissions=CLIPBOARD)
    for tab, (view, shown) in COPIED.items():
        visit(page, f"/#/tiles?position=1 2 3 0 4 5{view}")
        expect(distance(page)).to_have_text("2")
        expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        program, *words = shlex.split(copied(page, page.get_by_role("button", name="Copy command")))
        assert program == "antipodes"
        assert run_command(words) == 0
        assert shown in capsys.readouterr().out, tab


def test_the_board_is_saved_as_svg_and_png(open_page: Open, tmp_path: Path) -> None:
    page = open_page("/#/tiles", color_scheme="dark")
    expect(distance(page)).to_have_text("0")
    for kind, begins in {"SVG": b"<svg", "PNG": b"\x89PNG"}.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save as {kind}").click()
        assert download.value.suggested_filename == f"tiles-1-2-3-4-5-0.{kind.lower()}"
        download.value.save_as(tmp_path / kind)
        content = (tmp_path / kind).read_bytes()
        assert content.startswith(begins)
    assert (tmp_path / "SVG").read_text().count("<text") == 5
