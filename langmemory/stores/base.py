"""The part of `MemoryStore` that LangGraph knows: opening, batches of operations, TTL, closing."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, NoReturn, Self, cast

from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Op,
    Result,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from langmemory.config import Config, load_config
from langmemory.engines.sqlite import Engine
from langmemory.engines.sqlite.background import journal
from langmemory.engines.sqlite.engine import Snapshot
from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.file.settings import journals, read_model, write_model
from langmemory.engines.sqlite.index import keywords
from langmemory.engines.sqlite.index.vectors import Floats
from langmemory.engines.sqlite.reading import operations
from langmemory.engines.sqlite.reading.operations import Batch, Ranked
from langmemory.engines.sqlite.reading.searching import Searching, now_us
from langmemory.engines.sqlite.records import claims, items, removal
from langmemory.engines.sqlite.scope.filters import Condition
from langmemory.engines.sqlite.writing import verbatim
from langmemory.engines.sqlite.writing.indexing import Draft, IndexConfig, resolve_indexing
from langmemory.engines.sqlite.writing.reindexing import rebuild_keywords
from langmemory.errors import ConfigError, DatabaseError, EmbeddingError
from langmemory.formation.relations.vocabulary import TO_ASSISTANT
from langmemory.stores.following import Reinstatement, aplanned_again, planned_again
from langmemory.stores.opening import Opening
from langmemory.stores.recalling import find_preset
from langmemory.stores.sweeping import Count, Done, Sweeper, SweeperHandle
from langmemory.stores.workers import Workers
from langmemory.types import Namespace, Scope

logger = logging.getLogger("langmemory.store")

DEFAULT_SWEEP_MINUTES: Final = 5.0
"""How often the sweeper runs when the TTL config does not say."""
RESERVED_ROOT: Final = "langgraph"
"""The first label under which `BaseStore.put` refuses to write; what writes here does, too."""
REMOVED_AT_ONCE: Final = 100
"""Items that a transaction deletes where there may be very many (about 10 ms): all of them in one would
keep every other writer waiting, for longer than ``busy_timeout_ms`` from 100,000 on. While parts of the
keyword index are being merged FTS5 goes on with that at each commit, the longer the more rows it deletes:
after 500 in a file of a million some ten seconds."""
Pages = set[tuple[Namespace, str]]
"""Of the journal: namespaces and days."""

_TTL_SWITCHES: Final = ("refresh_on_read", "omit_expired")
_TTL_MINUTES: Final = ("default_ttl", "sweep_interval_minutes")
MAX_TTL_MINUTES: Final = 525_600_000
"""A thousand years: more than anybody means, and a time that datetime can still express."""


class SQLiteBaseStore(BaseStore):
    """A `BaseStore` over the SQLite engine; `MemoryStore` adds memory to it."""

    supports_ttl = True
    __slots__ = (
        "_config", "_engine", "_guarded_loop", "_indexing", "_public_connection", "_searching",
        "_sweeper", "_workers", "ttl_config",
    )  # fmt: skip

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        index: IndexConfig | Mapping[str, Any] | Literal[False] | None = None,
        ttl: TTLConfig | None = None,
        config: Config | None = None,
    ) -> None:
        """See `MemoryStore`."""
        if not isinstance(path, str | os.PathLike | None):
            raise ConfigError(
                f"path is {path!r:.80}; it must be the path of a file, or ':memory:'. The store opens "
                "its connections itself, with a SQLite of its own."
            )
        self._config = config or load_config()
        settings = self._config.database
        self._indexing = resolve_indexing(index, self._config)
        self.ttl_config = _ttl_config(ttl, self._config)
        find_preset(None, self._config)  # a wrong name is told at once, not by the first recall
        self._searching = Searching(
            indexing=self._indexing,
            preset=find_preset(None, self._config, of="search"),
            overfetch=self._config.search.overfetch,
            exact=(self._indexing.config or {}).get("exact", self._config.search.exact),
            omit_expired=bool((self.ttl_config or {}).get("omit_expired")),
        )
        self._engine = Engine(settings.path if path is None else path, settings=settings)
        self._workers = Workers(self._engine.database)
        self._sweeper: Sweeper | None = None
        self._guarded_loop: asyncio.AbstractEventLoop | None = None
        try:
            self._indexing.check_model(self._engine.model, self._engine.database.path)
            if self._engine.keywords_lost:
                with self._engine.write() as connection:
                    if keywords.lost(connection):  # another process may have been faster
                        written = rebuild_keywords(connection, self._indexing)
                        logger.warning(
                            "keyword index of %s: %d rows written anew", self.path, written
                        )
        except BaseException:
            self._engine.close()
            raise

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        index: IndexConfig | Mapping[str, Any] | Literal[False] | None = None,
        ttl: TTLConfig | None = None,
    ) -> Opening[Self]:
        """As LangGraph's `SqliteStore` and `AsyncSqliteStore`: for ``with`` and ``async with``.

        Inside ``async with``, sync methods called on the event loop's own thread are refused with
        `asyncio.InvalidStateError`, as `AsyncSqliteStore` does, because they would block the loop.
        """
        return Opening(cls, conn_string, index=index, ttl=ttl)

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(
            f"The {name} on {self.path} cannot be pickled or copied: threads and connections belong "
            f"to their process. Open it there: {name}({self.path!r})."
        )

    # What LangGraph's stores show of themselves.

    @property
    def index_config(self) -> IndexConfig | None:
        """The index config in use; None with ``index=False``."""
        return self._indexing.config

    @property
    def embeddings(self) -> Embeddings | None:
        """The embedder in use, as LangChain `Embeddings`; None with ``index=False``."""
        return None if self._indexing.embedder is None else self._indexing.embedder.embeddings

    @property
    def path(self) -> str:
        """The file, or ``":memory:"``."""
        return self._engine.database.path

    @property
    def config(self) -> Config:
        return self._config

    @property
    def conn(self) -> Connection:
        """A connection of your own to the file, with sqlite-vec loaded, for SQL by hand. Read only
        through it: what is written past the store is not indexed."""
        return self._engine.public_connection()

    def setup(self) -> Done:
        """Nothing is left to do: opening the file has set it up. May be called or awaited."""
        return Done()

    def close(self) -> None:
        """Stop the threads and close the file. A second call does nothing. A thread that is inside a
        query of `conn` finishes it."""
        if self._sweeper is not None:
            self._sweeper.stop(timeout=5)
        self._workers.close()
        self._engine.close()

    async def aclose(self) -> None:
        """`close` without blocking the loop."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    # BaseStore.

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads first, on one snapshot, then all writes in one transaction."""
        return self._batch(operations.take_apart(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` without blocking the loop; concurrent writes share a commit."""
        return await self._abatch(operations.take_apart(ops))

    def _batch(self, batch: Batch) -> list[Result]:
        self._refuse_blocking()
        writes = self._complete(self._drafts(batch), tokens=False) if batch.puts else []
        if batch.reads:
            self._read(batch, self._searching.embed(operations.queries(batch)))
        if self._has_writes(batch):
            planned_again(lambda: self._write_once(batch, writes))
        return batch.results

    def _write_once(self, batch: Batch, writes: Sequence[items.Write]) -> None:
        planned = self._planned(batch)
        with self._engine.write() as connection:
            pages, follows = self._write(connection, batch, writes, planned)
        self._rewrite(pages)
        if follows:
            self._follow_up()

    def _planned(self, batch: Batch) -> Reinstatement | None:
        """Return what follows from the deletions of a batch, planned from a snapshot."""
        if all(op.value is not None for op in batch.puts):
            return None
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            return self._plan_removal(connection, _gone(connection, batch))

    async def _abatch(self, batch: Batch) -> list[Result]:
        workers = self._workers
        writes: list[items.Write] = []
        if batch.puts:
            writes = await self._awrites(batch)
        if batch.reads:
            queries = operations.queries(batch)
            vectors = None if self._embeds_cheaply() else await self._searching.aembed(queries)

            def read() -> None:
                self._read(batch, self._searching.embed(queries) if vectors is None else vectors)

            only_gets = all(isinstance(op, GetOp) for _, op in batch.reads)
            await (workers.look_up(read) if only_gets else workers.read(read))
        if self._has_writes(batch):
            await aplanned_again(lambda: self._awrite_once(batch, writes))
        return batch.results

    async def _awrite_once(self, batch: Batch, writes: Sequence[items.Write]) -> None:
        workers, planned = self._workers, None
        if any(op.value is None for op in batch.puts):
            planned = await workers.read(lambda: self._planned(batch))
        pages, follows = await workers.write(
            lambda connection: self._write(connection, batch, writes, planned)
        )
        if pages:
            await workers.read(lambda: self._rewrite(pages))
        if follows:
            await workers.read(self._follow_up)

    async def _awrites(self, batch: Batch) -> list[items.Write]:
        """Return what the puts of a batch write, prepared outside the loop's thread."""
        if self._embeds_cheaply():
            return await self._workers.prepare(
                lambda: self._complete(self._drafts(batch), tokens=False)
            )
        drafts = await self._workers.prepare(lambda: self._drafts(batch))
        return await self._acomplete(drafts, tokens=False)

    def _drafts(self, batch: Batch) -> list[Draft]:
        return [
            self._indexing.draft(
                op.namespace, op.key, op.value, index=op.index, ttl_minutes=_checked_ttl(op.ttl)
            )
            for op in batch.puts
            if op.value is not None
        ]

    def _read(self, batch: Batch, vectors: Mapping[str, Floats | None]) -> None:
        def rank(snapshot: Snapshot, op: SearchOp, scope: Scope) -> Ranked:
            query = op.query or ""
            return self._searching.rank(
                snapshot, scope, query, vectors.get(query), op.limit, op.offset
            )

        position, op = batch.reads[0]
        alive_at_us = self._searching.alive_at_us()
        if len(batch.reads) == 1 and isinstance(op, GetOp):  # no snapshot needed
            first_row = self._engine.database.first
            batch.results[position] = operations.get(batch, op, first_row, alive_at_us)
            return
        with self._engine.read() as snapshot:
            operations.read(batch, snapshot, rank, alive_at_us)

    def _has_writes(self, batch: Batch) -> bool:
        return bool(batch.puts or batch.refreshed)

    def _write(
        self,
        connection: Connection,
        batch: Batch,
        writes: Sequence[items.Write],
        planned: Reinstatement | None,
    ) -> tuple[Pages, bool]:
        """Write within the transaction; return the pages that tell of it, and whether something is
        left to be planned."""
        now = now_us()
        pages: Pages = set()
        follows = False
        gone = _gone(connection, batch)
        if planned is not None:
            planned.check(connection, gone)
        if writes:
            claims.claim(connection, writes, batch.viewer, personal=TO_ASSISTANT)
            self._claim_model(connection, writes)
            places = {(one.namespace, one.key) for one in writes}
            pages |= pages_telling_of(connection, places)
            written = items.put(connection, writes, now)
            verbatim.refresh_around(connection, written.replaced)
            if written.reworded:
                self._note_reworded(connection, written.reworded, now)
                follows = True
            pages |= pages_telling_of(connection, places)
        pages |= remove(connection, gone, now, "delete")
        if planned is not None:
            pages |= self._reinstate(connection, planned)
        if batch.refreshed:
            items.refresh_ttl(connection, batch.refreshed, now)
        return pages, follows

    def _note_reworded(
        self, connection: Connection, reworded: Sequence[items.Reworded], now: int
    ) -> None:
        """Note within the transaction that items were given other words, see `Changing`."""

    def _plan_removal(self, connection: Connection, ids: Collection[int]) -> Reinstatement:
        """Plan from a snapshot what holds again once items are gone, see `Changing`."""
        return Reinstatement(changes={}, keys={}, planned_at=0)

    def _reinstate(self, connection: Connection, planned: Reinstatement) -> Pages:
        """Write that within the transaction; return the pages that tell of it."""
        return set()

    def _follow_up(self) -> object:
        """Plan and apply after the transaction what changes left to be planned, see `Changing`."""
        return None

    def _rewrite(self, pages: Pages) -> None:
        """After the transaction: let the files of the journal follow, see `Journaling`."""

    def _claim_model(self, connection: Connection, writes: Sequence[items.Write]) -> None:
        """Within the transaction: the file's vectors are ours, or nobody's yet."""
        embedder = self._indexing.embedder
        first = next((write.embedded for write in writes if len(write.embedded)), None)
        if embedder is None or first is None:
            return
        found = read_model(connection)
        if found.model is None:
            write_model(connection, replace(found, model=embedder.model_id, dims=first.shape[1]))
            return
        self._indexing.check_model(found, self.path)
        if found.dims != first.shape[1]:
            raise EmbeddingError(
                f"{embedder.model_id} answered vectors of {first.shape[1]} dims; the file has "
                f"{found.dims}. Nothing was written."
            )

    def _embeds_cheaply(self) -> bool:
        return self._indexing.embedder is None or self._indexing.embedder.cheap

    def _complete(self, drafts: Sequence[Draft], *, tokens: bool = True) -> list[items.Write]:
        """Drafts of readable texts with all that belongs to them, embedded where the file does not
        know them yet."""
        pending = self._indexing.pending(self._engine, drafts)
        return self._indexing.finish(drafts, self._indexing.embed(drafts, pending, tokens=tokens))

    async def _acomplete(
        self, drafts: Sequence[Draft], *, tokens: bool = True
    ) -> list[items.Write]:
        """`_complete` without blocking the loop."""
        if self._embeds_cheaply():
            return await self._workers.prepare(lambda: self._complete(drafts, tokens=tokens))
        indexing, workers = self._indexing, self._workers
        pending = await workers.prepare(lambda: indexing.pending(self._engine, drafts))
        fresh = await indexing.aembed(pending)
        return await workers.prepare(
            lambda: indexing.finish(
                drafts, indexing.assemble(drafts, pending, fresh, tokens=tokens)
            )
        )

    def _check_namespace(
        self, namespace: Namespace, *, may_be_empty: bool = False, written: bool = False
    ) -> Namespace:
        operations.check_namespace(namespace)
        if not namespace and not may_be_empty:
            raise InvalidNamespaceError("Namespace cannot be empty.")
        validate_op_namespace(GetOp(tuple(namespace), ""))
        if written and namespace[0] == RESERVED_ROOT:
            raise InvalidNamespaceError(
                f"The namespace {tuple(namespace)} begins with {RESERVED_ROOT!r}, which LangGraph "
                "keeps for itself. Choose another first label."
            )
        return tuple(namespace)

    def refuse_blocking_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """From now on, sync methods called on the thread of this loop raise InvalidStateError."""
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
        """Delete expired items; how many. What was deleted before its TTL ended leaves the history
        with it. May be called or awaited."""
        removed = self._remove_all(items.has_expired(now_us()), "expire")
        with self._engine.read() as snapshot:
            ids = removal.outlived(snapshot.connection, now_us())
        for start in range(0, len(ids), REMOVED_AT_ONCE):
            with self._engine.write() as connection:
                removal.expire_gone(connection, ids[start : start + REMOVED_AT_ONCE], now_us())
        return Count(removed)

    def _remove_all(
        self,
        condition: Condition,
        action: Literal["delete", "expire"],
        *,
        reason: str | None = None,
    ) -> int:
        """Delete the items that a condition holds for, `REMOVED_AT_ONCE` in a transaction; how many.
        Between two of them is as long a pause, in which others write: a lock that is taken again at
        once is rarely given to anybody else."""
        with self._engine.read() as snapshot:
            ids = items.those(snapshot.connection, condition)
        removed, took_seconds = 0, 0.0
        for start in range(0, len(ids), REMOVED_AT_ONCE):
            time.sleep(took_seconds)
            try:
                with self._engine.write() as connection:
                    began = time.monotonic()
                    some = items.those(connection, condition, ids[start : start + REMOVED_AT_ONCE])
                    pages = remove(connection, some, now_us(), action, reason=reason)
            except DatabaseError as error:
                if not removed:
                    raise
                raise DatabaseError(
                    f"{removed} of {len(ids)} items are deleted; the others are there. {error} Then "
                    "delete them again."
                ) from error
            took_seconds = time.monotonic() - began
            removed += len(some)
            self._rewrite(pages)
        return removed

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> SweeperHandle:
        """Delete expired items in the background from now on. May be called or awaited.

        A store with a running sweeper is not freed before it is closed or the sweeper stopped.

        Args:
            sweep_interval_minutes: Time between sweeps; None takes the TTL config's, else 5.

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
        """Stop the sweeper; truthy when it has stopped within ``timeout`` seconds. May be awaited."""
        if self._sweeper is None:
            return Count(True)
        stopped = self._sweeper.stop(timeout)
        if stopped:
            self._sweeper = None
        return Count(stopped)


def _gone(connection: Connection, batch: Batch) -> list[int]:
    """Return the items that a batch deletes."""
    found = [
        items.find(connection, op.namespace, op.key, viewer=batch.viewer)
        for op in batch.puts
        if op.value is None
    ]
    return [item for item in found if item is not None]


def remove(
    connection: Connection,
    ids: Sequence[int],
    now: int,
    action: Literal["delete", "expire"],
    *,
    reason: str | None = None,
) -> Pages:
    """Delete items; turns beside them forget their words. The pages of the journal that told of
    them are to be written anew after the transaction."""
    pages = pages_of(connection, ids)
    turns = verbatim.turns_around(connection, ids)
    for item in ids:
        removal.delete(connection, item, now, action=action, reason=reason)
    verbatim.refresh_contexts(connection, turns)
    return pages


def pages_of(connection: Connection, ids: Sequence[int]) -> Pages:
    """The pages of the journal that tell of items, if there are any files of it."""
    return journal.pages_of(connection, ids) if ids and journals(connection) else set()


def pages_telling_of(connection: Connection, places: Iterable[tuple[Namespace, str]]) -> Pages:
    """As `pages_of`, of what is in these places now: to be asked before and after a write."""
    told = [place for place in places if place[1].startswith(journal.KEYS)]
    if not told or not journals(connection):
        return set()
    found = [items.find(connection, *place) for place in told]
    return pages_of(connection, [item for item in found if item is not None])


def _ttl_config(ttl: TTLConfig | None, config: Config) -> TTLConfig:
    """A given TTL config is read as SqliteStore reads it: reading an item prolongs its life only if
    ``refresh_on_read`` says so, or the call does.

    Raises:
        ConfigError: It has an unknown key, or a value of the wrong type.
    """
    if ttl is None:
        return cast("TTLConfig", config.ttl.model_dump())
    known = ", ".join((*_TTL_SWITCHES, *_TTL_MINUTES))
    if not isinstance(ttl, Mapping):
        raise ConfigError(f"ttl is {ttl!r:.80}; it must be a dict with some of {known}.")
    for key, value in ttl.items():
        if key in _TTL_SWITCHES:
            if not isinstance(value, bool):
                raise ConfigError(f"{key} of ttl is {value!r}; it must be True or False.")
        elif key in _TTL_MINUTES:
            _checked_ttl(value, name=f"{key} of ttl")
        else:
            raise ConfigError(f"Unknown key {key!r} in the ttl config. Known: {known}.")
    return cast("TTLConfig", {"refresh_on_read": False, **ttl})


def _checked_ttl(minutes: object, name: str = "ttl") -> float | None:
    if minutes is None:
        return None
    number = minutes if isinstance(minutes, int | float) and minutes is not True else math.nan
    if not 0 < number <= MAX_TTL_MINUTES:
        raise ConfigError(
            f"{name} is {minutes!r} minutes; it must be above 0 and at most {MAX_TTL_MINUTES}, "
            "or None."
        )
    return number
