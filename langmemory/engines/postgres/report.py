"""The state of a server, as `langmemory doctor` tells it; checks of a schema; clearing it of deleted rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import psycopg
from psycopg import sql as quoting

from langmemory.engines.postgres import row_security
from langmemory.engines.postgres.connection import Connection, encoded
from langmemory.engines.postgres.database import OLDEST_PGVECTOR, Database
from langmemory.ledger import consistency
from langmemory.ledger.connection import SLOT_BITS
from langmemory.ledger.consistency import problem_of_query
from langmemory.ledger.settings import read_model
from langmemory.pluralize import count_noun

BLOATED: Final = 0.2
"""Share of dead rows from which on a table is worth a vacuum."""
FEWEST_DEAD: Final = 10_000
FULL: Final = 0.8
"""Share of the server's connections that leaves too few."""
LONG_SECONDS: Final = 300
"""A transaction that is open for longer keeps deleted rows from being vacuumed."""
SLOW_MS: Final = 100

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One line of the report."""

    what: str
    found: str
    state: State = "ok"
    advice: str = ""


def findings(database: Database) -> Iterator[Finding]:
    """Yield what there is to say of a server. What the role may not see is said, too."""
    path = quoting.SQL("SET LOCAL {}").format(database.search_path())
    with database.outside() as raw:
        for what, look in _LOOKS.items():
            try:
                with raw.transaction():
                    raw.execute(path)
                    yield from look(raw, database)
            except psycopg.errors.InsufficientPrivilege:
                yield Finding(
                    what=what, state="warn", found="this role may not see it",
                    advice="GRANT pg_monitor TO the role, or ask an administrator.",
                )  # fmt: skip
            except psycopg.Error as error:
                found = f"could not be read: {type(error).__name__}"
                yield Finding(what=what, state="warn", found=found)


def _one(raw: psycopg.Connection[Any], statement: str, *bindings: Any) -> Any:
    return raw.execute(statement.encode(), bindings).fetchone()


def _server(raw: psycopg.Connection[Any], database: Database) -> Iterator[Finding]:
    version = raw.info.parameter_status("server_version") or "?"
    found = f"{version}, psycopg {psycopg.__version__}"
    if not _one(raw, "SELECT pg_is_in_recovery()")[0]:
        yield Finding(what="PostgreSQL", found=found)
        return
    yield Finding(
        what="PostgreSQL", state="warn", found=f"{found}; a replica, which only reads",
        advice="Write through the address of the primary.",
    )  # fmt: skip


def _extension(raw: psycopg.Connection[Any], database: Database) -> Iterator[Finding]:
    row = _one(raw, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if row is None:
        yield Finding(
            what="pgvector", state="warn", found="not there: memories are found by words alone",
            advice="Let an administrator run CREATE EXTENSION vector, then open a new schema.",
        )  # fmt: skip
        return
    held = _one(raw, "SELECT to_regclass('embedding') IS NOT NULL")[0]
    if not held:
        yield Finding(
            what="pgvector", state="warn",
            found=f"{row[0]}, but this schema was made without it: words alone",
            advice="Copy the memory to a new schema.",
        )  # fmt: skip
    elif tuple(map(int, row[0].split(".")[:2])) < OLDEST_PGVECTOR:
        advice = "ALTER EXTENSION vector UPDATE, to 0.7 or newer."
        yield Finding(what="pgvector", state="fail", found=f"{row[0]} is too old", advice=advice)
    else:
        yield Finding(what="pgvector", found=row[0])


def _role(raw: psycopg.Connection[Any], database: Database) -> Iterator[Finding]:
    role, owns = _one(
        raw,
        "SELECT current_user, pg_has_role(current_user, relowner, 'USAGE') FROM pg_class "
        "WHERE oid = 'item'::regclass",
    )
    found = f"{role} owns the tables" if owns else f"{role} does not own the tables"
    if database.filtered:
        found = f"{role} may only read, and sees what policies let it see"
    yield Finding(what="role", found=found)
    on = row_security.is_on(raw)
    if not on:
        yield Finding(what="row-level security", found="off")
        return
    home = database.address.schema
    without = [
        row[0]
        for row in raw.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND NOT relrowsecurity "
            "AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %s) ORDER BY 1",
            (home,),
        )
    ]
    if without:
        yield Finding(
            what="row-level security", state="fail",
            found=f"on, but not for {', '.join(without[:5])}",
            advice="Call store.admin.enable_rls() once more.",
        )  # fmt: skip
    elif not owns:
        yield Finding(what="row-level security", found="on")
    else:
        readers = ", ".join(row_security.readers(raw)) or "nobody but the owner"
        yield Finding(what="row-level security", found=f"on; readers: {readers}")


def _indexes(raw: psycopg.Connection[Any], database: Database) -> Iterator[Finding]:
    rows = raw.execute(
        "SELECT c.relname, i.indisvalid AND i.indisready FROM pg_index i "
        "JOIN pg_class c ON c.oid = i.indexrelid "
        "WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %s) ORDER BY 1",
        (database.address.schema,),
    ).fetchall()
    broken = [name for name, sound in rows if not sound]
    if broken:
        yield Finding(
            what="indexes", state="fail", found=f"invalid: {', '.join(broken)}",
            advice="REINDEX INDEX CONCURRENTLY each of them.",
        )  # fmt: skip
    else:
        yield Finding(
            what="indexes", found=f"{count_noun(len(rows), 'index', 'indexes')}, all valid"
        )


def _bloat(raw: psycopg.Connection[Any], database: Database) -> Iterator[Finding]:
    rows = raw.execute(
        "SELECT relname, n_live_tup, n_dead_tup, greatest(last_vacuum, last_autovacuum)::timestamp(0)::text "
        "FROM pg_stat_user_tables WHERE schemaname = %s ORDER BY n_dead_tup DESC",
        (database.address.schema,),
    ).fetchall()
    dead = [
        f"{name} {gone:,} of {gone + live:,} rows (vacuumed {last or 'never'})"
        for name, live, gone, last in rows
        if gone >= FEWEST_DEAD and gone >= BLOATED * (gone + live)
    ]
    if dead:
        yield Finding(
            what="dead rows", state="warn", found="; ".join(dead[:5]),
            advice="VACUUM these tables, and look whether autovacuum is on.",
        )  # fmt: skip
    else:
        total = sum(row[2] for row in rows)
        yield Finding(what="dead rows", found=f"{total:,}, no table has many")


def _connections(raw: psycopg.Connection[Any], database: Database) -> Iterator[Finding]:
    held, most, ours = _one(
        raw,
        "SELECT count(*), current_setting('max_connections')::int, "
        "count(*) FILTER (WHERE usename = current_user) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' OR backend_type IS NULL",
    )
    pool = database.address.pool_size
    found = f"{held} of {most} in use, {ours} by this role; a process takes up to {pool}, and one to listen"
    if held >= FULL * most:
        yield Finding(
            what="connections", state="warn", found=found,
            advice="Put PgBouncer in front (pool_mode = transaction), or lower pool_size in the address.",
        )  # fmt: skip
    else:
        yield Finding(what="connections", found=found)


def _transactions(raw: psycopg.Connection[Any], database: Database) -> Iterator[Finding]:
    long, oldest, hidden = _one(
        raw,
        "SELECT count(*) FILTER (WHERE now() - xact_start > make_interval(secs => %s)), "
        "coalesce(extract(epoch FROM max(now() - xact_start)), 0)::bigint, "
        "count(*) FILTER (WHERE usename IS NOT NULL AND state IS NULL) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        LONG_SECONDS,
    )
    beyond = (
        f"; of {count_noun(hidden, 'other connection')} this role sees nothing" if hidden else ""
    )
    if long:
        yield Finding(
            what="long transactions", state="warn",
            found=f"{long} open for more than {LONG_SECONDS} s, the oldest {oldest:,} s{beyond}",
            advice="End them: what they may still see cannot be vacuumed.",
        )  # fmt: skip
    else:
        yield Finding(what="long transactions", found=f"none{beyond}")


def _queries(raw: psycopg.Connection[Any], database: Database) -> Iterator[Finding]:
    row = _one(
        raw,
        "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
        "WHERE e.extname = 'pg_stat_statements'",
    )
    if row is None:
        yield Finding(what="slow queries", found="not known: no pg_stat_statements here")
        return
    view = quoting.Identifier(row[0], "pg_stat_statements")
    # Statements are normalised by the extension: no values are in them.
    rows = raw.execute(
        quoting.SQL(
            "SELECT round(mean_exec_time::numeric, 1), calls, "
            "left(regexp_replace(query, '\\s+', ' ', 'g'), 80) FROM {} "
            "WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) "
            "AND userid = (SELECT oid FROM pg_roles WHERE rolname = current_user) "
            "AND mean_exec_time > %s ORDER BY total_exec_time DESC LIMIT 3"
        ).format(view),
        (SLOW_MS,),
    ).fetchall()
    if not rows:
        yield Finding(what="slow queries", found=f"none above {SLOW_MS} ms on average")
        return
    told = "; ".join(f"{mean} ms × {calls}: {query}" for mean, calls, query in rows)
    yield Finding(what="slow queries", state="warn", found=told, advice="EXPLAIN shows why.")


_LOOKS: Final[dict[str, Callable[[psycopg.Connection[Any], Database], Iterator[Finding]]]] = {
    "PostgreSQL": _server,
    "pgvector": _extension,
    "role": _role,
    "indexes": _indexes,
    "dead rows": _bloat,
    "connections": _connections,
    "long transactions": _transactions,
    "slow queries": _queries,
}


_OURS: Final = (
    "SELECT tablename, pg_has_role(current_user, tableowner, 'USAGE') FROM pg_tables WHERE schemaname = %s "
    "ORDER BY tablename"
)
_OLDER: Final = (
    "SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL AND age(backend_xmin) > 0), "
    "(SELECT count(*) FROM pg_replication_slots WHERE xmin IS NOT NULL AND age(xmin) > 0)"
)
"""Those to whom deleted rows are still there; of other roles' only who may read the statistics knows."""

