"""The inspector: static pages that act through the API alone, tried in a real browser where there is one."""

from __future__ import annotations

import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import API, problem, serving, token_of

from langmemory.changes import (  # isort: skip
    AddEdge,
    AddEntity,
    AddMemory,
    ChangeSet,
    Facets,
    OpenReview,
    SetStatus,
)
from langmemory.server import inspector  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

HOME = Path(inspector.__file__).parent
SOURCES = sorted(one for one in HOME.iterdir() if one.suffix in inspector.TYPES)
PLACE = ("home", "ana")
MAY = datetime(2026, 5, 1, tzinfo=UTC)
SAID = "My sister Bea plays the cello in Bilbao."


@pytest.fixture
def filled(store: MemoryStore) -> MemoryStore:
    """A file with turns, a fact and a question for a person."""
    turns = [
        {"role": "user", "content": SAID, "id": "1", "name": "Ana"},
        {"role": "user", "content": "I water the tomatoes at six.", "id": "2", "name": "Ana"},
    ]
    said = store.remember(PLACE, turns, thread_id="t", at=MAY)
    facts = {"fact/cello": "Bea plays the cello.", "fact/viola": "Bea plays the viola."}
    store.changes.apply(
        ChangeSet(
            namespace=PLACE,
            run_id="reflect/1",
            kind="reflection",
            reason="what was said of Bea",
            changes=(
                *(
                    AddMemory(
                        key=key,
                        value={"text": text},
                        facets=Facets(kind="semantic", valid_at=MAY),
                        evidence=(said[0],),
                        reason="said",
                    )
                    for key, text in facts.items()
                ),
                AddEntity(key="person/bea", name="Bea", kind="person"),
                AddEntity(key="thing/cello", name="Cello"),
                AddEdge(
                    fact="fact/cello",
                    subject="person/bea",
                    relation="plays",
                    object="thing/cello",
                ),
                OpenReview(
                    id="review/1",
                    about="contradiction",
                    question="Which of these holds?",
                    memories=tuple(facts),
                    options={
                        "cello": (SetStatus(key="fact/viola", status="archived"),),
                        "both": (),
                    },
                ),
            ),
        )
    )
    return store


async def test_the_files_are_served(store: MemoryStore) -> None:
    """Every file comes with its type and a policy that lets nothing in from elsewhere."""
    async with serving(store) as client:
        sent = await client.get("/memory")
        assert sent.status_code == 307
        page = await client.get("/memory/")
        assert page.headers["content-type"].startswith("text/html")
        for one in SOURCES:
            found = await client.get(f"/memory/inspector/{one.name}")
            assert found.headers["content-type"].startswith(inspector.TYPES[one.suffix])
            assert found.headers["content-security-policy"].startswith("default-src 'self';")
            assert found.content == one.read_bytes()
        for part in re.findall(r'(?:href|src)="(inspector/[^"]+)"', page.text):
            assert (await client.get(f"/memory/{part}")).status_code == 200
        for wrong in ("nothing.js", "__init__.py", "..%2fapp.py"):
            assert problem(await client.get(f"/memory/inspector/{wrong}")) == "not-found"
        assert (await client.get("/memory/healthz")).text == "ok\n"


def test_nothing_comes_from_elsewhere() -> None:
    """No source names another address, sets markup from text, or holds a script or style within the page."""
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|"
        r'<style|<script(?![^>]*\ssrc=)|\sstyle="|\son[a-z]+="|javascript:|setAttribute\("style"|@import|url\('
    )
    for one in SOURCES:
        text = one.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not forbidden.search(text), one.name
        assert not re.search(r"https?:|//[a-z0-9-]+\.[a-z]{2,}/", text), one.name


@pytest.mark.parametrize("palette", ["light", "dark"])
def test_colours_can_be_told_apart(palette: str) -> None:
    """Text has a contrast of 4.5 to 1 on every ground it stands on (WCAG 2.2 AA), and borders 3 to 1."""
    blocks = re.findall(r":root \{(.*?)\}", (HOME / "style.css").read_text(), re.DOTALL)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", blocks[palette == "dark"]))
    pairs = [
        *((text, on, 4.5) for text in ("ink", "soft", "accent") for on in ("ground", "raised", "sunk")),
        *(("edge", on, 3.0) for on in ("ground", "raised")),
        ("added-ink", "added", 4.5), ("gone-ink", "gone", 4.5), ("gone-ink", "raised", 4.5),
        ("on-accent", "accent", 4.5), ("ink", "added", 4.5), ("bar", "bar-ground", 3.0),
    ]  # fmt: skip
    for text, ground, least in pairs:
        assert contrast(colours[text], colours[ground]) >= least, (text, ground)


