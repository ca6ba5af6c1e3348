"""Copying all memories from one place to another: a file, a server, or a store of LangGraph's.

A copy is an export that an import takes in one go, with the vectors that the source has. What no export tells
of, such as jobs, tokens and messages, goes along row by row (`Table.copied`).
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

from langmemory.config import Config
from langmemory.errors import ConfigError, DatabaseError, ImportFormatError, InvalidValueError
from langmemory.ledger import settings
from langmemory.ledger.connection import Connection, insert
from langmemory.ledger.engine import Engine, ForeignItem
from langmemory.ledger.indexing import Indexing
from langmemory.ledger.namespaces import from_path, intern
from langmemory.ledger.runs import forgettings
from langmemory.ledger.tables import schema
from langmemory.ledger.tables.table import Table
from langmemory.ledger.transfer import sampling, transfer
from langmemory.operations.admin import Admin
from langmemory.operations.archive import Archive
from langmemory.operations.core import Core
from langmemory.pluralize import count_noun, memories
from langmemory.search.searching import now_us
from langmemory.values import from_json

SHOWN: Final = 3
"""Keys of memories that an error names."""

Progress = Callable[[int, int], None]
"""Called with (memories done, memories in all)."""
Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Copied:
    """What a copy holds."""

    source: str
    target: str
    memories: int
    rows: int
    """Of the export that was taken over."""
    vectors: int
    recalls: int
    """Sample recalls whose best ten are the same in both."""


def refuse_unfinished(engine: Engine) -> None:
    """Raise where a database is a copy that is not whole yet.

    Raises:
        DatabaseError: It says what finishes the copy.
    """
    with engine.glance() as snapshot:
        state = settings.copying(snapshot.connection)
    if state is not None:
        raise DatabaseError(
            f"{engine.path} is an unfinished copy of {state.source}. Finish it: "
            f"langmemory copy {state.source} {engine.path}"
        )


class _Checksums:
    """How many rows of each type there are and what they say, in whatever order."""

    def __init__(self) -> None:
        self.rows: defaultdict[str, int] = defaultdict(int)
        self._digests: defaultdict[str, int] = defaultdict(int)

    def counting(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows as they are, and count them."""
        for row in rows:
            self.add(row)
            yield row

    def add(self, row: Row) -> None:
        """Count a row, but for what two exports need not have alike."""
        if row["type"] == "meta":
            return
        plain = {name: said for name, said in row.items() if name not in ("indexed", "life")}
        if row["type"] == schema.SETTING.name:
            plain["value"] = str(row["value"])  # as PostgreSQL keeps it
        digest = hashlib.blake2b(_json(plain), digest_size=16)
        if isinstance(indexed := row.get("indexed"), transfer.Indexed):
            digest.update(indexed.vectors[0].tobytes())
            digest.update(_json([indexed.vectors[1], indexed.sparse, indexed.tokens]))
        self.rows[row["type"]] += 1
        self._digests[row["type"]] += int.from_bytes(digest.digest(), "big")

    def differing(self, other: _Checksums) -> list[str]:
        """Return the types of rows that differ, and how many rows each has."""
        return [
            f"{kind} ({self.rows[kind]} and {other.rows[kind]} rows)"
            for kind in sorted({*self.rows, *other.rows})
            if self._digests[kind] != other._digests[kind]
        ]


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, default=lambda one: bytes(one).hex()).encode()


def copy_memory(
    source: Engine,
    target: Engine,
    open_archive: Callable[[str], Engine],
    *,
    fields: Sequence[str] | None,
    config: Config,
    progress: Progress,
) -> Copied:
    """Copy everything from one memory into an empty one, compare the two, and let the copy be opened.

    Memories that moved to the archive file of the source are in the memory itself of the copy.

    Args:
        fields: Those of the index config of the application, where it has any.

    Raises:
        DatabaseError: The target cannot take it, or the two are not the same; it says why.
    """
    indexing = Indexing(
        embedder=None, mode="keyword", fields=None if fields is None else tuple(fields)
    )
    if source.filtered:
        raise DatabaseError(
            f"The role with which {source.path} is open may not see all of it. Copy as the owner of its "
            "tables."
        )
    archive = Archive(source, open_archive, source.archive_path(config.database), indexing)
    asked, wrong = 0, list[str]()
    try:
        _check_source(source, target)
        with source.read() as snapshot, archive.whole(()) as (with_archive, missing):
            if missing is not None:
                raise DatabaseError(missing)
            connection = snapshot.connection if with_archive is None else with_archive
            sums, here = _Checksums(), _Checksums()
            _take(connection, target, indexing, sums, source.path, progress)
            with target.read() as there:
                for row in _rows(there.connection):
                    here.add(row)
                if differing := sums.differing(here):
                    raise DatabaseError(
                        f"{target.path} differs from {source.path} in {', '.join(differing)}. It stays "
                        "unfinished: the source changed between two runs, or somebody wrote to the target. "
                        "Copy into a new place."
                    )
                if with_archive is None:  # else words are as frequent as in both files together
                    asked, wrong = sampling.differing(snapshot, there)
    finally:
        archive.close()
    if wrong:
        raise DatabaseError(
            f"{len(wrong)} of {count_noun(asked, 'sample recall')} differ between {source.path} and "
            f"{target.path}, among them those of {', '.join(map(repr, wrong[:SHOWN]))}; all rows are the "
            "same. If the application passes fields in its index config, copy into a new place and name "
            "each with --field."
        )
    return _finished(source.path, target, sum(sums.rows.values()), asked)


