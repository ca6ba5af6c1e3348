"""What tests of the server share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from langmemory.stores import MemoryStore

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.server.browsing import Tabs


@pytest.fixture
def filled(store: MemoryStore) -> MemoryStore:
    """A file with turns, facts and a question for a person."""
    from tests.server.story import tell

    tell(store)
    return store


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium, for modules without async tests."""
    from tests.server.browsing import running

    with running() as started:
        yield started


@pytest.fixture
def tabs(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Tabs]:
    """Pages over the filled file, or with any parameter over an empty one; what they log, and what they ask
    elsewhere, fails the test."""
    from langmemory.server.app import create_app
    from langmemory.server.serving import serving
    from tests.server.browsing import Tabs

    shown = request.getfixturevalue("store" if hasattr(request, "param") else "filled")
    with serving(create_app(shown)) as address:
        opened = Tabs(browser, f"{address}/memory/")
        yield opened
        for context in browser.contexts:
            context.close()
    assert opened.said == []
