"""The open file of a store, and what its faces and rooms share."""

from __future__ import annotations

import copy
import logging
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal, TypeVar, cast

from langgraph.store.base import TTLConfig

from langmemory.changes import Change, ChangeSet
from langmemory.config import Config, DatabaseConfig, load_config
from langmemory.errors import ConfigError, DatabaseError, EmbeddingError
from langmemory.hooks import load_object, place_of
from langmemory.ledger import applying, items, journal, removal, usage, verbatim
from langmemory.ledger.applying import Prepared
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine, run_in_write
from langmemory.ledger.filters import Condition
from langmemory.ledger.indexing import IndexConfig, Indexing, Pending, resolve_indexing
from langmemory.ledger.items import Write
from langmemory.ledger.knowledge import StoreKnowledge
from langmemory.ledger.known_names import KnownNames
from langmemory.ledger.records import messages
from langmemory.ledger.settings import MODEL, journals, read_model, write_model
from langmemory.ledger.sparse import SETTING, SparseSetting, note_missed, read_sparse, write_sparse
from langmemory.ledger.usage import UsageCounts
from langmemory.operations.archive import Archive
from langmemory.operations.workers import Workers
from langmemory.pacing import in_steps
from langmemory.ports.candidates import Floats
from langmemory.ports.journal import Projection
from langmemory.recall.accesses import AccessLog, ShownLog
from langmemory.recall.models import Expander, Planner, Reranker
from langmemory.recall.presets import find_preset
from langmemory.recall.sparse_encoders import CheckedEncoder
from langmemory.redaction import Redactor
from langmemory.search.searching import Searching, now_us
from langmemory.steps import Steps, Wait, call
from langmemory.types import Applied, Namespace

T = TypeVar("T")

logger = logging.getLogger("langmemory.store")

REMOVED_AT_ONCE: Final = 100
"""Items that a transaction deletes where there may be very many (about 10 ms): all of them in one would
keep every other writer waiting, for longer than ``busy_timeout_ms`` from 100,000 on. While parts of the
keyword index are being merged FTS5 goes on with that at each commit, the longer the more rows it deletes:
after 500 in a file of a million some ten seconds."""
COUNTS_TIMEOUT_MS: Final = 500
"""How long `close` and an export wait for another process's lock, with nothing but counts to write."""

CLAIMING: Final = (SETTING, (MODEL, ()))
"""What `Core.claim_model` asks, for `Connection.ahead`."""

SEARCH_PRESET: Final = "fast"
"""Recall preset that ranks a hybrid `search`."""

_TTL_SWITCHES: Final = ("refresh_on_read", "omit_expired")
_TTL_MINUTES: Final = ("default_ttl", "sweep_interval_minutes")
MAX_TTL_MINUTES: Final = 525_600_000
"""A thousand years: more than anybody means, and a time that datetime can still express."""


