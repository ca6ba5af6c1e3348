"""Every declared operation at every door: one life of a file is played at each, and the answers compared.

The doors are the store, its async twins, a remote store over REST, its twins, and the command line. The
tools of models are in `tests/test_design.py`. What an operation does is tested on a store, elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

import tests.server.client  # noqa: F401 - skips where the extra is not installed

from langmemory import RemoteMemoryStore  # isort: skip
from langmemory.changes import AddEdge, AddEntity, AddMemory, ChangeSet, OpenReview  # isort: skip
from langmemory.cli.app import app  # isort: skip
from langmemory.declaring import find_operation, operations_of  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving as served  # isort: skip
from langmemory.citing import note_id

from langmemory.stores import MemoryStore  # isort: skip
from langmemory.wire import plain  # isort: skip

HOME = ("team", "shop")
Past = Mapping[str, Any]
"""The answers so far, as JSON, by operation; the last one of each."""


@dataclass(frozen=True)
class Call:
    """One call of the life: of an operation, with arguments that may depend on earlier answers."""

    id: str
    given: Mapping[str, Any] | Callable[[Past], Mapping[str, Any]]
    agent: str = "writer"
    fails: bool = False
    whole: bool = False
    """Of the whole file: in no namespace."""

    @property
    def room(self) -> str:
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        return self.id.partition(".")[2]


def calls(root: Path) -> list[Call]:
    """Return the life: each operation at least once, and those that are refused."""

    def message(past: Past) -> Mapping[str, Any]:
        return {"message_id": past["bus.share"]["id"]}

    def procedure(past: Past) -> Mapping[str, Any]:
        return {"key": past["procedures.add"]["key"]}

    return [
        Call("bus.subscribe", {"query": "lunch"}, "reader"),
        Call("bus.subscriptions", {}, "reader"),
        Call("bus.share", {
            "summary": "Prices are in euros", "to": "reader", "type": "warning", "topic": "prices",
            "priority": "high", "details": "All of them", "artifacts": ["shop.py"], "confidence": 0.5,
            "memories": ["plan"], "ttl_minutes": 60,
        }),
        Call("bus.request", {"question": "Which tables?", "to": "reader"}),
        Call("bus.inbox", {"limit": 1}, "reader"),
        Call("bus.inbox", {"types": ["request"], "min_priority": "low"}, "reader"),
        Call("bus.message", message),
        Call("bus.reply", lambda past: {"message_id": past["bus.request"]["id"], "answer": "Two"}, "reader"),
        Call("bus.messages", lambda past: {"reply_to": past["bus.request"]["id"]}),
        Call("bus.messages", {"limit": 2}),
        Call("bus.messages", lambda past: {"limit": 2, "cursor": past["bus.messages"]["next"]}),
        Call("bus.handoff", {"to": "reader", "done": "Half", "next_steps": ["The rest"]}),
        Call("bus.acknowledge", lambda past: {"message_ids": [past["bus.handoff"]["id"], "no"]}, "reader"),
        Call("bus.invalidate", lambda past: {**message(past), "reason": "In dollars"}, "other", fails=True),
        Call("bus.invalidate", lambda past: {**message(past), "reason": "In dollars"}),
        Call("bus.unsubscribe", lambda past: {"subscription_id": past["bus.subscribe"]["id"]}, "reader"),
        Call("bus.message", {"message_id": "nothing"}, fails=True),
        Call("bus.reply", {"message_id": "nothing", "answer": "x"}, fails=True),
        Call("bus.share", {"summary": "x", "memories": ["nothing"]}, fails=True),
        Call("bus.subscribe", {}, fails=True),
        Call("swarm.add_task", {
            "title": "Ship", "details": "By May", "requires": ["artifact:API"], "agent": "reader",
        }),
        Call("swarm.update_task", {"task": "Ship", "blockers": ["legal"], "note": "They look"}),
        Call("swarm.task", {"task": "Ship"}),
        Call("swarm.tasks", {"status": "blocked"}),
        Call("swarm.record_decision", {
            "what": "In euros", "why": "customers", "alternatives": ["dollars"], "affects": ["shop.py"],
            "regarding": "Ship",
        }),
        Call("swarm.decisions", {}),
        Call("swarm.end_session", {
            "session_id": "s", "started_at": "2026-05-01T00:00:00Z", "tasks": ["Ship"],
        }),
        Call("swarm.sessions", {}),
        Call("swarm.board", {}),
        Call("swarm.update_task", {"task": "no", "status": "done"}, fails=True),
        Call("swarm.add_task", {"title": "x", "requires": ["no"]}, fails=True),
        Call("swarm.record_decision", {"what": "x", "why": "y", "supersedes": "Ship"}, fails=True),
        Call("graph.link", {"source": "Ship", "relation": "requires", "target": "plan", "reason": "tax"}),
        Call("graph.some_edges", {"entity": "Anna"}),
        Call("graph.some_entities", {"limit": 2}),
        Call("graph.entity", {"name": "Anna"}),
        Call("graph.neighbours", {"name": "Anna", "depth": 2}),
        Call("graph.query", {"pattern": "(a {name: $who})-[]-(b)", "values": {"who": "Anna"}}),
        Call("graph.paths", {"first": "Anna", "last": "Porto"}),
        Call("graph.subgraph", {"name": "Anna"}),
        Call("graph.context_for", {"task": "Ship", "budget_tokens": 200}),
        Call("graph.unlink", {"source": "Ship", "relation": "requires", "target": "plan"}),
        Call("graph.some_edges", {"past": True}),
        Call("graph.add_entity", {"name": "Initech", "kind": "organisation", "aliases": ["the firm"]}),
        Call("graph.relate", {"source": "Anna", "relation": "works at", "target": "the firm"}),
        Call("graph.relate", {"source": "Anna", "relation": "repairs", "target": "the boiler"}),
        Call("graph.relate", {"source": "Anna", "relation": "?", "target": "Porto"}, fails=True),
        Call("graph.relate", {"source": "Anna", "relation": "knows", "target": "Anna"}, fails=True),
        Call("graph.link", {"source": "Ship", "relation": "requires", "target": "no"}, fails=True),
        Call("graph.link", {"source": "Ship", "relation": "wants", "target": "plan"}, fails=True),
        Call("graph.unlink", {"source": "Ship", "relation": "affects", "target": "plan"}, fails=True),
        Call("graph.entity", {"name": "nobody"}, fails=True),
        Call("graph.context_for", {"task": "no"}, fails=True),
        Call("procedures.add", {"task": "deploy", "steps": ["test", "push"], "preconditions": ["green CI"]}),
        Call("procedures.get", procedure),
        Call("procedures.versions", procedure),
        Call("procedures.add", {"task": "deploy", "steps": ["push"]}),
        Call("procedures.record_outcome",
             lambda past: {**procedure(past), "outcome": "failed", "why": "no tests"}),
        Call("procedures.list", {"past": True}),
        Call("procedures.recall", {"task": "How do I deploy?", "limit": 1}),
        Call("procedures.record_outcome", {"key": "procedure/no", "outcome": "failed"}, fails=True),
        Call("pages.memories", {"kinds": ["semantic"], "limit": 2}),
        Call("pages.history", {"key": "plan"}),
        Call("pages.evidence", {"key": "fact"}),
        Call("pages.conversations", {"limit": 2}),
        Call("pages.usage", {}),
        Call("pages.namespaces", {}),
        Call("prompts.note", {
            "query": "Where does Anna work?", "block": "At Initech.", "memories": 1, "tokens": 5,
            "milliseconds": 3.5,
        }),
        Call("prompts.list", {"limit": 2}),
        Call("prompts.days", {}),
        Call("admin.report_usage", {
            "cited": [f"M:{note_id(HOME, 'fact')}", "nothing"], "right": True, "answer": "a",
        }),
        Call("admin.count_usage", {"counts": [{"namespace": HOME, "key": "fact", **USED}]}),
        Call("pages.reviews", {"open_only": True}),
        Call("pages.runs", {"limit": 2}),
        Call("pages.runs", lambda past: {"limit": 2, "cursor": past["pages.runs"]["next"]}),
        Call("pages.runs", {"cursor": "made up"}, fails=True),
        Call("pages.changed_by", {"run_id": "r"}),
        Call("changes.run", {"run_id": "r"}),
        Call("changes.review", {"review_id": "v"}),
        Call("changes.propose_mandate", {"key": "plan", "reason": "asked for twice"}),
        Call("changes.propose_mandate", {"key": "nothing"}),
        Call("changes.decide", {"review_id": "v", "option": "maybe"}, fails=True),
        Call("changes.decide", {"review_id": "v", "option": "keep", "by": "maria"}),
        Call("changes.decide", {"review_id": "nothing", "option": "keep"}, fails=True),
        Call("changes.undo", {"run_id": "r", "dry_run": True}, fails=True),  # what was decided stands on it
        Call("changes.undo", {"run_id": "nothing"}, fails=True),
        Call("jobs.retry", {"ids": [1]}, whole=True),
        Call("jobs.drop", {"ids": [1]}, whole=True),
        Call("admin.check", {}, whole=True),
        Call("vault.list", {"label": "git"}),
        Call("vault.versions", {"label": "no"}),
        Call("vault.audit", {}),
        Call("projects.discover", {"folder": str(root.parent)}, whole=True),
        Call("projects.add", {"root": str(root), "owner": "Lena"}, whole=True),
        Call("projects.add", {"root": str(root)}, whole=True, fails=True),
        Call("projects.update", {"name": "web", "description": "A site"}, whole=True),
        Call("projects.get", {"name": "web"}, whole=True),
        Call("projects.refresh", {"name": "web"}, whole=True),
        Call("projects.refresh", {"name": "no"}, whole=True, fails=True),
        Call("projects.stale", {"name": "web"}, whole=True),
        Call("projects.later", {"name": "web"}, whole=True),
        Call("projects.list", {}, whole=True),
        Call("projects.remove", {"name": "web"}, whole=True),
    ]  # fmt: skip


USED = {"loaded": 2, "referenced": 1, "succeeded": 1, "read_tokens": 9, "discovery_tokens": 3}


def fill(store: MemoryStore) -> None:
    """Put into the file what no declared operation makes."""
    store.put(HOME, "plan", {"text": "First the schema"})
    store.put(HOME, "plan", {"text": "First the schema, then prices"})
    changes = (
        AddEntity(key="anna", name="Anna"),
        AddEntity(key="porto", name="Porto"),
        AddMemory(key="fact", value={"text": "Anna lives in Porto."}, evidence=("plan",)),
        AddEdge(fact="fact", subject="anna", relation="lives_in", object="porto"),
        OpenReview(id="v", about="approval", question="Is it so?", memories=("fact",), options={"keep": ()}),
    )  # fmt: skip
    store.changes.apply(
        ChangeSet(namespace=HOME, run_id="r", kind="reflection", reason="learned", changes=changes)
    )
    store.admin.count_usage([{"namespace": HOME, "key": "fact", **USED}])  # type: ignore[typeddict-item]


Play = Callable[[Call, Mapping[str, Any]], Any]
"""Do a call with arguments, and return its answer or raise its error."""


def method(store: Any, call: Call, given: dict[str, Any], twin: bool = False) -> Callable[[], Any]:
    """Return the call of a method of a store."""
    declared, opened = find_operation(call.room, call.name), getattr(store, call.room)
    if declared.room.parameters:
        opened = opened(HOME, **({} if declared.room.agent is None else {"agent": call.agent}))
    elif declared.reads_namespace is not None and not call.whole:
        given[declared.reads_namespace] = HOME
    return lambda: getattr(opened, f"a{call.name}" if twin else call.name)(**given)


def typed(call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as programs give them: JSON has no times."""
    try:
        checked = find_operation(call.room, call.name).parameters_model.model_validate(given)
    except ValidationError:
        return dict(given)
    return {name: getattr(checked, name) for name in given}