def contrast(one: str, other: str) -> float:
    """Return the ratio of WCAG 2.2 between two colours."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


async def why(client: Any, key: str, **asked: Any) -> dict[str, Any]:
    """Return why a memory was not among the answers."""
    question = {"query": "Who plays the cello?", "namespace": PLACE, **asked}
    found = await client.post(f"{API}/recall/why-not", json={"recall": question, "key": key})
    assert found.status_code == 200, found.text
    told: dict[str, Any] = found.json()
    return told


async def test_why_not_names_the_stage(filled: MemoryStore) -> None:
    """The answer names the stage that lost a memory, says its place in the list, and counts no use."""
    filled.changes.archive(PLACE, "fact/viola", reason="wrong")
    async with serving(filled) as client:
        assert (await why(client, "fact/cello"))["stage"] == "returned"
        archived = await why(client, "fact/viola")
        assert archived["stage"] == "status"
        assert "archived" in archived["reason"]
        assert (await why(client, "fact/cello", kinds=["episodic"]))["stage"] == "kinds"
        assert (await why(client, "fact/cello", since="2030-01-01T00:00:00Z"))["stage"] == "time"
        assert (await why(client, "fact/cello", exclude=["fact/cello"]))["stage"] == "exclude"
        assert (await why(client, "fact/cello", filter={"text": "no"}))["stage"] == "filter"
        tomatoes = next(m.key for m in filled.admin.memories(PLACE) if "tomatoes" in m.text)
        low = await why(client, tomatoes, limit=1)
        assert low["stage"] == "limit"
        assert low["rank"] > 1
        assert low["result"]["explanation"]["contributions"]
        asked = {"recall": {"query": "x", "namespace": PLACE}, "key": "none"}
        assert problem(await client.post(f"{API}/recall/why-not", json=asked)) == "not-found"
    counts = [one.access_count for one in filled.admin.memories(PLACE, past=True)]
    assert set(counts) == {0}


async def test_why_not_hides_what_is_private(filled: MemoryStore) -> None:
    """Whether another's private memory exists is not told, and nobody else's memory is corrected."""
    filled.put(
        PLACE, "secret", {"text": "the cello is stolen", "privacy": "private", "owner": "ana"}
    )
    filled.put(PLACE, "theirs", {"text": "Ana likes rain", "owner": "ana"})
    async with serving(filled, token=token_of(filled, "bob", PLACE)) as client:
        asked = {"recall": {"query": "cello"}, "key": "secret"}
        assert problem(await client.post(f"{API}/recall/why-not", json=asked)) == "not-found"
        for path in ("corrections", "archive"):
            body = {"key": "secret", **({"pinned": True} if path == "corrections" else {})}
            assert problem(await client.post(f"{API}/{path}", json=body)) == "not-found"
        assert problem(await client.get(f"{API}/ageing", params={"key": "secret"})) == "not-found"
        theirs = {"key": "theirs", "pinned": True}
        assert problem(await client.post(f"{API}/corrections", json=theirs)) == "ownership"
        assert (
            problem(await client.get(f"{API}/changes", params={"run_id": "reflect/1"})) == "viewer"
        )


async def test_a_correction_is_a_run(filled: MemoryStore) -> None:
    """A correction changes the text and the index, says what it changed, and is undone by its run."""
    async with serving(filled) as client:
        asked = {
            "key": "fact/cello",
            "namespace": PLACE,
            "text": "Bea plays the harp.",
            "pinned": True,
        }
        done = (await client.post(f"{API}/corrections", json=asked)).json()
        found = filled.admin.memory(PLACE, "fact/cello")
        assert found is not None
        assert (found.text, found.pinned) == ("Bea plays the harp.", True)
        changed = await client.get(f"{API}/changes", params={"run_id": done["run_id"]})
        assert [one["after"]["text"] for one in changed.json()["items"]] == ["Bea plays the harp."]
        stale = {**asked, "updated_at": "2020-01-01T00:00:00Z"}
        assert problem(await client.post(f"{API}/corrections", json=stale)) == "changed-meanwhile"
        nothing = {"key": "fact/cello", "namespace": PLACE}
        assert problem(await client.post(f"{API}/corrections", json=nothing)) == "invalid"
        turn = next(m.key for m in filled.admin.memories(PLACE) if m.text == SAID)
        verbatim = {"key": turn, "namespace": PLACE, "text": "I never said that."}
        assert problem(await client.post(f"{API}/corrections", json=verbatim)) == "verbatim"
        await client.post(f"{API}/undo", json={"run_id": done["run_id"]})
        found = filled.admin.memory(PLACE, "fact/cello")
        assert found is not None
        assert (found.text, found.pinned) == ("Bea plays the cello.", False)
        for path, status in (("archive", "archived"), ("restore", "active")):
            assert (await client.post(f"{API}/{path}", json=nothing)).status_code == 200
            kept = filled.admin.memory(PLACE, "fact/cello")
            assert kept is not None
            assert kept.status == status
        fading = (
            await client.get(f"{API}/ageing", params={**nothing, "namespace": "home/ana"})
        ).json()
        assert 0 < fading["ageing"]["retention"] <= 1
        listed = await client.get(f"{API}/memories", params={"status": "archived"})
        assert listed.json()["items"] == []


# In a browser.

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture
def address(filled: MemoryStore) -> Iterator[str]:
    """Where a server over the file is reached."""
    import uvicorn

    from langmemory.server.app import create_app

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(filled), log_config=None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/memory/"
    server.should_exit = True
    thread.join()
    listening.close()


def elsewhere(url: str) -> list[str]:
    """Return an address, unless it is the server's own."""
    return [] if url.startswith("http://127.0.0.1:") else [url]


