"""Knowledge of a namespace, for planning: `ports.facts.Knowledge` over the file."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Self, get_args

import numpy as np

from langmemory.formation.contradiction.comparable import key_of
from langmemory.formation.relations.vocabulary import BY_NAME
from langmemory.languages import detect_language, keyword_terms, split_words, word_forms
from langmemory.languages.spelling import normalised_text
from langmemory.ledger import (
    graph_rows,
    graph_writing,
    history,
    items,
    namespaces,
    reviews,
    verbatim,
)
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine, Snapshot
from langmemory.ledger.graph_rows import EntityRow
from langmemory.ledger.graph_view import GraphView
from langmemory.ledger.indexing import Indexing
from langmemory.ledger.known_names import KnownNames
from langmemory.ledger.listing import TOLD_AT
from langmemory.ledger.removal import was_deleted
from langmemory.ledger.scopes import CompiledScope, compile_scope
from langmemory.ledger.values import leaf_value, maybe_datetime
from langmemory.ports.candidates import Floats, Ids, KeywordQuery
from langmemory.ports.facts import BEGINS, Claim, KnownFact, fingerprint
from langmemory.procedures import AFTER_KEYS, KEYS
from langmemory.types import Entity, Kind, Memory, Namespace, Review, Scope, Status
from langmemory.values import TEXT_FIELDS, from_json

DERIVED: Final[tuple[Kind, ...]] = tuple(
    kind for kind in get_args(Kind) if kind not in ("episodic", "core")
)
"""Kinds of memory that are facts here."""

BELIEVED: Final[tuple[Status, ...]] = ("pending", "approved", "active")
"""Statuses of the facts a new one is compared with."""

_BOTH_WAYS: Final = {name for name, relation in BY_NAME.items() if relation.symmetric}

_CAME: Final = (
    "(h.action = 'add' OR (h.action = 'restore' "
    "AND (h.facets IS NULL OR h.facets ->> '$.status' IS NOT NULL)))"
)
"""Rows of the history, ``h``, since which a memory may stand beside others."""

_WORDS: Final = tuple(f"{inside}{name}" for inside in ("", "content.") for name in TEXT_FIELDS)
"""Where the text of a value stands (`readable_text`)."""

_WITH_CLAIMS: Final[tuple[Kind, ...]] = ("semantic", "procedural")
MOST_TOLD: Final = 1_000
LATEST_OF_RELATION: Final = 20
MOST_MATCHES: Final = 100
"""See `StoreKnowledge.told_by`."""

OVERFETCH: Final = 32
"""See `Snapshot.nearest`: a fact that is not found among the nearest is stored twice."""


Row = tuple[Any, ...]


@dataclass(kw_only=True, slots=True)
class _Reading:
    """One snapshot, and what was looked up in it already."""

    snapshot: Snapshot
    namespace: int
    """0, which is no namespace's id, where nothing was ever stored."""
    same_model: bool
    views: dict[bool, GraphView] = field(default_factory=dict)
    """Of the facts that are believed, and (True) of these and the superseded ones."""
    facts: dict[int, KnownFact] = field(default_factory=dict)
    about: dict[Row, list[KnownFact]] = field(default_factory=dict)
    deleted: dict[object, list[tuple[str, dict[str, Any]]]] | None = None
    """Facts that were deleted for their own sake, by when they were said."""
    comparable: Ids | None = None
    told: dict[tuple[str, str | None], list[tuple[int, str, str]]] = field(default_factory=dict)
    """Id, text and relation of the facts of a speaker and owner that hold, the latest first."""


