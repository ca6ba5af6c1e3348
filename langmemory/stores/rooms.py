"""The one module that chooses an engine, and the names of its rooms for the rest of the package."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from langmemory.config import DatabaseConfig
from langmemory.engines.sql.engine import Engine
from langmemory.engines.sql.reading.operations import Batch, take_apart
from langmemory.engines.sql.reading.walking import MOST_EDGES, Stretch
from langmemory.engines.sql.rooms import batching, recalling, remembering
from langmemory.engines.sql.rooms.admin import Admin, UnreadThread, ViewerAdmin
from langmemory.engines.sql.rooms.bus import MIN_SIMILARITY, Bus
from langmemory.engines.sql.rooms.changes import Changes, ViewerChanges, archived
from langmemory.engines.sql.rooms.conversing import Conversing, conversing_of
from langmemory.engines.sql.rooms.copying import (
    Copied,
    copy_items,
    copy_memory,
    refuse_unfinished,
)
from langmemory.engines.sql.rooms.core import Core
from langmemory.engines.sql.rooms.drafts import MessageOptions
from langmemory.engines.sql.rooms.events import FORGET, RECALL, REMEMBER
from langmemory.engines.sql.rooms.feed import Feed
from langmemory.engines.sql.rooms.following import follow_up
from langmemory.engines.sql.rooms.forgetting import complete_forgetting, forget_for_good
from langmemory.engines.sql.rooms.gathering import Gathering
from langmemory.engines.sql.rooms.graph import Graph
from langmemory.engines.sql.rooms.jobs import Jobs
from langmemory.engines.sql.rooms.journal import StoredJournal
from langmemory.engines.sql.rooms.lifecycle import Lifecycle, MaintenanceNight
from langmemory.engines.sql.rooms.maintaining import Maintaining
from langmemory.engines.sql.rooms.paging import FilePages, Pages
from langmemory.engines.sql.rooms.recalling import (
    RecallOptions,
    as_expander,
    as_reranker,
    check_kinds,
    check_min_score,
)
from langmemory.engines.sql.rooms.tokens import Tokens
from langmemory.engines.sql.tables.foreign import Contents, ForeignItem
from langmemory.engines.sql.writing.indexing import IndexConfig
from langmemory.engines.sqlite import Engine as SqliteEngine
from langmemory.engines.sqlite import foreign as sqlite_foreign
from langmemory.engines.sqlite.reembedding import reembed
from langmemory.projections.journal import Journal

__all__ = [
    "FORGET",
    "MIN_SIMILARITY",
    "MOST_EDGES",
    "RECALL",
    "REMEMBER",
    "Admin",
    "Batch",
    "Bus",
    "Changes",
    "Conversing",
    "Copied",
    "Core",
    "Engine",
    "Feed",
    "FilePages",
    "Gathering",
    "Graph",
    "IndexConfig",
    "Jobs",
    "Lifecycle",
    "Maintaining",
    "MaintenanceNight",
    "MessageOptions",
    "Pages",
    "RecallOptions",
    "Stretch",
    "Tokens",
    "UnreadThread",
    "ViewerAdmin",
    "ViewerChanges",
    "archived",
    "as_expander",
    "as_reranker",
    "batching",
    "check_kinds",
    "check_min_score",
    "complete_forgetting",
    "contents_of",
    "conversing_of",
    "copy_items",
    "copy_memory",
    "follow_up",
    "foreign_items",
    "forget_for_good",
    "journal_of",
    "open_engine",
    "recalling",
    "reembed",
    "refuse_unfinished",
    "remembering",
    "shown",
    "take_apart",
]  # fmt: skip


SERVERS: Final = ("postgresql://", "postgres://")
"""Begin the address of a server."""


def open_engine(path: str | os.PathLike[str], settings: DatabaseConfig) -> Engine:
    """Open a memory file, creating it if there is none."""
    if str(path).startswith(SERVERS):
        from langmemory.engines.postgres import Engine as PostgresEngine

        return PostgresEngine(str(path), settings=settings)
    return SqliteEngine(path, settings=settings)


def shown(place: str) -> str:
    """Return a place as a person names it, without a password."""
    if not place.startswith(SERVERS):
        return place
    from langmemory.engines.postgres.database import Address

    return Address(place).shown


def contents_of(place: str) -> Contents:
    """Return what is in a file or on a server."""
    if place.startswith(SERVERS):
        from langmemory.engines.postgres import foreign

        return foreign.contents(place)
    return sqlite_foreign.contents(place)


def foreign_items(place: str) -> Iterator[ForeignItem]:
    """Yield the items of a store of LangGraph's own."""
    if place.startswith(SERVERS):
        from langmemory.engines.postgres import foreign

        return foreign.items(place)
    return sqlite_foreign.items(place)


def journal_of(engine: Engine) -> Journal:
    """Return the journal of an open file."""
    return Journal(StoredJournal(engine))
