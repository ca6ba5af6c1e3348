"""`store.bus`: what one agent tells others is received, in order, until it is acknowledged."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from langmemory.errors import (
    ConfigError,
    EmbeddingError,
    InvalidValueError,
    MessageNotFoundError,
    OwnershipError,
)
from langmemory.operations import core
from langmemory.parts.team.bus import Bus
from langmemory.stores import MemoryStore
from langmemory.types import BusMessage
from tests.children import process_context
from tests.places import address

TEAM = ("team", "shop")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """An empty memory file, without vectors."""
    with MemoryStore(tmp_path / "memory.db", index=False) as opened:
        yield opened


@pytest.fixture
def planner(store: MemoryStore) -> Bus:
    return store.bus(TEAM, agent="planner")


@pytest.fixture
def researcher(store: MemoryStore) -> Bus:
    return store.bus(TEAM, agent="researcher")


def said(bus: Bus, **options: object) -> list[str]:
    """Return what waits in an inbox."""
    return [one.summary for one in bus.inbox(**options).items]  # type: ignore[arg-type]


def test_a_message_waits_until_it_is_acknowledged(planner: Bus, researcher: Bus) -> None:
    """It is given out again and again, with all it came with, and after its acknowledgement no more."""
    sent = planner.share(
        "The users table has no index on email", to="researcher", type="warning", topic="schema",
        priority="high", details="EXPLAIN shows a scan", artifacts=["db/users.sql"], confidence=0.9,
    )  # fmt: skip
    for _ in range(2):
        (got,) = researcher.inbox().items
        assert (got.id, got.sender, got.recipient, got.type) == (
            sent.id, "planner", "researcher", "warning",
        )  # fmt: skip
        assert (got.topic, got.priority, got.confidence) == ("schema", "high", 0.9)
        assert (got.details, got.artifacts) == ("EXPLAIN shows a scan", ("db/users.sql",))
    assert researcher.acknowledge([sent.id, "unknown"]) == (sent.id,)
    assert researcher.inbox().items == ()
    assert planner.message(sent.id).state == "acknowledged"
    (receipt,) = planner.message(sent.id).receipts
    assert receipt.agent == "researcher"
    assert receipt.acknowledged_at is not None


def test_what_goes_to_all_is_acknowledged_by_each(
    store: MemoryStore, planner: Bus, researcher: Bus
) -> None:
    """All but its sender get it, also who comes later; what is sent by name nobody else gets."""
    planner.share("We use SQLite")
    planner.share("For you alone", to="researcher")
    assert said(planner) == []
    assert said(researcher) == ["We use SQLite", "For you alone"]
    researcher.acknowledge([one.id for one in researcher.inbox().items])
    assert said(store.bus(TEAM, agent="writer")) == ["We use SQLite"]
    assert said(store.bus(("team", "other"), agent="researcher")) == []


def test_answers_are_tied_to_the_request(planner: Bus, researcher: Bus) -> None:
    """An answer goes to who asked, names the request, and acknowledges it."""
    asked = planner.request("Which tables hold emails?")
    answer = researcher.reply(asked.id, "users and invoices")
    assert said(researcher) == []
    (got,) = planner.inbox().items
    assert (got.id, got.type, got.reply_to) == (answer.id, "reply", asked.id)
    assert planner.messages(reply_to=asked.id).items[0].summary == "users and invoices"
    with pytest.raises(MessageNotFoundError, match="no message 'nothing'"):
        researcher.reply("nothing", "42")


def test_only_those_concerned_may_answer(store: MemoryStore, planner: Bus) -> None:
    """A message to one agent is not there for a third."""
    asked = planner.request("Which tables?", to="researcher")
    third = store.bus(TEAM, agent="writer")
    with pytest.raises(MessageNotFoundError):
        third.reply(asked.id, "none")
    with pytest.raises(MessageNotFoundError):
        third.message(asked.id)
    assert third.acknowledge([asked.id]) == ()
    assert third.messages().items == ()


def test_subscriptions_choose_among_what_goes_to_all(
    store: MemoryStore, planner: Bus, researcher: Bus
) -> None:
    """By topic, sender or words, whatever was sent before or after; what is sent by name comes anyhow."""
    planner.share("An index was added", topic="schema")
    planner.share("Lunch is at noon")
    store.bus(TEAM, agent="tester").share("Checkout fails")
    planner.share("Read this", to="researcher")
    by_topic = researcher.subscribe(topic="schema")
    assert researcher.subscribe(topic="schema") == by_topic
    assert said(researcher) == ["An index was added", "Read this"]
    researcher.subscribe(sender="tester")
    assert said(researcher) == ["An index was added", "Checkout fails", "Read this"]
    by_query = researcher.subscribe(query="when do we eat lunch")
    planner.share("Lunch was moved to one")
    planner.share("The build is red")
    assert said(researcher)[1:] == ["Lunch is at noon", "Checkout fails", "Read this",
                                    "Lunch was moved to one"]  # fmt: skip
    assert [one.query for one in researcher.subscriptions()] == [None, None, by_query.query]
    assert not planner.unsubscribe(by_query.id)
    assert researcher.unsubscribe(by_query.id)
    assert said(researcher) == ["An index was added", "Checkout fails", "Read this"]
    with pytest.raises(InvalidValueError, match="exactly one"):
        researcher.subscribe(topic="a", query="b")


def test_a_query_fits_by_meaning(tmp_path: Path) -> None:
    """With vectors a subscription finds what shares no word with it, before and after it was made."""
    with MemoryStore(tmp_path / "memory.db") as store:
        tester, watcher = store.bus(TEAM, agent="tester"), store.bus(TEAM, agent="watcher")
        tester.share("The CI pipeline is red: type errors in cart.py")
        watcher.subscribe(query="failing tests and broken builds")
        tester.share("test_checkout fails since this morning with a timeout")
        tester.share("Restaurant reservation for six people at eight")
        assert len(said(watcher)) == 2


def test_a_failing_embedder_sends_nothing(tmp_path: Path) -> None:
    """Where a query has to be compared, nothing is sent without the embedder; else it is not asked."""

    def embed(texts: list[str]) -> list[list[float]]:
        if broken:
            raise RuntimeError("unreachable")
        return [[1.0, 0.0] for _ in texts]

    broken = False
    with MemoryStore(tmp_path / "memory.db", index={"dims": 2, "embed": embed}) as store:
        tester, watcher = store.bus(TEAM, agent="tester"), store.bus(TEAM, agent="watcher")
        watcher.subscribe(query="builds")
        broken = True
        tester.share("To you", to="watcher")
        with pytest.raises(EmbeddingError):
            tester.share("To all")
        assert said(watcher) == ["To you"]


def test_who_saw_it_is_told_that_it_does_not_hold(
    store: MemoryStore, planner: Bus, researcher: Bus
) -> None:
    """Who saw a message that is taken back gets word of it, also when it was done with it; others never
    see it. Its memories are put to a person, and stay."""
    sent = planner.share("The cart holds ten items", topic="cart")
    assert said(researcher) == ["The cart holds ten items"]
    researcher.acknowledge([sent.id])
    store.put(TEAM, "limit", {"text": "The cart holds ten items"})
    with pytest.raises(OwnershipError, match="planner, who alone"):
        researcher.invalidate(sent.id, reason="no")
    with pytest.raises(InvalidValueError, match="no memory 'nothing'"):
        planner.invalidate(sent.id, reason="no", memories=["nothing"])
    for _ in range(2):
        done = planner.invalidate(sent.id, reason="It holds fifty", memories=["limit"])
        assert done.state == "invalidated"
    (told,) = researcher.inbox().items
    assert (told.type, told.summary, told.reply_to) == ("invalidation", "It holds fifty", sent.id)
    assert said(store.bus(TEAM, agent="writer")) == []
    (review,) = store.changes.reviews(TEAM)
    assert (review.memories, "It holds fifty" in review.question) == (("limit",), True)
    assert store.get(TEAM, "limit") is not None
    store.changes.decide(review.id, "archive")
    assert store.admin.memory(TEAM, "limit").status == "archived"  # type: ignore[union-attr]


def test_a_private_reason_is_not_put_into_a_review(store: MemoryStore) -> None:
    """A review of a shared memory, which others read, does not quote a private message."""
    bus = store.bus(TEAM, agent="planner")
    store.put(TEAM, "k", {"text": "shared"})
    sent = bus.share("secret", owner="maria", privacy="private")
    bus.invalidate(sent.id, reason="the doctor said so", memories=["k"])
    (review,) = store.changes.reviews(TEAM)
    assert "doctor" not in review.question


def test_a_handoff_says_what_is_done_and_left(
    store: MemoryStore, planner: Bus, researcher: Bus
) -> None:
    """It goes to one agent, with the work done, the steps left in order, and the memories of it."""
    store.put(TEAM, "plan", {"text": "First the schema"})
    planner.handoff("researcher", "The schema is drawn", next_steps=["check", "write"],
                    memories=["plan"])  # fmt: skip
    (got,) = researcher.inbox(types=["handoff"]).items
    assert (got.summary, got.next_steps, got.memories) == (
        "The schema is drawn", ("check", "write"), ("plan",),
    )  # fmt: skip


def test_messages_expire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time a message is not given out, and the next one that is sent, or a sweep, deletes it
    with its receipts and events."""
    now = 1_700_000_000_000_000
    monkeypatch.setattr(core, "now_us", lambda: now)
    with MemoryStore(tmp_path / "m.db", index=False) as store:
        a, b = store.bus(TEAM, agent="a"), store.bus(TEAM, agent="b")
        short, default = a.share("short", ttl_minutes=1), a.share("default")
        assert (default.expires_at - default.created_at).total_seconds() == 10_080 * 60
        assert said(b) == ["short", "default"]
        now += 60_000_000
        assert said(b) == ["default"]
        assert b.acknowledge([short.id]) == ()
        count = "SELECT count(*) FROM message"
        assert store.conn.execute(count).fetchone() == (2,)
        a.share("next")
        assert store.conn.execute(count).fetchone() == (2,)
        now += 10_080 * 60_000_000
        store.sweep_ttl()
        for table in ("message", "receipt", "activity"):
            assert store.conn.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    with pytest.raises(ConfigError, match="ttl_minutes"):
        MemoryStore(":memory:", index=False).bus(TEAM, agent="a").share("x", ttl_minutes=0)


