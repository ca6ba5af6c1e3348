"""The target of a forgetting: everything in a namespace, or of an owner, some keys, everything that
speaks of an entity, and what was made of it alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile
from typing import Any, Final

from langmemory.engines.sql.background.jobs import BROUGHT
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.tables.namespaces import Bindings, below, from_path, ids_below
from langmemory.types import Namespace


@dataclass(frozen=True, kw_only=True, slots=True)
class Concerned:
    """Items to be forgotten, by id."""

    alive: set[int]
    """Items."""
    gone: set[int]
    """Items deleted before, of which the history still tells."""
    past: set[int] = field(default_factory=set)
    """Rows of the history, by seq, of what items that stay once said."""
    entities: set[int] = field(default_factory=set)
    """Entities to be forgotten themselves, whoever else speaks of them."""
    reviews: set[str] = field(default_factory=set)
    """Questions that would add what is to be forgotten."""
    named_in: Callable[[str], bool] | None = None
    """Says whether a text names an entity to be forgotten, where there is one."""
    namespaces: set[int] = field(default_factory=set)
    """Namespaces that are to be left empty."""
    inherited: set[int] = field(default_factory=set)
    """Items of the person to be forgotten that others said too: they become theirs."""

    @classmethod
    def together(cls, parts: Sequence[Concerned]) -> Concerned:
        alive = set[int]().union(*(part.alive for part in parts))
        named_in = [part.named_in for part in parts if part.named_in is not None]
        return cls(
            alive=alive,
            gone=set[int]().union(*(part.gone for part in parts)) - alive,
            past=set[int]().union(*(part.past for part in parts)),
            entities=set[int]().union(*(part.entities for part in parts)),
            reviews=set[str]().union(*(part.reviews for part in parts)),
            named_in=(lambda text: any(says(text) for says in named_in)) if named_in else None,
            namespaces=set[int]().union(*(part.namespaces for part in parts)),
            inherited=set[int]().union(*(part.inherited for part in parts)) - alive,
        )

    @property
    def every(self) -> list[int]:
        return sorted(self.alive | self.gone)


def within(connection: Connection, prefix: Namespace) -> Concerned:
    """Everything that is, or was, in a namespace and below it, whoever owns it."""
    where, bindings = below(prefix)
    alive = id_set(connection, f"SELECT id FROM item WHERE namespace IN {where}", bindings)
    gone = id_set(
        connection,
        f"SELECT item FROM history WHERE namespace IN {where} AND key IS NOT NULL",
        bindings,
    )
    reviews = connection.execute(f"SELECT id FROM review WHERE namespace IN {where}", bindings)
    return Concerned(
        alive=alive,
        gone=gone - alive,
        entities=id_set(connection, f"SELECT id FROM entity WHERE namespace IN {where}", bindings),
        reviews={str(row[0]) for row in reviews},
        namespaces=set(ids_below(connection, prefix)),
    )


_SAID_TOO: Final = """
    SELECT i.id FROM carray(?1) c CROSS JOIN item i ON i.id = c.value
    JOIN evidence v ON v.item = i.id LEFT JOIN item s ON s.id = v.source
    -- What is private has the words of who said it, and goes with them.
    WHERE i.kind NOT IN ('episodic', 'archival') AND i.privacy <> 'private' GROUP BY i.id
    -- The person said it, and so did somebody else.
    HAVING sum(s.id IS NULL OR s.owner IS ?2) > 0 AND sum(s.id IS NOT NULL AND s.owner IS NOT ?2) > 0"""


def owned(connection: Connection, prefix: Namespace, owner: str) -> Concerned:
    """Everything a person owns, or owned when it was deleted, but for what somebody else said too."""
    where, bindings = below(prefix)
    alive = id_set(
        connection,
        f"SELECT id FROM item WHERE namespace IN {where} AND owner = ?",
        (*bindings, owner),
    )
    inherited = id_set(connection, _SAID_TOO, (connection.array(alive), owner))
    alive -= inherited
    gone = id_set(
        connection,
        "SELECT g.item FROM history g JOIN history h ON h.item = g.item "
        f"WHERE g.namespace IN {where} AND g.key IS NOT NULL "
        "AND ? IN (h.facets ->> '$.owner', h.before ->> '$.owner')",
        (*bindings, owner),
    )
    reviews = connection.execute(
        f"SELECT id FROM review WHERE namespace IN {where} AND EXISTS "
        "(SELECT 1 FROM json_tree(options) WHERE key = 'owner' AND atom = ?)",
        (*bindings, owner),
    )
    past = id_set(
        connection,
        # Whose a value was is told by itself, or by the next change of its owner.
        f"SELECT h.seq FROM item i JOIN history h ON h.item = i.id WHERE i.namespace IN {where} "
        "AND i.owner IS NOT ? AND ? IN (h.before ->> '$.owner', (SELECT t.facets ->> '$.owner' "
        "FROM history t WHERE t.item = h.item AND t.seq >= h.seq "
        "AND t.facets -> '$.owner' IS NOT NULL ORDER BY t.seq LIMIT 1))",
        (*bindings, owner, owner),
    )
    past |= id_set(
        connection,
        "SELECT seq FROM history WHERE item IN (SELECT value FROM carray(?))",
        (connection.array(inherited),),
    )
    return Concerned(
        alive=alive,
        gone=gone - alive - inherited,
        past=past,
        reviews={str(row[0]) for row in reviews},
        inherited=inherited,
    )


def named(connection: Connection, namespace: int, keys: Iterable[str]) -> Concerned:
    """Everything that is, or was, under some keys of one namespace and is not forgotten yet."""
    alive: set[int] = set()
    gone: set[int] = set()
    for key in keys:
        alive |= id_set(
            connection, "SELECT id FROM item WHERE namespace = ? AND key = ?", (namespace, key)
        )
        gone |= id_set(
            connection, "SELECT item FROM history WHERE namespace = ? AND key = ?", (namespace, key)
        )
    return Concerned(alive=alive, gone=gone - alive)


def speaking_of(
    connection: Connection,
    prefix: Namespace,
    given: str,
    norms: Sequence[str],
    telling_of: Callable[[Sequence[str], Sequence[str]], Callable[[str], bool]],
) -> Concerned:
    """Every memory that speaks of an entity: by the graph, or by naming it, be it in its key alone.

    Args:
        connection: The writer.
        prefix: Where.
        given: A name, or the key, of the entity; entities linked with it are meant too.
        norms: The same as names and keys are looked up.
        telling_of: Makes, of its names and those of others, what says whether a text names it.
    """
    where, bindings = below(prefix)
    marks = ", ".join("?" * len(norms))
    entities = id_set(
        connection,
        "WITH RECURSIVE one (id) AS ("
        f"SELECT a.entity FROM alias a WHERE a.norm IN ({marks}) AND a.namespace IN {where} UNION "
        f"SELECT e.id FROM entity e WHERE e.key IN ({marks}) AND e.namespace IN {where} UNION "
        "SELECT e.same_as FROM one JOIN entity e ON e.id = one.id WHERE e.same_as IS NOT NULL UNION "
        "SELECT e.id FROM one JOIN entity e ON e.same_as = one.id) SELECT id FROM one",
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
    names = [
        str(row[0])
        for row in connection.execute(
            "SELECT name FROM alias WHERE entity IN (SELECT value FROM carray(?1)) UNION "
            "SELECT name FROM entity WHERE id IN (SELECT value FROM carray(?1))",
            (array,),
        )
    ]
    others = [
        str(row[0])
        for row in connection.execute(
            f"SELECT name FROM alias WHERE namespace IN {where} "
            "AND entity NOT IN (SELECT value FROM carray(?))",
            (*bindings, array),
        )
    ]
    says = telling_of([*names, given], others)
    gone = speaking - alive  # removed, and could be brought back
    for item, *told in connection.execute(
        f"SELECT id, value, key, speaker FROM item WHERE namespace IN {where}", bindings
    ):
        if any(text and says(text) for text in told):
            alive.add(item)
    past: set[int] = set()
    for seq, item, there, *told in connection.execute(
        "SELECT h.seq, h.item, i.id, h.before, h.key, h.facets -> '$.claims' "
        "FROM history h LEFT JOIN item i ON i.id = h.item "
        f"WHERE h.before IS NOT NULL AND (i.namespace IN {where} OR h.item IN "
        f"(SELECT g.item FROM history g WHERE g.namespace IN {where} AND g.key IS NOT NULL))",
        (*bindings, *bindings),
    ):
        if not any(text and says(text) for text in told):
            continue
        if there:
            past.add(seq)
        else:
            gone.add(item)
    return Concerned(alive=alive, gone=gone - alive, past=past, entities=entities, named_in=says)


def with_derived(connection: Connection, concerned: Concerned) -> Concerned:
    """The same with what was made from it alone: facts without other evidence, and summaries with
    any of it, because they retell all their sources. Removed ones, which could be brought back, too."""
    every = concerned.alive | concerned.gone
    while True:
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
        if not derived:
            break
        every |= derived
    alive = concerned.alive | _there(connection, every - concerned.gone)
    inherited = concerned.inherited - every
    return replace(concerned, alive=alive, gone=every - alive, inherited=inherited)


def _there(connection: Connection, ids: set[int]) -> set[int]:
    """Those of the items that are not gone."""
    return id_set(
        connection,
        "SELECT id FROM item WHERE id IN (SELECT value FROM carray(?))",
        (connection.array(ids),),
    )


def texts(connection: Connection, concerned: Concerned) -> list[str]:
    """Every text that is to go, as the tables have it: values, now and before, and names."""
    array, entities = connection.array(concerned.every), connection.array(concerned.entities)
    rows = connection.execute(
        "SELECT value FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
        "SELECT speaker FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
        "SELECT key FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
        "SELECT key FROM history WHERE item IN (SELECT value FROM carray(?1)) UNION "
        "SELECT before FROM history WHERE item IN (SELECT value FROM carray(?1)) UNION "
        "SELECT before FROM history WHERE seq IN (SELECT value FROM carray(?3)) UNION "
        "SELECT name FROM entity WHERE id IN (SELECT value FROM carray(?2)) UNION "
        "SELECT name FROM alias WHERE entity IN (SELECT value FROM carray(?2))",
        (array, entities, connection.array(concerned.past)),
    )
    return [str(row[0]) for row in rows if row[0]]


def named_aside(
    connection: Connection, prefix: Namespace, says: Callable[[str], bool]
) -> set[tuple[str, str | int]]:
    """Rows that name an entity in passing, as a model's reason may: table and key of each. A job is
    one of them where what it brings along, its result or its error does."""
    where, bindings = below(prefix)
    rows = connection.execute(
        f"SELECT 'run', id, reason || ' ' || note FROM run WHERE namespace IN {where} UNION ALL "
        f"SELECT 'review', id, question || ' ' || options FROM review WHERE namespace IN {where} "
        "UNION ALL SELECT 'history', h.seq, h.reason FROM history h JOIN item i ON i.id = h.item "
        f"WHERE h.reason IS NOT NULL AND i.namespace IN {where}",
        bindings * 3,
    )
    jobs = (
        ("job", job, f"{brought} {error or ''} {result or ''}")
        for job, brought, error, result, *place in _jobs(connection)
        if _may_concern(prefix, *place)
    )
    return {(table, key) for table, key, text in chain(rows, jobs) if says(text)}


def work_within(connection: Connection, prefix: Namespace) -> set[tuple[str, str | int]]:
    """Runs and jobs of a namespace and those below it: table and key of each."""
    where, bindings = below(prefix)
    runs = connection.execute(f"SELECT id FROM run WHERE namespace IN {where}", bindings)
    jobs = connection.execute("SELECT id, lane FROM job").fetchall()
    return {("run", row[0]) for row in runs} | {
        ("job", job) for job, lane in jobs if from_path(lane)[: len(prefix)] == prefix
    }


def jobs_of(connection: Connection, prefix: Namespace, owner: str) -> set[tuple[str, str | int]]:
    """Jobs of a person, submitted by or naming them: those that bring words along, not only the name
    of a thread to read, and those that are over. Table and key of each."""
    atoms = f"SELECT atom FROM json_tree({BROUGHT}) UNION ALL SELECT atom FROM json_tree(config)"
    named = f"{BROUGHT} <> '{{}}' AND ?1 IN (SELECT CAST(atom AS TEXT) FROM ({atoms}))"
    over = "state IN ('done', 'replaced') AND lane = kind || '.' || ?1"  # `jobs.lane_of`
    return {
        ("job", job)
        for job, *_, kind, lane in _jobs(connection, f"{named} OR {over}", (owner,))
        if _may_concern(prefix, kind, lane)
    }


def _jobs(connection: Connection, where: str = "TRUE", bindings: Bindings = ()) -> Any:
    return connection.execute(
        f"SELECT id, {BROUGHT}, error, result, kind, lane FROM job WHERE {where}", bindings
    )


def _may_concern(prefix: Namespace, kind: str, lane: str) -> bool:
    """Whether a job is of a namespace or below it, or does not say of which one (`jobs.lane_of`)."""
    return from_path(lane)[: len(prefix)] == prefix or f"{lane}.".startswith(f"{kind}.")


def common_namespace(connection: Connection, concerned: Concerned, prefix: Namespace) -> Namespace:
    """The namespace asked for, else what those of the memories have in common, else the first label
    of the first; ``()`` if there are none."""
    if prefix:
        return prefix
    array = connection.array(concerned.every)
    paths = [
        from_path(row[0])
        for row in connection.execute(
            "SELECT path FROM namespace WHERE id IN ("
            "SELECT namespace FROM item WHERE id IN (SELECT value FROM carray(?1)) UNION "
            "SELECT namespace FROM history WHERE item IN (SELECT value FROM carray(?1))) "
            "ORDER BY path",
            (array,),
        )
    ]
    if not paths:
        return ()
    together = zip(*paths, strict=False)
    common = tuple(one[0] for one in takewhile(lambda labels: len(set(labels)) == 1, together))
    return common or paths[0][:1]


def id_set(connection: Connection, sql: str, bindings: Bindings) -> set[int]:
    return {int(row[0]) for row in connection.execute(sql, bindings) if row[0] is not None}


def number(connection: Connection, sql: str, bindings: Bindings) -> int:
    return int(connection.execute(sql, bindings).fetchone()[0])
