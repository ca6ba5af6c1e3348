"""Memories one by one: what was said (episodic), what is known (semantic), and scratch (working); what a
person corrects, each in a run that can be undone; and all of it as one page, `MEMORY.md`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import uuid4

from langgraph.store.base import PutOp
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from langmemory.changes import Facets
from langmemory.declaring.fields import Fields, Id, Key, Labels, Text
from langmemory.errors import ChangedMeanwhileError
from langmemory.labels import label_of
from langmemory.maintenance.edits import take_page
from langmemory.messages import turn_key
from langmemory.projections.journal.memory_page import MemoryPageError, edits_of
from langmemory.server.access import Access, tag_of
from langmemory.server.api.recalling import RecallRequest
from langmemory.server.api.requests import KeyPath, Listing, Place, check_folders, not_found
from langmemory.server.priorities import LOWERED, ask, give, lower, said_by, trusted
from langmemory.server.problems import Problem
from langmemory.server.replay import derived_key
from langmemory.server.routes import Routes
from langmemory.types import (
    Ageing,
    Applied,
    Kind,
    Memory,
    Namespace,
    Page,
    Priority,
    Privacy,
    Recall,
)
from langmemory.wire import Deferred

routes = Routes("Memories")


class MemoryListing(Listing):
    """Which memories."""

    since: datetime | None = None
    """Only what was said, or became true, at or after this time."""
    until: datetime | None = None
    """Only what was said, or became true, before this time."""
    past: bool = False
    """Also what no longer holds: superseded, archived, not yet active."""


def _listed(access: Access, asked: MemoryListing, kind: Kind) -> Page[Memory]:
    return access.store.pages.memories(
        access.place(asked.namespace),
        kinds=[kind],
        since=asked.since,
        until=asked.until,
        past=asked.past,
        cursor=asked.cursor,
        limit=asked.limit,
    )


def _found(
    access: Access, namespace: Namespace | None, key: str, kind: Kind | None = None
) -> Memory:
    place = access.place(namespace, exact=True)
    found = access.store.admin.memory(place, key)
    if found is None or kind not in (None, found.kind):
        raise not_found(key, place)
    return found


@routes("GET", "/memories/{key:path}", scope="read", conditional=True)
def get_memory(access: Access, *, path: KeyPath, query: Place) -> Memory:
    """Return one memory, whatever its kind and status."""
    return _found(access, query.namespace, path.key)


class Removal(Place):
    """Where, and why."""

    reason: Annotated[str, Field(min_length=1, max_length=1_000)] = "deleted over the API"


@routes("DELETE", "/memories/{key:path}", scope="write", conditional=True)
def delete_memory(access: Access, *, path: KeyPath, query: Removal) -> Applied:
    """Delete a memory, whatever its kind, in a run of its own, which can be undone. To erase it for good, use
    `forget`."""
    return _removed(access, _found(access, query.namespace, path.key), query.reason)


class MemorySearch(RecallRequest):
    """A question to memories of one kind."""

    kinds: Literal[None] = None
    """Always null: the path says which."""


class QuerySearch(Place):
    """The same in a query; `POST` takes all options of a recall."""

    query: Text
    """A question or statement in any language."""
    limit: Annotated[int, Field(ge=0, le=200)] = 10


async def _searched(access: Access, asked: MemorySearch | QuerySearch, kind: Kind) -> Recall:
    options = {"limit": asked.limit} if isinstance(asked, QuerySearch) else asked.options()
    options["kinds"] = [kind]
    return await access.store.arecall(asked.query, access.place(asked.namespace), **options)


# Episodic: word for word, append only.


@routes("GET", "/episodic", scope="read")
def list_episodic(access: Access, *, query: MemoryListing) -> Page[Memory]:
    """List what was said, last first."""
    return _listed(access, query, "episodic")


@routes("POST", "/episodic/search", scope="read")
async def search_episodic(access: Access, *, body: MemorySearch) -> Recall:
    """Search what was said."""
    return await _searched(access, body, "episodic")


@routes("GET", "/episodic/search", scope="read")
async def find_episodic(access: Access, *, query: QuerySearch) -> Recall:
    """Search what was said, by a query alone."""
    return await _searched(access, query, "episodic")


@routes("GET", "/episodic/{key:path}", scope="read", conditional=True)
def get_episodic(access: Access, *, path: KeyPath, query: Place) -> Memory:
    """Return one turn or event."""
    return _found(access, query.namespace, path.key, "episodic")


class Event(Fields):
    """Something that was said or happened, word for word."""

    text: Annotated[str, Field(min_length=1, max_length=200_000)]
    thread_id: Id
    """The conversation, or log, it belongs to."""
    namespace: Labels | None = None
    role: Annotated[str, Field(pattern="^(user|assistant)$")] = "user"
    speaker: Annotated[str, Field(max_length=400)] | None = None
    """Who said it; without it, the agent that the token is bound to, else the role."""
    at: datetime | None = None
    """When; without it, now."""
    privacy: Privacy = "shared"
    priority: Priority | None = None
    """How it is shown. A mandate needs a token of scope admin; with less it is a guardrail, and a review asks
    a person."""


@routes("POST", "/episodic", scope="write", status=201, conditional=True)
async def add_episodic(access: Access, *, body: Event) -> Memory:
    """Store one event word for word. What was known already is returned as it is."""
    place, store = access.place(body.namespace, exact=True), access.store
    id = derived_key(access.sender, access.idempotency_key, uuid4().hex)
    speaker = body.speaker or access.grant.agent
    message = trusted(access, {"role": body.role, "content": body.text, "name": speaker, "id": id})
    done = await store.aremember(
        place, [message], thread_id=body.thread_id, at=body.at, privacy=body.privacy
    )
    key = done[0] if done else turn_key(body.thread_id, id)
    if body.priority is not None:
        await give(access, place, key, body.priority)
    found = await store.admin.amemory(place, key)
    if found is None:
        raise Problem("invalid", "body/text: it says nothing that is remembered.")
    return found


# Semantic: facts and whatever else an application knows.


@routes("GET", "/semantic", scope="read")
def list_semantic(access: Access, *, query: MemoryListing) -> Page[Memory]:
    """List what is known, last first."""
    return _listed(access, query, "semantic")


@routes("POST", "/semantic/search", scope="read")
async def search_semantic(access: Access, *, body: MemorySearch) -> Recall:
    """Search what is known."""
    return await _searched(access, body, "semantic")


@routes("GET", "/semantic/search", scope="read")
async def find_semantic(access: Access, *, query: QuerySearch) -> Recall:
    """Search what is known, by a query alone."""
    return await _searched(access, query, "semantic")


@routes("GET", "/semantic/{key:path}", scope="read", conditional=True)
def get_semantic(access: Access, *, path: KeyPath, query: Place) -> Memory:
    """Return one fact."""
    return _found(access, query.namespace, path.key, "semantic")


class MemoryContent(Fields):
    """What is to be stored."""

    value: dict[str, Any]
    """Any object; its `text`, or else its scalar values, are searched. Facets in it count: `importance`,
    `confidence`, `privacy`, `priority`, `pinned`, `verified`, `status`, `speaker` (else the agent that the
    token is bound to). A mandate needs a token of scope admin; with less it is a guardrail, and a review asks
    a person."""
    index: Literal[False] | Annotated[list[Text], Field(max_length=100)] | None = None
    """Paths that are indexed; null for those of the store, false for none."""
    ttl_minutes: Annotated[float, Field(gt=0, le=5_000_000_000)] | None = None
    """How long it is kept; null for ever."""

    def put(self, namespace: Namespace, key: str, kind: Kind) -> PutOp:
        """Return the operation; Problem where the value says it is of another kind."""
        if self.value.get("kind", kind) in _OTHER[kind]:
            raise Problem("invalid", f"body/value/kind: this path is for {kind} memories.")
        check_folders(self.value)
        index = list(self.index) if isinstance(self.index, list) else self.index
        return PutOp(namespace, key, self.value, index=index, ttl=self.ttl_minutes)


_KINDS: tuple[Kind, ...] = (
    "core", "working", "episodic", "semantic", "procedural", "archival", "resource",
)  # fmt: skip
_OTHER: Mapping[Kind, frozenset[str]] = {kind: frozenset({*_KINDS} - {kind}) for kind in _KINDS}


class NewMemory(MemoryContent):
    """A new memory."""

    namespace: Labels | None = None
    key: Key | None = None
    """Without it, one is made."""


async def _written(access: Access, put: PutOp, *, create: bool) -> Memory:
    """Write, if the last version was seen, and return what is there now."""
    store, asked = access.store, put
    put = await lower(access, asked)
    if create:
        try:
            await store.aput_if(put, updated_at=None)
        except ChangedMeanwhileError:
            before = await store.admin.amemory(put.namespace, put.key)
            if before is None or before.value != put.value or access.idempotency_key is None:
                raise Problem(
                    "conflict", f"There is a memory {put.key!r} already; PUT replaces it."
                ) from None
    elif access.is_conditional:
        before = await store.admin.amemory(put.namespace, put.key)
        access.check_version(tag_of(before))
        await store.aput_if(put, updated_at=before.updated_at if before else None)
    else:
        await store.abatch([put])
    await ask(access, [asked], [put])
    found = await store.admin.amemory(put.namespace, put.key)
    if found is None:
        raise not_found(put.key, put.namespace)
    return found


@routes("POST", "/semantic", scope="write", status=201, conditional=True)
async def add_semantic(access: Access, *, body: NewMemory) -> Memory:
    """Add a memory."""
    key = body.key or derived_key(access.sender, access.idempotency_key, uuid4().hex)
    place = access.place(body.namespace, exact=True)
    put = said_by(access, body.put(place, key, "semantic"))
    return await _written(access, put, create=True)


@routes("PUT", "/semantic/{key:path}", scope="write", conditional=True)
async def put_semantic(
    access: Access, *, path: KeyPath, query: Place, body: MemoryContent
) -> Memory:
    """Write a memory, new or not. The history keeps what it was."""
    place = access.place(query.namespace, exact=True)
    put = said_by(access, body.put(place, path.key, "semantic"))
    return await _written(access, put, create=False)


@routes("DELETE", "/semantic/{key:path}", scope="write", conditional=True)
def delete_semantic(access: Access, *, path: KeyPath, query: Removal) -> Applied:
    """Delete a fact in a run of its own, which can be undone. To erase it for good, use `forget`."""
    return _removed(access, _found(access, query.namespace, path.key, "semantic"), query.reason)


def _removed(access: Access, found: Memory, reason: str) -> Applied:
    """Delete a memory, if its last version was seen."""
    access.check_version(tag_of(found))
    expected = found.updated_at if access.is_conditional else None
    return access.store.changes.remove(
        found.namespace, found.key, reason=reason, updated_at=expected
    )


# Working: scratch of one session.


class SessionPath(Fields):
    """Which session."""

    session: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00/]+$")]


class ScratchValue(MemoryContent):
    """What a session is to keep for a while."""

    ttl_minutes: Annotated[float, Field(gt=0, le=5_000_000_000)] | None = 60.0
    """How long it is kept; null for ever."""
    key: Key | None = None
    """Without it, one is made; what has this key is replaced."""


def _session(access: Access, namespace: Namespace | None, session: str) -> Namespace:
    return (*access.place(namespace, exact=True), "working", label_of(session))


@routes("GET", "/working/{session}", scope="read")
def list_working(access: Access, *, path: SessionPath, query: Listing) -> Page[Memory]:
    """List the scratch of a session, last first."""
    place = _session(access, query.namespace, path.session)
    asked = MemoryListing(namespace=place, limit=query.limit, cursor=query.cursor)
    return _listed(access, asked, "working")


@routes("POST", "/working/{session}", scope="write", status=201, conditional=True)
async def add_working(
    access: Access, *, path: SessionPath, query: Place, body: ScratchValue
) -> Memory:
    """Keep something for a session, for an hour unless it says otherwise."""
    key = body.key or derived_key(access.sender, access.idempotency_key, uuid4().hex)
    put = body.put(_session(access, query.namespace, path.session), key, "working")
    return await _written(
        access, put._replace(value={**body.value, "kind": "working"}), create=False
    )


class Deleted(Deferred):
    """How many."""

    deleted: int


@routes("DELETE", "/working/{session}", scope="write")
def delete_working(access: Access, *, path: SessionPath, query: Place) -> Deleted:
    """Delete the scratch of a session."""
    place = _session(access, query.namespace, path.session)
    return Deleted(deleted=access.store.admin.delete_namespace(place))


page_routes = Routes("MEMORY.md")

Owner = Annotated[str, Field(max_length=400)]


class PageQuery(Place):
    """Which page."""

    owner: Owner | None = None
    """Whose private memories; without it, what everybody in the namespace may read."""


class MemoryPageView(Deferred):
    """One page as it would be written now."""

    namespace: list[str]
    owner: str | None
    text: str
    """Markdown. Its last line says what was written; edits are found by it, so it is to stay."""
    owners: list[str]
    """Who has a page of private memories here."""

    @property
    def etag(self) -> str:
        """The version of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


