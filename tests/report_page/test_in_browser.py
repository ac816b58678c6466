"""Reports in a browser: light and dark, on a phone and a large screen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsers import started_browser
from playwright.sync_api import Browser, Page
from stores import stop_after

import antipodes as ap

KINDS = ("table", "counts", "unfinished", "twisty", "tilings", "evil")
EVIL = {
    "name": "evil",
    "family": "generators",
    "description": """<img src=x onerror="document.title='x'"></title></style><script>document.title='x'</script>""",
    "start": '<b> <svg> &amp; "x" <script>',
    "moves": {"<i>": [1, 2, 3, 4, 0], "X&Y": "(0 1)"},
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, finished: Path) -> Path:
    """The folder of a report of each kind."""
    folder = tmp_path_factory.mktemp("reports")
    stores: dict[str, str | Path] = {
        "table": finished,
        "counts": ap.run("eight-puzzle", folder / "counts.zarr", counts_only=True).store,
        "unfinished": ap.run("klotski", folder / "unfinished.zarr", interrupted=stop_after(30)).store,
        "twisty": ap.run("pyraminx", folder / "twisty.zarr").store,
        "tilings": ap.tile("3x20", folder / "tilings.zarr").store,
        "evil": ap.run(ap.Config(EVIL), folder / "evil.zarr").store,
    }
    for kind in KINDS:
        ap.report(stores[kind], folder / f"{kind}.html")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as started:
        yield started


def opened(browser: Browser, **options: Any) -> Page:
    """A page that fails the test if it asks for anything but reports, or complains."""
    page = browser.new_context(bypass_csp=True, **options).new_page()  # axe is a script, which the policy forbids
    page.on("console", lambda message: pytest.fail(message.text))
    page.on("request", lambda request: None if request.url.endswith(".html") else pytest.fail(request.url))
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_them(browser: Browser, pages: Path, scheme: str) -> None:
    page, found = opened(browser, color_scheme=scheme), {}
    for kind in KINDS:
        page.goto((pages / f"{kind}.html").as_uri())
        violations = Axe().run(page).response["violations"]
        found |= {(kind, one["id"]): [node["html"][:200] for node in one["nodes"]] for one in violations}
    assert found == {}


@pytest.mark.parametrize("width", [360, 768, 2560])
def test_nothing_overflows(browser: Browser, pages: Path, width: int) -> None:
    page = opened(browser, viewport={"width": width, "height": 900})
    for kind in KINDS:
        page.goto((pages / f"{kind}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, kind


def test_boards_are_drawn(browser: Browser, pages: Path) -> None:
    """Their shapes are elsewhere on the page: each is where it is used, inside its board."""
    page = opened(browser)
    for kind in KINDS:
        page.goto((pages / f"{kind}.html").as_uri())
        outside = page.evaluate(
            """() => [...document.querySelectorAll('.board')].flatMap(board => {
                const all = board.getBoundingClientRect();
                return [...board.querySelectorAll('use')].map(use => use.getBoundingClientRect()).filter(one =>
                    one.width + one.height == 0 || one.left < all.left - 2 || one.right > all.right + 2
                    || one.top < all.top - 2 || one.bottom > all.bottom + 2);
            }).length"""
        )
        assert outside == 0, kind


def test_names_run_nothing(browser: Browser, pages: Path) -> None:
    page = opened(browser)
    page.goto((pages / "evil.html").as_uri())
    assert page.title() == "evil: Distance table"
    assert page.evaluate("document.scripts.length + document.images.length") == 0
    assert page.locator(".lead").inner_text() == EVIL["description"]
