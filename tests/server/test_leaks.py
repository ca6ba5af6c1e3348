"""No request, whatever it is made of and over whichever door, shows a viewer what is private to another."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.seeds import examples
from tests.server.client import API, serving, token_of
from tests.server.secret_world import (
    ASKED,
    NEVER_ASKED,
    PLACE,
    POOL,
    SECRETS,
    Asked,
    Known,
    fill,
    of_known,
    of_mcp,
    of_pages,
    of_route,
    part_of,
)
from tests.server.streams import following

from langmemory.server.api import all_routes  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.mcp.tools import all_tools  # isort: skip
from langmemory.server.routes import Route  # isort: skip
from langmemory.server.settings import ServerSettings  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

REQUESTS: Final = int(os.environ.get("LANGMEMORY_REQUESTS", examples(600, first=300)))
"""100,000 takes some twenty minutes of one core."""
SEED: Final = int(os.environ.get("LANGMEMORY_SEED", "5"))
FAST: Final = ServerSettings(requests_per_second=1e9, event_heartbeat_seconds=0.01)
DECLARED: Final = [route for routes in all_routes() for route in routes.declared]
IN_ONE_FILE: Final = 2_500
"""Requests, after which they go to a new file."""


def leaked(told: str, asked: str) -> list[str]:
    """Return the secrets in an answer: all that nobody asks for, and of the others those that this request
    does not name itself."""
    return [one for one in NEVER_ASKED if one in told] + [
        one for one in ASKED if one in told and one not in asked
    ]


def asked_at_random(number: int, choice: random.Random) -> Asked:
    """Return the next request: each operation of the API in turn, and between them MCP and pages."""
    door = choice.random()
    if door < 0.75:
        return of_route(DECLARED[number % len(DECLARED)], choice)
    return of_mcp(choice) if door < 0.97 else of_pages(choice)


def seen_in(response: httpx.Response) -> str:
    """Return all that a client sees of an answer, but for queries as it subscribed to them itself."""
    headers = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
    text = response.text
    if "/bus/subscriptions" in str(response.request.url):
        for query in POOL["query"]:
            text = text.replace(f'"query":{json.dumps(query)}', "")
    return f"{headers}\n{text}"


async def test_nothing_private_is_shown_to_another(tmp_path: Path) -> None:
    """Over every operation, tool, resource, prompt, page and event stream, with every right that a token of
    one viewer can have, with tokens of the application that are narrowed to them, and after Maria asked the
    same: no answer, no header and no error holds a word of her private memory."""
    choice, answered, started = random.Random(SEED), Counter[str](), time.monotonic()
    for first in range(
        0, REQUESTS, IN_ONE_FILE
    ):  # what Ben deletes is no longer beside what he may not see
        with MemoryStore(tmp_path / f"{first}.db") as store:
            await asked_of_one_file(
                store, choice, range(first, min(first + IN_ONE_FILE, REQUESTS)), answered
            )
        print(f"{first + IN_ONE_FILE:,} requests, {time.monotonic() - started:.0f} s", flush=True)
    if REQUESTS >= 10_000:
        tools = {f"mcp {name}" for name, one in all_tools().items() if not one.for_projects}
        allowed = {one.name for one in DECLARED if one.name not in OF_THE_APPLICATION}
        never = (tools | allowed) - set(answered)
        assert not never, sorted(never)


async def asked_of_one_file(
    store: MemoryStore, choice: random.Random, numbers: range, answered: Counter[str]
) -> None:
    """Send requests of Ben to a server over a file with secrets, and look for these in the answers."""
    fill(store)
    cursors = [store.feed.read(limit=n).next for n in (1, 5, 30)]
    tokens = [token_of(store, "ben", scope=scope) for scope in ("read", "write", "admin")]
    tokens.append(token_of(store, "ben", PLACE, scope="admin", agent="helper"))
    application, maria = token_of(store, None, scope="admin"), token_of(store, "maria")
    async with serving(store, settings=FAST) as client:
        await replayable(client, maria)
        await replayable(client, application, **{"Memory-Viewer": '"maria"'})
        app = client._transport.app  # type: ignore[attr-defined]
        for number in numbers:
            if number % 200 == 100:
                token = choice.choice(tokens)
                after, types = choice.choice(cursors), choice.choice((None, ["memory"], ["review"]))
                told = await backlog(app, token, after, types)
                assert not leaked(told, ""), told
                continue
            asked = asked_at_random(number, choice)
            narrowed = choice.random() < 0.1
            bearer = application if narrowed else choice.choice(tokens)
            headers = {**asked.sent.get("headers", {}), "Authorization": f"Bearer {bearer}"}
            if narrowed:
                headers["Memory-Viewer"] = choice.choice(('"ben"', '""'))
            response = await client.request(**{**asked.sent, "headers": headers})
            assert response.status_code < 500, (asked.sent, response.text)
            found = leaked(seen_in(response), asked.text)
            assert not found, (found, asked.sent, headers, response.status_code, response.text)
            if response.status_code < 300 and '"isError":true' not in response.text:
                answered[asked.door] += 1
    kept = store.get(PLACE, "secret")
    assert kept is not None
    assert kept.value["text"] == "I love the xylophone of samarkand"


OF_THE_APPLICATION: Final = frozenset(
    {"list_runs", "get_run", "list_changes", "undo", "decide_review", "list_jobs", "retry_jobs", "drop_jobs",
     "restore_memory", "import_rows", "get_health", "get_stats", "list_nights", "maintain", "undo_night",
     "get_memory_page", "take_memory_page"}
)  # fmt: skip
"""Operations that no token of a viewer may use."""


MARKS: Final = {"maria": NEVER_ASKED, "ben": ("obelisk",), "cyd": ("papyrus",)}
"""Words of what is private to each of three viewers, which no request names."""
FILES_WALKED: Final = 4
"""At most, until the walk has reached every route."""


@pytest.mark.thorough
async def test_a_walk_reaches_every_route(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each operation of the API is answered with 2xx, asked with its example or with what answers told, by
    one of three viewers, or by the application where a viewer may not; no answer and no error tells a
    viewer what is private to another."""
    monkeypatch.setenv("LANGMEMORY_VAULT_KEY", "00" * 32)
    monkeypatch.chdir(tmp_path)
    choice, left = random.Random(SEED), {one.name: one for one in DECLARED}
    for number in range(FILES_WALKED):
        if left:
            with MemoryStore(tmp_path / f"{number}.db") as store:
                await walk(store, choice, left, tmp_path / "garden")
    assert not left, sorted(left)


