"""RememberNode: store messages word for word, before facts are derived from them.

Beside it the outcomes of procedures (`record_outcomes`): a procedure that stood in the memory block was
followed where an answer cites it, or where the tools of at least half of its steps were called. It failed
where the last call of such a tool failed, or where the person's next words correct what was done.
"""

from __future__ import annotations

import logging
import uuid
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final, Protocol, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.store.base import BaseStore

from langmemory.answers import calls_in_text
from langmemory.citing import digest
from langmemory.context.citations import Usage, successes, usage
from langmemory.context.disclosure import MemoryBlock
from langmemory.context.marking import is_injected, text_of
from langmemory.errors import ConfigError, InvalidValueError
from langmemory.formation.procedures.runs import Call, calls_of
from langmemory.languages import is_correction
from langmemory.messages import turns_of
from langmemory.nodes.access import (
    UNNAMED,
    Conversation,
    StoreAccess,
    seen_by,
)
from langmemory.nodes.conversation import (
    Thread,
    latest_of,
    may_repeat,
    messages_of,
    place_after,
    speaker_of,
    spoken,
    stored_keys,
    with_answer_of_tools,
    without_stored,
)
from langmemory.nodes.namespaces import NamespaceTemplate, RunScope, viewer_of
from langmemory.nodes.node import MemoryNode
from langmemory.nodes.state import Followed, internal_of, value_of, with_internal
from langmemory.procedures import KEYS, Outcome, Procedure, names_tool
from langmemory.redaction import Redactor, log_redacted, redact_text, redactor_of
from langmemory.steps import Steps, thread_call
from langmemory.stores.face import AwareStore
from langmemory.types import Namespace, Privacy
from langmemory.values import whole_characters

FOLLOWED_SHARE: Final = 0.5
"""Share of the steps whose tools were called, from which a procedure was followed."""
CORRECTED: Final = "the person corrected it"


class ProcedureRoom(Protocol):
    """`store.procedures`, here or on a server."""

    def get(self, namespace: Namespace, key: str) -> Procedure | None: ...

    def record_outcome(
        self,
        namespace: Namespace,
        key: str,
        outcome: Outcome,
        *,
        why: str = "",
        revises: Outcome | None = None,
    ) -> Procedure: ...


def record_outcomes(
    room: ProcedureRoom,
    messages: Sequence[BaseMessage],
    block: Mapping[str, Any] | None,
    before: Sequence[Followed],
) -> list[Followed]:
    """Record what came of procedures, and return those that this run followed.

    Args:
        room: Where they are kept.
        messages: The conversation, up to the end of the run.
        block: The memory block that the run was shown, as it is in state.
        before: What this returned before.
    """
    run = _run(messages)
    if not run:
        return list(before)
    asked = _name(messages, run[0])
    if any(one["asked"] == asked for one in before):  # this run was judged before
        return list(before)
    kept = [one for one in before if one["outcome"] != "failed"]
    if kept and is_correction(str(run[0].text)):
        for one in kept:
            _record(room, one, "failed", CORRECTED, revises=one["outcome"])
    found: list[Followed] = []
    for procedure, cited in _shown(room, block, run):
        outcome, why, is_followed = judged(procedure, calls_of(run))
        if not (is_followed or cited):
            continue
        used = Followed(
            namespace=list(procedure.namespace), key=procedure.key, outcome=outcome, asked=asked
        )
        if outcome is not None:
            _record(room, used, outcome, why)
        found.append(used)
    return found


def judged(procedure: Procedure, calls: Sequence[Call]) -> tuple[Outcome | None, str, bool]:
    """Return the outcome of a procedure by the calls of a run, why, and whether the calls follow it."""
    last = {one.tool: one for one in calls if one.failed is not None}
    by_step = [[tool for tool in last if names_tool(step, tool)] for step in procedure.steps]
    done = [tools for tools in by_step if tools]
    if not done:
        return None, "", False
    failed = next((tool for tools in done for tool in tools if last[tool].failed), None)
    follows = len(done) >= FOLLOWED_SHARE * len(procedure.steps)
    if failed is not None:
        return "failed", f"the tool {failed} failed", follows
    return "succeeded", "", follows


