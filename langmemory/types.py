"""The values langmemory speaks in: memories, scopes, recall results, history, statistics.

Plain frozen data, no behaviour beyond derived properties, no SQL, no LangGraph. Times are
timezone-aware ``datetime`` with microseconds: what holds in the world (``valid_at``, ``invalid_at``) in
the timezone of who said so, where that is known, everything else in UTC. Scores and weights are floats;
everything that has a unit says so in its name or docstring.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from langmemory.timestamps import moment

Namespace = tuple[str, ...]
ItemT = TypeVar("ItemT")

Kind = Literal["core", "working", "episodic", "semantic", "procedural", "archival", "resource"]
"""The kind of a memory (see DESIGN: concepts)."""

Priority = Literal["mandate", "guardrail", "reference", "archive"]
"""How a memory is disclosed: always, when relevant, top-k by score, search only."""

Status = Literal["pending", "approved", "active", "superseded", "archived"]
"""Where a memory stands in its life. Deletion is an event in the history, not a status."""

Privacy = Literal["public", "shared", "private"]
"""Who may read it: anyone, everyone in the tenant (default), the owner only."""

SearchMode = Literal["hybrid", "semantic", "keyword"]
"""Which arms rank a search: vectors and words, vectors only, words only."""

MinScore: TypeAlias = float | Literal["auto"] | None
"""The lowest score with which a memory is returned: a probability, 0..1; "auto" for the default gate,
which depends on whether the query refers to the person; None for every score."""

Granularity = Literal["turn", "session"]
"""The units that recall ranks: single memories, or what was said in one thread on one day as a whole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One stored item together with its facets.

    Any item put through `BaseStore` is a memory; what nobody set has its default.
    """

    id: int
    """Row id in this file: stable until the item is deleted, meaningless in another file. 0 for a
    viewer, to whom gaps would tell how much others keep private."""
    namespace: Namespace
    key: str
    value: dict[str, Any]
    text: str
    """The text that is indexed and shown: the message, the fact, or the value's readable leaves."""
    created_at: datetime
    """When the system first stored it."""
    updated_at: datetime
    kind: Kind = "semantic"
    speaker: str | None = None
    """Who said it, as displayed ("Maria", "assistant")."""
    owner: str | None = None
    privacy: Privacy = "shared"
    status: Status = "active"
    priority: Priority = "reference"
    importance: float = 0.5
    """0 (trivial) to 1 (vital)."""
    confidence: float = 1.0
    """0 (guess) to 1 (certain)."""
    pinned: bool = False
    verified: bool = False
    valid_at: datetime | None = None
    """When it became true in the world; for a message, when it was said."""
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
        """When it became true or was said; when it was stored, if that is unknown."""
        said_at = self.value.get("said_at")  # as facts have it
        return self.valid_at or moment(said_at) or self.created_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """Which memories a read may touch. It becomes predicates of the SQL query, never a filter after it."""

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
    """Whether also what has the priority ``archive``."""
    priority: Priority | None = None
    """Only memories of this priority; None is every one."""
    viewer: str | None = None
    """None: the application itself, which sees everything in the namespace. Otherwise private
    memories of other owners are out of reach."""
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
    """A recalled memory, its score and where the score came from."""

    memory: Memory
    score: float
    """Estimated probability, 0..1, that the memory is evidence for what is asked; comparable across
    queries and stores. Of a store that is no `MemoryStore` its own score."""
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
    def speaker(self) -> str | None:
        return self.memory.speaker

    @property
    def at(self) -> datetime:
        """When it became true or was said; when it was stored, if that is unknown."""
        return self.memory.at


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultExplanation:
    """Why one memory was recalled, and why at this place."""

    ranks: Mapping[str, int] = field(default_factory=dict)
    """1-based rank in each channel that found it."""
    contributions: Mapping[str, float] = field(default_factory=dict)
    """The share that each signal added to ``parts["relevance"]``, most first; they sum to it."""
    multipliers: Mapping[str, float] = field(default_factory=dict)
    """Bounded multipliers by name; 1.0 is neutral."""
    moves: tuple[str, ...] = ()
    """Stages that moved, folded or removed it, in order: ``"diversity: 3 -> 5"``."""
    matched_words: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """Keys of the memories it was derived from."""

    ageing: Ageing | None = None
    """None where it does not age: verbatim turns do not. It has no part in the ranking."""


