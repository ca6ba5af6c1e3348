"""Batches of LangGraph's operations: `BaseStore.batch` and `abatch` over an open file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from langgraph.store.base import GetOp, Result, SearchOp

from langmemory.engines.sql.engine import Snapshot
from langmemory.engines.sql.reading import operations
from langmemory.engines.sql.reading.operations import Batch, Ranked
from langmemory.engines.sql.reading.searching import now_us
from langmemory.engines.sql.records import items, write_access
from langmemory.engines.sql.rooms.core import Core, checked_ttl, pages_telling_of, remove
from langmemory.engines.sql.rooms.following import (
    NOTHING,
    OutdatedPlanError,
    Reinstatement,
    aplanned_again,
    follow_up,
    note_reworded,
    planned_again,
    reinstate,
)
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.writing import verbatim
from langmemory.formation.relations.vocabulary import TO_ASSISTANT
from langmemory.ports.candidates import Floats
from langmemory.ports.journal import Pages
from langmemory.types import Scope


def run(core: Core, batch: Batch) -> list[Result]:
    """Run operations: reads first, on one snapshot, then all writes in one transaction."""
    writes = core.complete(_drafts(core, batch), tokens=False) if batch.puts else []
    if batch.reads:
        _read(core, batch, core.searching.embed(operations.queries(batch)))
    if _has_writes(batch):
        try:
            _write_once(core, batch, writes, NOTHING)
        except OutdatedPlanError:  # something follows from a deletion
            planned_again(lambda: _write_once(core, batch, writes, _planned(core, batch)))
    return batch.results


def _write_once(
    core: Core, batch: Batch, writes: Sequence[items.Write], planned: Reinstatement
) -> None:
    with core.engine.write() as connection:
        pages, follows = _write(core, connection, batch, writes, planned)
    core.follow(pages)
    if follows:
        follow_up(core)


def _planned(core: Core, batch: Batch) -> Reinstatement:
    """Return what follows from the deletions of a batch, planned from a snapshot."""
    with core.engine.read() as snapshot:
        connection = snapshot.connection
        return Reinstatement.of(core, connection, _gone(connection, batch))


async def arun(core: Core, batch: Batch) -> list[Result]:
    """`run` without blocking the event loop; concurrent writes share a commit."""
    workers = core.workers
    writes: list[items.Write] = []
    if batch.puts:
        writes = await _awrites(core, batch)
    if batch.reads:
        queries = operations.queries(batch)
        vectors = None if core.embeds_cheaply else await core.searching.aembed(queries)

        def read() -> None:
            _read(core, batch, core.searching.embed(queries) if vectors is None else vectors)

        only_gets = all(isinstance(op, GetOp) for _, op in batch.reads)
        await (workers.look_up(read) if only_gets else workers.read(read))
    if _has_writes(batch):
        try:
            await _awrite_once(core, batch, writes, NOTHING)
        except OutdatedPlanError:  # as above

            async def attempt() -> None:
                planned = await workers.read(lambda: _planned(core, batch))
                await _awrite_once(core, batch, writes, planned)

            await aplanned_again(attempt)
    return batch.results


async def _awrite_once(
    core: Core, batch: Batch, writes: Sequence[items.Write], planned: Reinstatement
) -> None:
    workers = core.workers
    pages, follows = await workers.write(
        lambda connection: _write(core, connection, batch, writes, planned)
    )
    if pages:
        await workers.read(lambda: core.follow(pages))
    if follows:
        await workers.read(partial(follow_up, core))


async def _awrites(core: Core, batch: Batch) -> list[items.Write]:
    """Return what the puts of a batch write, prepared outside the loop's thread."""
    if core.embeds_cheaply:
        return await core.workers.prepare(lambda: core.complete(_drafts(core, batch), tokens=False))
    drafts = await core.workers.prepare(lambda: _drafts(core, batch))
    return await core.acomplete(drafts, tokens=False)


def _drafts(core: Core, batch: Batch) -> list[items.Write]:
    return [
        core.indexing.draft(
            op.namespace, op.key, op.value, index=op.index, ttl_minutes=checked_ttl(op.ttl)
        )
        for op in batch.puts
        if op.value is not None
    ]


def _read(core: Core, batch: Batch, vectors: Mapping[str, Floats | None]) -> None:
    def rank(snapshot: Snapshot, op: SearchOp, scope: Scope) -> Ranked:
        query = op.query or ""
        return core.searching.rank(snapshot, scope, query, vectors.get(query), op.limit, op.offset)

    position, op = batch.reads[0]
    alive_at_us = core.searching.alive_at_us()
    if len(batch.reads) == 1 and isinstance(op, GetOp):  # no snapshot needed
        first_row = core.engine.first
        batch.results[position] = operations.get(batch, op, first_row, alive_at_us)
        return
    with core.engine.read() as snapshot:
        operations.read(batch, snapshot, rank, alive_at_us)


def _write(
    core: Core,
    connection: Connection,
    batch: Batch,
    writes: Sequence[items.Write],
    planned: Reinstatement,
) -> tuple[Pages, bool]:
    """Write within the transaction; return the pages that tell of it, and whether something is
    left to be planned."""
    now = now_us()
    pages: Pages = set()
    follows = False
    gone = _gone(connection, batch)
    planned.check(connection, gone)
    if writes:
        write_access.claim(connection, writes, batch.viewer, personal=TO_ASSISTANT)
        core.claim_model(connection, writes)
        places = {(one.namespace, one.key) for one in writes}
        pages |= pages_telling_of(connection, places)
        written = items.put(connection, writes, now)
        verbatim.refresh_around(connection, written.replaced)
        if written.reworded:
            note_reworded(connection, written.reworded, now)
            follows = True
        pages |= pages_telling_of(connection, places)
    pages |= remove(connection, gone, now, "delete")
    pages |= reinstate(connection, planned)
    if batch.refreshed:
        items.refresh_ttl(connection, batch.refreshed, now)
    return pages, follows


def _has_writes(batch: Batch) -> bool:
    return bool(batch.puts or batch.refreshed)


def _gone(connection: Connection, batch: Batch) -> list[int]:
    """Return the items that a batch deletes."""
    found = [
        items.find(connection, op.namespace, op.key, viewer=batch.viewer)
        for op in batch.puts
        if op.value is None
    ]
    return [item for item in found if item is not None]