@contextmanager
def local(file: Path) -> Iterator[Play]:
    with MemoryStore(file) as store:
        yield lambda call, given: method(store, call, typed(call, given))()


@contextmanager
def awaited(file: Path) -> Iterator[Play]:
    with MemoryStore(file) as store:
        yield lambda call, given: asyncio.run(method(store, call, typed(call, given), True)())


@contextmanager
def client_of(file: Path) -> Iterator[RemoteMemoryStore]:
    """Yield a client of a server over the file."""
    with (
        MemoryStore(file) as store,
        served(create_app(store)) as address,
        RemoteMemoryStore(address) as client,
    ):
        yield client


@contextmanager
def remote(file: Path) -> Iterator[Play]:
    with client_of(file) as client:
        yield lambda call, given: method(client, call, typed(call, given))()


@contextmanager
def remote_awaited(file: Path) -> Iterator[Play]:
    with client_of(file) as client:
        yield lambda call, given: asyncio.run(method(client, call, typed(call, given), True)())


class Refused(Exception):
    """What the command line prints instead of an answer."""


@contextmanager
def command(file: Path) -> Iterator[Play]:
    def play(call: Call, given: Mapping[str, Any]) -> Any:
        words = ["--db", str(file), "call", call.room, call.name.replace("_", "-"), "--json"]
        if find_operation(call.room, call.name).room.agent is not None:
            words += ["--as", call.agent]
        if not call.whole:
            words += ["-n", "/".join(HOME)]
        for name, value in given.items():
            flag = f"--{name.replace('_', '-')}"
            if isinstance(value, bool):
                words.append(flag if value else f"--no-{flag[2:]}")
            else:
                for one in value if isinstance(value, list) else [value]:
                    words += [flag, one if isinstance(one, str) else json.dumps(one)]
        done = CliRunner().invoke(app, words)
        if done.exit_code:
            raise Refused(done.stderr)
        return json.loads(done.stdout)

    yield play


