"""One file as an engine: transactions in, consistent snapshots out, its checks, its leftovers."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from typing import Final, TypeVar

import apsw
import numpy as np

from langmemory.config import DEFAULT_DATABASE, MIB, DatabaseConfig, EngineConfig
from langmemory.engines.sqlite import indexes, keyword_search, schema
from langmemory.engines.sqlite.connection import (
    Connection,
    Database,
    clear_errors,
    is_damage,
    is_keyword_damage,
)
from langmemory.engines.sqlite.indexes import IndexedConnection
from langmemory.engines.sqlite.rescue import Rescued, damaged_rows, rescued
from langmemory.errors import ConfigError, DatabaseError
from langmemory.languages import index_text
from langmemory.ledger import consistency
from langmemory.ledger.connection import SLOT_BITS
from langmemory.ledger.consistency import problem, problem_of_query
from langmemory.ledger.forgetting.residue import MOST_WORDS
from langmemory.ledger.history import newest
from langmemory.ledger.indexing import Indexing
from langmemory.ledger.scopes import CompiledScope
from langmemory.ledger.settings import ModelSetting, read_model, remaining
from langmemory.ports.candidates import NOTHING, Floats, Ids, KeywordQuery, ScoredIds
from langmemory.ports.sparse import Pairs
from langmemory.search import binary, sparse_search, vector_search
from langmemory.search.binary import BinaryQuantizedIndex
from langmemory.search.chunks import sign_bits
from langmemory.search.copies import Copies
from langmemory.search.scope_plan import CardinalityCache, ScopedSnapshot, ScopePlan
from langmemory.types import Namespace, Stats

MOST_BYTES: Final = 20_000_000_000
"""Of all words together so many bytes are looked at (about 20 s): fewer words in a large file."""

READ_BYTES: Final = 32 << 20
OVERLAP_BYTES: Final = 1 << 20
"""Longer than any word or passage worth looking for."""


def found_terms(connection: Connection, words: Iterable[str]) -> bool:
    """Return whether the keyword index still holds one of the words for a row that is gone."""
    connection.execute(
        "CREATE VIRTUAL TABLE temp.probe USING fts5 "
        "(body, tokenize = 'porter unicode61 remove_diacritics 2');"
        "CREATE VIRTUAL TABLE temp.probe_term USING fts5vocab ('temp', 'probe', 'row');"
        "CREATE VIRTUAL TABLE temp.keyword_term USING fts5vocab ('main', 'keyword', 'instance')"
    )
    try:
        connection.executemany(
            "INSERT INTO temp.probe (body) VALUES (?)", [(index_text(word),) for word in words]
        )
        row = connection.execute(
            "SELECT EXISTS (SELECT 1 FROM temp.probe_term p CROSS JOIN temp.keyword_term k "
            "ON k.term = p.term WHERE k.doc NOT IN (SELECT id FROM keyword_docsize))"
        ).fetchone()
        return bool(row[0])
    finally:
        connection.execute(
            "DROP TABLE IF EXISTS temp.keyword_term; DROP TABLE IF EXISTS temp.probe_term; "
            "DROP TABLE IF EXISTS temp.probe"  # a disk that fails takes them back before this
        )


def found_in_bytes(database: Database, words: list[str]) -> tuple[int, list[str]]:
    """Return how many of the words were looked for, and the files that still hold one of them.

    As they were written and in lower case, in the file and its WAL; in memory, in the pages.
    """
    if database.in_memory:
        with database.read() as connection:
            image = connection.serialize("main")
        looked = _affordable(words, len(image))
        return len(looked), [database.path] if _any_in(image, looked) else []
    files = {database.file: apsw.SQLITE_OPEN_MAIN_DB, f"{database.file}-wal": apsw.SQLITE_OPEN_WAL}
    there = {path: kind for path, kind in files.items() if os.path.exists(path)}
    looked = _affordable(words, sum(map(os.path.getsize, there)))
    found = [
        path for path, kind in there.items() if any(_any_in(p, looked) for p in _parts(path, kind))
    ]
    return len(looked), found


def _parts(path: str, kind: int) -> Iterator[bytes]:
    """Yield the bytes of a file, some at a time and beginning with the last of those before.

    Read through SQLite: to close a file of one's own drops every lock that this process has on it,
    also those of SQLite (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    file = apsw.VFSFile("", path, [kind | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        size = file.xFileSize()
        for start in range(0, size, READ_BYTES):
            begin = max(0, start - OVERLAP_BYTES)
            yield file.xRead(min(start + READ_BYTES, size) - begin, begin)
    finally:
        file.xClose()


def _affordable(words: list[str], size: int) -> list[str]:
    return words[: max(10, min(MOST_WORDS, MOST_BYTES // max(size, 1)))]


def _any_in(image: bytes, words: Iterable[str]) -> bool:
    forms = {form.encode() for word in words for form in (word, word.casefold())}
    return any(image.find(form) >= 0 for form in forms)


DAMAGED: Final = "damaged:"
"""Begins a problem with one row."""
RUN: Final = 4096
"""Vectors looked at together."""
UNBOUNDED: Final = 1 << 62


def check(connection: Connection) -> list[str]:
    """Return the problems of the file, in words; empty when nothing is.

    Reads every row once: seconds for 100,000 items. Call it on a reader, inside its snapshot.
    """
    problems: list[str] = []
    for part in (
        _damaged, _pages, consistency.rows, consistency.check_archive_overlap, _keywords,
        consistency.filter_leaves,
        _vectors, _signs, consistency.history, consistency.graph,
    ):  # fmt: skip
        try:
            problems.extend(part(connection))
        except (apsw.Error, DatabaseError, TypeError, ValueError) as error:
            problems.append(f"{part.__name__.strip('_')} cannot be read: {error}")
    return problems


def _damaged(connection: Connection) -> Iterator[str]:
    yield from (f"{DAMAGED} {one}" for one in damaged_rows(connection))


def _pages(connection: Connection) -> Iterator[str]:
    # FTS5 checks with the structure it remembers and would take another connection's writes for
    # damage; a search makes it look again.
    connection.execute("SELECT rowid FROM keyword('a') LIMIT 1").fetchall()
    for (line,) in connection.execute("PRAGMA integrity_check(10)"):
        if line != "ok":
            yield f"SQLite: {line}"


def _keywords(connection: Connection) -> Iterator[str]:
    if indexes.words_lost(connection):
        yield "the keyword index was lost and is not written anew yet: open the file as a MemoryStore"
        return
    yield from problem_of_query(
        connection,
        "items are to be found by words and are not in the keyword index",
        "SELECT id FROM item WHERE index_fields IS NOT 'false' "
        "AND id NOT IN (SELECT id FROM keyword_docsize)",
    )
    yield from problem_of_query(
        connection,
        "rows of the keyword index belong to no item, or to one that is not to be indexed",
        "SELECT id FROM keyword_docsize "
        "WHERE id NOT IN (SELECT id FROM item WHERE index_fields IS NOT 'false')",
    )


def _vectors(connection: Connection) -> Iterator[str]:
    model = read_model(connection)
    yield from problem_of_query(
        connection,
        "items are gone and left vectors",
        f"SELECT DISTINCT id >> {SLOT_BITS} FROM vector "
        f"WHERE id >> {SLOT_BITS} NOT IN (SELECT id FROM item)",
    )
    yield from problem_of_query(
        connection,
        f"vectors are not of the model's {model.dims} dims",
        f"SELECT id FROM vector WHERE length(e) IS NOT {model.dims or 'NULL'} * 4",
    )


def _signs(connection: Connection) -> Iterator[str]:
    model = read_model(connection)
    if model.dims is None:
        yield from problem_of_query(
            connection, "sign bits stand in a file without a model", "SELECT vector FROM code"
        )
        return
    index = BinaryQuantizedIndex(model.words, UNBOUNDED)
    index.refresh(connection)
    (chunk,) = index.chunks(connection)
    there = chunk.namespaces[: chunk.n] >= 0
    signed = dict(zip(chunk.ids[: chunk.n][there].tolist(), np.flatnonzero(there), strict=True))
    unsigned: list[int] = []
    wrong: list[int] = []
    cursor = connection.execute(
        f"SELECT v.id, i.namespace, v.e FROM vector v JOIN item i ON i.id = v.id >> {SLOT_BITS} "
        "WHERE length(v.e) = ? ORDER BY v.id",
        (model.dims * 4,),
    )
    while rows := list(islice(cursor, RUN)):
        bits = sign_bits(
            np.frombuffer(b"".join(row[2] for row in rows), "<f4").reshape(-1, model.dims)
        )
        for (vector, namespace, _), own in zip(rows, bits, strict=True):
            place = signed.pop(vector, None)
            if place is None:
                unsigned.append(vector)
            elif chunk.namespaces[place] != namespace or (chunk.bits[:, place] != own).any():
                wrong.append(vector)
    yield from problem("vectors have no sign bits", unsigned)
    yield from problem("vectors have the sign bits or namespace of another", wrong)
    yield from problem("sign bits belong to no vector", sorted(signed))


logger = logging.getLogger("langmemory.engines.sqlite")


T = TypeVar("T")

VACUUM_FROM_SHARE: Final = 0.5
"""Share of free pages above which a file is written anew by maintenance."""
VACUUM_FROM_BYTES: Final = 64 * MIB
"""Free bytes above which this is worth the time (2.8 s for 100,000 memories, decision 033)."""


class Engine:
    """The memory file below any framework: no LangGraph, no model. Thread-safe."""

    shares_commits = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        settings: DatabaseConfig = DEFAULT_DATABASE,
    ) -> None:
        """Open the file and bring its schema up to date.

        Args:
            path: A file, or ``:memory:``.
            settings: How SQLite treats the file; its ``path`` is not read.

        Raises:
            DatabaseError, SchemaVersionError: The file cannot be used; the message says why.
        """
        settings = EngineConfig.of(settings)
        self.database = Database(path, settings=settings, connection=IndexedConnection)
        self.write = self.database.write
        self.part = self.database.part
        self.copy = self.database.copy
        self.first = self.database.first
        self.check_usable = self.database.check_usable
        self.empty_wal = self.database.empty_wal
        try:
            with clear_errors(self.database.path):
                lost = schema.setup(self.database)
        except BaseException:
            self.database.close()
            raise
        self.keywords_lost = lost
        """The keyword index had to be created anew and is empty: index the items again, then call
        `indexes.words_found`."""
        self.database.housekeeping = self.pack_index
        self.cardinalities = CardinalityCache()
        self._public: Connection | None = None
        self._indexing: Indexing | None = None
        """How the keyword index is written anew; None until `mend`."""
        self._mending = threading.Lock()
        with self.database.read() as connection:
            model = read_model(connection)
            self.remaining = remaining(connection)
            """The rest of an earlier forgetting when the file was opened."""
        self.copies = Copies(
            settings,
            identity=None if self.database.in_memory else self.database.identity,
            scan=self.database.scan,
            read_words=keyword_search.read_words,
            generation=model.generation,
        )
        self.copies.adopt(model)

    @property
    def model(self) -> ModelSetting:
        """The embedding model of the file, as last seen."""
        return self.copies.current[0]

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        """A consistent view of the file as of now."""
        with self.database.read() as connection:
            yield Snapshot(self, connection)

    holds_vectors = True

    def retried(self, call: Callable[[], T]) -> T:
        """A write to a file waits instead. A keyword index that turns out damaged is written anew first."""
        try:
            return call()
        except DatabaseError as error:
            if not self._mended(error):
                raise
        return call()

    def snapshot(self, connection: Connection) -> Snapshot:
        """Return the view of a connection that is within a transaction, or on a copy."""
        return Snapshot(self, connection)

    @contextmanager
    def glance(self) -> Iterator[Snapshot]:
        """As `read` for a single statement, without the cost of a transaction."""
        with self.database.read(snapshot=False) as connection:
            yield Snapshot(self, connection)

    def public_connection(self) -> Connection:
        """Return the connection for SQL by hand, with sqlite-vec loaded; the same at each call."""
        if self._public is None:
            self._public = self.database.new_connection()
        return self._public

    ahead_us: Final = 0
    """One machine has one clock."""

    def listen(self, wake: Callable[[], object]) -> Callable[[], None]:
        """Nobody tells what another process wrote: one looks."""
        return lambda: None

    @property
    def path(self) -> str:
        """The file, or ``":memory:"``."""
        return self.database.path

    @property
    def reads_only(self) -> bool:
        return False

    @property
    def filtered(self) -> bool:
        return False

    def for_viewer(self, viewer: str) -> Engine:
        """A file has no roles: who opens it reads all of it."""
        return self

    def enable_rls(self, role: str | None, viewer: str | None) -> None:
        raise ConfigError(
            f"{self.path} is a file, and a file has no roles: whoever may open it reads all of it. "
            "Row-level security needs PostgreSQL; give others a ViewerStore, or the server's tokens."
        )

    def disable_rls(self, role: str | None) -> None:
        self.enable_rls(role, None)

    def archive_path(self, settings: DatabaseConfig) -> str | None:
        """The archive file of this memory file; None for one in memory."""
        return settings.archive_of(self.path)

    def mend(self, indexing: Indexing) -> None:
        """Write a keyword index anew that was found lost when the file was opened."""
        self._indexing = indexing
        if not self.keywords_lost:
            return
        with self.write() as connection:
            if indexes.words_lost(connection):  # another process may have been faster
                written = schema.rebuild_keywords(connection, indexing)
                logger.warning("keyword index of %s: %d rows written anew", self.path, written)

    def _mended(self, error: DatabaseError) -> bool:
        """Return whether an error came from the keyword index, which is whole again: each page of the file
        can be read, so that the rows are sound, and the index was written anew from them. Where that fails,
        or FTS5 fails again soon after it, the error stands."""
        if not is_keyword_damage(error) or self.path not in str(error):
            return False
        with self._mending:
            indexing, self._indexing = self._indexing, None  # one attempt until it succeeded
            return indexing is not None and self._write_words_anew(indexing)

    def _write_words_anew(self, indexing: Indexing) -> bool:
        try:
            with self.write() as connection:
                indexes.recreate_words(connection)
                if (line := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                    raise DatabaseError(f"SQLite: {line}")
                written = schema.rebuild_keywords(connection, indexing)
                self.copies.words.drop(connection)
        except DatabaseError as failure:
            logger.warning("keyword index of %s cannot be mended: %s", self.path, failure)
            return False
        self.cardinalities = CardinalityCache()
        logger.warning("keyword index of %s was damaged: %d rows written anew", self.path, written)
        self._indexing = indexing
        return True

    def check(self) -> list[str]:
        """Return what is inconsistent in the file, one line for each."""
        with self.read() as snapshot:
            return check(snapshot.connection)

    def rescued(self, error: DatabaseError) -> AbstractContextManager[Rescued] | None:
        """Return a copy of all that can be read, where an error says that the file is damaged."""
        if not is_damage(error) or self.database.in_memory:
            return None
        return rescued(self.database.file)

    def lacks_keywords(self, error: DatabaseError) -> bool:
        return is_keyword_damage(error)

    @contextmanager
    def erasing(self, connection: Connection) -> Iterator[None]:
        """Within a transaction: overwrite with zeros what is deleted."""
        connection.pragma("secure_delete", True)
        try:
            yield
        finally:
            connection.pragma("secure_delete", False)

    def kept(self, *, purged: bool) -> tuple[str, ...]:
        return ()

    def leftovers(self, words: list[str]) -> tuple[int, list[str]]:
        """Return how many of the words were looked for in the file, and where one still stands."""
        with self.read() as snapshot:
            indexed = found_terms(snapshot.connection, words)
        with clear_errors(self.path):
            looked, places = found_in_bytes(self.database, words)
        return looked, [*places, *(["the keyword index"] if indexed else [])]

    def close(self) -> None:
        """Close the file. A connection that another thread is using closes when nobody has it any
        more."""
        public, self._public = self._public, None
        if public is not None and not self.database.in_memory:
            with suppress(apsw.ThreadingViolationError):
                public.close()
        with suppress(apsw.ThreadingViolationError):  # of ":memory:", whose connection is the same
            self.database.close()
        self.copies.forget()

    def up_to_date_index(
        self, connection: Connection
    ) -> tuple[ModelSetting, binary.BinaryQuantizedIndex | None]:
        """Return the embedding model and the sign index as of this connection's snapshot; no index
        while nothing is embedded."""
        seen = connection.execute("PRAGMA data_version").fetchone()[0]
        setting, index = self.copies.current
        if (
            connection.seen_version != seen
            or connection.seen_model is not setting  # another thread saw older
            or self.database.in_memory
        ):
            setting, index = self.copies.adopt(read_model(connection))
            if index is not None:
                index.refresh(connection)
            connection.seen_version = seen
            connection.seen_model = setting
        return setting, index

    def purge(self) -> bool:
        """`Database.purge`, of the words of deleted rows too; and nothing of what is gone stays in this
        object either."""
        self.erase_keywords()
        emptied = self.database.purge()
        self.cardinalities = CardinalityCache()
        with self.read() as snapshot:
            self.copies.words.drop(snapshot.connection)
            self.copies.sparse.drop()
            self.up_to_date_index(snapshot.connection)
        return emptied

    def purge_if_sound(self) -> tuple[bool, bool]:
        """Purge the file. Return whether it was written anew, and whether the WAL is empty.

        SQLite cannot write a damaged file anew. Its deleted rows were zeroed when they were deleted
        (``secure_delete``), and a search through the bytes tells whether that was enough.
        """
        try:
            return True, self.purge()
        except DatabaseError as error:
            if not isinstance(error.__cause__, apsw.CorruptError):
                raise
            logger.warning("purge_of_damaged_file path=%s", self.database.path)
            return False, self.database.empty_wal()

    def erase_keywords(self) -> None:
        """Take the words of deleted rows out of the keyword index, by merging its parts. FTS5's own
        ``secure-delete`` does nothing for an index without content (tests/sqlite/test_purge.py)."""
        for _ in range(2):  # a merge under way has rows in it from before they were deleted
            self._merge_keywords()

    def optimise(self) -> dict[str, float]:
        """Refresh the planner's statistics, merge the keyword index, write the WAL back, and write the
        file anew where most of it is free; return what was found and done, by name.

        Others write meanwhile, but for the time in which the file is written anew.
        """
        with self.write() as connection:
            connection.execute("PRAGMA analysis_limit = 1000; PRAGMA optimize")
            free, pages = connection.pragma("freelist_count"), connection.pragma("page_count")
            free_bytes = free * connection.pragma("page_size")
        worth_it = free > pages * VACUUM_FROM_SHARE and free_bytes > VACUUM_FROM_BYTES
        if worth_it:
            self.purge()
        else:
            self._merge_keywords()
            self.database.tidy()
        return {"free_bytes": free_bytes, "written_anew": float(worth_it)}

    def pack_index(self) -> None:
        """Pack a long tail of the sign log, so that the file opens fast, and merge the keyword index."""
        with self.database.read() as connection:
            if binary.tail_length(connection) < binary.PACK_AFTER:
                return
        with self.database.write() as connection:
            model = read_model(connection)  # of the file as it is now, not as last seen
            if model.dims is not None:
                binary.pack(connection, model.words)
            indexes.trim_words_log(connection)
        # Much was written since the last time: searches by words have many small parts to look into.
        self._merge_keywords()

    def _merge_keywords(self) -> None:
        """All parts that the keyword index has now become one, in many small transactions."""
        merging = begin = True
        while merging:
            began = time.monotonic()
            with self.database.write() as connection:
                merging = indexes.merge_words(connection, begin=begin)
            begin = False
            # Half of the time for the writers, who would else wait for all of it: a lock that is
            # taken again at once is rarely given to another thread.
            time.sleep(time.monotonic() - began)


class Snapshot(ScopedSnapshot):
    """Reads of one moment, see `langmemory.ledger.engine.Snapshot`."""

    def __init__(self, engine: Engine, connection: Connection) -> None:
        super().__init__(connection, engine.cardinalities)
        self.engine = engine
        self.connection = connection
        self._setting: ModelSetting | None = None
        self._index: binary.BinaryQuantizedIndex | None = None

    def _signs(self) -> binary.BinaryQuantizedIndex | None:
        """Return the sign index as of this snapshot."""
        if self._setting is None:
            self._setting, self._index = self.engine.up_to_date_index(self.connection)
        return self._index

    def nearest(
        self,
        scope: CompiledScope,
        query: Floats,
        limit: int,
        *,
        overfetch: int,
        exact: bool = False,
        rough: bool = False,
        among: Ids | None = None,
    ) -> tuple[Ids, Floats]:
        index = self._signs()
        if index is None:
            return NOTHING
        if among is None:
            self.engine.copies.searched(self.model(), index)
            plan = self.plan(scope)
        else:
            plan = ScopePlan(self.connection, self.engine.cardinalities, scope, items=among)
        return vector_search.nearest(
            self.connection,
            index,
            scope,
            query,
            limit,
            overfetch=overfetch,
            plan=plan,
            exact=exact,
            rough=rough,
        )

    def keyword(
        self,
        scope: CompiledScope,
        query: KeywordQuery,
        limit: int,
        *,
        complete: bool = False,
    ) -> tuple[Ids, Floats]:
        plan, residual = self.plan(scope), scope.residual
        ids, scores = keyword_search.search(
            self.connection,
            self.engine.cardinalities,
            scope,
            keyword_search.match_expression(query.terms, query.phrases),
            limit if residual is None else 1 << 60,
            weights=(query.body_weight, query.context_weight),
            forms=query.forms,
            plan=plan,
            complete=complete,
            copy=self.engine.copies.of_words(self.connection),
        )
        if not len(ids) and indexes.words_missing(self.connection):
            raise apsw.CorruptError("the keyword index has lost its rows")
        if residual is None or plan.items is not None:  # which have passed it
            return ids[:limit], scores[:limit]
        passing = (n for n, item in enumerate(ids.tolist()) if residual(self.value(item)))
        best = list(islice(passing, limit))
        return ids[best], scores[best]

    def cosines(self, query: Floats, ids: Ids) -> Floats:
        return vector_search.cosines(self.connection, query, ids)

    cosines_to_show = cosines

    def rough_cosines(self, query: Floats, ids: Ids) -> Floats:
        index = self._signs()
        found = None if index is None else index.cosines(query, ids)
        return self.cosines(query, ids) if found is None else found

    def without_vectors(self, scope: CompiledScope, known: Ids, limit: int) -> Ids:
        return vector_search.without_vectors(self.connection, scope, self.plan(scope), known, limit)

    def first_vectors(self, ids: Ids) -> tuple[Ids, Floats]:
        return vector_search.first_vectors(self.connection, ids)

    def sparse(self, scope: CompiledScope, query: Pairs, limit: int) -> ScoredIds:
        index = self.engine.copies.of_sparse()
        return sparse_search.search(
            self.connection, index, scope, query, limit, plan=self.plan(scope)
        )

    def ranking(self, bodies: Sequence[str]) -> keyword_search.Texts:
        return keyword_search.Texts(self.connection, self.engine.cardinalities, bodies)

    def known_words(
        self, namespace: Namespace, words: Sequence[str], viewer: str | None
    ) -> Mapping[str, str]:
        engine, connection = self.engine, self.connection
        return keyword_search.known_words(
            connection,
            engine.cardinalities,
            namespace,
            words,
            viewer=viewer,
            copy=lambda: engine.copies.of_words(connection),
        )

    def stems(self, words: Sequence[str]) -> Sequence[str]:
        return keyword_search.stems(self.connection, words)

    def cached_vectors(self, hashes: Sequence[bytes]) -> dict[bytes, Floats]:
        return indexes.cached_vectors(self.connection, hashes)

    def model(self) -> ModelSetting:
        """Return the embedding model of the file, as of this snapshot."""
        self._signs()
        return self._setting or self.engine.model

    def newest_change(self) -> int:
        return newest(self.connection)

    def stats(self) -> Stats:
        """Return the counts and sizes."""
        execute = self.connection.execute
        kinds = execute("SELECT kind, count(*) FROM item GROUP BY kind ORDER BY 1").fetchall()
        items, namespaces, vectors, keywords, history, file_bytes = execute(
            "SELECT (SELECT count(*) FROM item), (SELECT count(DISTINCT namespace) FROM item), "
            "(SELECT count(*) FROM vector), (SELECT count(*) FROM keyword_docsize), "
            "(SELECT count(*) FROM history), "
            "(SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)"
        ).fetchone()
        model = read_model(self.connection)
        return Stats(
            items=items, namespaces=namespaces, vectors=vectors, keywords=keywords,
            history=history, by_kind=dict(kinds), file_bytes=file_bytes, model=model.model,
            dims=model.dims,
        )  # fmt: skip
