"""A schema of a PostgreSQL server as an engine: transactions in, consistent snapshots out."""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import psycopg
from psycopg import sql as quoting

from langmemory.config import DEFAULT_DATABASE, DatabaseConfig, EngineConfig
from langmemory.engines.postgres import (
    connection,
    keyword_search,
    report,
    row_security,
    schema,
)
from langmemory.engines.postgres import vector_search as server_search
from langmemory.engines.postgres.connection import Connection, trim_words_log
from langmemory.engines.postgres.database import OLDEST_PGVECTOR, Database
from langmemory.engines.postgres.report import check
from langmemory.errors import ClosedStoreError, DatabaseError
from langmemory.ledger.graph_rows import NO_FACTS, NOBODY
from langmemory.ledger.namespaces import find
from langmemory.ledger.scopes import CompiledScope
from langmemory.ledger.settings import ModelSetting, read_model, remaining
from langmemory.ledger.tables import migrations
from langmemory.ledger.tables.ddl import create
from langmemory.ports.candidates import NOTHING, Floats, Ids, KeywordQuery, ScoredIds
from langmemory.ports.sparse import Pairs
from langmemory.search import sparse_search, vector_search
from langmemory.search.binary import ENDS, PACK_AFTER, BinaryQuantizedIndex, pack, tail_length
from langmemory.search.copies import Copies
from langmemory.search.scope_plan import (
    HIGHEST_ITEM,
    HIGHEST_NAMESPACE,
    INACTIVE,
    CardinalityCache,
    ScopedSnapshot,
    ScopePlan,
)
from langmemory.search.word_search import Current
from langmemory.types import Namespace, Stats

MOST: Final = 20_000


class NamespaceIds:
    """Ids by namespace. Thread-safe.

    A namespace that was forgotten and is made anew has a higher id than any before. So what was found
    holds for every snapshot in which no namespace was added since; one that is gone has no rows.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Namespace, tuple[int, int]] = {}
        """With the highest id of any namespace at that time."""

    def find(self, connection: Connection, namespace: Namespace, highest: int) -> int | None:
        """Return the id of a namespace; None if nothing was ever stored in or below it.

        Args:
            highest: The highest id of a namespace in the snapshot of the connection.
        """
        at, known = self._known.get(namespace, (-1, 0))
        if at == highest:
            return known
        found = find(connection, namespace)
        if found is not None:
            with self._lock:
                if len(self._known) >= MOST:
                    self._known.clear()
                self._known[namespace] = (highest, found)
        return found


logger = logging.getLogger("langmemory.engines.postgres")

VECTOR_COPY_BYTES: Final = 384 << 20
"""Of a process, for a copy of the vectors: more than a file has, as some hundred vectors are far away here. A
million of 256 dimensions take 292 MB, up to 365 where they have grown."""
_SEEN: Final = (
    "SELECT (SELECT value FROM setting WHERE name = 'model'), "
    "(SELECT value FROM setting WHERE name = 'dims'), "
    "(SELECT value FROM setting WHERE name = 'generation'), "
    "(SELECT coalesce(max(seq), 0) FROM word_change), "
    "(SELECT coalesce(max(seq), 0) FROM history), "
)
_ASKED_TOO: Final = (HIGHEST_ITEM, HIGHEST_NAMESPACE, INACTIVE, NOBODY, NO_FACTS)
"""What most searches ask besides: one way to the server answers all."""
_NO_VECTORS: Final = "0, 0"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a snapshot has."""

    model: ModelSetting
    index: BinaryQuantizedIndex | None
    """Of the vectors of this model; None while nothing is embedded."""
    ends: tuple[int, int]
    """The last place in the log of vectors, and the last that is packed."""
    words: int
    """The last change of words."""
    change: int
    """The newest change of the history."""
    namespaces: int
    """The highest id of a namespace."""


LEAF_TEXT: Final = r"""
    convert_from(CASE WHEN position('\x00'::bytea IN t.value) = 0 THEN substr(t.value, 2) ELSE decode(
        regexp_replace(encode(substr(t.value, 2), 'hex'), '((?:..)*?)00', '\1', 'g'), 'hex'
    ) END, 'UTF8')"""
"""A leaf that is a text is its bytes behind a mark, among which NUL may be, and in no text."""


