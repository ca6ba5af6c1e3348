"""Copying all memories from one place to another: a file, a server, or a store of LangGraph's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langmemory.config import Config
from langmemory.errors import DatabaseError
from langmemory.ledger import settings
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine, ForeignItem, Snapshot
from langmemory.ledger.indexing import Indexing
from langmemory.ledger.namespaces import from_path
from langmemory.ledger.transfer import copying, moving, sampling
from langmemory.ledger.transfer.copying import Checksum, Progress
from langmemory.operations.admin import Admin
from langmemory.operations.archive import AT_ONCE, Archive
from langmemory.operations.core import Core
from langmemory.pacing import in_steps
from langmemory.pluralize import counted, memories
from langmemory.values import from_json

SHOWN: Final = 3
"""Keys of memories that an error names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Copied:
    """What a copy holds."""

    source: str
    target: str
    memories: int
    rows: int
    """In all tables that are copied."""
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
    try:
        with source.read() as snapshot:
            rows = copying.copy(snapshot, source.path, target, indexing, progress)
            recalls = _compared(source, snapshot, target)
            moved = sorted(moving.moved(snapshot.connection))
            stats = snapshot.stats()
        _bring_back(target, archive, moved, indexing)
    finally:
        archive.close()
    _finish(target)
    return Copied(
        source=source.path, target=target.path, memories=stats.items + len(moved), rows=rows,
        vectors=stats.vectors, recalls=recalls,
    )  # fmt: skip


def _compared(source: Engine, snapshot: Snapshot, target: Engine) -> int:
    """Compare all rows and some recalls; return how many recalls."""
    with target.read() as there:
        if wrong := copying.differing(snapshot.connection, there.connection):
            raise DatabaseError(
                f"{target.path} differs from {source.path} in {', '.join(wrong)}. It stays unfinished. "
                "Let nobody else write to it, and repeat the command."
            )
        asked, items = sampling.differing(snapshot, there)
        if items:
            keys = ", ".join(map(repr, _keys(snapshot.connection, items[:SHOWN])))
            raise DatabaseError(
                f"{len(items)} of {counted(asked, 'sample recall')} differ between {source.path} and "
                f"{target.path}, among them those of {keys}; all rows are the same. If the application "
                "passes fields in its index config, name each with --field."
            )
    return asked


def _keys(connection: Connection, items: Sequence[int]) -> list[str]:
    rows = connection.execute(
        "SELECT key FROM item WHERE id IN (SELECT value FROM carray(?)) ORDER BY id",
        (connection.array(items),),
    )
    return [str(key) for (key,) in rows]


def _bring_back(target: Engine, archive: Archive, moved: Sequence[int], indexing: Indexing) -> None:
    if not moved:
        return
    with archive.expected().read() as there:
        for some in in_steps(moved, AT_ONCE):
            with target.write() as connection:
                left = moving.moved_among(connection, some)
                moving.bring_back(connection, there.connection, left, indexing)


def _finish(target: Engine) -> None:
    with target.write() as connection:
        state = settings.copying(connection)
        settings.note_copying(connection, None)
    if state is not None and state.replaced:
        target.purge()  # what an earlier run copied and the source has no more
    target.optimise()


# LangGraph's own stores.


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
        copying.begin(connection, engine.path, source, generation)
    total = sum(1 for _ in reading())
    told: dict[str, Checksum] = {"": Checksum()}

    def rows() -> Iterator[dict[str, Any]]:
        for done, one in enumerate(reading(), 1):
            told[""] = told[""].of([_said(one.path, one.key, one.value)])
            progress(done, total)
            yield _row(one)

    Admin(core, None).import_rows(rows())
    with engine.read() as snapshot:
        found = snapshot.connection.execute(
            "SELECT n.path, i.key, i.value FROM item i JOIN namespace n ON n.id = i.namespace"
        )
        there = Checksum().of(_said(*row) for row in found)
        stats = snapshot.stats()
    if there != told[""]:
        raise DatabaseError(
            f"{source} has {memories(told[''].rows)} and {engine.path} {there.rows} after the copy, or "
            "they differ: the store changed between two runs. Copy it into a new file or schema."
        )
    _finish(engine)
    return Copied(
        source=source, target=engine.path, memories=stats.items, rows=stats.items,
        vectors=stats.vectors, recalls=0,
    )  # fmt: skip


Reading = Callable[[], Iterable[ForeignItem]]


def _said(path: str, key: str, value: str) -> tuple[str, str, str]:
    """Return an item as both stores say it."""
    return path, key, json.dumps(from_json(value), sort_keys=True)


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
