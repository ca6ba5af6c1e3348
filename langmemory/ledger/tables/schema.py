"""The list of tables: each table of a memory once, for every engine.

Times are microseconds since 1970-01-01 UTC; JSON is UTF-8 text. Tables that one engine alone has stand in
``engines/sqlite/tables.py`` and ``engines/postgres/schema.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeVar, get_args

from langmemory.hooks import parts
from langmemory.ledger.tables.table import (
    PERSON,
    Index,
    Table,
    Trigger,
    anything,
    blob,
    counter,
    flag,
    integer,
    json,
    nobody,
    real,
    scalar,
    serial,
    text,
    through,
    time,
    where,
)
from langmemory.types import (
    FeedType,
    JobState,
    Kind,
    MessagePriority,
    MessageType,
    Priority,
    Privacy,
    Status,
    TokenScope,
    Trust,
)

T = TypeVar("T")

_SHARE: Final[Any] = (0, 1)
_WRITER: Final = "only who writes needs it"
_NO_COPY: Final = "for copies in memory, which a reader has none of"


def _activity(subject: str, action: str, type: FeedType) -> str:
    """Return the statement of a trigger that records an event."""
    return (
        "INSERT INTO activity (at, type, subject, action) "
        f"VALUES ({{now}}, '{type}', {subject}, {action});"
    )


def _forgotten(type: FeedType) -> str:
    """Return the statement of a trigger that deletes the events of a row that is gone."""
    return f"DELETE FROM activity WHERE type = '{type}' AND subject = old.id{{as_anything}};"


SAID_AT: Final = (
    "coalesce(valid_at, CASE WHEN value ->> '$.said_at' {begins_with_year} THEN "
    "CAST(round(unixepoch(value ->> '$.said_at', 'subsec') * 1000000) AS {integer}) END, created_at)"
)
"""By when a memory became true or was said, else stored."""

SETTING = Table(
    name="setting",
    doc="A setting of the file.",
    columns=(text("name", says="name"), anything("value", null=True, says="name")),
    key=("name",),
    copied=True,
    readers=where("name IN ('model', 'dims', 'generation', 'sparse', 'sparse gaps', 'sparse missed')"),
)  # fmt: skip
NAMESPACE = Table(
    name="namespace",
    doc="A namespace; each of its ancestors has a row: prefixes are ids, compared as whole labels.",
    columns=(
        serial("id"),
        text("path", "labels joined by '.', which no label may contain", unique=True, says="name"),
        integer("parent", null=True, of="namespace"),
    ),
    readers=where("rls_namespace_is_open(path)"),
)
ITEM = Table(
    name="item",
    doc="An item, which is a memory.",
    columns=(
        counter("id", part="name"),
        integer("namespace", of="namespace", part="name"),
        text("key", says="memory", part="name"),
        json("value", "a JSON object", says="memory", part="content"),
        time("created_at", part="upkeep"),
        time("updated_at", part="upkeep"),
        real("ttl_minutes", null=True, part="upkeep"),
        time("expires_at", null=True, part="upkeep"),
        json("index_fields", "null = the store's fields, false = none, else paths", null=True, part="upkeep"),
        blob("tokens", "uint16 token ids of the text, for late interaction", null=True, part="content"),
        text("kind", default="semantic", one_of=get_args(Kind), part="facet"),
        text("speaker", null=True, says="memory", part="facet"),
        text("owner", null=True, of=PERSON, says="memory", part="facet"),
        text("privacy", default="shared", one_of=get_args(Privacy), part="facet"),
        text("status", default="active", one_of=get_args(Status), part="facet"),
        text("priority", default="reference", one_of=get_args(Priority), part="facet"),
        real("importance", default=0.5, between=_SHARE, part="facet"),
        real("confidence", default=1.0, between=_SHARE, part="facet"),
        flag("pinned", default=0, part="facet"),
        flag("verified", default=0, part="facet"),
        time("valid_at", "true in the world from (a message: said at)", null=True, part="standing"),
        time("invalid_at", "true in the world until", null=True, part="standing"),
        time("expired_at", "believed by the system until", null=True, part="standing"),
        text("superseded_by", "key in the same namespace", null=True, says="name", part="standing"),
        integer("thread", null=True, of="thread", part="place"),
        integer("position", "0-based place in the thread", null=True, part="place"),
        integer("access_count", default=0, part="upkeep"),
        time("accessed_at", null=True, part="upkeep"),
        text("trust", "see trust.py", default="person", one_of=get_args(Trust), part="facet"),
    ),
    unique=("namespace", "key"),
    indexes=(
        Index("item_expires", "expires_at", "expires_at IS NOT NULL"),
        Index("item_thread", "thread, position", "thread IS NOT NULL"),
        Index("item_inactive", "status", "status <> 'active'"),
        Index("item_valid", "namespace, valid_at", "valid_at IS NOT NULL"),
        Index("item_successor", "namespace, superseded_by", "superseded_by IS NOT NULL"),
        Index("item_mandate", "namespace", "priority = 'mandate'"),
        Index("item_guardrail", "namespace", "priority = 'guardrail'"),
        # Where a search starts whose scope leaves little (kinds and statuses, readers, times), and a page of
        # a list.
        Index("item_class", f"kind, namespace, status, {SAID_AT}"),
        Index("item_told", f"{SAID_AT}, id, namespace, kind, status"),
        Index("item_reader", "(CASE privacy WHEN 'private' THEN coalesce(owner, '') END), namespace"),
        Index(
            "item_talk", "namespace, coalesce(owner, ''), coalesce(valid_at, created_at)",
            "thread IS NOT NULL",
        ),
        Index("item_created", "namespace, created_at, valid_at", "valid_at IS NULL"),
    ),
    # A row is seen whole: what was superseded names its heir.
    readers=where(
        "{visible} AND (superseded_by IS NULL OR rls_heir_is_open(namespace, superseded_by))"
    ),
)  # fmt: skip
THREAD = Table(
    name="thread",
    doc="A thread of messages within a namespace.",
    columns=(
        serial("id"),
        integer("namespace", of="namespace", loose=True),
        text("name", "LangGraph's thread_id", says="name"),
    ),
    unique=("namespace", "name"),
    readers=where("EXISTS (SELECT 1 FROM item i WHERE i.thread = thread.id)"),
)
WORD_CHANGE = Table(
    name="word_change",
    doc="A change of words, for those who keep a copy in memory. seq has no gaps.",
    columns=(
        integer("seq"),
        blob("items", "int64[n] item ids whose words changed; NULL = everybody's", null=True),
    ),
    key=("seq",),
    derived=True,
    index="words",
    readers=nobody(f"ids {_NO_COPY}"),
)
CODE = Table(
    name="code",
    doc="Sign bits of a vector, in an append-only log: what copies in memory are made from, and what tells "
    "them of changes. Long tails are packed into segments. Numbers are committed in their order.",
    columns=(
        counter("seq"),
        integer("vector"),
        integer("namespace"),
        blob("bits", "NULL = the vector is gone", null=True),
    ),
    derived=True,
    index="vectors",
    readers=nobody(f"the sign bits of everybody's vectors, {_NO_COPY}"),
)
CODE_SEGMENT = Table(
    name="code_segment",
    doc="A packed piece of the log of sign bits.",
    columns=(
        integer("last_seq"),
        integer("count"),
        blob("vectors", "int64[count]"),
        blob("namespaces", "int32[count]"),
        blob("bits", "uint64[words, count], word-transposed"),
    ),
    key=("last_seq",),
    derived=True,
    index="vectors",
    readers=nobody(f"the sign bits of everybody's vectors, {_NO_COPY}"),
)
PATH = Table(
    name="path",
    doc="The name of a place in values, for filters.",
    columns=(serial("id"), text("name", unique=True, says="name")),
    derived=True,
    readers=where("EXISTS (SELECT 1 FROM leaf l WHERE l.path = path.id)"),
)
LEAF = Table(
    name="leaf",
    doc="A scalar leaf of a value, for filters. Lists and objects stand as a 16-byte digest, the elements "
    'of a list under "path.".',
    columns=(
        integer("path", of="path"),
        scalar("value"),
        integer("namespace", of="namespace"),
        integer("item", of="item"),
    ),
    key=("path", "value", "namespace", "item"),
    indexes=(Index("leaf_item", "item, path"),),
    beside="item",
    derived=True,
    readers=through("item"),
)
HISTORY = Table(
    name="history",
    doc="A change of an item. Additions need no more than the fact; namespace, key and the value before "
    "stand with the later changes.",
    columns=(
        counter("seq"),
        time("at"),
        text("action", says="memory"),
        integer("item", of="item"),
        integer("namespace", "set when the item is gone", null=True, of="namespace", loose=True),
        text("key", "set when the item is gone", null=True, says="memory"),
        json("before", "the value before the change", null=True, says="memory"),
        json(
            "facets", "columns of the item that a run changed, as before", null=True, says="memory"
        ),
        text("run", null=True, of="run", says="memory"),
        text("reason", null=True, says="aside"),
    ),
    indexes=(
        Index("history_item", "item"),
        Index("history_gone", "namespace, key", "key IS NOT NULL"),
        Index("history_run", "run", "run IS NOT NULL"),
    ),
    beside="item",
    outlives=True,
    readers=where(
        "rls_past_is_open(item) AND (run IS NULL OR rls_run_is_open(run)) AND (facets IS NULL "
        "OR facets::jsonb ->> 'superseded_by' IS NULL OR rls_heir_is_open(coalesce(namespace, "
        "(SELECT i.namespace FROM item i WHERE i.id = item)), facets::jsonb ->> 'superseded_by'))"
    ),
)
RUN = Table(
    name="run",
    doc="A run: one reflection, correction, maintenance, forgetting or undo. Its changes of items stand in "
    "the history; rows of other tables carry the run that made them: by it they are undone.",
    columns=(
        text("id", says="name"),
        text("kind", says="name"),
        integer("namespace", of="namespace", loose=True),
        time("at"),
        text("reason", says="aside"),
        json("note", "counts, model calls, what the journal tells", default="{}", says="aside"),
        json("links", "{entity: [same_as, link_run]} as before the run", default="{}"),
        text("undone_by", "the run that undid it", null=True, says="name"),
    ),
    key=("id",),
    indexes=(Index("run_namespace", "namespace, at"), Index("run_at", "at")),
    triggers=(
        Trigger("run_done", "INSERT", _activity("new.id", "'done'", "run")),
        Trigger(
            "run_undone", "UPDATE OF undone_by", _activity("new.id", "'undone'", "run"),
            "new.undone_by IS NOT NULL AND new.undone_by {differs_from} old.undone_by",
        ),
        Trigger("run_gone", "DELETE", _forgotten("run")),
    ),
    # One that changed no memory may tell of any.
    readers=where("EXISTS (SELECT 1 FROM history h WHERE h.run = run.id) AND rls_run_is_open(id)"),
)  # fmt: skip
EVIDENCE = Table(
    name="evidence",
    doc="A source from which a memory was derived. Ids are never used twice, so a source that is gone stays "
    "nameless.",
    columns=(integer("item", of="item"), integer("source", of="item"), text("run", of="run")),
    key=("item", "source"),
    indexes=(Index("evidence_source", "source"), Index("evidence_run", "run")),
    beside="item",
    undone="source",
    readers=through("item", "source"),
)
REFLECTED = Table(
    name="reflected",
    doc="A turn that reflection has seen.",
    columns=(integer("item", of="item"), text("run", of="run")),
    key=("item",),
    indexes=(Index("reflected_run", "run"),),
    beside="turn",
    record=True,
    readers=through("item"),
)
FINGERPRINT = Table(
    name="fingerprint",
    doc="SHA-256 of the normalised text of a derived memory: what is known is not stored twice.",
    columns=(integer("namespace", of="namespace"), blob("hash"), integer("item", of="item")),
    key=("namespace", "hash", "item"),
    indexes=(Index("fingerprint_item", "item"),),
    beside="item",
    derived=True,
    readers=through("item"),
)
ENTITY = Table(
    name="entity",
    doc="A person or a thing. A merge is a link that can be taken back, never a rewrite.",
    columns=(
        counter("id"),
        integer("namespace", of="namespace"),
        text("key", says="name"),
        text("name", says="name"),
        text("kind", says="name"),
        integer("same_as", null=True, of="entity"),
        text("run", "that added it", of="run"),
        text("link_run", "that set same_as last, also to NULL", null=True, of="run"),
    ),
    unique=("namespace", "key"),
    indexes=(
        Index("entity_same", "same_as", "same_as IS NOT NULL"),
        Index("entity_run", "run"),
    ),
    # Somebody that only others' private memories name is not there.
    undone="name",
    readers=where(
        "CASE WHEN {is_anchor} THEN rls_anchor_is_open(id) AND {names_no_memory_or_an_open_one} "
        "ELSE {name_stands_in_a_memory} END"
    ),
)
ALIAS = Table(
    name="alias",
    doc="A name of an entity. It is looked up in many namespaces at once.",
    columns=(
        integer("namespace", of="namespace", loose=True),
        text("norm", "formation.entities.spelling.normalised", says="aside"),
        integer("entity", of="entity"),
        text("name", says="aside"),
        text("run", of="run"),
    ),
    key=("norm", "namespace", "entity"),
    indexes=(Index("alias_entity", "entity"), Index("alias_run", "run")),
    undone="spelling",
    readers=where(
        "EXISTS (SELECT 1 FROM entity e WHERE e.id = alias.entity) AND {alias_stands_in_a_memory}"
    ),
)
MENTION = Table(
    name="mention",
    doc="A memory that speaks of an entity: who may read one of them may know of the entity.",
    columns=(integer("entity", of="entity"), integer("item", of="item"), text("run", of="run")),
    key=("entity", "item"),
    indexes=(Index("mention_item", "item"), Index("mention_run", "run")),
    beside="item",
    undone="mention",
    readers=through("item"),
)
EDGE = Table(
    name="edge",
    doc="A claim of a memory: (subject) -relation-> (object, or a literal). Validity, belief, privacy and "
    "status of an edge are those of its fact.",
    columns=(
        counter("id"),
        integer("fact", of="item"),
        integer("subject", of="entity"),
        text("relation", says="name"),
        integer("object", null=True, of="entity"),
        text("literal", null=True, says="name"),
        text("run", of="run"),
    ),
    check="(object IS NULL) <> (literal IS NULL)",
    indexes=(
        Index("edge_fact", "fact"),
        Index("edge_subject", "subject, relation"),
        Index("edge_object", "object", "object IS NOT NULL"),
        Index("edge_run", "run"),
    ),
    beside="item",
    undone="connection",
    readers=through("fact", "subject", "object"),
)
REVIEW = Table(
    name="review",
    doc="An open question for a person or a deep model.",
    columns=(
        text("id"),
        integer("namespace", of="namespace"),
        text("about", "contradiction, duplicate, dependant, approval, core, …", says="aside"),
        text("question", says="aside"),
        json("items", "keys of the memories it is about"),
        json("options", "{option: [changes]}", says="aside"),
        text("run", "that opened it", of="run"),
        time("opened_at"),
        text("decision", null=True, says="aside"),
        text("decided_run", null=True, of="run"),
    ),
    key=("id",),
    indexes=(
        Index("review_open", "namespace", "decision IS NULL"),
        Index("review_run", "run"),
        Index("review_opened", "opened_at"),
        Index("review_decided", "decided_run", "decided_run IS NOT NULL"),
    ),
    triggers=(
        Trigger("review_opened", "INSERT", _activity("new.id", "'opened'", "review")),
        Trigger(
            "review_decided", "UPDATE OF decision",
            _activity(
                "new.id", "CASE WHEN new.decision IS NULL THEN 'reopened' ELSE 'decided' END", "review"
            ),
            "new.decision {differs_from} old.decision",
        ),
        Trigger("review_gone", "DELETE", _forgotten("review")),
    ),
    readers=where("rls_review_is_open(id)"),
)  # fmt: skip
JOB = Table(
    name="job",
    doc="Work for later, in the queue of reflections.",
    columns=(
        counter("id"),
        text("kind", says="aside"),
        text("lane", "jobs of one lane run one after the other", says="aside"),
        text(
            "thread", "a later job of the same lane and thread replaces a pending one", null=True,
            says="aside",
        ),
        json("payload", says="aside"),
        json("config", "LangGraph's RunnableConfig", default="{}", says="aside"),
        text("state", default="pending", one_of=get_args(JobState)),
        time("created_at"),
        time("due_at"),
        integer("attempts", default=0),
        text("worker", null=True),
        time("lease_until", null=True),
        time("finished_at", null=True),
        text("error", "of the last attempt", null=True, says="aside"),
        json("result", null=True, says="aside"),
    ),
    indexes=(
        Index("job_due", "kind, due_at", "state = 'pending'"),
        Index("job_running", "lease_until", "state = 'running'"),
        Index("job_thread", "lane, thread", "state = 'pending'"),
        Index("job_dead", "lane, thread", "state = 'dead'"),
        Index("job_over", "finished_at", "state IN ('done', 'replaced')"),
    ),
    triggers=(
        Trigger("job_added", "INSERT", _activity("new.id", "new.state", "job")),
        Trigger(
            "job_moved", "UPDATE OF state", _activity("new.id", "new.state", "job"),
            "new.state <> old.state",
        ),
        Trigger("job_gone", "DELETE", _forgotten("job")),
    ),
    exported=False,
    copied=True,
    readers=nobody("conversations that are to be reflected on, whoever's they are"),
)  # fmt: skip
USAGE = Table(
    name="usage",
    doc="Results of showing a memory to a model, over all threads.",
    columns=(
        integer("item", of="item"),
        integer("loaded", "times it stood in a prompt"),
        integer("referenced", "times an answer cited it"),
        integer("succeeded", "times such an answer was not corrected"),
        integer("read_tokens", "what showing it cost in all"),
        integer("discovery_tokens", "what it stands for"),
    ),
    key=("item",),
    indexes=(Index("usage_rank", "succeeded, referenced, loaded"),),
    beside="item",
    record=True,
    readers=through("item"),
)
LABEL = Table(
    name="label",
    doc="The short id of an item, as a model is shown it; filled up when one is looked for.",
    columns=(
        integer("item", of="item"),
        integer("hash", "first 32 bits of SHA-256 over namespace and key"),
    ),
    key=("item",),
    indexes=(Index("label_hash", "hash"),),
    beside="item",
    derived=True,
    readers=through("item"),
)
FOLLOW_UP = Table(
    name="follow_up",
    doc="What a change left to be planned after its commit. A row goes in the transaction that applies the "
    "plan.",
    columns=(
        counter("id"),
        text("namespace", "its path"),
        text("kind", "restored, reworded"),
        json("detail", "what was there before the change"),
    ),
    exported=False,
    copied=True,
    readers=nobody(f"what changes said before; {_WRITER}"),
)
STALE_PAGE = Table(
    name="stale_page",
    doc="A page of the journal that does not say yet what the file says. A row goes once its files follow.",
    columns=(
        counter("id"),
        integer("namespace", "a forgotten one leaves no name here", of="namespace", loose=True),
        text("day", "YYYY-MM-DD"),
    ),
    exported=False,
    readers=nobody(_WRITER),
)
CITATION = Table(
    name="citation",
    doc="Citations of a memory: how well it matched what was asked, and the last one.",
    columns=(
        integer("item", of="item"),
        integer("matched", "citations whose relevance is known"),
        real("relevance", "their sum, 0 to 1 each"),
        time("used_at", "of the last one"),
    ),
    key=("item",),
    beside="item",
    record=True,
    readers=through("item"),
)
LEASE = Table(
    name="lease",
    doc="Who does what only one process does at a time.",
    columns=(text("name"), text("holder"), time("until")),
    key=("name",),
    exported=False,
    readers=nobody(_WRITER),
)
PROGRESS = Table(
    name="progress",
    doc="How far a task of maintenance has come in a namespace.",
    columns=(
        text("task"),
        integer("namespace", of="namespace", loose=True),
        integer("seq", "newest history.seq that the task has taken into account"),
    ),
    key=("task", "namespace"),
    exported=False,
    readers=nobody(_WRITER),
)
ARCHIVED_ITEM = Table(
    name="archived_item",
    doc="A memory that was moved to the archive file.",
    columns=(
        integer("item", "its id here and in the archive file", of="item"),
        integer("namespace", of="namespace"),
        text("key"),
        text("run", "that moved it", of="run"),
        time("at"),
    ),
    key=("item",),
    unique=("namespace", "key"),
    indexes=(Index("archived_item_run", "run"),),
    exported=False,
    readers=nobody("names memories that are elsewhere, whose owner does not stand beside them"),
)
TOKEN = Table(
    name="token",
    doc="A token of somebody who reaches the file through the server. The secret itself is nowhere.",
    columns=(
        text("id", "the part of the token that is no secret"),
        blob("hash", "SHA-256 of the secret"),
        text("viewer", "on whose behalf; NULL = the application", null=True, of=PERSON, says="name"),
        json("namespaces", "lists of labels; none = the whole file", says="name"),
        text("scope", one_of=get_args(TokenScope)),
        time("created_at"),
        time("expires_at", "NULL = never", null=True),
        text("agent", "whose messages it sends and receives on the bus", null=True, says="name"),
        flag("unlocks", "secrets of the vault", default=0, one_of=(0, 1)),
    ),
    key=("id",),
    exported=False,
    copied=True,
    readers=nobody("who may reach the server"),
)  # fmt: skip
ACTIVITY = Table(
    name="activity",
    doc="What happened to a run, a review, a job or a message of the bus, in the order of commits. Triggers "
    "write it, so that no writer can leave something out. What happened to memories stands in the history.",
    columns=(
        counter("seq"),
        time("at"),
        text("type", one_of=get_args(FeedType)[1:]),
        anything("subject", "id of the run, review, job or message; its rows go with it"),
        text("action"),
    ),
    indexes=(Index("activity_subject", "type, subject"),),
    exported=False,
    readers=where(
        "type = 'review' AND EXISTS (SELECT 1 FROM review r WHERE r.id = subject) "
        "OR type = 'message' AND EXISTS (SELECT 1 FROM message m WHERE m.id = subject)"
    ),
)
MESSAGE = Table(
    name="message",
    doc="A message between agents on the bus, whoever runs them, until it expires.",
    columns=(
        counter("seq"),
        text("id", "by which agents know it", unique=True),
        integer("namespace", of="namespace"),
        text("sender", "name of an agent", says="name"),
        text("recipient", "NULL = all agents of the namespace", null=True, says="name"),
        text("type", one_of=get_args(MessageType)),
        text("priority", one_of=get_args(MessagePriority)),
        text("topic", null=True, says="aside"),
        text("summary", says="aside"),
        text("details", says="aside"),
        json("artifacts", "list of texts", says="aside"),
        json("memories", "keys of items in the same namespace", says="aside"),
        json("next_steps", "list of texts", says="aside"),
        real("confidence", null=True, between=_SHARE),
        text("reply_to", "message.id", null=True),
        text("owner", null=True, of=PERSON),
        text("privacy", one_of=get_args(Privacy)),
        time("created_at"),
        time("expires_at"),
        time("invalidated_at", null=True),
    ),
    indexes=(
        Index("message_place", "namespace, seq"),
        Index("message_expires", "expires_at"),
        Index("message_reply", "reply_to", "reply_to IS NOT NULL"),
    ),
    triggers=(
        Trigger("message_sent", "INSERT", _activity("new.id", "'sent'", "message")),
        Trigger(
            "message_invalidated", "UPDATE OF invalidated_at",
            _activity("new.id", "'invalidated'", "message"),
            "new.invalidated_at IS NOT NULL AND old.invalidated_at IS NULL",
        ),
        Trigger(
            "message_gone", "DELETE",
            _forgotten("message")
            + " DELETE FROM receipt WHERE message = old.seq; DELETE FROM fit WHERE message = old.seq;",
        ),
    ),
    exported=False,
    copied=True,
    readers=where("{visible}"),
)  # fmt: skip
RECEIPT = Table(
    name="receipt",
    doc="The word that an agent has seen a message, and is done with it.",
    columns=(
        integer("message", of="message"),
        text("agent"),
        time("seen_at"),
        time("acknowledged_at", null=True),
    ),
    key=("message", "agent"),
    triggers=(
        Trigger(
            "message_acknowledged", "UPDATE OF acknowledged_at",
            "INSERT INTO activity (at, type, subject, action) "
            "SELECT {now}, 'message', id, 'acknowledged' FROM message WHERE seq = new.message;",
            "new.acknowledged_at IS NOT NULL AND old.acknowledged_at IS NULL",
        ),
    ),
    exported=False,
    copied=True,
    readers=through("message"),
)  # fmt: skip
SUBSCRIPTION = Table(
    name="subscription",
    doc="What an agent wants of the messages to all; without any, it gets all of them.",
    columns=(
        counter("id"),
        integer("namespace", of="namespace"),
        text("agent", says="aside"),
        text("viewer", "on whose behalf; NULL = the application", null=True, of=PERSON),
        text("topic", "exactly one of topic, sender and query", null=True, says="aside"),
        text("sender", null=True, says="aside"),
        text("query", null=True, says="aside"),
        real("min_similarity", "of a query: cosine from which on a message fits"),
        time("created_at"),
    ),
    indexes=(Index("subscription_agent", "namespace, agent"),),
    triggers=(
        Trigger("subscription_gone", "DELETE", "DELETE FROM fit WHERE subscription = old.id;"),
    ),
    exported=False,
    copied=True,
    readers=where("viewer = {viewer}"),
)
FIT = Table(
    name="fit",
    doc="A message that fits the query of a subscription.",
    columns=(
        integer("subscription", of="subscription"),
        integer("message", of="message"),
    ),
    key=("subscription", "message"),
    indexes=(Index("fit_message", "message"),),
    exported=False,
    copied=True,
    readers=through("message"),
)
SPARSE = Table(
    name="sparse",
    doc="A sparse vector by the encoder that the application brought (setting 'sparse'): pairs of a "
    "dimension (uint32) and a weight (float32), by ascending dimension. A number is never used twice and "
    "never changes what it stands for: copies in memory follow by it.",
    columns=(counter("seq"), integer("item", unique=True, of="item"), blob("vector")),
    triggers=(
        Trigger(
            "sparse_outdated",
            "UPDATE OF value",
            "DELETE FROM sparse WHERE item = new.id;",
            "new.value <> old.value OR new.index_fields {differs_from} old.index_fields",
            on="item",
        ),
        Trigger("sparse_gone", "DELETE", "DELETE FROM sparse WHERE item = old.id;", on="item"),
    ),
    beside="item",
    derived=True,
    readers=through("item"),
)

_TABLES: Final = {
    table.name: table
    for table in (
        SETTING, NAMESPACE, THREAD, PATH, ITEM, LEAF, HISTORY, RUN, EVIDENCE, FINGERPRINT, ENTITY,
        ALIAS, MENTION, EDGE, REFLECTED, REVIEW, JOB, USAGE, LABEL, FOLLOW_UP, STALE_PAGE, CITATION, LEASE,
        PROGRESS, ARCHIVED_ITEM, TOKEN, MESSAGE, RECEIPT, SUBSCRIPTION, FIT, SPARSE, ACTIVITY,
        WORD_CHANGE, CODE, CODE_SEGMENT,
    )
}  # fmt: skip
"""In an order in which a row comes after those that it names, and after those whose triggers change it."""


_OWN: Final = frozenset(_TABLES)
_derived: Final[list[Any]] = []


def cached_derivation(function: Callable[[], T]) -> Callable[[], T]:
    """Keep what a function derives from the list of tables, until a part adds to it."""
    cached = cache(function)
    _derived.append(cached)
    return cached


@cache
def load_parts() -> None:
    """Import the modules in which parts register their tables."""
    for part in parts():
        for module in part.tables:
            import_module(module)


def register(*added: Table) -> None:
    """Add the tables of a part to the list, before a store is opened: one that lacks them gets them."""
    _TABLES.update({table.name: table for table in added})
    _forget_derived()


def unregister(*names: str) -> None:
    """Take the tables of a part from the list."""
    for name in names:
        del _TABLES[name]
    _forget_derived()


def _forget_derived() -> None:
    for function in _derived:
        function.cache_clear()


def tables() -> Iterable[Table]:
    """Return every table of a memory, in an order in which a row comes after those that it names."""
    load_parts()
    return _TABLES.values()


def is_of_part(name: str) -> bool:
    """Return whether a part declares the table of this name."""
    return name not in _OWN


def missing(there: Iterable[str]) -> list[Table]:
    """Return the tables of parts that a database, which has these, lacks."""
    present = set(there)
    return [one for one in tables() if is_of_part(one.name) and one.name not in present]


def table(name: str) -> Table:
    """Return a table by its name."""
    load_parts()
    return _TABLES[name]


def beside_items() -> list[Table]:
    """Return the tables with rows that belong to items and are made from nothing else."""
    return [table for table in tables() if table.beside and not table.derived]
