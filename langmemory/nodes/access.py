"""One way to recall and remember, whatever `BaseStore` the graph was compiled with.

A store that has `recall` and `remember` (MemoryStore, RemoteMemoryStore) is asked directly. Any other
store is used through plain `search` and `put`: the turns are stored as readable items, and when the
store has no vector index, the newest thousand items are ranked by the words they share with the query.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

from langchain_core.messages import BaseMessage
from langgraph.store.base import BaseStore, GetOp, Item, SearchItem

from langmemory.context.citations import Mark, showing, used
from langmemory.context.notes import Recalled, note_of
from langmemory.errors import ConfigError, LangMemoryError
from langmemory.messages import turn_value, turns_of
from langmemory.nodes.state import RecalledMemory
from langmemory.operations.changes import ViewerChanges, archived
from langmemory.operations.conversing import conversing_of
from langmemory.operations.core_files import CoreFiles
from langmemory.recall_options import OF_A_BLOCK, RecallOptions
from langmemory.redaction import Redactor, redact_credentials
from langmemory.steps import Steps, awaiting, blocking, call, thread_call
from langmemory.stores.face import AwareStore, bound
from langmemory.trust import at_least
from langmemory.types import (
    Kind,
    Memory,
    Namespace,
    Privacy,
    Recall,
    RecallResult,
    Trace,
)

logger = logging.getLogger(__name__)

ItemT = TypeVar("ItemT", bound=Item)

RECALLED_KINDS: tuple[Kind, ...] = ("episodic", "semantic", "procedural", "archival", "resource")
"""The kinds of memory that recall searches. Core blocks are always in context, working memory never is."""

UNINDEXED_SCAN = 1000
"""Most items of a namespace that are ranked if the store cannot rank by meaning."""

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
    """The query of a node or a tool."""

    query: str
    namespace: Namespace
    viewer: str | None = None
    """Whose private memories may be shown; None is the application itself."""
    options: RecallOptions
    """For a store that is no `MemoryStore`, only a number counts as ``min_score``, for
    its own scores; what such a store does not know has no effect."""

    @property
    def limit(self) -> int:
        """Results at most, of a store without presets."""
        return self.options.get("limit", OF_A_BLOCK["limit"])

    @property
    def kinds(self) -> Collection[Kind]:
        """Kinds of memory that are looked for."""
        kinds = self.options.get("kinds")
        return RECALLED_KINDS if kinds is None else kinds

    @property
    def exclude(self) -> Collection[str]:
        """Keys of memories that are not wanted."""
        return self.options.get("exclude", ())


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """Where turns are remembered, and for whom."""

    namespace: Namespace
    thread_id: str
    owner: str | None = None
    """Whose conversation it is."""
    privacy: Privacy = "shared"


def changes_of(store: BaseStore) -> ViewerChanges | None:
    """Return the room of a store in which a change can be undone, which may be on another machine; None of
    a plain store."""
    return store.changes if isinstance(store, AwareStore) else None


def core_files_of(store: BaseStore) -> CoreFiles | None:
    """Return the room of a store that binds core blocks to files; None of a store without one, such as one on
    another machine, whose server looks at its files itself."""
    return getattr(store, "_core_files", None)


def answers_locally(store: BaseStore) -> bool:
    """Whether nothing is waited for but this process and its file, so that one hop into a thread
    does for a whole look-up. A store that does not say so may be behind a network."""
    facets = conversing_of(store)
    return facets is not None and facets.answers_locally


def seen_by(store: BaseStore, viewer: str | None) -> BaseStore:
    """The store as the person of a run may see it: ``""`` is somebody unknown, None the application.

    A store that cannot be bound is returned as it is; what comes from it has to be looked at
    (`readable`).
    """
    if viewer is None or not isinstance(store, AwareStore):
        return store
    return bound(store, viewer)


def count_marks(store: BaseStore, memories: Iterable[Recalled], *marks: Mark) -> None:
    """Count what a model made of memories that a tool showed; nothing in a plain store."""
    if isinstance(store, AwareStore):
        store.admin.count_usage([used(one, marks) for one in memories])


def count_shown(store: BaseStore, memories: Iterable[Recalled]) -> None:
    """Count memories that were shown for one query; nothing in a plain store."""
    if isinstance(store, AwareStore):
        store.admin.count_usage(showing(memories))


def prompted(
    store: BaseStore, request: RecallRequest, block: Mapping[str, Any], seconds: float
) -> Steps[None]:
    """Note in the log of prompts what a model is given, where the store has one."""
    log = getattr(seen_by(store, request.viewer), "prompts", None)
    if log is None or not request.query:
        return
    given = (request.namespace, request.query, block["text"])
    figures = {"memories": len(block["entries"]), "tokens": block["tokens"]}
    note = partial(log.note, *given, **figures, milliseconds=round(1000 * seconds, 2))
    if conversing_of(store) is not None:  # only kept in memory for now
        note()
        return
    try:
        yield thread_call(note)
    except LangMemoryError as error:  # such as a token that only reads: the answer goes on
        logger.info("prompt_not_logged error=%s", type(error).__name__)


def delete_steps(store: BaseStore, namespace: Namespace, key: str, *, reason: str) -> Steps[None]:
    """Delete what a model does not want any more; in a run that can be undone, where there are any."""
    if (changes := changes_of(store)) is not None:
        yield call(changes, "remove", namespace, key, reason=reason)
    else:
        yield call(store, "delete", namespace, key)


def archive(store: BaseStore, item: Item, *, reason: str) -> None:
    """Put an item away; in a run that can be undone, where there are any."""
    if (changes := changes_of(store)) is not None:
        changes.archive(item.namespace, item.key, reason=reason)
    else:
        value = archived(item.value, reason)
        store.put(item.namespace, item.key, value, index=False)


class StoreAccess:
    """Recall and remember over one store, sync and async."""

    __slots__ = ("_aware", "_facets", "_store", "redactor")

    def __init__(self, store: BaseStore, redactor: Redactor | None = redact_credentials) -> None:
        """``redactor`` replaces credentials where the store has none of its own."""
        self.redactor: Redactor | None = getattr(store, "redactor", redactor)
        self._store = store
        self._facets = conversing_of(store)
        self._aware: Any = store if isinstance(store, AwareStore) else None

    def recall_steps(self, request: RecallRequest) -> Steps[Recall]:
        """Return what a request finds.

        Raises:
            ConfigError: It asks for documents, and the store has none to ask.
        """
        if self._aware is not None:
            store, options = bound(self._aware, request.viewer), request.options
            known: Recall = yield call(store, "recall", request.query, request.namespace, **options)
            return known
        options = request.options
        if options.get("documents"):
            raise ConfigError(
                f"documents={options['documents']!r} are asked of a {type(self._store).__name__}, which "
                "keeps none; use a MemoryStore, or leave documents out."
            )
        # Mostly enough of so many are left after our own filter.
        wanted = 2 * request.limit + len(request.exclude) + 10
        place, filter = request.namespace, dict(options.get("filter") or {}) or None
        while True:
            found = yield call(
                self._store, "search", place, query=request.query, filter=filter, limit=wanted
            )
            if not _ranked(found):
                found = yield call(
                    self._store, "search", place, filter=filter, limit=UNINDEXED_SCAN
                )
                return _recall(request, found)
            recall = _recall(request, found)
            if len(recall) >= request.limit or len(found) < wanted:
                return recall
            wanted *= GROWTH

    recall, arecall = blocking(recall_steps), awaiting(recall_steps)

    def mandates(self, namespace: Namespace, viewer: str | None) -> Steps[list[Memory]]:
        """Return the memories that are shown whatever is talked about.

        A store that knows viewers is bound to this one already (`seen_by`).
        """
        if (facets := self._facets) is not None:
            memories: list[Memory] = yield thread_call(facets.mandates, namespace, limit=MANDATES)
            return memories
        found = yield call(
            self._store, "search", namespace, filter={"priority": "mandate"}, limit=MANDATES
        )
        return [memory_of(item) for item in found if shown_to(item.value, viewer)]

    def requests(self, namespace: Namespace) -> Steps[list[Memory]]:
        """Return how the viewer has asked to be answered; a plain store cannot tell."""
        memories: list[Memory] = []
        if (facets := self._facets) is not None:
            memories = yield thread_call(facets.requests, namespace)
        return memories

    def procedures(self, request: RecallRequest) -> Steps[list[Memory]]:
        """Return procedures whose task the query names, which recall may think unlikely: an order is no
        question. A plain store cannot tell."""
        filtered = request.options.get("filter") is not None
        facets = self._facets
        if facets is None or not request.query or filtered or "procedural" not in request.kinds:
            return []
        memories: list[Memory] = yield thread_call(
            facets.procedures, request.namespace, request.query
        )
        return [one for one in memories if one.key not in request.exclude]

    def said_since(self, namespace: Namespace, thread_id: str, key: str | None) -> Steps[list[str]]:
        """Return the keys of the turns of a thread after one of them, of all without one."""
        if key is not None:
            return (yield from self.said_after(namespace, key))
        stored = yield from self.thread_steps(namespace, thread_id)
        return [item.key for item in stored]

    def said_after(self, namespace: Namespace, key: str) -> Steps[list[str]]:
        """Return the keys of the turns after a turn of a thread; a plain store cannot tell."""
        keys: list[str] = []
        if (facets := self._facets) is not None:
            keys = yield thread_call(facets.said_after, namespace, key)
        return keys

    def standing(self, entries: Sequence[RecalledMemory], viewer: str | None) -> Steps[list[Item]]:
        """Return the memories recalled earlier that are there, in force and this viewer's to read.

        A store that knows viewers is bound to this one already (`seen_by`).
        """
        if not entries:
            return []
        gets = [GetOp(tuple(one["namespace"]), one["key"], refresh_ttl=False) for one in entries]
        found = yield call(self._store, "batch", gets)
        items: list[Item] = [item for item in found if item is not None]
        if self._facets is not None:
            items = yield thread_call(self.in_force, items, viewer)
            return items
        return self.in_force(items, viewer)

    def in_force(self, found: Iterable[ItemT], viewer: str | None) -> list[ItemT]:
        """Return the items that this viewer may be shown."""
        items = [item for item in found if shown_to(item.value, viewer)]
        if self._facets is None or not items:
            return items
        retired = self._facets.retired((item.namespace, item.key) for item in items)
        return [item for item in items if (item.namespace, item.key) not in retired]

    def thread_steps(self, namespace: Namespace, thread_id: str) -> Steps[list[SearchItem]]:
        """Return everything that is stored of a thread."""
        found: list[SearchItem] = []
        while True:
            page = yield call(
                self._store, "search", namespace, filter={"thread_id": thread_id},
                limit=THREAD_PAGE, offset=len(found), refresh_ttl=False,
            )  # fmt: skip
            found += page
            if len(page) < THREAD_PAGE:
                return found

    thread = blocking(thread_steps)

    def thread_of(
        self, namespace: Namespace, said: tuple[str, str], viewer: str | None
    ) -> Steps[str | None]:
        """Return the thread without a name in which a role said these words last."""
        role, text = said
        if self._aware is not None:  # a filter would read every turn
            asked: dict[str, Any] = {"query": text, "filter": {"role": role}}
        else:
            asked = {"filter": {"role": role, "content": text}}
        found = yield call(
            self._store, "search", namespace, **asked, limit=SAME_WORDS, refresh_ttl=False
        )
        same = [
            item
            for item in found
            if (item.value.get("role"), item.value.get("content")) == said
            and str(item.value.get("thread_id")).startswith(UNNAMED)
            and readable(item.value, viewer)
        ]
        newest = max(same, key=lambda item: item.created_at, default=None)
        return None if newest is None else str(newest.value["thread_id"])

    def remember_steps(
        self, conversation: Conversation, messages: Sequence[BaseMessage]
    ) -> Steps[list[str]]:
        """Store turns verbatim; those already stored are left alone. Returns the keys added."""
        namespace, added = conversation.namespace, list[str]()
        if self._aware is not None:
            added = yield call(
                self._aware, "remember", namespace, messages,
                thread_id=conversation.thread_id, owner=conversation.owner,
                privacy=conversation.privacy,
            )  # fmt: skip
            return list(added)
        for key, value in _turns(conversation, messages):
            if (yield call(self._store, "get", namespace, key)) is None:
                yield call(self._store, "put", namespace, key, value)
                added.append(key)
        return added

    remember, aremember = blocking(remember_steps), awaiting(remember_steps)

    def correct(
        self, conversation: Conversation, messages: Sequence[BaseMessage], added: Sequence[str]
    ) -> Steps[list[str]]:
        """Give messages that were stored before, and say something else now, their new words.

        Returns their keys. One that was deleted stays so.
        """
        namespace, corrected = conversation.namespace, list[str]()
        for key, value in _turns(conversation, messages):
            item = (yield call(self._store, "get", namespace, key)) if key not in added else None
            if item is not None and item.value.get("content") != value["content"]:
                new = {**item.value, "content": value["content"]}
                yield call(self._store, "put", namespace, key, new)
                corrected.append(key)
        return corrected


def memory_of(item: Item) -> Memory:
    """A plain store's item as a memory: facets it knows nothing about have their defaults."""
    note, value = note_of(item), item.value
    thread_id = value.get("thread_id")
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
        trust=note.trust,
        importance=note.importance,
        speaker=note.speaker,
        thread_id=thread_id if isinstance(thread_id, str) else None,
        valid_at=note.at,
    )


