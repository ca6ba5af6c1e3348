"""Recall and remember over REST."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field

from langmemory.declaring.fields import Fields, Key, Labels, Places, Text
from langmemory.recall_options import BlockOptions, RecallOptions
from langmemory.server.access import Access
from langmemory.server.api.requests import with_options
from langmemory.server.routes import Routes
from langmemory.types import Kind, Privacy, Recall
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