def _shown(
    room: ProcedureRoom, block: Mapping[str, Any] | None, run: Sequence[BaseMessage]
) -> Iterable[tuple[Procedure, bool]]:
    """Yield the procedures of a block, and whether an answer of the run cites each."""
    if block is None or not any(one["key"].startswith(KEYS) for one in block["entries"]):
        return
    answers = [one for one in run if isinstance(one, AIMessage)]
    for one in usage(answers, MemoryBlock.from_state(block)):
        if one["key"].startswith(KEYS):
            found = room.get(tuple(one["namespace"]), one["key"])
            if found is not None and found.status == "active":
                yield found, bool(one["referenced"])


def _record(
    room: ProcedureRoom, used: Followed, outcome: Outcome, why: str, revises: Outcome | None = None
) -> None:
    try:
        room.record_outcome(
            tuple(used["namespace"]), used["key"], outcome, why=why, revises=revises
        )
    except ConfigError:  # it was deleted meanwhile
        return


def _run(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the person's last message and what follows it."""
    for at in range(len(messages) - 1, -1, -1):
        if isinstance(messages[at], HumanMessage) and not is_injected(messages[at]):
            return list(messages[at:])
    return []


def _name(messages: Sequence[BaseMessage], last: BaseMessage) -> str:
    """Return a name for the person's last message: its id, else its words and place."""
    place = sum(isinstance(one, HumanMessage) for one in messages)
    return cast("str", last.id) or digest((str(place),), str(last.text))[:16]


log = logging.getLogger(__name__)

NO_WORDS = zlib.crc32(b"")
"""Checksum of a message that said nothing yet: a picture without a caption, a recording before somebody
wrote down what it says."""


class ReflectionQueue(Protocol):
    """A queue of new turns for reflection; it returns at once. A repeated run submits its conversation
    again, without keys for turns that the first run stored."""

    def submit(self, namespace: Namespace, /, *, thread_id: str, keys: Sequence[str]) -> object: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class _Said:
    """The messages of a run that are to be remembered."""

    thread: Thread
    conversation: Conversation
    viewer: str | None
    """Whose run it is, see `viewer_of`."""
    turns: list[BaseMessage]
    """Those not known to be stored."""
    edited: list[BaseMessage]
    """Those stored that the person edited since."""
    latest: frozenset[str | None]
    """Ids of the person's last message and what follows it. Only there does the thread know better
    than the store: what is stored of earlier turns a person may have corrected since."""
    others: list[str]
    """Ids of turns that wait for a run of somebody else."""
    may_repeat: bool
    """Whether some of the turns may be stored under other ids."""
    redacted: dict[str | None, Mapping[str, int]]
    """By message id, how many passages were replaced in its text, by kind."""


class RememberNode(MemoryNode):
    """Store the thread's new turns verbatim and synchronously, then enqueue their reflection.

    It stores messages of people and of the assistant, and leaves out tool output and text that memory
    or LangChain's middleware injected. Tool results at the end of the messages are the answer: of a
    tool that returns directly, or a structured answer. So place the node at the end of the run, not
    between tools and model. Repeating a turn adds nothing, even if a client without a checkpointer
    sends the whole conversation with every call. A message with its old id and new words is corrected;
    without a checkpointer only the person's last one.

    Args:
        namespace: template of the namespace to write to.
        store: the store; None takes the graph's.
        owner: template of the owner of the conversation; None for no owner.
        privacy: who may recall it if several people share a namespace: with ``private`` only its owner.
        reflection: the queue for new turns: a `ReflectionExecutor` or `TurnQueue`.
        messages_key: state key of the messages.
        redact: replaces credentials before a turn is stored, for a store that does not do so itself: a
            function of the text, True for `langmemory.redaction`'s, False for none. A
            `MemoryStore` has its own ``redact``.

    State it writes:
        ``memory_usage``: which memories of the block the answers cited (`citations.usage`), and which of
            these answers were right, as each is until the person corrects it. A `MemoryStore` keeps the
            totals over all threads (`Admin.usage`).
        ``redacted``: counts of replaced passages in the last stored turns, by kind.
        ``memory_internal``: what of the thread is safely stored, what the last answer cited, and which
            procedures the run followed (`langmemory.nodes.remember`). A node
            for another namespace, as a graph within the graph may have, asks the store for it.
    """

    def __init__(
        self,
        namespace: str | tuple[str, ...] | NamespaceTemplate = ("memories", "{user_id}"),
        *,
        store: BaseStore | None = None,
        owner: str | None = "{user_id|}",
        privacy: Privacy = "shared",
        reflection: ReflectionQueue | None = None,
        messages_key: str = "messages",
        redact: Redactor | bool = True,
        name: str = "remember",
    ) -> None:
        super().__init__(namespace, store=store, name=name)
        self.redactor = redactor_of(redact)
        self.owner = owner
        self.privacy = privacy
        if reflection is not None and not hasattr(reflection, "submit"):
            raise ConfigError(
                f"reflection is a {type(reflection).__name__}; pass ReflectionExecutor(graph, "
                f"store=…), which does the work in this process, or TurnQueue()."
            )
        self.reflection = reflection
        self.messages_key = messages_key
        self._where = "/".join(self.namespace.labels)

    def _steps(self, state: Any, store: BaseStore, scope: RunScope) -> Steps[dict[str, Any]]:
        access = StoreAccess(store, self.redactor)
        messages = messages_of(state, self.messages_key)
        scope = yield from self._in_thread(access, scope, messages, self.owner)
        said = self._said(state, scope, access.redactor)
        if said is None:
            return {}
        new, own = said.turns, said.conversation
        if said.may_repeat:
            stored = yield from access.thread_steps(own.namespace, own.thread_id)
            known = stored_keys(said.turns, stored, said.latest)
            new = [turn for turn, key in zip(said.turns, known, strict=True) if key is None]
            # A graph within a graph has forgotten whose turns were, and the thread may be several
            # people's.
            if self.namespace.varies and new and new[0].id not in said.latest:
                everybodys = yield from access.thread_steps(self.namespace.fixed, own.thread_id)
                ours = (item for item in everybodys if self.namespace.fits(item.namespace))
                new = without_stored(new, ours)
        keys: list[str] = []
        for whose, turns in self._parts(said, new):
            keys += yield from access.remember_steps(whose, _plain(turns))
        keys += yield from access.correct(own, _plain(_changed(said, keys)), keys)
        # Not on the loop, where the queue would not wait until the job is in the file.
        update: dict[str, Any] = yield thread_call(self._apply, state, store, said, new, keys)
        return update

    def _said(self, state: Any, scope: RunScope, redactor: Redactor | None) -> _Said | None:
        """The turns after the last one known to be stored, all of them when that one is gone, and those
        before it that had no words until now. Unless what is said here is everybody's, those that
        somebody else's run brought wait for a run of theirs. None where there is nothing to remember."""
        messages = with_answer_of_tools(state, messages_of(state, self.messages_key))
        thread = Thread.of(
            messages, internal_of(state).get("message_speakers", []), speaker_of(scope)
        )
        own_ids, last = thread.own_ids, self._known(state, "remembered_id")
        known = self._known(state, "remembered_words", {})
        wordless = (id for id in known if known[id] == NO_WORDS)
        waiting = {*self._known(state, "pending_messages", []), *wordless}
        start = place_after(messages, last)
        turns: list[BaseMessage] = [
            message
            for at, message in enumerate(messages)
            if (at >= start or message.id in waiting) and is_said(message)
        ]
        edited: list[BaseMessage] = [
            message
            for message in messages
            if message.id in known
            and known[message.id] != _digest(message)
            and message.id in own_ids
            and is_said(message)
        ]
        others: list[str] = []
        if self.namespace.varies or self.privacy == "private":
            theirs = [one.id for one in turns if one.id not in own_ids and one.id not in known]
            others = list(map(str, theirs))
            turns = [message for message in turns if message.id in own_ids]
        if not turns and not edited:
            return None
        counts: dict[str | None, Mapping[str, int]] = {}
        return _Said(
            thread=thread,
            conversation=self._conversation(scope),
            viewer=viewer_of(self.owner, scope),
            turns=[_redacted(turn, redactor, counts) for turn in turns],
            edited=[_redacted(turn, redactor, counts) for turn in edited],
            redacted=counts,
            latest=latest_of(messages),
            others=others,
            may_repeat=bool(scope.thread_id) and may_repeat(last, messages),
        )

    def _conversation(self, scope: RunScope) -> Conversation:
        """A run without a thread that goes on with none known is a conversation of its own."""
        owner = viewer_of(self.owner, scope) or None
        if owner is None and self.privacy == "private":
            raise ConfigError(
                f"{self.name!r} remembers privately, but the run says not for whom: pass what "
                f"owner={self.owner!r} needs, in its context or configurable"
            )
        return Conversation(
            namespace=self.namespace.resolve(scope),
            thread_id=scope.thread_id or f"{UNNAMED}{uuid.uuid4()}",
            owner=owner,
            privacy=self.privacy,
        )

    def _parts(
        self, said: _Said, turns: list[BaseMessage]
    ) -> Iterator[tuple[Conversation, list[BaseMessage]]]:
        """The turns in order, each part with whose it is: where what is said is everybody's, that may
        be somebody whose run failed, and to whom it belongs then, too."""
        messages, who = said.thread.messages, said.thread.who
        said_for = dict(zip([one.id for one in messages], said.thread.speakers, strict=True))
        for speaker, part in groupby(turns, lambda turn: said_for.get(turn.id, who)):
            if self.namespace.varies or speaker == who:
                yield said.conversation, list(part)
            else:
                theirs = speaker or None if said.conversation.owner == who else None
                yield replace(said.conversation, owner=theirs), list(part)

    def _apply(
        self,
        state: Any,
        store: BaseStore,
        said: _Said,
        turns: list[BaseMessage],
        keys: list[str],
    ) -> dict[str, Any]:
        """Return the update of the state for turns that are stored now, under these keys where they are
        new or have other words."""
        # Without keys, too: an attempt before this one may have failed between storing and this.
        if self.reflection is not None:
            self.reflection.submit(
                said.conversation.namespace, thread_id=said.conversation.thread_id, keys=keys
            )
        messages = said.thread.messages
        words = self._words(state, messages, [*turns, *said.edited], said.others)
        told = _told(state, said, turns)
        if not turns:
            return {**told, **with_internal(state, remembered_words=words)} if said.edited else {}
        uncounted = self._uncounted(state, messages, turns)
        counts, cited = _counted(state, uncounted) if uncounted else ([], None)
        seen = seen_by(store, said.viewer)
        if counts and isinstance(seen, AwareStore):
            seen.admin.count_usage(counts)
        followed = self._followed(state, seen) if uncounted else []
        kept: dict[str, Any] = {
            **({"followed": followed} if followed or internal_of(state).get("followed") else {}),
            "remembered_id": self._last(state, messages, turns),
            "remembered_words": words,
            "remembered_in": self._where,
        }
        if cited is not None:
            kept["cited"] = cited
        if said.others or internal_of(state).get("pending_messages"):
            kept["pending_messages"] = said.others
        usage_update = {} if cited is None else {"memory_usage": counts}
        return {**usage_update, **told, **with_internal(state, **kept)}

    def _followed(self, state: Any, seen: BaseStore) -> list[Followed]:
        """Record what came of the procedures in the block; return those that this run followed."""
        room = getattr(seen, "procedures", None)
        if room is None:
            return []
        messages = with_answer_of_tools(state, messages_of(state, self.messages_key))
        before = internal_of(state).get("followed", [])
        return record_outcomes(room, messages, value_of(state, "memory_block"), before)

    def _words(
        self,
        state: Any,
        messages: list[AnyMessage],
        stored: list[BaseMessage],
        others: list[str],
    ) -> dict[str, int]:
        """By message id, what the messages of the thread said when they were stored."""
        known = self._known(state, "remembered_words", {})
        now = {message.id for message in stored}
        words: dict[str, int] = {}
        for message in messages:
            id = message.id or ""
            if id in known and id not in now:
                words[id] = known[id]
            elif id and id not in others and _has_a_say(message):
                words[id] = _digest(message) if is_said(message) else NO_WORDS
        return words

    def _last(self, state: Any, messages: list[AnyMessage], turns: list[BaseMessage]) -> str | None:
        """Id of the last message that is stored now: the newest of these, or the one before, where
        these had waited."""
        stored = (self._known(state, "remembered_id"), turns[-1].id)
        return next((m.id for m in reversed(messages) if m.id in stored), turns[-1].id)

    def _uncounted(
        self, state: Any, messages: list[AnyMessage], turns: list[BaseMessage]
    ) -> list[BaseMessage]:
        """The turns whose citations no node with another namespace has counted: there is one block."""
        internal = internal_of(state)
        if internal.get("remembered_in", self._where) == self._where:
            return turns
        end = place_after(messages, internal.get("remembered_id"))
        counted = {message.id for message in messages[:end]}
        return [turn for turn in turns if turn.id not in counted]

    def _known(self, state: Any, name: str, default: Any = None) -> Any:
        """Return a value that the nodes keep, where it speaks of this namespace."""
        internal = internal_of(state)
        here = internal.get("remembered_in", self._where) == self._where
        found: Any = internal.get(name) if here else None
        return default if found is None else found


def _changed(said: _Said, keys: list[str]) -> list[BaseMessage]:
    """Messages that may say something else than what is stored of them: the edited ones, and the
    last that a client sent again, where not all of the turns were new."""
    if len(keys) >= len(said.turns):
        return said.edited
    last = said.latest & said.thread.own_ids
    return [*said.edited, *(turn for turn in said.turns if turn.id in last)]


def _redacted(
    turn: BaseMessage, redactor: Redactor | None, counts: dict[str | None, Mapping[str, int]]
) -> BaseMessage:
    """The turn as it may be stored; what was replaced in it is noted under its id."""
    text = text_of(turn)
    found = redact_text(text, redactor)
    if found.text == text:
        return turn
    counts[turn.id] = found.counts
    return turn.model_copy(update={"content": found.text})


def _told(state: Any, said: _Said, turns: list[BaseMessage]) -> dict[str, Any]:
    """Count the passages that were replaced in what is stored now, for the state and the log."""
    counts = Counter[str]()
    for turn in (*turns, *said.edited):
        counts.update(said.redacted.get(turn.id, {}))
    log_redacted(counts)
    return {"redacted": dict(counts)} if counts or value_of(state, "redacted") else {}


def _counted(state: Any, turns: list[BaseMessage]) -> tuple[list[Usage], list[Usage] | None]:
    """Return what these turns say about memories: which the answer was shown and cites, and, where the
    person corrects the answer before, that those it cited did not do well. An answer counts as right until
    it is corrected, so that the last one of a thread counts, too. Then what can still be taken back; None
    where memories were neither shown nor cited."""
    right = internal_of(state).get("cited", [])
    block = value_of(state, "memory_block")
    if not (right or block):
        return [], None
    counts: list[Usage] = []
    said = [turn.text for turn in turns if isinstance(turn, HumanMessage)]
    if said:
        counts = (
            [{**one, "succeeded": -1} for one in right] if any(map(is_correction, said)) else []
        )
        right = []
    if block:
        answers = [turn for turn in turns if isinstance(turn, AIMessage)]
        shown = usage(answers, MemoryBlock.from_state(block))
        new = successes(shown)
        counts, right = [*counts, *shown, *new], [*right, *new]
    return counts, right


def _digest(message: BaseMessage) -> int:
    """CRC-32 of its text, to see that it was edited; no guard against one made to collide."""
    return zlib.crc32(text_of(message).encode("utf-8", "surrogatepass"))


def _plain(turns: list[BaseMessage]) -> list[BaseMessage]:
    """Turns as they are to be remembered, answers as they were `spoken`."""
    return [
        _storable(
            turn.model_copy(update={"content": spoken(turn)})
            if isinstance(turn, AIMessage)
            else turn
        )
        for turn in turns
    ]


def _storable(turn: BaseMessage) -> BaseMessage:
    """The turn without what `remember` refuses. It is in the thread for good, where a refusal would
    end this run and every later one: half of an emoji that some client cut in two, or a ``timestamp``
    that is none of ours (seconds or ISO 8601)."""
    try:
        turns_of([turn], thread_id="-", at=None, now=datetime.now(UTC))
    except InvalidValueError as error:
        log.warning("turn_repaired message_id=%s error=%s", turn.id, type(error).__name__)
        whole = whole_characters(turn.text)
        ours = ("at", "timestamp")
        others = {
            key: turn.additional_kwargs[key] for key in turn.additional_kwargs if key not in ours
        }
        return turn.model_copy(update={"content": whole, "additional_kwargs": others})
    return turn


def is_said(message: BaseMessage) -> bool:
    """Return whether it is a message of a person or the assistant: text, not injected from memory, and not a
    tool call that a model wrote as its answer."""
    text = text_of(message).strip()
    is_call = isinstance(message, AIMessage) and bool(calls_in_text(text))
    return _has_a_say(message) and bool(text) and not is_call


def _has_a_say(message: BaseMessage) -> bool:
    """Whether it is a person's or the assistant's, with words or without: they may come yet."""
    return isinstance(message, HumanMessage | AIMessage) and not is_injected(message)
