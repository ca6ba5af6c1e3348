"""One way to recall and remember, whatever `BaseStore` the graph was compiled with.

A store that has `recall` and `remember` (MemoryStore) is asked directly. Any other store is used
through plain `search` and `put`: the turns are stored as readable items, and when the store has no
vector index, the newest thousand items are ranked by the words they share with the query.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar, cast

from langchain_core.messages import BaseMessage
from langgraph.store.base import BaseStore, GetOp, Item, SearchItem

from langmemory.context.notes import note_of
from langmemory.messages import turn_value, turns_of
from langmemory.nodes.state import RecalledMemory
from langmemory.redaction import Redactor, redact_credentials
from langmemory.stores.face import StoreFace, bound
from langmemory.stores.rooms import (
    Conversing,
    RecallOptions,
    ViewerChanges,
    archived,
    conversing_of,
)
from langmemory.types import (
    Kind,
    Memory,
    MinScore,
    Namespace,
    Privacy,
    Recall,
    RecallResult,
    Trace,
)

ItemT = TypeVar("ItemT", bound=Item)

RECALLED_KINDS: tuple[Kind, ...] = ("episodic", "semantic", "procedural", "archival", "resource")
"""What recall looks through. Core blocks are always in context, working memory never is."""

UNINDEXED_SCAN = 1000
"""Items of a namespace looked at when the store cannot rank by meaning."""

GROWTH = 4
"""Times as many items are asked for where what is not shown, others' private ones say, took the places."""

THREAD_PAGE = 1000
"""Turns of a thread that are asked for at a time, to know messages again."""

UNNAMED: Final = "run-"
"""So begins the id of the thread of a run that named none."""

SAME_WORDS = 20
"""At most so many turns are looked at to find one with the same words."""

MANDATES = 100
"""At most so many memories of priority ``mandate`` are looked at."""

RETIRED: Final = ("pending", "approved", "superseded", "archived")
"""Statuses of memories that are not shown; a value's own, say ``"done"``, is none of ours."""

