"""The rows that the journal is written from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from pathlib import Path

from langmemory.engines.sql.background import journal
from langmemory.engines.sql.engine import Engine
from langmemory.engines.sql.records import standing
from langmemory.engines.sql.rooms.core import existing
from langmemory.engines.sql.tables import settings
from langmemory.engines.sql.writing.naming import Names
from langmemory.ports.journal import Learned, Pages
from langmemory.types import Namespace


class StoredJournal:
    """See `langmemory.ports.journal.JournalRows`."""

    __slots__ = ("_engine",)

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def path(self) -> str:
        return self._engine.path

    def learned(self, prefix: Namespace, days: Collection[str] | None) -> Iterator[Learned]:
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            for namespace, path in journal.namespaces(connection, prefix):
                derived = journal.derived(connection, namespace, path, days)
                if not derived:
                    continue
                keys = [found.key for found in derived]
                yield Learned(
                    namespace=path,
                    derived=derived,
                    replaced=journal.replaced(connection, namespace, keys),
                    questions=journal.questions(connection, namespace, keys),
                    names=lambda owner: Names(connection, owner or ""),
                )

    def days(self, namespace: Namespace, keys: Sequence[str]) -> set[date]:
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            pages = journal.pages_of(connection, existing(connection, namespace, keys))
        return {date.fromisoformat(day) for _, day in pages}

    def tell_names(self, namespace: Namespace, keys: Sequence[str]) -> bool:
        with self._engine.read() as snapshot:
            return standing.tell_names(snapshot.connection, namespace, keys)

    def folders(self) -> list[Path]:
        with self._engine.glance() as snapshot:
            return [Path(folder) for folder in settings.journals(snapshot.connection)]

    def keep(self, folder: Path) -> None:
        with self._engine.write() as connection:
            settings.add_journal(connection, str(folder))

    def stale(self) -> tuple[Pages, int]:
        with self._engine.glance() as snapshot:
            return journal.marked(snapshot.connection)

    def unmark(self, newest: int) -> None:
        with self._engine.write() as connection:
            journal.unmark(connection, newest)