IN_PAGES: Final = "the pages of the tables, until they are vacuumed"
IN_FREE_SPACE: Final = (
    "free space in the pages of the tables, until later rows overwrite it (VACUUM FULL writes the "
    "tables anew)"
)
BEYOND: Final = (
    "the server's write-ahead log and its archives, until they are recycled",
    "backups and dumps made before, until they expire",
)


def vacuum(raw: psycopg.Connection[Any], schema: str) -> None:
    """Vacuum the tables that the role may vacuum: outside a transaction, each for itself."""
    for table, ours in raw.execute(_OURS.encode(), (schema,)).fetchall():
        if ours:
            raw.execute(quoting.SQL("VACUUM {}").format(quoting.Identifier(schema, table)))


def kept(raw: psycopg.Connection[Any], schema: str, *, vacuumed: bool) -> tuple[str, ...]:
    """Return where bytes of deleted rows may be left that nobody can look into from here."""
    if not vacuumed:
        return IN_PAGES, *BEYOND
    tables = raw.execute(_OURS.encode(), (schema,)).fetchall()
    found = [IN_FREE_SPACE]
    if others := [table for table, ours in tables if not ours]:
        found.append(
            f"{count_noun(len(others), 'table')} that this role may not vacuum ({', '.join(others[:3])}), "
            "until the server does"
        )
    row = raw.execute(_OLDER.encode()).fetchone()
    if row is not None and any(row):
        found.append(
            f"rows that {count_noun(row[0], 'open transaction')} and "
            f"{count_noun(row[1], 'replication slot')} "
            "may still see, until they end and the tables are vacuumed again"
        )
    return *found, *BEYOND


