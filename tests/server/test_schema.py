"""The API does what its OpenAPI document says: schemathesis tries it, and the page shows it."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.server.client import API, serving

from langmemory.declaring.fields import not_null  # isort: skip
from langmemory.server.api import all_routes  # isort: skip
from langmemory.server.openapi import BODIES  # isort: skip
from scripts import operations_page  # isort: skip
from langmemory.wire import adapter  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip


async def test_the_page_needs_nothing_else(store: MemoryStore) -> None:
    """The documentation is one page, whose parts are of this server, without an inline script or style."""
    async with serving(store) as client:
        page = await client.get(f"{API}/docs")
        assert "unsafe" not in page.headers["content-security-policy"]
        parts = re.findall(r'(?:src|href)="(?!data:)([^"]+)"', page.text)
        assert len(parts) == 3
        for part in parts:
            found = await client.get(f"{API}/{part}")
            kind = "text/css" if part.endswith(".css") else "text/javascript"
            assert (found.status_code, kind in found.headers["content-type"]) == (200, True)
        assert (await client.get(f"{API}/docs/../app.py")).status_code == 404
        assert (await client.get(f"{API}/docs/index.css")).status_code == 404


async def test_without_swagger_ui_the_page_says_what_brings_it(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the API works without the package that has the page."""
    monkeypatch.setitem(sys.modules, "swagger_ui", None)
    async with serving(store) as client:
        page = await client.get(f"{API}/docs")
        assert page.status_code == 404
        assert 'extra "server"' in page.json()["detail"]
        assert (await client.get(f"{API}/openapi.json")).status_code == 200


async def test_every_operation_is_described(store: MemoryStore) -> None:
    """The document is OpenAPI 3.1; each operation has an id of its own, a summary, and its refusals."""
    async with serving(store) as client:
        found = (await client.get(f"{API}/openapi.json")).json()
    assert found["openapi"] == "3.1.0"
    operations = [one for methods in found["paths"].values() for one in methods.values()]
    assert len({one["operationId"] for one in operations}) == len(operations) > 40
    for one in operations:
        assert one["summary"].endswith(".")
        assert {"401", "403", "422"} <= set(one["responses"])
    text = json.dumps(found)
    for name in found["components"]["schemas"]:
        assert f'"#/components/schemas/{name}"' in text, name
    tags = [one["name"] for one in found["tags"]]
    assert len(tags) == len(set(tags))
    for name, schema in found["components"]["schemas"].items():
        assert schema["title"] == name  # generators of clients name classes by it
        assert re.fullmatch(r"[A-Z][A-Za-z]+", name)


def test_every_body_has_an_example() -> None:
    """Each operation that takes a body shows one that is as its model says."""
    bodies = {
        route.name: route.models["body"]
        for part in all_routes()
        for route in part.declared
        if "body" in route.models
    }
    assert bodies.keys() == BODIES.keys()
    for name, model in bodies.items():
        adapter(model).validate_python(BODIES[name])


PATHS: dict[str, str] = {
    "put_semantic": "/semantic/sister", "add_working": "/working/s1", "put_core": "/core/maria",
    "patch_core": "/core/maria",
}  # fmt: skip
ABOUT_NOTHING = {
    "take_memory_page": 422, "changes_decide": 404, "changes_undo": 404, "undo_night": 404,
    "projects_add": 422, "projects_discover": 422, "projects_later": 404, "projects_refresh": 404,
    "projects_update": 404,
}  # fmt: skip
"""What speaks of something that is not in the file, and the refusal."""


@pytest.mark.parametrize("name", sorted(BODIES))
async def test_an_example_can_be_sent(
    store: MemoryStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each example is taken by a server that remembers what it speaks of; optional fields that are null are
    as if they were left out."""
    place = ("memories", "maria")
    value = {
        "text": "Maria's sister Anna lives in Lisbon.",
        "valid_at": datetime.now(UTC).isoformat(),
    }
    if name != "add_semantic":
        store.put(place, "sister", value)
    if name in ("graph_link", "graph_unlink", "swarm_update_task"):
        team = ("team", "shop")
        store.put(team, "task", {"record": "task", "title": "Ship the checkout"})
        store.put(team, "prices", {"record": "document", "path": "docs/prices.md"})
        if name == "graph_unlink":
            store.graph(team).link("agent:writer", "works_on", "task")
    if name == "procedures_record_outcome":
        store.procedures.add(place, "deploy the website", ["run the tests", "push"])
    if name == "restore_memory":
        store.changes.archive(place, "sister", reason="test")
    [route] = [one for part in all_routes() for one in part.declared if one.name == name]
    path = PATHS.get(name, re.sub(r"\{\w+\}", "nothing", route.template.removeprefix(API)))
    query: dict[str, Any] = (
        {} if name not in PATHS or "core" in path else {"namespace": "memories/maria"}
    )
    agent = {"Memory-Agent": '"planner"'} if path.startswith("/bus/") else {}
    if name in ("bus_invalidate", "bus_reply"):
        sent_as = store.bus(("team", "shop"), agent="planner")
        sent_as.share("Prices are in euros only.", id=BODIES[name]["message_id"])
    token = None
    if name == "unlock_secret":
        monkeypatch.setenv("LANGMEMORY_VAULT_KEY", "00" * 32)
        store.vault.put(place, BODIES[name]["label"], "hunter2")
        token = store.tokens.create(unlocks=True)[1]
    body = {**dict.fromkeys(not_null(route.models["body"])), **BODIES[name]}
    async with serving(store, token=token) as client:
        found = await client.request(
            route.method, f"{API}{path}", params=query, json=body, headers=agent
        )
    assert found.status_code == ABOUT_NOTHING.get(name, route.status), found.text


def test_the_page_of_operations_is_the_code() -> None:
    """``docs/operations.md`` is what the script writes, so that each change of the API is seen in a diff."""
    assert operations_page.PAGE.read_text("utf-8") == operations_page.page(), (
        "run `python -m scripts.operations_page`, and look at what changed"
    )