def test_pages_give_every_message_once(planner: Bus, researcher: Bus) -> None:
    """Reading on by the cursor of a page returns all that waits, in order; lists begin with the newest."""
    for n in range(7):
        planner.share(f"m{n}")
    found: list[str] = []
    after: str | None = None
    while True:
        page = researcher.inbox(limit=3, cursor=after)
        found += [one.summary for one in page.items]
        after = page.next
        if after is None:
            break
    assert found == [f"m{n}" for n in range(7)]
    first = researcher.messages(limit=5)
    second = researcher.messages(limit=5, cursor=first.next)
    assert [one.summary for one in (*first.items, *second.items)] == found[::-1]
    assert second.next is None
    with pytest.raises(ConfigError, match="cursor"):
        researcher.inbox(cursor="made up")


def test_all_that_an_inbox_gives_can_be_acknowledged_at_once(planner: Bus, researcher: Bus) -> None:
    """However many messages a page has."""
    for n in range(120):
        planner.share(f"m{n}")
    ids = [one.id for one in researcher.inbox(limit=200).items]
    assert len(researcher.acknowledge(ids)) == 120
    assert researcher.inbox().items == ()


def test_an_inbox_can_be_asked_for_what_is_pressing(planner: Bus, researcher: Bus) -> None:
    """Priority and type leave messages out; the order stays that of sending."""
    planner.share("a")
    planner.share("b", priority="high")
    planner.request("c", priority="high")
    planner.share("d", priority="low")
    assert said(researcher, min_priority="high") == ["b", "c"]
    assert said(researcher, min_priority="normal") == ["a", "b", "c"]
    assert said(researcher, types=["request"]) == ["c"]
    with pytest.raises(ConfigError, match="pass a list of types"):
        researcher.inbox(types="request")  # type: ignore[arg-type]


