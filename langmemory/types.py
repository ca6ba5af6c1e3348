"""The public values: memories, scopes, recall results, history, statistics.

Plain frozen data, no behaviour beyond derived properties, no SQL, no LangGraph. Times are
timezone-aware ``datetime`` with microseconds: times in the world (``valid_at``, ``invalid_at``) in the
timezone of the speaker, if known, all others in UTC. Scores and weights are floats; names or docstrings
give units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from langmemory.citing import letter_of, note_id, shown_priority
from langmemory.derived import derived
from langmemory.timestamps import moment

Namespace = tuple[str, ...]
ItemT = TypeVar("ItemT")

Kind = Literal["core", "working", "episodic", "semantic", "procedural", "archival", "resource"]
"""The kind of a memory."""

Priority = Literal["mandate", "guardrail", "reference", "archive"]
"""How a memory is disclosed: always, when relevant, top-k by score, search only."""

Status = Literal["pending", "approved", "active", "superseded", "archived"]
"""The status of a memory. Deletion is an event in the history, not a status."""

Privacy = Literal["public", "shared", "private"]
"""Who may read it: anyone, everyone in the tenant (default), the owner only."""

Trust = Literal["person", "agent", "import", "document", "tool"]
"""Where a memory comes from, the most trusted first: a person or the application, an agent, an imported
conversation, a document, the output of a tool. A memory that rests on others has the least of theirs."""

SearchMode = Literal["hybrid", "semantic", "keyword"]
"""The arms of a search: vectors and words, vectors only, words only."""

MinScore: TypeAlias = float | Literal["auto"] | None
"""The lowest score with which a memory is returned: a probability, 0..1; "auto" for the default gate,
which depends on whether the query refers to the person; None for every score."""

Granularity = Literal["turn", "session"]
"""The units that recall ranks: single memories, or all turns of one thread on one day."""


@derived("label")
@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One stored item together with its facets.

    Any item put through `BaseStore` is a memory; facets that nobody set have their defaults.
    """

    id: int
    """Row id in this file: stable until the item is deleted, meaningless in another file. 0 for a
    viewer, because gaps would reveal the number of others' private memories."""
    namespace: Namespace
    key: str
    value: dict[str, Any]
    text: str
    """The text that is indexed and shown: the message, the fact, or the value's readable leaves."""
    created_at: datetime
    """When the system stored it first."""
    updated_at: datetime
    kind: Kind = "semantic"
    speaker: str | None = None
    """The name of the speaker, as displayed ("Maria", "assistant")."""
    owner: str | None = None
    privacy: Privacy = "shared"
    status: Status = "active"
    priority: Priority = "reference"
    trust: Trust = "person"
    """Where it comes from; see `langmemory.trust`."""
    importance: float = 0.5
    """0 (trivial) to 1 (vital)."""
    confidence: float = 1.0
    """0 (guess) to 1 (certain)."""
    pinned: bool = False
    verified: bool = False
    valid_at: datetime | None = None
    """When it became true in the world; for a message, its time."""
    invalid_at: datetime | None = None
    """When it stopped being true in the world."""
    expired_at: datetime | None = None
    """When the system stopped believing it (superseded, archived)."""
    superseded_by: str | None = None
    """Key, in the same namespace, of the memory that replaced this one."""
    thread_id: str | None = None
    position: int | None = None
    """0-based place of a message within its thread; None for a viewer."""
    access_count: int = 0
    accessed_at: datetime | None = None

    @property
    def at(self) -> datetime:
        """When it became true or was said, else when it was stored."""
        said_at = self.value.get("said_at")  # as facts have it
        return self.valid_at or moment(said_at) or self.created_at

    @property
    def label(self) -> str:
        """How a memory block shows it and an answer cites it: `R:1a2b3c4d`."""
        letter = letter_of(shown_priority(self.priority, self.importance, self.kind, self.trust))
        return f"{letter}:{note_id(self.namespace, self.key)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """The memories that a read may return. It becomes predicates of the SQL query, never a filter after
    it."""

    namespace: Namespace
    """Prefix by whole labels; ``()`` is the whole store."""
    exact: bool = False
    """This namespace alone, and none below it."""
    filter: Mapping[str, Any] | None = None
    """LangGraph filter over the item's value."""
    kinds: tuple[Kind, ...] | None = None
    statuses: tuple[Status, ...] | None = None
    """None: every status."""
    demoted: bool = True
    """Whether memories with the priority ``archive`` are included."""
    priority: Priority | None = None
    """Only memories of this priority; None is every one."""
    trust: Trust | None = None
    """Only memories that are trusted as much as this source, or more; None is every one."""
    viewer: str | None = None
    """None: the application itself, which sees everything in the namespace. Otherwise private memories
    of other owners are excluded."""
    as_of: datetime | None = None
    """Only what was true in the world at this time."""
    known_at: datetime | None = None
    """Only what the system believed at this time."""
    since: datetime | None = None
    """Only what was said, or became true, at or after this time."""
    until: datetime | None = None
    """Only what was said, or became true, before this time."""
    exclude: frozenset[str] = frozenset()
    """Keys that are not to be returned, whatever their namespace."""
    given: frozenset[tuple[Namespace, str]] = frozenset()
    """Memories, by namespace and key, that are not to be returned."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallResult:
    """A recalled memory with its score and the parts of the score."""

    memory: Memory
    score: float
    """Estimated probability, 0..1, that the memory is evidence for the query; comparable across queries
    and stores. Stores other than `MemoryStore` give their own scores."""
    parts: Mapping[str, float]
    """The parts of the score, by name: ``dense`` (cosine, -1..1), ``keyword`` (BM25, >= 0),
    ``relevance`` and ``rank`` (0..1, by which the results of one recall are ordered), and whatever
    further stage contributed."""
    explanation: ResultExplanation | None = None
    """Filled with ``explain=True``."""

    @property
    def text(self) -> str:
        return self.memory.text

    @property
    def label(self) -> str:
        return self.memory.label

    @property
    def speaker(self) -> str | None:
        return self.memory.speaker

    @property
    def at(self) -> datetime:
        """When it became true or was said; when it was stored, if that is unknown."""
        return self.memory.at


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultExplanation:
    """The reasons why a memory was recalled, and for its place."""

    ranks: Mapping[str, int] = field(default_factory=dict)
    """1-based rank in each channel that found it."""
    contributions: Mapping[str, float] = field(default_factory=dict)
    """The share of each signal in ``parts["relevance"]``, largest first; they sum to it."""
    multipliers: Mapping[str, float] = field(default_factory=dict)
    """Bounded multipliers by name; 1.0 is neutral."""
    moves: tuple[str, ...] = ()
    """Stages that moved, folded or removed it, in order: ``"diversity: 3 -> 5"``."""
    matched_words: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """Keys of the memories it was derived from."""

    ageing: Ageing | None = None
    """None for a memory that does not age, such as a turn. It does not affect the ranking."""


TemporalClass = Literal["timeless", "habitual", "episodic"]
"""The temporal class of a fact: it ages never (birthdays, kin, allergies), slowly (homes, work,
tastes), or fast after its end (plans, visits)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ageing:
    """How far a derived memory has faded at one time: see `langmemory.lifecycle.retention`."""

    temporal_class: TemporalClass
    retention: float
    """0..1: the share that has not faded; 1 for a pinned or timeless memory."""
    salience: float
    """0..1: its weight, of which retention is a part."""
    parts: Mapping[str, float]
    """The parts of salience by name, 0..1 each."""
    age_days: float
    """Days since it was last stated, confirmed or cited."""
    half_life_days: float | None
    """Infinite for a memory that does not fade; null in JSON."""
    uses: int
    """Citations; one that proved right counts twice."""
    used_at: datetime | None
    """When an answer cited it last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """The record of a recall. Parts that cost time are filled with ``explain=True`` only."""

    degraded: tuple[str, ...] = ()
    """Failures and their consequences: ``"embedder failed: keywords only"``."""
    intent: Mapping[str, Any] = field(default_factory=dict)
    expansions: tuple[str, ...] = ()
    candidates: Mapping[str, int] = field(default_factory=dict)
    """Number of candidates of each channel and stage."""
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    """Wall time by stage, and ``total``."""
    preset: str = "balanced"
    removed: Mapping[str, str] = field(default_factory=dict)
    """Removed candidates by key, with stage and reason."""
    questions: Mapping[str, float] = field(default_factory=dict)
    """With documents: each question, and the probability, 0..1, that documents answer it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """The answer of `MemoryStore.recall`: ranked results and the trace that explains them."""

    query: str
    results: tuple[RecallResult, ...]
    trace: Trace

    def __iter__(self) -> Iterator[RecallResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __bool__(self) -> bool:
        """Always true: "nothing found" is an answer. Test ``len(recall)`` for results."""
        return True


HistoryAction = Literal[
    "add", "update", "delete", "expire", "supersede", "invalidate", "archive", "status", "merge",
    "restore", "forget",
]  # fmt: skip
"""``restore``: an undo restored the earlier state; ``forget``: the memory was erased, and its key is
sealed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryEntry:
    """One recorded change of one item."""

    seq: int
    """Grows with every change in the file; for a viewer 1, 2, 3 within what is returned."""
    at: datetime
    action: HistoryAction
    namespace: Namespace
    key: str
    before: dict[str, Any] | None
    """The value before the change; None for an addition."""
    after: dict[str, Any] | None
    """The value after the change; None for a deletion or an expiry."""
    run_id: str | None = None
    reason: str | None = None
    facets: Mapping[str, Any] = field(default_factory=dict)
    """Facets that the change replaced, with their values before."""


FeedType = Literal["memory", "run", "review", "job", "message"]
"""The subject of an event of the feed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedEvent:
    """One event. It has the id of its subject, and none of its text."""

    type: FeedType
    action: str
    """Of a memory a `HistoryAction`; of a run ``done``, ``undone``; of a review ``opened``, ``decided``,
    ``reopened``; of a job its new state; of a message ``sent``, ``acknowledged``, ``invalidated``."""
    at: datetime
    id: str
    """The key of the memory, or the id of the run, review, job or message."""
    namespace: Namespace | None
    """None for a job."""
    kind: str | None
    """The kind of the memory, run or job, as it is now; what the review is about; the type of the
    message."""
    run_id: str | None
    """The run that changed the memory, opened the review, or is the event's own."""
    cursor: str = ""
    """The position after the event, from which to continue. It is valid for this file only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedPage:
    """A page of events of the feed."""

    events: tuple[FeedEvent, ...]
    next: str
    """The cursor from which to continue."""
    more: bool
    """Whether there are more by now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page(Generic[ItemT]):
    """A page of a list, in order."""

    items: tuple[ItemT, ...]
    next: str | None
    """The cursor of the next page; None on the last one."""


RunKind = Literal["reflection", "maintenance", "correction", "review", "forget", "undo"]
"""The source of a change: reflection, upkeep, a person's correction, a decided review …"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One run that changed memory, as `Changes.runs` lists it."""

    id: str
    kind: RunKind
    namespace: Namespace
    at: datetime
    reason: str
    note: Mapping[str, Any]
    """Counts, model calls, and the entries of the journal."""
    undone_by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Applied:
    """The result of `Changes.apply`: the changes, done or planned."""

    run_id: str
    lines: tuple[str, ...]
    """One for each change; a change without effect says so."""
    added: tuple[str, ...] = ()
    """Keys of added memories."""
    changed: tuple[str, ...] = ()
    """Keys of changed memories."""
    removed: tuple[str, ...] = ()
    """Keys of removed memories."""
    dry_run: bool = False
    repeated: bool = False
    """The run had been applied before: nothing was done."""


class Remembered(list[str]):
    """Keys of the memories that `MemoryStore.remember` added, in order."""

    redacted: Mapping[str, int]
    """Counts of replaced credentials by kind: ``{"password": 1}``."""

    def __init__(self, keys: Iterable[str] = (), redacted: Mapping[str, int] | None = None) -> None:
        super().__init__(keys)
        self.redacted = redacted or {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """What was said in one thread on one day (UTC)."""

    namespace: Namespace
    key: str
    """Of its first turn, by which the conversation is known."""
    thread_id: str
    owner: str | None
    began_at: datetime
    ended_at: datetime
    turns: int
    opening: str
    """The first words."""
    previous: str | None
    """Key of the conversation before, of the same person in the same namespace."""
    next: str | None
    """Key of the one after it, likewise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """The result of `MemoryStore.forget`: what it erased, or would erase."""

    run_id: str
    kinds: Mapping[str, int]
    """How many memories, by kind."""
    history: int
    """Records of changes whose text was erased."""
    facts_kept: int
    """Facts that lost evidence and stay, because they have other evidence."""
    edges: int
    entities: int
    """Entities that no other memory mentions."""
    reviews: int
    notes: int
    """Records of runs, jobs and other rows that mentioned it."""
    secrets: int = 0
    """Rows of parts, such as versions of secrets of the vault."""
    samples: tuple[str, ...] = ()
    """With ``dry_run``: the beginnings of some memories."""
    words: int = 0
    """Words, in no remaining memory, that were looked for in the bytes of the file and its WAL
    afterwards; none was found."""
    purged: bool = False
    """Whether the file was written anew, or the tables of a server vacuumed. False with
    ``purge="later"``, and where damage prevents it."""
    kept: tuple[str, ...] = ()
    """Places where bytes may remain that langmemory cannot reach: on a server, its log and backups;
    none for a file, apart from its copies."""
    dry_run: bool = False

    @property
    def memories(self) -> int:
        return sum(self.kinds.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class Review:
    """An open question for a person or a deep model."""

    id: str
    namespace: Namespace
    about: str
    """contradiction, duplicate, dependant, approval, core, entity …"""
    question: str
    """The first line is the question. Further lines are a unified diff."""
    memories: tuple[str, ...]
    """Keys of the memories it is about."""
    options: tuple[str, ...]
    """Options of the decision."""
    run_id: str
    opened_at: datetime
    decision: str | None = None


JobState = Literal["pending", "running", "done", "dead", "replaced"]
"""Waiting or to be tried again; running; finished; given up; replaced by a later one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A job of the queue."""

    id: int
    kind: str
    """Which workers take it: the name of the reflector."""
    lock: str
    """Jobs of one lock run one after the other: the labels of the namespace, joined by periods; without
    a namespace, the kind and the user of the job."""
    thread: str | None
    """A later job of the same kind, lock and thread replaces it while it is pending."""
    payload: Mapping[str, Any]
    """The input of the reflector; emptied when it is done."""
    config: Mapping[str, Any]
    """LangGraph's config, and the run's context under ``context``."""
    state: JobState
    created_at: datetime
    """The start of its waiting time, including that of the jobs it replaced."""
    due_at: datetime
    attempts: int
    """Number of attempts."""
    worker: str | None
    lease_until: datetime | None
    """Until then it belongs to its worker; afterwards another worker may take it."""
    finished_at: datetime | None
    error: str | None
    """The reason of the last failure; never memory text."""
    result: Any
    """The result of the reflector, if it has a JSON form."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A person or thing that memories mention."""

    key: str
    """Its key within the namespace."""
    namespace: Namespace
    name: str
    kind: str
    """person, place, organisation, animal, event, thing."""
    aliases: tuple[str, ...] = ()
    """Other names, those of linked entities included."""
    edges: tuple[Edge, ...] = ()
    """Claims about it, if it was read by name (`Graph.entity`)."""


NO_LONGER: Final = "no_longer_"
"""Prefix of the relation of a claim that says another no longer holds: ``no_longer_works_at``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """A claim of one memory about two entities, or about one and a literal.

    Bi-temporal through its memory: true in the world from ``valid_at`` to ``invalid_at`` (in the
    timezone of the speaker), believed by the system from ``created_at`` to ``expired_at`` (UTC).
    """

    subject: str
    """Entity key, links followed."""
    relation: str
    object: str | None
    """Entity key, links followed; None for a ``literal``."""
    literal: str | None
    fact: str
    """Key of the memory that states it, in ``namespace``."""
    namespace: Namespace
    valid_at: datetime | None
    invalid_at: datetime | None
    created_at: datetime
    expired_at: datetime | None
    status: Status


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """Counts and sizes of the file."""

    items: int
    namespaces: int
    vectors: int
    keywords: int
    history: int
    by_kind: Mapping[str, int]
    file_bytes: int
    archived: int = 0
    """Memories in the archive file; not included in the other counts."""
    archive_bytes: int = 0
    model: str | None
    """Id of the embedding model of the vectors; None if nothing is embedded."""
    dims: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class NamespaceCounts:
    """How much a namespace holds that is in force."""

    namespace: Namespace
    turns: int
    """What was said, word for word."""
    facts: int
    """What was derived from it or written: semantic and procedural memories."""
    memories: int
    """All of them."""
    last_at: datetime
    """When something was said last; where nothing was said, when the last memory came."""


@derived("saved_tokens")
@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryUsage:
    """Usage of one memory that was shown to a model, over all threads."""

    namespace: Namespace
    key: str
    text: str
    loaded: int
    """Number of prompts that showed it."""
    referenced: int
    """Number of answers that cited it."""
    succeeded: int
    """Number of such answers that the person's next message did not correct."""
    read_tokens: int
    """Total tokens of showing it."""
    discovery_tokens: int
    """The tokens of its discovery, if its value has them, else of the turns it was made from, else of its
    text."""

    @property
    def saved_tokens(self) -> int:
        """The savings: each showing spared finding it out again, and cost the tokens of showing it."""
        return self.loaded * self.discovery_tokens - self.read_tokens


TokenScope = Literal["read", "write", "admin"]
"""The rights of a token: to read; also to write; everything, such as forgetting and undoing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessToken:
    """A token of the server, without its secret, which is not stored."""

    id: str
    """The public part of the token, which lists and logs show."""
    viewer: str | None
    """The person on whose behalf it reads and writes; None is the application, which sees everything."""
    namespaces: tuple[Namespace, ...]
    """Its namespaces, each a prefix by whole labels; none is the whole file."""
    scope: TokenScope
    created_at: datetime
    expires_at: datetime | None
    agent: str | None = None
    """The agent for which it sends and receives on the bus, if any."""
    unlocks: bool = False
    """Whether it may unlock secrets of the vault."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SecretInfo:
    """One version of a secret, without its text."""

    namespace: Namespace
    label: str
    owner: str | None
    """Its owner; None is the application."""
    version: int
    """From 1; the highest one is current."""
    key: str
    """The id of the key that it is encrypted with."""
    stored_at: datetime
    deleted_at: datetime | None = None


VaultAction = Literal["put", "unlock", "refuse", "delete", "restore", "forget", "rotate"]
"""An action on a secret. ``refuse`` is an unlock that failed: by a wrong key, or a damaged row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultEvent:
    """One entry of the vault's audit log."""

    seq: int
    at: datetime
    action: VaultAction
    namespace: Namespace | None
    """None for the whole vault, or a forgotten secret."""
    owner: str | None
    label: str | None
    version: int | None
    viewer: str | None
    """The person on whose behalf it was done; None is the application."""
    by: str
    """The door: the library, the command line, a token of the server, a tool."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultStatus:
    """The keys of a vault, by their ids."""

    current: str | None
    """The id of the key that encrypts secrets; None before the first secret."""
    versions: Mapping[str, int]
    """Number of versions encrypted with each key, deleted ones included; 0 for a key that a rotation
    has yet to retire."""
    given: tuple[str, ...]
    """The ids of the vault's keys that this process has."""
    source: str
    """The source of this process's keys; empty without keys."""
    problem: str | None = None
    """The reason why it has no keys."""

    @property
    def is_rotating(self) -> bool:
        """Whether a rotation has begun and is not complete."""
        return any(key != self.current for key in self.versions)


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultRotation:
    """The result of a rotation."""

    key: str
    """The id of the key that encrypts all secrets now."""
    versions: int
    """Number of versions that were encrypted anew."""
    retired: tuple[str, ...]
    """Ids of keys that are no longer used."""


MessageType = Literal[
    "finding", "decision", "progress", "warning", "knowledge", "task_result", "escalation", "request",
    "reply", "handoff", "invalidation",
]  # fmt: skip
"""The type of a message on the bus. The first seven share; the others ask, answer, hand over work, and
withdraw."""

SharedType = Literal[
    "finding", "decision", "progress", "warning", "knowledge", "task_result", "escalation"
]
"""The types of messages that an agent chooses from when it shares something."""

MessagePriority = Literal["low", "normal", "high"]
"""The urgency of a message. It does not change the order."""

MessageState = Literal["open", "acknowledged", "invalidated"]
"""A message waits for its recipient, or to all until it expires; its recipient acknowledged it; it was
withdrawn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """The receipt of a message by an agent."""

    agent: str
    seen_at: datetime
    acknowledged_at: datetime | None
    """When the agent acknowledged it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BusMessage:
    """A message of one agent to another, or to all agents of a namespace."""

    id: str
    namespace: Namespace
    sender: str
    """Name of an agent."""
    recipient: str | None
    """Name of an agent; None: all of the namespace."""
    type: MessageType
    summary: str
    """The content in a sentence or two; of a request the question, of a handoff the work done."""
    priority: MessagePriority = "normal"
    topic: str | None = None
    details: str = ""
    artifacts: tuple[str, ...] = ()
    """Paths, addresses or names of its subject."""
    confidence: float | None = None
    """0 (guess) to 1 (certain), by the sender."""
    memories: tuple[str, ...] = ()
    """Keys of memories in ``namespace`` that belong to it, as far as the viewer may read them."""
    next_steps: tuple[str, ...] = ()
    """Of a handoff: the next steps, in order."""
    reply_to: str | None = None
    """Id of the message that it answers or withdraws."""
    owner: str | None = None
    privacy: Privacy = "shared"
    created_at: datetime
    expires_at: datetime
    state: MessageState = "open"
    receipts: tuple[Receipt, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """An agent's filter of messages to all, by one of topic, sender and query."""

    id: int
    agent: str
    topic: str | None
    sender: str | None
    query: str | None
    min_similarity: float
    """Of a query: the lowest cosine, -1..1, of a matching message."""
    created_at: datetime
