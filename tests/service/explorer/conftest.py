"""A service of small stores, and pages that fail a test for what goes wrong in them."""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import Pages
from explorer_pages import Open
from explorer_site import make_site, served
from playwright.sync_api import Page


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, finished: Path) -> Path:
    """The folder of the stores. A test that changes one has it for itself: `growing`, `doomed`."""
    return make_site(tmp_path_factory.mktemp("site"), finished)


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The address of the service, without a slash at its end."""
    with served(site) as found:
        yield found


@pytest.fixture
def open_page(pages: Pages, address: str) -> Iterator[Open]:
    """Opens a path of the explorer; the test fails at its end if a script did, or the page asked another server."""

    def open_path(path: str = "/", prepare: Callable[[Page], object] | None = None, **options: Any) -> Page:
        page = pages.take(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options})
        if prepare is not None:
            prepare(page)
        page.goto(address + path)
        return page

    yield open_path
    # the page shows what the service refuses
    assert [error for error in pages.errors if not error.startswith("Failed to load resource")] == []
    assert [asked for asked in pages.requests if not asked.startswith((address, "blob:", "data:", "about:"))] == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the texts of the pages to the report of a test that fails."""
    report = yield
    if report.when == "call" and report.failed and "pages" in item.funcargs:
        report.sections.append(("Pages", item.funcargs["pages"].show()))
    return report