def test_sending_again_under_the_same_id_sends_nothing(planner: Bus, researcher: Bus) -> None:
    """So a client that got no answer may repeat itself; another agent cannot take over an id."""
    first = planner.share("once", id="job-1")
    assert planner.share("once", id="job-1") == first
    assert said(researcher) == ["once"]
    with pytest.raises(InvalidValueError, match="is taken"):
        researcher.share("mine", id="job-1")


def test_another_viewer_sees_nothing(store: MemoryStore) -> None:
    """What is private to one person is in no inbox, list, answer or event of another, whatever agent acts
    for them; nor is the key of a memory that is private."""
    maria, ben = store.for_viewer("maria"), store.for_viewer("ben")
    for_maria, for_ben = maria.bus(TEAM, agent="helper"), ben.bus(TEAM, agent="helper")
    store.put(TEAM, "diary", {"text": "x", "owner": "maria", "privacy": "private"})
    store.put(TEAM, "plan", {"text": "y"})
    boss = store.bus(TEAM, agent="boss")
    secret = boss.share("secret", owner="maria", privacy="private")
    told = boss.share("both", memories=["plan"])
    assert boss.share("narrowed", memories=["diary", "plan"]).owner == "maria"
    assert said(for_maria) == ["secret", "both", "narrowed"]
    assert said(for_ben) == ["both"]
    assert [one.summary for one in ben.bus().messages().items] == ["both"]
    with pytest.raises(MessageNotFoundError):
        for_ben.reply(secret.id, "hm")
    assert for_ben.acknowledge([secret.id]) == ()
    assert {one.id for one in ben.feed.read(types=["message"]).events} == {told.id}
    assert len(maria.feed.read(types=["message"]).events) == 3
    with pytest.raises(InvalidValueError, match="no memory 'diary'"):
        for_ben.share("what is this?", memories=["diary"])
    answer = for_maria.reply(secret.id, "thanks")
    assert (answer.privacy, answer.owner) == ("private", "maria")
    with pytest.raises(OwnershipError):
        for_ben.share("for you", owner="maria", privacy="private")
    store.put(TEAM, "plan", {"text": "y", "owner": "maria", "privacy": "private"})
    assert for_ben.message(told.id).memories == ()
    assert for_maria.message(told.id).memories == ("plan",)
    for_maria.subscribe(topic="surgery")
    assert for_ben.subscriptions() == []
    assert said(for_ben) == ["both"]
    with pytest.raises(OwnershipError, match="unknown"):
        store.for_anyone().bus(TEAM, agent="x").share("y", privacy="private")


