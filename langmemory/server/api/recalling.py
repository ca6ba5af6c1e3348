"""Recall and remember over REST."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from langmemory.server.access import Access
from langmemory.server.api.requests import Fields, Key, Labels, Places, Text
from langmemory.server.routes import Routes
from langmemory.stores.rooms import RecallOptions
from langmemory.types import Granularity, Kind, MinScore, Privacy, Recall
from langmemory.wire import Deferred

routes = Routes("Recall and remember")


class RecallRequest(Fields):
    """A question to memory."""

    query: Text
    """A question or statement in any language."""
    namespace: Labels | None = None
    """Prefix by whole labels; without it, what the token is bound to."""
    limit: Annotated[int, Field(ge=0, le=200)] = 10
    kinds: list[Kind] | None = None
    """Only these kinds of memory."""
    as_of: datetime | None = None
    """Only what was true in the world at this time."""
    known_at: datetime | None = None
    """Only what the system believed at this time."""
    since: datetime | None = None
    """Only what was said, or became true, at or after this time."""
    until: datetime | None = None
    """Only what was said, or became true, before this time."""
    exclude: list[Key] = Field(default_factory=list, max_length=1_000)
    """Keys not to be returned."""
    filter: dict[str, Any] | None = None
    """LangGraph filter over the values."""
    min_score: Annotated[MinScore, Field(description='A probability, 0 to 1, or "auto".')] = None
    budget_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Return the best results whose texts fit into so many tokens."""
    preset: str | None = None
    include_archive: bool = False
    include_demoted: bool = True
    """Also what has the priority `archive`; false is for prompts."""
    granularity: Granularity = "turn"
    explain: bool = False
    """Fill the explanation of every result and the whole trace."""
    counted: bool = True
    """Count it as an access of what it finds. False is for a person who looks into memory."""
    documents: Labels | Places | None = None
    """Also the documents of exactly this namespace, or of several: each question of the query is answered by
    what was said and by documents, as far as either is likely to."""
    now: datetime | None = None
    """The moment that "last week" counts from; without it the clock, in UTC."""

    def options(self) -> RecallOptions:
        """Return them as the store takes them."""
        given: RecallOptions = self.model_dump(
            exclude={"query", "namespace", "documents"}, exclude_unset=True
        )  # type: ignore[assignment]
        return given


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
    thread, role, text and time."""
    done = await access.store.aremember(
        access.place(body.namespace, exact=True),
        [one.model_dump(exclude_none=True) for one in body.messages],
        thread_id=body.thread_id,
        at=body.at,
        owner=body.owner,
        privacy=body.privacy,
    )
    return RememberedKeys(keys=list(done), redacted=done.redacted)
