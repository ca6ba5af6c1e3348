"""The common part of `MemoryStore` and the store of one viewer: LangGraph's operations, remember, recall
and the graph, for whoever the store is bound to."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, NoReturn, Unpack

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, Op, Result, TTLConfig

from langmemory.arguments import check_time
from langmemory.config import Config
from langmemory.messages import Message
from langmemory.namespaces import check_namespace
from langmemory.redaction import Redactor
from langmemory.stores.rooms import (
    RECALL,
    REMEMBER,
    Batch,
    Conversing,
    Core,
    Graph,
    IndexConfig,
    RecallOptions,
    ViewerAdmin,
    ViewerChanges,
    batching,
    recalling,
    remembering,
    take_apart,
)
from langmemory.twins import aled, led
from langmemory.types import Namespace, Privacy, Recall, Remembered

if TYPE_CHECKING:
    from langmemory.stores.viewer import ViewerStore


class StoreFace(BaseStore):
    """A `BaseStore` over an open file, bound to whoever asks."""

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
        """The function that replaces credentials in what is remembered; None replaces nothing."""
        return self._core.redactor

    @property
    def _conversing(self) -> Conversing:
        """For nodes and tools, see `conversing_of`."""
        return Conversing(self._core, self._viewer)

    def for_viewer(self, viewer: str) -> ViewerStore:
        """Return the same memory as this person may see it."""
        raise NotImplementedError

    def for_anyone(self) -> ViewerStore:
        """Return the same memory as somebody unknown may see it: nothing that is private."""
        from langmemory.stores.viewer import ViewerStore

        return ViewerStore(self._core, "")

    # The rooms.

    @property
    def changes(self) -> ViewerChanges:
        """History, evidence and reviews of what the viewer may read, and what they may take out."""
        return ViewerChanges(self._core, self._viewer)

    @property
    def admin(self) -> ViewerAdmin:
        """Listing, export, usage and deleting namespaces, as far as the viewer may."""
        return ViewerAdmin(self._core, self._viewer)

    # LangGraph's operations.

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads first, on one snapshot, then all writes in one transaction."""
        return led(batching.steps(self._core, self._taken_apart(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` without blocking the event loop; concurrent writes share a commit."""
        return await aled(batching.steps(self._core, self._taken_apart(ops)))

    def _taken_apart(self, ops: Iterable[Op]) -> Batch:
        return take_apart(ops, self._viewer)

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

        Repeating it adds nothing: a message is known by its id, or without one by its thread, role,
        text and time, and by its owner where somebody else said the same in private. System
        prompts, injected memories and empty messages are left out.

        Args:
            namespace: Whose memory it is, for example ``("memories", user_id)``.
            messages: LangChain messages, or dicts with ``role`` and ``content`` and, if known,
                ``id``, ``name`` and ``at`` (ISO 8601 or datetime).
            thread_id: LangGraph's thread; messages are neighbours within it.
            at: When they were said, for messages that do not tell; now if nobody does.
            owner: Whose words they are, where several people share a namespace.
            privacy: Who may recall them; ``private`` is for their owner alone. What is shared becomes
                private by rule where the owner says it in confidence (``privacy.confidences`` of the
                configuration), in a run that can be undone.

        Returns:
            Keys of the memories that were added, in order. Its ``redacted`` counts the credentials
            that were replaced in them.

        Raises:
            InvalidValueError: A message is not one; nothing was stored.
            EmbeddingError: The embedder failed; nothing was stored.
        """
        facets = {"owner": self._owner(owner, privacy), "privacy": privacy}
        return led(remembering.steps(self._core, namespace, messages, thread_id, at, facets))

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
        return await aled(remembering.steps(self._core, namespace, messages, thread_id, at, facets))

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
        return led(recalling.steps(self._core, self._viewer, query, namespace, options))

    @RECALL
    async def arecall(
        self, query: str, namespace: Namespace, **options: Unpack[RecallOptions]
    ) -> Recall:
        """`recall` without blocking the event loop."""
        return await aled(recalling.steps(self._core, self._viewer, query, namespace, options))

    def graph(
        self,
        namespace: Namespace,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Graph:
        """Return the people and things of a namespace, and what its memories claim about them.

        Args:
            namespace: Exactly this one: who is called Lena in another is another Lena.
            as_of: What was true in the world at this time; None: what is now.
            known_at: What the system believed at this time; None: what it believes now.
        """
        check_time("as_of", as_of)
        check_time("known_at", known_at)
        return Graph(
            self._core.engine,
            check_namespace(namespace),
            viewer=self._viewer,
            as_of=as_of,
            known_at=known_at,
            alive_at_us=self._core.searching.alive_at_us(),
        )


def bound(store: StoreFace, viewer: str | None) -> StoreFace:
    """Return a store bound to a viewer: None leaves it as it is, ``""`` is somebody unknown."""
    if viewer is None:
        return store
    return store.for_viewer(viewer) if viewer else store.for_anyone()
