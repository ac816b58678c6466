"""Actions of a user on the explorer's page of a table, for tests."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

Open = Callable[..., Page]
"""Opens a path of the explorer, with options of Playwright; ``prepare`` is called with the page before.

With ``fresh``, the page is used by no other test: where a test changes more than the page and its address.
"""

AN_HOUR = 3600
"""Seconds after the page's clock began: there it is stopped, since otherwise it goes on as the machine's does."""


def with_a_clock(page: Page) -> None:
    """The page's clock, which the test stops and moves on."""
    page.clock.install(time=0)


def copied(page: Page, button: Locator) -> str:
    """Click a button that copies; the text in the clipboard."""
    button.click()
    expect(page.locator("#said")).to_have_text("Copied")
    page.evaluate("document.getElementById('said').textContent = ''")
    return str(page.evaluate("navigator.clipboard.readText()"))


def distance(page: Page) -> Locator:
    return page.locator("#distance")


def piece(page: Page, letter: str) -> Locator:
    return page.locator(".board g.piece").filter(has=page.locator(f"text='{letter}'"))


def drag(page: Page, letter: str, right: float, down: float) -> None:
    """Drag a piece by multiples of its own width and height."""
    expect(piece(page, letter)).to_have_class(re.compile("movable"))
    box = piece(page, letter).bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right * box["width"] / 2, y + down * box["height"] / 2)
    page.mouse.move(x + right * box["width"], y + down * box["height"])
    page.mouse.up()


def visit(page: Page, path: str) -> Page:
    """Go to another path of the explorer, as a link does: without loading the page again."""
    page.goto(page.url.partition("#")[0].rstrip("/") + path)
    return page


def expect_position(page: Page, position: str) -> None:
    expect(page.locator("#entry")).to_have_value(position)
