"""The system's browser, in which tests open pages like a user."""

import asyncio
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Literal

import psutil
import pytest
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from cpu_times import charged
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright
from waiting import PATIENCE

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Commands of the browser, the cheapest first: without windows, a page takes a third of the CPU time."""
ARGUMENTS = (
    # WebGL without a graphics card. Pages are put together without it, which takes a tenth of the CPU time.
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    "--disable-gpu-compositing",
    # One process draws all pages, instead of a new one for each visit: saves a quarter of the CPU time of a page.
    *("--disable-site-isolation-trials", "--renderer-process-limit=1"),
    # Each window would load pages for the browser's own address bar, which takes longer than a page of the explorer.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
)
IMPACTS = ("minor", "moderate", "serious", "critical")
"""The kinds of violations that axe knows."""
SERIOUS = IMPACTS[2:]
RULES: dict[Literal["light", "dark"], dict[str, Any]] = {
    "light": {},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast"]}},
}
"""What axe checks in each scheme of colours: by default, everything."""
MAX_SHOWN = 3000
"""Number of characters of a page that the message of a failed test shows."""


class Pages:
    """The pages of a browser. A later block gets the pages of an earlier one that have the same options.

    A page that is used again costs a tenth of a new one, because its process and its cache are there.
    """

    def __init__(self, browser: Browser, processes: Iterable[psutil.Process]) -> None:
        self.browser = browser
        self._processes = tuple(processes)
        self._seconds: dict[psutil.Process, float] = {}
        self.loop = asyncio.get_running_loop()
        self._kept: dict[str, list[Page]] = {}
        self._used: dict[str, list[Page]] = {}
        self.errors: list[str] = []
        """Errors of scripts in the pages that are in use."""
        self.requests: list[str] = []
        """The addresses that these pages asked for."""

    def cpu_seconds_since_last_call(self) -> float:
        """Return the CPU time since the last call of the browser's processes, and of the driver that talks to them."""
        before, self._seconds = self._seconds, {}
        for one in (one for top in self._processes for one in (top, *top.children(recursive=True))):
            with suppress(psutil.NoSuchProcess):  # it has ended since it was found
                self._seconds[one] = sum(one.cpu_times()[:2])
        return sum(seconds - before.get(one, 0) for one, seconds in self._seconds.items())

    def take(self, *, fresh: bool = False, **options: Any) -> Page:
        """Return an empty page with these options of Playwright; if fresh, no other test uses it before or after."""
        key = "" if fresh else repr(sorted(options.items()))
        kept = self._kept.get(key)
        page = kept.pop() if kept else self._new_page(options)
        self._used.setdefault(key, []).append(page)
        return page

    def _new_page(self, options: dict[str, Any]) -> Page:
        context = self.browser.new_context(**options)
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def leave(self) -> None:
        """Empty the pages that are in use, and close the fresh ones."""
        for page in self._used.pop("", []):
            page.context.close()
        for key, pages in self._used.items():
            for page in pages:
                page.unroute_all()
                page.evaluate("localStorage.clear()")
                page.mouse.move(0, 0)
                page.goto("about:blank")
            self._kept.setdefault(key, []).extend(pages)
        self._used.clear()
        self.errors.clear()
        self.requests.clear()

    def show(self) -> str:
        """Return the texts of the pages that are in use."""
        pages = [page for used in self._used.values() for page in used]
        return "\n\n".join(f"{page.url}\n{_text_of(page)[:MAX_SHOWN]}" for page in pages)


def _text_of(page: Page) -> str:
    try:
        return page.locator("body").inner_text(timeout=5000)
    except Error as error:  # for example, the page is closed
        return str(error)


def violations(page: Page, part: str | None = None, impacts: Sequence[str] = SERIOUS) -> dict[str, list[str]]:
    """Return what axe finds on a page, or in a part of it: the elements of each kind of violation.

    In dark colours, only the contrast is checked, because the structure is the same.
    """
    found = {}
    for scheme, rules in RULES.items():
        page.emulate_media(color_scheme=scheme)
        script = "0" if page.evaluate("'axe' in window") else AXE_SCRIPT  # it stays until another page is loaded
        for one in Axe(script).run(page, part, {"resultTypes": ["violations"], **rules}).response["violations"]:
            if one["impact"] in impacts:
                found[f"{scheme}: {one['id']}"] = [node["html"][:200] for node in one["nodes"]]
    page.emulate_media(color_scheme="null")
    return found


@contextmanager
def started_browser() -> Iterator[Pages]:
    """Run Chromium for the duration of the block. If it is not installed, the test is skipped, or fails in CI."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        complain = pytest.fail if os.environ.get("CI") else pytest.skip
        complain(f"no browser: expected one of {', '.join(NAMES)}")
    expect.set_options(timeout=1000 * PATIENCE)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    before = psutil.Process().children()
    with ExitStack() as running:
        playwright = running.enter_context(sync_playwright())
        launched = playwright.chromium.launch(
            executable_path=found, args=[*sandbox, *ARGUMENTS], timeout=1000 * PATIENCE
        )
        running.callback(launched.close)
        pages = Pages(launched, set(psutil.Process().children()) - set(before))
        with _running_loop(None):
            yield pages
        with charged("ended_browser"):  # what the tests used of it is recorded already
            running.close()


@contextmanager
def in_use(pages: Pages) -> Iterator[Pages]:
    """Let the block use the pages; afterwards, they are empty.

    The event loop of Playwright runs in the tests' thread, where another loop could not start; between these blocks, it
    is paused.
    """
    with _running_loop(pages.loop):
        yield pages
        pages.leave()


@contextmanager
def _running_loop(loop: asyncio.AbstractEventLoop | None) -> Iterator[None]:
    """Make the loop the one that runs in this thread, for the duration of the block."""
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(loop)
    yield
    asyncio._set_running_loop(before)
