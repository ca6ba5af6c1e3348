"""The API does what its OpenAPI document says: schemathesis tries it, and the page shows it."""

from __future__ import annotations

import json

from tests.server.client import API, serving

from langmemory.server.api import ROUTES  # isort: skip
from langmemory.server.openapi import document  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip


async def test_the_page_needs_nothing_else(store: MemoryStore) -> None:
    """The documentation is one page with one style sheet of this server, without a script."""
    async with serving(store) as client:
        page = await client.get(f"{API}/docs")
        assert "<script" not in page.text
        assert "http" not in page.text.replace("langmemory", "")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        for path in document(ROUTES)["paths"]:
            assert path in page.text
        assert (await client.get(f"{API}/docs.css")).headers["content-type"].startswith("text/css")


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
