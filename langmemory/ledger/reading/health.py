"""Figures of `lifecycle.health.Health`, counted on one snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from langmemory.context import dependencies
from langmemory.ledger.background import reflected
from langmemory.ledger.engine import Snapshot
from langmemory.ledger.graph.anchors import is_anchor
from langmemory.ledger.reading.ageing import AgeingView
from langmemory.ledger.scope.scopes import CompiledScope
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.namespaces import below, from_path
from langmemory.lifecycle.health import FADED, WEEKS, Health
from langmemory.lifecycle.policies import PolicyOptions, unreachable_rules
from langmemory.lifecycle.retention import DAY_US, retention
from langmemory.ports.lifecycle import Aged
from langmemory.types import Namespace, Scope
from langmemory.values import from_json, readable_text

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
    for aged in _aged(snapshot, prefix):
        rules |= dict.fromkeys(unreachable_rules(aged, policies))
        holding = aged.take(aged.one_of(aged.status, "active"))
        faded = retention(holding, now_us, policies.retention) < FADED
        old = holding.created_at < now_us - 30 * DAY_US
        facts += len(holding)
        stale += int((faded & (holding.cited == 0)).sum())
        never_shown += int((old & (holding.loaded == 0)).sum())
        shown = shown or bool(holding.loaded.any())
    scope = snapshot.scoped(Scope(namespace=prefix), alive_at_us=now_us)
    missing = _without_vector(snapshot, scope) if snapshot.model().model is not None else 0
    return Health(
        turns=count(f"SELECT count(*) FROM item WHERE namespace IN {inside} AND kind = 'episodic'"),
        unread_turns=sum(one.turns for one in reflected.threads(connection, prefix, now_us)),
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
        growth=_growth(snapshot, inside, labels, now_us),
        shown=shown,
        rules=tuple(rules),
    )


def unreachable(snapshot: Snapshot, policies: PolicyOptions) -> list[str]:
    """Return the rules that cannot fire in a namespace, each once; see
    `policies.unreachable_rules`."""
    found = dict[str, None]()
    for aged in _aged(snapshot, ()):
        found |= dict.fromkeys(unreachable_rules(aged, policies))
    return list(found)


def _aged(snapshot: Snapshot, prefix: Namespace) -> Iterator[Aged]:
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
