"""Reads of one namespace for comparing what is new in it with everything: what changed, who says the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from langmemory.languages.spelling import normalised_text
from langmemory.ledger.engine import Snapshot
from langmemory.ledger.graph import graph
from langmemory.ledger.tables.tree import IS_NODE
from langmemory.ports.candidates import Ids
from langmemory.ports.lifecycle import NamedEntity, News
from langmemory.types import Kind

AGEING: Final[tuple[Kind, ...]] = ("semantic", "procedural", "archival")
"""Kinds of memory that age."""

KINDS: Final = f"({', '.join(map(repr, AGEING))}) AND NOT {IS_NODE.format('i')}"


class Comparing:
    """The part of `AgeingView` that compares memories, valid while the snapshot is."""

    __slots__ = ("_id", "_snapshot", "seq")

    _id: int
    _snapshot: Snapshot
    seq: int

    def _ask(self, query: str, *bindings: Any) -> Iterable[Sequence[Any]]:
        rows: Iterable[Sequence[Any]] = self._snapshot.connection.execute(query, bindings)
        return rows

    def changed(self, since_seq: int) -> Ids:
        """Return what changed after a place in the history, but for what maintenance changed itself."""
        rows = self._ask(
            "SELECT DISTINCT h.item FROM history h CROSS JOIN item i ON i.id = h.item "
            "LEFT JOIN run r ON r.id = h.run WHERE h.seq > ? AND i.namespace = ? "
            "AND (r.kind IS NULL OR r.kind <> 'maintenance') ORDER BY h.item",
            since_seq, self._id,
        )  # fmt: skip
        return np.array([row[0] for row in rows], np.int64)

    def news(self, since_seq: int, most: int) -> News:
        """Return the first derived memories that changed after a place in the history."""
        rows = list(
            self._ask(
                "SELECT h.item, max(h.seq), "
                "max(CASE WHEN coalesce(r.kind, '') <> 'reflection' THEN 1 ELSE 0 END) "
                "FROM history h CROSS JOIN item i ON i.id = h.item LEFT JOIN run r ON r.id = h.run "
                f"WHERE h.seq > ? AND i.namespace = ? AND i.kind IN {KINDS} "
                "AND (r.kind IS NULL OR r.kind <> 'maintenance') "
                "GROUP BY h.item ORDER BY 2, 1 LIMIT ?",
                since_seq, self._id, most,
            )
        )  # fmt: skip
        reached = int(rows[-1][1]) if len(rows) == most else self.seq
        return News(
            ids=np.array([row[0] for row in rows], np.int64),
            formed=frozenset(row[0] for row in rows if not row[2]),
            reached=reached,
            later=frozenset(self.changed(reached).tolist()) if reached < self.seq else frozenset(),
        )

    def same_words(self, ids: Ids) -> list[list[int]]:
        """Return groups of active facts of the same normalised text, and of others of the same value, that
        these are among."""
        rows = self._ask(
            "SELECT g.hash, g.item FROM (SELECT DISTINCT f.hash FROM carray(?) c CROSS JOIN "
            "fingerprint f ON f.item = c.value) AS told CROSS JOIN fingerprint g "
            "ON g.namespace = ? AND g.hash = told.hash CROSS JOIN item i ON i.id = g.item "
            f"WHERE i.status = 'active' AND i.kind IN {KINDS} ORDER BY g.item",
            self._snapshot.connection.array(ids), self._id,
        )  # fmt: skip
        plain = self._ask(
            "SELECT i.value, i.id FROM item i WHERE i.namespace = ? AND i.status = 'active' AND "
            f"i.kind IN {KINDS} AND i.value ->> '$.fact_kind' IS NULL ORDER BY i.id",
            self._id,
        )
        wanted = set(ids.tolist())
        copies = _groups((hash(row[0]), row[1]) for row in plain)
        return [
            *_groups((row[0], row[1]) for row in rows),
            *(one for one in copies if not wanted.isdisjoint(one)),
        ]

    def same_claims(self, ids: Ids) -> list[list[int]]:
        """Return groups of active memories of the same claim that these are among."""
        wanted = set(ids.tolist())
        claims = (
            ((relation, *sorted(map(str, (subject, end)))), item)
            for item, _, subject, relation, end in self._claims()
        )
        return [one for one in _groups(claims) if not wanted.isdisjoint(one)]

    def _claims(self) -> Iterator[tuple[int, str, int, str, int | str]]:
        """Yield the claims of active memories: id and privacy of each, the subject, the relation, and the
        object or its literal; entities as what they stand for."""
        roots = self._roots()
        for item, privacy, subject, relation, about, literal in self._ask(
            "SELECT i.id, i.privacy, e.subject, e.relation, e.object, e.literal FROM item i "
            "CROSS JOIN edge e ON e.fact = i.id WHERE i.namespace = ? AND i.status = 'active' "
            f"AND i.kind IN {KINDS} ORDER BY i.id",
            self._id,
        ):
            end = normalised_text(literal) if about is None else roots.get(about, about)
            yield item, privacy, roots.get(subject, subject), relation, end

    def _roots(self) -> dict[int, int]:
        connection = self._snapshot.connection
        return graph.roots(connection, graph.linked(connection, self._id))

    def named_entities(self) -> list[NamedEntity]:
        """Return the entities of the namespace that stand for themselves, oldest first."""
        roots = self._roots()
        rows = list(
            self._ask(
                "SELECT id, key, name, kind, same_as IS NULL AND link_run IS NOT NULL FROM entity "
                "WHERE namespace = ? ORDER BY id",
                self._id,
            )
        )
        norms: dict[int, set[str]] = defaultdict(set)
        for entity, norm in self._ask(
            "SELECT entity, norm FROM alias WHERE entity IN (SELECT id FROM entity WHERE namespace = ?)",
            self._id,
        ):
            norms[roots.get(entity, entity)].add(norm)
        facts: dict[int, dict[str, None]] = defaultdict(dict)
        for entity, key in self._ask(
            "SELECT m.entity, i.key FROM item i CROSS JOIN mention m ON m.item = i.id WHERE "
            f"i.namespace = ? AND i.status = 'active' AND i.kind IN {KINDS} "
            "AND i.privacy <> 'private' ORDER BY i.id",
            self._id,
        ):
            facts[roots.get(entity, entity)][key] = None
        claims: dict[int, set[tuple[str, str]]] = defaultdict(set)
        keys = {row[0]: row[1] for row in rows}
        for _, privacy, subject, relation, end in self._claims():
            if privacy != "private":
                claims[subject].add((relation, keys[end] if isinstance(end, int) else end))
                if isinstance(end, int):
                    claims[end].add((f"<-{relation}", keys[subject]))
        parted = {roots.get(row[0], row[0]) for row in rows if row[4]}
        return [
            NamedEntity(
                key=key, name=name, kind=kind, norms=frozenset(norms[entity]),
                facts=tuple(facts[entity]), claims=frozenset(claims[entity]),
                parted=entity in parted,
            )
            for entity, key, name, kind, _ in rows
            if roots.get(entity, entity) == entity
        ]  # fmt: skip


def _groups(pairs: Iterable[tuple[object, int]]) -> list[list[int]]:
    """The items of each mark that at least two have."""
    found: dict[object, dict[int, None]] = defaultdict(dict)
    for mark, item in pairs:
        found[mark][item] = None
    return [list(one) for one in found.values() if len(one) > 1]
