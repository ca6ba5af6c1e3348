"""LangGraph's store operations in one call, as `BaseStore.batch` takes them; for remote clients."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.base import _ensure_refresh as refreshing
from langgraph.store.base import _ensure_ttl as time_to_live
from pydantic import Field

from langmemory.declaring.fields import Fields, Label, Labels, Text
from langmemory.server.access import Access
from langmemory.server.api.requests import check_folders
from langmemory.server.priorities import ask, lower, trusted
from langmemory.server.routes import Routes
from langmemory.types import Namespace
from langmemory.wire import Deferred

routes = Routes("LangGraph store")

Prefix = Annotated[tuple[Label, ...], Field(max_length=40)]
Count = Annotated[int, Field(ge=0, le=10_000)]
AnyKey = Annotated[str, Field(max_length=1_000, pattern=r"^[^\x00]*$")]
"""As a store on this machine takes it: it may be empty, for it stands in no address."""


class Get(Fields):
    """As LangGraph's GetOp."""

    op: Literal["get"]
    namespace: Labels
    key: AnyKey
    refresh_ttl: bool | None = None
    """Whether reading it prolongs its life; null as the store is configured."""


class Put(Fields):
    """As LangGraph's PutOp."""

    op: Literal["put"]
    namespace: Labels
    key: AnyKey
    value: dict[str, Any] | None
    """Null deletes it."""
    index: Literal[False] | Annotated[list[Text], Field(max_length=100)] | None = None
    ttl: Annotated[float, Field(gt=0, le=5_000_000_000)] | None = None
    """Minutes. Null is for ever; left out, as the store is configured."""


class Search(Fields):
    """As LangGraph's SearchOp."""

    op: Literal["search"]
    namespace_prefix: Prefix = ()
    query: Text | None = None
    filter: dict[str, Any] | None = None
    limit: Count = 10
    offset: Count = 0
    refresh_ttl: bool | None = None


class NamespaceMatch(Fields):
    """As LangGraph's MatchCondition."""

    match_type: Literal["prefix", "suffix"]
    path: Annotated[tuple[Label, ...], Field(max_length=40)]
    """`*` stands for any label."""


class ListNamespaces(Fields):
    """As LangGraph's ListNamespacesOp."""

    op: Literal["list_namespaces"]
    match_conditions: Annotated[list[NamespaceMatch], Field(max_length=20)] | None = None
    max_depth: Annotated[int, Field(ge=1, le=40)] | None = None
    limit: Count = 100
    offset: Count = 0


Operation = Annotated[Get | Put | Search | ListNamespaces, Field(discriminator="op")]


class BatchRequest(Fields):
    """Operations, which are done together: reads first, then all writes in one transaction."""

    ops: Annotated[list[Operation], Field(max_length=1_000)]


class StoredItem(Deferred):
    """An item, as LangGraph has it."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    created_at: str
    updated_at: str
    score: float | None = None
    """Of a search with a query: the cosine similarity."""

    @classmethod
    def of(cls, item: Item) -> StoredItem:
        """Return an item of the store."""
        return cls(
            namespace=list(item.namespace),
            key=item.key,
            value=item.value,
            created_at=item.created_at.isoformat(),
            updated_at=item.updated_at.isoformat(),
            score=item.score if isinstance(item, SearchItem) else None,
        )


class BatchAnswer(Deferred):
    """One answer for each operation, in order."""

    results: list[StoredItem | list[StoredItem] | list[list[str]] | None]
    """Of `get` an item or null, of `put` null, of `search` a list of items, of `list_namespaces` a list of
    namespaces."""


@routes("POST", "/store/batch", scope="read")
async def store_batch(access: Access, *, body: BatchRequest) -> BatchAnswer:
    """Do LangGraph's store operations. `put` needs a token of scope write. To what a token of an agent puts,
    a `trust` is added, unless its scope is admin."""
    if any(isinstance(one, Put) for one in body.ops):
        access.grant.check_scope("write")
    ops: list[Op] = []
    asked: list[tuple[int, int]] = []
    for one in body.ops:
        made = _ops(access, one)
        asked.append((len(ops), len(ops) + len(made)))
        ops.extend(made)
    asked_puts = [one for one in ops if isinstance(one, PutOp)]
    puts = [await lower(access, one) for one in asked_puts]
    lowered = iter(puts)
    found = await access.store.abatch(
        [next(lowered) if isinstance(one, PutOp) else one for one in ops]
    )
    await ask(access, asked_puts, puts)
    results = [
        _answer(one, found[first:last]) for one, (first, last) in zip(body.ops, asked, strict=True)
    ]
    return BatchAnswer(results=results)


def _ops(access: Access, one: Get | Put | Search | ListNamespaces) -> list[Op]:
    """Return an operation as the store takes it; where it lists namespaces and the token reaches some,
    one for each of them."""
    ttl_config = access.store.ttl_config
    if isinstance(one, Get):
        place = access.place(one.namespace, exact=True)
        return [GetOp(place, one.key, refreshing(ttl_config, one.refresh_ttl))]
    if isinstance(one, Put):
        place = access.place(one.namespace, exact=True)
        ttl = one.ttl if "ttl" in one.model_fields_set else time_to_live(ttl_config)
        index = list(one.index) if isinstance(one.index, list) else one.index
        check_folders(one.value)
        value = None if one.value is None else trusted(access, one.value)
        return [PutOp(place, one.key, value, index=index, ttl=ttl)]
    if isinstance(one, Search):
        place = access.place(one.namespace_prefix or None)
        refresh = refreshing(ttl_config, one.refresh_ttl)
        return [SearchOp(place, one.filter, one.limit, one.offset, one.query, refresh)]
    given = tuple(MatchCondition(each.match_type, each.path) for each in one.match_conditions or ())
    reached: tuple[Namespace, ...] = access.grant.namespaces or ((),)
    return [
        ListNamespacesOp(
            (*([MatchCondition("prefix", prefix)] if prefix else []), *given) or None,
            one.max_depth,
            one.limit + one.offset,
            0,
        )
        for prefix in reached
    ]


def _answer(
    one: Get | Put | Search | ListNamespaces, found: list[Any]
) -> StoredItem | list[StoredItem] | list[list[str]] | None:
    if isinstance(one, ListNamespaces):
        every = sorted({labels for some in found for labels in some})
        return [list(labels) for labels in every[one.offset : one.offset + one.limit]]
    [answer] = found
    if isinstance(answer, list):
        return [StoredItem.of(item) for item in answer]
    return None if answer is None else StoredItem.of(answer)