_INDEXED = "SELECT id FROM item WHERE index_fields IS DISTINCT FROM 'false'"


def check(connection: Connection, *, vectors: bool) -> list[str]:
    """Return the problems of the schema, in words; empty when nothing is. Reads every row once.

    Args:
        vectors: The database has pgvector.
    """
    problems: list[str] = []
    for part in (consistency.rows, consistency.check_archive_overlap, _keywords):
        problems += part(connection)
    problems += consistency.filter_leaves(connection, encoded)
    if vectors:
        problems += _vectors(connection)
    return [*problems, *consistency.history(connection), *consistency.graph(connection)]


def _keywords(connection: Connection) -> Iterator[str]:
    yield from problem_of_query(
        connection,
        "items are to be found by words and are not in the keyword index",
        f"{_INDEXED} EXCEPT SELECT item FROM keyword",
    )
    yield from problem_of_query(
        connection,
        "rows of the keyword index belong to no item, or to one that is not to be indexed",
        f"SELECT item FROM keyword EXCEPT {_INDEXED}",
    )
    told = connection.execute("SELECT rows, tokens FROM keyword_total").fetchall()
    there = connection.execute("SELECT count(*), coalesce(sum(length), 0) FROM keyword").fetchone()
    if told != [there]:
        yield (
            f"the keyword index has {there[0]:,} rows of {there[1]:,} tokens, and another number is noted"
        )


def _vectors(connection: Connection) -> Iterator[str]:
    model = read_model(connection)
    yield from problem_of_query(
        connection,
        "items are gone and left vectors",
        "SELECT item FROM embedding EXCEPT SELECT id FROM item",
    )
    yield from problem_of_query(
        connection,
        "vectors have the item or namespace of another",
        "SELECT v.id FROM embedding v JOIN item i ON i.id = v.item "
        f"WHERE v.namespace <> i.namespace OR v.id >> {SLOT_BITS} <> v.item",
    )
    yield from problem_of_query(
        connection,
        f"vectors are not of the model's {model.dims} dims",
        "SELECT id FROM embedding WHERE vector_dims(e) <> ?",
        (model.dims or 0,),
    )
