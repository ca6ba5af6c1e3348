"""The common part of `MemoryStore` and `ViewerStore`, and the latter: a memory file as one person may see it.

A viewer goes down to the same bodies that the application's store runs, where it is a predicate of the
SQL (`langmemory.ledger.scopes`). What has no method in `ViewerStore` cannot be reached on behalf of
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, Unpack, runtime_checkable

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, Op, PutOp, Result, TTLConfig

from langmemory.arguments import check_time
from langmemory.config import Config
from langmemory.declaring import find_room
from langmemory.errors import OwnershipError
from langmemory.ledger.indexing import IndexConfig
from langmemory.messages import Message
from langmemory.namespaces import check_namespace
from langmemory.operations import batching, recalling, remembering
from langmemory.operations.admin import ViewerAdmin
from langmemory.operations.changes import ViewerChanges
from langmemory.operations.conversing import Conversing
from langmemory.operations.core import Core
from langmemory.operations.core_files import CoreFiles
from langmemory.operations.events import FORGET, RECALL, REMEMBER, Feed
from langmemory.operations.forgetting import forget_for_good
from langmemory.operations.graph import Graph
from langmemory.operations.paging import Pages
from langmemory.operations.procedures import Procedures
from langmemory.recall_options import RecallOptions
from langmemory.redaction import Redactor
from langmemory.search.langgraph import Batch, take_apart
from langmemory.steps import arun_steps, run_steps, twin
from langmemory.types import Forgotten, Namespace, Privacy, Recall, Remembered

if TYPE_CHECKING:
    from langmemory.documents import Documents


class StoreFace(BaseStore):
    """A `BaseStore` over an open file, bound to a viewer."""

    supports_ttl = True
    __slots__ = ("_core", "_viewer", "ttl_config")

    def __init__(self, core: Core, viewer: str | None) -> None:
        """``viewer`` None is the application, which sees everything; ``""`` is somebody unknown."""
        self._core, self._viewer = core, viewer
        self.ttl_config: TTLConfig | None = core.ttl_config

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"The store on {self.path} cannot be pickled or copied: threads and connections belong to "
            f"their process. Open it there: MemoryStore({self.path!r})."
        )

    # What LangGraph's stores show of themselves.

    @property
    def index_config(self) -> IndexConfig | None:
        """The index config in use; None with ``index=False``."""
        return self._core.indexing.config

    @property
    def embeddings(self) -> Embeddings | None:
        """The embedder in use, as LangChain `Embeddings`; None with ``index=False``."""
        embedder = self._core.indexing.embedder
        return None if embedder is None else embedder.embeddings

    @property
    def path(self) -> str:
        """The file, or ``":memory:"``."""
        return self._core.path

    @property
    def config(self) -> Config:
        """The settings in use."""
        return self._core.config

    @property
    def redactor(self) -> Redactor | None:
        """The function that replaces credentials in messages; None replaces nothing."""
        return self._core.redactor

    @property
    def _conversing(self) -> Conversing:
        """For nodes and tools, see `conversing_of`."""
        return Conversing(self._core, self._viewer)

    @property
    def _core_files(self) -> CoreFiles:
        """For nodes and tools, see `langmemory.nodes.access.core_files_of`."""
        return CoreFiles(self._core)

    def for_viewer(self, viewer: str) -> ViewerStore:
        """Return the same memory as this person may see it."""
        raise NotImplementedError

    def for_anyone(self) -> ViewerStore:
        """Return the same memory as somebody unknown may see it: nothing that is private."""
        return ViewerStore(self._core.for_viewer(""), "")

    # The rooms.

    @property
    def changes(self) -> ViewerChanges:
        """History, evidence and reviews of memories that the viewer may read, and removal of them."""
        return ViewerChanges(self._core, self._viewer)

    @property
    def admin(self) -> ViewerAdmin:
        """Lists, exports, usage and deletion of namespaces, within the viewer's rights."""
        return ViewerAdmin(self._core, self._viewer)

    @property
    def pages(self) -> Pages:
        """Lists of the memories that the viewer may read, page by page."""
        return Pages(self._core, self._viewer)

    @property
    def feed(self) -> Feed:
        """The feed of events that the viewer may see, in order."""
        return Feed(self._core.engine, self._viewer)

    @property
    def documents(self) -> Documents:
        """Documents: files and texts that recall finds and cites by path and line."""
        from langmemory.documents import Documents  # few need it, and all would wait for it

        return Documents(self)

    def _relink(
        self, namespace: Namespace, source: str, wanted: Iterable[tuple[str, Iterable[str]]]
    ) -> list[str]:
        """See `Graph._relink`."""
        return self.graph(namespace)._relink(source, wanted)

    @property
    def procedures(self) -> Procedures:
        """Procedures: the steps of tasks, and their outcomes."""
        return Procedures(self._core, self._viewer)

    def __getattr__(self, name: str) -> Any:
        """Return a room that a part has registered."""
        room = None if name.startswith("_") else find_room(name)
        if room is None or not room.for_viewers:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        make = partial(room.cls, self._core, self._viewer)
        return make if room.parameters else make()

    # LangGraph's operations.

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads first, on one snapshot, then all writes in one transaction."""
        return run_steps(batching.steps(self._core, self._taken_apart(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` without blocking the event loop; concurrent writes share a commit."""
        return await arun_steps(batching.steps(self._core, self._taken_apart(ops)))

    def _taken_apart(self, ops: Iterable[Op]) -> Batch:
        return take_apart(ops, self._viewer)

    def put_if(self, put: PutOp, *, updated_at: datetime | None) -> None:
        """Put or delete an item, if it still is what the caller read.

        Args:
            put: The operation; without a value it deletes.
            updated_at: `Item.updated_at` as it was read; None: there is no such item yet.

        Raises:
            ChangedMeanwhileError: It was changed meanwhile; nothing was written.
        """
        self.put_all_if([put], expected={(tuple(put.namespace), put.key): updated_at})

    async def aput_if(self, put: PutOp, *, updated_at: datetime | None) -> None:
        """`put_if` without blocking the event loop."""
        batch = self._taken_apart([put])
        expected = {(tuple(put.namespace), put.key): updated_at}
        await arun_steps(batching.steps(self._core, replace(batch, expected=expected)))

    def put_all_if(
        self, puts: Iterable[PutOp], *, expected: Mapping[tuple[Namespace, str], datetime | None]
    ) -> None:
        """Put or delete items together, if others, or they themselves, still are what the caller read.

        Args:
            puts: The operations.
            expected: `Item.updated_at` as it was read, by namespace and key; None: there is none yet.

        Raises:
            ChangedMeanwhileError: One of the expected was changed meanwhile; nothing was written.
        """
        run_steps(batching.steps(self._core, replace(self._taken_apart(puts), expected=expected)))

    # Memory.

    @REMEMBER
    def remember(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        *,
        thread_id: str,
        at: datetime | None = None,
        owner: str | None = None,
        privacy: Privacy = "shared",
    ) -> Remembered:
        """Store messages word for word as episodic memories, in one transaction. No model is asked.

        Repeating it adds nothing: a message is identified by its id, or without one by its thread,
        role, text and time, and by its owner if somebody else said the same in private. System
        prompts, injected memories and empty messages are left out.

        Args:
            namespace: Whose memory it is, for example ``("memories", user_id)``.
            messages: LangChain messages, or dicts with ``role`` and ``content`` and, if known,
                ``id``, ``name`` and ``at`` (ISO 8601 or datetime).
            thread_id: LangGraph's thread; messages are neighbours within it.
            at: The time of messages without one; by default now.
            owner: The owner of the messages, if several people share a namespace.
            privacy: Who may recall them; ``private`` is for their owner alone. A confidential message
                becomes private by rule (``privacy.confidences`` of the configuration), in a run that
                can be undone.

        Returns:
            Keys of the added memories, in order. Its ``redacted`` counts replaced credentials.

        Raises:
            InvalidValueError: A message is not one; nothing was stored.
            EmbeddingError: The embedder failed; nothing was stored.
        """
        facets = {"owner": self._owner(owner, privacy), "privacy": privacy}
        return run_steps(remembering.steps(self._core, namespace, messages, thread_id, at, facets))

    @REMEMBER
    async def aremember(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        *,
        thread_id: str,
        at: datetime | None = None,
        owner: str | None = None,
        privacy: Privacy = "shared",
    ) -> Remembered:
        """`remember` without blocking the event loop."""
        facets = {"owner": self._owner(owner, privacy), "privacy": privacy}
        return await arun_steps(
            remembering.steps(self._core, namespace, messages, thread_id, at, facets)
        )

    def _owner(self, owner: str | None, privacy: Privacy) -> str | None:
        """Return whose words they are."""
        return owner

    @RECALL
    def recall(self, query: str, namespace: Namespace, **options: Unpack[RecallOptions]) -> Recall:
        """Return the memories that answer a query, best first, and how they were found.

        Args:
            query: A question or statement in any language; of any length.
            namespace: Prefix by whole labels; ``()`` is the whole store.
            options: See `RecallOptions`.

        Returns:
            Results with text, time, speaker, score and its parts, and the trace. When the embedder
            fails, words alone decide and ``trace.degraded`` says so.

        Raises:
            ConfigError: No such preset, a bad option, or a query that is no text.
        """
        return run_steps(recalling.steps(self._core, self._viewer, query, namespace, options))

    @RECALL
    async def arecall(
        self, query: str, namespace: Namespace, **options: Unpack[RecallOptions]
    ) -> Recall:
        """`recall` without blocking the event loop."""
        return await arun_steps(
            recalling.steps(self._core, self._viewer, query, namespace, options)
        )

    def graph(
        self,
        namespace: Namespace,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Graph:
        """Return the people and things of a namespace, and what its memories claim about them.

        Args:
            namespace: Exactly this one: a Lena in another namespace is another person.
            as_of: The graph as it was true in the world at this time; None is now.
            known_at: The graph as the system believed it at this time; None is now.
        """
        check_time("as_of", as_of)
        check_time("known_at", known_at)
        return Graph(
            self._core, self._viewer, check_namespace(namespace), as_of=as_of, known_at=known_at
        )


class ViewerStore(StoreFace):
    """A `BaseStore` over the same file, bound to one viewer; made by `MemoryStore.for_viewer`.

    Private memories of other people do not exist in it: it does not find, list, count or delete them.
    Only their keys are taken. The viewer owns what they store.

    Raises:
        OwnershipError: A key is not free, or a memory would become private to somebody else.
    """

    __slots__ = ()
    _viewer: str

    def __repr__(self) -> str:
        return f"<ViewerStore of {self._viewer!r} on {self.path}>"

    @property
    def viewer(self) -> str:
        """The viewer; ``""`` is somebody unknown, who owns nothing."""
        return self._viewer

    def for_viewer(self, viewer: str) -> ViewerStore:
        """Return this store, if it is this viewer's.

        Raises:
            OwnershipError: It is another's; only the application's store can be bound anew.
        """
        self._check(viewer)
        return self

    @FORGET
    def forget(self, namespace: Namespace, *, dry_run: bool = False) -> Forgotten:
        """Forget all the viewer owns here; see `MemoryStore.forget`."""
        return forget_for_good(self._core, namespace, owner=self._known(), dry_run=dry_run)

    aforget = twin(forget)

    # Who is asking.

    def _taken_apart(self, ops: Iterable[Op]) -> Batch:
        return take_apart((self._with_owner(op) for op in ops), self._viewer)

    def _with_owner(self, op: Op) -> Op:
        """Return an operation as the viewer does it. A put of something private says whose it is, for
        those who read values."""
        if not (isinstance(op, PutOp) and isinstance(op.value, dict) and self._viewer):
            return op
        if op.value.get("privacy") != "private" or op.value.get("owner"):
            return op
        return op._replace(value={**op.value, "owner": self._viewer})

    def _known(self) -> str:
        if not self._viewer:
            raise OwnershipError("Somebody unknown owns nothing; ask on behalf of a viewer.")
        return self._viewer

    def _owner(self, owner: str | None, privacy: Privacy) -> str | None:
        if owner is not None:
            self._check(owner)
        return self._known() if privacy == "private" else self._viewer or None

    def _check(self, viewer: str | None) -> None:
        if viewer != self._viewer:
            raise OwnershipError(
                f"This store is bound to the viewer {self._viewer!r}, not to {viewer!r}. Leave the "
                "argument out, or ask the application's store."
            )


@runtime_checkable
class AwareStore(Protocol):
    """A `BaseStore` that recalls, remembers and can be bound to a viewer, be its file here or elsewhere."""

    @property
    def changes(self) -> Any:
        """History, evidence, and taking memories out in runs, as `ViewerChanges` does."""

    @property
    def admin(self) -> Any:
        """What memories were used for, as `ViewerAdmin` counts it."""

    def for_viewer(self, viewer: str) -> Any:
        """Return the same memory as this person may see it."""

    def for_anyone(self) -> Any:
        """Return the same memory as somebody unknown may see it."""


AwareT = TypeVar("AwareT", bound=AwareStore)


def bound(store: AwareT, viewer: str | None) -> AwareT:
    """Return a store bound to a viewer: None leaves it as it is, ``""`` is somebody unknown."""
    if viewer is None:
        return store
    found: AwareT = store.for_viewer(viewer) if viewer else store.for_anyone()
    return found