def _page(access: Access, place: Namespace, owner: str | None) -> MemoryPageView:
    store = access.whole()
    pages = store.journal.memory_pages(
        place,
        budget_tokens=store.config.lifecycle.memory_page_tokens,
        now=datetime.now(UTC),
    )
    if owner not in pages:
        raise Problem("not-found", f"{owner!r} has no private memories here.")
    return MemoryPageView(
        namespace=list(place),
        owner=owner,
        text=pages[owner],
        owners=[one for one in pages if one is not None],
    )


@page_routes("GET", "/memory-page", scope="read", conditional=True)
def get_memory_page(access: Access, *, query: PageQuery) -> MemoryPageView:
    """Return `MEMORY.md` of a namespace: core blocks, and the most salient memories."""
    return _page(access, access.place(query.namespace, exact=True), query.owner)


class EditedPage(Fields):
    """A page that a person edited."""

    text: Text
    """The whole page, with the last line as it was."""
    namespace: Labels | None = None
    dry_run: bool = False
    """Say what would happen, and change nothing."""


class TakenPage(Deferred):
    """What was taken up of a page."""

    applied: list[Applied]
    """In memories, and in core blocks: at most two runs, which can be undone."""
    page: MemoryPageView
    """As it is afterwards."""

    @property
    def etag(self) -> str:
        """The version of the page."""
        return self.page.etag


