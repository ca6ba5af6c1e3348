"""Recall and remember over REST, and why not: at which stage of a recall a memory was lost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from langmemory.declaring.fields import Fields, Key, Labels, Places, Text
from langmemory.recall_options import DEFAULTS, BlockOptions, RecallOptions
from langmemory.server.access import Access
from langmemory.server.api.requests import not_found, with_options
from langmemory.server.priorities import trusted
from langmemory.server.routes import Routes
from langmemory.trust import at_least
from langmemory.types import Kind, Memory, Namespace, Privacy, Recall, RecallResult
from langmemory.wire import Deferred

routes = Routes("Recall and remember")


class Asked(Fields):
    """What is asked, and of which memories."""

    query: Text
    """A question or statement in any language."""
    namespace: Labels | None = None
    """Prefix by whole labels; without it, what the token is bound to."""

    def options(self, known: type = RecallOptions) -> Any:
        """Return those options that were given, of those that are known, but for documents: the token has to
        reach these."""
        names = set(known.__annotations__) - {"documents"}
        return self.model_dump(include=names, exclude_unset=True)


if TYPE_CHECKING:
    BlockFields = Asked
    RecallFields = Asked
else:
    BlockFields = with_options(Asked, BlockOptions)
    RecallFields = with_options(BlockFields, RecallOptions, left_out=("thread_id",))


class RecallRequest(RecallFields):
    """A question to memory."""

    limit: Annotated[int, Field(ge=0, le=200)] = 10
    kinds: list[Kind] | None = None
    exclude: list[Key] = Field(default_factory=list, max_length=1_000)
    budget_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    documents: Labels | Places | None = None


@routes("POST", "/recall", scope="read")
async def recall(access: Access, *, body: RecallRequest) -> Recall:
    """Return the memories that answer a question, best first, and how they were found."""
    place, options = access.place(body.namespace), body.options()
    if body.documents is not None:
        options["documents"] = access.places(body.documents)
    return await access.store.arecall(body.query, place, **options)


class SaidMessage(Fields):
    """One message of a conversation."""

    model_config = ConfigDict(extra="allow", frozen=True)

    role: Annotated[str, Field(max_length=100)]
    """`user`, `assistant`, or any other that LangChain knows."""
    content: str | list[Any]
    id: Annotated[str, Field(max_length=400)] | None = None
    """By it a message is known again."""
    name: Annotated[str, Field(max_length=400)] | None = None
    """Who said it."""
    at: datetime | None = None
    """When."""


class RememberRequest(Fields):
    """Messages to remember."""

    messages: Annotated[list[SaidMessage], Field(min_length=1, max_length=1_000)]
    thread_id: Annotated[str, Field(min_length=1, max_length=400)]
    namespace: Labels | None = None
    at: datetime | None = None
    """When they were said, for messages that do not tell."""
    owner: Annotated[str, Field(min_length=1, max_length=400)] | None = None
    """Whose words they are; for a token that is bound to a viewer, the viewer's."""
    privacy: Privacy = "shared"


class RememberedKeys(Deferred):
    """What was stored of messages."""

    keys: list[str]
    """Of the memories that were added, in order; what was known already is not among them."""
    redacted: Mapping[str, int]
    """How many credentials were replaced before they were stored, by kind."""


@routes("POST", "/remember", scope="write")
async def remember(access: Access, *, body: RememberRequest) -> RememberedKeys:
    """Store messages word for word. Repeating it adds nothing: a message is known by its id, or by its
    thread, role, text and time. What an assistant said under no name is said by the agent that the token is
    bound to. What such a token says that a person said is trusted as an agent is, unless its scope is
    admin."""
    agent = access.grant.agent
    answers = {"assistant": {"name": agent}, "ai": {"name": agent}} if agent else {}
    done = await access.store.aremember(
        access.place(body.namespace, exact=True),
        [
            trusted(access, {**answers.get(one.role, {}), **one.model_dump(exclude_none=True)})
            for one in body.messages
        ],
        thread_id=body.thread_id,
        at=body.at,
        owner=body.owner,
        privacy=body.privacy,
    )
    return RememberedKeys(keys=list(done), redacted=done.redacted)