TemporalClass = Literal["timeless", "habitual", "episodic"]
"""How a fact ages: never (birthdays, kin, allergies), slowly (homes, work, tastes), or fast once it is over
(plans, visits)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ageing:
    """How far a derived memory has faded at one time: see `langmemory.lifecycle.retention`."""

    temporal_class: TemporalClass
    retention: float
    """0..1: what is left of it; 1 for what is pinned or timeless."""
    salience: float
    """0..1: how much it counts, of which retention is a part."""
    parts: Mapping[str, float]
    """The parts of salience by name, 0..1 each."""
    age_days: float
    """Since it was last said, confirmed or cited."""
    half_life_days: float | None
    """Infinite for what does not fade, which in JSON is null."""
    uses: int
    """Citations; one that proved right counts twice."""
    used_at: datetime | None
    """When an answer cited it last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """How a recall went: always filled as far as it costs nothing, whole with ``explain=True``."""

    degraded: tuple[str, ...] = ()
    """Parts that did not work and what was done instead: ``"embedder failed: keywords only"``."""
    intent: Mapping[str, Any] = field(default_factory=dict)
    expansions: tuple[str, ...] = ()
    candidates: Mapping[str, int] = field(default_factory=dict)
    """How many candidates each channel and stage handed on."""
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    """Wall time by stage, and ``total``."""
    preset: str = "balanced"
    removed: Mapping[str, str] = field(default_factory=dict)
    """Key of a candidate a stage removed, and which stage and why."""
    questions: Mapping[str, float] = field(default_factory=dict)
    """Where documents were asked too, or lie beside what was said: each question that was looked up, and the
    probability, 0..1, that documents answer it."""


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
"""``restore``: an undo brought back what was before; ``forget``: it is gone for good, and its key is
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
    """Facets the change replaced, as they were before it."""


FeedType = Literal["memory", "run", "review", "job", "message"]
"""What an event of the feed is about."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedEvent:
    """One thing that happened. It names what it is about and holds none of its text."""

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
    """The place behind the event, to read on from. Only this file understands it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedPage:
    """Some events of the feed."""

    events: tuple[FeedEvent, ...]
    next: str
    """The cursor to read on from."""
    more: bool
    """Whether there are more by now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page(Generic[ItemT]):
    """Some of a list, in order."""

    items: tuple[ItemT, ...]
    next: str | None
    """The cursor of the page after this one; None on the last."""


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
    """Counts, model calls, what the journal tells."""
    undone_by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Applied:
    """The result of `Changes.apply`: what it did, or would do."""

    run_id: str
    lines: tuple[str, ...]
    """One a change; those that changed nothing say so."""
    added: tuple[str, ...] = ()
    """Keys of the memories that are new."""
    changed: tuple[str, ...] = ()
    """Keys of the memories that are otherwise than before."""
    removed: tuple[str, ...] = ()
    """Keys of the memories that are gone."""
    dry_run: bool = False
    repeated: bool = False
    """The run had been applied before: nothing was done."""


