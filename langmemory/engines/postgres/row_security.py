"""Row-level security by viewer: the rule of `langmemory.ledger.scopes` as policies of the tables.

A reader is a role that may read the schema and is not its owner. It sees a row where its viewer may know of
it: the viewer that the owner bound the role to, else the one that the transaction names
(``langmemory.viewer``), else nobody. Whoever is no reader sees no row, whatever was granted to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import sql as quoting

from langmemory.engines.postgres.schema import tables
from langmemory.engines.postgres.translate import translated
from langmemory.errors import ConfigError, DatabaseError
from langmemory.ledger.anchors import is_anchor, of_memory
from langmemory.ledger.graph_rows import stands_in
from langmemory.ledger.reviews import is_open as review_is_open
from langmemory.ledger.scopes import is_visible, past_is_open, run_is_open
from langmemory.ledger.tables.schema import table as declared_table
from langmemory.ledger.tables.schema import tables as declared
from langmemory.ledger.tables.table import Readers, nobody, through, where
from langmemory.links import MEMORY

SETTING: Final = "langmemory.viewer"
"""Names the viewer of a transaction: ``SELECT set_config('langmemory.viewer', 'maria', true)``."""
READERS: Final = "rls_reader"
POLICY: Final = "viewer"

_VIEWER: Final = "(SELECT rls_viewer())"  # read once in a query


def _sql(condition: str) -> str:
    """Return a portable condition without bindings as a policy has it."""
    return translated(condition).sql.replace("%%", "%")


def _named(name: str, norm: str, entity: str) -> str:
    """Return whether a name of an entity stands in a memory that speaks of it."""
    return (
        f"EXISTS (SELECT 1 FROM mention m JOIN item i ON i.id = m.item WHERE m.entity = {entity} "
        f"AND {_sql(stands_in(name, norm))})"
    )


_VISIBLE: Final = is_visible("i", _VIEWER)

_CONDITIONS: Final = {
    "viewer": _VIEWER,
    "is_anchor": _sql(is_anchor("entity")),
    "names_no_memory_or_an_open_one": (
        f"(substr(entity.key, 1, {len(MEMORY)}) <> '{MEMORY}' OR EXISTS (SELECT 1 FROM item i WHERE "
        f"{_sql(of_memory('entity', 'i'))}))"
    ),
    "name_stands_in_a_memory": _named("entity.name", "lower(entity.name)", "entity.id"),
    "alias_stands_in_a_memory": _named("alias.name", "alias.norm", "alias.entity"),
}
"""What stands for ``{word}`` in `Readers.where`; ``{visible}``: the viewer may know of the row itself."""

_OWN: Final = {
    "keyword": through("item"),
    "embedding": through("item"),
    "word_count": where("rls_word_is_open(word)"),
    "keyword_total": where("TRUE"),
    "langmemory_version": where("TRUE"),
    READERS: nobody("which role is bound to whom"),
}
"""The readers of PostgreSQL's own tables."""
_UNDECLARED: Final = nobody("a table of the moment, such as of a move to another model")


def readers_of() -> dict[str, Readers]:
    """Return who reads each table."""
    return {**{table.name: table.readers for table in declared()}, **_OWN}


def rule(table: str) -> str | None:
    """Return which rows of a table a reader sees, as SQL; None: no row, as of one that is declared nowhere.
    In a policy the tables are those that the reader sees, too; a function looks at all rows."""
    readers = readers_of().get(table, _UNDECLARED)
    if readers.nobody:
        return None
    if readers.where:
        return readers.where.format(**_CONDITIONS, visible=is_visible(table, _VIEWER))
    return " AND ".join(_names_open_rows(table, column) for column in readers.through)


def _names_open_rows(table: str, column: str) -> str:
    if table in _OWN:
        return f"EXISTS (SELECT 1 FROM item i WHERE i.id = {table}.{column})"
    one = declared_table(table).column(column)
    of = declared_table(str(one.of))
    there = f"EXISTS (SELECT 1 FROM {of.name} o WHERE o.{of.id[0]} = {table}.{column})"
    return f"({table}.{column} IS NULL OR {there})" if one.null else there


