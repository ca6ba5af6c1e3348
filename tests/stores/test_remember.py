"""Verbatim memory: every word once, in order, findable by who, when and what stood beside it."""

from __future__ import annotations

import asyncio
import re
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langmemory.changes import ChangeSet, Facets, UpdateMemory
from langmemory.context import disclose, mark_injected
from langmemory.engines.sqlite.schema import rebuild_keywords
from langmemory.errors import ConfigError, InvalidValueError
from langmemory.graphs import build_reflection_graph
from langmemory.ledger import items
from langmemory.messages import turns_of
from langmemory.stores import MemoryStore
from tests.children import process_context
from tests.indexed import holding
from tests.places import POSTGRES, address
from tests.stores.embedders import WordEmbeddings

NS = ("memories", "maria")
AT = datetime(2026, 3, 5, 12, tzinfo=UTC)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(":memory:")


def turns(store: MemoryStore, thread: str = "t") -> list[tuple[Any, ...]]:
    """(position, role, speaker, content) of a thread, in order."""
    with store._core.engine.read() as snapshot:
        rows = snapshot.connection.execute(
            "SELECT position, value ->> 'role', speaker, value ->> 'content' FROM item i "
            "JOIN thread t ON t.id = i.thread WHERE t.name = ? ORDER BY position",
            (thread,),
        )
        return list(rows)


def found_by_words(store: MemoryStore, query: str) -> set[str]:
    """Texts that hold a word of the query, or whose neighbour does."""
    with store._core.engine.read() as snapshot:
        found = items.memories(snapshot.connection, holding(store, query))
    return {str(one.value["content"]) for one in found}


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_may_be_remembered(store: MemoryStore, asynchronous: bool) -> None:
    """LangChain messages, dicts and pairs are stored in order with who spoke; system prompts,
    injected memories, removals and empty messages are not."""
    messages: list[Any] = [
        SystemMessage("be nice"),
        mark_injected(HumanMessage("memories: likes tea")),
        mark_injected(HumanMessage("memories: likes milk")).model_dump(),
        HumanMessage("one", name="Maria"),
        AIMessage([{"type": "text", "text": "two"}, {"type": "image_url", "image_url": "x"}]),
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}]),
        ToolMessage("three", tool_call_id="1", name="weather"),
        {"role": "user", "content": "four", "name": "Tom"},
        {"role": "assistant", "content": None},
        {"role": "tool", "content": "five", "tool_call_id": "7"},
        {"role": "tool", "content": "six"},
        ("user", "seven"),
        AIMessageChunk("eight"),
        ChatMessage("nine", role="assistant"),
        RemoveMessage("old"),
        HumanMessage("  \n "),
        {"type": "human", "content": "ten"},
        {"role": "developer", "content": "be nicer"},
        "eleven",
    ]
    if asynchronous:
        keys = await store.aremember(NS, messages, thread_id="t", at=AT)
    else:
        keys = store.remember(NS, messages, thread_id="t", at=AT)
    assert turns(store) == [
        (0, "user", "Maria", "one"),
        (1, "assistant", "assistant", "two"),
        (2, "tool", "weather", "three"),
        (3, "user", "Tom", "four"),
        (4, "tool", "tool", "five"),
        (5, "tool", "tool", "six"),
        (6, "user", "user", "seven"),
        (7, "assistant", "assistant", "eight"),
        (8, "assistant", "assistant", "nine"),
        (9, "user", "user", "ten"),
        (10, "user", "user", "eleven"),
    ]
    assert len(keys) == 11
    assert [store.get(NS, key).value["content"] for key in keys[:2]] == ["one", "two"]  # type: ignore[union-attr]