@page_routes("POST", "/memory-page", scope="write", conditional=True)
def take_memory_page(access: Access, *, body: EditedPage) -> TakenPage:
    """Take up what was changed on a page. A changed line is another text of its memory, a line that is gone
    archives it, a new line is a new memory; where memory says something else by now, a review asks."""
    if access.grant.trust == "agent":
        raise Problem(
            "scope",
            "A page is edited by a person: this needs a token of no agent, or of scope admin.",
        )
    store, place = access.whole(), access.place(body.namespace, exact=True)
    try:
        edits = edits_of(body.text)
    except MemoryPageError:
        raise Problem(
            "invalid",
            "body/text: its last line, which says what was written, is gone or was changed. Read the page "
            "again, and edit that.",
        ) from None
    owner = edits.written.owner
    if edits.written.namespace != place:
        raise Problem(
            "invalid",
            f"body/text: this page is of {'/'.join(edits.written.namespace)}, not of {'/'.join(place)}.",
        )
    if access.is_conditional:
        access.check_version(f'"{_page(access, place, owner).etag}"')
    applied = take_page(store, edits, now=datetime.now(UTC), dry_run=body.dry_run)
    try:
        left = _page(access, place, owner)
    except Problem:  # its last private memory is gone
        left = _page(access, place, None)
    return TakenPage(applied=applied, page=left)