def _check_source(source: Engine, target: Engine) -> None:
    """Mark the target as an unfinished copy, with the model of the source.

    Raises:
        DatabaseError: The target is not empty, or cannot hold what there is.
    """
    with source.read() as snapshot:
        model, archive = (
            settings.read_model(snapshot.connection),
            settings.is_archive(snapshot.connection),
        )
        unfinished, vectors = settings.copying(snapshot.connection), snapshot.stats().vectors
    name = source.path
    if archive:
        raise DatabaseError(
            f"{name} is the archive file of a memory file. Copy the memory file: what moved to "
            "its archive file comes along."
        )
    if unfinished:
        raise DatabaseError(
            f"{name} is itself an unfinished copy of {unfinished.source}. Finish it first: "
            f"langmemory copy {unfinished.source} {name}"
        )
    with target.write() as there:
        ours = settings.read_model(there)
        if ours.generation == model.generation:
            raise ConfigError(
                f"{target.path} is the same place as {name}, or a copy of its file. Name another target."
            )
        if vectors and not there.holds_vectors():
            raise DatabaseError(
                f"{name} has {count_noun(vectors, 'vector')}, and the database of {target.path} has "
                "no extension vector. Let an administrator run CREATE EXTENSION vector in it, then copy "
                "into a new schema."
            )
        _begin(there, target.path, name, model.generation)
        settings.write_model(there, replace(ours, model=model.model, dims=model.dims))


def _begin(target: Connection, path: str, source: str, generation: int) -> None:
    """Mark a target as an unfinished copy, unless an earlier run did.

    Args:
        path: Of the target, ``source`` that of the source.
        generation: Of the source, by which a later run knows it.

    Raises:
        DatabaseError: It is neither empty nor an unfinished copy of this source.
    """
    found = settings.copying(target)
    if found is None:
        own = (schema.SETTING, schema.LEASE)
        full = [
            table.name
            for table in schema.tables()
            if table.index is None and table not in own and _any(target, table.name)
        ]
        if full:
            raise DatabaseError(
                f"{path} is not empty: it has rows in {', '.join(full[:3])}. Name a new file or schema."
            )
        settings.note_copying(target, settings.Copying(source=source, generation=generation))
    elif found.generation != generation:
        raise DatabaseError(
            f"{path} is an unfinished copy of {found.source}. Finish that, or name another target."
        )


def _any(connection: Connection, table: str) -> bool:
    return connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None


def _take(
    source: Connection,
    target: Engine,
    indexing: Indexing,
    sums: _Checksums,
    name: str,
    progress: Progress,
) -> None:
    """Import all rows of the source, whose path is ``name``, and count them."""
    (total,) = source.execute("SELECT count(*) FROM item").fetchone()
    done = 0
    with target.read() as snapshot:
        since = forgettings(snapshot.connection)
    for batch in transfer.in_batches(sums.counting(_exported(source))):
        try:
            writes = transfer.drafts(indexing, batch)
            with target.write() as there:
                transfer.write_rows(there, batch, writes, now_us(), since)
        except (DatabaseError, ImportFormatError, InvalidValueError) as error:
            keys = [row["key"] for row in batch if row["type"] == "item"] or [
                "what stands beside them"
            ]
            raise DatabaseError(
                f"{error} It is a row of {name}, among those from {keys[0]!r} to {keys[-1]!r}. What is "
                "before it is copied; repeat the command to go on."
            ) from error
        done += len(writes)
        progress(done, total)
    tables = [table for table in schema.tables() if table.copied]
    with target.write() as there:
        for table in reversed(tables):
            there.execute(f"DELETE FROM {table.name} WHERE {_copied(table)}")
        for table in tables:
            rows = list(sums.counting(_rows_of(source, table)))
            homes = table.ids_of("namespace")
            insert(
                there,
                f"{table.name} ({', '.join(table.names)})",
                [
                    [
                        _interned(there, row[one]) if one in homes else row[one]
                        for one in table.names
                    ]
                    for row in rows
                ],
            )
        there.raise_last_ids(source.last_ids())