DEEP: Final = 200
"""Results that are looked at for the place of the memory."""

Stage = Literal[
    "returned", "namespace", "exclude", "kinds", "trust", "status", "time", "filter", "candidates",
    "derivation", "contentless", "dedupe", "min_score", "budget", "granularity", "limit",
]  # fmt: skip


class WhyNotRequest(Fields):
    """A question to memory, and the memory that was expected among the answers."""

    recall: RecallRequest
    key: Key
    namespace: Labels | None = None
    """Of the memory; without it, that of the question."""


class WhyNot(Deferred):
    """Where a memory was lost."""

    stage: Stage
    reason: str
    """In words, with the next step."""
    memory: Memory
    rank: int | None = None
    """Its place, from 1, in a list of 200; null where it is not among them."""
    result: RecallResult | None = None
    """With its signals, if it has a rank."""
    last: float | None = None
    """The score of the last result that was returned."""


@routes("POST", "/recall/why-not", scope="read")
async def why_not(access: Access, *, body: WhyNotRequest) -> WhyNot:
    """Return the stage at which a memory was lost: it was out of the scope, no channel found it, another one
    stood for it, or it came too far down."""
    asked, options = body.recall, body.recall.options()
    prefix = access.place(asked.namespace)
    place = access.place(body.namespace or asked.namespace, exact=True)
    memory = await access.store.admin.amemory(place, body.key)
    if memory is None:
        raise not_found(body.key, place)
    if (out := _out_of_scope(memory, prefix, options)) is not None:
        return WhyNot(stage=out[0], reason=out[1], memory=memory)

    async def recalled(**changed: Any) -> Recall:
        given: dict[str, Any] = {**options, "explain": True, "counted": False, **changed}
        return await access.store.arecall(asked.query, prefix, **given)

    shown = await recalled()
    last = shown.results[-1].score if shown.results else None
    if (found := _among(shown, memory)) is not None:
        rank, result = found
        said = f"It was returned, at place {rank}."
        return WhyNot(
            stage="returned", reason=said, memory=memory, rank=rank, result=result, last=last
        )
    if (removed := _removed(shown, memory)) is not None:
        return WhyNot(stage=removed[0], reason=removed[1], memory=memory, last=last)
    deep = await recalled(limit=DEEP, min_score=None, budget_tokens=None)
    if (found := _among(deep, memory)) is not None:
        rank, result = found
        stage, said = _too_low(options, rank, result, last, len(shown.results))
        return WhyNot(stage=stage, reason=said, memory=memory, rank=rank, result=result, last=last)
    if (removed := _removed(deep, memory)) is not None:
        return WhyNot(stage=removed[0], reason=removed[1], memory=memory, last=last)
    loose = (
        (await recalled(limit=DEEP, min_score=None, budget_tokens=None, filter=None))
        if options.get("filter")
        else deep
    )
    if _among(loose, memory) is not None:
        said = "The filter leaves it out: its value does not meet it."
        return WhyNot(stage="filter", reason=said, memory=memory, last=last)
    if options.get("granularity") == "session":
        said = "Another turn of its session answers better and stands for it. Ask for turns."
        return WhyNot(stage="granularity", reason=said, memory=memory, last=last)
    said = (
        f"No channel found it: neither its words nor its meaning are near the question. It is not among "
        f"the best {DEEP}. Ask in words closer to what it says, or give it text that says what it is for."
    )
    return WhyNot(stage="candidates", reason=said, memory=memory, last=last)


