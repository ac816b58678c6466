"""A browser, a service of small stores, and pages that fail a test for what goes wrong in them."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from explorer_pages import Open
from explorer_site import make_site, served
from playwright.sync_api import Browser, Page, expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 10_000
"""Milliseconds that a page has for what a test expects, on a busy machine."""


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
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        complain = pytest.fail if os.environ.get("CI") else pytest.skip
        complain(f"no browser: expected one of {', '.join(NAMES)}")
    expect.set_options(timeout=PATIENCE)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=sandbox)
        yield started
        started.close()


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
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        watch(page)
        page.goto(address + path)
        return page

    yield open_path
    for context in contexts:
        context.close()
    assert wrong == []
