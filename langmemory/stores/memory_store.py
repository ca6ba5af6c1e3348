"""MemoryStore: LangGraph's store with long-term memory."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Self, TypeVar

from langgraph.store.base import Op, Result, TTLConfig

from langmemory.addresses import in_schema
from langmemory.chat_models import named_chat_model
from langmemory.config import Config, ModelsConfig, load_config
from langmemory.engines.opening import open_engine
from langmemory.errors import ClosedStoreError, ConfigError, DatabaseError, LangMemoryError
from langmemory.ledger.indexing import IndexConfig
from langmemory.operations.admin import Admin
from langmemory.operations.changes import Changes
from langmemory.operations.copying import refuse_unfinished
from langmemory.operations.core import Core
from langmemory.operations.core_files import CoreFiles, follow_blocks
from langmemory.operations.events import FORGET
from langmemory.operations.following import follow_up
from langmemory.operations.forgetting import complete_forgetting, forget_for_good
from langmemory.operations.jobs import Jobs
from langmemory.operations.journal import journal_of
from langmemory.operations.lifecycle import Lifecycle
from langmemory.operations.paging import FilePages
from langmemory.operations.recalling import as_expander, as_planner, as_reranker
from langmemory.operations.tokens import Tokens
from langmemory.ports.sparse import SparseEncoder
from langmemory.projections.journal import Journal
from langmemory.recall.models import Expander, Planner, Reranker
from langmemory.recall.rerankers import is_reranker
from langmemory.recall.sparse_encoders import checked_encoder
from langmemory.redaction import Redactor, redactor_of
from langmemory.steps import twin
from langmemory.stores.face import StoreFace, ViewerStore
from langmemory.types import Forgotten, Namespace, Stats

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.language_models import BaseChatModel

    from langmemory.documents.projects import Projects


class Count(int):
    """A number that may also be awaited, so that sync and async callers share one method."""

    def __await__(self) -> Generator[Any, None, int]:
        return int(self)
        yield  # makes this a generator


class Done:
    """The answer of a finished call, for whoever awaits it."""

    def __await__(self) -> Generator[Any, None, None]:
        return None
        yield  # makes this a generator


class SweeperHandle(Future[None]):
    """Completes when the sweeper has stopped. Awaiting it returns at once: the sweeper runs."""

    def __await__(self) -> Generator[Any, None, SweeperHandle]:
        return self
        yield  # makes this a generator


class Sweeper:
    """Calls ``sweep`` every so many minutes until stopped."""

    def __init__(self, sweep: Callable[[], int], interval_minutes: float) -> None:
        self._sweep = sweep
        self._interval_seconds = min(interval_minutes * 60, threading.TIMEOUT_MAX)
        self._stop = threading.Event()
        self.handle = SweeperHandle()
        self._thread = threading.Thread(target=self._run, name="langmemory-sweeper", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.wait(self._interval_seconds):
            try:
                swept = self._sweep()
            except ClosedStoreError:  # in the middle of a long one
                break
            except LangMemoryError:
                logger.exception(
                    "TTL sweep failed; the next one is due in %g s", self._interval_seconds
                )
                continue
            if swept:
                logger.info("TTL sweep deleted %d items", swept)
        if self.handle.set_running_or_notify_cancel():
            self.handle.set_result(None)

    def stop(self, timeout: float | None) -> bool:
        """Ask it to stop; return whether it has, after at most ``timeout`` seconds."""
        self._stop.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()


logger = logging.getLogger("langmemory.store")

DEFAULT_SWEEP_MINUTES: Final = 5.0
"""Default time between two sweeps."""


StoreT = TypeVar("StoreT", bound="MemoryStore")


class MemoryStore(StoreFace):
    """Long-term memory in one SQLite file, or on a PostgreSQL server: a `BaseStore` that searches by meaning
    and by words.

    One class for sync and async, for any thread and any event loop. Several stores, in several
    processes, may work on one memory and see each other's writes. Closing is optional: ``close`` (or
    ``with``) frees threads and connections at once.

    Example:
        ```python
        store = MemoryStore("memory.db")
        store.put(("users", "maria"), "food", {"text": "Maria is allergic to peanuts"})
        store.search(("users",), query="what must Maria not eat?")
        ```
    """

    __slots__ = ("_guarded_loop", "_public_connection", "_sweeper")

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        index: IndexConfig | Mapping[str, Any] | Literal[False] | None = None,
        ttl: TTLConfig | None = None,
        config: Config | None = None,
        expander: BaseChatModel | Expander | None = None,
        reranker: BaseDocumentCompressor | BaseChatModel | Reranker | str | None = None,
        planner: BaseChatModel | Planner | None = None,
        sparse: SparseEncoder | Any | None = None,
        redact: Redactor | bool | None = None,
        schema: str | None = None,
        **options: Any,
    ) -> None:
        """Open a memory, creating it if there is none.

        Args:
            path: The file, ``":memory:"``, or the address of a PostgreSQL server,
                ``"postgresql://user:password@host/database?schema=name"``; without one, the configured
                path.
            index: LangGraph's index config (``dims``, ``embed``, ``fields``), plus ``search``:
                ``"hybrid"`` (default), ``"semantic"`` or ``"keyword"``. None: the embedded model,
                which needs no server. False: keywords only.
            ttl: LangGraph's TTL config, in minutes. None: the configured one. As in SqliteStore,
                reads prolong an item's life only with ``refresh_on_read=True`` (or ``refresh_ttl``).
            config: Settings; None reads ``config/memory.json`` and the environment.
            expander: A LangChain chat model that rewords a query with few results; None takes the
                configured one. If it fails, the trace says so.
            reranker: A LangChain document compressor or chat model that decides the final order of a
                recall, or a name such as ``"bge"`` (`langmemory.recall.rerankers`, extra ``rerank``);
                None takes the configured one. If it fails, the earlier order stays and the trace says
                so.
            planner: A LangChain chat model, or a function, that splits a query into questions for
                recalls with documents; None uses rules. If it fails, the rules are used and the trace
                says so.
            sparse: An encoder of sparse vectors, which recall then searches too: a
                `langmemory.ports.sparse.SparseEncoder`, LangChain's ``SparseEmbeddings``, one of
                sentence-transformers, or ``"splade:MODEL"`` (extra ``rerank``). None takes the
                configured one; by default there is no such channel. If it fails, a write stores
                nothing, and a recall continues without it. `langmemory.reencode` encodes existing
                memories.
            redact: Replaces credentials in turns before they are stored: a function from a text to the
                text to store; True is `langmemory.redaction`'s own, False none. None takes the
                configured value, by default True.
            schema: The schema on the server, instead of that of the address; its default is
                ``langmemory``.
            options: Those of parts, such as ``vault_key``, a `langmemory.parts.vault.VaultKey` or several.

        Raises:
            DatabaseError: The file cannot be opened or is no memory file; the server refuses the
                connection.
            EmbeddingModelMismatchError: The file's vectors come from another model, or the sparse ones from
                another encoder.
            ConfigError: A setting is wrong.
        """
        config = config or load_config()
        if schema is not None:
            path = in_schema(config.database.path if path is None else path, schema)
        core = Core(
            path,
            open_engine,
            journal_of,
            index=index,
            ttl=ttl,
            config=config,
            expander=as_expander(expander or _configured_model(config.models, "expand")),
            reranker=as_reranker(reranker or _configured_reranker(config.models)),
            planner=as_planner(planner),
            sparse=checked_encoder(_configured_sparse(config, index) if sparse is None else sparse),
            redactor=redactor_of(config.privacy.redact if redact is None else redact),
            options=options,
        )
        try:
            refuse_unfinished(core.engine)
        except BaseException:
            core.close()
            raise
        core.follow_blocks = follow_blocks
        super().__init__(core, None)
        self._sweeper: Sweeper | None = None
        self._guarded_loop: asyncio.AbstractEventLoop | None = None
        follow_up(core)  # of a process that ended between a change and what follows from it
        core.journal.follow()
        if core.engine.remaining is not None:
            with suppress(RuntimeError):  # no thread to be had: whoever opens it next
                core.workers.beside(lambda: complete_forgetting(core))

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        index: IndexConfig | Mapping[str, Any] | Literal[False] | None = None,
        ttl: TTLConfig | None = None,
        schema: str | None = None,
    ) -> Opening[Self]:
        """Return a store for ``with`` and ``async with``, as the stores of LangGraph do.

        Inside ``async with``, sync methods called on the event loop's own thread are refused with
        `asyncio.InvalidStateError`, as `AsyncSqliteStore` does, because they would block the loop.
        """
        return Opening(cls, conn_string, index=index, ttl=ttl, schema=schema)

    @property
    def conn(self) -> Any:
        """A connection of your own to the file, with sqlite-vec loaded, for SQL by hand. Only read
        through it: the store does not index rows that others write."""
        return self._core.engine.public_connection()

    def setup(self) -> Done:
        """Do nothing, because opening the file sets it up. May be called or awaited."""
        return Done()

    def close(self) -> None:
        """Write pending changes, stop the threads and close the file. A second call does nothing.

        Pending counts of recalls and uses are lost if the file cannot be written, for example while
        another process locks it. A thread that is inside a query of
        `conn` finishes it.
        """
        try:
            self._core.write_pending()
        except ClosedStoreError:
            pass
        except DatabaseError as error:
            why = type(error.__cause__ or error).__name__
            logger.warning("usage_counts_lost path=%s error=%s", self.path, why)
        finally:
            if self._sweeper is not None:
                self._sweeper.stop(timeout=5)
            self._core.close()

    aclose = twin(close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    def for_viewer(self, viewer: str) -> ViewerStore:
        """Return a `BaseStore` over the same memory that shows only what this person may see, for
        nodes, tools and applications that act on their behalf. The original store stays usable.

        Raises:
            ConfigError: ``viewer`` is empty or no string.
        """
        if not isinstance(viewer, str) or not viewer:
            raise ConfigError(
                f"The viewer is {viewer!r}; pass the id of a person. For somebody unknown there is "
                "for_anyone(); the application itself, which sees everything, uses the store as it "
                "is."
            )
        return ViewerStore(self._core.for_viewer(viewer), viewer)

    # The rooms.

    @property
    def changes(self) -> Changes:
        """Change sets, runs, history, undo and reviews."""
        return Changes(self._core, None)

    @property
    def core_files(self) -> CoreFiles:
        """Core blocks that are bound to Markdown files, such as ``AGENTS.md``, in both directions."""
        return CoreFiles(self._core)

    @property
    def jobs(self) -> Jobs:
        """The queue of reflections in this file."""
        return Jobs(self._core.engine, self._core.workers)

    @property
    def lifecycle(self) -> Lifecycle:
        """Retention of memories, nights of maintenance, and their undo."""
        return Lifecycle(self._core)

    @property
    def admin(self) -> Admin:
        """The file as a whole: listing, export and import, deleting namespaces, checks, usage."""
        return Admin(self._core, None)

    @property
    def pages(self) -> FilePages:
        """Lists of the file, page by page."""
        return FilePages(self._core, None)

    @property
    def projects(self) -> Projects:
        """Projects: folders with their documents, and documents that may be outdated."""
        from langmemory.documents.projects import Projects  # few need it, and all would wait for it

        return Projects(self)

    @property
    def tokens(self) -> Tokens:
        """The tokens of clients of the server."""
        return Tokens(self._core.engine)

    @property
    def journal(self) -> Journal:
        """The journal: pages of Markdown with the changes of each day."""
        return journal_of(self._core.engine)

    # The file as a whole.

    @FORGET
    def forget(
        self,
        namespace: Namespace,
        *,
        owner: str | None = None,
        entity: str | Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        purge: Literal["now", "later"] = "now",
    ) -> Forgotten:
        """Take memories out of the file for good, with all that was made from them, and prove it.

        Gone are texts, vectors, keywords and cached embeddings, what the history, runs, reviews and
        jobs said of them, facts without other evidence, entities nobody else speaks of, and what the
        journal's files tell. That they were forgotten stays in the history, under a
        sealed key; neither a client that sends a message again nor an import brings them back. It cannot
        be undone. The deleted rows are overwritten with zeros. SQLite may have left older copies of
        them in free space, so the file is then written anew (``VACUUM``), and its bytes are searched. What
        moved to the archive file comes back first, and that file is treated in the same way.
        If the process ends before that, the store that opens the file next does it, in the background.

        Args:
            namespace: Prefix by whole labels, ``()`` is the whole store; for ``keys`` the namespace
                itself.
            owner: Everything this person owns, or owned.
            entity: Everything that speaks of this person or thing, given by a name or key; or of
                each of several.
            keys: The memories of these keys, of before and now.
            everything: All of the namespace and of those below it, whoever owns it.
            dry_run: Only say what would go, and how it begins.
            purge: ``now`` writes the file anew before this returns; every writer waits for that: some
                seconds for 100,000 memories. ``later`` leaves it, and the search through the bytes, to
                the next call with ``now`` or to the store that opens the file next.

        Raises:
            ConfigError: It is not said what is to be forgotten, ``everything`` is of no namespace, or
                ``purge`` is neither of the two.
            ForgettingError: The memories are gone, but the file could not be purged or read, or the
                journal not be written to; it says why.
        """
        return forget_for_good(
            self._core, namespace, owner=owner, entity=entity, keys=keys, everything=everything,
            dry_run=dry_run, purge=purge,
        )  # fmt: skip

    aforget = twin(forget)

    def stats(self) -> Stats:
        """Return counts and sizes of the file."""
        with self._core.engine.read() as snapshot:
            found = snapshot.stats()
        archive = self._core.archive
        return replace(found, archived=archive.count(), archive_bytes=archive.bytes())

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads first, on one snapshot, then all writes in one transaction."""
        self._refuse_blocking()
        return super().batch(ops)

    def _refuse_blocking_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make sync methods that are called on the thread of this loop raise InvalidStateError."""
        self._guarded_loop = loop

    def _refuse_blocking(self) -> None:
        if self._guarded_loop is None:
            return
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            return
        if running is self._guarded_loop:
            raise asyncio.InvalidStateError(
                "A sync method of a store opened with `async with` was called on the event loop's "
                "thread, where it would block the loop. Await its async twin (aget, aput, "
                "asearch, …), or open the store with MemoryStore(path)."
            )

    # TTL.

    def sweep_ttl(self) -> Count:
        """Delete expired items and return their number. The history of items that were deleted earlier
        is erased when their TTL ends. May be called or awaited."""
        return Count(self._core.sweep_ttl())

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> SweeperHandle:
        """Delete expired items in the background from now on. May be called or awaited.

        A store with a running sweeper is not freed before it is closed or the sweeper stopped.

        Args:
            sweep_interval_minutes: Time between sweeps; None takes that of the TTL config, else 5.

        Returns:
            A future that completes when the sweeper has stopped.
        """
        if self._sweeper is not None and self._sweeper.running:
            return self._sweeper.handle
        interval = sweep_interval_minutes
        if interval is None:
            interval = (self.ttl_config or {}).get("sweep_interval_minutes")
        interval = DEFAULT_SWEEP_MINUTES if interval is None else float(interval)
        if interval <= 0:
            raise ConfigError(f"sweep_interval_minutes is {interval}; it must be above 0.")
        self._sweeper = Sweeper(self.sweep_ttl, interval)
        return self._sweeper.handle

    def stop_ttl_sweeper(self, timeout: float | None = None) -> Count:
        """Stop the sweeper; truthy if it stops within ``timeout`` seconds. May be awaited."""
        if self._sweeper is None:
            return Count(True)
        stopped = self._sweeper.stop(timeout)
        if stopped:
            self._sweeper = None
        return Count(stopped)


class Opening(Generic[StoreT]):
    """A store that ``with`` or ``async with`` opens and closes."""

    def __init__(self, cls: type[StoreT], path: str, **options: Any) -> None:
        self._cls, self._path, self._options = cls, path, options
        self._store: StoreT | None = None

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"This store is not open yet, and has no {name!r}. Write `with "
            f"{self._cls.__name__}.from_conn_string(…) as store:` (or `async with`), or open it by "
            f"{self._cls.__name__}(path)."
        )

    def _open(self) -> StoreT:
        return self._cls(self._path, **self._options)

    def __enter__(self) -> StoreT:
        self._store = self._open()
        return self._store

    def __exit__(self, *error: object) -> None:
        if self._store is not None:
            self._store.close()

    async def __aenter__(self) -> StoreT:
        store = await asyncio.to_thread(self._open)
        store._refuse_blocking_on(asyncio.get_running_loop())
        self._store = store
        return store

    async def __aexit__(self, *error: object) -> None:
        if self._store is not None:
            await self._store.aclose()


def _configured_model(
    models: ModelsConfig, role: Literal["expand", "rerank"]
) -> BaseChatModel | None:
    """Return the chat model that the configuration names for a part of recall."""
    name: str | None = getattr(models, role)
    return None if name is None else named_chat_model(name, models)


def _configured_sparse(config: Config, index: object) -> str | None:
    """Return the name of the configured sparse encoder; none where nothing is to be embedded."""
    return None if index is False else config.models.sparse


def _configured_reranker(models: ModelsConfig) -> BaseChatModel | str | None:
    """Return the chat model that the configuration names as a reranker, or the name of one that is none."""
    if models.rerank is not None and is_reranker(models.rerank):
        return models.rerank
    return _configured_model(models, "rerank")
