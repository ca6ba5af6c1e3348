"""The rows that the journal is written from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import numpy as np

from langmemory.ledger import anchors, history, items, journal, namespaces, settings, standing
from langmemory.ledger.ageing import AgeingView
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine, run_in_write
from langmemory.ledger.indexing import Names
from langmemory.ledger.values import from_us
from langmemory.lifecycle.retention import salience
from langmemory.lifecycle.summaries.nodes import key_of, sentences_of
from langmemory.operations.core import existing
from langmemory.ports.journal import (
    DreamRow,
    Learned,
    MonthRows,
    Pages,
    Remembered,
    RememberedRow,
    StateRow,
)
from langmemory.projections.journal import Journal
from langmemory.types import Memory, Namespace
from langmemory.values import from_json

MOST_REMEMBERED = 500
"""Memories, the most salient, from which a page is made."""
LONGEST = 300
"""Characters; a longer text is no line of a page."""
CORE = "core"
"""Last label of the namespace of core blocks."""


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
                learned = _learned(connection, namespace, path, days)
                if learned is not None:
                    yield learned

    @contextmanager
    def month(self, namespace: Namespace, month: str) -> Iterator[MonthRows | None]:
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            place = namespaces.find(connection, namespace)
            days = {f"{month}-{day:02d}" for day in range(1, 32)}
            learned = None if place is None else _learned(connection, place, namespace, days)
            if learned is None:
                yield None
                return
            view = AgeingView(snapshot, namespace)
            keys = [row.key for row in learned.derived]
            readers = {
                (row.owner or "") if row.privacy == "private" else None for row in learned.derived
            }
            nodes = _retelling(view, month, sorted(days), readers)
            leaves = [leaf for node in nodes for one in sentences_of(node) for leaf in one.leaves]
            retold = view.memories(np.array(list(view.find(leaves).values()), np.int64))
            ids = view.find(keys)
            told = np.array(list(ids.values()), np.int64)
            by_id = {item: key for key, item in ids.items()}
            yield MonthRows(
                learned=learned,
                nodes={node.value["reader"]: node for node in nodes},
                retold={one.key: one for one in retold},
                vectors={
                    by_id[int(item)]: vector
                    for item, vector in zip(*view.vectors(told), strict=True)
                },
                evidence={by_id[item]: turns for item, turns in view.evidence(told).items()},
                spoken=journal.entities_by_item(connection, told),
            )

    def distilled(self) -> dict[Namespace, str]:
        with self._engine.glance() as snapshot:
            connection = snapshot.connection
            months = settings.distilled_months(connection)
            rows = connection.execute("SELECT id, path FROM namespace") if months else ()
            return {namespaces.from_path(path): months[id] for id, path in rows if id in months}

    def distil(self, prefix: Namespace, through: str | None, *, dry_run: bool) -> Pages:
        def distil(connection: Connection) -> dict[int, Pages]:
            leaving = journal.leaving(connection, prefix, through)
            for namespace in leaving:
                settings.note_distilled(connection, namespace, through)
            journal.mark(connection, set().union(*leaving.values()))
            return leaving

        if dry_run:
            with self._engine.read() as snapshot:
                leaving = journal.leaving(snapshot.connection, prefix, through)
        else:
            leaving = run_in_write(self._engine, distil)
        return set().union(*leaving.values())

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
        run_in_write(self._engine, lambda connection: settings.add_journal(connection, str(folder)))

    def stale(self) -> tuple[Pages, int]:
        with self._engine.glance() as snapshot:
            return journal.stale_pages(snapshot.connection)

    def unmark(self, newest: int) -> None:
        run_in_write(self._engine, lambda connection: journal.unmark(connection, newest))

    def remembered(self, prefix: Namespace, now_us: int) -> Iterator[Remembered]:
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            for path in namespaces.with_memories(connection, prefix):
                if path[-1] == CORE:
                    continue
                aged = AgeingView(snapshot, path).aged()
                may = aged.one_of(aged.status, "active") & ~aged.one_of(aged.priority, "archive")
                aged = aged.take(may & aged.one_of(aged.kind, "semantic", "procedural"))
                order = np.lexsort((aged.ids, -salience(aged, now_us)))[:MOST_REMEMBERED]
                names: dict[str | None, Names] = {}
                rows = []
                for one in items.memories(connection, aged.ids[order]):
                    text = one.value.get("text", one.value.get("content"))
                    if not isinstance(text, str) or len(text) > LONGEST:
                        continue
                    reader = (one.owner or "") if one.privacy == "private" else ""
                    named = names.setdefault(reader, Names(connection, reader))
                    statement = "rule" if one.kind == "procedural" else one.value.get("fact_kind")
                    rows.append(
                        RememberedRow(
                            one.key,
                            named.told(path, one.owner, one.value, text),
                            str(statement or ""),
                            one.owner,
                            one.privacy,
                        )
                    )
                yield Remembered(namespace=path, core=_core(connection, path), rows=rows)

    def holding(
        self, namespace: Namespace, keys: Sequence[str], owner: str | None
    ) -> frozenset[str]:
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            found = items.memories(connection, np.array(existing(connection, namespace, keys), int))
        return frozenset(
            one.key
            for one in found
            if one.status == "active"
            and (one.owner or "" if one.privacy == "private" else None) == owner
        )

    def core(self, namespace: Namespace) -> dict[str, str]:
        with self._engine.read() as snapshot:
            return _core(snapshot.connection, namespace)

    def with_state(self, prefix: Namespace) -> list[Namespace]:
        with self._engine.read() as snapshot:
            return journal.with_state(snapshot.connection, prefix)

    def state(self, namespace: Namespace) -> list[StateRow]:
        with self._engine.read() as snapshot:
            place = namespaces.find(snapshot.connection, namespace)
            rows = list(anchors.iterate_records(snapshot.connection, place or 0, journal.STATE))
        found = []
        for key, record, text, status, owner, privacy, created_us, updated_us in rows:
            at = from_us(updated_us if record == "task" else created_us)
            found.append(
                StateRow(key, record, from_json(text), status == "active", owner, privacy, at)
            )
        return found

    def stamp(self) -> tuple[int, str | None]:
        with self._engine.read() as snapshot:
            connection = snapshot.connection
            return history.newest(connection), settings.newest_forgetting(connection)

    def dreaming(self) -> list[Namespace]:
        with self._engine.read() as snapshot:
            return journal.namespaces_of_nights(snapshot.connection)

    def dreamt(self, namespace: Namespace) -> list[DreamRow]:
        with self._engine.read() as snapshot:
            return journal.rows_of_nights(snapshot.connection, namespace)


def _learned(
    connection: Connection, namespace: int, path: Namespace, days: Collection[str] | None
) -> Learned | None:
    """What was learned in one namespace; None where nothing was."""
    derived = journal.facts_of_days(connection, namespace, path, days)
    if not derived:
        return None
    keys = [found.key for found in derived]
    return Learned(
        namespace=path,
        derived=derived,
        replaced=journal.superseded_facts(connection, namespace, keys),
        questions=journal.questions(connection, namespace, keys),
        names=lambda owner: Names(connection, owner or ""),
    )


def _core(connection: Connection, namespace: Namespace) -> dict[str, str]:
    """Core blocks that say something, by label."""
    place = namespaces.find(connection, (*namespace, CORE))
    rows = connection.execute(
        "SELECT key, value ->> '$.content' FROM item WHERE namespace = ? AND kind = 'core' "
        "AND privacy <> 'private' ORDER BY key",
        (place or 0,),
    )
    return {str(key): str(content) for key, content in rows if content}


def journal_of(engine: Engine) -> Journal:
    """Return the journal of an open file."""
    return Journal(StoredJournal(engine))


def _retelling(
    view: AgeingView, month: str, days: Sequence[str], readers: Iterable[str | None]
) -> list[Memory]:
    """Return the summary of a month for each of its readers; where it has a single day, that of the day."""
    found = list[Memory]()
    for reader in readers:
        above = view.find([key_of("month", month, reader)])
        alone = above or view.find([key_of("day", day, reader) for day in days])
        if len(alone) == 1:
            found += view.memories(np.array([*alone.values()], np.int64))
    return found