def _interned(connection: Connection, path: str | None) -> int | None:
    return None if path is None else intern(connection, from_path(path))


def _exported(connection: Connection) -> Iterator[dict[str, Any]]:
    state = transfer.Exporting(indexed=True)
    return transfer.export_rows(lambda: nullcontext(connection), state=state)


def _copied(table: Table) -> str:
    """Return which rows of a table are copied, as SQL."""
    own = ", ".join(f"'{name}'" for name in sorted(settings.OWN))
    return f"name NOT IN ({own})" if table is schema.SETTING else "TRUE"


def _rows_of(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table that are copied, with the paths of their namespaces."""
    paths = dict(connection.execute("SELECT id, path FROM namespace").fetchall())
    query = f"SELECT {', '.join(table.names)} FROM {table.name} WHERE {_copied(table)}"
    for found in connection.execute(query).fetchall():
        row = {"type": table.name, **dict(zip(table.names, found, strict=True))}
        for column in table.ids_of("namespace"):
            row[column] = paths.get(row[column])
        yield row


def _rows(connection: Connection) -> Iterator[Row]:
    """Yield all rows that a copy has."""
    yield from _exported(connection)
    for table in schema.tables():
        if table.copied:
            yield from _rows_of(connection, table)


def _finished(source: str, target: Engine, rows: int, recalls: int) -> Copied:
    """Let the copy be opened."""
    with target.write() as connection:
        settings.note_copying(connection, None)
    target.optimise()
    with target.read() as snapshot:
        stats = snapshot.stats()
    return Copied(
        source=source, target=target.path, memories=stats.items, rows=rows, vectors=stats.vectors,
        recalls=recalls,
    )  # fmt: skip


# LangGraph's own stores.

Reading = Callable[[], Iterable[ForeignItem]]


def copy_items(core: Core, source: str, reading: Reading, progress: Progress) -> Copied:
    """Copy the items of one of LangGraph's own stores into an empty memory, and compare the two.

    Times and TTLs stay; vectors are made anew, since such a store does not say by which model.

    Args:
        core: The open target.
        source: How a person names the store, without a password.
        reading: Return the items that are there, all of one moment, at each call.
    """
    engine = core.engine
    generation = int.from_bytes(hashlib.blake2b(source.encode(), digest_size=7).digest(), "big")
    with engine.write() as connection:
        _begin(connection, engine.path, source, generation)
    total = sum(1 for _ in reading())
    theirs, ours = _Checksums(), _Checksums()

    def rows() -> Iterator[dict[str, Any]]:
        for done, one in enumerate(reading(), 1):
            theirs.add(_said(one.path, one.key, one.value))
            progress(done, total)
            yield _row(one)

    Admin(core, None).import_rows(rows())
    with engine.read() as snapshot:
        for found in snapshot.connection.execute(
            "SELECT n.path, i.key, i.value FROM item i JOIN namespace n ON n.id = i.namespace"
        ):
            ours.add(_said(*found))
    if theirs.differing(ours):
        raise DatabaseError(
            f"{source} has {memories(theirs.rows['item'])} and {engine.path} {ours.rows['item']} after the "
            "copy, or they differ: the store changed between two runs. Copy it into a new file or schema."
        )
    return _finished(source, engine, theirs.rows["item"], 0)


def _said(path: str, key: str, value: str) -> Row:
    """Return an item as both stores say it."""
    return {"type": "item", "path": path, "key": key, "value": from_json(value)}


def _row(one: ForeignItem) -> dict[str, Any]:
    """Return an item as `Admin.import_rows` takes it."""
    times = {
        "created_at": one.created_at, "updated_at": one.updated_at, "expires_at": one.expires_at,
    }  # fmt: skip
    return {
        "type": "item", "namespace": list(from_path(one.path)), "key": one.key,
        "value": from_json(one.value), "index": None, "ttl_minutes": one.ttl_minutes,
        **{name: at for name, at in times.items() if at is not None},
    }  # fmt: skip
