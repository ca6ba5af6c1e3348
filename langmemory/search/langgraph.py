"""One batch of LangGraph operations: checked and taken apart, then run on a snapshot and a transaction."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from heapq import nsmallest
from typing import Any, Final

import numpy as np
from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from langmemory.arguments import whole_number
from langmemory.errors import ConfigError
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine, Snapshot
from langmemory.ledger.items import NAMED
from langmemory.ledger.namespaces import from_path, occupied_namespaces, to_path
from langmemory.ledger.scopes import compile_scope, visible_to
from langmemory.ledger.values import from_us
from langmemory.namespaces import check_labels
from langmemory.ports.candidates import Floats, Ids
from langmemory.search.searching import Searching
from langmemory.types import Namespace, Scope
from langmemory.values import from_json

logger = logging.getLogger("langmemory.store")


@dataclass(kw_only=True, slots=True)
class Batch:
    """Operations of one call. Reads see the store as it was before the writes."""

    reads: list[tuple[int, GetOp | SearchOp | ListNamespacesOp]]
    puts: list[PutOp]
    """Writes and deletions, the last one for each key."""
    results: list[Result]
    refreshed: set[int] = field(default_factory=set)
    """Ids of items whose TTL starts anew because they were read."""
    viewer: str | None = None
    """On whose behalf; None is the application."""
    expected: Mapping[tuple[Namespace, str], datetime | None] = field(default_factory=dict)
    """When items are to have been updated last, else nothing is written; None: there is to be none."""


def take_apart(ops: Iterable[Op], viewer: str | None = None) -> Batch:
    """Check the operations and sort them into reads and writes.

    Raises:
        InvalidNamespaceError: No tuple but a string; a label that is empty, no string, or contains a
            period.
        ConfigError: A limit, offset or depth that is no whole number from 0 on; a key or a query
            that is no text.
        TypeError: Not an operation of LangGraph's BaseStore.
    """
    reads: list[tuple[int, GetOp | SearchOp | ListNamespacesOp]] = []
    puts: dict[tuple[Namespace, str], PutOp] = {}
    count = 0
    for position, op in enumerate(ops):
        count += 1
        if isinstance(op, PutOp):
            _check_namespaces(op, op.namespace)
            _check_key(op.key)
            place = (tuple(op.namespace), op.key)
            puts.pop(place, None)
            puts[place] = op
        elif isinstance(op, GetOp | SearchOp | ListNamespacesOp):
            if isinstance(op, GetOp):
                _check_namespaces(op, op.namespace)
                _check_key(op.key)
            elif isinstance(op, SearchOp):
                _check_namespaces(op, op.namespace_prefix)
                if op.query is not None:
                    check_query(op.query)
            else:
                _check_namespaces(op, *(one.path for one in op.match_conditions or ()))
                if op.max_depth is not None:
                    whole_number("max_depth", op.max_depth)
            if not isinstance(op, GetOp):
                limit, offset = whole_number("limit", op.limit), whole_number("offset", op.offset)
                if limit is not op.limit or offset is not op.offset:
                    op = op._replace(limit=limit, offset=offset)
            reads.append((position, op))
        else:
            raise TypeError(f"{op!r:.80} is not a store operation (GetOp, SearchOp, PutOp, …).")
    return Batch(reads=reads, puts=list(puts.values()), results=[None] * count, viewer=viewer)


def _check_namespaces(op: Op, *namespaces: object) -> None:
    for namespace in namespaces:
        check_labels(namespace)
    validate_op_namespace(op)


def _check_key(key: object) -> None:
    if not isinstance(key, str):  # `get`, `put` and `delete` make one of whatever they are given
        raise ConfigError(f"The key of an operation is {key!r:.80}; it must be a string.")


def check_query(query: object) -> None:
    """Raises ConfigError for what is no text."""
    if not isinstance(query, str):
        raise ConfigError(f"query is {query!r:.80}; it must be a string.")


def queries(batch: Batch) -> list[str]:
    """Return the distinct texts that the searches of a batch ask for."""
    asked = (op.query or "" for _, op in batch.reads if isinstance(op, SearchOp))
    return list(dict.fromkeys(filter(str.strip, asked)))


def read(
    batch: Batch,
    engine: Engine,
    searching: Searching,
    vectors: Mapping[str, Floats | None],
    *,
    words: bool = True,
) -> None:
    """Answer the reads of a batch in place, on one snapshot. ``vectors`` are those of its queries, ``words``
    says whether the keyword index can be asked."""
    alive_at_us = searching.alive_at_us()
    position, op = batch.reads[0]
    if len(batch.reads) == 1 and isinstance(op, GetOp):  # no snapshot needed
        batch.results[position] = _get(batch, op, engine.first, alive_at_us)
        return
    with engine.read() as snapshot:
        connection = snapshot.connection
        for position, op in batch.reads:
            if isinstance(op, GetOp):
                found = _get(batch, op, lambda *of: connection.execute(*of).fetchone(), alive_at_us)
                batch.results[position] = found
            elif isinstance(op, SearchOp):
                batch.results[position] = _search(
                    batch, op, snapshot, searching, vectors, words=words
                )
            else:
                batch.results[position] = _list_namespaces(batch, op, connection, alive_at_us)


def _get(
    batch: Batch,
    op: GetOp,
    first_row: Callable[[str, tuple[Any, ...]], Any],
    alive_at_us: int | None,
) -> Item | None:
    visible = visible_to(batch.viewer)
    row = first_row(
        "SELECT id, value, created_at, updated_at, expires_at FROM item i "
        f"WHERE {NAMED} AND {visible.sql}",
        (to_path(op.namespace), op.key, *visible.bindings),
    )
    if row is None or (alive_at_us is not None and row[4] is not None and row[4] <= alive_at_us):
        return None
    if op.refresh_ttl and row[4] is not None:
        batch.refreshed.add(row[0])
    return Item(
        value=from_json(row[1]),
        key=op.key,
        namespace=tuple(op.namespace),
        created_at=from_us(row[2]),
        updated_at=from_us(row[3]),
    )


LOOKED_AT: Final = 100
"""Values read at a time, where a filter has to look at them."""


def _search(
    batch: Batch,
    op: SearchOp,
    snapshot: Snapshot,
    searching: Searching,
    vectors: Mapping[str, Floats | None],
    *,
    words: bool,
) -> list[SearchItem]:
    alive_at_us = searching.alive_at_us()
    scope = Scope(namespace=tuple(op.namespace_prefix), filter=op.filter, viewer=batch.viewer)
    if op.query and op.query.strip():
        vector = vectors.get(op.query)
        ids, scores = searching.rank(
            snapshot, scope, op.query, vector, op.limit, op.offset, words=words
        )
        rows = _rows_by_id(snapshot, ids)
        shown: list[float | None] = [
            None if math.isnan(score) else score for score in scores.tolist()
        ]
    else:
        rows = _rows_by_time(snapshot, op, scope, alive_at_us)
        shown = [None] * len(rows)
    found: list[SearchItem] = []
    for row, score in zip(rows, shown, strict=True):
        if row is None or (
            alive_at_us is not None and row[6] is not None and row[6] <= alive_at_us
        ):
            continue  # gone, or expired, since a page before this one was ranked
        if op.refresh_ttl and row[6] is not None:
            batch.refreshed.add(row[0])
        found.append(
            SearchItem(
                namespace=from_path(row[1]),
                key=row[2],
                value=from_json(row[3]),
                created_at=(created := from_us(row[4])),
                updated_at=created if row[5] == row[4] else from_us(row[5]),
                score=score,
            )
        )
    return found


def _rows_by_id(snapshot: Snapshot, ids: Ids) -> list[Any]:
    """Return a row for each id, in order; None where the item is gone."""
    if not len(ids):
        return []
    found = snapshot.shown(ids)
    return [found.get(item) for item in ids.tolist()]


def _rows_by_time(
    snapshot: Snapshot, op: SearchOp, scope: Scope, alive_at_us: int | None
) -> list[Any]:
    """Return rows, most recently updated first, as LangGraph's SQL stores list."""
    connection = snapshot.connection
    compiled = compile_scope(scope, alive_at_us=alive_at_us)
    selection = snapshot.plan(compiled)
    residual, driver = compiled.residual, compiled.driver
    bindings: tuple[Any, ...]
    items = selection.listed()
    if items is not None:
        residual = None  # which they have passed
        source = "carray(?) c CROSS JOIN item i ON i.id = c.value"
        bindings = (connection.array(items),)
    elif driver is not None:  # many, but not all
        start, bindings = selection.start(driver)
        source = (
            f"(SELECT DISTINCT id FROM ({start})) d CROSS JOIN item i ON i.id = d.id "
            f"WHERE {compiled.where}"
        )
        bindings = (*bindings, *compiled.bindings)
    else:
        namespaces, labels = compiled.namespaces()
        source = f"item i WHERE i.namespace IN {namespaces} AND {compiled.where}"
        bindings = (*labels, *compiled.bindings)
    # The ids alone, so that no values are sorted.
    sql = f"SELECT i.id FROM {source} ORDER BY i.updated_at DESC, i.id DESC"
    if residual is None:
        found = connection.execute(f"{sql} LIMIT ? OFFSET ?", (*bindings, op.limit, op.offset))
        return _rows_by_id(snapshot, np.array([row[0] for row in found], np.int64))
    ids = np.array([row[0] for row in connection.execute(sql, bindings)], np.int64)
    rows: list[Any] = []
    skipped = at = 0
    while len(rows) < op.limit and at < len(ids):
        for row in _rows_by_id(snapshot, ids[at : at + LOOKED_AT]):
            if len(rows) < op.limit and residual(from_json(row[3])):
                if skipped < op.offset:
                    skipped += 1
                else:
                    rows.append(row)
        at += LOOKED_AT
    return rows


def _list_namespaces(
    batch: Batch, op: ListNamespacesOp, connection: Connection, alive_at_us: int | None
) -> list[Namespace]:
    conditions = op.match_conditions or ()
    prefix: Namespace = ()
    for condition in conditions:
        if condition.match_type == "prefix":
            labels = list(condition.path)
            literal = labels[: labels.index("*")] if "*" in labels else labels
            prefix = max(prefix, tuple(literal), key=len)
    further = [one for one in conditions if one.match_type != "prefix" or one.path != prefix]
    visible = visible_to(batch.viewer)
    found = [
        namespace
        for namespace in occupied_namespaces(
            connection, prefix, alive_at_us, among=visible.sql, bindings=visible.bindings
        )
        if all(_matches(namespace, condition) for condition in further)
    ]
    if op.max_depth is not None:
        found = list({namespace[: op.max_depth] for namespace in found})
    first = nsmallest(op.offset + op.limit, found)  # of very many, to sort all takes longer
    return first[op.offset :]


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    if condition.match_type == "prefix":
        part = namespace[: len(path)]
    elif condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    else:
        raise ConfigError(
            f"match_type is {condition.match_type!r}; allowed are 'prefix' and 'suffix'."
        )
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