class Engine:
    """See `langmemory.ledger.engine.Engine`. Thread-safe."""

    shares_commits = True

    def __init__(self, url: str, *, settings: DatabaseConfig = DEFAULT_DATABASE) -> None:
        """Connect, and bring the schema up to date; several processes may do so at once.

        Args:
            url: ``postgresql://user:password@host/database?schema=name``.
            settings: How long a writer waits; its ``path`` is not read.

        Raises:
            DatabaseError, SchemaVersionError: It cannot be used; the message says why.
        """
        self.use(Database(url, settings=settings))
        self.sizes = server_search.Sizes()
        self._public: Connection | None = None
        try:
            self._set_up()
            with self.database.read() as connection:
                model = read_model(connection)
                self.remaining = remaining(connection)
            self.copies = Copies(
                EngineConfig.of(settings, vector_copy_bytes=VECTOR_COPY_BYTES),
                identity=(self.database.address.url, self.schema),
                scan=self.database.read,
                read_words=keyword_search.read_words,
                generation=model.generation,
            )
            self.copies.adopt(model)
        except BaseException:
            self.database.close()
            raise

    def use(self, database: Database) -> None:
        """Read and write through these connections."""
        self.database = database
        self.write = database.write
        self.part = database.part
        self.copy = database.copy
        self.first = database.first
        self.retried = database.retried
        self.listen = database.notices.listen
        self.check_usable = database.check_usable
        self.counts = keyword_search.Counts()
        self.cardinalities = CardinalityCache()
        self.namespaces = NamespaceIds()

    def _set_up(self) -> None:
        """Bring the schema up to date, unless it is; of several processes at once, one does it."""
        database, newest = self.database, migrations.newest()
        try:
            with database.read() as connection:
                found = schema.version(connection.raw, self.schema)
                whole = not schema.missing(connection.raw, self.schema)
        except DatabaseError:
            self._check_rights()
            raise
        if found == 0:
            self._check_rights()
        if found < newest or (found == newest and not whole):
            with database.outside() as raw, raw.transaction():
                raw.execute(database.lock())
                found = schema.version(raw, self.schema)  # another process may have been faster
                migrations.check(found, schema.UNRELEASED, database.path)
                self._bring_up(raw, found, newest)
        migrations.check(found, schema.UNRELEASED, database.path)
        database.schema_version = newest
        with database.read() as connection:
            database.find_vectors(connection.raw)
        if database.vectors_in is None:
            logger.warning(
                "%s has no pgvector %s or later: it is searched by words only. Let an administrator run "
                "CREATE EXTENSION vector, then copy the memory into a new schema (langmemory copy).",
                database.path, ".".join(map(str, OLDEST_PGVECTOR)),
            )  # fmt: skip
        database.find_rights()

    def _check_rights(self) -> None:
        """Check that a schema that seems empty is not closed to the role.

        Raises:
            DatabaseError: It is.
        """
        row = self.first(
            "SELECT current_user, pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = ? "
            "AND NOT has_schema_privilege(oid, 'USAGE')",
            (self.schema,),
        )
        if row is not None:
            raise DatabaseError(
                f"The role {row[0]} may not use the schema of {self.path}. Let its owner {row[1]} call "
                "store.admin.enable_rls with it, or grant it the right."
            )

    def _bring_up(self, raw: psycopg.Connection[Any], found: int, newest: int) -> None:
        """Create the schema, or bring it from an older version to the newest, within a transaction."""
        database = self.database
        if not schema.is_there(raw, self.schema):  # else the right to create one is not needed
            raw.execute(quoting.SQL("CREATE SCHEMA {}").format(quoting.Identifier(self.schema)))
        if found == 0 and database.vectors_in is None:
            with (
                suppress(psycopg.Error),
                raw.transaction(),
            ):  # it has not the right, or there is none
                raw.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
            database.find_vectors(raw)
        raw.execute(quoting.SQL("SET LOCAL {}").format(database.search_path()))
        if found == 0:
            raw.execute(schema.statements().encode())  # in one message
            if database.vectors_in is not None:
                raw.execute(schema.vector_statements().encode())
            raw.execute("CREATE TABLE langmemory_version (version integer NOT NULL)")
            raw.execute("INSERT INTO langmemory_version VALUES (%s)", (newest,))
            raw.execute(
                "INSERT INTO setting (name, value) "
                "VALUES ('generation', (random() * 4611686018427387904)::bigint::text)"
            )
            return
        for statement in migrations.leading_on(found, schema.DIALECT):
            raw.execute(statement.encode())
        for statement in create(schema.missing(raw, self.schema), schema.DIALECT):
            raw.execute(statement.encode())
        row_security.renew(raw, self.schema)
        raw.execute("UPDATE langmemory_version SET version = %s", (newest,))

    @property
    def holds_vectors(self) -> bool:
        """Whether the schema can hold vectors."""
        return self.database.vectors_in is not None

    @property
    def model(self) -> ModelSetting:
        """The embedding model of the vectors, as last seen."""
        return self.copies.current[0]

    @property
    def reads_only(self) -> bool:
        """Whether nothing can be written here."""
        return self.database.reads_only

    @property
    def filtered(self) -> bool:
        """Whether row-level security decides what is read here."""
        return self.database.filtered

    @property
    def ahead_us(self) -> int:
        return self.database.ahead_us

    @property
    def schema(self) -> str:
        """The name of the schema."""
        return self.database.address.schema

    @property
    def path(self) -> str:
        """The address, without user and password."""
        return self.database.path

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        with self.database.read(also=self._ends()) as connection:
            yield Snapshot(self, connection)

    @contextmanager
    def glance(self) -> Iterator[Snapshot]:
        with self.database.read(snapshot=False) as connection:
            yield Snapshot(self, connection)

    def snapshot(self, connection: Connection) -> Snapshot:
        return Snapshot(self, connection)

    def _ends(self) -> str:
        """Return the query for what `seen` returns."""
        vector_ends = ENDS if self.database.vectors_in else _NO_VECTORS
        return _SEEN + ", ".join([vector_ends, *(f"({one})" for one in _ASKED_TOO)])

    def seen(self, connection: Connection) -> Seen:
        """Return what this connection's snapshot has, for the copies in memory."""
        told: Any = connection.told
        if told is None:
            told = connection.raw.execute(self._ends().encode()).fetchone()
        model, dims, generation, words, change, newest, packed, *answers = told
        connection.answers = {
            asked: None if answer is None else (answer,)
            for asked, answer in zip(_ASKED_TOO, answers, strict=True)
        }
        setting = ModelSetting(
            model=model, dims=None if dims is None else int(dims), generation=int(generation)
        )
        setting, index = self.copies.adopt(setting)
        return Seen(setting, index, (max(newest, packed), packed), words, change, answers[1])

    def for_viewer(self, viewer: str) -> Engine:
        """Return this engine; where its role is a reader, one whose transactions name the viewer."""
        if not self.database.filtered:
            return self
        found = copy.copy(self)
        found.use(self.database.for_viewer(viewer))
        return found

    def enable_rls(self, role: str | None, viewer: str | None) -> None:
        with self._rights() as raw:
            row_security.enable(raw, self.schema, role, viewer)

    def disable_rls(self, role: str | None) -> None:
        with self._rights() as raw:
            row_security.disable(raw, self.schema, role)

    @contextmanager
    def _rights(self) -> Iterator[psycopg.Connection[Any]]:
        database = self.database
        with (
            database.outside() as raw,
            row_security.clear_refusals(raw, database.path, self.schema),
            raw.transaction(),
        ):
            raw.execute(quoting.SQL("SET LOCAL lock_timeout = {}").format(database.patience()))
            raw.execute(database.lock())
            raw.execute(quoting.SQL("SET LOCAL {}").format(database.search_path()))
            yield raw

    def pack(self) -> None:
        """Pack a long tail of the log of vectors, so that the next process reads it fast, and trim the
        log of words."""
        try:
            with self.write() as connection:
                model = read_model(connection)
                if model.dims is not None and tail_length(connection) >= PACK_AFTER:
                    pack(connection, model.words)
                trim_words_log(connection)
        except (DatabaseError, ClosedStoreError) as error:  # another process will
            logger.debug("not packed: %s", type(error).__name__)

    def archive_path(self, settings: DatabaseConfig) -> str | None:
        return None

    def mend(self, indexing: Any) -> None:
        """The indexes are in the server's transactions; none is ever lost alone."""

    def findings(self) -> list[report.Finding]:
        """Return what there is to say of the server."""
        return list(report.findings(self.database))

    def check(self) -> list[str]:
        """Return what is inconsistent in the schema, one line for each."""
        with self.read() as snapshot:
            return check(snapshot.connection, vectors=self.database.vectors_in is not None)

    def optimise(self) -> dict[str, float]:
        """Refresh the planner's statistics; the server vacuums by itself."""
        with self.database.outside() as raw:
            for table in schema.tables(raw, self.schema):
                raw.execute(
                    quoting.SQL("ANALYZE {}").format(quoting.Identifier(self.schema, table))
                )
        return {}

    def rescued(self, error: DatabaseError) -> AbstractContextManager[Any] | None:
        """A damaged server is mended by its administrator, from a backup."""
        return None

    def lacks_keywords(self, error: DatabaseError) -> bool:
        return False

    @contextmanager
    def erasing(self, connection: Connection) -> Iterator[None]:
        """What is deleted stays in the pages until it is vacuumed, see `purge`."""
        yield

    def erase_keywords(self) -> None:
        """Deleted rows leave the index with the next vacuum."""

    def empty_wal(self) -> bool:
        """The server keeps its own log; nobody can say when a text has left it."""
        return True

    def purge(self) -> bool:
        """Vacuum the tables of the schema, so that deleted rows are overwritten by later ones."""
        with self.database.outside() as raw:
            report.vacuum(raw, self.schema)
        self.counts, self.cardinalities = keyword_search.Counts(), CardinalityCache()
        with self.read() as snapshot:
            self.copies.words.drop(snapshot.connection)
            self.copies.sparse.drop()
        return True

    def purge_if_sound(self) -> tuple[bool, bool]:
        return True, self.purge()

    def kept(self, *, purged: bool) -> tuple[str, ...]:
        with self.database.outside() as raw:
            return report.kept(raw, self.schema, vacuumed=purged)

    def leftovers(self, words: list[str]) -> tuple[int, list[str]]:
        """Look in every row of every table: the bytes of a server cannot be searched."""
        found: list[str] = []
        with self.read() as snapshot:
            for table in schema.tables(snapshot.connection.raw, self.schema):
                text = LEAF_TEXT if table == "leaf" else "t::text"
                marked = "substr(t.value, 1, 1) = '\\x02'" if table == "leaf" else "TRUE"
                query = quoting.SQL(
                    "SELECT EXISTS (SELECT 1 FROM {} AS t, unnest(%s::text[]) AS w (word) "
                    "WHERE CASE WHEN {} THEN strpos(lower({}), lower(w.word)) > 0 END)"
                ).format(quoting.Identifier(table), quoting.SQL(marked), quoting.SQL(text))
                row = snapshot.connection.raw.execute(query, (words,)).fetchone()
                found += [f"the table {table}"] if row is not None and row[0] else []
        return len(words), found

    def public_connection(self) -> Any:
        """Return a connection for SQL by hand; the same at each call."""
        self.check_usable()
        if self._public is None or self._public.raw.closed:
            raw = self.database.connect()
            raw.execute(quoting.SQL("SET {}").format(self.database.search_path()))
            self._public = Connection(raw)
        return self._public

    def close(self) -> None:
        public, self._public = self._public, None
        if public is not None:
            public.raw.close()
        self.copies.forget()
        self.database.close()