correction_routes = Routes("Corrections")

Reason = Annotated[str, Field(min_length=1, max_length=1_000)]


class MemoryPlace(Fields):
    """Which memory, and why."""

    key: Key
    namespace: Labels | None = None
    reason: Reason = "corrected over the API"


class Correction(MemoryPlace):
    """What is to be different; what is not named stays."""

    text: Annotated[Text, Field(pattern=r"\S")] | None = None
    """What it is to say. What was said word for word (episodic) cannot be made to say something else."""
    pinned: bool | None = None
    """It does not fade, and no night archives it."""
    verified: bool | None = None
    """A person confirmed it."""
    importance: Annotated[float, Field(ge=0, le=1)] | None = None
    """From .9 on it is shown as a guardrail."""
    priority: Priority | None = None
    """How it is shown. A mandate needs a token of scope admin; with less it is a guardrail, and a review asks
    a person."""
    updated_at: datetime | None = None
    """As it was when it was read; if it was changed since, this is refused."""


def _memory(access: Access, asked: MemoryPlace) -> Memory:
    place = access.place(asked.namespace, exact=True)
    found = access.store.admin.memory(place, asked.key)
    if found is None:
        raise not_found(asked.key, place)
    access.check_version(tag_of(found))
    return found


@correction_routes("POST", "/corrections", scope="write")
async def correct_memory(access: Access, *, body: Correction) -> Applied:
    """Change what a memory says, pin it, confirm it, or say how it is shown."""
    given: dict[str, Any] = {
        name: getattr(body, name)
        for name in ("pinned", "verified", "importance", "priority")
        if getattr(body, name) is not None
    }
    if body.text is None and not given:
        raise Problem(
            "invalid", "Name what is to change: text, pinned, verified, importance or priority."
        )
    found = await run_in_threadpool(_memory, access, body)
    asks = not access.grant.may_give(given.get("priority", "reference"))
    if asks:
        given["priority"] = found.priority if found.priority == "mandate" else LOWERED
    applied = await access.store.changes.acorrect(
        found.namespace,
        found.key,
        value=None if body.text is None else trusted(access, _saying(found, body.text)),
        facets=Facets(**given),
        reason=body.reason,
        updated_at=found.updated_at if access.is_conditional else body.updated_at,
    )
    if asks and given["priority"] == LOWERED:
        await access.store.changes.apropose_mandate(found.namespace, found.key, reason=body.reason)
    return applied