class Core:
    """One open file: the engine, the threads, the models, and what is kept in memory beside them."""

    __slots__ = (
        "_options",
        "accesses",
        "already_shown",
        "archive",
        "config",
        "counts",
        "engine",
        "expander",
        "follow_blocks",
        "indexing",
        "journal",
        "names",
        "planner",
        "redactor",
        "reranker",
        "searching",
        "ttl_config",
        "workers",
    )  # fmt: skip

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        open_engine: Callable[[str | os.PathLike[str], DatabaseConfig], Engine],
        journal: Callable[[Engine], Projection],
        *,
        index: IndexConfig | Mapping[str, Any] | Literal[False] | None,
        ttl: TTLConfig | None,
        config: Config | None,
        expander: Expander | None,
        reranker: Reranker | None,
        redactor: Redactor | None,
        planner: Planner | None = None,
        sparse: CheckedEncoder | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Open the file; see `MemoryStore`.

        ``open_engine`` opens the database, ``journal`` makes the files that follow it.
        """
        if not isinstance(path, str | os.PathLike | None):
            raise ConfigError(
                f"path is {path!r:.80}; it must be the path of a file, ':memory:', or a postgresql:// URL. "
                "The store opens its connections itself."
            )
        self.config = config or load_config()
        settings = self.config.database
        self._options = {name: _option(name, given) for name, given in (options or {}).items()}
        indexing = resolve_indexing(index, self.config)
        self.ttl_config = resolve_ttl(ttl, self.config)
        find_preset(None, self.config)  # a wrong name is told at once, not by the first recall
        preset = find_preset(SEARCH_PRESET, self.config)
        self.engine = open_engine(settings.path if path is None else path, settings)
        if indexing.embedder is not None and not self.engine.holds_vectors:
            indexing = Indexing(embedder=None, mode="keyword", fields=indexing.fields)
        if sparse is not None:
            indexing = replace(indexing, sparse=sparse)
        self.indexing = indexing.of_file(self.engine.model)
        self.searching = Searching(
            indexing=self.indexing,
            preset=preset,
            exact=(self.indexing.config or {}).get("exact", False),
            omit_expired=bool((self.ttl_config or {}).get("omit_expired")),
            clock=self.now_us,
        )
        self.expander, self.reranker, self.redactor = expander, reranker, redactor
        self.planner = planner
        self.accesses, self.already_shown, self.counts = AccessLog(), ShownLog(), UsageCounts()
        durable = settings.model_copy(update={"synchronous": "full"})
        self.archive = Archive(
            self.engine,
            lambda file: open_engine(file, durable),
            self.engine.archive_path(settings),
            self.indexing,
        )
        self.journal = journal(self.engine)
        self.names = KnownNames()
        self.workers = Workers(self.engine)
        self.follow_blocks: Callable[[Core, Namespace], tuple[str, ...]] = _nothing_follows
        """Brings core blocks of a namespace and the files that they are bound to together; one line for
        each. `MemoryStore` sets it."""
        try:
            self.indexing.check_model(self.engine.model, self.engine.path)
            if sparse is not None:
                with self.engine.read() as snapshot:
                    self.indexing.check_encoder(read_sparse(snapshot.connection), self.engine.path)
            self.engine.mend(self.indexing)
        except BaseException:
            self.engine.close()
            raise

    @property
    def path(self) -> str:
        """The file, or ``":memory:"``."""
        return self.engine.path

    def for_viewer(self, viewer: str) -> Core:
        """Return this core, reading as the database shows itself to a viewer."""
        engine = self.engine.for_viewer(viewer)
        if engine is self.engine:
            return self
        found = copy.copy(self)
        found.engine, found.archive, found.names = engine, self.archive.of(engine), KnownNames()
        return found

    def option(self, name: str) -> Any:
        """Return what a part makes of an option of the store; see `hooks.Part.options`."""
        if name not in self._options:
            self._options[name] = _option(name, None)
        return self._options[name]

    def now_us(self) -> int:
        """Return microseconds since 1970 UTC, by the clock that all who use the database share."""
        return now_us() + self.engine.ahead_us

    def close(self) -> None:
        """Stop the threads and close the file."""
        self.workers.close()
        self.archive.close()
        self.engine.close()

    def write_pending(self) -> None:
        """Write the counts that were kept in memory, off the hot path."""
        accesses, counts = self.accesses.drain(), self.counts.drain()
        of_parts = [one for one in self._options.values() if getattr(one, "pending", False)]
        if (accesses or counts or of_parts) and not self.engine.reads_only:
            with self.engine.write(busy_timeout_ms=COUNTS_TIMEOUT_MS) as connection:
                items.count_accesses(connection, accesses)
                usage.add(connection, counts)
                for one in of_parts:
                    one.write(connection)

    def sweep_ttl(self) -> int:
        """Delete expired items, and messages of the bus; return how many items."""
        with self.engine.read() as snapshot:
            due = messages.any_expired(snapshot.connection, self.now_us())
        while due:
            expired = run_in_write(self.engine, lambda there: messages.expire(there, self.now_us()))
            due = expired == messages.EXPIRED_AT_ONCE
        removed = self.remove_all(items.has_expired(self.now_us()), "expire")
        with self.engine.read() as snapshot:
            ids = removal.expired_deletions(snapshot.connection, self.now_us())
        for step in in_steps(ids, REMOVED_AT_ONCE):
            gone = partial(removal.expire_gone, items=step, now_us=self.now_us())
            run_in_write(self.engine, gone)
        return removed

    def write_later(self, write: Callable[[Connection], object]) -> None:
        """Write counts in the background, where they can be written. The function may take them out of
        memory: it is called when the transaction has surely begun."""
        if self.engine.reads_only:
            return

        def begun(connection: Connection) -> object:
            connection.flush()
            return write(connection)

        with suppress(RuntimeError):  # no thread to be had: the next one, or `close`, writes
            self.workers.later(begun)

    def write_accesses(self, connection: Connection) -> None:
        """Write which memories were recalled."""
        items.count_accesses(connection, self.accesses.drain())

    def write_counts(self, connection: Connection) -> None:
        """Write which memories helped."""
        usage.add(connection, self.counts.drain())

    def reading(self, call: Callable[[], Any]) -> Wait:
        """Return a blocking read to wait for; a connection that breaks meanwhile is replaced."""
        retried = partial(self.engine.retried, call)
        return Wait(retried, lambda: self.workers.read(retried))

    def answered(self, read: Callable[[bool], T], vectors: Mapping[str, Floats | None]) -> T:
        """Return what a read answers, once more without the keyword index where that is damaged, cannot be
        written anew, and ``vectors`` of what is asked can answer instead.

        Args:
            read: Takes whether the keyword index can be asked.
            vectors: As they are known when it fails.
        """
        try:
            return self.engine.retried(lambda: read(True))
        except DatabaseError as error:
            known = any(one is not None for one in vectors.values())
            if not (known and self.engine.lacks_keywords(error)):
                raise
        return read(False)

    def answering(self, read: Callable[[bool], T], vectors: Mapping[str, Floats | None]) -> Wait:
        """Return `answered` to wait for."""
        answered = partial(self.answered, read, vectors)
        return Wait(answered, lambda: self.workers.read(answered))

    def preparing(self, call: Callable[[], Any]) -> Wait:
        """Return the preparation of a write to wait for; several are done in order of arrival."""
        return Wait(call, lambda: self.workers.prepare(call))

    def writing(self, write: Callable[[Connection], Any]) -> Wait:
        """Return a transaction to wait for. Beside an event loop, and in threads where commits take long,
        concurrent ones share a commit."""
        if self.engine.shares_commits:
            return Wait(lambda: self.workers.share(write), lambda: self.workers.write(write))
        return Wait(lambda: run_in_write(self.engine, write), lambda: self.workers.write(write))

    def written(self, write: Callable[[Connection], T]) -> Steps[T]:
        """Write in a transaction; the journal's files follow where it marked pages."""
        result: T
        result, marked = yield self.writing(partial(_noting, write))
        if marked:
            yield self.reading(self.journal.follow)
        return result

    def write(self, write: Callable[[Connection], T]) -> T:
        """As `written`, in this thread."""
        result, marked = run_in_write(self.engine, partial(_noting, write))
        if marked:
            self.journal.follow()
        return result

    def complete(self, writes: Sequence[Write], *, tokens: bool = True) -> list[Write]:
        """Return the writes with their vectors, embedded where the file does not have them yet."""
        pending = self.indexing.pending(writes, self.engine)
        self.indexing.encode(writes)
        return self.indexing.embed(writes, pending, tokens=tokens)

    def completed(
        self, draft: Callable[[], Sequence[Write]], *, tokens: bool = True
    ) -> Steps[list[Write]]:
        """Draft writes, and wait for their vectors where a model behind a network makes them."""
        complete: list[Write]
        if self.embeds_cheaply:
            complete = yield self.preparing(lambda: self.complete(draft(), tokens=tokens))
            return complete
        indexing = self.indexing

        def begin() -> tuple[Sequence[Write], Pending]:
            writes = draft()
            return writes, indexing.pending(writes, self.engine)

        writes, pending = yield self.preparing(begin)
        fresh = yield call(indexing, "embed_missing", pending)
        yield call(indexing, "encode", writes)
        complete = yield self.preparing(
            lambda: indexing.finish(writes, pending, fresh, tokens=tokens)
        )
        return complete

    def claim_model(self, connection: Connection, writes: Sequence[Write]) -> None:
        """Check within the transaction that the file's vectors are ours, or nobody's yet."""
        if any(write.sparse is not None for write in writes):
            self._claim_encoder(connection)
        elif self.indexing.sparse is None and any(write.texts or write.body for write in writes):
            note_missed(connection)
        embedder = self.indexing.embedder
        first = next((write.embedded for write in writes if len(write.embedded)), None)
        if embedder is None or first is None:
            return
        found = read_model(connection)
        if found.model is None:
            write_model(connection, replace(found, model=embedder.model_id, dims=first.shape[1]))
            return
        self.indexing.check_model(found, self.path)
        if found.dims != first.shape[1]:
            raise EmbeddingError(
                f"{embedder.model_id} answered vectors of {first.shape[1]} dims; the file has "
                f"{found.dims}. Nothing was written."
            )

    def _claim_encoder(self, connection: Connection) -> None:
        encoder = self.indexing.sparse
        assert encoder is not None
        found = read_sparse(connection)
        if found.encoder is None:
            row = connection.execute("SELECT EXISTS (SELECT 1 FROM item)").fetchone()
            write_sparse(connection, SparseSetting(encoder=encoder.name, gaps=bool(row[0])))
            return
        self.indexing.check_encoder(found, self.path)

    def searchable(self, connection: Connection) -> tuple[bool, str | None]:
        """Return whether the sparse vectors of a snapshot can be searched, and why not or not all, with what
        to do."""
        encoder, found = self.indexing.sparse, read_sparse(connection)
        if encoder is None:
            return False, None
        if found.encoder is None:
            row = connection.execute("SELECT EXISTS (SELECT 1 FROM item)").fetchone()
            return False, "there are no sparse vectors: not asked, run reencode" if row[0] else None
        if found.encoder != encoder.name:
            return (
                False,
                f"the sparse vectors come from {found.encoder}: not asked, reopen the store",
            )
        return not found.gaps, found.lacks

    def knowledge(self, namespace: Namespace, within: Connection | None = None) -> StoreKnowledge:
        """Return what a namespace knows: in a snapshot of its own, or ``within`` another read."""
        return StoreKnowledge(
            self.engine,
            self.indexing,
            namespace,
            alive_at_us=self.searching.alive_at_us(),
            within=within,
            names=self.names,
        )

    @property
    def embeds_cheaply(self) -> bool:
        """Whether all vectors of a text take microseconds."""
        embedder = self.indexing.embedder
        return self.indexing.sparse is None and (embedder is None or embedder.cheap)

    def remove_all(
        self,
        condition: Condition,
        action: Literal["delete", "expire"],
        *,
        reason: str | None = None,
    ) -> int:
        """Delete the items that a condition holds for, `REMOVED_AT_ONCE` in a transaction; how many."""
        with self.engine.read() as snapshot:
            ids = items.those(snapshot.connection, condition)
        removed = 0

        def gone(step: Sequence[int], connection: Connection) -> int:
            some = items.those(connection, condition, step)
            remove(connection, some, self.now_us(), action, reason=reason)
            return len(some)

        for step in in_steps(ids, REMOVED_AT_ONCE):
            try:
                removed += self.write(partial(gone, step))
            except DatabaseError as error:
                if not removed:
                    raise
                raise DatabaseError(
                    f"{removed} of {len(ids)} items are deleted; the others are there. {error} Then "
                    "delete them again."
                ) from error
        return removed


