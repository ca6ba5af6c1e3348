"""What the state keys of the memory nodes hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NotRequired, cast

from langchain_core.messages import AnyMessage
from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.context.citations import Usage, tally
from langmemory.procedures import Outcome
from langmemory.types import Kind, Priority, Trust

USAGE_LIMIT = 200
"""Most memories that are counted per thread; those shown longest ago are dropped."""


class RecalledMemory(TypedDict):
    """A memory of the block."""

    namespace: list[str]
    key: str
    kind: Kind
    priority: Priority
    importance: float
    valid_at: str | None
    """ISO 8601."""
    trust: NotRequired[Trust]
    """Where it comes from."""
    is_fact: bool
    """Whether reflection derived it."""
    validity: str
    """Of a fact, when it is true, as the block says it: ``since March 2026``."""
    source: str
    """Of a part of a document, how it is cited: ``docs/guide.md#L10-L24``. Else empty."""
    is_procedure: NotRequired[bool]
    """Whether it is a procedure with steps."""
    record: NotRequired[str]
    """Of a procedure, how it went: ``worked 3 of 4 times``. Else empty."""
    discovery_tokens: NotRequired[int | None]
    """Tokens it once took to find out, where its value says so."""
    earlier: bool
    """Whether something newer has taken its place."""
    speaker: str | None
    text: str
    updated_at: str
    """ISO 8601; of the text as it is here."""
    score: float | None
    """None: it was not searched for, it is always shown."""
    parts: dict[str, float]
    """The parts of the score."""


class RecallTrace(TypedDict):
    """The record of a recall."""

    query: str
    topic: str
    """Query of the last fresh recall; a turn far from it starts a new block."""
    topic_distance: float | None
    """Cosine distance, 0..2, to the topic before; None when there is no telling."""
    topic_shift: bool
    recalled_now: int
    kept_from_before: int
    shown: int
    """Memories in the block."""
    candidates: dict[str, int]
    milliseconds: dict[str, float]
    degraded: list[str]
    """The failures and their consequences."""
    questions: NotRequired[dict[str, float]]
    """With documents: each question, and the probability that documents answer it, 0..1."""


class Voice(TypedDict):
    """Messages in a row that runs of one person brought."""

    who: str
    ids: list[str]
    """Of each: any of them may be taken out of the thread."""


class Followed(TypedDict):
    """A procedure that a run followed. Plain JSON."""

    namespace: list[str]
    key: str
    outcome: Outcome | None
    """As it was recorded; None: cited alone, so nobody knows yet."""
    asked: str
    """Names the words of the person that the run followed on."""


class Condensing(TypedDict, total=False):
    """The outcome of condensing one core block."""

    version: int
    """Of the block as it was found."""
    characters: int
    condensed_to: int
    """Characters, when it was made shorter."""
    error: str
    """Why the block was left as it is; it is tried again when the block has changed."""


def latest_usage(before: list[Usage], new: list[Usage]) -> list[Usage]:
    """Add up `Usage` counts; the memories shown last stand last. A LangGraph reducer."""
    shown = {(*one["namespace"], one["key"]) for one in new}
    counts = tally(before, new)
    counts.sort(key=lambda one: (*one["namespace"], one["key"]) in shown)
    return counts[-USAGE_LIMIT:]


class InternalState(TypedDict, total=False):
    """The nodes' own state between runs; it may change with any version."""

    message_speakers: list[Voice]
    """Whose words the messages are: one entry, unless several people share the thread."""
    discarded_branches: list[str]
    """Keys of turns of this thread that were said in another branch, from an earlier checkpoint on."""
    remembered_id: str
    """Id of the last message that is safely in the store."""
    remembered_words: dict[str, int]
    """By message id, a checksum of what it said when it was stored: it may be edited since."""
    pending_messages: list[str]
    """Ids of messages before it that are not stored: the run of whoever said them failed, and somebody else
    spoke next. They are remembered when that person speaks again."""
    remembered_in: str
    """Template of the namespace that these three speak of: graphs within this one share the key."""
    cited: list[Usage]
    """What the memories that the last answer cited gain, unless the person's next message corrects it."""
    condensed: dict[str, Condensing]
    """By label, what became of core blocks that were nearly full."""
    followed: list[Followed]
    """The procedures that the last run followed, with the outcomes recorded, which the person's next words
    may revise."""
    said: list[AnyMessage]
    """Of `MemoryMiddleware`: what people said and nobody remembered yet, as the model was shown it. Other
    middleware may take it out of the messages, in a run of many steps before its end, or after one that
    failed."""
    texts: dict[str, str]
    """Of `MemoryMiddleware`, by its name: the memory block, as it puts it into the prompt; there may be
    several."""
    core_texts: dict[str, str]
    """The same of core memory."""


INTERNAL: Final = "memory_internal"
"""The state key that only the nodes use."""


def internal_of(state: Any) -> InternalState:
    """Return what the nodes keep for themselves."""
    return cast("InternalState", value_of(state, INTERNAL, {}))


def with_internal(state: Any, **changes: Any) -> dict[str, Any]:
    """Return the update that changes this of what the nodes keep; nothing where nothing changes."""
    before = internal_of(state)
    return {INTERNAL: {**before, **changes}} if changes else {}


def value_of(state: Any, name: str, default: Any = None) -> Any:
    """A key of a graph's state, which may be a dict, a dataclass or a pydantic model."""
    found = state.get(name) if isinstance(state, Mapping) else getattr(state, name, None)
    return default if found is None else found