def test_messages_are_events(store: MemoryStore, planner: Bus, researcher: Bus) -> None:
    """Sent, acknowledged and taken back, each is told of with namespace and type, without text."""
    since = store.feed.end()
    sent = planner.share("Lunch is at noon", to="researcher")
    researcher.acknowledge([sent.id])
    planner.invalidate(sent.id, reason="It is at one")
    events = store.feed.read(after=since, types=["message"], namespaces=[("team",)]).events
    assert [(one.action, one.kind) for one in events] == [
        ("sent", "finding"), ("acknowledged", "finding"), ("invalidated", "finding"),
        ("sent", "invalidation"),
    ]  # fmt: skip
    assert {one.namespace for one in events} == {TEAM}
    assert "noon" not in repr(events)
    assert store.feed.read(types=["message"], namespaces=[("elsewhere",)]).events == ()


def test_credentials_are_not_passed_on(planner: Bus, researcher: Bus) -> None:
    """What is redacted when it is remembered is redacted in messages, too."""
    planner.share("The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
    assert "abcdefghij" not in said(researcher)[0]


def test_forgetting_reaches_the_bus(store: MemoryStore, planner: Bus) -> None:
    """Messages of a person, of a memory, of an emptied namespace, and those that repeat what is forgotten
    are gone from the file."""
    store.put(TEAM, "allergy", {"text": "Marianne is allergic to filberts and marzipan"})
    planner.share("Look at it", memories=["allergy"])
    planner.share("Note: allergic to filberts, marzipan, says Marianne")
    kept = planner.share("Lunch is at noon")
    store.forget(TEAM, keys=["allergy"])
    assert [one.id for one in planner.messages().items] == [kept.id]
    store.for_viewer("ben").bus(TEAM, agent="x").share("mine")
    store.forget(TEAM, owner="ben")
    assert [one.id for one in planner.messages().items] == [kept.id]
    planner.subscribe(topic="lunch")
    store.forget(("team",), everything=True)
    assert planner.messages().items == ()
    for table in ("message", "subscription", "receipt", "fit"):
        assert store.conn.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"summary": " "}, "summary"),
        ({"summary": "x" * 2_001}, "2,001 characters"),
        ({"summary": "x", "to": "a\nb"}, "name of an agent"),
        ({"summary": "x", "confidence": 2}, "from 0 to 1"),
        ({"summary": "x", "artifacts": "a.py"}, "list of texts"),
        ({"summary": "x", "artifacts": [f"{n}" for n in range(101)]}, "101 entries"),
        ({"summary": "x", "type": "handoff"}, "type is"),
        ({"summary": "x", "priority": "urgent"}, "priority is"),
        ({"summary": "x\ud800"}, "surrogate"),
    ],
)
def test_a_bad_message_is_refused(planner: Bus, arguments: dict[str, object], told: str) -> None:
    """The error names what is wrong; nothing was sent."""
    with pytest.raises((InvalidValueError, ConfigError), match=told):
        planner.share(**arguments)  # type: ignore[arg-type]
    assert planner.messages().items == ()