class Remembered(list[str]):
    """Keys of the memories that `MemoryStore.remember` added, in order."""

    redacted: Mapping[str, int]
    """How many passages were replaced before they were stored, by kind: ``{"password": 1}``."""

    def __init__(self, keys: Iterable[str] = (), redacted: Mapping[str, int] | None = None) -> None:
        super().__init__(keys)
        self.redacted = redacted or {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """The result of `MemoryStore.forget`: what it took out of the file, or would."""

    run_id: str
    kinds: Mapping[str, int]
    """How many memories, by kind."""
    history: int
    """Records of changes whose text is gone."""
    facts_kept: int
    """Facts that lost evidence and stay, because something else speaks for them."""
    edges: int
    entities: int
    """Those that nobody else speaks of."""
    reviews: int
    notes: int
    """Records of runs, jobs and other names that told of it."""
    secrets: int = 0
    """Versions of secrets of the vault."""
    samples: tuple[str, ...] = ()
    """With ``dry_run``: how some of the memories begin."""
    words: int = 0
    """Words, in no remaining memory, that were looked for in the bytes of the file and its WAL
    afterwards; none was found."""
    purged: bool = False
    """Whether the file was written anew, or the tables of a server vacuumed. False with
    ``purge="later"``, and where damage prevents it."""
    kept: tuple[str, ...] = ()
    """Where bytes of it may be left that langmemory cannot reach: of a server, such as its log and its
    backups; of a file nowhere, though copies of it are."""
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
    """The first line asks. Further lines show what differs, as a unified diff."""
    memories: tuple[str, ...]
    """Keys of the memories it is about."""
    options: tuple[str, ...]
    """Options of the decision."""
    run_id: str
    opened_at: datetime
    decision: str | None = None


JobState = Literal["pending", "running", "done", "dead", "replaced"]
"""Waiting or to be tried again; under way; finished; given up; gave way to a later one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """Work for later, as it stands in the queue."""

    id: int
    kind: str
    """Which workers take it: the name of the reflector."""
    lock: str
    """Jobs of one lock run one after the other: the labels of the namespace, joined by periods; where
    a job does not say which, its kind and who it is for."""
    thread: str | None
    """A later job of the same kind, lock and thread replaces it while it is pending."""
    payload: Mapping[str, Any]
    """The input of the reflector; emptied when it is done."""
    config: Mapping[str, Any]
    """LangGraph's config, and the run's context under ``context``."""
    state: JobState
    created_at: datetime
    """Since when it waits, those it replaced included."""
    due_at: datetime
    attempts: int
    """How often it was begun."""
    worker: str | None
    lease_until: datetime | None
    """Until then it is its worker's; afterwards anybody's."""
    finished_at: datetime | None
    error: str | None
    """Why the last attempt failed; never memory text."""
    result: Any
    """The answer of the reflector, as far as it has a JSON form."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A person or thing memories speak of."""

    key: str
    """Names it within its namespace."""
    namespace: Namespace
    name: str
    kind: str
    """person, place, organisation, animal, event, thing."""
    aliases: tuple[str, ...] = ()
    """Other names, those of linked entities included."""
    edges: tuple[Edge, ...] = ()
    """Claims about it, where it was asked for by name (`Graph.entity`)."""


NO_LONGER: Final = "no_longer_"
"""Prefix of the relation of a claim that says another no longer holds: ``no_longer_works_at``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """A claim of one memory about two entities, or about one and a literal.

    Bi-temporal through its memory: true in the world from ``valid_at`` to ``invalid_at`` (in the
    timezone of who said so), believed by the system from ``created_at`` to ``expired_at`` (UTC).
    """

    subject: str
    """Entity key, links followed."""
    relation: str
    object: str | None
    """Entity key, links followed; None where ``literal`` stands."""
    literal: str | None
    fact: str
    """Key of the memory that says so, in ``namespace``."""
    namespace: Namespace
    valid_at: datetime | None
    invalid_at: datetime | None
    created_at: datetime
    expired_at: datetime | None
    status: Status


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """The content of the file."""

    items: int
    namespaces: int
    vectors: int
    keywords: int
    history: int
    by_kind: Mapping[str, int]
    file_bytes: int
    archived: int = 0
    """Memories that moved to the archive file; not among the others."""
    archive_bytes: int = 0
    model: str | None
    """Id of the embedding model the vectors come from; None when nothing is embedded."""
    dims: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryUsage:
    """Usage of one memory that was shown to a model, over all threads."""

    namespace: Namespace
    key: str
    text: str
    loaded: int
    """Times it stood in a prompt."""
    referenced: int
    """Times an answer cited it."""
    succeeded: int
    """Times such an answer was not corrected by the person's next message."""
    read_tokens: int
    """Tokens that showing it cost in all."""
    discovery_tokens: int
    """The tokens it stands for: those that finding it out took, if its value says, else those of its text."""


TokenScope = Literal["read", "write", "admin"]
"""What a token allows: to read; to write, too; to do everything, such as forgetting and undoing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessToken:
    """A token for the server, as far as it is stored. Its secret is not."""

    id: str
    """The part of the token that is no secret; names it in lists and logs."""
    viewer: str | None
    """On whose behalf it reads and writes; None is the application, which sees everything."""
    namespaces: tuple[Namespace, ...]
    """What it reaches, each a prefix by whole labels; none is the whole file."""
    scope: TokenScope
    created_at: datetime
    expires_at: datetime | None
    agent: str | None = None
    """As which agent it sends and receives on the bus; None is none."""
    unlocks: bool = False
    """Whether it may unlock secrets of the vault."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SecretInfo:
    """One version of a secret, as far as anybody may see it: its text is not here."""

    namespace: Namespace
    label: str
    owner: str | None
    """Whose it is; None is the application's."""
    version: int
    """From 1; the highest one counts."""
    key: str
    """The id of the key that it is encrypted with."""
    stored_at: datetime
    deleted_at: datetime | None = None


VaultAction = Literal["put", "unlock", "refuse", "delete", "restore", "forget", "rotate"]
"""What was done with a secret. ``refuse`` is an unlock that failed: by a wrong key, or a damaged row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultEvent:
    """One entry of the vault's audit log."""

    seq: int
    at: datetime
    action: VaultAction
    namespace: Namespace | None
    """None is the whole vault, or what was forgotten."""
    owner: str | None
    label: str | None
    version: int | None
    viewer: str | None
    """On whose behalf; None is the application."""
    by: str
    """Through what it was done: the library, the command line, a token of the server, a tool."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultStatus:
    """The keys of a vault, by their ids."""

    current: str | None
    """With which secrets are encrypted; None before the first one."""
    versions: Mapping[str, int]
    """How many versions of secrets are encrypted with each key, deleted ones included; 0 for a key that a
    rotation has still to retire."""
    given: tuple[str, ...]
    """Those of the vault's keys that this process has."""
    source: str
    """Where this process has its keys from; empty where it has none."""
    problem: str | None = None
    """Why it has none."""

    @property
    def is_rotating(self) -> bool:
        """Whether a rotation has begun and is not complete."""
        return any(key != self.current for key in self.versions)


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultRotation:
    """The result of a rotation."""

    key: str
    """With which all secrets are encrypted now."""
    versions: int
    """How many versions were encrypted anew; none, if they were before."""
    retired: tuple[str, ...]
    """Keys that nothing is encrypted with any more."""


MessageType = Literal[
    "finding", "decision", "progress", "warning", "request", "reply", "handoff", "invalidation"
]
"""What one agent tells others on the bus. The first four are what it shares; the others ask, answer, hand
work on, and take something back."""

SharedType = Literal["finding", "decision", "progress", "warning"]
"""The types of messages that an agent chooses from when it shares something."""

MessagePriority = Literal["low", "normal", "high"]
"""How pressing a message is. It changes no order."""

MessageState = Literal["open", "acknowledged", "invalidated"]
"""A message waits for its recipient, or for its time to end where it went to all; its recipient is done with
it; it was taken back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """The word that an agent has a message."""

    agent: str
    seen_at: datetime
    acknowledged_at: datetime | None
    """When it was done with it: it is not given the message again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BusMessage:
    """What one agent told another, or all agents of a namespace."""

    id: str
    namespace: Namespace
    sender: str
    """Name of an agent."""
    recipient: str | None
    """Name of an agent; None: all of the namespace."""
    type: MessageType
    summary: str
    """What it says, in a sentence or two; of a request the question, of a handoff the work done."""
    priority: MessagePriority = "normal"
    topic: str | None = None
    details: str = ""
    artifacts: tuple[str, ...] = ()
    """Where what it speaks of is: paths, addresses, names."""
    confidence: float | None = None
    """0 (guess) to 1 (certain), as the sender says."""
    memories: tuple[str, ...] = ()
    """Keys of memories in ``namespace`` that belong to it, as far as the viewer may read them."""
    next_steps: tuple[str, ...] = ()
    """Of a handoff: what is left to do, in order."""
    reply_to: str | None = None
    """Id of the message that it answers, or takes back."""
    owner: str | None = None
    privacy: Privacy = "shared"
    created_at: datetime
    expires_at: datetime
    state: MessageState = "open"
    receipts: tuple[Receipt, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """What an agent wants of the messages that go to all, by one of topic, sender and query."""

    id: int
    agent: str
    topic: str | None
    sender: str | None
    query: str | None
    min_similarity: float
    """Of a query: the cosine, -1..1, from which on a message fits."""
    created_at: datetime
