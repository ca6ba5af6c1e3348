"""Knowledge of a namespace, for planning: `ports.facts.Knowledge` over the file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any, Final, NamedTuple, get_args

import numpy as np

from langmemory.engines.sql.background import reflected
from langmemory.engines.sql.engine import Engine, Snapshot
from langmemory.engines.sql.graph import graph, graph_rows
from langmemory.engines.sql.graph.graph import EdgeRow
from langmemory.engines.sql.reading import candidates
from langmemory.engines.sql.reading.graph_view import GraphView
from langmemory.engines.sql.records import history, items, reviews
from langmemory.engines.sql.records.removal import was_deleted
from langmemory.engines.sql.scope.scopes import CompiledScope, compile_scope
from langmemory.engines.sql.tables import namespaces
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.times import maybe_datetime
from langmemory.engines.sql.tables.values import leaf_value
from langmemory.engines.sql.writing.indexing import Indexing
from langmemory.formation.contradiction.comparable import key_of
from langmemory.formation.relations.vocabulary import BY_NAME
from langmemory.ports.candidates import Floats, Ids
from langmemory.ports.facts import Claim, KnownFact, fingerprint, normalised
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

OVERFETCH: Final = 32
"""See `candidates.nearest`: what is not found among the nearest is stored twice."""


class StoreKnowledge:
    """`langmemory.ports.facts.Knowledge` of one namespace.

    Reads one snapshot, taken at the first read. Nothing is embedded while it is held: either
    `prepare` embeds all texts at once before anything is read, or the snapshot is given back for
    the time an embedder takes. `seq` stays that of the first snapshot, so that a plan made over
    two of them is refused if they differ in what it touches.
    """

    def __init__(
        self,
        engine: Engine,
        indexing: Indexing,
        namespace: Namespace,
        *,
        alive_at_us: int | None = None,
        within: Connection | None = None,
    ) -> None:
        """See `Gathering.knowledge`; ``within`` a transaction, that is what is read."""
        self._engine = engine
        self._within = within
        self._indexing = indexing
        self._namespace = namespace
        facts = Scope(namespace=namespace, kinds=DERIVED)
        self._ever = compile_scope(facts, alive_at_us=alive_at_us)
        self._believed = compile_scope(
            Scope(namespace=namespace, kinds=DERIVED, statuses=BELIEVED), alive_at_us=alive_at_us
        )
        self._vectors: dict[str, Floats] = {}
        self._held = ExitStack()
        self._reading: _Reading | None = None
        self._seq: int | None = None

    @property
    def namespace(self) -> Namespace:
        return self._namespace

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
        """Cosines of a name to others, 0 where names are not compared: without an embedder, and
        with one that costs a call each time, for a namespace may know thousands of names."""
        embedder = self._indexing.embedder
        if embedder is None or not embedder.cheap:
            return [0.0] * len(others)
        self.prepare([name, *others])
        return [float(self._vectors[name] @ self._vectors[other]) for other in others]

    def release(self) -> None:
        """Give the snapshot back; the next read takes another."""
        self._held.close()
        self._reading = None

    # Knowledge.

    @property
    def seq(self) -> int:
        if self._seq is None:
            self._now()
        return self._seq or 0

    def by_fingerprint(self, text: str) -> Sequence[KnownFact]:
        reading = self._now()
        rows = reading.connection.execute(
            "SELECT i.id FROM fingerprint f CROSS JOIN item i ON i.id = f.item "
            f"WHERE f.namespace = ? AND f.hash = ? AND {self._believed.where} ORDER BY i.id",
            (reading.namespace, fingerprint(text), *self._believed.bindings),
        )
        return self._facts(rows)

    def worded(self, text: str) -> Sequence[KnownFact]:
        reading = self._now()
        rows = reading.connection.execute(
            "SELECT DISTINCT i.id FROM carray(?) c CROSS JOIN path p ON p.name = c.value "
            "CROSS JOIN leaf l ON l.path = p.id AND l.value = ? AND l.namespace = ? "
            f"CROSS JOIN item i ON i.id = l.item WHERE {self._believed.where} "
            # Long strings are one leaf, of thousands of items: they are not to be read as facts.
            "AND i.value ->> ('$.' || p.name) = ? ORDER BY i.id",
            (
                reading.connection.text_array(_WORDS), leaf_value(text), reading.namespace,
                *self._believed.bindings, text,
            ),
        )  # fmt: skip
        return [one for one in self._facts(rows) if one.memory.text == text]

    def nearest(self, text: str, limit: int) -> Sequence[tuple[KnownFact, float]]:
        self.prepare([text])
        vector = self._vectors.get(text)
        if vector is None:
            return ()
        reading = self._now()
        ids, cosines = reading.nearest(vector, limit)
        return list(zip(reading.facts(ids.tolist()), cosines.tolist(), strict=True))

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
        return self._now().about(_Asked(subject, relation, also, literal, corrects, past, either))

    def told_by(self, speaker: str, owner: str | None, limit: int) -> Sequence[KnownFact]:
        """Facts of this speaker and owner that hold, the latest first, `limit` at most."""
        reading = self._now()
        rows = reading.connection.execute(
            "SELECT i.id FROM item i WHERE i.namespace = ? AND i.kind IN ('semantic', 'procedural') "
            "AND i.status = 'active' AND i.speaker = ? AND i.owner IS ? "
            f"AND {self._believed.where} ORDER BY i.id DESC LIMIT ?",
            (reading.namespace, speaker, owner, *self._believed.bindings, limit),
        )
        return self._facts(rows)

    def derived_from(self, keys: Sequence[str]) -> Sequence[KnownFact]:
        if not keys:
            return ()
        reading = self._now()
        rows = reading.connection.execute(
            "SELECT DISTINCT i.id FROM carray(?) c "
            "CROSS JOIN item o ON o.namespace = ? AND o.key = c.value "
            "CROSS JOIN evidence v ON v.source = o.id CROSS JOIN item i ON i.id = v.item "
            f"WHERE {self._believed.where} ORDER BY i.id",
            (
                reading.connection.text_array(tuple(keys)),
                reading.namespace,
                *self._believed.bindings,
            ),
        )
        return self._facts(rows)

    def taken_back(self, turn: str, said_at: datetime) -> Sequence[KnownFact]:
        reading = self._now()
        rows = reading.connection.execute(
            "SELECT i.id FROM item o CROSS JOIN evidence v ON v.source = o.id "
            "CROSS JOIN item i ON i.id = v.item WHERE o.namespace = ? AND o.key = ? "
            f"AND i.status = 'archived' AND i.superseded_by IS NULL AND {self._ever.where}",
            (reading.namespace, turn, *self._ever.bindings),
        )
        return [*self._facts(rows), *reading.deleted(turn, said_at)]

    def gave_way_to(self, key: str) -> Sequence[KnownFact]:
        reading = self._now()
        rows = reading.connection.execute(
            "SELECT i.id FROM item i WHERE i.namespace = ? AND i.superseded_by = ? "
            f"AND i.status = 'superseded' AND {self._ever.where} ORDER BY i.id",
            (reading.namespace, key, *self._ever.bindings),
        )
        return self._facts(rows)

    def rests_on(self, turn: str) -> Sequence[tuple[KnownFact, bool, datetime | None]]:
        reading = self._now()
        rows = reading.connection.execute(
            f"SELECT i.id, {reflected.reads_otherwise('o', 'u.at')}, "
            "(SELECT min(t.valid_at) FROM evidence w JOIN item t ON t.id = w.source "
            "WHERE w.item = i.id AND t.id <> o.id AND t.kind = 'episodic') "
            "FROM item o CROSS JOIN evidence v ON v.source = o.id "
            "CROSS JOIN item i ON i.id = v.item LEFT JOIN run u ON u.id = v.run "
            f"WHERE o.namespace = ? AND o.key = ? AND {reflected.was_rewritten('o')} "
            f"AND {self._ever.where} ORDER BY i.id",
            (reading.namespace, turn, *self._ever.bindings),
        ).fetchall()
        known = {one.memory.id: one for one in reading.facts([item for item, *_ in rows])}
        return [
            (known[item], bool(outdated), maybe_datetime(since))
            for item, outdated, since in rows
            if item in known
        ]

    def asked(self, keys: Collection[str]) -> Sequence[Review]:
        found = reviews.listed(self._now().connection, self._namespace, open_only=True, viewer=None)
        return [
            one
            for one in found
            if one.namespace == self._namespace and not set(keys).isdisjoint(one.memories)
        ]

    def by_key(self, key: str) -> KnownFact | None:
        reading = self._now()
        rows = reading.connection.execute(
            f"SELECT i.id FROM item i WHERE i.namespace = ? AND i.key = ? AND {self._ever.where}",
            (reading.namespace, key, *self._ever.bindings),
        )
        return next(iter(self._facts(rows)), None)

    def learned_after(self, key: str, seq: int) -> bool:
        """Whether a memory came, or came back, after this place in the history."""
        reading = self._now()
        row = reading.connection.execute(
            "SELECT EXISTS (SELECT 1 FROM item i JOIN history h ON h.item = i.id "
            f"WHERE i.namespace = ? AND i.key = ? AND h.seq > ? AND {_CAME})",
            (reading.namespace, key, seq),
        ).fetchone()
        return bool(row[0])

    def last_of(self, run: str) -> int:
        """The last place of a run in the history; 0 where it left nothing there."""
        row = (
            self._now()
            .connection.execute("SELECT coalesce(max(seq), 0) FROM history WHERE run = ?", (run,))
            .fetchone()
        )
        return int(row[0])

    def entities(self, norm: str) -> Sequence[Entity]:
        return self._now().view.called(norm)

    def called(self, norm: str) -> Sequence[Entity]:
        return self._now().called(norm)

    def entity(self, key: str) -> Entity | None:
        return self._now().entity(key)

    def everyone(self, kind: str | None = None) -> Sequence[tuple[str, Entity]]:
        return self._now().everyone(kind)

    def names(self) -> Sequence[str]:
        reading = self._now()
        if reading.namespace is None:
            return []
        return graph.names_in(reading.connection, reading.namespace)

    def links(self) -> Mapping[str, str]:
        return self._now().view.links()

    # How.

    def _now(self) -> _Reading:
        if self._reading is None:
            if self._within is None:
                snapshot = self._held.enter_context(self._engine.read())
            else:
                snapshot = self._engine.snapshot(self._within)
            self._reading = _Reading(snapshot, self._indexing, self._namespace, self._believed)
            if self._seq is None:
                self._seq = history.newest(self._reading.connection)
        return self._reading

    def _facts(self, rows: Iterable[tuple[int]]) -> list[KnownFact]:
        return self._now().facts([item for (item,) in rows])


class _Asked(NamedTuple):
    """A question to `Knowledge.about`."""

    subject: str
    relation: str | None
    also: str | None
    literal: str | None
    corrects: bool
    past: bool
    either: bool


class _Reading:
    """One snapshot, and what was looked up in it already."""

    def __init__(
        self,
        snapshot: Snapshot,
        indexing: Indexing,
        namespace: Namespace,
        believed: CompiledScope,
    ) -> None:
        self._snapshot = snapshot
        self._place = namespace
        self._believed = believed
        self._everything = compile_scope(Scope(namespace=namespace))
        self._known: dict[int, KnownFact] = {}
        self._deleted: dict[object, list[tuple[str, dict[str, Any]]]] | None = None
        self._about: dict[_Asked, list[KnownFact]] = {}
        self._comparable: Ids | None = None
        model = snapshot.model()
        self._same_model = model.model is not None and indexing.serves(model)
        self.connection = snapshot.connection
        self.namespace = namespaces.find(snapshot.connection, namespace)
        self.view = GraphView(
            snapshot.connection, namespace, narrow=believed, wide=self._everything
        )
        held = compile_scope(
            Scope(namespace=namespace, kinds=DERIVED, statuses=(*BELIEVED, "superseded"))
        )
        self.past = GraphView(snapshot.connection, namespace, narrow=held, wide=self._everything)

    def called(self, norm: str) -> list[Entity]:
        """As `Knowledge.called`."""
        if self.namespace is None:
            return []
        rows = graph.by_names(self.connection, self._everything, [norm], self.namespace)
        return self._entities(entity for _, entity in rows)

    def entity(self, key: str) -> Entity | None:
        """As `Knowledge.entity`."""
        if self.namespace is None:
            return None
        found = graph_rows.find_entity(self.connection, self.namespace, key)
        return None if found is None else self._entities([found])[0]

    def everyone(self, kind: str | None) -> list[tuple[str, Entity]]:
        """As `Knowledge.everyone`."""
        if self.namespace is None:
            return []
        return [
            (norm, Entity(key=key, namespace=self._place, name=name, kind=of_kind))
            for norm, key, name, of_kind in graph.entities_in(self.connection, self.namespace, kind)
        ]

    def _entities(self, ids: Iterable[int]) -> list[Entity]:
        """Themselves, links not followed; oldest first."""
        ids = list(ids)
        aliases: dict[int, list[str]] = defaultdict(list)
        for one, name, _ in graph.aliases(self.connection, self._everything, ids):
            aliases[one].append(name)
        return [
            Entity(
                key=row.key,
                namespace=self._place,
                name=row.name,
                kind=row.kind,
                aliases=tuple(name for name in aliases[row.id] if name != row.name),
            )
            for row in graph.entities(self.connection, ids)
        ]

    def about(self, asked: _Asked) -> list[KnownFact]:
        """As `Knowledge.about`. A batch asks the same of one person for each of its facts."""
        if asked not in self._about:
            view = self.past if asked.past else self.view
            found = view.of_key(asked.subject)
            also = None if asked.also is None else view.of_key(asked.also)
            edges: list[EdgeRow] = []
            if found is not None and (also is not None or asked.also is None):
                edges = view.touching([found], asked.relation, also=also, corrects=asked.corrects)
            said = None if asked.literal is None else normalised(asked.literal)
            self._about[asked] = self.facts(
                dict.fromkeys(
                    edge.item
                    for edge in edges
                    if (
                        edge.subject == found
                        or (edge.object == found and (asked.either or edge.relation in _BOTH_WAYS))
                    )
                    and (said is None or normalised(edge.literal or "") == said)
                )
            )
        return self._about[asked]

    def nearest(self, vector: Floats, limit: int) -> tuple[Ids, Floats]:
        """Ids and cosines of facts, best first."""
        if not self._same_model:
            return candidates.NOTHING
        if self._comparable is None:
            rows = self.connection.execute(
                f"SELECT i.id FROM item i WHERE i.namespace = ? AND {self._believed.where}",
                (self.namespace, *self._believed.bindings),
            )
            self._comparable = np.sort(np.fromiter((item for (item,) in rows), np.int64))
        return self._snapshot.nearest(
            self._believed, vector, limit, overfetch=OVERFETCH, among=self._comparable
        )

    def deleted(self, turn: str, said_at: datetime) -> Iterator[KnownFact]:
        """Facts made of a turn that were deleted for their own sake: the turn is in their keys."""
        if self._deleted is None:
            self._deleted = defaultdict(list)
            for key, value in self.connection.execute(
                "SELECT key, before FROM history WHERE namespace = ? AND key BETWEEN 'fact/' AND "
                "'fact0' AND action = 'delete' AND before IS NOT NULL ORDER BY key",
                (self.namespace,),
            ):
                before = from_json(value)
                self._deleted[before.get("said_at")].append((key, before))
        for key, value in self._deleted.get(said_at.isoformat(), ()):
            text = str(value.get("text", ""))
            if key == key_of(text, turn) and was_deleted(self.connection, self._place, key):
                ends = [value.get(name) for name in ("subject", "relation", "object")]
                claims = []
                if all(isinstance(end, str) for end in ends):
                    subject, relation, about = map(str, ends)
                    claims.append(Claim(subject=subject, relation=relation, object=about))
                memory = Memory(
                    id=0, namespace=self._place, key=key, value=value, text=text, status="archived",
                    created_at=said_at, updated_at=said_at,
                )  # fmt: skip
                yield KnownFact(memory=memory, claims=tuple(claims), evidence=(turn,))

    def facts(self, ids: Iterable[int]) -> list[KnownFact]:
        """In the order given."""
        ids = list(ids)
        unknown = np.array([one for one in ids if one not in self._known], np.int64)
        if len(unknown):
            claims: dict[int, list[Claim]] = defaultdict(list)
            rows = graph.edges(self.connection, self._everything, facts=unknown.tolist())
            standing = self.view.standing(rows)
            own = self.view.own_keys(rows, standing)
            for row, edge in zip(rows, self.view.edges(standing), strict=True):
                claims[row.item].append(
                    Claim.of_edge(edge.subject, edge.relation, edge.object, edge.literal)
                )
            evidence: dict[int, list[str]] = defaultdict(list)
            told_us: dict[int, int] = {}
            heard: dict[int, list[str]] = defaultdict(list)
            for item, key, said_us, said in self.connection.execute(
                "SELECT v.item, o.key, CASE o.kind WHEN 'episodic' THEN o.valid_at END, "
                "CASE i.value ->> '$.corrects' WHEN 1 THEN o.value ->> '$.content' END "
                "FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
                "CROSS JOIN evidence v ON v.item = i.id "
                "CROSS JOIN item o ON o.id = v.source ORDER BY v.item, v.source",
                (self.connection.array(unknown),),
            ):
                evidence[item].append(key)
                if isinstance(said, str):
                    heard[item].append(said)
                if said_us is not None:
                    told_us[item] = max(said_us, told_us.get(item, said_us))
            for memory in items.memories(self.connection, unknown):
                self._known[memory.id] = KnownFact(
                    memory=memory,
                    claims=tuple(claims[memory.id]),
                    evidence=tuple(evidence[memory.id]),
                    told_at=maybe_datetime(told_us.get(memory.id)),
                    heard=tuple(heard[memory.id]),
                    own=own.get(memory.id, {}),
                )
        return [self._known[one] for one in ids if one in self._known]


def came_after(connection: Connection, seq: int, run: str) -> bool:
    """Whether anything came, or came back, after this place in the history, but for what a run did."""
    row = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM history h WHERE h.seq > ? AND {_CAME} AND h.run IS NOT ?)",
        (seq, run),
    ).fetchone()
    return bool(row[0])


@contextmanager
def knowledge(
    engine: Engine, indexing: Indexing, namespace: Namespace, *, alive_at_us: int | None
) -> Iterator[StoreKnowledge]:
    """See `Gathering.knowledge`."""
    found = StoreKnowledge(engine, indexing, namespace, alive_at_us=alive_at_us)
    try:
        yield found
    finally:
        found.release()
