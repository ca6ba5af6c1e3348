"""One namespace as lifecycle reads it, on one snapshot: `ports.lifecycle.LifecycleView`, comparisons of
what is new with the rest, and the figures of `lifecycle.health.Health`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from sys import intern
from typing import Any, Final

import numpy as np

from langmemory.changes import OpenReview, Option
from langmemory.context import dependencies
from langmemory.languages.spelling import normalised_text
from langmemory.ledger import (
    graph_rows,
    history,
    items,
    namespaces,
    progress,
    reviews,
    usage,
    verbatim,
)
from langmemory.ledger.anchors import is_anchor
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Snapshot
from langmemory.ledger.namespaces import below, from_path
from langmemory.ledger.scopes import CompiledScope
from langmemory.ledger.values import IS_NODE, from_us, to_us
from langmemory.lifecycle.health import FADED, WEEKS, Health
from langmemory.lifecycle.policies import PolicyOptions, unreachable_rules
from langmemory.lifecycle.retention import DAY_US, RetentionOptions, ageing, retention
from langmemory.ports.candidates import UNKNOWN_TIME, Floats, Ids
from langmemory.ports.lifecycle import Aged, NamedEntity, News, Stated, Times
from langmemory.types import Ageing, Kind, Memory, Namespace, Scope
from langmemory.values import from_json, readable_text

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
        return graph_rows.roots(connection, graph_rows.linked_entities(connection, self._id))

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


FOREVER: Final = 2**63 - 1
"""Microseconds that no time reaches."""

_WITHIN: Final = "i.namespace = ?"
"""The condition that `AgeingView.read_aged` replaces where it reads only some memories."""
_ONLY: Final = "i.id IN (SELECT value FROM carray(?))"

_COLUMNS: Final = {
    "id": "i.id", "key": "i.key", "kind": "i.kind", "status": "i.status", "priority": "i.priority",
    "trust": "i.trust", "owner": "i.owner", "privacy": "i.privacy", "relation": "i.value ->> '$.relation'",
    "fact_kind": "i.value ->> '$.fact_kind'", "temporal_class": "i.value ->> '$.temporal_class'",
    "pinned": "i.pinned", "verified": "i.verified", "corrects": "i.value ->> '$.corrects'",
    "importance": "i.importance", "confidence": "i.confidence", "created_at": "i.created_at",
    "valid_at": "i.valid_at", "invalid_at": "i.invalid_at", "expired_at": "i.expired_at",
    "when": "i.value ->> '$.when'", "kept_at": "i.value ->> '$.kept_at'", "loaded": "u.loaded",
    "referenced": "u.referenced", "succeeded": "u.succeeded", "matched": "c.matched",
    "relevance": "c.relevance", "used_at": "c.used_at", "shown_at": "i.accessed_at",
}  # fmt: skip
_ROWS: Final = f"""
    SELECT {", ".join(_COLUMNS.values())}
    FROM item i LEFT JOIN usage u ON u.item = i.id LEFT JOIN citation c ON c.item = i.id
    WHERE {_WITHIN} AND i.kind IN {KINDS} ORDER BY i.id"""

_EVIDENCE: Final = f"""
    SELECT v.item, count(*), max(coalesce(s.valid_at, s.created_at)) FROM item i
    CROSS JOIN evidence v ON v.item = i.id CROSS JOIN item s ON s.id = v.source
    WHERE {_WITHIN} AND i.kind IN {KINDS} GROUP BY v.item"""

_MENTIONS: Final = f"""
    SELECT m.entity, m.item FROM item i CROSS JOIN mention m ON m.item = i.id
    WHERE {_WITHIN} AND i.kind IN {KINDS}"""

_MENTIONS_BESIDE: Final = f"""
    SELECT m.entity, m.item FROM mention m CROSS JOIN item o ON o.id = m.item
    WHERE m.entity IN (SELECT o.entity FROM item i CROSS JOIN mention o ON o.item = i.id
    WHERE {_WITHIN} AND i.kind IN {KINDS}) AND o.kind IN {KINDS.replace("i.", "o.")}"""
"""As `_MENTIONS`, of all memories that speak of what some speak of."""

_REPLACES: Final = f"""
    SELECT i.id FROM item i WHERE {_WITHIN} AND i.kind IN {KINDS} AND EXISTS (SELECT 1 FROM item o
    WHERE o.namespace = i.namespace AND o.superseded_by = i.key)"""

_SUPPORTS: Final = f"""
    SELECT DISTINCT v.source FROM item i CROSS JOIN evidence v ON v.source = i.id
    CROSS JOIN item d ON d.id = v.item
    WHERE {_WITHIN} AND i.kind IN {KINDS} AND d.status = 'active'
    AND NOT ({IS_NODE.format("d")})"""


class AgeingView(Comparing):
    """Reads of one namespace, valid while the snapshot is."""

    __slots__ = ("_namespace",)

    def __init__(self, snapshot: Snapshot, namespace: Namespace) -> None:
        self._snapshot, self._namespace = snapshot, namespace
        self._id = namespaces.find(snapshot.connection, namespace) or 0
        self.seq = history.newest(snapshot.connection)

    @property
    def namespace(self) -> Namespace:
        return self._namespace

    def aged(self, only: Ids | None = None) -> Aged:
        """Return every derived memory, whatever its status.

        Args:
            only: Of these ids, in whatever namespaces they are; None is all of the namespace.
        """
        connection = self._snapshot.connection

        def ask(query: str) -> list[Sequence[Any]]:
            if only is None:
                return list(self._ask(query, self._id))
            return list(self._ask(query.replace(_WITHIN, _ONLY), connection.array(only)))

        rows = ask(_ROWS)
        columns: dict[str, tuple[Any, ...]] = dict.fromkeys(_COLUMNS, ())
        columns |= zip(_COLUMNS, zip(*rows, strict=True), strict=False)
        n = len(rows)
        ids = np.fromiter(columns["id"], np.int64, n)
        counts, told = np.zeros(n, np.int64), np.full(n, UNKNOWN_TIME)
        found = ask(_EVIDENCE)
        if found:
            at = np.searchsorted(ids, [row[0] for row in found])
            counts[at] = [row[1] for row in found]
            told[at] = [row[2] for row in found]
        created, kept = _times(columns["created_at"]), _times(map(_moment, columns["kept_at"]))
        valid = _times(columns["valid_at"])
        told = np.where(told == UNKNOWN_TIME, np.where(valid == UNKNOWN_TIME, created, valid), told)
        ends = np.maximum(_times(columns["invalid_at"]), _times(map(_end, columns["when"])))
        status = _texts(columns["status"])
        archived = np.fromiter((one == "archived" for one in status), np.bool_, n)
        cited = _numbers(columns["referenced"])
        known = np.maximum(_numbers(columns["matched"]), 1)
        relevance = np.fromiter((one or 0.0 for one in columns["relevance"]), np.float32, n)
        return Aged(
            ids=ids,
            keys=columns["key"],
            kind=_texts(columns["kind"]),
            status=status,
            priority=_texts(columns["priority"]),
            trust=_texts(columns["trust"]),
            owner=columns["owner"],
            privacy=_texts(columns["privacy"]),
            relation=_texts(columns["relation"]),
            fact_kind=_texts(columns["fact_kind"]),
            temporal_class=_texts(columns["temporal_class"]),
            pinned=_flags(columns["pinned"]),
            verified=_flags(columns["verified"]),
            corrects=_flags(columns["corrects"]),
            replaces=np.isin(ids, [row[0] for row in ask(_REPLACES)]),
            importance=np.fromiter(columns["importance"], np.float32, n),
            confidence=np.fromiter(columns["confidence"], np.float32, n),
            created_at=created,
            told_at=np.maximum(told, kept),
            ends_at=ends,
            archived_at=np.where(archived, _times(columns["expired_at"]), UNKNOWN_TIME),
            used_at=_times(columns["used_at"]),
            shown_at=_times(columns["shown_at"]),
            loaded=_numbers(columns["loaded"]),
            cited=cited,
            right=_numbers(columns["succeeded"]),
            relevance=(relevance / known).astype(np.float32),
            evidence=counts,
            degree=_degrees(ids, ask(_MENTIONS if only is None else _MENTIONS_BESIDE)),
            supports=np.isin(ids, [row[0] for row in ask(_SUPPORTS)]),
        )

    def moved(self) -> int:
        """Return how many memories of the namespace are in the archive file."""
        ((count,),) = self._ask(
            "SELECT count(*) FROM archived_item a WHERE a.namespace = ?", self._id
        )
        return int(count)

    def memories(self, ids: Ids) -> list[Memory]:
        """Return memories in the order of the ids; those that are gone are left out."""
        return items.memories(self._snapshot.connection, ids)

    def vectors(self, ids: Ids) -> tuple[Ids, Floats]:
        """Return the first vector of each memory that has one: int64[m] ids, float32[m, dims]."""
        return self._snapshot.first_vectors(ids)

    def evidence(self, ids: Ids) -> Mapping[int, tuple[str, ...]]:
        """Return the keys of what each memory was derived from, oldest first."""
        found: dict[int, list[str]] = defaultdict(list)
        if len(ids):
            rows = self._ask(
                "SELECT v.item, s.key FROM evidence v JOIN item s ON s.id = v.source "
                "WHERE v.item IN (SELECT value FROM carray(?)) ORDER BY s.id",
                self._snapshot.connection.array(ids),
            )
            for item, key in rows:
                found[item].append(key)
        return {item: tuple(keys) for item, keys in found.items()}

    def nodes(self, *levels: str) -> list[Memory]:
        """Return the summaries of some levels of the tree, in the order of their ids."""
        rows = self._ask(
            f"SELECT i.id FROM item i WHERE i.namespace = ? AND {IS_NODE.format('i')} "
            "AND i.value ->> '$.level' IN (SELECT value FROM carray(?)) ORDER BY i.id",
            self._id, self._snapshot.connection.text_array(levels),
        )  # fmt: skip
        return self.memories(np.array([row[0] for row in rows], np.int64))

    def days(self, among: Ids | None = None) -> set[int]:
        """Return the days, since 1970 UTC, on which turns were said; ``among`` are those that count."""
        rows = self._ask(
            "SELECT DISTINCT coalesce(i.valid_at, i.created_at) / ? FROM item i "
            "WHERE i.namespace = ? AND i.kind = 'episodic'",
            DAY_US, self._id,
        ) if among is None else self._ask(
            "SELECT DISTINCT coalesce(i.valid_at, i.created_at) / ? FROM carray(?) c "
            "CROSS JOIN item i ON i.id = c.value WHERE i.kind = 'episodic'",
            DAY_US, self._snapshot.connection.array(among),
        )  # fmt: skip
        return {int(row[0]) for row in rows}

    def keys(self, ids: Ids) -> set[str]:
        """Return the keys of memories; those that are gone are left out."""
        rows = self._about("SELECT i.key FROM carray(?) c CROSS JOIN item i ON i.id = c.value", ids)
        return {str(row[0]) for row in rows}

    def find(self, keys: Sequence[str]) -> Mapping[str, int]:
        """Return the ids of those of the keys that are there."""
        rows = self._ask(
            "SELECT i.key, i.id FROM carray(?) c CROSS JOIN item i ON i.namespace = ? AND i.key = c.value",
            self._snapshot.connection.text_array(tuple(dict.fromkeys(keys))), self._id,
        ) if keys else ()  # fmt: skip
        return dict(map(tuple, rows))

    def turns(self, since: int = UNKNOWN_TIME, until: int | None = None) -> Ids:
        """Return the turns said in ``[since, until)``, microseconds, in the order they were said."""
        end = until if until is not None else FOREVER
        rows = self._ask(  # each half by an index of its own: a night asks for every day
            "SELECT i.id, i.valid_at FROM item i WHERE i.namespace = ? AND i.kind = 'episodic' "
            "AND i.valid_at >= ? AND i.valid_at < ? UNION ALL "
            "SELECT i.id, i.created_at FROM item i WHERE i.namespace = ? AND i.kind = 'episodic' "
            "AND i.valid_at IS NULL AND i.created_at >= ? AND i.created_at < ? ORDER BY 2, 1",
            self._id, since, end, self._id, since, end,
        )  # fmt: skip
        return np.array([row[0] for row in rows], np.int64)

    def progress(self, task: str) -> int:
        """Return the place in the history up to which a task has taken changes into account."""
        return progress.progress_place(self._snapshot.connection, task, self._id)

    def people_asked(self) -> frozenset[str]:
        """Return the keys of memories that open reviews are about."""
        rows = self._ask(
            "SELECT r.items FROM review r WHERE r.namespace = ? AND r.decision IS NULL", self._id
        )
        return frozenset(str(key) for row in rows for key in from_json(row[0]))

    def stated(self, ids: Ids) -> Mapping[int, tuple[Stated, ...]]:
        """Return the occasions on which each memory was stated, oldest first."""
        found: dict[int, list[Stated]] = defaultdict(list)
        for item, role, thread, at in self._about(
            "SELECT v.item, s.value ->> '$.role', t.name, coalesce(s.valid_at, s.created_at) "
            "FROM evidence v JOIN item s ON s.id = v.source LEFT JOIN thread t ON t.id = s.thread "
            "WHERE v.item IN (SELECT value FROM carray(?)) ORDER BY s.id",
            ids,
        ):
            found[item].append(Stated(f"{thread or ''} {from_us(at):%Y-%m-%d}", str(role or "")))
        return {item: tuple(occasions) for item, occasions in found.items()}

    def mentions(self, ids: Ids) -> Mapping[int, tuple[str, ...]]:
        """Return the keys of the people and things that each memory speaks of, links followed."""
        found: dict[int, list[str]] = defaultdict(list)
        for item, key in self._about(
            "SELECT DISTINCT m.item, coalesce(o.key, e.key) FROM mention m JOIN entity e "
            "ON e.id = m.entity LEFT JOIN entity o ON o.id = e.same_as "
            "WHERE m.item IN (SELECT value FROM carray(?)) ORDER BY 1, 2",
            ids,
        ):
            found[item].append(key)
        return {item: tuple(keys) for item, keys in found.items()}

    def open_reviews(self, about: str) -> list[OpenReview]:
        """Return the open questions about something, with the changes behind their options."""
        connection = self._snapshot.connection
        asked = reviews.list_reviews(connection, self._namespace, open_only=True, viewer=None)
        return [
            OpenReview(
                id=one.id,
                about=one.about,
                question=one.question,
                memories=one.memories,
                options={
                    name: Option.validate_python(changes)
                    for name, changes in reviews.options(connection, one.id).items()
                },
            )
            for one in asked
            if one.about == about and one.namespace == self._namespace
        ]

    def _about(self, query: str, ids: Ids) -> Iterable[Sequence[Any]]:
        return self._ask(query, self._snapshot.connection.array(ids)) if len(ids) else ()


def ageing_of(
    snapshot: Snapshot, ids: Sequence[int | None], now_us: int, options: RetentionOptions
) -> list[Ageing | None]:
    """Return how far each of some memories has faded; None for what does not age or is not there."""
    if all(one is None for one in ids):
        return [None] * len(ids)
    wanted = np.unique(np.array([one for one in ids if one is not None], np.int64))
    aged = AgeingView(snapshot, ()).aged(wanted)
    found = dict(zip(aged.ids.tolist(), ageing(aged, now_us, options), strict=True))
    return [None if one is None else found.get(one) for one in ids]


def _degrees(ids: Ids, mentions: Sequence[Sequence[Any]]) -> Ids:
    """int64[n]: how many other memories speak of what each speaks of, see `Aged.degree`."""
    degree = np.zeros(len(ids), np.int64)
    pairs = np.array([tuple(row) for row in mentions], np.int64)
    if len(pairs):
        _, entity, spoken = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
        known = np.isin(pairs[:, 1], ids)
        at = np.searchsorted(ids, pairs[known, 1])
        np.maximum.at(degree, at, spoken[entity[known]] - 1)
    return degree


def _texts(column: Iterable[str | None]) -> list[str]:
    return [intern(one) if one else "" for one in column]


def _flags(column: Sequence[Any]) -> Any:
    return np.fromiter((bool(one) for one in column), np.bool_, len(column))


def _numbers(column: Sequence[int | None]) -> Ids:
    return np.fromiter((one or 0 for one in column), np.int64, len(column))


def _times(column: Iterable[int | None]) -> Times:
    return np.array([UNKNOWN_TIME if one is None else one for one in column], np.int64)


def _moment(text: object) -> int | None:
    try:
        moment = datetime.fromisoformat(str(text)) if text else None
    except ValueError:
        return None
    return None if moment is None or moment.tzinfo is None else to_us(moment)


def _end(when: str | None) -> int | None:
    """The end of the time that a value names."""
    told = from_json(when) if when and when.startswith("{") else None
    return _moment(told.get("end")) if isinstance(told, dict) else None


WEEK_US: Final = 7 * DAY_US
MOST_COUNTED: Final = 1_000_000
"""Memories without a vector that are counted at most."""


def health(
    snapshot: Snapshot, prefix: Namespace, policies: PolicyOptions, now_us: int, archive_bytes: int
) -> Health:
    """Return the figures of a namespace and what is below it."""
    connection = snapshot.connection
    inside, labels = below(prefix)

    def count(query: str, *bindings: Any) -> int:
        return int(connection.execute(query, (*labels, *bindings)).fetchone()[0])

    facts = stale = never_shown = 0
    shown, rules = False, dict[str, None]()
    for aged in _read_aged_below(snapshot, prefix):
        rules |= dict.fromkeys(unreachable_rules(aged, policies))
        holding = aged.take(aged.one_of(aged.status, "active"))
        faded = retention(holding, now_us, policies.retention) < FADED
        old = holding.created_at < now_us - 30 * DAY_US
        facts += len(holding)
        stale += int((faded & (holding.cited == 0)).sum())
        never_shown += int((old & (holding.loaded == 0)).sum())
        shown = shown or bool(holding.loaded.any())
    scope = snapshot.scoped(Scope(namespace=prefix), alive_at_us=now_us)
    read_tokens, saved_tokens = usage.tokens(connection, prefix)
    missing = _without_vector(snapshot, scope) if snapshot.model().model is not None else 0
    return Health(
        turns=count(f"SELECT count(*) FROM item WHERE namespace IN {inside} AND kind = 'episodic'"),
        unread_turns=sum(one.turns for one in verbatim.threads(connection, prefix, now_us)),
        facts=facts,
        without_evidence=count(
            f"SELECT count(*) FROM item i WHERE i.namespace IN {inside} AND i.status = 'active' "
            "AND i.key GLOB 'fact/*' AND NOT EXISTS (SELECT 1 FROM evidence v "
            "JOIN item s ON s.id = v.source WHERE v.item = i.id)"
        ),
        duplicates=count(
            "SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM fingerprint f "
            f"JOIN item i ON i.id = f.item WHERE f.namespace IN {inside} AND i.status = 'active' "
            "GROUP BY f.namespace, f.hash, i.privacy, i.owner) AS same"
        ),
        contradictions=count(
            f"SELECT count(*) FROM review r WHERE r.namespace IN {inside} "
            "AND r.decision IS NULL AND r.about = 'contradiction'"
        ),
        reviews=count(
            f"SELECT count(*) FROM review r WHERE r.namespace IN {inside} AND r.decision IS NULL"
        ),
        stale=stale,
        never_shown=never_shown,
        entities=count(
            f"SELECT count(*) FROM entity e WHERE e.namespace IN {inside} AND e.same_as IS NULL "
            f"AND NOT {is_anchor('e')}"
        ),
        entities_without_facts=count(
            f"SELECT count(*) FROM entity e WHERE e.namespace IN {inside} AND e.same_as IS NULL "
            f"AND NOT {is_anchor('e')} "
            "AND NOT EXISTS (SELECT 1 FROM mention m JOIN item i ON i.id = m.item "
            "WHERE m.entity = e.id AND i.status = 'active')"
        ),
        without_vector=missing,
        archived=count(
            f"SELECT count(*) FROM item WHERE namespace IN {inside} AND status = 'archived'"
        ),
        moved=count(f"SELECT count(*) FROM archived_item WHERE namespace IN {inside}"),
        file_bytes=snapshot.stats().file_bytes,
        archive_bytes=archive_bytes,
        read_tokens=read_tokens,
        saved_tokens=saved_tokens,
        growth=_growth(snapshot, inside, labels, now_us),
        shown=shown,
        rules=tuple(rules),
    )


def unreachable(snapshot: Snapshot, policies: PolicyOptions) -> list[str]:
    """Return the rules that cannot fire in a namespace, each once; see
    `policies.unreachable_rules`."""
    found = dict[str, None]()
    for aged in _read_aged_below(snapshot, ()):
        found |= dict.fromkeys(unreachable_rules(aged, policies))
    return list(found)


def _read_aged_below(snapshot: Snapshot, prefix: Namespace) -> Iterator[Aged]:
    inside, labels = below(prefix)
    for (path,) in snapshot.connection.execute(
        f"SELECT n.path FROM namespace n WHERE n.id IN {inside} ORDER BY n.path", labels
    ).fetchall():
        yield AgeingView(snapshot, from_path(path)).aged()


def _without_vector(snapshot: Snapshot, scope: CompiledScope) -> int:
    """Return how many memories lack a vector, of those that have a text and are not left out of the index."""
    missing = snapshot.without_vectors(scope, np.zeros(0, np.int64), MOST_COUNTED)
    rows = snapshot.connection.execute(
        "SELECT i.value FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
        "WHERE i.index_fields IS NULL OR i.index_fields <> 'false'",
        (snapshot.connection.array(missing),),
    )
    return sum(bool(readable_text(from_json(value)).strip()) for (value,) in rows)


def _growth(snapshot: Snapshot, inside: str, labels: tuple[Any, ...], now_us: int) -> list[int]:
    rows = snapshot.connection.execute(
        "SELECT (? - created_at) / ? AS week, count(*) FROM item "
        f"WHERE namespace IN {inside} AND created_at > ? GROUP BY week",
        (now_us, WEEK_US, *labels, now_us - WEEKS * WEEK_US),
    )
    found = {int(week): int(added) for week, added in rows}
    return [found.get(week, 0) for week in reversed(range(WEEKS))]


def circles(connection: Connection) -> list[tuple[str, ...]]:
    """Return the anchors that require each other, by their keys, of every namespace; the first of each
    circle stands again at its end."""
    requires: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    rows = connection.execute(
        "SELECT s.id, s.key, o.id, o.key FROM edge g JOIN item i ON i.id = g.fact "
        "JOIN entity s ON s.id = g.subject JOIN entity o ON o.id = g.object "
        f"WHERE g.relation = 'requires' AND i.status = 'active' AND {is_anchor('s')} AND {is_anchor('o')} "
        "ORDER BY g.id"
    )
    for subject, subject_key, object, object_key in rows:
        requires.setdefault(str(subject), []).append(str(object))
        names |= {str(subject): subject_key, str(object): object_key}
    return [tuple(names[one] for one in ring) for ring in dependencies.circles(requires)]