_DEFINER: Final = "LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT"
FUNCTIONS: Final = {
    # The role that acts, also within a function of the owner's; a superuser's SET ROLE counts.
    "rls_viewer()": f"""
        RETURNS text {_DEFINER} AS $$
        SELECT coalesce(r.viewer, current_setting('{SETTING}', TRUE), '') FROM {READERS} r, (
            SELECT CASE current_setting('role') WHEN 'none' THEN session_user::text
            ELSE current_setting('role') END
        ) AS acting (role) WHERE r.role = acting.role OR EXISTS (
            SELECT 1 FROM pg_roles p WHERE p.rolname = r.role AND pg_has_role(acting.role, p.oid, 'USAGE')
        ) ORDER BY (r.role = acting.role) DESC, r.viewer IS NULL, r.role LIMIT 1 $$""",
    "rls_heir_is_open(namespace bigint, key text)": f"""
        RETURNS boolean {_DEFINER} AS $$
        SELECT EXISTS (SELECT 1 FROM item i WHERE i.namespace = $1 AND i.key = $2 AND {_VISIBLE}) $$""",
    "rls_anchor_is_open(entity bigint)": f"""
        RETURNS boolean {_DEFINER} AS $$
        SELECT EXISTS (SELECT 1 FROM edge g JOIN item i ON i.id = g.fact
            WHERE $1 IN (g.subject, g.object) AND {_VISIBLE}) $$""",
    "rls_past_is_open(item bigint)": f"""
        RETURNS boolean {_DEFINER} AS $$ SELECT {_sql(past_is_open("$1", _VIEWER))} $$""",
    "rls_run_is_open(run text)": f"""
        RETURNS boolean {_DEFINER} AS $$ SELECT {_sql(run_is_open("$1", _VIEWER))} $$""",
    "rls_review_is_open(id text)": f"""
        RETURNS boolean {_DEFINER} AS $$
        SELECT {_sql(review_is_open(_VIEWER))} FROM review v WHERE v.id = $1 $$""",
    "rls_namespace_is_open(path text)": f"""
        RETURNS boolean {_DEFINER} AS $$
        SELECT EXISTS (SELECT 1 FROM namespace n JOIN item i ON i.namespace = n.id
        WHERE (n.path = $1 OR n.path > $1 || '.' AND n.path < $1 || '/') AND {_VISIBLE}) $$""",
    "rls_word_is_open(word text)": f"""
        RETURNS boolean {_DEFINER} AS $$
        SELECT EXISTS (SELECT 1 FROM keyword k JOIN item i ON i.id = k.item
        WHERE k.words @@ ('''' || replace(replace($1, '\\', '\\\\'), '''', '''''') || '''')::tsquery
        AND {_VISIBLE}) $$""",
}
"""What a policy asks of rows that the reader does not see. None takes a viewer, so that nobody asks for
another one."""