@pytest.fixture
def browser_page() -> Iterator[Any]:
    """A page of headless Chromium; what it logs, and asks elsewhere, fails the test."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")
    said: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 360, "height": 800})
        page.on("console", lambda one: said.append(f"{one.type}: {one.text}"))
        page.on("pageerror", lambda one: said.append(str(one)))
        page.on("request", lambda one: said.extend(elsewhere(one.url)))
        page.set_default_timeout(20_000)
        yield page
        assert said == []
        browser.close()


@pytest.mark.integration
def test_why_did_it_say_that(browser_page: Any, address: str, filled: MemoryStore) -> None:
    """In the browser: search, see why and why not, correct, see the history, undo; then decide a review."""
    page = browser_page
    filled.put(PLACE, "markup", {"text": "<img src=x onerror=alert(1)> cello"})
    page.goto(address)
    page.get_by_role("searchbox").fill("Who plays the cello?")
    page.keyboard.press("Enter")
    page.locator(".results .bars").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.get_by_text("<img src=x onerror=alert(1)>").first.is_visible()
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


@pytest.mark.integration
def test_forgetting_shows_its_proof(browser_page: Any, address: str, filled: MemoryStore) -> None:
    """In the browser: forgetting shows first what would go, then what went; the key is not there any more."""
    page = browser_page
    page.goto(f"{address}#/memory?ns=home&ns=ana&key=fact%2Fviola")
    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("button", name="Forget it").click()
    page.get_by_text("gone, and proven").wait_for()
    assert filled.admin.memory(PLACE, "fact/viola") is None


@pytest.mark.integration
def test_what_held_at_a_moment(browser_page: Any, address: str, filled: MemoryStore) -> None:
    """In the browser: the sliders of timeline and graph, moved by keys, show what was known then."""
    page = browser_page
    filled.put(PLACE, "old", {"text": "Bea played the piano."})
    page.goto(f"{address}#/timeline")
    page.get_by_text("3 facts hold at this moment, of 3.").wait_for()
    known = page.get_by_label("Known at")
    known.focus()
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


@pytest.mark.integration
def test_health_and_jobs(browser_page: Any, address: str, filled: MemoryStore) -> None:
    """In the browser: figures of memory, and a queue that is empty with what fills it."""
    page = browser_page
    page.goto(f"{address}#/health")
    page.get_by_text("No night of maintenance yet.").wait_for()
    page.get_by_role("link", name="jobs").click()
    page.get_by_text("The queue is empty.").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.integration
def test_a_token_is_asked_for(browser_page: Any, filled: MemoryStore, address: str) -> None:
    """In the browser: a token that is typed in shows what its viewer may read, and stands in no address."""
    page = browser_page
    token = token_of(filled, "bob", PLACE, scope="read")
    filled.put(
        PLACE, "secret", {"text": "Ana hides a cello.", "privacy": "private", "owner": "ana"}
    )
    page.goto(f"{address}#/memories")
    page.get_by_text("Ana hides a cello.").wait_for()
    page.get_by_role("button", name="Token").click()
    page.get_by_label("Token", exact=True).last.fill(token)
    page.get_by_role("button", name="Use it").click()
    page.get_by_text("Ana hides a cello.").wait_for(state="detached")
    page.get_by_text("Bea plays the cello.").wait_for()
    assert token not in page.url
    assert page.evaluate("Object.values(sessionStorage)").count(token) == 1