def _out_of_scope(
    memory: Memory, prefix: Namespace, asked: RecallOptions
) -> tuple[Stage, str] | None:
    """Return why a memory was not looked at, if it was not."""
    if memory.namespace[: len(prefix)] != prefix:
        where = "/".join(memory.namespace)
        return "namespace", f"It lies in {where}, and {'/'.join(prefix)} was searched."
    if memory.key in asked.get("exclude", ()):
        return "exclude", "The question excludes it by name."
    if (kinds := asked.get("kinds")) is not None and memory.kind not in kinds:
        return "kinds", f"It is {memory.kind}, and only {', '.join(kinds)} was asked for."
    if (trust := asked.get("trust")) is not None and memory.trust not in at_least(trust):
        return (
            "trust",
            f"It comes from the source {memory.trust}, which is trusted less than {trust}.",
        )
    if asked.get("known_at") is None:
        held = {"active"} | ({"superseded"} if asked.get("as_of") else set())
        held |= {"archived"} if asked.get("include_archive") else set()
        if memory.status not in held:
            return "status", _standing(memory)
    return _out_of_time(memory, asked)


def _standing(memory: Memory) -> str:
    if memory.status == "superseded":
        by = f" {memory.superseded_by} took its place." if memory.superseded_by else ""
        return f"It is superseded: it no longer holds.{by} Ask as of an earlier time to find it."
    if memory.status == "archived":
        return "It is archived. Ask with include_archive, or restore it."
    return f"It is {memory.status}: it is not believed yet. Approve it first."


def _out_of_time(memory: Memory, asked: RecallOptions) -> tuple[Stage, str] | None:
    at = memory.at
    if (since := asked.get("since")) is not None and at < _utc(since):
        return "time", f"It is of {at:%Y-%m-%d}, before the time asked for."
    if (until := asked.get("until")) is not None and at >= _utc(until):
        return "time", f"It is of {at:%Y-%m-%d}, after the time asked for."
    if (known_at := asked.get("known_at")) is not None and memory.created_at > _utc(known_at):
        return "time", f"It was not known before {memory.created_at:%Y-%m-%d %H:%M}."
    if (as_of := asked.get("as_of")) is not None:
        when = _utc(as_of)
        if memory.valid_at is not None and memory.valid_at > when:
            return (
                "time",
                f"It became true on {memory.valid_at:%Y-%m-%d}, after the time asked about.",
            )
        if memory.invalid_at is not None and memory.invalid_at <= when:
            return "time", f"It was no longer true from {memory.invalid_at:%Y-%m-%d} on."
    return None


def _utc(given: datetime) -> datetime:
    return given if given.tzinfo is not None else given.replace(tzinfo=UTC)


def _among(found: Recall, memory: Memory) -> tuple[int, RecallResult] | None:
    return next(
        (
            (rank, one)
            for rank, one in enumerate(found.results, start=1)
            if (one.memory.namespace, one.memory.key) == (memory.namespace, memory.key)
        ),
        None,
    )


def _removed(found: Recall, memory: Memory) -> tuple[Stage, str] | None:
    """Return the stage that left a memory out and why, as the trace has it."""
    removed = found.trace.removed
    told = removed.get(f"{memory.key} in {'/'.join(memory.namespace)}", removed.get(memory.key))
    if told is None:
        return None
    stage, _, why = told.partition(": ")
    said = f"{why[:1].upper()}{why[1:]}."
    for known in ("derivation", "contentless", "dedupe"):
        if stage == known:
            return known, said
    return "limit", told


def _too_low(
    asked: RecallOptions, rank: int, result: RecallResult, last: float | None, returned: int
) -> tuple[Stage, str]:
    """Return why a memory that was ranked was not returned."""
    score, lowest = f"Its score is {result.score:.3f}", asked.get("min_score")
    if isinstance(lowest, int | float) and result.score < lowest:
        return "min_score", f"{score}, and at least {lowest} was asked for."
    listed = rank <= asked.get("limit", DEFAULTS["limit"])
    if lowest == "auto" and listed:
        return "min_score", f"{score}, which the gate takes for no answer. Ask without min_score."
    if asked.get("budget_tokens") is not None and listed:
        return (
            "budget",
            f"It came at place {rank}, and the budget was used up. Ask with a larger one.",
        )
    beside = "" if last is None else f"; the last that was returned has {last:.3f}"
    return "limit", f"It came at place {rank}, and {returned} were returned. {score}{beside}."
