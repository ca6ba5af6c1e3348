"""The inspector in a real browser: the way of a person who asks why something was said, and mends it."""

from __future__ import annotations

import pytest

from tests.server.browsing import Tabs, fits
from tests.server.story import PLACE

from langmemory.server.api import all_routes  # isort: skip
from langmemory.server.openapi import document  # isort: skip
from langmemory.server.routes import PREFIX  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("browser")]


def test_why_did_it_say_that(tabs: Tabs, filled: MemoryStore) -> None:
    """In the browser: search, see why and why not, correct, see the history, undo; then decide a review."""
    page = tabs.open()
    page.get_by_role("searchbox").fill("Who plays the cello?")
    page.keyboard.press("Enter")
    page.locator(".results .bars").first.wait_for()
    assert fits(page)
    assert "cello" in page.get_by_label("Memory block").inner_text()
    page.get_by_role("combobox", name="Memory").fill("tomatoes")
    page.get_by_role("button", name="Show the stage").click()
    page.get_by_text("It was returned, at place").wait_for()
    page.get_by_role("link", name="Bea plays the cello.", exact=True).first.click()
    page.get_by_role("heading", name="What it rests on").wait_for()
    page.get_by_role("button", name="Correct").click()
    page.get_by_label("What it is to say").fill("Bea plays the harp.")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="Bea plays the harp.").wait_for()
    assert page.locator(".history ins", has_text="harp").is_visible()
    assert page.locator(".history del", has_text="cello").is_visible()
    page.locator(".history a", has_text="correct/").click()
    page.get_by_role("button", name="Preview undo").click()
    page.get_by_role("button", name="Undo this run").click()
    page.get_by_text("Taken back by").wait_for()
    found = filled.admin.memory(PLACE, "fact/cello")
    assert found is not None
    assert found.text == "Bea plays the cello."
    page.get_by_role("link", name="reviews").click()
    page.get_by_text("Which of these holds?").wait_for()
    page.keyboard.press("1")
    page.get_by_text("Nothing is to be decided.").wait_for()
    decided = filled.admin.memory(PLACE, "fact/viola")
    assert decided is not None
    assert decided.status == "archived"


@pytest.mark.thorough
def test_the_page_of_the_api_shows_every_operation(tabs: Tabs, filled: MemoryStore) -> None:
    """Swagger UI works under the policy of the page, on a phone too, and asks nothing of anybody else."""
    api = Tabs(tabs.browser, tabs.address.replace("/memory/", f"{PREFIX}/docs"))
    page = api.open()
    page.locator(".opblock").first.wait_for()
    operations = [one for path in document(all_routes())["paths"].values() for one in path]
    assert page.locator(".opblock").count() == len(operations)
    page.locator(".opblock-summary-control").first.click()
    page.locator(".opblock.is-open").get_by_text("Needs a token of scope").wait_for()
    assert fits(page)
    assert api.said == []