def enable(raw: psycopg.Connection[Any], schema: str, role: str | None, viewer: str | None) -> None:
    """Turn it on, within a transaction whose ``search_path`` is the schema, and let a role read.

    Raises:
        ConfigError: The role is not there, or row-level security does not hold for it.
    """
    if role is not None:
        _check(raw, role, schema)
    raw.execute(
        f"CREATE TABLE IF NOT EXISTS {READERS} (role text PRIMARY KEY, viewer text)".encode()
    )
    for name, body in FUNCTIONS.items():
        raw.execute(f"CREATE OR REPLACE FUNCTION {name} {body}".encode())
    for table in tables(raw, schema):
        named = quoting.Identifier(table)
        raw.execute(quoting.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(named))
        raw.execute(quoting.SQL("DROP POLICY IF EXISTS {} ON {}").format(_NAMED, named))
        seen = rule(table)
        if seen is not None:
            raw.execute(
                quoting.SQL("CREATE POLICY {} ON {} FOR SELECT USING ").format(_NAMED, named)
                + quoting.SQL(f"({_VIEWER} IS NOT NULL AND ({seen}))")
            )
    if role is None:
        return
    reader, home = quoting.Identifier(role), quoting.Identifier(schema)
    raw.execute(quoting.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(home, reader))
    raw.execute(quoting.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {}").format(home, reader))
    raw.execute(
        f"INSERT INTO {READERS} (role, viewer) VALUES (%s, %s) "
        "ON CONFLICT (role) DO UPDATE SET viewer = excluded.viewer".encode(),
        (role, viewer),
    )


def renew(raw: psycopg.Connection[Any], schema: str) -> None:
    """After tables were added: let the policies hold for them as well, where it is turned on."""
    if is_on(raw):
        enable(raw, schema, None, None)
        for role in readers(raw):
            raw.execute(
                quoting.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {}").format(
                    quoting.Identifier(schema), quoting.Identifier(role)
                )
            )


def disable(raw: psycopg.Connection[Any], schema: str, role: str | None) -> None:
    """Take back what a role may read; None: of every role, and turn it off."""
    if not is_on(raw):
        return
    for reader in readers(raw) if role is None else [role]:
        raw.execute(f"DELETE FROM {READERS} WHERE role = %s".encode(), (reader,))
        if raw.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (reader,)).fetchone():
            named, home = quoting.Identifier(reader), quoting.Identifier(schema)
            raw.execute(
                quoting.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA {} FROM {}").format(home, named)
            )
            raw.execute(quoting.SQL("REVOKE ALL ON SCHEMA {} FROM {}").format(home, named))
    if role is not None:
        return
    for table in tables(raw, schema):
        named = quoting.Identifier(table)
        raw.execute(quoting.SQL("DROP POLICY IF EXISTS {} ON {}").format(_NAMED, named))
        raw.execute(quoting.SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(named))
    for name in FUNCTIONS:
        raw.execute(f"DROP FUNCTION {name}".encode())
    raw.execute(f"DROP TABLE {READERS}".encode())


_NAMED: Final = quoting.Identifier(POLICY)


def is_on(raw: psycopg.Connection[Any]) -> bool:
    """Return whether it is turned on in the schema of the ``search_path``."""
    row = raw.execute("SELECT to_regclass(%s) IS NOT NULL", (READERS,)).fetchone()
    return bool(row and row[0])


def readers(raw: psycopg.Connection[Any]) -> list[str]:
    """Return the roles that may read, in alphabetical order."""
    return [row[0] for row in raw.execute(f"SELECT role FROM {READERS} ORDER BY role".encode())]


def _check(raw: psycopg.Connection[Any], role: str, schema: str) -> None:
    row = raw.execute(
        "SELECT rolsuper OR rolbypassrls, pg_has_role(oid, (SELECT nspowner FROM pg_namespace "
        "WHERE nspname = %s), 'USAGE') FROM pg_roles WHERE rolname = %s",
        (schema, role),
    ).fetchone()
    if row is None:
        raise ConfigError(
            f"The server has no role {role!r}. Let an administrator run CREATE ROLE, then call enable_rls "
            "again."
        )
    if row[0] or row[1]:
        why = "is a superuser, or has BYPASSRLS" if row[0] else "owns the tables, as a member"
        raise ConfigError(
            f"Row-level security does not hold for the role {role!r}: it {why}. Name another role."
        )


@contextmanager
def clear_refusals(raw: psycopg.Connection[Any], shown: str, schema: str) -> Iterator[None]:
    """Raise DatabaseError where the role of a connection has not the right to do so."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        row = raw.execute(
            "SELECT current_user, pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = %s",
            (schema,),
        ).fetchone()
        role, owner = row or ("?", "?")
        raise DatabaseError(
            f"The role {role} may not change row-level security on {shown}: only the owner of the tables "
            f"may. Open the store as {owner} and call it again."
        ) from error