async def test_repeating_adds_nothing(store: MemoryStore) -> None:
    """A growing conversation passed whole each time adds only its new messages, with ids or
    without; one id counts once; other threads and namespaces are other memories."""
    growing = [HumanMessage("hi", id="1"), AIMessage("hello", id="2"), HumanMessage("hi", id="3")]
    assert len(store.remember(NS, growing[:2], thread_id="t")) == 2
    assert store.remember(NS, growing, thread_id="t") == ["t/3"]
    assert await store.aremember(NS, growing, thread_id="t") == []
    assert store.remember(NS, [("user", "x"), ("user", "x")], thread_id="u", at=AT)
    assert store.remember(NS, [("user", "x"), ("user", "x")], thread_id="u", at=AT) == []
    assert len(turns(store, "u")) == 2
    assert len(store.remember(NS, growing, thread_id="v")) == 3
    assert len(store.remember(("other",), growing, thread_id="t")) == 3
    twice = [HumanMessage("first", id="9"), HumanMessage("second", id="9")]
    assert store.remember(NS, twice, thread_id="w") == ["w/9"]
    assert turns(store, "w") == [(0, "user", "user", "first")]
    assert store.remember(NS, [], thread_id="t") == []


def private(store: MemoryStore, owner: str, said: list[Any] | None = None) -> list[str]:
    """Remember for this person alone, in one thread for all, what everybody says."""
    words = said or [("user", "ok"), ("ai", "Good."), ("user", "ok")]
    return store.remember(NS, words, thread_id="t", owner=owner, privacy="private")


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_is_remembered_is_not_embedded_again(tmp_path: Path, asynchronous: bool) -> None:
    """A client that sends the whole conversation pays for what is new, also where some of it was
    deleted since."""
    embedder = WordEmbeddings()
    with MemoryStore(tmp_path / "m.db", index={"dims": 16, "embed": embedder}) as store:
        said = [{"role": "user", "content": f"line {n}", "id": f"m{n}"} for n in range(4)]
        store.remember(NS, said[:3], thread_id="t")
        store.delete(NS, "t/m1")
        embedder.asked.clear()
        if asynchronous:
            added = await store.aremember(NS, said, thread_id="t")
        else:
            added = store.remember(NS, said, thread_id="t")
        assert added == ["t/m3"]
        assert embedder.asked == ["line 3"]


def test_two_say_the_same_in_private(store: MemoryStore) -> None:
    """Identical words without an id in one thread are a message of each who says them in private;
    repeating them adds nothing for anybody, whatever one of them takes back."""
    ada = private(store, "ada")
    assert ada == MemoryStore(":memory:").remember(  # the keys of files written before
        NS, [("user", "ok"), ("ai", "Good."), ("user", "ok")], thread_id="t"
    )
    bob = private(store, "bob")
    assert len({*ada, *bob}) == 6
    for owner in ("ada", "bob", "ada"):
        assert private(store, owner) == []
    for owner in ("ada", "bob"):
        seen = store.for_viewer(owner).search(NS)
        assert [item.value["owner"] for item in seen] == [owner] * 3
    store.delete(NS, ada[0])
    assert private(store, "ada") == private(store, "bob") == []
    assert len(private(store, "cy")) == 3
    store.delete(NS, bob[0])
    assert private(store, "bob") == []


def test_what_everybody_may_read_is_not_said_again_in_private(store: MemoryStore) -> None:
    """A message without an id that is shared is known, also when it comes privately; what is private
    to somebody is none of what others share. What it was last counts, also once it is deleted. One with an
    id is one message, whoever sends it."""
    assert len(store.remember(NS, [("user", "tea")], thread_id="t")) == 1
    assert private(store, "ada", [("user", "tea")]) == []
    assert len(private(store, "ada", [("user", "milk")])) == 1
    assert len(store.remember(NS, [("user", "milk")], thread_id="t")) == 1
    assert store.remember(NS, [("user", "milk")], thread_id="t") == []
    for word, before, after, new in (
        ("salt", "shared", "private", 1), ("oil", "private", "shared", 0),
    ):  # fmt: skip
        (key,) = store.remember(NS, [("user", word)], thread_id="t", owner="ada", privacy=before)
        change = UpdateMemory(key=key, facets=Facets(privacy=after, owner="ada"))
        store.changes.apply(
            ChangeSet(run_id=word, namespace=NS, kind="correction", reason="", changes=(change,))
        )
        store.delete(NS, key)
        assert len(private(store, "bob", [("user", word)])) == new, word
    (key,) = store.remember(NS, [("user", "rice")], thread_id="t")
    store.delete(NS, key)
    assert private(store, "bob", [("user", "rice")]) == []
    (key,) = private(store, "ada", [("user", "flour")])
    store.delete(NS, key)
    store.put(NS, key, {"role": "user", "content": "flour"})
    store.delete(NS, key)
    assert private(store, "bob", [("user", "flour")]) == []
    named = [{"role": "user", "content": "sugar", "id": "m-1"}]
    assert [len(private(store, owner, list(named))) for owner in ("ada", "bob")] == [1, 0]


