"""The inspector in a real browser: what a person does on each of its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.server.browsing import Tabs, fits
from tests.server.client import token_of
from tests.server.story import PLACE

from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving  # isort: skip
from langmemory.server.settings import ServerSettings  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [
    pytest.mark.integration,
    pytest.mark.thorough,
    pytest.mark.xdist_group("browser"),
]


def test_forgetting_shows_its_proof(tabs: Tabs, filled: MemoryStore) -> None:
    """Forgetting shows first what would go, then what went; the key is not there any more."""
    page = tabs.open("#/memory?ns=home&ns=ana&key=fact%2Fviola")
    page.get_by_role("button", name="Forget…").click()
    page.get_by_text("This would go").wait_for()
    assert filled.admin.memory(PLACE, "fact/viola") is not None
    page.get_by_role("button", name="Forget it").click()
    page.get_by_text("gone, and proven").wait_for()
    assert filled.admin.memory(PLACE, "fact/viola") is None


def test_what_held_at_a_moment(tabs: Tabs, filled: MemoryStore) -> None:
    """The sliders of timeline and graph, moved by keys, show what was true and what was known then."""
    filled.put(PLACE, "old", {"text": "Bea played the piano."})
    page = tabs.open("#/timeline")
    page.get_by_text("3 facts hold at this moment, of 3.").wait_for()
    page.get_by_label("Known at").focus()
    page.keyboard.press("Home")
    page.get_by_text("2 facts hold at this moment, of 3.").wait_for()
    page.get_by_role("link", name="graph").click()
    page.get_by_role("link", name="Bea plays Cello").wait_for()
    assert page.locator(".picture circle").count() == 2
    page.get_by_label("As of").focus()
    page.keyboard.press("Home")
    page.get_by_label("As of").blur()
    page.locator(".picture .name-of", has_text="Bea").click()
    page.get_by_role("link", name="Show all").wait_for()


def test_health_and_jobs(tabs: Tabs) -> None:
    """Health has figures of memory; without a night, and with an empty queue, it says what makes one."""
    page = tabs.open("#/health")
    page.get_by_text("facts that hold").wait_for()
    page.get_by_role("link", name="nights", exact=True).click()
    page.get_by_text("No night of maintenance has changed this memory yet.").wait_for()
    page.get_by_role("link", name="jobs").click()
    page.get_by_text("The queue is empty.").wait_for()
    assert fits(page)


def test_an_undo_that_is_refused(tabs: Tabs, filled: MemoryStore) -> None:
    """A run that a later one built upon is not undone; the page names the later one and leads to it."""
    first = filled.changes.correct(
        PLACE, "fact/cello", value={"text": "Bea plays the harp."}, reason="she said so"
    )
    later = filled.changes.correct(
        PLACE, "fact/cello", value={"text": "Bea plays the lute."}, reason="she said so"
    )
    page = tabs.open(f"#/run?id={quote(first.run_id, safe='')}")
    page.get_by_role("button", name="Preview undo").click()
    page.locator(".problem").wait_for()
    assert page.get_by_role("button", name="Undo this run").count() == 0
    page.get_by_role("link", name=later.run_id).first.click()
    page.locator("main .meta code", has_text=later.run_id).wait_for()  # both pages have the button
    page.get_by_role("button", name="Preview undo").click()
    page.get_by_role("button", name="Undo this run").click()
    page.get_by_text("Taken back by").wait_for()
    found = filled.admin.memory(PLACE, "fact/cello")
    assert found is not None
    assert found.text == "Bea plays the harp."
    refused = [one for one in tabs.said if "409" in one]  # Chromium itself logs it
    assert tabs.said == refused
    tabs.said.clear()


def test_a_token_is_asked_for(tabs: Tabs, filled: MemoryStore) -> None:
    """A token that is typed in shows what its viewer may read, and stands in no address."""
    token = token_of(filled, "bob", PLACE, scope="read")
    filled.put(
        PLACE, "secret", {"text": "Ana hides a cello.", "privacy": "private", "owner": "ana"}
    )
    page = tabs.open("#/memories")
    page.get_by_text("Ana hides a cello.").wait_for()
    page.get_by_role("button", name="Token").click()
    page.get_by_label("Token", exact=True).last.fill(token)
    page.get_by_role("button", name="Use it").click()
    page.get_by_text("Ana hides a cello.").wait_for(state="detached")
    page.get_by_text("Bea plays the cello.").wait_for()
    assert token not in page.url
    assert page.evaluate("Object.values(sessionStorage)").count(token) == 1


def test_a_token_offers_what_it_allows(tabs: Tabs, filled: MemoryStore) -> None:
    """With a token that only reads, no page offers what would be refused."""
    token = token_of(filled, "bob", PLACE, scope="read")
    filled.put(PLACE, "theirs", {"text": "Bob likes rain.", "owner": "bob"})
    page = tabs.open("#/memory?ns=home&ns=ana&key=theirs", token=token)
    page.get_by_role("heading", name="History").wait_for()
    for button in ("Correct", "Pin", "Verify", "Archive", "Forget…"):
        assert page.get_by_role("button", name=button).count() == 0, button
    page.goto(f"{tabs.address}#/reviews")
    page.get_by_text("Which of these holds?").wait_for()
    page.keyboard.press("1")
    assert page.locator(".review button").count() == 0
    listed = page.locator("#nav a").all_inner_texts()
    assert {"search", "memories", "timeline", "graph"} <= set(listed)
    assert not {"runs", "nights", "health", "jobs", "import and export"} & set(listed)
    assert len(filled.changes.reviews(PLACE)) == 1


def test_the_page_is_live(tabs: Tabs, filled: MemoryStore) -> None:
    """What another writes shows on the page at once; where somebody is at work, a button offers it."""
    page = tabs.open("#/memories")
    page.get_by_text("Bea plays the cello.").wait_for()
    page.locator("#live[data-state=live]").wait_for()
    filled.put(PLACE, "new", {"text": "Bea sings in a choir."})
    page.get_by_text("Bea sings in a choir.").wait_for()
    page.goto(f"{tabs.address}#/reviews")
    page.get_by_text("Which of these holds?").wait_for()
    filled.changes.decide("review/1", "both")
    page.get_by_text("Nothing is to be decided.").wait_for()
    page.goto(f"{tabs.address}#/memory?ns=home&ns=ana&key=new")
    page.get_by_role("button", name="Correct").click()
    page.get_by_label("What it is to say").fill("Bea sings.")
    filled.put(PLACE, "new", {"text": "Bea sings in two choirs."})
    page.get_by_role("button", name="Show what changed", include_hidden=True).and_(
        page.locator(":not([hidden])")
    ).wait_for(state="attached")
    assert page.get_by_label("What it is to say").input_value() == "Bea sings."
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Show what changed").click()
    page.get_by_role("heading", name="Bea sings in two choirs.").wait_for()


def test_a_server_that_comes_back(browser: Browser, filled: MemoryStore) -> None:
    """The page says that the server is away; when it is back, the page shows what happened meanwhile."""
    with serving(create_app(filled)) as address:
        tabs = Tabs(browser, f"{address}/memory/")
        page = tabs.open("#/memories")
        page.get_by_text("Bea plays the cello.").wait_for()
        page.locator("#live[data-state=live]").wait_for()
        assert tabs.said == []
    page.get_by_text("server away").wait_for()
    filled.put(PLACE, "new", {"text": "Bea sings in a choir."})
    port = int(address.rpartition(":")[2])
    with serving(create_app(filled), ServerSettings(port=port)):
        page.get_by_text("Bea sings in a choir.").wait_for()
        page.locator("#live[data-state=live]").wait_for()
        page.context.close()
    # Chromium itself logs each request that nobody answers.
    assert [one for one in tabs.said if "net::ERR_" not in one] == []


def test_an_address_is_text(tabs: Tabs) -> None:
    """What an address names is looked up or shown as letters; it makes nothing on the page."""
    page = tabs.open()
    markup = "%3Cimg src=x onerror=alert(1)%3E"
    for path in (f"search?q={markup}", f"run?id={markup}", f"memory?ns=home&key={markup}", markup):
        page.goto("about:blank")
        page.goto(f"{tabs.address}#/{path}")
        page.locator("main > div").wait_for()
        assert page.locator("main img").count() == 0
    missing = [one for one in tabs.said if "404" in one]  # Chromium itself logs them
    assert len(missing) == 2
    assert tabs.said == missing
    tabs.said.clear()


def focused(page: Any) -> str:
    """Return the name of what has the focus, as a screen reader says it, in small letters."""
    named = "e => e.getAttribute('aria-label') || e.innerText || e.value || e.tagName"
    return str(page.evaluate(f"({named})(document.activeElement)")).strip().lower()


def tab_to(page: Any, name: str, *, steps: int = 60) -> None:
    """Press Tab until something of this name has the focus; it must be seen that it has."""
    for _ in range(steps):
        page.keyboard.press("Tab")
        if focused(page) == name.lower():
            style = "getComputedStyle(document.activeElement)"
            assert page.evaluate(f"{style}.outlineStyle !== 'none'"), f"{name} shows no focus"
            return
    raise AssertionError(f"{name!r} is not reached by Tab")


def test_by_keyboard_alone(tabs: Tabs, filled: MemoryStore) -> None:
    """A search, a correction, its undo and a review need no mouse, and the focus is always seen."""
    page = tabs.open(width=1280)
    page.get_by_role("heading", name="Why did it say that?").wait_for()
    page.keyboard.type("Who plays the cello?")  # the field has the focus
    page.keyboard.press("Enter")
    page.locator(".results .bars").first.wait_for()
    tab_to(page, "Bea plays the cello.")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What it rests on").wait_for()
    tab_to(page, "Correct")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    assert focused(page) == "what it is to say"
    page.keyboard.press("Control+a")
    page.keyboard.type("Bea plays the harp.")
    tab_to(page, "Save", steps=3)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Bea plays the harp.").wait_for()
    tab_to(page, "Undo")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Bea plays the cello.").wait_for()
    page.keyboard.press("Control+Home")
    tab_to(page, "reviews")
    page.keyboard.press("Enter")
    page.get_by_text("Which of these holds?").wait_for()
    page.keyboard.press("2")
    page.get_by_text("Nothing is to be decided.").wait_for()
    decided = filled.changes.reviews(PLACE, open_only=False)
    assert [one.decision for one in decided] == ["both"]


def test_escape_closes_a_dialog(tabs: Tabs) -> None:
    """Escape closes a dialog, and the focus is back on the button that opened it."""
    page = tabs.open("#/memory?ns=home&ns=ana&key=fact%2Fviola")
    for button in ("Correct", "Forget…", "Token"):
        page.get_by_role("button", name=button).focus()
        page.keyboard.press("Enter")
        page.get_by_role("dialog").wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("dialog").wait_for(state="detached")
        assert focused(page) == button.lower()


MARKUP = (
    "<img src=x onerror=alert(1)> cello",
    "<script>document.title = 'cello'</script>",
    "<svg onload=alert(1)><text>cello</text></svg>",
    "[cello](javascript:alert(1)) ![cello](https://example.org/cello.png) **cello**",
    "\x1b[31mcello\x1b[0m \x1b]8;;https://example.org\x07cello\x1b]8;;\x07",
    "</pre></textarea><iframe srcdoc='cello'></iframe>",
)


def test_stored_markup_is_text(tabs: Tabs, filled: MemoryStore) -> None:
    """HTML, SVG, Markdown and ANSI of a memory is shown as its letters, wherever the memory is shown."""
    for place, text in enumerate(MARKUP):
        filled.put(PLACE, f"<b>{place}</b>", {"text": text, "kind": "semantic"})
    made = (
        "script:not([src]), iframe, main img, main style, [onload], [onerror], a[href^=javascript]"
    )
    key = "ns=home&ns=ana&key=%3Cb%3E0%3C%2Fb%3E"
    pages = ("search?q=cello", "memories", "timeline", f"memory?{key}")
    page = tabs.open()
    for path in pages:
        page.goto(f"{tabs.address}#/{path}")
        page.get_by_text(MARKUP[0]).first.wait_for()
        assert page.locator(made).count() == 0, path
        assert "cello" not in page.title()
    page.goto(f"{tabs.address}#/search?q=cello&limit=20")
    page.get_by_role("heading", name="What a model would get").wait_for()
    shown = page.locator(".results .said").all_inner_texts()
    assert {one.strip("\x1b") for one in MARKUP} <= {one.strip("\x1b") for one in shown}
    page.goto(f"{tabs.address}#/memory?{key}")
    page.get_by_role("button", name="Correct").click()
    assert page.get_by_label("What it is to say").input_value() == MARKUP[0]
    assert page.locator(made).count() == 0


def test_an_injected_script_does_not_run(tabs: Tabs) -> None:
    """Should markup ever get into a page, the policy keeps a script or handler in it from running."""
    page = tabs.open()
    page.get_by_role("heading", name="Why did it say that?").wait_for()
    page.evaluate(
        """() => {
          const main = document.getElementById("main");
          main.innerHTML = "<img src='inspector/icon.svg' onload='window.ran = 1'>";
          const one = document.createElement("script");
          one.textContent = "window.ran = 1";
          document.body.append(one);
          return main.firstChild.decode();
        }"""
    )
    assert page.evaluate("window.ran") is None
    refused = [one for one in tabs.said if "Content Security Policy" in one]
    assert len(refused) == 2
    tabs.said.clear()
