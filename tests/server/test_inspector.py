"""The inspector: static pages that act through the API alone. `test_browser.py` tries them in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.server.client import API, problem, serving, token_of
from tests.server.story import PLACE, SAID, tell

from langmemory.server import inspector  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from langmemory.types import Kind, MessageType, Status  # isort: skip

HOME = Path(inspector.__file__).parent
SOURCES = sorted(one for one in HOME.iterdir() if one.suffix in inspector.TYPES)


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


@pytest.mark.parametrize("path", ["recall", "context/inject"])
async def test_looking_is_no_access(tmp_path: Path, path: str) -> None:
    """What the pages ask for is not counted as a use of what they show; what a prompt asks for is."""
    asked = {"query": "Who plays the cello?", "namespace": PLACE}
    for counted in (False, True):
        file = tmp_path / f"{counted}.db"
        with MemoryStore(file) as store:
            tell(store)
            async with serving(store) as client:
                found = await client.post(f"{API}/{path}", json={**asked, "counted": counted})
            assert "fact/cello" in found.text
        with MemoryStore(file) as store:  # closing has written the counts
            counts = [one.access_count for one in store.admin.memories(PLACE)]
        assert any(counts) is counted


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
        listed = await client.get(f"{API}/memories", params={"statuses": "archived"})
        assert listed.json()["items"] == []


def test_the_pictures_stand_on_pages() -> None:
    """Each screenshot is on a page, with words for those who do not see it, and has at most 150 kB."""
    root = HOME.parents[2]
    pages = [root / "README.md", root / "docs" / "how-to" / "inspector.md"]
    said = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    words = dict(reversed(found) for found in re.findall(r"!\[([^\]]+)\]\(\S*/(\S+)\)", said))
    words |= dict(
        reversed(found) for found in re.findall(r'<img alt="([^"]+)" src="\S*/(\S+)">', said)
    )
    pictures = sorted((root / "docs" / "images").glob("inspector-*.png"))
    assert len(pictures) >= 5
    for picture in pictures:
        assert picture.stat().st_size <= 150_000
        assert picture.name in said
        light = picture.name.replace(
            "-dark", "-light"
        )  # the same picture, chosen by the reader's palette
        assert len(words.get(picture.name) or words[light]) > 40


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("bus.js", get_args(MessageType)), ("memories.js", get_args(Kind)), ("search.js", get_args(Kind)),
        ("memories.js", get_args(Status)),
    ],
)  # fmt: skip
def test_a_page_offers_every_word_of_a_set(page: str, words: tuple[str, ...]) -> None:
    """What can be chosen in a list of a page is all that there is: types of messages, kinds, statuses."""
    lists = re.findall(
        r"^const [A-Z]+ = \[(.*)\];$", (HOME / page).read_text("utf-8"), re.MULTILINE
    )
    assert set(words) in [set(re.findall(r'"(\w+)"', one)) for one in lists]
