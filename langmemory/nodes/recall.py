"""RecallNode: recall memories for the conversation's last messages and put them into state."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter
from typing import Any, Literal, Unpack

from langchain_core.embeddings import Embeddings
from langchain_core.messages import AnyMessage
from langgraph.store.base import BaseStore, Item

from langmemory.arguments import one_of
from langmemory.context.citations import Citations
from langmemory.context.disclosure import DisclosureBudget, disclose
from langmemory.context.notes import EARLIER, note_of
from langmemory.context.tokens import DEFAULT_COUNTER, TokenCounter
from langmemory.context.turns import is_human
from langmemory.documents.project import BLOCK, BLOCK_PURPOSE, namespace_of
from langmemory.errors import ConfigError
from langmemory.messages import turn_key
from langmemory.namespaces import several
from langmemory.nodes.access import (
    RECALLED_KINDS,
    RecallRequest,
    StoreAccess,
    core_files_of,
    prompted,
)
from langmemory.nodes.conversation import (
    heard,
    latest_of,
    may_repeat,
    messages_of,
    speaker_of,
    stored_keys,
)
from langmemory.nodes.core_memory import BLOCKS, CoreBlock, CoreMemory, check_labels, render_core
from langmemory.nodes.namespaces import NamespaceTemplate, RunScope, fill, viewer_of
from langmemory.nodes.node import MemoryNode
from langmemory.nodes.state import (
    INTERNAL,
    InternalState,
    RecalledMemory,
    RecallTrace,
    Voice,
    internal_of,
    value_of,
)
from langmemory.operations.conversing import conversing_of
from langmemory.recall.contentless import ENDS_AS_QUESTION, goes_on, is_idle
from langmemory.recall.neighbouring import goes_back
from langmemory.recall.question_extraction import extract_question
from langmemory.recall_options import OF_A_BLOCK, BlockOptions, RecallOptions, check_options
from langmemory.resources import NAMESPACE
from langmemory.steps import Steps, call, thread_call, together
from langmemory.types import Memory, Namespace, Recall, Trace

log = logging.getLogger(__name__)

TOPIC_SHIFT_DISTANCE = 0.7
"""Cosine distance (0..2) between a turn and the topic at the last fresh recall, above which the
topic is another. With the embedded model, pairs of questions on one topic were .15-.6 apart, on two
topics .8-1.03 (6 pairs of our own, and each with the others)."""

QUERY_WORDS = 6
"""A shorter last message ("and hers?") is read together with the ones before it."""

QUERY_MESSAGES = 3
"""At most so many messages of the person make up the query."""


ASKED_FOR = "asked_for"
"""Part of the score of how the viewer asked to be answered, which applies to every answer."""

Documents = tuple[str, ...] | Sequence[tuple[str, ...]] | Literal["auto"] | None
"""Which documents a node asks beside what was said, see `RecallNode`."""


class NodeOptions(BlockOptions, total=False):
    """Options that a middleware or a graph passes on to its `RecallNode`."""

    documents: Documents


TASK_NAMED = "task_named"
"""Part of the score of a procedure whose task the query names."""

NOTHING_SAID = Recall(query="", results=(), trace=Trace())
"""The empty recall of a run without a query: a picture without words, a run nobody speaks in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Question:
    """The question to the store, as the node reads it from the state."""

    request: RecallRequest
    quiet: bool
    """Whether the person's last message asks for nothing: what was recalled before is kept, unseen."""
    topic: str
    earlier: list[RecalledMemory]
    """Recalled before in this thread, in the namespace of this run."""
    window: Sequence[AnyMessage]
    """The messages of the conversation that the model will see."""
    repeats: str | None
    """A thread whose messages may be stored under other ids than they have now."""
    message_speakers: list[Voice]
    asked: str | None
    """Key of the person's last message. Where it is stored, it was answered before: what was said
    after it then is of a branch that somebody left, by asking for another answer."""
    fork: _Fork | None
    internal: InternalState
    discarded_branches: list[str]
    """Keys of what was said in branches of the thread that somebody left."""

    def without(self, keys: Iterable[str]) -> _Question:
        request = self.request
        options: RecallOptions = {**request.options, "exclude": {*request.exclude, *keys}}
        return replace(self, request=replace(request, options=options))

    def without_repeats(self, stored: Sequence[Item]) -> _Question:
        """Turns of this thread in the window are left out, whatever their ids are now."""
        keys = stored_keys(self.window, stored, latest_of(self.window))
        return self.without(filter(None, keys))

    def leaving(self, fork: _Fork, keys: Iterable[str]) -> _Question:
        known = fork.here.union(self.discarded_branches)
        left = [key for key in keys if key not in known]
        return replace(self.without(left), discarded_branches=[*self.discarded_branches, *left])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Fork:
    """The run goes on from a checkpoint that the caller named: what was stored of the thread after
    that is of a branch that somebody left, by editing a message, say."""

    thread: str
    after: str | None
    """Key of the last message that was stored at that checkpoint."""
    here: frozenset[str]
    """Keys of the messages of this branch."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    """The answers of the store."""

    recall: Recall
    mandates: list[Memory]
    requests: list[Memory]
    """How the viewer has asked to be answered."""
    procedures: list[Memory]
    """Those whose task the query names."""
    core: str
    """The core blocks as text."""
    topic_distance: float | None
    standing: list[Item]
    """The memories recalled earlier that may still be shown."""


class RecallNode(MemoryNode):
    """Recall memories for the last messages and write them into state, ready for the prompt.

    The memory block has mandates, the viewer's requests for answers ("in German"), this turn's
    memories, and memories recalled earlier on the same topic, if they are unchanged and the viewer may
    read them. It leaves out turns of this thread that are still in the window, an answer that is being
    replaced, and turns of an abandoned branch. When the topic shifts, the block starts anew. Core
    blocks are always written beside it. A run without words searches for nothing: its block has
    mandates, requests and earlier memories. If nothing fits, there is no block.

    Args:
        namespace: template of the namespace to read (a prefix: sub-namespaces are included).
        store: the store; None takes the graph's.
        viewer: template of the person whose private memories may be shown, besides public and shared
            ones; None is the application, which sees everything in the namespace.
        documents: namespace of documents to search as well, exactly this one, or several; labels may
            have variables. "auto" is ``("documents",)`` and the namespace of the current project,
            unless the store is a plain or a remote one; None searches none. See `RecallOptions`.
        budget: tokens of the memory block, in all or by tier; None is 400 in all.
        core: labels of the core blocks and what belongs in each; empty for none.
        project: template of the current project (`MemoryStore.projects`), whose core block is added to
            the others; None for none.
        topic_shift: cosine distance, 0..2, see `TOPIC_SHIFT_DISTANCE`.
        messages_key: state key of the messages.
        visible_key: state key of the messages that the model saw last time, if not the same.
        citations: ``off`` leaves the ids of memories out of the block.
        token_counter: counts the memory block.
        options: options of recall and of the block, see `BlockOptions`.

    State it writes:
        ``memory_block``: text, tokens, entries and omitted memories (`MemoryBlock.as_state`).
        ``core_memory``: the core blocks as text.
        ``recalled``: the memories of the block, best first, with their scores.
        ``recall_trace``: query, topic, counts, milliseconds, failures.
        ``memory_internal``: the nodes' own state.
    """

    def __init__(
        self,
        namespace: str | tuple[str, ...] | NamespaceTemplate = ("memories", "{user_id}"),
        *,
        store: BaseStore | None = None,
        viewer: str | None = "{user_id|}",
        documents: Documents = "auto",
        budget: DisclosureBudget | int | None = None,
        core: Mapping[str, str] = BLOCKS,
        project: str | None = "{project|}",
        topic_shift: float = TOPIC_SHIFT_DISTANCE,
        messages_key: str = "messages",
        visible_key: str | None = None,
        citations: Citations = "strip",
        token_counter: TokenCounter = DEFAULT_COUNTER,
        name: str = "recall",
        **options: Unpack[BlockOptions],
    ) -> None:
        super().__init__(namespace, store=store, name=name)
        self.options: RecallOptions = check_options(
            {"min_score": OF_A_BLOCK["min_score"], **options}, BlockOptions
        )
        if self.options.get("kinds") is None:
            self.options["kinds"] = RECALLED_KINDS
        self.viewer = viewer
        self.documents = _checked(documents)
        self.budget = budget
        self.core = check_labels(core)
        self.project = project
        self.topic_shift = topic_shift
        self.messages_key = messages_key
        self.visible_key = visible_key
        self.citations = one_of("citations", citations, Citations)
        self.token_counter = token_counter

    def _steps(self, state: Any, store: BaseStore, scope: RunScope) -> Steps[dict[str, Any]]:
        access, begun = StoreAccess(store), perf_counter()
        messages = messages_of(state, self.messages_key)
        scope = yield from self._in_thread(access, scope, messages, self.viewer)
        project = self._project(scope)
        question = self._prepare(state, store, scope, self._documents(store, scope, project))
        place = question.request.namespace
        if question.repeats:
            stored = yield from access.thread_steps(place, question.repeats)
            question = question.without_repeats(stored)
        if question.asked:
            again = yield from access.said_after(place, question.asked)
            question = question.without(again)
        if (fork := question.fork) is not None:
            left = yield from access.said_since(place, fork.thread, fork.after)
            question = question.leaving(fork, left)
        request = question.request
        # Together: a store or an embedder behind a network is waited for once, not six times.
        (recall, distance), mandates, requests, procedures, core, standing = yield together(
            self._compared(access, store, question),
            access.mandates(place, request.viewer),
            access.requests(place),
            access.procedures(request),
            self._core(CoreMemory(store, place, labels=self.core), project),
            access.standing(question.earlier, request.viewer),
        )
        answer = _Answer(
            recall=recall,
            mandates=mandates,
            requests=requests,
            procedures=procedures,
            core=core,
            topic_distance=distance,
            standing=standing,
        )
        written = self._apply(question, answer)
        if self.options.get("counted", True):
            yield from prompted(store, request, written["memory_block"], perf_counter() - begun)
        return written

    def _compared(
        self, access: StoreAccess, store: BaseStore, question: _Question
    ) -> Steps[tuple[Recall, float | None]]:
        """Return what is recalled, and how far the query is from the topic before."""
        request = question.request
        if not request.query:
            return NOTHING_SAID, None
        recall = access.recall_steps(request)
        distance = topic_distance(store, question.topic, request.query)
        if conversing_of(store) is None:
            found, far = yield together(recall, distance)
            return found, far
        # In turn: recalling, the store keeps the query's vector, and it has the topic's.
        return (yield from recall), (yield from distance)

    def _core(self, core: CoreMemory, project: Namespace | None) -> Steps[str]:
        """Return the core blocks as text, those that are bound to files as these are now, and that of the
        project at hand."""
        if self.core and core_files_of(core.store) is not None:
            core = yield thread_call(core.with_files)
        blocks: list[CoreBlock] = yield call(core, "blocks")
        if project is None:
            return render_core(blocks, core.labels)
        of_project: list[CoreBlock] = yield call(
            CoreMemory(core.store, project, labels={BLOCK: BLOCK_PURPOSE}), "blocks"
        )
        if not any(block.content for block in of_project):  # or "project" means something else here
            log.warning("project_unknown")
        return render_core([*blocks, *of_project], {BLOCK: BLOCK_PURPOSE, **core.labels})

    def _project(self, scope: RunScope) -> Namespace | None:
        """Return the namespace of the project at hand."""
        name = fill(self.project, scope).strip() if self.project else ""
        return namespace_of(name) if name else None

    def _documents(
        self, store: BaseStore, scope: RunScope, project: Namespace | None
    ) -> tuple[Namespace, ...]:
        """Return where the documents are that are asked in this run."""
        if self.documents == "auto":
            if conversing_of(store) is None:
                return ()
            return ((NAMESPACE,),) if project is None else (project, (NAMESPACE,))
        return tuple(one.resolve(scope) for one in self.documents)

    def _prepare(
        self, state: Any, store: BaseStore, scope: RunScope, documents: tuple[Namespace, ...]
    ) -> _Question:
        messages = messages_of(state, self.messages_key)
        window = in_window(
            messages, value_of(state, self.visible_key) if self.visible_key else None
        )
        internal = internal_of(state)
        discarded_branches = internal.get("discarded_branches", [])
        remembered = internal.get("remembered_id")
        options: RecallOptions = {
            **self.options,
            "exclude": {*_keys(window, scope), *discarded_branches},
            "of_block": True,
            "include_demoted": False,
            "documents": documents or None,
        }
        if options["min_score"] == "auto" and (local := conversing_of(store)) is not None:
            options["min_score"] = local.min_score
        gated = options["min_score"] == "auto"
        request = RecallRequest(
            query=query_of(messages, idle=not gated),
            namespace=self.namespace.resolve(scope),
            viewer=viewer_of(self.viewer, scope),
            options=options,
        )
        return _Question(
            request=request,
            quiet=gated and says_nothing(messages),
            topic=value_of(state, "recall_trace", {}).get("topic", ""),
            earlier=[
                entry
                for entry in value_of(state, "recalled", [])
                if tuple(entry["namespace"][: len(request.namespace)]) == request.namespace
                or tuple(entry["namespace"]) in documents
            ],
            window=window,
            repeats=scope.thread_id if may_repeat(remembered, messages) else None,
            asked=(
                turn_key(scope.thread_id, messages[-1].id)
                if scope.thread_id and messages and is_human(messages[-1]) and messages[-1].id
                else None
            ),
            fork=(
                _Fork(
                    thread=scope.thread_id,
                    after=turn_key(scope.thread_id, remembered) if remembered else None,
                    here=_keys(messages, scope),
                )
                if scope.thread_id and scope.from_checkpoint
                else None
            ),
            discarded_branches=discarded_branches,
            message_speakers=heard(
                internal.get("message_speakers", []), messages, speaker_of(scope)
            ),
            internal=internal,
        )

    def _apply(self, question: _Question, answer: _Answer) -> dict[str, Any]:
        distance = answer.topic_distance
        asked = bool(question.request.query)
        shifted = asked and (distance is None or distance > self.topic_shift)
        always = _once(
            [
                *map(entry_of, answer.mandates),
                # To whoever asked for it, and to nobody else, it is more than background.
                *(
                    entry_of(replace(memory, priority="guardrail"), 1.0, {ASKED_FOR: 1.0})
                    for memory in answer.requests
                ),
                *(entry_of(memory, 1.0, {TASK_NAMED: 1.0}) for memory in answer.procedures),
            ]
        )
        fresh = [entry_of(one.memory, one.score, one.parts) for one in answer.recall.results]
        now = _once([*always, *fresh])
        earlier = [] if shifted else _still(question, answer.standing)
        limit = max(question.request.limit, len(fresh))
        recalled = _once([*now, *earlier])[: len(always) + limit]
        block = disclose(
            always if question.quiet else recalled,
            budget=self.budget,
            query=question.request.query,
            ids=self.citations != "off",
            token_counter=self.token_counter,
        )
        found = answer.recall.trace
        trace: RecallTrace = {
            "query": question.request.query,
            "topic": question.request.query if shifted else question.topic,
            "topic_distance": None if distance is None else round(distance, 3),
            "topic_shift": shifted,
            "recalled_now": len(fresh),
            "kept_from_before": len(recalled) - len(now),
            "shown": len(block.entries),
            "candidates": dict(found.candidates),
            "milliseconds": {name: round(ms, 2) for name, ms in found.milliseconds.items()},
            "degraded": list(found.degraded),
            "questions": dict(found.questions),
        }
        return {
            "memory_block": block.as_state(),
            "core_memory": answer.core,
            "recalled": recalled,
            "recall_trace": trace,
            INTERNAL: {
                **question.internal,
                "message_speakers": question.message_speakers,
                "discarded_branches": question.discarded_branches,
            },
        }


def _checked(documents: Documents) -> tuple[NamespaceTemplate, ...] | Literal["auto"]:
    """Return the templates of the namespaces of documents.

    Raises:
        ConfigError: It is none.
    """
    if documents == "auto":
        return "auto"
    if documents is None:
        return ()
    if isinstance(documents, str):
        raise ConfigError(
            f'documents is {documents!r}; pass a namespace as ("{documents}",), "auto", or None for none.'
        )
    return tuple(map(NamespaceTemplate, several(documents)))


def _still(question: _Question, standing: Iterable[Item]) -> list[RecalledMemory]:
    """Return the memories recalled earlier that are unchanged and may be shown again."""
    unchanged = {(*item.namespace, item.key, item.updated_at.isoformat()) for item in standing}
    return [
        entry
        for entry in question.earlier
        if (*entry["namespace"], entry["key"], entry.get("updated_at")) in unchanged
        and entry["key"] not in question.request.exclude
        # Somebody else may ask now; theirs were looked up.
        and ASKED_FOR not in entry.get("parts", {})
    ]


def _keys(messages: Iterable[AnyMessage], scope: RunScope) -> frozenset[str]:
    """Under which the messages are stored."""
    if scope.thread_id is None:
        return frozenset()
    return frozenset(turn_key(scope.thread_id, one.id) for one in messages if one.id)


def says_nothing(messages: Sequence[AnyMessage]) -> bool:
    """Whether the person's last message is idle, and does not answer a question of the assistant."""
    last = next((at for at in reversed(range(len(messages))) if is_human(messages[at])), None)
    if last is None or not messages[last].text.strip() or not _asks_nothing(messages[last].text):
        return False
    before = next((one.text for one in reversed(messages[:last]) if one.text.strip()), "")
    return not ENDS_AS_QUESTION.search(before)


