"""A browser, a service of small stores, and pages that fail a test for what goes wrong in them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import started_browser
from explorer_pages import Open
from explorer_site import make_site, served
from playwright.sync_api import Browser, Page, expect
from waiting import PATIENCE

MILLISECONDS = 1000 * PATIENCE
"""The time that a page has for what a test expects."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the stores. A test that changes one has it for itself: `growing`, `doomed`."""
    return make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The address of the service, without a slash at its end."""
    with served(site) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium. It ends with the module, as its event loop would disturb other tests of this process."""
    expect.set_options(timeout=MILLISECONDS)
    with started_browser() as started:
        yield started


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[Open]:
    """Opens a path of the explorer; the test fails at its end if a script did, or the page asked another server."""
    wrong: list[str] = []
    contexts: list[Any] = []

    def watch(page: Page) -> None:
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and note(message.text))
        page.on(
            "request", lambda request: request.url.startswith((address, "blob:", "data:")) or wrong.append(request.url)
        )

    def note(text: str) -> None:
        if not text.startswith("Failed to load resource"):  # the page shows what the service refuses
            wrong.append(text)

    def open_path(path: str = "/", **options: Any) -> Page:
        settings = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        context = browser.new_context(**settings)
        context.set_default_timeout(MILLISECONDS)
        contexts.append(context)
        page = context.new_page()
        watch(page)
        page.goto(address + path)
        return page

    yield open_path
    for context in contexts:
        context.close()
    assert wrong == []
