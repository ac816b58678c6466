"""The system's browser, in which tests open pages like a user."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Commands of the browser, the cheapest first: without windows, a page takes a third of the CPU time."""
ARGUMENTS = (
    # WebGL without a graphics card. Pages are put together without it, which takes a tenth of the CPU time.
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    "--disable-gpu-compositing",
    # Each window would load pages for the browser's own address bar, which takes longer than a page of the explorer.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
)


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Run Chromium for the duration of the block. If it is not installed, the test is skipped, or fails in CI.

    The block should end with the module, because its event loop would disturb other tests in the process.
    """
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        complain = pytest.fail if os.environ.get("CI") else pytest.skip
        complain(f"no browser: expected one of {', '.join(NAMES)}")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=[*sandbox, *ARGUMENTS])
        yield started
        started.close()