def _asks_nothing(text: str) -> bool:
    """Whether a message is idle, and no question that goes on from the one before ("And hers?")."""
    return is_idle(text) and not goes_on(text) and not goes_back(text)


def query_of(messages: Sequence[AnyMessage], *, idle: bool = False) -> str:
    """Return the query: the person's last message, with those before it while it is very short; messages
    that ask for nothing only with ``idle``, and nothing where the last is one."""
    texts = [m.text for m in reversed(messages) if is_human(m) and m.text.strip()]
    if not idle:
        if texts and _asks_nothing(texts[0]):
            return ""
        texts = [text for text in texts[: 2 * QUERY_MESSAGES] if not _asks_nothing(text)]
    said = (extract_question(text).strip() for text in texts)
    query: list[str] = []
    for text in islice(filter(None, said), QUERY_MESSAGES):
        query.insert(0, text)
        if len(" ".join(query).split()) >= QUERY_WORDS and not goes_back(text):
            break
    return "\n".join(query)


def in_window(
    messages: Sequence[AnyMessage], shown: Sequence[AnyMessage] | None
) -> Sequence[AnyMessage]:
    """Which of `messages` the model will see: what it was `shown` last time and all that is newer;
    all of them when nothing is known."""
    ids = {message.id for message in shown or ()}
    last = max((at for at, message in enumerate(messages) if message.id in ids), default=-1)
    return [m for at, m in enumerate(messages) if last < at or m.id in ids]