def test_the_day_of_a_turn_is_by_the_clock_of_who_said_it(tmp_path: Path) -> None:
    """A turn is found by the day on its speaker's calendar, which may be another in UTC: also after
    the next turn, in a copy, and when the index is made anew."""
    at = datetime(2026, 6, 12, 0, 30, tzinfo=timezone(timedelta(hours=5)))

    def found(store: MemoryStore) -> list[str]:
        return [day for day in ("11", "12") if store.search(NS, query=day)]

    with MemoryStore(tmp_path / "m.db", index=False) as store:
        store.remember(NS, [{"role": "user", "content": "I like tea.", "at": at}], thread_id="t")
        assert found(store) == ["12"]
        store.remember(NS, [("user", "And milk.")], thread_id="t", at=AT)
        assert found(store) == ["12"]
        with MemoryStore(tmp_path / "copy.db", index=False) as copy:
            copy.admin.import_rows(store.admin.export())
            assert found(copy) == ["12"]
        if not POSTGRES:  # whose index of words is never lost alone
            with store._core.engine.write() as connection:
                rebuild_keywords(connection, store._core.indexing)
            assert found(store) == ["12"]


def test_a_prompt_tells_the_day_by_the_clock_of_who_said_it(store: MemoryStore) -> None:
    """A statement half an hour after midnight belongs to the new day of its speaker, and a fact
    holds from the day in its words, wherever that day begins in UTC."""
    at = datetime(2026, 7, 12, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    said = {"role": "user", "name": "Nuria", "content": "I moved to Valencia on 28 June.", "at": at}
    store.remember(NS, [said], thread_id="t")
    build_reflection_graph(store).invoke({"namespace": NS})
    facts, turns = (store.recall("Valencia", NS, kinds=[kind]) for kind in ("semantic", "episodic"))
    assert "Nuria lives in Valencia (since 28 June 2026)" in disclose(list(facts)).text
    assert "2026-07-12: I moved" in disclose(list(turns)).text
    assert turns.results[0].at == at


@pytest.mark.sqlite("opens a file of an older version")
def test_words_of_other_scripts_are_read_anew_as_they_are_written_today(tmp_path: Path) -> None:
    """Turns stored by an older version are found like today's: by their words, and by their
    tokens."""
    said = ["Марина купила сестре книги", "Έχω δύο γάτες", "I like tea."]
    with MemoryStore(tmp_path / "m.db") as store:
        store.remember(NS, [("user", text) for text in said], thread_id="t", at=AT)
        read = "SELECT tokens FROM item ORDER BY id"
        fresh = store.conn.execute(read).fetchall()
        with store._core.engine.write() as connection:
            connection.execute("UPDATE item SET tokens = x'0100'")
            rebuild_keywords(connection, store._core.indexing)
        written = store.conn.execute(read).fetchall()
        assert written[:2] == fresh[:2]
        assert written[2] == (b"\x01\x00",)  # of Latin letters: nothing has changed
        found = store.recall("книга для сестры", NS, limit=1, explain=True).results[0]
        assert found.memory.text == said[0]
        assert found.explanation.matched_words == ("книга", "сестры")


def test_times_are_aware_and_exact(store: MemoryStore) -> None:
    """A message's own time counts before the call's, whatever its zone or form; naive means UTC."""
    plus_two = timezone(timedelta(hours=2))
    keys = store.remember(
        NS,
        [
            {"role": "user", "content": "a", "at": "2026-03-05T12:00:00+02:00"},
            {"role": "user", "content": "b", "at": datetime(2026, 3, 5, 12)},
            {"role": "user", "content": "c", "timestamp": 1_772_712_000.5},
            HumanMessage("d", additional_kwargs={"at": "2026-03-05"}),
            {"role": "user", "content": "e"},
        ],
        thread_id="t",
        at=datetime(2026, 1, 1, tzinfo=plus_two),
    )
    with store._core.engine.read() as snapshot:
        rows = snapshot.connection.execute("SELECT valid_at FROM item ORDER BY id").fetchall()
    times = [datetime.fromtimestamp(row[0] / 1e6, UTC) for row in rows]
    assert len(keys) == 5
    assert times == [
        datetime(2026, 3, 5, 10, tzinfo=UTC),
        datetime(2026, 3, 5, 12, tzinfo=UTC),
        datetime(2026, 3, 5, 12, 0, 0, 500_000, tzinfo=UTC),
        datetime(2026, 3, 5, tzinfo=UTC),
        datetime(2025, 12, 31, 22, tzinfo=UTC),
    ]


@pytest.mark.parametrize(
    "messages", ["Hello", {"role": "user", "content": "Hello"}, HumanMessage("Hello")]
)
async def test_a_message_by_itself_is_not_taken_apart(tmp_path: Path, messages: Any) -> None:
    """Passed where a list is expected, it is refused by name: its letters and keys are no messages."""
    with MemoryStore(tmp_path / "memory.db") as store:
        with pytest.raises(InvalidValueError, match="pass a list of them"):
            store.remember(("m",), messages, thread_id="t")
        with pytest.raises(InvalidValueError, match="pass a list of them"):
            await store.aremember(("m",), messages, thread_id="t")
        assert store.search(("m",)) == []


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "x", "at": "yesterday"},
        {"role": "user", "content": "x", "at": 1e20},
        {"role": "user", "content": "x", "at": float("nan")},
        {"role": "user", "content": "x", "at": True},
        {"role": "alien", "content": "x"},
        {"content": "x"},
        {"role": "user", "content": "half an emoji \ud83d"},
        5,
        None,
    ],
)
def test_what_is_no_message(store: MemoryStore, message: Any) -> None:
    """An unreadable message is an error that names its place in the list; nothing is stored."""
    with pytest.raises(InvalidValueError, match=r"[Mm]essage 1 "):
        store.remember(NS, [("user", "fine"), message], thread_id="t")
    assert store.search(NS) == []


