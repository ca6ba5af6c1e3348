"""Messages on their way into an open file: `MemoryStore.remember`."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args

from langmemory import arguments
from langmemory.errors import ConfigError
from langmemory.ledger import items, verbatim
from langmemory.ledger.applying import Prepared
from langmemory.ledger.connection import Connection
from langmemory.messages import Message, Turn, as_list, turns_of
from langmemory.namespaces import check_namespace
from langmemory.operations.confiding import Heard, privately
from langmemory.operations.core import Core, apply_run
from langmemory.ports.journal import Pages
from langmemory.redaction import log_redacted
from langmemory.steps import Steps
from langmemory.types import Namespace, Privacy, Remembered

logger = logging.getLogger("langmemory.store")


def steps(
    core: Core,
    namespace: Namespace,
    messages: Iterable[Message],
    thread_id: str,
    at: datetime | None,
    facets: dict[str, Any],
) -> Steps[Remembered]:
    """Store messages; see `MemoryStore.remember`. ``facets`` are their owner and privacy."""
    said = as_list(messages)

    # Of what is shared it is a rule's to say that some are private.
    owner = facets["owner"] if facets["privacy"] == "shared" else None
    listens = owner is not None and core.config.privacy.confidences

    def prepare() -> tuple[list[Turn], list[Heard], list[items.Write]]:
        turns = _unstored(core, namespace, said, thread_id, at, facets)
        writes = [
            verbatim.draft(core.indexing, namespace, thread_id, turn, facets) for turn in turns
        ]
        for one in writes:
            one.ttl_minutes = (core.ttl_config or {}).get("default_ttl")
        if writes and core.embeds_cheaply:
            writes = core.complete(writes)
        return turns, [Heard.of(turn) for turn in turns] if listens else [], writes

    turns, heard, drafts = yield core.preparing(prepare)
    if not drafts:
        return Remembered()
    writes = drafts
    if not core.embeds_cheaply:
        writes = yield from core.completed(lambda: drafts)

    def store(connection: Connection) -> tuple[list[str], Pages]:
        core.claim_model(connection, writes)
        fresh = [replace(one) for one in writes]  # for it may be called again
        added = verbatim.store(connection, tuple(namespace), thread_id, fresh, core.now_us())
        stored = [
            one._replace(turn=replace(one.turn, key=write.key))  # as it is stored
            for one, write in zip(heard, fresh, strict=bool(heard))
            if write.key in added
        ]
        if stored and owner:
            changes = privately(connection, tuple(namespace), stored, owner)
            if changes is not None:
                _, pages = apply_run(core, connection, changes, Prepared.of(connection, changes))
                logger.info("made_private run=%s memories=%d", changes.run_id, len(changes.changes))
                return added, pages
        return added, set()

    added, pages = yield core.writing(store)
    if pages:
        yield core.reading(lambda: core.follow(pages))
    counts = Counter[str]()
    for turn in turns if added else ():
        counts.update(turn.redacted)
    log_redacted(counts)
    return Remembered(added, dict(counts))


def _unstored(
    core: Core,
    namespace: Namespace,
    messages: Iterable[Message],
    thread_id: str,
    at: datetime | None,
    facets: dict[str, Any],
) -> list[Turn]:
    """Check what `MemoryStore.remember` is given; return the turns that are not stored yet."""
    check_namespace(namespace, written=True)
    if not thread_id:
        raise ConfigError("thread_id is empty; pass the id of the conversation.")
    for name, given in (("thread_id", thread_id), ("owner", facets["owner"])):
        if not isinstance(given, str | None):
            raise ConfigError(f"{name} is {given!r:.80}; it must be a string.")
    arguments.check_time("at", at)
    if facets["privacy"] not in get_args(Privacy):
        raise ConfigError(
            f"privacy is {facets['privacy']!r}; allowed are {', '.join(get_args(Privacy))}."
        )
    if at is not None and at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    turns = turns_of(
        messages,
        thread_id=thread_id,
        at=at,
        now=datetime.now(UTC),
        redactor=core.redactor,
        owner=facets["owner"],
        namespace=tuple(namespace),
    )
    with core.engine.read() as snapshot:
        return verbatim.unstored(snapshot.connection, namespace, thread_id, turns, facets["owner"])