async def walk(
    store: MemoryStore, choice: random.Random, left: dict[str, Route], folder: Path
) -> None:
    """Ask routes, most often one that is left, until none is or the file has had its share of requests."""
    fill(store)
    for viewer, words in MARKS.items():
        own = {"text": f"A key under the {words[0]}", "owner": viewer, "privacy": "private"}
        store.put(PLACE, f"of {viewer}", own)
    store.vault.put(PLACE, "GitHub token", "hunter2")
    store.put(("team", "shop"), "task", {"record": "task", "title": "Ship the checkout"})
    store.put(("team", "shop"), "prices", {"record": "document", "path": "docs/prices.md"})
    store.graph(("team", "shop")).link("agent:writer", "works_on", "task")
    folder.mkdir(exist_ok=True)
    folder.joinpath("garden.md").write_text("# Garden\n\nIt is green.\n")
    there = {"path": "a.md", "root": str(folder), "folder": str(folder.parent), "task": "task"}
    rows = "".join(f"{json.dumps(row)}\n" for row in store.admin.export()).encode()
    tokens = {name: token_of(store, name, scope="admin") for name in MARKS}
    tokens[""] = store.tokens.create(scope="admin", unlocks=True)[1]
    known = {name: Known(**there) for name in tokens}
    async with serving(store, settings=FAST) as client:
        for _ in range(IN_ONE_FILE):
            if not left:
                return
            pending = choice.random() < 0.8
            route = choice.choice(list(left.values()) if pending else DECLARED)
            viewers = () if route.name in OF_THE_APPLICATION else tuple(MARKS)
            viewer = choice.choice(("", *viewers))
            asked = of_known(route, known[viewer], choice, rows)
            headers = {**asked.sent["headers"], "Authorization": f"Bearer {tokens[viewer]}"}
            if "/bus" in asked.sent["url"] or "swarm" in asked.sent["url"]:
                headers["Memory-Agent"] = '"helper"'
            response = await client.request(**{**asked.sent, "headers": headers})
            assert response.status_code < 500, (asked.sent, response.text)
            if viewer:
                foreign = [one for name, words in MARKS.items() if name != viewer for one in words]
                found = [one for one in foreign if one in seen_in(response)]
                assert not found, (found, viewer, asked.sent, response.text)
            if response.status_code < 300:
                left.pop(route.name, None)
                if response.headers.get("content-type") == "application/json":
                    known[viewer].learn(response.json(), part_of(route))


