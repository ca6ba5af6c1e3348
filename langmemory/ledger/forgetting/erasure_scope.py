"""The target of a forgetting: everything in a namespace, or of an owner, some keys, everything that
speaks of an entity, and what was made of it alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from typing import Any, Final

from langmemory.ledger import anchors
from langmemory.ledger.connection import Connection
from langmemory.ledger.jobs import BROUGHT
from langmemory.ledger.namespaces import Bindings, below, from_path, ids_below
from langmemory.ledger.part_rows import NamedRow, registered
from langmemory.ledger.tables import schema
from langmemory.ledger.tables.table import PERSON
from langmemory.types import Namespace

Asides = set[tuple[str, str | int]]
"""Rows that speak of memories in passing: table and key of each."""

_SAID_TOO: Final = """
    SELECT i.id FROM carray(?1) c CROSS JOIN item i ON i.id = c.value
    JOIN evidence v ON v.item = i.id LEFT JOIN item s ON s.id = v.source
    -- What is private has the words of who said it, and goes with them.
    WHERE i.kind NOT IN ('episodic', 'archival') AND i.privacy <> 'private' GROUP BY i.id
    -- The person said it, and so did somebody else.
    HAVING count(CASE WHEN s.id IS NULL OR s.owner IS ?2 THEN 1 END) > 0
    AND count(CASE WHEN s.id IS NOT NULL AND s.owner IS NOT ?2 THEN 1 END) > 0"""


@dataclass(kw_only=True, slots=True)
class ErasureScope:
    """Items to be forgotten, and rows beside them, by id. Add what is meant, then `add_derived`."""

    alive: set[int] = field(default_factory=set)
    """Items."""
    gone: set[int] = field(default_factory=set)
    """Items deleted before, of which the history still tells."""
    past: set[int] = field(default_factory=set)
    """Rows of the history, by seq, of what items that stay once said."""
    entities: set[int] = field(default_factory=set)
    """Entities to be forgotten themselves, whoever else speaks of them."""
    reviews: set[str] = field(default_factory=set)
    """Questions that would add what is to be forgotten."""
    names: list[Callable[[str], bool]] = field(default_factory=list)
    """Say whether a text names an entity to be forgotten."""
    namespaces: set[int] = field(default_factory=set)
    """Namespaces that are to be left empty."""
    inherited: set[int] = field(default_factory=set)
    """Items of the person to be forgotten that others said too: they become theirs."""
    part_rows: dict[str, dict[int, NamedRow]] = field(default_factory=lambda: defaultdict(dict))
    """Rows of parts, by their type and id."""

    @property
    def every(self) -> list[int]:
        """Ids of all items, ascending."""
        return sorted(self.alive | self.gone)

    def named(self, texts: Iterable[str | None]) -> bool:
        """Return whether one of some texts names an entity to be forgotten."""
        return any(says(text) for text in texts if text for says in self.names)

    def add_namespace(self, connection: Connection, prefix: Namespace) -> None:
        """Add everything that is, or was, in a namespace and below it, whoever owns it."""
        where, bindings = below(prefix)

        for found, query in (
            (self.alive, f"SELECT id FROM item WHERE namespace IN {where}"),
            (self.gone, f"SELECT item FROM history WHERE namespace IN {where} AND key IS NOT NULL"),
            (self.entities, f"SELECT id FROM entity WHERE namespace IN {where}"),
        ):
            found |= id_set(connection, query, bindings)
        reviews = connection.execute(f"SELECT id FROM review WHERE namespace IN {where}", bindings)
        self.reviews |= {str(row[0]) for row in reviews}
        self.namespaces |= set(ids_below(connection, prefix))
        self._add_part_rows(connection, prefix, None)

    def add_owner(self, connection: Connection, prefix: Namespace, owner: str) -> None:
        """Add everything a person owns, or owned when it was deleted, but for what somebody else said
        too."""
        where, bindings = below(prefix)
        alive = id_set(
            connection,
            f"SELECT id FROM item WHERE namespace IN {where} AND owner = ?",
            (*bindings, owner),
        )
        inherited = id_set(connection, _SAID_TOO, (connection.array(alive), owner))
        self.alive |= alive - inherited
        self.inherited |= inherited
        self.gone |= id_set(
            connection,
            "SELECT g.item FROM history g JOIN history h ON h.item = g.item "
            f"WHERE g.namespace IN {where} AND g.key IS NOT NULL "
            "AND ? IN (h.facets ->> '$.owner', h.before ->> '$.owner')",
            (*bindings, owner),
        ) - inherited  # fmt: skip
        self._add_part_rows(connection, prefix, owner)
        reviews = connection.execute(
            f"SELECT id FROM review WHERE namespace IN {where} AND EXISTS "
            "(SELECT 1 FROM json_tree(options) WHERE key = 'owner' AND atom = ?)",
            (*bindings, owner),
        )
        self.reviews |= {str(row[0]) for row in reviews}
        self.past |= id_set(
            connection,
            # Whose a value was is told by itself, or by the next change of its owner.
            f"SELECT h.seq FROM item i JOIN history h ON h.item = i.id WHERE i.namespace IN {where} "
            "AND i.owner IS NOT ? AND ? IN (h.before ->> '$.owner', (SELECT t.facets ->> '$.owner' "
            "FROM history t WHERE t.item = h.item AND t.seq >= h.seq "
            "AND t.facets -> '$.owner' IS NOT NULL ORDER BY t.seq LIMIT 1)) "
            "UNION SELECT seq FROM history WHERE item IN (SELECT value FROM carray(?))",
            (*bindings, owner, owner, connection.array(inherited)),
        )

    def add_keys(self, connection: Connection, namespace: int, keys: Iterable[str]) -> None:
        """Add everything that is, or was, under some keys of one namespace and is not forgotten yet."""
        for key in keys:
            place = "WHERE namespace = ? AND key = ?"
            self.alive |= id_set(connection, f"SELECT id FROM item {place}", (namespace, key))
            self.gone |= id_set(connection, f"SELECT item FROM history {place}", (namespace, key))

    def add_entity(
        self,
        connection: Connection,
        prefix: Namespace,
        given: str,
        norms: Sequence[str],
        telling_of: Callable[[Sequence[str], Sequence[str]], Callable[[str], bool]],
    ) -> None:
        """Add every memory that speaks of an entity: by the graph, or by naming it, be it in its key
        alone.

        Args:
            given: A name, or the key, of the entity; entities linked with it are meant too.
            norms: The same as names and keys are looked up.
            telling_of: Makes, of its names and those of others, what says whether a text names it.
        """
        where, bindings = below(prefix)
        marks = ", ".join("?" * len(norms))
        entities = id_set(
            connection,
            "WITH RECURSIVE one (id) AS ("
            "SELECT id FROM ("
            f"SELECT a.entity AS id FROM alias a WHERE a.norm IN ({marks}) AND a.namespace IN {where} UNION "
            f"SELECT e.id FROM entity e WHERE e.key IN ({marks}) AND e.namespace IN {where}) named UNION "
            "SELECT CASE e.id WHEN one.id THEN e.same_as ELSE e.id END FROM one JOIN entity e "
            "ON e.id = one.id AND e.same_as IS NOT NULL OR e.same_as = one.id) SELECT id FROM one",
            (*norms, *bindings, *norms, *bindings),
        )
        array = connection.array(entities)
        speaking = id_set(
            connection,
            "SELECT item FROM mention WHERE entity IN (SELECT value FROM carray(?1)) UNION "
            "SELECT fact FROM edge WHERE subject IN (SELECT value FROM carray(?1)) UNION "
            "SELECT fact FROM edge WHERE object IN (SELECT value FROM carray(?1))",
            (array,),
        )
        alive = _there(connection, speaking)
        names = connection.execute(
            "SELECT name FROM alias WHERE entity IN (SELECT value FROM carray(?1)) UNION "
            "SELECT name FROM entity WHERE id IN (SELECT value FROM carray(?1))",
            (array,),
        )
        others = connection.execute(
            f"SELECT name FROM alias WHERE namespace IN {where} "
            "AND entity NOT IN (SELECT value FROM carray(?))",
            (*bindings, array),
        )
        says = telling_of([*(str(row[0]) for row in names), given], [str(row[0]) for row in others])
        self.entities |= entities
        self.names.append(says)
        self._add_part_rows(connection, prefix, None, says)
        self.alive |= alive
        self.gone |= speaking - alive  # removed, and could be brought back
        for item, *told in connection.execute(
            f"SELECT id, value, key, speaker FROM item WHERE namespace IN {where}", bindings
        ):
            if any(text and says(text) for text in told):
                self.alive.add(item)
        for seq, item, there, *told in connection.execute(
            "SELECT h.seq, h.item, i.id, h.before, h.key, h.facets -> '$.claims' "
            "FROM history h LEFT JOIN item i ON i.id = h.item "
            f"WHERE h.before IS NOT NULL AND (i.namespace IN {where} OR h.item IN "
            f"(SELECT g.item FROM history g WHERE g.namespace IN {where} AND g.key IS NOT NULL))",
            (*bindings, *bindings),
        ):
            if any(text and says(text) for text in told):
                if there:
                    self.past.add(seq)
                else:
                    self.gone.add(item)

    def _add_part_rows(
        self,
        connection: Connection,
        prefix: Namespace,
        owner: str | None,
        says: Callable[[str], bool] = lambda _: True,
    ) -> None:
        for kind, rows in registered().items():
            found = rows.of_namespace(connection, prefix, owner, newest=False)
            self.part_rows[kind] |= {row.id: row for row in found if says(row.name)}

    def add_derived(self, connection: Connection) -> None:
        """Add what was made of all this alone: facts without other evidence, and summaries with any of
        it, because they retell all their sources, and links with it. Removed ones, which could be brought
        back, too."""
        self.gone -= self.alive
        derived = every = self.alive | self.gone
        while derived:
            derived = id_set(
                connection,
                "WITH going (id) AS (SELECT value FROM carray(?)) "
                "SELECT v.item FROM evidence v LEFT JOIN item i ON i.id = v.item "
                "WHERE v.source IN going AND v.item NOT IN going AND (coalesce(i.kind, "
                "(SELECT h.facets ->> '$.kind' FROM history h WHERE h.item = v.item AND h.key "
                "IS NOT NULL)) = 'archival' OR NOT EXISTS "
                "(SELECT 1 FROM evidence w JOIN item s ON s.id = w.source "
                "WHERE w.item = v.item AND w.source NOT IN going))",
                (connection.array(every),),
            )
            every = every | derived
        every |= anchors.links_of(connection, every)
        self.alive |= _there(connection, every - self.gone)
        self.gone = every - self.alive
        self.inherited -= every
        self.entities |= anchors.of_items(connection, every)

    def texts(self, connection: Connection) -> list[str]:
        """Return every text that is to go, as the tables have it: values, now and before, and names."""
        array, entities = connection.array(self.every), connection.array(self.entities)
        rows = connection.execute(
            "SELECT value FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
            "SELECT speaker FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
            "SELECT key FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
            "SELECT key FROM history WHERE item IN (SELECT value FROM carray(?1)) UNION "
            "SELECT before FROM history WHERE item IN (SELECT value FROM carray(?1)) UNION "
            "SELECT before FROM history WHERE seq IN (SELECT value FROM carray(?3)) UNION "
            "SELECT name FROM entity WHERE id IN (SELECT value FROM carray(?2)) UNION "
            "SELECT name FROM alias WHERE entity IN (SELECT value FROM carray(?2))",
            (array, entities, connection.array(self.past)),
        )
        return [str(row[0]) for row in rows if row[0]]

    def common_namespace(self, connection: Connection) -> Namespace:
        """Return what the namespaces of the memories have in common, else the first label of the first;
        ``()`` if there are none."""
        rows = connection.execute(
            "SELECT path FROM namespace WHERE id IN ("
            "SELECT namespace FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
            "SELECT namespace FROM history WHERE item IN (SELECT value FROM carray(?1))) "
            "ORDER BY path",
            (connection.array(self.every),),
        )
        paths = [from_path(row[0]) for row in rows]
        together = zip(*paths, strict=False)
        common = tuple(one[0] for one in takewhile(lambda labels: len(set(labels)) == 1, together))
        return common or (paths[0][:1] if paths else ())

    def asides(
        self, connection: Connection, prefix: Namespace, person: str | None, *, everything: bool
    ) -> Asides:
        """Return rows that speak of it in passing: those that name an entity, as a model's reason may;
        the work of a namespace of which everything goes, its messages, subscriptions and prompts; those of
        the person, and their jobs; and messages that come with one of the memories.

        A job is one of them where what it brings along, its result or its error names the entity, or
        where it was submitted by the person or names them: with words, not only the name of a thread
        to read, or when it is over.
        """
        where, bindings = below(prefix)
        found: Asides = set()
        if self.names:
            rows = connection.execute(
                f"SELECT 'run', id, reason || ' ' || note FROM run WHERE namespace IN {where} "
                "UNION ALL SELECT 'review', id, question || ' ' || options FROM review "
                f"WHERE namespace IN {where}",
                bindings * 2,
            )
            numbered = connection.execute(
                "SELECT 'history', h.seq, h.reason FROM history h JOIN item i "
                f"ON i.id = h.item WHERE h.reason IS NOT NULL AND i.namespace IN {where} "
                "UNION ALL SELECT 'message', seq, concat_ws(' ', topic, summary, details, artifacts, "
                f"next_steps) FROM message WHERE namespace IN {where} "
                "UNION ALL SELECT 'subscription', id, concat_ws(' ', topic, query) FROM subscription "
                f"WHERE namespace IN {where}",
                bindings * 3,
            )
            jobs = (
                ("job", job, f"{brought} {error or ''} {result or ''}")
                for job, brought, error, result in _jobs(connection, prefix)
            )
            found |= {
                (table, key)
                for table, key, text in chain(rows, numbered, jobs)
                if any(says(text) for says in self.names)
            }
        if everything:
            runs = connection.execute(f"SELECT id FROM run WHERE namespace IN {where}", bindings)
            found |= {("run", row[0]) for row in runs}
            lanes = connection.execute("SELECT id, lane FROM job")
            found |= {
                ("job", job) for job, lane in lanes if from_path(lane)[: len(prefix)] == prefix
            }
            for table, key, _ in _said_by_people():
                query = f"SELECT {key} FROM {table} WHERE namespace IN {where}"
                found |= {(table, one) for one in id_set(connection, query, bindings)}
        if person is not None:
            atoms = f"SELECT atom FROM json_tree({BROUGHT}) UNION ALL SELECT atom FROM json_tree(config)"
            theirs = (
                f"{BROUGHT} <> '{{}}' AND ?1 IN (SELECT CAST(atom AS TEXT) FROM ({atoms})) "
                # `jobs.lock_of`
                "OR state IN ('done', 'replaced') AND lane = kind || '.' || ?1"
            )
            found |= {("job", job) for job, *_ in _jobs(connection, prefix, theirs, (person,))}
            for table, key, whose in _said_by_people():
                query = f"SELECT {key} FROM {table} WHERE namespace IN {where} AND {whose} = ?"
                found |= {(table, one) for one in id_set(connection, query, (*bindings, person))}
        with_one = id_set(
            connection,
            "SELECT m.seq FROM message m CROSS JOIN json_each(m.memories) k "
            "WHERE EXISTS (SELECT 1 FROM item i "
            "WHERE i.namespace = m.namespace AND i.key = k.value AND i.id IN (SELECT value FROM carray(?1))) "
            "OR EXISTS (SELECT 1 FROM history h WHERE h.namespace = m.namespace AND h.key = k.value "
            "AND h.item IN (SELECT value FROM carray(?1)))",
            (connection.array(self.every),),
        )
        return found | {("message", one) for one in with_one}


@schema.cached_derivation
def _said_by_people() -> list[tuple[str, str, str]]:
    """(table, its key, the column that says whose a row is) of tables that speak of memories in passing."""
    return [
        (table.name, table.id[0], whose)
        for table in schema.tables()
        if table.saying("aside")
        for whose in table.ids_of(PERSON)
    ]


def _jobs(
    connection: Connection, prefix: Namespace, where: str = "TRUE", bindings: Bindings = ()
) -> Iterable[Any]:
    """Yield jobs of a namespace or below it, or that do not say of which one (`jobs.lock_of`)."""
    for *job, kind, lane in connection.execute(
        f"SELECT id, {BROUGHT}, error, result, kind, lane FROM job WHERE {where}", bindings
    ):
        if from_path(lane)[: len(prefix)] == prefix or f"{lane}.".startswith(f"{kind}."):
            yield job


def _there(connection: Connection, ids: set[int]) -> set[int]:
    """Return those of the items that are not gone."""
    query = "SELECT id FROM item WHERE id IN (SELECT value FROM carray(?))"
    return id_set(connection, query, (connection.array(ids),))


def id_set(connection: Connection, sql: str, bindings: Bindings) -> set[int]:
    """Return the ids that a query finds."""
    return {int(row[0]) for row in connection.execute(sql, bindings) if row[0] is not None}
