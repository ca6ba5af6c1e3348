"""What the inspector's pages ask the API for beyond memories: MEMORY.md, nights, imports, rights."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.server.client import API, problem, serving, token_of

from langmemory.changes import AddMemory, ChangeSet, Facets  # isort: skip
from langmemory.hooks import parts  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

PLACE = ("home", "ana")
NAMED = {"namespace": "home/ana"}


@pytest.fixture
def known(store: MemoryStore) -> MemoryStore:
    """A file with two facts and a core block."""
    add(store, "reflect/1", {"fact/cello": "Bea plays the cello.", "fact/rain": "Ana likes rain."})
    store.put((*PLACE, "core"), "human", {"kind": "core", "content": "Ana", "version": 1})
    return store


def add(store: MemoryStore, run: str, facts: dict[str, str], **options: Any) -> None:
    """Apply a run that adds facts."""
    store.changes.apply(
        ChangeSet(
            namespace=PLACE,
            run_id=run,
            reason="said",
            changes=tuple(
                AddMemory(key=key, value={"text": text}, facets=Facets(kind="semantic"))
                for key, text in facts.items()
            ),
            **{"kind": "reflection", **options},
        )
    )


def text_of(store: MemoryStore, key: str, place: tuple[str, ...] = PLACE) -> str:
    """Return what a memory says, with its status where that is not active."""
    found = store.admin.memory(place, key)
    assert found is not None
    return found.text if found.status == "active" else f"{found.status}: {found.text}"


async def test_a_page_is_read_and_edited(known: MemoryStore) -> None:
    """A changed, a deleted and a new line are a correction: a dry run tells it, an undo takes it back."""
    async with serving(known) as client:
        answer = await client.get(f"{API}/memory-page", params=NAMED)
        page = answer.json()
        assert answer.headers["etag"]
        assert page["owners"] == []
        text = page["text"].replace("plays the cello", "plays the harp")
        text = "\n".join(one for one in text.splitlines() if "Ana likes rain" not in one)
        text = text.replace("## Facts\n", "## Facts\n\n- Ana collects stamps.\n", 1)
        text = text.replace("> Ana", "> Ana, a cook")
        body = {"namespace": PLACE, "text": text, "dry_run": True}
        planned = (await client.post(f"{API}/memory-page", json=body)).json()
        assert [len(one["lines"]) for one in planned["applied"]] == [3, 1]
        assert text_of(known, "fact/cello") == "Bea plays the cello."
        done = (await client.post(f"{API}/memory-page", json={**body, "dry_run": False})).json()
        assert "Ana collects stamps." in done["page"]["text"]
        assert "Ana, a cook" in done["page"]["text"]
        assert text_of(known, "fact/cello") == "Bea plays the harp."
        assert text_of(known, "fact/rain") == "archived: Ana likes rain."
        await client.post(f"{API}/undo", json={"run_id": done["applied"][0]["run_id"]})
        assert text_of(known, "fact/cello") == "Bea plays the cello."


async def test_an_edit_of_something_older_is_a_review(known: MemoryStore) -> None:
    """Where a memory or a core block says something else by now, nothing is written and a review asks; with
    If-Match the page is refused."""
    async with serving(known) as client:
        answer = await client.get(f"{API}/memory-page", params=NAMED)
        text = answer.json()["text"].replace("the cello", "the harp").replace("> Ana", "> Anna")
        known.changes.correct(
            PLACE, "fact/cello", value={"text": "Bea plays the oboe."}, reason="x"
        )
        known.put((*PLACE, "core"), "human", {"kind": "core", "content": "Ana K.", "version": 2})
        body = {"namespace": PLACE, "text": text}
        stale = {"If-Match": answer.headers["etag"]}
        refused = await client.post(f"{API}/memory-page", json=body, headers=stale)
        assert problem(refused) == "changed-meanwhile"
        await client.post(f"{API}/memory-page", json=body)
        assert text_of(known, "fact/cello") == "Bea plays the oboe."
        asked = (await client.get(f"{API}/reviews", params=NAMED)).json()["items"]
        assert sorted(one["memories"][0] for one in asked) == ["fact/cello", "human"]
        block = next(one for one in asked if one["memories"] == ["human"])
        await client.post(f"{API}/reviews/{block['id']}", json={"option": "edit"})
        written = known.get((*PLACE, "core"), "human")
        assert written is not None
        assert written.value["content"] == "Anna"


async def test_a_page_that_is_none_is_refused(known: MemoryStore) -> None:
    """A page without its last line, of another namespace, or of nobody is refused with the next step."""
    async with serving(known) as client:
        page = (await client.get(f"{API}/memory-page", params=NAMED)).json()
        for text, place in (("# Memory\n- new", PLACE), (page["text"], ("home", "bob"))):
            body = {"namespace": place, "text": text}
            assert problem(await client.post(f"{API}/memory-page", json=body)) == "invalid"
        missing = await client.get(f"{API}/memory-page", params={**NAMED, "owner": "bob"})
        assert problem(missing) == "not-found"
    async with serving(known, token=token_of(known, "ana", PLACE)) as client:
        assert problem(await client.get(f"{API}/memory-page")) == "viewer"


async def test_nights_are_listed_and_taken_back(known: MemoryStore) -> None:
    """Runs of one night come together, with how many memories they changed, and are undone together."""
    for task in ("promote", "summarise"):
        note = {"night": "2026-05-01-abc", "task": task, "keys": [f"sum/{task}"]}
        add(
            known, f"night/2026-05-01-abc/{task}/1", {f"sum/{task}": f"By {task}."},
            kind="maintenance", note=note,
        )  # fmt: skip
    async with serving(known) as client:
        (night,) = (await client.get(f"{API}/nights", params=NAMED)).json()["items"]
        assert (night["id"], night["changes"], night["undone"]) == ("2026-05-01-abc", 2, False)
        assert [one["note"]["task"] for one in night["runs"]] == ["promote", "summarise"]
        assert (await client.get(f"{API}/nights", params={"namespace": "home/bob"})).json()[
            "items"
        ] == []
        asked = {"night": night["id"], "dry_run": True}
        planned = (await client.post(f"{API}/nights/undo", json=asked)).json()
        assert len(planned["applied"]) == 2
        assert text_of(known, "sum/promote") == "By promote."
        await client.post(f"{API}/nights/undo", json={"night": night["id"]})
        assert known.admin.memory(PLACE, "sum/promote") is None
        missing = await client.post(f"{API}/nights/undo", json={"night": "none"})
        assert problem(missing) == "not-found"
    elsewhere = token_of(known, None, ("home", "bob"), scope="admin")
    async with serving(known, token=elsewhere) as client:
        refused = await client.post(f"{API}/nights/undo", json={"night": night["id"]})
        assert problem(refused) == "not-found"


async def test_a_night_is_planned_and_done(known: MemoryStore) -> None:
    """A dry run tells what each task would do and changes nothing; a night does it, under an id to undo."""
    known.put(PLACE, "twin", {"text": "Bea plays the cello.", "kind": "semantic"})
    body: dict[str, Any] = {"namespace": PLACE, "tasks": ["duplicates"]}
    async with serving(known) as client:
        planned = (await client.post(f"{API}/nights", json=body)).json()
        assert planned["dry_run"]
        assert [one["task"] for one in planned["reports"]] == ["duplicates"]
        assert (await client.get(f"{API}/nights", params=NAMED)).json()["items"] == []
        done = (await client.post(f"{API}/nights", json={**body, "dry_run": False})).json()
        assert len(done["reports"][0]["lines"]) == len(planned["reports"][0]["lines"])
        unknown = await client.post(f"{API}/nights", json={"tasks": ["sing"]})
        assert problem(unknown) == "invalid"
    async with serving(known, token=token_of(known, None)) as client:
        assert problem(await client.post(f"{API}/nights", json=body)) == "scope"


async def test_an_import_is_tried_first(known: MemoryStore) -> None:
    """A dry run counts what is new, names each line that cannot be read, and stores nothing."""
    rows = [json.dumps(row) for row in known.admin.export()]
    item = next(one for one in rows if '"fact/cello"' in one and '"item"' in one)
    fresh = item.replace("fact/cello", "fact/new")
    spoilt = item.replace('"created_at": "2', '"created_at": "x').replace(
        "fact/cello", "fact/spoilt"
    )
    text = "\n".join([*rows, "{", "[]", fresh, spoilt, '{"type": "song"}'])
    lines = {"Content-Type": "application/x-ndjson"}
    async with serving(known) as client:
        asked: dict[str, Any] = {"content": text, "headers": lines}
        found = (await client.post(f"{API}/import?dry_run=true", **asked)).json()
        assert found["changed"] == 1
        first = len(rows) + 1
        told = [one["line"] for one in found["problems"]]
        assert sorted(told) == [first, first + 1, first + 3, first + 4]
        assert known.admin.memory(PLACE, "fact/new") is None
        assert problem(await client.post(f"{API}/import", **asked)) == "import-format"
        good = {**asked, "content": fresh}
        assert (await client.post(f"{API}/import", **good)).json()["changed"] == 1
        again = (await client.post(f"{API}/import?dry_run=true", **good)).json()
        assert (again["changed"], again["memories"], again["problems"]) == (0, 1, [])


async def test_rights_are_told(known: MemoryStore) -> None:
    """Whoever asks learns their viewer, namespaces and scope, and no secret."""
    async with serving(known) as client:
        local = (await client.get(f"{API}/rights")).json()
        assert local == {
            "token": "local", "viewer": None, "namespaces": [], "scope": "admin", "agent": None,
            "unlocks": False,
            "parts": [one.name for one in parts()],
        }  # fmt: skip
    token = token_of(known, "ana", PLACE, scope="read")
    async with serving(known, token=token) as client:
        answer = await client.get(f"{API}/rights")
        found = answer.json()
        assert (found["viewer"], found["scope"]) == ("ana", "read")
        assert found["namespaces"] == [list(PLACE)]
        assert token.split("_", 2)[2] not in answer.text


async def test_a_core_of_one_label(known: MemoryStore) -> None:
    """Core blocks of a namespace of one label are reached by an empty namespace above it."""
    async with serving(known) as client:
        body = {"blocks": {"human": "Ana"}}
        await client.put(f"{API}/core/solo", params={"namespace": ""}, json=body)
        assert text_of(known, "human", ("solo", "core")) == "Ana"


async def test_usage_of_one_memory(known: MemoryStore) -> None:
    """What was counted of one memory is told by its key."""
    async with serving(known) as client:
        asked = {**NAMED, "key": "fact/cello"}
        assert (await client.get(f"{API}/context/stats", params=asked)).json()["items"] == []
