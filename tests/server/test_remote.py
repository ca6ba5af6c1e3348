"""`RemoteMemoryStore` against a server on loopback: it is what a store on this machine is."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.server.client import token_of

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage  # isort: skip
from langgraph.store.base import (  # isort: skip
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    PutOp,
    SearchOp,
)

from langmemory import RemoteMemoryStore  # isort: skip
from langmemory.errors import (  # isort: skip
    AccessError,
    ConfigError,
    EntityNameError,
    InvalidFilterError,
    InvalidValueError,
    ServerError,
    ServerUnreachableError,
)
from langmemory.remote import Backoff  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving as served  # isort: skip
from langmemory.server.settings import ServerSettings  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from tests.loopback import JsonHandler, LoopbackServer  # isort: skip

MARIA = ("memories", "maria")
QUICK = Backoff(attempts=3, first_seconds=0.001)


@pytest.fixture
def address(store: MemoryStore) -> Iterator[str]:
    """Of a server over the store."""
    with served(create_app(store)) as found:
        yield found


@pytest.fixture
def remote(address: str) -> Iterator[RemoteMemoryStore]:
    """A client of the server, on the same machine."""
    with RemoteMemoryStore(address) as found:
        yield found


def test_operations_are_those_of_the_local_store(
    remote: RemoteMemoryStore, store: MemoryStore
) -> None:
    """A batch of all operations returns what the store behind it returns, scores and times included."""
    store.put(MARIA, "food", {"text": "Maria is allergic to peanuts", "big": 2**70, "n": [1, 2]})
    store.put(("other",), "x", {"text": "The piano is out of tune"})
    ops = [
        GetOp(MARIA, "food"),
        GetOp(MARIA, "none"),
        SearchOp(("memories",), query="what must Maria not eat?"),
        SearchOp((), filter={"big": {"$gt": 2**69}}),
        SearchOp((), filter={"big": {"$lt": float("inf"), "$gt": float("-inf")}}),
        SearchOp((), filter={"big": {"$lt": float("nan")}}),
        SearchOp((), filter={"big": float("nan")}),
        ListNamespacesOp(),
    ]
    assert remote.batch(ops) == store.batch(ops)
    assert asyncio.run(remote.abatch(ops)) == store.batch(ops)


def test_reads_come_before_writes_and_the_last_put_wins(remote: RemoteMemoryStore) -> None:
    """A batch reads what was there before it, and writes all or nothing."""
    found = remote.batch(
        [PutOp(MARIA, "a", {"n": 1}), GetOp(MARIA, "a"), PutOp(MARIA, "a", {"n": 2})]
    )
    assert found == [None, None, None]
    item = remote.get(MARIA, "a")
    assert item is not None
    assert item.value == {"n": 2}
    with pytest.raises(InvalidValueError):
        remote.batch([PutOp(MARIA, "b", {"n": 1}), PutOp(MARIA, "c", {"n": {1}})])
    assert remote.get(MARIA, "b") is None


def test_what_is_wrong_raises_the_error_of_the_local_store(
    remote: RemoteMemoryStore, store: MemoryStore
) -> None:
    """The same call raises the same class with the same words, be it found here or by the server."""
    calls: tuple[tuple[type[Exception], Callable[[Any], Any]], ...] = (
        (InvalidFilterError, lambda one: one.search(MARIA, filter={"a": {"$no": 1}})),
        (InvalidNamespaceError, lambda one: one.put(("a.b",), "k", {})),
        (InvalidNamespaceError, lambda one: one.search("maria")),
        (ConfigError, lambda one: one.recall("q", MARIA, preset="no such preset")),
        (EntityNameError, lambda one: one.graph(MARIA).entity("nobody")),
    )
    for error, call in calls:
        said = []
        for one in (store, remote):
            with pytest.raises(error) as caught:
                call(one)
            assert type(caught.value) is error
            said.append(str(caught.value))
        assert said[0] == said[1]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_lacks_is_refused_by_name(
    remote: RemoteMemoryStore, number: float
) -> None:
    """What cannot be sent is named before it is sent; a text that only looks like it is stored."""
    with pytest.raises(InvalidValueError, match=r"NaN|Infinity"):
        remote.put(MARIA, "k", {"score": number})
    remote.put(MARIA, "k", {"text": "NaN and -Infinity"})
    assert remote.get(MARIA, "k").value == {"text": "NaN and -Infinity"}


def test_a_conversation_is_remembered_as_by_the_local_store(
    remote: RemoteMemoryStore, store: MemoryStore
) -> None:
    """Messages get the keys the local store would give; sending them again adds nothing."""
    said = [
        SystemMessage("Be kind."),
        HumanMessage("My sister Lena lives in Porto", id="m1"),
        AIMessage("Good to know."),
        {"role": "user", "content": "I moved in May", "at": datetime(2026, 5, 1, tzinfo=UTC)},
    ]
    added = remote.remember(MARIA, said, thread_id="t")
    assert len(added) == 3
    assert store.remember(MARIA, said, thread_id="t") == []
    assert asyncio.run(remote.aremember(MARIA, said, thread_id="t")) == []
    hidden = remote.remember(MARIA, [("user", "My password is hunter2!x")], thread_id="t")
    assert sum(hidden.redacted.values()) == 1


def test_recall_is_that_of_the_local_store(remote: RemoteMemoryStore, store: MemoryStore) -> None:
    """Results, scores, parts and explanations arrive as the same dataclasses."""
    store.remember(MARIA, [("user", "Tofu the cat sleeps on the piano")], thread_id="t")
    asked = {"limit": 3, "explain": True, "now": datetime(2026, 6, 1, tzinfo=UTC)}
    here = store.recall("Where does Tofu sleep?", MARIA, **asked)
    there = remote.recall("Where does Tofu sleep?", MARIA, **asked)
    assert there.results == here.results
    assert there.results[0].explanation is not None
    later = asyncio.run(remote.arecall("Where does Tofu sleep?", MARIA))
    assert [one.memory.key for one in later] == [one.memory.key for one in here]
    excluded = remote.recall("Tofu", MARIA, exclude={here.results[0].memory.key}, kinds=None)
    assert len(excluded) == 0


def test_nothing_is_recalled_where_nothing_is_asked_for(
    remote: RemoteMemoryStore, store: MemoryStore
) -> None:
    """A limit of 0 is no error, here as there."""
    store.remember(MARIA, [HumanMessage("I keep bees.")], thread_id="t")
    assert remote.recall("bees", MARIA, limit=0).results == ()
    assert store.recall("bees", MARIA, limit=0).results == ()


def test_ttl_is_as_the_server_is_configured(tmp_path: Any) -> None:
    """A put that says nothing of a TTL gets the default of the file, and one that says None none."""
    ttl: Any = {"default_ttl": 60, "refresh_on_read": False}
    with (
        MemoryStore(tmp_path / "ttl.db", ttl=ttl) as store,
        served(create_app(store)) as address,
        RemoteMemoryStore(address) as remote,
    ):
        remote.put(MARIA, "default", {})
        remote.put(MARIA, "ever", {}, ttl=None)
        remote.put(MARIA, "short", {}, ttl=5)
        rows = store.conn.execute(
            "SELECT key, (expires_at - created_at) / 60000000 FROM item ORDER BY key"
        )
        assert dict(rows) == {"default": 60, "ever": None, "short": 5}


def test_the_rooms_answer_as_those_of_the_file(
    remote: RemoteMemoryStore, store: MemoryStore
) -> None:
    """Memories, history, runs, undo, export and figures are those of the store behind it."""
    remote.put(MARIA, "a/b ../c", {"text": "one"})
    remote.put(MARIA, "a/b ../c", {"text": "two"})
    remote.put(MARIA, "..", {"text": "dots"})
    assert remote.admin.memory(MARIA, "a/b ../c") == store.admin.memory(MARIA, "a/b ../c")
    assert remote.admin.memory(MARIA, "..") == store.admin.memory(MARIA, "..")
    assert remote.admin.memory(MARIA, "none") is None
    assert remote.admin.memories(MARIA, limit=1)[0].key == ".."
    assert remote.changes.history(MARIA, "a/b ../c") == store.changes.history(MARIA, "a/b ../c")
    run = store.changes.remove(MARIA, "..", reason="a test").run_id
    assert remote.changes.runs() == store.changes.runs()
    assert remote.changes.run("none") is None
    assert remote.changes.undo(run, dry_run=True).dry_run
    remote.changes.undo(run)
    assert store.get(MARIA, "..") is not None
    assert remote.changes.reviews() == []
    assert remote.jobs.listed() == []
    assert remote.graph(MARIA).entities() == ()
    assert remote.stats() == store.stats()
    assert remote.admin.health(MARIA) == store.admin.health(MARIA)
    rows = list(remote.admin.export())
    assert rows[1:] == json.loads(json.dumps(list(store.admin.export())))[1:]  # 0 tells the time
    with MemoryStore(":memory:") as copy, served(create_app(copy)) as other:
        with RemoteMemoryStore(other) as elsewhere:
            assert elsewhere.admin.import_rows(rows) == 2
            assert elsewhere.admin.import_rows(rows) == 0
        assert copy.get(MARIA, "..") is not None


def test_memories_are_taken_out_in_runs(remote: RemoteMemoryStore, store: MemoryStore) -> None:
    """What is archived or removed over a server, whatever its kind, is there again when its run is undone;
    where there is nothing, nothing happens."""
    store.put(("home",), "a/b", {"text": "Tofu is a cat", "kind": "procedural"})
    away = remote.changes.archive(("home",), "a/b", reason="outdated")
    found = remote.admin.memory(("home",), "a/b")
    assert found is not None
    assert found.status == "archived"
    gone = asyncio.run(remote.changes.aremove(("home",), "a/b", reason="wrong"))
    assert remote.get(("home",), "a/b") is None
    for run in (gone, away):
        remote.changes.undo(run.run_id)
    found = remote.admin.memory(("home",), "a/b")
    assert found is not None
    assert (found.status, found.value["text"]) == ("active", "Tofu is a cat")
    assert [one.reason for one in store.changes.runs(("home",))][-2:] == ["wrong", "outdated"]
    missing = remote.changes.remove(("home",), "none", reason="x")
    assert (missing.removed, missing.lines) == ((), ("there is no none",))


def test_a_long_list_comes_in_pages(remote: RemoteMemoryStore, store: MemoryStore) -> None:
    """A list is whole, however many pages it takes, and no longer than asked for."""
    store.batch([PutOp(MARIA, f"k{n}", {"text": f"number {n}"}) for n in range(450)])
    assert len(remote.admin.memories(MARIA, limit=1_000)) == 450
    assert len(remote.admin.memories(MARIA, limit=201)) == 201


def test_forgetting_shows_first_what_would_go(
    remote: RemoteMemoryStore, store: MemoryStore
) -> None:
    """A dry run takes nothing; without it what it showed is taken out for good."""
    store.put(MARIA, "secret", {"text": "the zebra is called Quagmire"})
    assert remote.forget(MARIA, everything=True, dry_run=True).memories == 1
    assert store.get(MARIA, "secret") is not None
    gone = asyncio.run(remote.aforget(MARIA, everything=True))
    assert (gone.memories, gone.dry_run) == (1, False)
    assert store.get(MARIA, "secret") is None


def test_a_viewer_narrows_what_the_token_allows(
    address: str, remote: RemoteMemoryStore, store: MemoryStore
) -> None:
    """Bound to a viewer, the client sees no private memory of others; a token of a viewer allows theirs
    alone."""
    for who in ("maria", "paul"):
        bound = remote.for_viewer(who)
        bound.remember(
            ("home",), [("user", f"{who} hides a key")], thread_id=who, privacy="private"
        )
    assert [one.memory.owner for one in remote.for_viewer("maria").recall("key", ("home",))] == [
        "maria"
    ]
    assert len(remote.for_anyone().search(("home",))) == 0
    assert len(remote.search(("home",))) == 2
    with pytest.raises(AccessError):
        remote.for_viewer("maria").stats()
    token = token_of(store, "maria")
    with RemoteMemoryStore(address, token=token) as maria:
        assert len(maria.search(("home",))) == 1
        assert len(maria.for_viewer("maria").search(("home",))) == 1
        with pytest.raises(AccessError, match="another viewer"):
            maria.for_viewer("paul").search(("home",))
        with pytest.raises(AccessError, match="another viewer"):
            maria.for_anyone().search(("home",))


def test_a_token_that_does_not_count_is_refused(store: MemoryStore) -> None:
    """Without a token, or with one that allows less, an error says so and what to do; the token is in
    no message, name or log."""
    settings = ServerSettings(port=0, require_token=True)
    with served(create_app(store, settings=settings), settings) as address:
        with RemoteMemoryStore(address) as nobody, pytest.raises(AccessError) as refused:
            nobody.get(MARIA, "a")
        assert refused.value.status == 401
        token = token_of(store, None, scope="read")
        with RemoteMemoryStore(address, token=token) as reader:
            assert reader.get(MARIA, "a") is None
            with pytest.raises(AccessError, match="scope write") as less:
                reader.put(MARIA, "a", {})
            assert less.value.kind == "scope"
            assert token not in repr(reader) + str(less.value) + repr(reader._connection)


def test_an_address_or_token_that_is_none_is_refused_at_once() -> None:
    """What cannot be an address or a token is named before anything is sent; a token never."""
    for address in ("localhost:8765", "ftp://x", "", "http://user:pw@x"):
        with pytest.raises(ConfigError, match="address"):
            RemoteMemoryStore(address)
    with pytest.raises(ConfigError) as caught:
        RemoteMemoryStore("http://127.0.0.1:1", token="lmt_a\nb")
    assert "lmt_a" not in str(caught.value)


def test_a_server_that_is_not_there_is_named() -> None:
    """Where nobody listens, the error says which address, and how often it was tried."""
    with RemoteMemoryStore("http://127.0.0.1:9", backoff=QUICK) as remote:
        with pytest.raises(ServerUnreachableError, match=r"http://127\.0\.0\.1:9 .*3 times"):
            remote.get(MARIA, "a")
        with pytest.raises(ServerUnreachableError):
            asyncio.run(remote.arecall("q", MARIA))


@contextmanager
def answering(*answers: tuple[int, Any]) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that gives these answers in turn, and the headers of the requests it got; an answer
    with status 0 is none: it closes the connection."""
    left, got = list(answers), list[dict[str, str]]()

    class Handler(JsonHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            got.append({name.lower(): value for name, value in self.headers.items()})
            status, body = left.pop(0)
            if status:
                self.answer(body, status)
            else:
                self.close_connection = True

        do_GET = do_DELETE = do_POST

    with LoopbackServer(Handler) as server:
        yield server.url, got


def test_a_write_is_sent_again_under_the_same_key() -> None:
    """Where no answer comes, or the server is busy, the request comes again with its Idempotency-Key, as
    often as allowed."""
    with answering((0, None), (503, {}), (200, {"results": [None]})) as (address, got):
        with RemoteMemoryStore(address, backoff=QUICK) as remote:
            remote.put(MARIA, "a", {})
        assert len(got) == 3
        assert len({one["idempotency-key"] for one in got}) == 1
    with answering(*[(503, {})] * 3) as (address, got):
        with RemoteMemoryStore(address, backoff=QUICK) as remote, pytest.raises(ServerError):
            asyncio.run(remote.aput(MARIA, "a", {}))
        assert len(got) == 3


def test_what_is_refused_is_not_sent_again() -> None:
    """An answer that will not change is not asked for twice."""
    with (
        answering((412, {})) as (address, got),
        RemoteMemoryStore(address, backoff=QUICK) as remote,
        pytest.raises(ServerError, match="not as langmemory's server does"),
    ):
        remote.put(MARIA, "a", {})
    assert len(got) == 1


def test_waits_grow_and_are_spread() -> None:
    """Each wait is at most twice the one before, times the jitter, and the server may ask for more."""
    backoff = Backoff(first_seconds=1, longest_seconds=3, jitter=lambda: 0.5)
    assert [backoff.seconds(n, None) for n in (1, 2, 3, 4)] == [0.5, 1.0, 1.5, 1.5]
    assert backoff.seconds(1, 2.0) == 2.5
    assert backoff.seconds(1, 9e9) == 3.5


def test_one_client_serves_many_at_once(remote: RemoteMemoryStore) -> None:
    """Threads and event loops share a client; no write that was acknowledged is lost."""

    async def write(many: int) -> None:
        await asyncio.gather(*(remote.aput(MARIA, f"{many}-{n}", {"n": n}) for n in range(40)))

    async def from_threads() -> None:
        await asyncio.gather(
            *(asyncio.to_thread(remote.put, MARIA, f"t-{n}", {"n": n}) for n in range(40))
        )

    asyncio.run(write(1))
    asyncio.run(write(2))
    asyncio.run(from_threads())
    assert len(remote.search(MARIA, limit=1_000)) == 120


def test_a_client_logs_no_text(remote: RemoteMemoryStore, caplog: pytest.LogCaptureFixture) -> None:
    """At the level of info neither client nor server writes what is put or asked."""
    with caplog.at_level(logging.INFO):
        remote.put(MARIA, "a", {"text": "zebra"})
        remote.recall("zebra", MARIA)
    assert "zebra" not in caplog.text


def test_documents_are_recalled_from_afar(remote: RemoteMemoryStore, store: MemoryStore) -> None:
    """`documents=` of a recall goes to the server."""
    store.documents.add(text="# Kennel\n\nThe kennel opens at seven.\n", name="kennel.md")
    asked = "When does the kennel open?"
    for documents in (("documents",), [("elsewhere",), ("documents",)]):
        there = remote.recall(asked, MARIA, documents=documents)
        assert "seven" in there.results[0].text
        assert there.trace.questions[asked] > 0.5
