"""Reports in a browser: light and dark, on a phone and a large screen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import IMPACTS, Pages, violations
from playwright.sync_api import Page
from stores import stop_after

import antipodes as ap

KINDS = ("table", "counts", "unfinished", "twisty", "tilings", "evil")
WITH_ALL_PARTS = ("table", "unfinished", "tilings")
"""Reports that have, together, every part of a report: what is checked at length is checked on these."""
BLOCKS = {"name": "blocks", "family": "blocks", "start": "AABC/AAD./E.FF", "description": "Blocks"}
EVIL = {
    "name": "evil",
    "family": "generators",
    "description": """<img src=x onerror="document.title='x'"></title></style><script>document.title='x'</script>""",
    "start": '<b> <svg> &amp; "x" <script>',
    "moves": {"<i>": [1, 2, 3, 4, 0], "X&Y": "(0 1)"},
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, finished: Path) -> Path:
    """The folder of a report of each kind."""
    folder = tmp_path_factory.mktemp("reports")
    stores: dict[str, str | Path] = {
        "table": finished,
        "counts": ap.run("eight-puzzle", folder / "counts.zarr", counts_only=True).store,
        "unfinished": ap.run(ap.Config(BLOCKS), folder / "unfinished.zarr", interrupted=stop_after(4)).store,
        "twisty": ap.run("pyraminx", folder / "twisty.zarr").store,
        "tilings": ap.tile("3x20", folder / "tilings.zarr").store,
        "evil": ap.run(ap.Config(EVIL), folder / "evil.zarr").store,
    }
    for kind in KINDS:
        ap.report(stores[kind], folder / f"{kind}.html")
    return folder


@pytest.fixture
def page(pages: Pages) -> Iterator[Page]:
    """A page that fails the test if it asks for anything but reports, or complains."""
    page = pages.take(fresh=True, bypass_csp=True)  # axe is a script, which the policy forbids
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    yield page
    assert [*messages, *pages.errors] == []
    assert [asked for asked in pages.requests if not asked.endswith(".html")] == []


@pytest.mark.slow
def test_everyone_can_read_them_wherever_they_are_opened(page: Page, reports: Path) -> None:
    for kind in KINDS:
        page.goto((reports / f"{kind}.html").as_uri())
        if kind in WITH_ALL_PARTS:
            assert violations(page, impacts=IMPACTS) == {}, kind
        for width in (360, 768, 2560):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, kind


def test_boards_are_drawn(page: Page, reports: Path) -> None:
    """Their shapes are elsewhere on the page: each is where it is used, inside its board."""
    for kind in KINDS:
        page.goto((reports / f"{kind}.html").as_uri())
        outside = page.evaluate(
            """() => [...document.querySelectorAll('.board')].flatMap(board => {
                const all = board.getBoundingClientRect();
                return [...board.querySelectorAll('use')].map(use => use.getBoundingClientRect()).filter(one =>
                    one.width + one.height == 0 || one.left < all.left - 2 || one.right > all.right + 2
                    || one.top < all.top - 2 || one.bottom > all.bottom + 2);
            }).length"""
        )
        assert outside == 0, kind


def test_names_run_nothing(page: Page, reports: Path) -> None:
    page.goto((reports / "evil.html").as_uri())
    assert page.title() == "evil: Distance table"
    assert page.evaluate("document.scripts.length + document.images.length") == 0
    assert page.locator(".lead").inner_text() == EVIL["description"]