def test_a_bus_without_an_agent_is_looked_at_only(store: MemoryStore, planner: Bus) -> None:
    """It lists a namespace with all below it; sending and receiving need a name."""
    planner.share("x")
    assert len(store.bus(("team",)).messages().items) == 1
    for call in (lambda: store.bus(TEAM).share("y"), lambda: store.bus(TEAM).inbox()):
        with pytest.raises(ConfigError, match="of no agent"):
            call()
    with pytest.raises(ConfigError, match="agent is ''"):
        store.bus(TEAM, agent="")


def test_the_order_of_each_sender_is_kept_under_concurrency(tmp_path: Path) -> None:
    """Four senders at once, from two stores on one file: each one's messages come in its order."""
    path = tmp_path / "m.db"
    with MemoryStore(path, index=False) as one, MemoryStore(path, index=False) as other:

        def send(store: MemoryStore, name: str) -> None:
            bus = store.bus(TEAM, agent=name)
            for n in range(25):
                bus.share(f"{name} {n:02}")

        senders = [
            Thread(target=send, args=(store, f"s{n}"))
            for n, store in enumerate((one, other, one, other))
        ]
        for sender in senders:
            sender.start()
        reader, got = one.bus(TEAM, agent="reader"), list[BusMessage]()
        while any(sender.is_alive() for sender in senders) or reader.inbox(limit=1).items:
            page = reader.inbox(limit=10).items
            got += page
            reader.acknowledge([each.id for each in page])
        for name in ("s0", "s1", "s2", "s3"):
            mine = [each.summary for each in got if each.sender == name]
            assert mine == [f"{name} {n:02}" for n in range(25)]


def _take_and_die(path: str) -> None:
    """Send a message, receive another, and be killed before it is acknowledged."""
    store = MemoryStore(path, index=False)
    bus = store.bus(TEAM, agent="worker")
    bus.share("I have begun", to="boss")
    assert len(bus.inbox().items) == 1
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_page_of_no_message_is_refused(store: MemoryStore) -> None:
    """A limit of 0 is refused by its value, in the bus and in the feed alike: no page follows it."""
    bus = store.bus(TEAM, agent="planner")
    for read in (bus.inbox, bus.messages, store.feed.read):
        with pytest.raises(ConfigError, match="limit is 0; it must be a whole number, 1 or more"):
            read(limit=0)


@pytest.mark.thorough
def test_a_killed_process_loses_no_message(tmp_path: Path) -> None:
    """What it sent is there, and what it received and did not acknowledge is given out again, to another
    process on the same file."""
    path = tmp_path / "m.db"
    with MemoryStore(path, index=False) as store:
        boss = store.bus(TEAM, agent="boss")
        boss.handoff("worker", "Half is done", next_steps=["the other half"])
        child = process_context().Process(target=_take_and_die, args=(address(path),))
        child.start()
        child.join(60)
        assert child.exitcode == -signal.SIGKILL
        assert said(boss) == ["I have begun"]
        assert said(store.bus(TEAM, agent="worker")) == ["Half is done"]
        assert store.admin.check() == []