def test_an_empty_thread_id_is_refused(store: MemoryStore) -> None:
    """Without a thread there are no neighbours: an empty id is an error."""
    with pytest.raises(ConfigError, match="thread_id is empty"):
        store.remember(NS, [("user", "x")], thread_id="")


def test_found_by_speaker_date_and_neighbours(store: MemoryStore) -> None:
    """A turn is found by its own words, its speaker, its date and the words beside it, also when
    the neighbour came in a later call; never by ids or field names."""
    ids = {"id": "msg-zebra"}
    store.remember(
        NS,
        [HumanMessage("do you like walnuts", name="Maria", **ids)],
        thread_id="thread-okapi",
        at=AT,
    )
    store.remember(NS, [AIMessage("certainly")], thread_id="thread-okapi", at=AT)
    store.remember(NS, [("user", "thanks")], thread_id="thread-okapi", at=AT)
    assert found_by_words(store, "walnuts") == {"do you like walnuts", "certainly"}
    assert found_by_words(store, "thanks") == {"certainly", "thanks"}
    assert found_by_words(store, "maria") == {"do you like walnuts"}
    assert len(found_by_words(store, "march")) == len(found_by_words(store, "2026")) == 3
    for word in ("zebra", "okapi", "msg", "thread", "content", "role", "human", "utc"):
        assert found_by_words(store, word) == set()


def test_a_changed_or_deleted_turn_takes_its_words_along(store: MemoryStore) -> None:
    """A word of a deleted, overwritten or expired turn finds nothing, its neighbours neither."""
    keys = store.remember(
        NS, [("user", "before"), ("user", "the walrus"), ("user", "after"), ("user", "end")],
        thread_id="t", at=AT,
    )  # fmt: skip
    value = store.get(NS, keys[1]).value  # type: ignore[union-attr]
    store.put(NS, keys[1], {**value, "content": "the heron"})
    assert found_by_words(store, "walrus") == set()
    assert found_by_words(store, "heron") == {"before", "the heron", "after"}
    store.delete(NS, keys[1])
    assert found_by_words(store, "heron") == set()
    assert found_by_words(store, "after") == {"after", "end"}
    store.put(NS, keys[3], {"text": "a hidden lynx"}, index=False)
    assert found_by_words(store, "lynx") == found_by_words(store, "end") == set()
    store.remember(NS, [("user", "more")], thread_id="t", at=AT)
    assert found_by_words(store, "lynx") == set()
    assert found_by_words(store, "more") == {"more"}
    assert store.admin.check() == []


