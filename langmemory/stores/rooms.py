"""The one module that chooses an engine, and the names of its rooms for the rest of the package."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from langmemory.addresses import is_server
from langmemory.config import DatabaseConfig
from langmemory.engines.sql.engine import Engine
from langmemory.engines.sql.reading.operations import Batch, take_apart
from langmemory.engines.sql.reading.walking import MOST_EDGES, Stretch
from langmemory.engines.sql.rooms import batching, recalling, remembering
from langmemory.engines.sql.rooms.admin import Admin, UnreadThread, ViewerAdmin
from langmemory.engines.sql.rooms.changes import Changes, ViewerChanges, archived
from langmemory.engines.sql.rooms.conversing import Conversing, conversing_of
from langmemory.engines.sql.rooms.copying import (
    Copied,
    copy_items,
    copy_memory,
    refuse_unfinished,
)
from langmemory.engines.sql.rooms.core import Core
from langmemory.engines.sql.rooms.core_files import MODELS, CoreFiles, follow_blocks
from langmemory.engines.sql.rooms.events import FORGET, RECALL, REMEMBER
from langmemory.engines.sql.rooms.feed import Feed
from langmemory.engines.sql.rooms.following import follow_up
from langmemory.engines.sql.rooms.forgetting import complete_forgetting, forget_for_good
from langmemory.engines.sql.rooms.gathering import Gathering
from langmemory.engines.sql.rooms.graph import Graph
from langmemory.engines.sql.rooms.jobs import Jobs
from langmemory.engines.sql.rooms.journal import StoredJournal
from langmemory.engines.sql.rooms.lifecycle import Lifecycle, MaintenanceNight
from langmemory.engines.sql.rooms.maintaining import Maintaining, this_process
from langmemory.engines.sql.rooms.paging import FilePages, Pages
from langmemory.engines.sql.rooms.procedures import FoundProcedure, Procedures
from langmemory.engines.sql.rooms.recalling import (
    as_expander,
    as_planner,
    as_reranker,
)
from langmemory.engines.sql.rooms.seeding import seeding
from langmemory.engines.sql.rooms.tokens import Tokens
from langmemory.engines.sql.rooms.vault import Vault, ViewerVault
from langmemory.engines.sql.tables.foreign import Contents, ForeignItem
from langmemory.engines.sql.tables.settings import ModelSetting
from langmemory.engines.sql.transfer.transfer import row_types
from langmemory.engines.sql.writing.encoding import encode_items
from langmemory.engines.sql.writing.indexing import IndexConfig, Indexing, resolve_indexing
from langmemory.engines.sql.writing.reembedding import Progress, reembed_items
from langmemory.engines.sqlite import Engine as SqliteEngine
from langmemory.engines.sqlite import foreign as sqlite_foreign
from langmemory.errors import ConfigError, with_extra
from langmemory.projections.journal import Journal

__all__ = [
    "FORGET",
    "MODELS",
    "MOST_EDGES",
    "RECALL",
    "REMEMBER",
    "Admin",
    "Batch",
    "Changes",
    "Conversing",
    "Copied",
    "Core",
    "CoreFiles",
    "Engine",
    "Feed",
    "FilePages",
    "FoundProcedure",
    "Gathering",
    "Graph",
    "IndexConfig",
    "Indexing",
    "Jobs",
    "Lifecycle",
    "Maintaining",
    "MaintenanceNight",
    "ModelSetting",
    "Pages",
    "Procedures",
    "Progress",
    "Stretch",
    "Tokens",
    "UnreadThread",
    "Vault",
    "ViewerAdmin",
    "ViewerChanges",
    "ViewerVault",
    "archived",
    "as_expander",
    "as_planner",
    "as_reranker",
    "batching",
    "complete_forgetting",
    "contents_of",
    "conversing_of",
    "copy_items",
    "copy_memory",
    "encode_items",
    "follow_blocks",
    "follow_up",
    "foreign_items",
    "forget_for_good",
    "is_there",
    "journal_of",
    "open_engine",
    "recalling",
    "reembed_items",
    "refuse_unfinished",
    "remembering",
    "resolve_indexing",
    "row_types",
    "seeding",
    "take_apart",
    "this_process",
]  # fmt: skip


def open_engine(path: str | os.PathLike[str], settings: DatabaseConfig) -> Engine:
    """Open a memory file, or a schema of a PostgreSQL server; each is created if there is none.

    Raises:
        ConfigError: It is on a server, and psycopg is not installed.
    """
    if is_server(path):
        with _needs_psycopg():
            from langmemory.engines.postgres import Engine as PostgresEngine
        return PostgresEngine(os.fspath(path), settings=settings)
    return SqliteEngine(path, settings=settings)


def is_there(path: str) -> bool:
    """Return whether there is a memory at an address."""
    if not is_server(path):
        return os.path.exists(path)
    with _needs_psycopg():
        from langmemory.engines import postgres
    return postgres.is_there(path)


def contents_of(path: str) -> Contents:
    """Return what is at an address: a memory, a store of LangGraph's own, or neither."""
    if not is_server(path):
        return sqlite_foreign.contents(path)
    with _needs_psycopg():
        from langmemory.engines.postgres import foreign
    return foreign.contents(path)


def foreign_items(path: str) -> Iterator[ForeignItem]:
    """Yield the items of a store of LangGraph's own."""
    if not is_server(path):
        return sqlite_foreign.items(path)
    with _needs_psycopg():
        from langmemory.engines.postgres import foreign
    return foreign.items(path)


@contextmanager
def _needs_psycopg() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"A memory on a PostgreSQL server needs psycopg: {with_extra('postgres')} ({error})."
        ) from error


def journal_of(engine: Engine) -> Journal:
    """Return the journal of an open file."""
    return Journal(StoredJournal(engine))