def _nothing_follows(core: Core, namespace: Namespace) -> tuple[str, ...]:
    return ()


_MARKED: Final[ContextVar[bool]] = ContextVar("langmemory_marked", default=False)
"""Whether the write that runs in this context has marked pages of the journal."""


def _noting(write: Callable[[Connection], T], connection: Connection) -> tuple[T, bool]:
    """Return what a write returns, and whether it has marked pages."""
    _MARKED.set(False)
    return write(connection), _MARKED.get()


def remove(
    connection: Connection,
    ids: Sequence[int],
    now: int,
    action: Literal["delete", "expire"],
    *,
    reason: str | None = None,
) -> None:
    """Delete items; turns beside them forget their words."""
    mark_pages(connection, ids)
    turns = verbatim.turns_around(connection, ids)
    for item in ids:
        removal.delete(connection, item, now, action=action, reason=reason)
    verbatim.refresh_contexts(connection, turns)


def apply_run(
    core: Core,
    connection: Connection,
    change_set: ChangeSet,
    prepared: Prepared,
    *,
    writes: Mapping[int, Write] | None = None,
    follows: tuple[Change, ...] = (),
) -> Applied:
    """Apply a change set within the transaction; return what it did."""
    keys = applying.affected_keys(connection, change_set)
    mark_pages(connection, existing(connection, change_set.namespace, keys))
    applied = applying.apply(
        connection, change_set, writes or {}, core.now_us(), prepared=prepared, follows=follows
    )
    mark_pages(connection, journal.items_of_run(connection, applied.run_id))
    return applied