class StoreKnowledge:
    """`langmemory.ports.facts.Knowledge` of one namespace.

    Reads one snapshot, taken at the first read, and given back by `release` and at the end of a
    ``with``. Nothing is embedded while it is held: either `prepare` embeds all texts at once before
    anything is read, or the snapshot is given back for the time an embedder takes. `seq` stays that
    of the first snapshot, so that a plan made over two of them is refused if they differ in what it
    touches.
    """

    def __init__(
        self,
        engine: Engine,
        indexing: Indexing,
        namespace: Namespace,
        *,
        alive_at_us: int | None = None,
        within: Connection | None = None,
        names: KnownNames | None = None,
    ) -> None:
        """
        Args:
            within: A transaction or a snapshot, which is read then.
            names: Names that the process keeps, for knowledge of what is committed.
        """
        self._engine = engine
        self._names = KnownNames() if names is None or within is not None else names
        self._within = within
        self._indexing = indexing
        self._namespace = namespace
        self._alive_at_us = alive_at_us
        self._vectors: dict[str, Floats] = {}
        self._open = ExitStack()
        self._reading: _Reading | None = None
        self._seq: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    @property
    def namespace(self) -> Namespace:
        return self._namespace

    @cached_property
    def _everything(self) -> CompiledScope:
        return compile_scope(Scope(namespace=self._namespace))

    @cached_property
    def _ever(self) -> CompiledScope:
        facts = Scope(namespace=self._namespace, kinds=DERIVED)
        return compile_scope(facts, alive_at_us=self._alive_at_us)

    @cached_property
    def _believed(self) -> CompiledScope:
        facts = Scope(namespace=self._namespace, kinds=DERIVED, statuses=BELIEVED)
        return compile_scope(facts, alive_at_us=self._alive_at_us)

    @cached_property
    def _held(self) -> CompiledScope:
        statuses: tuple[Status, ...] = (*BELIEVED, "superseded")
        return compile_scope(Scope(namespace=self._namespace, kinds=DERIVED, statuses=statuses))

    def prepare(self, texts: Iterable[str]) -> None:
        """Embed texts that `nearest` will be asked about, in one call of the embedder.

        Raises:
            EmbeddingError: The embedder failed.
        """
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        embedder = self._indexing.embedder
        if embedder is None or not missing:
            return
        if not embedder.cheap:
            self.release()
        self._vectors |= zip(missing, embedder.embed_documents(missing), strict=True)

    def similar(self, name: str, others: Sequence[str]) -> list[float]:
        """Return the cosines of a name to others, 0 where names are not compared: without an
        embedder, and with one that costs a call each time, for a namespace may know thousands of
        names."""
        embedder = self._indexing.embedder
        if embedder is None or not embedder.cheap:
            return [0.0] * len(others)
        self.prepare([name, *others])
        return [float(self._vectors[name] @ self._vectors[other]) for other in others]

    def release(self) -> None:
        """Give the snapshot back; the next read takes another."""
        self._open.close()
        self._reading = None

    # Facts.

    @property
    def seq(self) -> int:
        if self._seq is None:
            self._now()
        return self._seq or 0

    def by_fingerprint(self, text: str) -> Sequence[KnownFact]:
        return self._select(
            self._believed,
            "fingerprint f CROSS JOIN item i ON i.id = f.item WHERE f.namespace = ? AND f.hash = ?",
            self._now().namespace,
            fingerprint(text),
        )

    def worded(self, text: str) -> Sequence[KnownFact]:
        reading = self._now()
        found = self._select(
            self._believed,
            "carray(?) c CROSS JOIN path p ON p.name = c.value "
            "CROSS JOIN leaf l ON l.path = p.id AND l.value = ? AND l.namespace = ? "
            "CROSS JOIN item i ON i.id = l.item "
            # Long strings are one leaf, of thousands of items: they are not to be read as facts.
            "WHERE i.value ->> ('$.' || p.name) = ?",
            reading.snapshot.connection.text_array(_WORDS),
            leaf_value(text),
            reading.namespace,
            text,
        )
        return [one for one in found if one.memory.text == text]

    def nearest(self, text: str, limit: int) -> Sequence[tuple[KnownFact, float]]:
        self.prepare([text])
        vector = self._vectors.get(text)
        if vector is None:
            return ()
        reading = self._now()
        if not reading.same_model:
            return ()
        if reading.comparable is None:
            rows = reading.snapshot.connection.execute(
                f"SELECT i.id FROM item i WHERE i.namespace = ? AND {self._believed.where}",
                (reading.namespace, *self._believed.bindings),
            ).fetchall()
            reading.comparable = np.sort(np.array(rows, np.int64).reshape(-1))
        ids, cosines = reading.snapshot.nearest(
            self._believed, vector, limit, overfetch=OVERFETCH, among=reading.comparable
        )
        return list(zip(self._facts(ids.tolist()), cosines.tolist(), strict=True))

    def about(
        self,
        subject: str,
        relation: str | None = None,
        *,
        also: str | None = None,
        literal: str | None = None,
        corrects: bool = False,
        past: bool = False,
        either: bool = False,
    ) -> Sequence[KnownFact]:
        reading = self._now()
        asked = (subject, relation, also, literal, corrects, past, either)
        if asked in reading.about:  # a batch asks the same of one person for each of its facts
            return reading.about[asked]
        view = self._view(past=past)
        found = view.of_key(subject)
        other = None if also is None else view.of_key(also)
        said = None if literal is None else normalised_text(literal)
        items: dict[int, None] = {}
        if found is not None and (other is not None or also is None):
            for edge in view.touching([found], relation, also=other, corrects=corrects):
                turned = edge.object == found and (either or edge.relation in _BOTH_WAYS)
                if (edge.subject == found or turned) and said in (
                    None, normalised_text(edge.literal or ""),
                ):  # fmt: skip
                    items[edge.item] = None
        reading.about[asked] = self._facts(items)
        return reading.about[asked]

    def told_by(self, speaker: str, owner: str | None, text: str) -> Sequence[KnownFact]:
        """Return facts with claims of this speaker and owner that hold and that a text may speak of, the
        latest first: the latest `LATEST_OF_RELATION` of each relation, of the `MOST_TOLD` said last those
        with a word of the text or its beginning, and of older ones up to `MOST_MATCHES` that the keyword
        index finds by its words. What stands in more than `MOST_MATCHES` facts tells nothing."""
        told = self._told(speaker, owner)
        chosen: set[int] = set()
        of_relation: Counter[str] = Counter()
        for item, _, relation in told:
            of_relation[relation] += 1
            if of_relation[relation] <= LATEST_OF_RELATION:
                chosen.add(item)
        words, every = split_words(text), "\n".join(said for _, said, _ in told)
        for part in {*words, *(word[:BEGINS] for word in words)}:
            if part not in every:  # most words of a text
                continue
            matches = [item for item, said, _ in told if part in said]
            if len(matches) <= MOST_MATCHES:
                chosen.update(matches)
        if len(told) >= MOST_TOLD:
            chosen.update(self._told_before(speaker, owner, text))
        return self._facts(sorted(chosen, reverse=True))

    def _told(self, speaker: str, owner: str | None) -> list[tuple[int, str, str]]:
        """Return id, text and relation of the `MOST_TOLD` latest, and of the latest of each relation."""
        reading = self._now()
        if (speaker, owner) not in reading.told:
            order = f"{TOLD_AT.format('i')} DESC, i.id DESC"
            relation = "(SELECT min(e.relation) FROM edge e WHERE e.fact = i.id)"
            theirs, bindings = self._theirs(speaker, owner)
            latest = reading.snapshot.connection.execute(
                # In the order of the index: of whoever told twenty thousand, the latest alone are read.
                f"SELECT i.id, i.value ->> '$.text', {relation} FROM item i WHERE i.id IN ("
                f"SELECT n.id FROM json_each(?) k CROSS JOIN item n ON n.id IN ("
                f"SELECT i.id FROM item i INDEXED BY item_class WHERE i.kind = k.value AND {theirs} "
                f"ORDER BY {order} LIMIT {MOST_TOLD:d})) ORDER BY {order} LIMIT {MOST_TOLD:d}",
                (json.dumps(_WITH_CLAIMS), *bindings),
            ).fetchall()
            if len(latest) == MOST_TOLD:
                known = {item for item, *_ in latest}
                latest += [
                    row
                    for row in reading.snapshot.connection.execute(
                        "SELECT o.id, o.value ->> '$.text', r.relation FROM ("
                        f"SELECT i.id, {relation} AS relation, row_number() OVER "
                        f"(PARTITION BY {relation} ORDER BY {order}) AS nth FROM item i "
                        f"WHERE i.kind IN (SELECT value FROM json_each(?)) AND {theirs}) r "
                        f"JOIN item o ON o.id = r.id WHERE r.nth <= {LATEST_OF_RELATION:d} ORDER BY r.nth",
                        (json.dumps(_WITH_CLAIMS), *bindings),
                    )
                    if row[0] not in known
                ]
            reading.told[speaker, owner] = [
                (item, str(text or "").casefold(), relation) for item, text, relation in latest
            ]
        return reading.told[speaker, owner]

    def _told_before(self, speaker: str, owner: str | None, text: str) -> list[int]:
        """Return the facts that the keyword index finds by the words of a text."""
        connection, terms = self._now().snapshot.connection, keyword_terms(text)
        asked = KeywordQuery(terms=terms, forms=word_forms(terms, detect_language(text)))
        found, _ = self._now().snapshot.keyword(self._believed, asked, MOST_MATCHES)
        theirs, bindings = self._theirs(speaker, owner)
        rows = connection.execute(
            f"SELECT i.id FROM carray(?) c CROSS JOIN item i ON i.id = c.value WHERE {theirs}",
            (connection.array(found), *bindings),
        )
        return [item for (item,) in rows]

    def _theirs(self, speaker: str, owner: str | None) -> tuple[str, tuple[Any, ...]]:
        """Return the condition that an item ``i`` is a fact of a speaker and owner that holds."""
        return (
            f"i.namespace = ? AND i.status = 'active' AND i.speaker = ? AND i.owner IS ? "
            f"AND {self._believed.where} AND EXISTS (SELECT 1 FROM edge e WHERE e.fact = i.id)",
            (self._now().namespace, speaker, owner, *self._believed.bindings),
        )

    def procedures(self) -> Sequence[KnownFact]:
        return self._select(
            self._ever,
            "item i WHERE i.namespace = ? AND i.kind = 'procedural' AND i.key >= ? AND i.key < ?",
            self._now().namespace,
            KEYS,
            AFTER_KEYS,
            order="i.updated_at DESC",
        )

    def derived_from(self, keys: Sequence[str]) -> Sequence[KnownFact]:
        if not keys:
            return ()
        reading = self._now()
        return self._select(
            self._believed,
            "carray(?) c CROSS JOIN item o ON o.namespace = ? AND o.key = c.value "
            "CROSS JOIN evidence v ON v.source = o.id CROSS JOIN item i ON i.id = v.item WHERE TRUE",
            reading.snapshot.connection.text_array(tuple(keys)),
            reading.namespace,
        )

    def taken_back(self, turn: str, said_at: datetime) -> Sequence[KnownFact]:
        archived = self._select(
            self._ever,
            "item o CROSS JOIN evidence v ON v.source = o.id CROSS JOIN item i ON i.id = v.item "
            "WHERE o.namespace = ? AND o.key = ? "
            "AND i.status = 'archived' AND i.superseded_by IS NULL",
            self._now().namespace,
            turn,
        )
        return [*archived, *self._deleted_facts(turn, said_at)]

    def gave_way_to(self, key: str) -> Sequence[KnownFact]:
        return self._select(
            self._ever,
            "item i WHERE i.namespace = ? AND i.superseded_by = ? AND i.status = 'superseded'",
            self._now().namespace,
            key,
        )

    def rests_on(
        self, turns: Sequence[str]
    ) -> Sequence[tuple[str, KnownFact, bool, datetime | None]]:
        reading = self._now()
        rows = reading.snapshot.connection.execute(
            f"SELECT o.key, i.id, {verbatim.reads_otherwise('o', 'u.at')}, "
            "(SELECT min(t.valid_at) FROM evidence w JOIN item t ON t.id = w.source "
            "WHERE w.item = i.id AND t.id <> o.id AND t.kind = 'episodic') "
            "FROM item o CROSS JOIN evidence v ON v.source = o.id "
            "CROSS JOIN item i ON i.id = v.item LEFT JOIN run u ON u.id = v.run "
            "WHERE o.namespace = ? AND o.key IN (SELECT value FROM json_each(?)) "
            f"AND {verbatim.was_rewritten('o')} AND {self._ever.where} ORDER BY i.id",
            (reading.namespace, json.dumps(turns), *self._ever.bindings),
        ).fetchall()
        rows.sort(key=lambda row: turns.index(row[0]))
        known = {one.memory.id: one for one in self._facts({item for _, item, *_ in rows})}
        return [
            (turn, known[item], bool(outdated), maybe_datetime(since))
            for turn, item, outdated, since in rows
            if item in known
        ]

    def asked(self, keys: Collection[str]) -> Sequence[Review]:
        connection = self._now().snapshot.connection
        found = reviews.list_reviews(connection, self._namespace, open_only=True, viewer=None)
        return [
            one
            for one in found
            if one.namespace == self._namespace and not set(keys).isdisjoint(one.memories)
        ]

    def by_key(self, key: str) -> KnownFact | None:
        namespace = self._now().namespace
        found = self._select(
            self._ever, "item i WHERE i.namespace = ? AND i.key = ?", namespace, key
        )
        return next(iter(found), None)

    def known(self, ids: Iterable[int]) -> Sequence[KnownFact]:
        self._now()
        return self._facts(ids)

    def learned_after(self, key: str, seq: int) -> bool:
        """Return whether a memory came, or came back, after this place in the history."""
        reading = self._now()
        row = reading.snapshot.connection.execute(
            "SELECT EXISTS (SELECT 1 FROM item i JOIN history h ON h.item = i.id "
            f"WHERE i.namespace = ? AND i.key = ? AND h.seq > ? AND {_CAME})",
            (reading.namespace, key, seq),
        ).fetchone()
        return bool(row[0])

    def last_of(self, run: str) -> int:
        """Return the last place of a run in the history; 0 where it left nothing there."""
        row = self._now().snapshot.connection.execute(
            "SELECT coalesce(max(seq), 0) FROM history WHERE run = ?", (run,)
        )
        return int(row.fetchone()[0])

    # Entities.

    def entities(self, norm: str) -> Sequence[Entity]:
        return self._view().called(norm)

    def called(self, norm: str) -> Sequence[Entity]:
        reading = self._now()
        rows = graph_rows.by_names(
            reading.snapshot.connection, self._everything, [norm], reading.namespace
        )
        return self._entities([entity for _, entity in rows])

    def entity(self, key: str) -> Entity | None:
        reading = self._now()
        found = graph_writing.find_entity(reading.snapshot.connection, reading.namespace, key)
        return None if found is None else self._entities([found])[0]

    def names_of(self, keys: Iterable[str]) -> Mapping[str, str]:
        wanted = tuple(set(keys))
        if not wanted:
            return {}
        reading = self._now()
        rows = reading.snapshot.connection.execute(
            "SELECT e.key, e.name FROM carray(?) c "
            "CROSS JOIN entity e ON e.namespace = ? AND e.key = c.value",
            (reading.snapshot.connection.text_array(wanted), reading.namespace),
        )
        return dict(rows.fetchall())

    def everyone(self, kind: str | None = None) -> Sequence[Entity]:
        reading = self._now()
        rows = graph_rows.entities_in(reading.snapshot.connection, reading.namespace, kind=kind)
        return [self._bare_entity(row) for row in rows]

    def near_first(self, words: Collection[str], enough: int) -> Sequence[Entity]:
        reading = self._now()
        connection, namespace = reading.snapshot.connection, reading.namespace
        found = self._names.near_first(connection, namespace, words, enough)
        return [self._bare_entity(row) for row in found]

    def names(self) -> Sequence[str]:
        reading = self._now()
        return graph_rows.names_in(reading.snapshot.connection, reading.namespace)

    def links(self) -> Mapping[str, str]:
        return self._view().links()

    # How.

    def _now(self) -> _Reading:
        if self._reading is None:
            if self._within is None:
                snapshot = self._open.enter_context(self._engine.read())
            else:
                snapshot = self._engine.snapshot(self._within)
            connection, namespace, model = snapshot.connection, self._namespace, snapshot.model()
            self._reading = _Reading(
                snapshot=snapshot,
                namespace=namespaces.find(connection, namespace) or 0,
                same_model=model.model is not None and self._indexing.serves(model),
            )
            if self._seq is None:
                self._seq = history.newest(connection)
        return self._reading

    def _view(self, *, past: bool = False) -> GraphView:
        reading = self._now()
        if past not in reading.views:
            reading.views[past] = GraphView(
                reading.snapshot.connection,
                self._namespace,
                narrow=self._held if past else self._believed,
                wide=self._everything,
            )
        return reading.views[past]

    def _select(
        self, scope: CompiledScope, items: str, *bindings: Any, order: str = "i.id"
    ) -> list[KnownFact]:
        """Return the facts in a scope among the items ``i`` that a FROM and WHERE clause gives."""
        rows = self._now().snapshot.connection.execute(
            # What DISTINCT orders by has to be selected, says PostgreSQL.
            f"SELECT DISTINCT i.id, i.updated_at FROM {items} AND {scope.where} ORDER BY {order}",
            (*bindings, *scope.bindings),
        )
        return self._facts([item for item, _ in rows])

    def _bare_entity(self, row: EntityRow) -> Entity:
        return Entity(key=row.key, namespace=self._namespace, name=row.name, kind=row.kind)

    def _entities(self, ids: Sequence[int]) -> list[Entity]:
        """Return the entities themselves, links not followed; oldest first."""
        connection = self._now().snapshot.connection
        aliases: dict[int, list[str]] = defaultdict(list)
        for one, name, _ in graph_rows.aliases(connection, self._everything, ids):
            aliases[one].append(name)
        return [
            Entity(
                key=row.key,
                namespace=self._namespace,
                name=row.name,
                kind=row.kind,
                aliases=tuple(name for name in aliases[row.id] if name != row.name),
            )
            for row in graph_rows.entities(connection, ids)
        ]

    def _deleted_facts(self, turn: str, said_at: datetime) -> Iterator[KnownFact]:
        """Yield facts made of a turn that were deleted for their own sake: the turn is in their
        keys."""
        reading = self._now()
        connection = reading.snapshot.connection
        if reading.deleted is None:
            reading.deleted = defaultdict(list)
            for key, value in connection.execute(
                "SELECT key, before FROM history WHERE namespace = ? AND key BETWEEN 'fact/' AND "
                "'fact0' AND action = 'delete' AND before IS NOT NULL ORDER BY key",
                (reading.namespace,),
            ):
                before = from_json(value)
                reading.deleted[before.get("said_at")].append((key, before))
        for key, value in reading.deleted.get(said_at.isoformat(), ()):
            text = str(value.get("text", ""))
            if key == key_of(text, turn) and was_deleted(connection, self._namespace, key):
                ends = [value.get(name) for name in ("subject", "relation", "object")]
                claims = []
                if all(isinstance(end, str) for end in ends):
                    subject, relation, about = map(str, ends)
                    claims.append(Claim(subject=subject, relation=relation, object=about))
                memory = Memory(
                    id=0, namespace=self._namespace, key=key, value=value, text=text,
                    status="archived", created_at=said_at, updated_at=said_at,
                )  # fmt: skip
                yield KnownFact(memory=memory, claims=tuple(claims), evidence=(turn,))

    def _facts(self, ids: Iterable[int]) -> list[KnownFact]:
        """Return the facts of these ids, in their order."""
        ids = list(ids)
        reading = self._now()
        connection = reading.snapshot.connection
        unknown = np.array([one for one in ids if one not in reading.facts], np.int64)
        if len(unknown):
            claims: dict[int, list[Claim]] = defaultdict(list)
            rows = graph_rows.edges(connection, self._everything, facts=unknown.tolist())
            view = self._view()
            standing = view.standing(rows)
            own = view.own_keys(rows, standing)
            for row, edge in zip(rows, view.edges(standing), strict=True):
                claims[row.item].append(
                    Claim.of_edge(edge.subject, edge.relation, edge.object, edge.literal)
                )
            evidence: dict[int, list[str]] = defaultdict(list)
            told_us: dict[int, int] = {}
            heard: dict[int, list[str]] = defaultdict(list)
            for item, key, said_us, said in connection.execute(
                "SELECT v.item, o.key, CASE o.kind WHEN 'episodic' THEN o.valid_at END, "
                "CASE CAST(i.value ->> '$.corrects' AS INTEGER) WHEN 1 THEN o.value ->> '$.content' END "
                "FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
                "CROSS JOIN evidence v ON v.item = i.id "
                "CROSS JOIN item o ON o.id = v.source ORDER BY v.item, v.source",
                (connection.array(unknown),),
            ):
                evidence[item].append(key)
                if isinstance(said, str):
                    heard[item].append(said)
                if said_us is not None:
                    told_us[item] = max(said_us, told_us.get(item, said_us))
            for memory in items.memories(connection, unknown):
                reading.facts[memory.id] = KnownFact(
                    memory=memory,
                    claims=tuple(claims[memory.id]),
                    evidence=tuple(evidence[memory.id]),
                    told_at=maybe_datetime(told_us.get(memory.id)),
                    heard=tuple(heard[memory.id]),
                    own=own.get(memory.id, {}),
                )
        return [reading.facts[one] for one in ids if one in reading.facts]


def came_after(connection: Connection, seq: int, run: str) -> bool:
    """Return whether anything came, or came back, after this place in the history, but for what a run
    did."""
    row = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM history h WHERE h.seq > ? AND {_CAME} AND h.run IS NOT ?)",
        (seq, run),
    ).fetchone()
    return bool(row[0])
