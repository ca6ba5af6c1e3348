"""RemoteMemoryStore: LangGraph's store, with memory, rooms and documents, over a server's REST API."""

from __future__ import annotations

import math
import ssl
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, Unpack, cast

from langgraph.store.base import (
    NOT_PROVIDED,
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from langmemory.arguments import check_time
from langmemory.declaring import find_room
from langmemory.documents import Documents, Synced
from langmemory.documents.files import Content
from langmemory.documents.places import Roots
from langmemory.documents.records import StoredDocument
from langmemory.errors import ConfigError
from langmemory.hooks import load_object, place_of
from langmemory.messages import Message, as_sent
from langmemory.namespaces import check_namespace
from langmemory.recall_options import RecallOptions
from langmemory.remote.connection import Backoff, Connection, Request, place, sendable
from langmemory.remote.derived import BESIDE_OPERATIONS, RemoteChanges, RemoteRoom, remote_room
from langmemory.search.langgraph import take_apart
from langmemory.steps import Steps, arun_steps, awaiting, blocking, run_steps
from langmemory.types import Forgotten, Namespace, Privacy, Recall, Remembered, Stats
from langmemory.values import check_keys, from_json
from langmemory.wire import adapter

if TYPE_CHECKING:
    pass


class RemoteDocuments(Documents):
    """Files and texts on a server. What changed is sent; the server reads it, cuts it and embeds it."""

    __slots__ = ()

    def __init__(
        self, store: RemoteMemoryStore, connection: Connection, viewer: str | None
    ) -> None:
        """``viewer`` None is whom the token is bound to, if to anyone."""
        self._begin(store, partial(Sender, connection, viewer), Roots(sends=True))


class Sender:
    """Takes documents to a server, and keeps account of what was done with them."""

    def __init__(
        self, connection: Connection, viewer: str | None, namespace: Namespace, *, dry_run: bool
    ) -> None:
        self._connection, self._viewer = connection, viewer
        self._where: dict[str, Any] = {"namespace": place(namespace), "dry_run": dry_run}
        self.dry_run = dry_run
        self.done = Synced()

    def take(self, root: str, path: str, content: Content, known: StoredDocument | None) -> None:
        """Send a document that is new, or may be otherwise than before.

        Raises:
            ImportFormatError: The server cannot read it; nothing was written.
        """
        if (
            known is not None
            and known.document.sha256 == content.sha256
            and known.stamp == content.stamp
        ):
            self.done.unchanged += 1
            return
        self._put(root, path, content, {})

    def together(self, failed: dict[str, str]) -> AbstractContextManager[None]:
        """Send documents one by one all the same: each is answered for itself."""
        return nullcontext()

    def move(self, known: StoredDocument, root: str, path: str, content: Content) -> None:
        """Send a document that is elsewhere: what is known of its parts stays."""
        self._put(root, path, content, {"moved_from": known.document.id})

    def remove(self, known: StoredDocument) -> None:
        """Take a document out."""
        self._ask("DELETE", f"/documents/{known.document.id}", {}, None)

    def link(
        self,
        documents: Callable[[], Mapping[tuple[str, str], StoredDocument]],
        *,
        every: bool = False,
    ) -> None:
        """Have the server make the links that front matter names, after documents were sent."""
        done = self.done
        if every or done.added or done.changed or done.moved or done.removed:
            self._ask("POST", "/documents/links", {}, None)

    def _put(self, root: str, path: str, content: Content, more: Mapping[str, Any]) -> None:
        query = {"root": root, "path": path, "modified_ns": content.stamp.modified_ns, **more}
        self._ask("PUT", "/documents", query, content.data)

    def _ask(self, method: str, path: str, query: Mapping[str, Any], data: bytes | None) -> None:
        request = Request.of(
            method,
            path,
            viewer=self._viewer,
            query={**self._where, **query},
            writes=True,
            data=data,
        )
        self.done += adapter(Synced).validate_json(run_steps(self._connection.request(request)))


if TYPE_CHECKING:
    from langmemory.operations.graph import Graph

AS_THE_SERVER: Final = cast(TTLConfig, {"refresh_on_read": None, "default_ttl": NOT_PROVIDED})
"""Makes `get`, `search` and `put` leave to the server what a call does not say of the TTL."""


class RemoteMemoryStore(BaseStore):
    """A memory file that `langmemory serve` serves, on this machine or another.

    As `MemoryStore`, it is one object for sync and async, any thread and any event loop, and the same
    calls return the same values and raise the same errors. What a token may not do raises `AccessError`, a
    server that does not answer `ServerUnreachableError`.

    Example:
        ```python
        store = RemoteMemoryStore("http://127.0.0.1:8765", token="lmt_…")
        graph = builder.compile(store=store)
        ```
    """

    supports_ttl = True
    __slots__ = ("_connection", "_viewer", "ttl_config")

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        timeout_seconds: float = 30.0,
        connect_timeout_seconds: float = 5.0,
        backoff: Backoff | None = None,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """Nothing is sent before the first call.

        Args:
            address: Of the server, as ``langmemory serve`` prints it.
            token: What ``langmemory token create`` printed. None where the server needs none: it runs on
                this machine.
            timeout_seconds: How long to wait for an answer, at each attempt.
            connect_timeout_seconds: How long to wait for a connection.
            backoff: How often a request is sent again that did not get through. Writes carry an
                Idempotency-Key, so that the server does them once.
            verify: How the certificate of an https server is checked: a context with your own authority,
                True for those of httpx, False not at all.

        Raises:
            ConfigError: The address or the token is not one.
        """
        self._connection = Connection(
            address,
            token=token,
            timeout_seconds=timeout_seconds,
            connect_timeout_seconds=connect_timeout_seconds,
            backoff=backoff or Backoff(),
            verify=verify,
        )
        self._viewer: str | None = None
        self.ttl_config = AS_THE_SERVER

    def __repr__(self) -> str:
        viewer = "" if self._viewer is None else f" of {self._viewer!r}"
        return f"<RemoteMemoryStore{viewer} at {self.address}>"

    @property
    def address(self) -> str:
        """Of the server."""
        return self._connection.address

    def for_viewer(self, viewer: str) -> RemoteMemoryStore:
        """Return the same memory as this person may see it. A token that is bound to a viewer allows
        theirs alone."""
        if not viewer:
            raise ConfigError("viewer is empty; somebody unknown is store.for_anyone().")
        return self._bound(viewer)

    def for_anyone(self) -> RemoteMemoryStore:
        """Return the same memory as somebody unknown may see it: nothing that is private."""
        return self._bound("")

    def _bound(self, viewer: str) -> RemoteMemoryStore:
        if self._viewer is not None and viewer != self._viewer:
            raise ConfigError(
                f"This store is bound to the viewer {self._viewer!r}, not to {viewer!r}. Ask the store "
                "it was made from."
            )
        bound = object.__new__(type(self))
        bound._connection, bound._viewer = self._connection, viewer
        bound.ttl_config = self.ttl_config
        return bound

    # Open and close.

    def close(self) -> None:
        """Close the connections of sync calls, also of the stores made from this one."""
        self._connection.close()

    async def aclose(self) -> None:
        """Close the connections of sync calls and of this event loop."""
        await self._connection.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    # The rooms.

    @property
    def changes(self) -> RemoteChanges:
        """History, evidence, reviews, runs and undo."""
        changes: RemoteChanges = self._room("changes")
        return changes

    @property
    def documents(self) -> RemoteDocuments:
        """Files of this machine, and texts, in the memory of the server."""
        # few need it

        return RemoteDocuments(self, self._connection, self._viewer)

    def graph(
        self,
        namespace: Namespace,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Graph:
        """Return the people and things of a namespace; see `MemoryStore.graph`."""
        check_time("as_of", as_of)
        check_time("known_at", known_at)
        graph: Graph = self._room("graph", namespace=namespace, as_of=as_of, known_at=known_at)
        return graph

    def __getattr__(self, name: str) -> Any:
        """Return a room of which `MemoryStore` says what it does: its operations, over the API."""
        room = None if name.startswith("_") else find_room(name)
        if room is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if not room.parameters:
            return self._room(name)
        return lambda namespace=(), **chosen: self._room(name, namespace=namespace, **chosen)

    def _room(self, name: str, **chosen: Any) -> Any:
        base = BESIDE_OPERATIONS.get(name, RemoteRoom)
        if (place := place_of("remote_rooms", name)) is not None:
            base = load_object(place)
        return remote_room(name, self._connection, self._viewer, base, **chosen)

    # LangGraph's operations.

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations in one request: reads first, then all writes in one transaction."""
        return run_steps(self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` without blocking the event loop."""
        return await arun_steps(self._batch(list(ops)))

    def _batch(self, ops: list[Op]) -> Steps[list[Result]]:
        take_apart(ops)  # checks them as a store on this machine does
        if not ops:
            return []
        raw = yield from self._connection.request(
            Request.of(
                "POST",
                "/store/batch",
                viewer=self._viewer,
                body={"ops": [_sent(op) for op in ops]},
                writes=any(isinstance(op, PutOp) for op in ops),
            )
        )
        answers = from_json(raw.decode())["results"]
        return [_result(op, answer) for op, answer in zip(ops, answers, strict=True)]

    # Memory.

    def _remember(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        *,
        thread_id: str,
        at: datetime | None = None,
        owner: str | None = None,
        privacy: Privacy = "shared",
    ) -> Steps[Remembered]:
        """Store messages word for word; see `MemoryStore.remember`."""
        check_time("at", at)
        body = {
            "namespace": check_namespace(namespace, written=True),
            "messages": as_sent(messages),
            "thread_id": thread_id,
            "at": at,
            "owner": owner,
            "privacy": privacy,
        }
        if not body["messages"]:
            return Remembered()
        found = yield from self._connection.ask(
            "POST", "/remember", dict[str, Any], viewer=self._viewer, body=body, writes=True
        )
        return Remembered(found["keys"], found["redacted"])

    remember, aremember = blocking(_remember), awaiting(_remember)

    def _recall(
        self, query: str, namespace: Namespace, **options: Unpack[RecallOptions]
    ) -> Steps[Recall]:
        """Return the memories that answer a query; see `MemoryStore.recall`."""
        place = check_namespace(namespace, may_be_empty=True)
        given = {name: sendable(value) for name, value in options.items() if value is not None}
        body = {"query": query, "namespace": place or None, **given}
        return self._connection.ask("POST", "/recall", Recall, viewer=self._viewer, body=body)

    recall, arecall = blocking(_recall), awaiting(_recall)

    def _forget(
        self,
        namespace: Namespace,
        *,
        owner: str | None = None,
        entity: str | Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Steps[Forgotten]:
        """Take memories out of the file for good, and prove it; see `MemoryStore.forget`. The token needs
        the scope admin."""
        place = check_namespace(namespace, may_be_empty=True)
        entities = [entity] if isinstance(entity, str) else list(entity or ())
        body = {
            "namespace": place or None,
            "owner": owner,
            "entities": entities,
            "keys": list(keys or ()),
            "everything": everything,
        }
        shown = yield from self._forgetting(body)
        if not dry_run:
            shown = yield from self._forgetting({**body, "confirmation": shown["confirmation"]})
        return cast(Forgotten, adapter(Forgotten).validate_python(shown["forgotten"]))

    def _forgetting(self, body: Mapping[str, Any]) -> Steps[dict[str, Any]]:
        return self._connection.ask(
            "POST", "/forget", dict[str, Any], viewer=self._viewer, body=body, writes=True
        )

    forget, aforget = blocking(_forget), awaiting(_forget)

    def _stats(self) -> Steps[Stats]:
        """Return counts and sizes of the file."""
        return self._connection.ask("GET", "/stats", Stats, viewer=self._viewer)

    stats, astats = blocking(_stats), awaiting(_stats)


BEYOND: Final = 10**400
"""Greater than every float: JSON has no infinity, and a filter compares with this alike."""


NOTHING: Final[dict[str, list[Any]]] = {"$in": []}
"""Matches nothing, as what is compared with NaN does."""
COMPARISONS: Final = ("$eq", "$gt", "$gte", "$lt", "$lte")


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _bounded(filter: Any) -> Any:
    """Return a filter with numbers that JSON has."""
    if isinstance(filter, Mapping):
        if any(_is_nan(one) for name, one in filter.items() if name in COMPARISONS):
            return NOTHING
        return {name: _bounded(one) for name, one in filter.items()}
    if isinstance(filter, list | tuple):
        return [_bounded(one) for one in filter]
    if _is_nan(filter):
        return NOTHING
    if isinstance(filter, float) and math.isinf(filter):
        return BEYOND if filter > 0 else -BEYOND
    return filter


def _sent(op: Op) -> dict[str, Any]:
    """Return an operation as the server takes it."""
    if isinstance(op, GetOp):
        return {
            "op": "get",
            "namespace": op.namespace,
            "key": op.key,
            "refresh_ttl": op.refresh_ttl,
        }
    if isinstance(op, PutOp):
        check_keys(op.value)
        given: object = op.ttl
        ttl = {} if given is NOT_PROVIDED else {"ttl": given}
        return {
            "op": "put",
            "namespace": op.namespace,
            "key": op.key,
            "value": op.value,
            "index": op.index,
            **ttl,
        }
    if isinstance(op, SearchOp):
        return {
            "op": "search",
            "namespace_prefix": op.namespace_prefix,
            "query": op.query,
            "filter": _bounded(op.filter),
            "limit": op.limit,
            "offset": op.offset,
            "refresh_ttl": op.refresh_ttl,
        }
    conditions = op.match_conditions or ()
    return {
        "op": "list_namespaces",
        "match_conditions": [
            {"match_type": one.match_type, "path": one.path} for one in conditions
        ],
        "max_depth": op.max_depth,
        "limit": op.limit,
        "offset": op.offset,
    }


def _result(op: Op, answer: Any) -> Result:
    """Return what the server answered to an operation, as LangGraph has it."""
    if isinstance(op, SearchOp):
        return [SearchItem(**_item(one), score=one["score"]) for one in answer]
    if isinstance(op, ListNamespacesOp):
        return [tuple(labels) for labels in answer]
    return None if answer is None else Item(**_item(answer))


def _item(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "namespace": tuple(answer["namespace"]),
        "key": answer["key"],
        "value": answer["value"],
        "created_at": datetime.fromisoformat(answer["created_at"]),
        "updated_at": datetime.fromisoformat(answer["updated_at"]),
    }
