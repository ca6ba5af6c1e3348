"""`store.bus`: context that agents share, whoever runs them, through the memory file."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Final, Unpack, get_args

from langmemory.arguments import check_agent, one_of, whole_number
from langmemory.changes import ChangeSet, Invalidate, OpenReview, SetStatus
from langmemory.declaring import operation, room
from langmemory.declaring.fields import (
    Agent,
    Cursor,
    Id,
    Ids,
    Keys,
    Limit,
    Number,
    Similarity,
    Summaries,
    Summary,
    Topic,
)
from langmemory.errors import ConfigError, InvalidValueError, MessageNotFoundError, OwnershipError
from langmemory.ledger import items, namespaces
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import run_in_write
from langmemory.ledger.filters import Condition
from langmemory.ledger.records import messages
from langmemory.ledger.values import from_us, to_us
from langmemory.namespaces import check_namespace
from langmemory.operations.changes import Changes
from langmemory.operations.core import Core
from langmemory.operations.cursors import Cursors, Sealer
from langmemory.parts.team.drafts import (
    SUMMARY_CHARACTERS,
    TOPIC_CHARACTERS,
    MessageOptions,
    drafted,
    new_id,
    recipient,
    text,
    texts,
)
from langmemory.parts.team.fits import fitting
from langmemory.steps import twin
from langmemory.types import (
    BusMessage,
    MessagePriority,
    MessageType,
    Namespace,
    Page,
    Privacy,
    SharedType,
    Subscription,
)

MIN_SIMILARITY: Final = 0.2
"""Of a query and a message that fits, with the embedded model: chosen on pairs of our own (decision 044)."""
BACKLOG: Final = 1_000
"""So many of the newest messages to all are looked at when an agent subscribes by a query."""


@room("bus", tag="Bus", agent="needed")
class Bus:
    """Messages between the agents of one namespace, as one of them sends and receives them.

    A message stays in the inbox of its recipient until that agent acknowledges it, its sender takes it
    back, or it expires. So it is delivered at least once, and survives a crash. What one agent sent is
    received in the order in which it was committed.
    """

    __slots__ = ("_core", "_viewer", "agent", "namespace")

    def __init__(
        self, core: Core, viewer: str | None, namespace: Namespace = (), agent: str | None = None
    ) -> None:
        """See `StoreFace.bus`."""
        self._core, self._viewer = core, viewer
        self.namespace = check_namespace(namespace, may_be_empty=agent is None)
        self.agent = None if agent is None else check_agent("agent", agent)

    # Sending.

    @operation("write", "POST /bus/messages")
    def share(
        self,
        summary: Summary,
        *,
        to: Agent | None = None,
        type: SharedType = "finding",
        **options: Unpack[MessageOptions],
    ) -> BusMessage:
        """Tell another agent, or all, what this one knows.

        Args:
            summary: What there is to know, in a sentence or two.
            to: Name of an agent, which need not have been there yet; None: all of the namespace, now and
                later, until the message expires.
            type: What kind of thing it is.
            options: See `MessageOptions`.

        Raises:
            InvalidValueError: An argument is wrong; nothing was sent.
            OwnershipError: A viewer would send something private to somebody else.
            EmbeddingError: An agent subscribed by a query, and the embedder failed; nothing was sent.
        """
        kind = one_of("type", type, SharedType)
        return self._send(self._drafted(kind, summary, to, options))

    ashare = twin(share)

    @operation("write", "POST /bus/requests")
    def request(
        self, question: Summary, *, to: Agent | None = None, **options: Unpack[MessageOptions]
    ) -> BusMessage:
        """Ask another agent, or all, something. Answers come to the inbox, each with the id of the request
        as ``reply_to``; `messages` lists them by it.

        Args and errors as of `share`.
        """
        return self._send(self._drafted("request", question, to, options))

    arequest = twin(request)

    @operation("write", "POST /bus/replies")
    def reply(
        self, message_id: Id, answer: Summary, **options: Unpack[MessageOptions]
    ) -> BusMessage:
        """Answer a message, so that its sender knows to what, and acknowledge it. What answers something
        private is as private.

        Raises:
            MessageNotFoundError: There is none of this id for this agent.
        """
        return self._send(self._drafted("reply", answer, None, options, reply_to=message_id))

    areply = twin(reply)

    @operation("write", "POST /bus/handoffs")
    def handoff(
        self,
        to: Agent,
        done: Summary,
        *,
        next_steps: Summaries = (),
        **options: Unpack[MessageOptions],
    ) -> BusMessage:
        """Hand work on to another agent, which takes it up when it starts next (`InboxNode`).

        Args:
            to: Name of the agent.
            done: What was done so far.
            next_steps: What is left to do, in order.
            options: See `MessageOptions`; ``memories`` are those the work needs.
        """
        steps = texts("next_steps", next_steps)
        return self._send(replace(self._drafted("handoff", done, to, options), next_steps=steps))

    ahandoff = twin(handoff)

    @operation("write", "POST /bus/invalidations")
    def invalidate(self, message_id: Id, *, reason: Summary, memories: Keys = ()) -> BusMessage:
        """Take back a message of this agent: nobody is given it any more, and whoever saw it is told why, by
        a message of the type ``invalidation``.

        Args:
            message_id: Its id.
            reason: Why it does not hold.
            memories: Keys of memories that may rest on it. Nothing is done to them but to open a review of
                each: whether it holds is for a person or a deep model to say.

        Returns:
            The message, now of the state ``invalidated``. Repeating it tells nobody twice.

        Raises:
            MessageNotFoundError: There is none of this id for this agent.
            OwnershipError: Another agent sent it.
            InvalidValueError: There is no such memory; nothing was done.
        """
        agent, keys = self._named(), texts("memories", memories)
        with self._core.engine.read() as snapshot:
            _, found = self._found(snapshot.connection, message_id)
            self._owners(snapshot.connection, keys)
        if found.sender != agent:
            raise OwnershipError(
                f"Message {message_id} is of {found.sender}, who alone takes it back. Share what you know "
                "instead, or answer it."
            )
        notice = self._drafted("invalidation", reason, None, {"priority": found.priority})
        if keys:
            self._ask_about(keys, found, notice.summary)

        def invalidated(connection: Connection) -> BusMessage:
            number, found = self._found(connection, message_id)
            if found.state != "invalidated":
                messages.invalidate(connection, number, to_us(notice.created_at))
                for receipt in found.receipts:
                    one = replace(
                        notice, id=new_id(), recipient=receipt.agent, reply_to=found.id,
                        topic=found.topic, owner=found.owner, privacy=found.privacy,
                    )  # fmt: skip
                    messages.insert(connection, one)
            return self._found(connection, message_id)[1]

        return run_in_write(self._core.engine, invalidated)

    ainvalidate = twin(invalidate)

    def _ask_about(self, keys: Sequence[str], message: BusMessage, reason: str) -> None:
        """Open a review of each memory; only once for a message."""
        # Others may read the question: what is private is not quoted.
        why = "" if message.privacy == "private" else f": {reason}"
        now = from_us(self._core.now_us())
        Changes(self._core, None).apply(
            ChangeSet(
                namespace=self.namespace,
                run_id=f"bus/{message.id}",
                kind="correction",
                reason="a message it may rest on was taken back",
                changes=tuple(
                    OpenReview(
                        id=f"bus/{message.id}/{number}",
                        about="message",
                        question=f"{message.sender} took back what this may rest on{why}. Does it hold?",
                        memories=(key,),
                        options={
                            "keep": (),
                            "invalidate": (Invalidate(key=key, invalid_at=now),),
                            "archive": (SetStatus(key=key, status="archived"),),
                        },
                    )
                    for number, key in enumerate(keys)
                ),
            )
        )

    def _drafted(
        self,
        type: MessageType,
        summary: str,
        to: str | None,
        options: MessageOptions,
        reply_to: str | None = None,
    ) -> BusMessage:
        """Return a message with its arguments checked, and without credentials."""
        privacy = options.get("privacy", "shared")
        return drafted(
            type, summary, to, options, reply_to=reply_to, sender=self._named(),
            namespace=self.namespace, owner=self._owner(options.get("owner"), privacy),
            redactor=self._core.redactor, at=from_us(self._core.now_us()),
        )  # fmt: skip

    def _send(self, draft: BusMessage) -> BusMessage:
        """Store a message, with the subscriptions that it fits."""
        core, engine = self._core, self._core.engine
        while True:
            with engine.read() as snapshot:
                message = self._settled(snapshot.connection, draft)
                queries = messages.queries(snapshot.connection, draft.namespace)
            fits: list[tuple[int, int]] = []
            if message.recipient is None:
                fits = fitting(core.indexing, {0: message}, queries)
            known = set(queries), [query for query, _ in fits]
            sent = run_in_write(engine, partial(self._stored, draft, *known))
            if sent is not None:
                return sent

    def _stored(
        self, draft: BusMessage, queries: Set[int], fits: Sequence[int], connection: Connection
    ) -> BusMessage | None:
        """Store a message that fits some of the queries; None where there are more by now."""
        if not messages.queries(connection, draft.namespace).keys() <= queries:
            return None
        message = self._settled(connection, draft)
        sent = self._sent_before(connection, message)
        if sent is not None:
            return sent
        messages.expire(connection, self._core.now_us())
        number = messages.insert(connection, message)
        messages.note_fits(connection, [(query, number) for query in fits])
        if message.reply_to is not None:
            self._note_done(connection, [message.reply_to])
        return message

    def _sent_before(self, connection: Connection, message: BusMessage) -> BusMessage | None:
        """Return the message that has this id already, if this agent sent it.

        Raises:
            InvalidValueError: Another did.
        """
        if not messages.is_taken(connection, message.id):
            return None
        try:
            _, found = self._found(connection, message.id)
        except MessageNotFoundError:
            found = None
        if found is None or (found.sender, found.type) != (message.sender, message.type):
            raise InvalidValueError(f"The id {message.id!r} is taken. Send it under another.")
        return found

    def _settled(self, connection: Connection, draft: BusMessage) -> BusMessage:
        """Return a message with what depends on others: to whom an answer goes, and that what speaks of
        something private is as private."""
        owners = self._owners(connection, draft.memories)
        if draft.reply_to is not None:
            _, about = self._found(connection, draft.reply_to)
            own = about.sender == draft.sender
            draft = replace(draft, recipient=about.recipient if own else about.sender)
            if about.privacy == "private":
                owners.add(about.owner)
        if draft.privacy == "private":
            owners.add(draft.owner)
        if len(owners) > 1:
            raise InvalidValueError(
                "The message would rest on what is private to several people, and nobody could read it. Send "
                "one for each."
            )
        return replace(draft, privacy="private", owner=owners.pop()) if owners else draft

    def _owners(self, connection: Connection, keys: Sequence[str]) -> set[str | None]:
        """Return whose private memories are among some.

        Raises:
            InvalidValueError: There is none of one of the keys.
        """
        found: set[str | None] = set()
        for key in keys:
            item = items.find(connection, self.namespace, key, viewer=self._viewer)
            if item is None:
                raise InvalidValueError(
                    f"There is no memory {key!r} in {'/'.join(self.namespace)}. Name one that is there, or "
                    "none."
                )
            row = connection.execute("SELECT privacy, owner FROM item WHERE id = ?", (item,))
            privacy, owner = row.fetchall()[0]
            if privacy == "private":
                found.add(owner)
        return found

    def _owner(self, owner: str | None, privacy: Privacy) -> str | None:
        viewer = self._viewer
        if viewer is None:
            return owner
        if owner not in (None, viewer):
            raise OwnershipError(
                f"This store is bound to the viewer {viewer!r}, not to {owner!r}. Leave the argument out."
            )
        if privacy == "private" and not viewer:
            raise OwnershipError("Somebody unknown owns nothing; send on behalf of a viewer.")
        return viewer or None

    # Receiving.

    @operation("read", "GET /bus/inbox")
    def inbox(
        self,
        *,
        limit: Limit = 20,
        cursor: Cursor = None,
        min_priority: MessagePriority = "low",
        types: Sequence[MessageType] | None = None,
    ) -> Page[BusMessage]:
        """Return what this agent has yet to acknowledge, in the order in which it was sent: what was sent to
        it by name, and of what went to all what it subscribed to; all of that, if it subscribed to
        nothing. Once it is returned, `invalidate` tells the agent what was taken back.

        Args:
            limit: The most messages.
            cursor: `Page.next` of the page before; it is no acknowledgement.
            min_priority: Only what is as pressing.
            types: Only messages of these types; None is all.
        """
        agent, sealer = self._named(), Cursors(self._core.engine).sealer("inbox")
        start = 0 if cursor is None else int(sealer.opened(cursor)[0])
        ranks = get_args(MessagePriority)
        pressing = ranks[ranks.index(one_of("min_priority", min_priority, MessagePriority)) :]
        limit = whole_number("limit", limit, least=1)
        wanted = [_among("m.priority", pressing), *_of_types(types)]

        def waiting(connection: Connection) -> list[tuple[int, BusMessage]]:
            place = namespaces.find(connection, self.namespace)
            if place is None:
                return []
            return messages.list_messages(
                connection,
                [messages.there(place), messages.waiting(place, agent, self._viewer), *wanted],
                viewer=self._viewer, now_us=self._core.now_us(), after=start, limit=limit + 1,
            )  # fmt: skip

        def given_out(connection: Connection) -> list[tuple[int, BusMessage]]:
            found, now = waiting(connection), self._core.now_us()
            messages.note_seen(connection, [at for at, _ in found[:limit]], agent, now)
            return found

        with self._core.engine.read() as snapshot:
            found = waiting(snapshot.connection)
        if any(agent not in {one.agent for one in each.receipts} for _, each in found[:limit]):
            # Anew: what was taken back meanwhile is not to be given out.
            found = run_in_write(self._core.engine, given_out)
        return _page(found, limit, sealer)

    ainbox = twin(inbox)

    @operation("write", "POST /bus/acknowledgements")
    def acknowledge(self, message_ids: Ids) -> tuple[str, ...]:
        """Say that this agent is done with messages: it is not given them again.

        Returns:
            The ids of those that it is done with now; one that expired, or was never for this agent, is
            not among them.
        """
        self._named()
        given = texts("message_ids", message_ids, most=None)
        return run_in_write(self._core.engine, lambda there: self._note_done(there, given))

    aacknowledge = twin(acknowledge)

    def _note_done(self, connection: Connection, message_ids: Sequence[str]) -> tuple[str, ...]:
        agent, found = self._named(), {}
        for one in message_ids:
            for number, message in self._read(connection, one, messages.to_recipient(agent)):
                found[number] = message.id
        messages.note_acknowledged(connection, list(found), agent, self._core.now_us())
        return tuple(found.values())

    @operation("read", "GET /bus/messages", anonymous=True)
    def messages(
        self,
        *,
        limit: Limit = 50,
        cursor: Cursor = None,
        types: Sequence[MessageType] | None = None,
        topic: Topic | None = None,
        reply_to: Id | None = None,
    ) -> Page[BusMessage]:
        """Return messages with their receipts, the newest first: of an agent what it sent, what was sent to
        it and what went to all; without one everything in the namespace and below it.

        Args:
            limit: The most messages.
            cursor: `Page.next` of the page before.
            types: Only messages of these types; None is all.
            topic: Only messages with this topic.
            reply_to: Only what answers this message.
        """
        sealer = Cursors(self._core.engine).sealer("messages")
        limit = whole_number("limit", limit, least=1)
        start = 0 if cursor is None else int(sealer.opened(cursor)[0])
        wanted = [messages.in_namespace(self.namespace), *_of_types(types)]
        if self.agent is not None:
            wanted.append(messages.concerning(self.agent))
        for column, value in (("m.topic", topic), ("m.reply_to", reply_to)):
            if value is not None:
                wanted.append(Condition(f"{column} = ?", (value,)))
        with self._core.engine.read() as snapshot:
            found = messages.list_messages(
                snapshot.connection, wanted, viewer=self._viewer, now_us=self._core.now_us(), after=start,
                limit=limit + 1, newest_first=True,
            )  # fmt: skip
        return _page(found, limit, sealer)

    amessages = twin(messages)

    @operation("read", "GET /bus/messages/{message_id:path}", anonymous=True)
    def message(self, message_id: Id) -> BusMessage:
        """Return one message with its receipts.

        Raises:
            MessageNotFoundError: There is none of this id for this agent.
        """
        with self._core.engine.read() as snapshot:
            return self._found(snapshot.connection, message_id)[1]

    amessage = twin(message)

    # Subscribing.

    @operation("write", "POST /bus/subscriptions")
    def subscribe(
        self,
        *,
        topic: Topic | None = None,
        sender: Agent | None = None,
        query: Summary | None = None,
        min_similarity: Similarity = MIN_SIMILARITY,
    ) -> Subscription:
        """Want of the messages to all only some: those of a topic, of an agent, or that fit a query. Several
        subscriptions add up. What is sent to this agent by name comes in any case. Repeating it changes
        nothing.

        Args:
            topic: As senders write it.
            sender: Name of an agent.
            query: What it is to be about, in words.
            min_similarity: A message fits a query where the cosine of their vectors, of a message that of
                topic and summary, is at least this, -1 to 1. Each embedding model has its own scale; the
                default is for the embedded one. In a store without vectors a message fits where topic,
                summary or details have one of the query's words.

        Raises:
            InvalidValueError: Not exactly one of topic, sender and query is given, or it is none.
            EmbeddingError: The embedder failed. The subscription holds for what is sent from now on;
                repeat it for what was sent before.
        """
        given = {"topic": topic, "sender": sender, "query": query}
        if sum(one is not None for one in given.values()) != 1:
            raise InvalidValueError("Subscribe by exactly one of topic, sender and query.")
        if not -1 <= min_similarity <= 1:
            raise InvalidValueError(
                f"min_similarity is {min_similarity!r}; it must be from -1 to 1."
            )
        wanted = Subscription(
            id=0,
            agent=self._named(),
            topic=None if topic is None else text("topic", topic, TOPIC_CHARACTERS).strip(),
            sender=None if sender is None else recipient(sender),
            query=None if query is None else text("query", query, SUMMARY_CHARACTERS),
            min_similarity=float(min_similarity),
            created_at=from_us(self._core.now_us()),
        )
        core = self._core
        subscribe = partial(
            messages.subscribe, namespace=self.namespace, viewer=self._viewer, wanted=wanted
        )
        made = run_in_write(core.engine, subscribe)
        if made.query is None:
            return made
        # Whoever sends from now on knows of it; the rest is what was sent before.
        to_all = Condition("m.recipient IS NULL")
        with core.engine.read() as snapshot:
            found = messages.list_messages(
                snapshot.connection, [messages.in_namespace(self.namespace), to_all], viewer=self._viewer,
                now_us=self._core.now_us(), limit=BACKLOG, newest_first=True,
            )  # fmt: skip
        here = {number: one for number, one in found if one.namespace == self.namespace}
        fits = fitting(core.indexing, here, {made.id: (made.query, made.min_similarity)})
        run_in_write(core.engine, lambda connection: messages.note_fits(connection, fits))
        return made

    asubscribe = twin(subscribe)

    @operation("read", "GET /bus/subscriptions")
    def subscriptions(self) -> list[Subscription]:
        """Return what this agent wants of the messages to all, the oldest first; nothing: all of them."""
        agent = self._named()
        with self._core.engine.read() as snapshot:
            place = namespaces.find(snapshot.connection, self.namespace)
            if place is None:
                return []
            return messages.subscriptions(snapshot.connection, place, agent, self._viewer)

    asubscriptions = twin(subscriptions)

    @operation("write", "DELETE /bus/subscriptions/{subscription_id}")
    def unsubscribe(self, subscription_id: Number) -> bool:
        """End a subscription of this agent; return whether it was there."""
        agent = self._named()

        def ended(connection: Connection) -> bool:
            place = namespaces.find(connection, self.namespace)
            return place is not None and messages.unsubscribe(
                connection, subscription_id, place, agent, self._viewer
            )

        return run_in_write(self._core.engine, ended)

    aunsubscribe = twin(unsubscribe)

    def _named(self) -> str:
        if self.agent is None:
            raise ConfigError(
                "This bus is of no agent, so that it can only be looked at. Name one: bus(namespace, "
                'agent="planner").'
            )
        return self.agent

    def _found(self, connection: Connection, message_id: str) -> tuple[int, BusMessage]:
        wanted = [] if self.agent is None else [messages.concerning(self.agent)]
        found = self._read(connection, message_id, *wanted)
        if not found:
            raise MessageNotFoundError(
                f"There is no message {message_id!r:.80} for this agent. It may have expired."
            )
        return found[0]

    def _read(
        self, connection: Connection, message_id: str, *wanted: Condition
    ) -> list[tuple[int, BusMessage]]:
        return messages.list_messages(
            connection,
            [messages.in_namespace(self.namespace), Condition("m.id = ?", (message_id,)), *wanted],
            viewer=self._viewer, now_us=self._core.now_us(),
        )  # fmt: skip


def _page(found: Sequence[tuple[int, BusMessage]], limit: int, sealer: Sealer) -> Page[BusMessage]:
    """Return a page of what is one longer, if there is another page."""
    more = len(found) > limit
    return Page(
        items=tuple(message for _, message in found[:limit]),
        next=sealer.sealed([found[limit - 1][0]]) if more else None,
    )


def _of_types(types: Sequence[MessageType] | None) -> list[Condition]:
    if types is None:
        return []
    if isinstance(types, str):
        raise ConfigError(f"types is {types!r:.80}; pass a list of types.")
    return [_among("m.type", tuple(one_of("types", one, MessageType) for one in types))]


def _among(column: str, values: Sequence[str]) -> Condition:
    return Condition(f"{column} IN ({', '.join('?' * len(values))})", tuple(values))