def _remember(path: str | Path, start: int) -> None:
    with MemoryStore(path, index=False) as store:
        for n in range(start, start + 20):
            store.remember(NS, [("user", f"word{n}"), ("ai", f"answer{n}")], thread_id="t")


async def test_one_thread_from_everywhere(tmp_path: Path) -> None:
    """Two processes, threads and a loop that remember into one thread lose nothing and give each
    message its own place."""
    path = tmp_path / "m.db"
    MemoryStore(path, index=False).close()
    process = process_context().Process(target=_remember, args=(address(path), 0))
    process.start()
    workers = [threading.Thread(target=_remember, args=(path, start)) for start in (100, 200)]
    for worker in workers:
        worker.start()
    with MemoryStore(path, index=False) as store:
        await asyncio.gather(
            *(store.aremember(NS, [("user", f"word{n}")], thread_id="t") for n in range(300, 320))
        )
        await asyncio.to_thread(process.join, 60)
        for worker in workers:
            await asyncio.to_thread(worker.join, 60)
        assert process.exitcode == 0
        assert [turn[0] for turn in turns(store)] == list(range(140))
        assert store.admin.check() == []


def test_a_deleted_turn_stays_deleted(tmp_path: Path) -> None:
    """Passing the whole conversation again does not bring back a turn that was deleted, only those
    that went with their namespace."""
    store = MemoryStore(tmp_path / "memory.db", index=False)
    messages = [{"role": "user", "content": text, "id": text} for text in ("one", "two")]
    first, _ = store.remember(("m",), messages, thread_id="t")
    store.delete(("m",), first)
    assert store.remember(("m",), messages, thread_id="t") == []
    store.admin.delete_namespace(("m",))
    assert len(store.remember(("m",), messages, thread_id="t")) == 1


def test_a_turn_without_a_place_is_recalled() -> None:
    """An imported turn whose row names a thread but no position is found, and breaks no recall."""
    original = MemoryStore(":memory:")
    original.remember(("m",), [{"role": "user", "content": "the red boat"}], thread_id="t")
    rows = [
        {name: value for name, value in row.items() if name != "position"}
        for row in original.admin.export()
    ]
    copy = MemoryStore(":memory:")
    copy.admin.import_rows(rows)
    assert [result.text for result in copy.recall("red boat", ("m",))] == ["the red boat"]


async def test_a_long_message_does_not_hold_up_the_loop(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pasted text is split and embedded in a thread, while the loop goes on."""
    opened = threading.Event()
    take_apart = turns_of

    def gated(*args: Any, **options: Any) -> Any:
        assert opened.wait(60), "the loop did not come round"
        return take_apart(*args, **options)

    monkeypatch.setattr("langmemory.operations.remembering.turns_of", gated)
    book = HumanMessage("Call me Ishmael. " * 2_000, id="book")
    remembering = asyncio.create_task(store.aremember(NS, iter([book]), thread_id="t"))
    await asyncio.sleep(0)
    opened.set()
    assert await remembering == ["t/book"]
    assert store.recall("Ishmael", NS).results[0].text == book.text.strip()


@pytest.mark.parametrize("message", [42, ("user",), {"role": "user"}, None])
async def test_what_is_no_message_is_refused_awaited_too(store: MemoryStore, message: Any) -> None:
    """`aremember` refuses what `remember` refuses, with the same words."""
    with pytest.raises(InvalidValueError) as refused:
        store.remember(NS, [message], thread_id="t")
    with pytest.raises(InvalidValueError, match=re.escape(str(refused.value))):
        await store.aremember(NS, [message], thread_id="t")