def existing(connection: Connection, namespace: Namespace, keys: Iterable[str]) -> list[int]:
    """Return the ids of those of the items that are there."""
    found = (items.find(connection, namespace, key) for key in keys)
    return [item for item in found if item is not None]


def mark_pages(connection: Connection, ids: Sequence[int]) -> None:
    """Mark the pages of the journal that tell of items, if there are any files of it: before and after
    a change of the items, in its transaction."""
    if not ids or not journals(connection):
        return
    pages = (
        journal.pages_of(connection, ids)
        | journal.retold_in(connection, ids)
        | journal.stated_in(connection, ids)
    )
    if pages:
        journal.mark(connection, pages)
        _MARKED.set(True)


def mark_pages_of(connection: Connection, places: Iterable[tuple[Namespace, str]]) -> None:
    """As `mark_pages`, of what is in these places now."""
    told = [place for place in places if place[1].startswith(journal.KEYS)]
    if told:
        mark_pages(
            connection, [one for where, key in told for one in existing(connection, where, [key])]
        )


def resolve_ttl(ttl: TTLConfig | None, config: Config) -> TTLConfig:
    """Return the TTL config, read as SqliteStore reads it: reading an item prolongs its life
    only if ``refresh_on_read`` says so, or the call does.

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
            checked_ttl(value, name=f"{key} of ttl")
        else:
            raise ConfigError(f"Unknown key {key!r} in the ttl config. Known: {known}.")
    return cast("TTLConfig", {"refresh_on_read": False, **ttl})


def checked_ttl(minutes: object, name: str = "ttl") -> float | None:
    if minutes is None:
        return None
    number = minutes if isinstance(minutes, int | float) and minutes is not True else math.nan
    if not 0 < number <= MAX_TTL_MINUTES:
        raise ConfigError(
            f"{name} is {minutes!r} minutes; it must be above 0 and at most {MAX_TTL_MINUTES}, "
            "or None."
        )
    return number


def _option(name: str, given: Any) -> Any:
    """Return what a part makes of an option of the store.

    Raises:
        TypeError: No part has such an option.
    """
    if (place := place_of("options", name)) is None:
        raise TypeError(f"MemoryStore has no argument {name!r}.")
    return load_object(place)(given)