async def replayable(client: httpx.AsyncClient, token: str, **more: str) -> None:
    """Let Maria ask, with an Idempotency-Key, what answers with her private memory."""
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "maria's", **more}
    for number, (path, body) in enumerate(
        (
            ("/recall", {"query": "xylophone"}),
            ("/episodic/search", {"query": "xylophone"}),
            ("/context/inject", {"query": "xylophone", "namespace": list(PLACE)}),
        )
    ):
        key = {"Idempotency-Key": f"maria's {number}" if number else "maria's"}
        answer = await client.post(f"{API}{path}", json=body, headers={**headers, **key})
        assert any(one in answer.text for one in SECRETS)


async def backlog(app: Any, token: str, after: str, types: list[str] | None) -> str:
    """Return what an event stream and a WebSocket tell of the past."""
    query = {} if types is None else {"type": types}
    async with following(app, token=token, last_id=after, **query) as stream:
        async with asyncio.timeout(20):
            while b": \n\n" not in stream.body:
                await asyncio.sleep(0.002)
    assert stream.status == 200
    return stream.body.decode()


async def test_answers_do_not_depend_on_what_is_private(tmp_path: Path) -> None:
    """The same requests get the same answers, whether or not the file holds what is private to Maria: no
    status, count, cursor, order or text tells that there is anything. Only that a key is taken shows when it
    is written, so requests here write other keys; and BM25 counts words in the whole file
    (docs/how-to/privacy.md), so scores are not compared, and what a gate lets through is not asked."""
    choice = random.Random(SEED)
    async with AsyncExitStack() as stack:
        clients = []
        for name in ("with", "without"):
            store = stack.enter_context(MemoryStore(tmp_path / f"{name}.db"))
            fill_apart(store, secrets=name == "with")
            token = token_of(store, "ben", scope="admin")
            clients.append(
                await stack.enter_async_context(serving(store, settings=FAST, token=token))
            )
        writes = {"PUT", "POST", "PATCH", "DELETE"}
        for number in range(REQUESTS // 2):
            asked = asked_at_random(number, choice)
            writing = asked.sent["method"] in writes and asked.door != "forget"
            gated = asked.door in ("inject_context", "mcp memory-block") or "auto" in asked.text
            if gated or (writing and "secret" in asked.text):
                continue
            first, second = [await one.request(**asked.sent) for one in clients]
            assert told(first) == told(second), asked.sent


def fill_apart(store: MemoryStore, *, secrets: bool) -> None:
    """Put shared memories into a file, and beside them secrets of Maria or nothing."""
    if secrets:
        mine = store.for_viewer("maria")
        for number in range(30):
            text = f"The xylophone number {number} of the house has a garden"
            mine.put(PLACE, f"secret {number}", {"text": text, "privacy": "private"})
        mine.put((*PLACE, "timbuktu"), "k", {"text": "garden", "privacy": "private"})
    for number, text in enumerate(("The house has a garden", "Maria plays tennis", "Ben swims")):
        store.put(PLACE, f"open {number}", {"text": text})
    for id, content in (
        ("a", "Clarinets are loud"),
        ("b", "A quixotic garden"),
        ("c", "I like it"),
    ):
        said = [{"role": "user", "content": content, "id": id}]
        if id != "b":
            store.remember(PLACE, said, thread_id="t")
        elif secrets:
            mine.remember(PLACE, said, thread_id="t", privacy="private")


VARYING: Final = re.compile(
    r"\b\d+ -> \d+\b|\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)?|\b[0-9a-f]{8,64}\b|\b\d+\.\d+(e-?\d+)?\b|lmt_\w+"
)
"""Ranks that an explanation tells, which follow the scores; times, ids, milliseconds and scores."""


def told(response: httpx.Response) -> tuple[int, list[str]]:
    """Return the status and the words of an answer, in no order, without what two runs never have in
    common."""
    text = re.sub(r'"moves":\[[^]]*\]', "", response.text)  # they follow the scores
    if response.headers.get("content-type") == "application/json" and '"next":' in text:
        answer = json.loads(text)
        if isinstance(answer, dict) and isinstance(answer.get("next"), str):
            text = json.dumps({**answer, "next": "…"})
    return response.status_code, sorted(re.findall(r"\w+", VARYING.sub("…", text)))


def test_inside_another_server_there_are_two_places_alone(store: MemoryStore) -> None:
    """Mounted, the application answers below its two prefixes and hides no other route."""
    paths = {getattr(one, "path", "") for one in create_app(store, mounted=True).routes}
    assert paths == {"/api/v1/memory", "/memory"}