def shown_to(value: Mapping[str, Any], viewer: str | None) -> bool:
    """Whether a value is in force, and not somebody else's private memory."""
    return value.get("status") not in RETIRED and readable(value, viewer)


def readable(value: Mapping[str, Any], viewer: str | None) -> bool:
    """Whether `viewer` may see it: anything but other people's private memories."""
    return value.get("privacy") != "private" or viewer is None or value.get("owner") == viewer


def _ranked(items: list[SearchItem]) -> bool:
    """Whether the store ranks by meaning; what it did not index has no score all the same."""
    return not items or any(item.score is not None for item in items)


def _recall(request: RecallRequest, items: list[SearchItem]) -> Recall:
    ranked = _ranked(items)
    words = set(_WORD.findall(request.query.casefold()))
    results, lowest = [], request.options.get("min_score")
    found = [(item, memory) for item in items if _admits(request, memory := memory_of(item))]
    for item, memory in found:
        score = item.score if ranked else _overlap(words, memory.text)
        if score is not None and isinstance(lowest, int | float) and score < lowest:
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
            candidates={"search": len(found)},
        ),
    )


def _admits(request: RecallRequest, memory: Memory) -> bool:
    options, at = request.options, memory.valid_at or memory.created_at
    since, until, trust = options.get("since"), options.get("until"), options.get("trust")
    return (
        memory.kind in request.kinds
        and memory.key not in request.exclude
        and (options.get("include_demoted", True) or memory.priority != "archive")
        and shown_to(memory.value, request.viewer)
        and (trust is None or memory.trust in at_least(trust))
        and (since is None or at >= since)
        and (until is None or at < until)
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
