"""The system's browser, in which tests look at pages as a person does."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Chromium until the block ends; where there is none, the test is skipped, and fails in CI.

    The block should end with the module: an event loop is running in it, which disturbs other tests of the process.
    """
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        complain = pytest.fail if os.environ.get("CI") else pytest.skip
        complain(f"no browser: expected one of {', '.join(NAMES)}")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    graphics = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]  # WebGL without a graphics card
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=sandbox + graphics)
        yield started
        started.close()
