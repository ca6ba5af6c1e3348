"""Headless Chromium for tests: its pages are watched for what they log and what they ask elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import pytest

from scripts import browser as installed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE_MILLISECONDS = 20_000
WIDTHS = {360: 800, 1280: 900}
"""A phone and a desk: width and height in pixels."""


@contextmanager
def running() -> Iterator[Browser]:
    """Yield a browser; without one the test is skipped.

    While it runs, asyncio takes this thread for one with a loop: only modules without async tests hold it.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = installed.find()
    if path is None:
        pytest.skip(installed.NONE)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(installed.ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


class Tabs:
    """Opens pages of one server, each in a context of its own."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.address = address
        self.said: list[str] = []
        """What the pages logged, what failed in them, and addresses elsewhere that they asked for."""
        self.browser = browser

    def open(
        self,
        path: str = "",
        *,
        width: int = 360,
        scheme: Literal["light", "dark"] = "light",
        token: str | None = None,
    ) -> Page:
        """Return a page that shows a path of the inspector, such as ``#/graph``."""
        context = self.browser.new_context(
            viewport={"width": width, "height": WIDTHS[width]},
            color_scheme=scheme,
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
        )
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        if token is not None:
            context.add_init_script(f"sessionStorage.setItem('langmemory.token', '{token}')")
        page = context.new_page()
        page.on("console", lambda one: self.said.append(f"{one.type}: {one.text}"))
        page.on("pageerror", lambda one: self.said.append(f"error: {one}"))
        page.on("request", lambda one: self._asked(one.url))
        page.on("websocket", lambda one: self._asked(one.url))
        page.goto(self.address + path)
        return page

    def _asked(self, url: str) -> None:
        own = self.address.removeprefix("http://").split("/")[0]
        if not re.match(rf"(http|ws)://{re.escape(own)}/", url):
            self.said.append(f"asked elsewhere: {url}")


def fits(page: Any) -> bool:
    """Return whether a page can be read without scrolling sideways."""
    return bool(page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"))