DOORS = {
    "awaited": awaited, "remote": remote, "remote, awaited": remote_awaited, "command line": command,
}  # fmt: skip
VARYING = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)?|\b[0-9a-f]{8,64}\b|\b\d+\.\d{3,}\b|\"[\w-]{12,}\"|\b\d{13,}\b"
)
"""Times, ids and cursors, which no two files have in common."""


def played(play: Play, life: list[Call]) -> list[tuple[str, str]]:
    """Return the operations of a life with their answers; of what is refused, the error."""
    past: dict[str, Any] = {}
    told: list[tuple[str, str]] = []
    for call in life:
        given = call.given(past) if callable(call.given) else call.given
        try:
            answer = plain(play(call, given))
        except Exception as error:
            if not call.fails:
                raise
            told.append((call.id, type(error).__name__))
            continue
        assert not call.fails, call
        past[call.id] = answer
        told.append((call.id, VARYING.sub("…", json.dumps(answer, sort_keys=True))))
    return told


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder that is a project."""
    found = tmp_path / "work" / "web"
    found.mkdir(parents=True)
    (found / "package.json").write_text('{"name": "web", "description": "A site."}')
    (found / "guide.md").write_text("# Guide\n\nSee `app.js`.\n")
    return found


@pytest.fixture
def life(root: Path) -> list[Call]:
    return calls(root)


def test_the_life_has_every_operation(life: list[Call]) -> None:
    """An operation that is declared has its place in the life above."""
    assert {call.id for call in life} == {f"{one.room.name}.{one.name}" for one in operations_of()}


@pytest.mark.parametrize("door", DOORS)
def test_an_operation_answers_alike_at_every_door(
    tmp_path: Path, life: list[Call], door: str
) -> None:
    """What the store answers, and refuses, each door answers and refuses, with the same words."""
    told = []
    for number, open_door in enumerate((local, DOORS[door])):
        file = tmp_path / f"{number}.db"
        with MemoryStore(file) as store:
            fill(store)
        with open_door(file) as play:
            told.append(played(play, life))
    for here, there in zip(*told, strict=True):
        assert there == here or there == (here[0], "Refused")