class Snapshot(ScopedSnapshot):
    """Reads of one moment, see `langmemory.ledger.engine.Snapshot`."""

    def __init__(self, engine: Engine, connection: Connection) -> None:
        super().__init__(connection, engine.cardinalities)
        self.engine = engine
        self.connection = connection
        self._compared = server_search.Compared()

    @cached_property
    def _seen(self) -> Seen:
        return self.engine.seen(self.connection)

    def model(self) -> ModelSetting:
        return self._seen.model

    def newest_change(self) -> int:
        return self._seen.change

    @cached_property
    def _words(self) -> Current | None:
        if self.engine.database.filtered:  # of a role that may not see everything
            return None
        return self.engine.copies.of_words(self.connection, self._seen.words)

    def stats(self) -> Stats:
        execute = self.connection.execute
        kinds = execute("SELECT kind, count(*) FROM item GROUP BY kind ORDER BY 1").fetchall()
        vectors = "(SELECT count(*) FROM embedding)" if self.engine.database.vectors_in else "0"
        items, namespaces, vector_count, keywords, history, size = execute(
            "SELECT (SELECT count(*) FROM item), (SELECT count(DISTINCT namespace) FROM item), "
            f"{vectors}, (SELECT count(*) FROM keyword), (SELECT count(*) FROM history), "
            "(SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c "
            "CROSS JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind = 'r' AND n.nspname = ?)",
            (self.engine.schema,),
        ).fetchone()
        model = read_model(self.connection)
        return Stats(
            items=items, namespaces=namespaces, vectors=vector_count, keywords=keywords,
            history=history, by_kind=dict(kinds), file_bytes=int(size), model=model.model,
            dims=model.dims,
        )  # fmt: skip

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
        index = self._seen.index
        if index is None:
            return NOTHING
        engine, connection = self.engine, self.connection
        plan = self.plan(scope)
        if among is not None:
            plan = ScopePlan(connection, engine.cardinalities, scope, items=among)
        if exact or not self._copied(scope, plan):
            items = None if exact and among is None else plan.items
            ids, cosines = server_search.nearest(
                connection,
                scope,
                query,
                limit,
                among=items,
                told=self._compared if rough else None,
            )
            self._compared.add(query, ids, cosines)
            return ids[:limit], cosines[:limit]
        engine.copies.searched(self.model(), index)
        return vector_search.nearest(
            connection, index, scope, query, limit, overfetch=overfetch, plan=plan, rough=rough
        )

    def _copied(self, scope: CompiledScope, plan: ScopePlan) -> bool:
        """Return whether the sign bits in memory are to be searched, as of this snapshot. A process
        that only searches in small namespaces has none."""
        index, ends = self._seen.index, self._seen.ends
        assert index is not None
        if index.streaming or self.engine.database.filtered:  # a reader has no copies
            return False
        if not index.loaded:
            if self.engine.sizes.are_few(self.connection, scope, ends[0]):
                return False
            items = plan.items
            if items is not None and len(items) <= server_search.SCATTERED_UP_TO:
                return False
        if not index.loaded and ends[0] - ends[1] >= PACK_AFTER:
            self.engine.copies.later(self.engine.pack)
        index.refresh(self.connection, ends)
        return not index.streaming

    def keyword(
        self, scope: CompiledScope, query: KeywordQuery, limit: int, *, complete: bool = False
    ) -> tuple[Ids, Floats]:
        return keyword_search.search(
            self.connection,
            self.engine.counts,
            scope,
            query,
            limit,
            plan=self.plan(scope),
            complete=complete,
            copy=self._words,
            namespace_id=self._namespace_id(scope.scope.namespace),
        )

    def _namespace_id(self, namespace: Namespace) -> int | None:
        seen = self._seen.namespaces
        return self.engine.namespaces.find(self.connection, namespace, seen) if namespace else None

    def sparse(self, scope: CompiledScope, query: Pairs, limit: int) -> ScoredIds:
        index = None if self.engine.database.filtered else self.engine.copies.of_sparse()
        return sparse_search.search(
            self.connection, index, scope, query, limit, plan=self.plan(scope)
        )

    def ranking(self, bodies: Sequence[str]) -> keyword_search.Texts:
        return keyword_search.Texts(self.connection, self.engine.counts, bodies)

    def known_words(
        self, namespace: Namespace, words: Sequence[str], viewer: str | None
    ) -> Mapping[str, str]:
        return keyword_search.known_words(
            self.connection, namespace, words, viewer, copy=self._words
        )

    def stems(self, words: Sequence[str]) -> Sequence[str]:
        return keyword_search.stems(words)

    def cosines(self, query: Floats, ids: Ids) -> Floats:
        index = self._index()
        found = None if index is None or not index.whole else index.cosines(query, ids)
        return self._compared.cosines(self.connection, query, ids) if found is None else found

    def cosines_to_show(self, query: Floats, ids: Ids) -> Floats:
        index = self._index()
        if index is not None and index.whole:
            return self.cosines(query, ids)
        return self._compared.cosines(self.connection, query, ids, show=True)

    def facets(self, ids: Ids, shown: Floats | None = None) -> list[Any]:
        known, wanted = self._compared.facets, ids.tolist()
        missing = [item for item in wanted if item not in known]
        if missing and shown is not None and self.engine.database.vectors_in:
            self._compared.ask(self.connection, shown, missing)
        elif missing:
            known |= {row[0]: row for row in super().facets(np.array(missing, np.int64))}
        return [known[item] for item in wanted if item in known]

    def shown(self, ids: Ids) -> Mapping[int, Any]:
        known = self._compared.shown
        return known if known.keys() >= set(ids.tolist()) else super().shown(ids)

    def rough_cosines(self, query: Floats, ids: Ids) -> Floats:
        index = self._index()
        found = None if index is None else index.cosines(query, ids)
        return self.cosines(query, ids) if found is None else found

    def _index(self) -> BinaryQuantizedIndex | None:
        """Return the vectors in memory as of this snapshot, if there are any."""
        index = self._seen.index
        if index is None or not index.loaded or self.engine.database.filtered:
            return None
        index.refresh(self.connection, self._seen.ends)
        return index

    def first_vectors(self, ids: Ids) -> tuple[Ids, Floats]:
        return vector_search.first_vectors(self.connection, ids)

    def cached_vectors(self, hashes: Sequence[bytes]) -> dict[bytes, Floats]:
        return connection.cached_vectors(self.connection, hashes)

    def without_vectors(self, scope: CompiledScope, known: Ids, limit: int) -> Ids:
        return vector_search.without_vectors(self.connection, scope, self.plan(scope), known, limit)