def entry_of(
    memory: Memory, score: float | None = None, parts: Mapping[str, float] | None = None
) -> RecalledMemory:
    """A memory as plain JSON for the state, as `langmemory.context` reads it."""
    note = note_of(memory)
    return {
        "namespace": list(memory.namespace),
        "key": memory.key,
        "kind": memory.kind,
        "priority": memory.priority,
        "importance": memory.importance,
        "valid_at": None if memory.valid_at is None else memory.valid_at.isoformat(),
        "trust": memory.trust,
        "is_fact": note.is_fact,
        "validity": note.validity,
        "source": note.source,
        "is_procedure": note.is_procedure,
        "record": note.record,
        "discovery_tokens": note.discovery_tokens,
        "earlier": note.earlier or bool((parts or {}).get(EARLIER)),
        "speaker": memory.speaker,
        "text": memory.text,
        "updated_at": memory.updated_at.isoformat(),
        "score": None if score is None else round(score, 4),
        "parts": {name: round(part, 4) for name, part in (parts or {}).items()},
    }


def _once(entries: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    """Entries in order, each memory at its first place only."""
    found: dict[tuple[str, ...], RecalledMemory] = {}
    for entry in entries:
        found.setdefault((*entry["namespace"], entry["key"]), entry)
    return list(found.values())


def topic_distance(store: BaseStore, topic: str, query: str) -> Steps[float | None]:
    """Return the cosine distance, 0..2, of two texts; None when there is no telling: no topic yet, no
    embedder, or one that fails. Every turn is then a topic of its own."""
    embeddings = getattr(store, "embeddings", None)  # LangGraph's stores have it, and ours
    if not topic or not isinstance(embeddings, Embeddings):
        return None
    distance: float | None = None
    if (facets := conversing_of(store)) is not None:  # knows the vectors of what it was asked last
        distance = yield call(facets, "distance", topic, query)
        return distance
    try:
        vectors = yield call(embeddings, "embed_documents", [topic, query])
        return cosine_distance(*vectors)
    except Exception as error:  # anybody's embedder, any failure: recall must go on
        log.warning("topic_distance_failed error=%s", type(error).__name__)
        return None


def cosine_distance(a: Sequence[float], b: Sequence[float]) -> float:
    """1 - cosine, 0..2; 1 when either vector is zero."""
    norm = math.hypot(*a) * math.hypot(*b)
    return 1.0 - math.fsum(x * y for x, y in zip(a, b, strict=True)) / norm if norm else 1.0