def _saying(memory: Memory, text: str) -> dict[str, Any]:
    """Return the value of a memory with another text."""
    if memory.kind == "episodic":
        raise Problem(
            "verbatim",
            "This was said word for word, and stays so. Correct the fact that was made of it, or archive "
            "or forget this.",
        )
    named = [name for name, told in memory.value.items() if told == memory.text]
    if len(named) != 1:
        raise Problem(
            "conflict", "Its text is made of several fields. Write its value with PUT /semantic."
        )
    return {**memory.value, named[0]: text}


@correction_routes("POST", "/archive", scope="write")
def archive_memory(access: Access, *, body: MemoryPlace) -> Applied:
    """Put a memory away: it is kept, and not recalled any more."""
    found = _memory(access, body)
    return access.store.changes.archive(found.namespace, found.key, reason=body.reason)


@correction_routes("POST", "/restore", scope="write")
def restore_memory(access: Access, *, body: MemoryPlace) -> Applied:
    """Bring back a memory that was put away."""
    found = _memory(access, body)
    return access.whole().lifecycle.restore(found.namespace, found.key, reason=body.reason)


class Fading(Deferred):
    """How far a memory has faded."""

    ageing: Ageing | None
    """Null for what does not age, such as a turn."""


class AgeingQuery(Place):
    """Which memory, and when."""

    key: Key
    now: datetime | None = None
    """By which time; without it, now."""


@correction_routes("GET", "/ageing", scope="read")
def get_ageing(access: Access, *, query: AgeingQuery) -> Fading:
    """Return how far a memory has faded: `2^(-age / half-life)` of it is left."""
    place = access.place(query.namespace, exact=True)
    found = _memory(access, MemoryPlace(key=query.key, namespace=place))
    places = [(found.namespace, found.key)]
    return Fading(ageing=access.application.lifecycle.ageing(places, now=query.now)[0])