_WORD = re.compile(r"\w{2,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallRequest:
    """What a node or a tool wants to know."""

    query: str
    namespace: Namespace
    limit: int = 10
    viewer: str | None = None
    """Whose private memories may be shown; None is the application itself."""
    kinds: tuple[Kind, ...] = RECALLED_KINDS
    since: datetime | None = None
    until: datetime | None = None
    exclude: frozenset[str] = frozenset()
    """Keys of memories that are not wanted."""
    min_score: MinScore = None
    """As of `RecallOptions`; of a store that is no `MemoryStore` only a number counts, for its own
    scores."""
    preset: str | None = None
    """A recall preset of a `MemoryStore`."""
    filter: Mapping[str, Any] | None = None
    """LangGraph filter over the values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """Where turns are remembered, and for whom."""

    namespace: Namespace
    thread_id: str
    owner: str | None = None
    """Whose conversation it is."""
    privacy: Privacy = "shared"

    @property
    def options(self) -> dict[str, Any]:
        return {"thread_id": self.thread_id, "owner": self.owner, "privacy": self.privacy}


def facets_of(store: BaseStore) -> Conversing | None:
    """Return what a store knows of its memories beside their values; None of a plain store."""
    return conversing_of(store)


def changes_of(store: BaseStore) -> ViewerChanges | None:
    """Return the room of a store in which a change can be undone; None of a plain store."""
    return store.changes if isinstance(store, StoreFace) else None


def answers_locally(store: BaseStore) -> bool:
    """Whether nothing is waited for but this process and its file, so that one hop into a thread
    does for a whole look-up. A store that does not say so may be behind a network."""
    facets = facets_of(store)
    return facets is not None and facets.answers_locally


def seen_by(store: BaseStore, viewer: str | None) -> BaseStore:
    """The store as the person of a run may see it: ``""`` is somebody unknown, None the application.

    A store that cannot be bound is returned as it is; what comes from it has to be looked at
    (`readable`).
    """
    return bound(store, viewer) if isinstance(store, StoreFace) else store


def delete(store: BaseStore, namespace: Namespace, key: str, *, reason: str) -> None:
    """Delete what a model does not want any more; in a run that can be undone, where there are any."""
    if (changes := changes_of(store)) is not None:
        changes.remove(namespace, key, reason=reason)
    else:
        store.delete(namespace, key)


async def adelete(store: BaseStore, namespace: Namespace, key: str, *, reason: str) -> None:
    """`delete` without blocking the loop."""
    if (changes := changes_of(store)) is not None:
        await changes.aremove(namespace, key, reason=reason)
    else:
        await store.adelete(namespace, key)


def archive(store: BaseStore, item: Item, *, reason: str) -> None:
    """Put an item away; in a run that can be undone, where there are any."""
    if (changes := changes_of(store)) is not None:
        changes.archive(item.namespace, item.key, reason=reason)
    else:
        value = archived(item.value, reason)
        store.put(item.namespace, item.key, value, index=False)


def redactor_for(store: BaseStore, otherwise: Redactor | None) -> Redactor | None:
    """What replaces credentials before turns go into the store: its own, where it has one."""
    return cast("Redactor | None", getattr(store, "redactor", otherwise))


class StoreAccess:
    """Recall and remember over one store, sync and async."""

    __slots__ = ("_aware", "_facets", "_store", "redactor")

    def __init__(self, store: BaseStore, redactor: Redactor | None = redact_credentials) -> None:
        """``redactor`` replaces credentials where the store has none of its own."""
        self.redactor = redactor_for(store, redactor)
        self._store = store
        self._facets = facets_of(store)
        self._aware = store if isinstance(store, StoreFace) else None

    def recall(self, request: RecallRequest) -> Recall:
        if self._aware is not None:
            return bound(self._aware, request.viewer).recall(
                request.query, request.namespace, **_options(request)
            )
        asked = _wanted(request)
        while True:
            found = self._store.search(
                request.namespace, query=request.query, filter=_filter(request), limit=asked
            )
            if not _ranked(found):
                found = self._store.search(
                    request.namespace, filter=_filter(request), limit=UNINDEXED_SCAN
                )
                return _recall(request, found)
            recall = _recall(request, found)
            if len(recall) >= request.limit or len(found) < asked:
                return recall
            asked *= GROWTH

    async def arecall(self, request: RecallRequest) -> Recall:
        if self._aware is not None:
            return await bound(self._aware, request.viewer).arecall(
                request.query, request.namespace, **_options(request)
            )
        asked = _wanted(request)
        while True:
            found = await self._store.asearch(
                request.namespace, query=request.query, filter=_filter(request), limit=asked
            )
            if not _ranked(found):
                found = await self._store.asearch(
                    request.namespace, filter=_filter(request), limit=UNINDEXED_SCAN
                )
                return _recall(request, found)
            recall = _recall(request, found)
            if len(recall) >= request.limit or len(found) < asked:
                return recall
            asked *= GROWTH

    def mandates(self, namespace: Namespace, viewer: str | None) -> list[Memory]:
        """Memories that are shown whatever is talked about.

        A store that knows viewers is bound to this one already (`seen_by`).
        """
        if self._facets is not None:
            return self._facets.mandates(namespace, limit=MANDATES)
        found = self._store.search(namespace, filter={"priority": "mandate"}, limit=MANDATES)
        return [memory_of(item) for item in found if shown_to(item.value, viewer)]

    async def amandates(self, namespace: Namespace, viewer: str | None) -> list[Memory]:
        if self._facets is not None:
            return await asyncio.to_thread(self.mandates, namespace, viewer)
        found = await self._store.asearch(namespace, filter={"priority": "mandate"}, limit=MANDATES)
        return [memory_of(item) for item in found if shown_to(item.value, viewer)]

    def requests(self, namespace: Namespace) -> list[Memory]:
        """How the viewer has asked to be answered; a plain store cannot tell."""
        return [] if self._facets is None else self._facets.requests(namespace)

    async def arequests(self, namespace: Namespace) -> list[Memory]:
        if self._facets is None:
            return []
        return await asyncio.to_thread(self._facets.requests, namespace)

    def said_since(self, namespace: Namespace, thread_id: str, key: str | None) -> list[str]:
        """Keys of the turns of a thread after one of them, of all without one."""
        if key is not None:
            return self.said_after(namespace, key)
        return [item.key for item in self.thread(namespace, thread_id)]

    async def asaid_since(self, namespace: Namespace, thread_id: str, key: str | None) -> list[str]:
        if key is not None:
            return await self.asaid_after(namespace, key)
        return [item.key for item in await self.athread(namespace, thread_id)]

    def said_after(self, namespace: Namespace, key: str) -> list[str]:
        """Keys of the turns after a turn of a thread; a plain store cannot tell."""
        return [] if self._facets is None else self._facets.said_after(namespace, key)

    async def asaid_after(self, namespace: Namespace, key: str) -> list[str]:
        if self._facets is None:
            return []
        return await asyncio.to_thread(self._facets.said_after, namespace, key)

    def standing(self, entries: Sequence[RecalledMemory], viewer: str | None) -> list[Item]:
        """What of memories recalled earlier is still there, in force and this viewer's to read.

        A store that knows viewers is bound to this one already (`seen_by`).
        """
        return self.in_force(_there(self._store.batch(_gets(entries))), viewer)

    async def astanding(self, entries: Sequence[RecalledMemory], viewer: str | None) -> list[Item]:
        found = _there(await self._store.abatch(_gets(entries)))
        if self._facets is None:
            return self.in_force(found, viewer)
        return await asyncio.to_thread(self.in_force, found, viewer)

    def in_force(self, found: Iterable[ItemT], viewer: str | None) -> list[ItemT]:
        """What of it this viewer may be shown."""
        items = [item for item in found if shown_to(item.value, viewer)]
        if self._facets is None or not items:
            return items
        retired = self._facets.retired((item.namespace, item.key) for item in items)
        return [item for item in items if (item.namespace, item.key) not in retired]

    def thread(self, namespace: Namespace, thread_id: str) -> list[SearchItem]:
        """What is stored of a thread."""
        found: list[SearchItem] = []
        while True:
            page = self._store.search(namespace, **_thread_page(thread_id, found))
            found += page
            if len(page) < THREAD_PAGE:
                return found

    async def athread(self, namespace: Namespace, thread_id: str) -> list[SearchItem]:
        found: list[SearchItem] = []
        while True:
            page = await self._store.asearch(namespace, **_thread_page(thread_id, found))
            found += page
            if len(page) < THREAD_PAGE:
                return found

    def thread_of(
        self, namespace: Namespace, sign: tuple[str, str], viewer: str | None
    ) -> str | None:
        """The thread without a name in which these words were said last, by this role."""
        found = self._store.search(namespace, **self._same_words(sign))
        return _last_unnamed(found, sign, viewer)

    async def athread_of(
        self, namespace: Namespace, sign: tuple[str, str], viewer: str | None
    ) -> str | None:
        found = await self._store.asearch(namespace, **self._same_words(sign))
        return _last_unnamed(found, sign, viewer)

    def _same_words(self, sign: tuple[str, str]) -> dict[str, Any]:
        """Options of a search for them."""
        role, text = sign
        if self._aware is not None:  # a filter would read every turn
            asked: dict[str, Any] = {"query": text, "filter": {"role": role}}
        else:
            asked = {"filter": {"role": role, "content": text}}
        return {**asked, "limit": SAME_WORDS, "refresh_ttl": False}

    def remember(self, conversation: Conversation, messages: Sequence[BaseMessage]) -> list[str]:
        """Store turns verbatim; those already stored are left alone. Returns the keys added."""
        namespace = conversation.namespace
        if self._aware is not None:
            return self._aware.remember(namespace, messages, **conversation.options)
        added = []
        for key, value in _turns(conversation, messages):
            if self._store.get(namespace, key) is None:
                self._store.put(namespace, key, value)
                added.append(key)
        return added

    async def aremember(
        self, conversation: Conversation, messages: Sequence[BaseMessage]
    ) -> list[str]:
        namespace = conversation.namespace
        if self._aware is not None:
            return await self._aware.aremember(namespace, messages, **conversation.options)
        added = []
        for key, value in _turns(conversation, messages):
            if await self._store.aget(namespace, key) is None:
                await self._store.aput(namespace, key, value)
                added.append(key)
        return added

    def correct(
        self, conversation: Conversation, messages: Sequence[BaseMessage], added: Sequence[str]
    ) -> list[str]:
        """Of the messages that were there already, give those that say something else now their
        new words. Returns their keys. One that was deleted stays so."""
        corrected = []
        for key, text in _others(conversation, messages, added):
            item = self._store.get(conversation.namespace, key)
            if item is not None and item.value.get("content") != text:
                self._store.put(conversation.namespace, key, {**item.value, "content": text})
                corrected.append(key)
        return corrected

    async def acorrect(
        self, conversation: Conversation, messages: Sequence[BaseMessage], added: Sequence[str]
    ) -> list[str]:
        corrected = []
        for key, text in _others(conversation, messages, added):
            item = await self._store.aget(conversation.namespace, key)
            if item is not None and item.value.get("content") != text:
                await self._store.aput(conversation.namespace, key, {**item.value, "content": text})
                corrected.append(key)
        return corrected


def memory_of(item: Item) -> Memory:
    """A plain store's item as a memory: facets it knows nothing about have their defaults."""
    note, value = note_of(item), item.value
    return Memory(
        id=0,
        namespace=note.namespace,
        key=note.key,
        value=value,
        text=note.text,
        created_at=item.created_at,
        updated_at=item.updated_at,
        kind=note.kind,
        priority=note.priority,
        importance=note.importance,
        speaker=note.speaker,
        thread_id=_string(value.get("thread_id")),
        valid_at=note.at,
    )


def shown_to(value: Mapping[str, Any], viewer: str | None) -> bool:
    """Whether a value is in force, and not somebody else's private memory."""
    return value.get("status") not in RETIRED and readable(value, viewer)


def readable(value: Mapping[str, Any], viewer: str | None) -> bool:
    """Whether `viewer` may see it: anything but other people's private memories."""
    return value.get("privacy") != "private" or viewer is None or value.get("owner") == viewer


def _gets(entries: Sequence[RecalledMemory]) -> list[GetOp]:
    return [GetOp(tuple(one["namespace"]), one["key"], refresh_ttl=False) for one in entries]


def _there(found: Iterable[Any]) -> list[Item]:
    return [item for item in found if item is not None]


def _options(request: RecallRequest) -> RecallOptions:
    return {
        "limit": request.limit,
        "kinds": request.kinds,
        "since": request.since,
        "until": request.until,
        "exclude": request.exclude,
        "min_score": request.min_score,
        "preset": request.preset,
        "filter": request.filter,
    }


def _thread_page(thread_id: str, found: Sequence[SearchItem]) -> dict[str, Any]:
    """Options of the search for what follows those found."""
    return {
        "filter": {"thread_id": thread_id},
        "limit": THREAD_PAGE,
        "offset": len(found),
        "refresh_ttl": False,
    }


def _last_unnamed(
    found: Iterable[SearchItem], sign: tuple[str, str], viewer: str | None
) -> str | None:
    same = [
        item
        for item in found
        if (item.value.get("role"), item.value.get("content")) == sign
        and str(item.value.get("thread_id")).startswith(UNNAMED)
        and readable(item.value, viewer)
    ]
    newest = max(same, key=lambda item: item.created_at, default=None)
    return None if newest is None else str(newest.value["thread_id"])


def _wanted(request: RecallRequest) -> int:
    """How many items to ask a plain store for, so that mostly enough are left after our own filter."""
    return 2 * request.limit + len(request.exclude) + 10


def _filter(request: RecallRequest) -> dict[str, Any] | None:
    return None if request.filter is None else dict(request.filter)


def _ranked(items: list[SearchItem]) -> bool:
    """Whether the store ranks by meaning; what it did not index has no score all the same."""
    return not items or any(item.score is not None for item in items)


def _recall(request: RecallRequest, items: list[SearchItem]) -> Recall:
    ranked = _ranked(items)
    words = set(_WORD.findall(request.query.casefold()))
    results = []
    for item in items:
        memory = memory_of(item)
        if not _admits(request, memory):
            continue
        score = item.score if ranked else _overlap(words, memory.text)
        lowest = request.min_score if isinstance(request.min_score, int | float) else None
        if score is not None and lowest is not None and score < lowest:
            continue
        if score is not None and (ranked or score > 0):
            name = "dense" if ranked else "keyword"
            results.append(RecallResult(memory=memory, score=score, parts={name: score}))
    results.sort(key=lambda result: -result.score)
    return Recall(
        query=request.query,
        results=tuple(results[: request.limit]),
        trace=Trace(
            degraded=() if ranked else ("store has no vector index: ranked by shared words",),
            candidates={"search": len(items)},
        ),
    )


def _admits(request: RecallRequest, memory: Memory) -> bool:
    at = memory.valid_at or memory.created_at
    return (
        memory.kind in request.kinds
        and memory.key not in request.exclude
        and shown_to(memory.value, request.viewer)
        and (request.since is None or at >= request.since)
        and (request.until is None or at < request.until)
    )


def _overlap(words: set[str], text: str) -> float:
    """Share of the query's words that the text has, 0..1."""
    return len(words.intersection(_WORD.findall(text.casefold()))) / max(len(words), 1)


def _turns(
    conversation: Conversation, messages: Iterable[BaseMessage]
) -> Iterable[tuple[str, dict[str, Any]]]:
    """Key and value of each message, as MemoryStore has them, for a store that has no facets."""
    facets = {"owner": conversation.owner, "privacy": conversation.privacy}
    thread_id, now = conversation.thread_id, datetime.now(UTC)
    turns = turns_of(
        messages,
        thread_id=thread_id,
        at=None,
        now=now,
        owner=conversation.owner,
        namespace=conversation.namespace,
    )
    for place, turn in enumerate(turns):
        # A microsecond apart, so that the order survives in the times.
        apart = replace(turn, at=turn.at + timedelta(microseconds=place))
        yield turn.key, {"kind": "episodic", **turn_value(thread_id, apart, facets)}


def _others(
    conversation: Conversation, messages: Iterable[BaseMessage], added: Sequence[str]
) -> list[tuple[str, str]]:
    """Key and text of the messages that were not added."""
    turns = _turns(conversation, messages)
    return [(key, value["content"]) for key, value in turns if key not in added]


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
