"""`--json` of each command and the answer of its route are one form (`langmemory.wire`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from langmemory.changes import AddMemory, ChangeSet, OpenReview
from langmemory.nodes.core_memory import CoreMemory
from langmemory.ports.jobs import NewJob
from langmemory.stores import MemoryStore
from tests.cli.conftest import invoked
from tests.server.client import API, serving

PLACE = ("memories", "maria")
NS = "memories/maria"
AT = {"namespace": NS}

TABLE: list[tuple[str, list[str], str, dict[str, Any], str | None]] = [
    ("list", ["list", "-n", NS, "--json"], "/memories", AT, "items"),
    ("get", ["get", "sister", "-n", NS, "--json"], "/memories/sister", AT, None),
    (
        "history",
        ["history", "sister", "-n", NS, "--json"],
        "/history",
        {**AT, "key": "sister"},
        "items",
    ),
    ("runs", ["runs", "-n", NS, "--json"], "/runs", AT, "items"),
    ("reviews", ["reviews", "-n", NS, "--json"], "/reviews", AT, "items"),
    ("usage", ["usage", "-n", NS, "--json"], "/context/stats", AT, "items"),
    ("jobs", ["jobs", "--json"], "/jobs", {}, "items"),
    ("stats", ["stats", "--json"], "/stats", {}, None),
    ("core", ["core", "list", "-n", NS, "--json"], "/core/maria", {}, "blocks"),
]
"""Command, its words, route, query, and where in the answer of the route its form stands."""
BESIDE = {"get": {"evidence", "ageing"}, "stats": {"jobs", "reviews"}}
"""What a command tells beside the form."""
MORE = {"core": {"purpose"}}
"""What only the route tells."""


def filled(file: Path) -> None:
    with MemoryStore(file) as store:
        store.put(PLACE, "sister", {"text": "Anna lives in Lisbon."})
        store.put(PLACE, "sister", {"text": "Anna lives in Porto."})
        CoreMemory(store, PLACE).rethink("persona", "brief")
        changes = (
            AddMemory(key="f", value={"text": "Anna likes tea."}),
            OpenReview(
                id="v",
                about="approval",
                question="Is it so?",
                memories=("f",),
                options={"keep": ()},
            ),
        )
        store.changes.apply(
            ChangeSet(
                namespace=PLACE, run_id="r", kind="reflection", reason="test", changes=changes
            )
        )
        store.admin.count_usage(
            [{"namespace": PLACE, "key": "f", "loaded": 2, "referenced": 1, "succeeded": 1,
              "read_tokens": 9, "discovery_tokens": 3}]
        )  # fmt: skip
        job = NewJob(
            kind="reflection",
            lock="memories.maria",
            thread="t",
            payload={},
            config={},
            wait_seconds=3_600,
        )
        store.jobs.enqueue(job, lambda _: None).result()


@pytest.mark.parametrize(
    ("name", "words", "path", "query", "within"), TABLE, ids=[one[0] for one in TABLE]
)
async def test_a_command_prints_what_its_route_answers(
    tmp_path: Path,
    name: str,
    words: list[str],
    path: str,
    query: dict[str, Any],
    within: str | None,
) -> None:
    """What a command prints with `--json` is what the route of the same name answers."""
    file = tmp_path / "memory.db"
    filled(file)
    done = invoked(file, *words)
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    with MemoryStore(file) as store:
        async with serving(store) as client:
            answer = (await client.get(f"{API}{path}", params=query)).json()
    answered = answer if within is None else answer[within]
    rows = printed if isinstance(printed, list) else [printed]
    others = answered if isinstance(answered, list) else [answered]
    assert rows
    for row in rows:
        for beside in BESIDE.get(name, ()):
            row.pop(beside)
    for other in others:
        for more in MORE.get(name, ()):
            other.pop(more)
    assert rows == others
