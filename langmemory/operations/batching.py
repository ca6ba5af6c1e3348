"""Batches of LangGraph's operations: `BaseStore.batch` and `abatch` over an open file."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from itertools import chain

from langgraph.store.base import GetOp, Result

from langmemory.formation.relations.vocabulary import TO_ASSISTANT
from langmemory.ledger import items, verbatim
from langmemory.ledger.connection import Connection
from langmemory.ledger.transfer.moving import ANY_MOVED
from langmemory.operations.core import (
    CLAIMING,
    Core,
    checked_ttl,
    mark_pages,
    mark_pages_of,
    remove,
)
from langmemory.operations.following import (
    ATTEMPTS,
    NOTHING,
    OutdatedPlanError,
    Reinstatement,
    follow_up,
    note_reworded,
    reinstate,
)
from langmemory.ports.candidates import Floats
from langmemory.search import langgraph
from langmemory.search.langgraph import Batch
from langmemory.steps import Steps, Wait, call


def steps(core: Core, batch: Batch) -> Steps[list[Result]]:
    """Run operations: reads first, on one snapshot, then all writes in one transaction."""
    writes: list[items.Write] = []
    if batch.puts:
        writes = yield from core.completed(lambda: _drafts(core, batch), tokens=False)
    if batch.reads:
        queries, vectors = langgraph.queries(batch), None
        if queries and not core.embeds_cheaply:
            vectors = yield call(core.searching, "embed", queries)
        known: dict[str, Floats | None] = dict(vectors or {})

        def read_once(words: bool) -> None:
            if vectors is None:
                known.update(core.searching.embed(queries))
            langgraph.read(batch, core.engine, core.searching, known, words=words)

        def read() -> None:
            core.answered(read_once, known)

        def in_thread() -> Awaitable[None]:
            only_gets = all(isinstance(op, GetOp) for _, op in batch.reads)
            return (core.workers.look_up if only_gets else core.workers.read)(read)

        yield Wait(read, in_thread)
    if batch.puts or batch.refreshed:
        follows = yield from _written(core, batch, writes)
        if follows:
            yield core.reading(lambda: follow_up(core))
    return batch.results


def _written(core: Core, batch: Batch, writes: Sequence[items.Write]) -> Steps[bool]:
    """Write in a transaction; return whether something is left to be planned. What follows from
    deletions is planned before it, where something does, and again where others wrote in between."""
    planned, attempts = NOTHING, 0

    def write(connection: Connection) -> bool:
        fresh = [replace(one) for one in writes]  # for it may be called again
        return _write(core, connection, batch, fresh, planned)

    while True:
        try:
            return (yield from core.written(write))
        except OutdatedPlanError:
            attempts += 1
            if attempts > ATTEMPTS:
                raise
            planned = yield core.reading(lambda: _planned(core, batch))


def _planned(core: Core, batch: Batch) -> Reinstatement:
    """Return what follows from the deletions of a batch, planned from a snapshot."""
    with core.engine.read() as snapshot:
        connection = snapshot.connection
        return Reinstatement.of(core, connection, _gone(connection, batch))


def _drafts(core: Core, batch: Batch) -> list[items.Write]:
    return [
        core.indexing.draft(
            op.namespace, op.key, op.value, index=op.index, ttl_minutes=checked_ttl(op.ttl)
        )
        for op in batch.puts
        if op.value is not None
    ]


def _write(
    core: Core,
    connection: Connection,
    batch: Batch,
    writes: Sequence[items.Write],
    planned: Reinstatement,
) -> bool:
    """Write within the transaction; return whether something is left to be planned."""
    now = core.now_us()
    follows = False
    if writes:
        connection.ahead(chain([(ANY_MOVED, ()), *CLAIMING], items.questions(writes)))
    core.archive.bring_back_named(connection, ((op.namespace, op.key) for op in batch.puts))
    for (namespace, key), updated_at in batch.expected.items():
        items.check_unchanged(connection, namespace, key, updated_at, viewer=batch.viewer)
    gone = _gone(connection, batch)
    planned.check(connection, gone)
    if writes:
        items.claim(connection, writes, batch.viewer, personal=TO_ASSISTANT)
        core.claim_model(connection, writes)
        places = {(one.namespace, one.key) for one in writes}
        mark_pages_of(connection, places)
        written = items.put(connection, writes, now)
        verbatim.refresh_around(connection, written.replaced)
        if written.reworded:
            note_reworded(connection, written.reworded, now)
            follows = True
        mark_pages_of(connection, places)
        mark_pages(connection, written.replaced)
    if gone:
        remove(connection, gone, now, "delete")
        reinstate(core, connection, planned)
    if batch.refreshed:
        items.refresh_ttl(connection, batch.refreshed, now)
    return follows


def _gone(connection: Connection, batch: Batch) -> list[int]:
    """Return the items that a batch deletes."""
    found = [
        items.find(connection, op.namespace, op.key, viewer=batch.viewer)
        for op in batch.puts
        if op.value is None
    ]
    return [item for item in found if item is not None]
