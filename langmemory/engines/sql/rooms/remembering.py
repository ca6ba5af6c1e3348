"""Messages on their way into an open file: `MemoryStore.remember`."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, get_args

from langmemory import arguments
from langmemory.engines.sql.changes.applying import Prepared
from langmemory.engines.sql.reading.searching import now_us
from langmemory.engines.sql.records import items
from langmemory.engines.sql.rooms.confiding import Heard, privately
from langmemory.engines.sql.rooms.core import Core, apply_run
from langmemory.engines.sql.tables.connection import Connection
from langmemory.engines.sql.writing import verbatim
from langmemory.errors import ConfigError
from langmemory.messages import Message, as_list, turns_of
from langmemory.namespaces import check_namespace
from langmemory.redaction import log_redacted
from langmemory.twins import Steps
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

    def prepare() -> tuple[_Remembering, list[items.Write]]:
        remembering = _remembering(core, namespace, said, thread_id, at, facets)
        at_once = remembering.drafts and core.embeds_cheaply
        return remembering, core.complete(remembering.drafts) if at_once else []

    remembering, writes = yield core.preparing(prepare)
    if not remembering.drafts:
        return Remembered()
    if not writes:
        writes = yield from core.completed(lambda: remembering.drafts)
    added = yield core.writing(lambda connection: remembering.store(core, connection, writes))
    if remembering.pages:
        yield core.reading(lambda: core.follow(remembering.pages))
    counts = dict(remembering.redacted) if added else {}
    log_redacted(counts)
    return Remembered(added, counts)


def _remembering(
    core: Core,
    namespace: Namespace,
    messages: Iterable[Message],
    thread_id: str,
    at: datetime | None,
    facets: dict[str, Any],
) -> _Remembering:
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
        turns = verbatim.unstored(snapshot.connection, namespace, thread_id, turns, facets["owner"])
    drafts = [verbatim.draft(core.indexing, namespace, thread_id, turn, facets) for turn in turns]
    for one in drafts:
        one.ttl_minutes = (core.ttl_config or {}).get("default_ttl")
    counts = Counter[str]()
    for turn in turns:
        counts.update(turn.redacted)
    owner = facets["owner"] if facets["privacy"] == "shared" else None
    listens = owner is not None and core.config.privacy.confidences
    return _Remembering(
        namespace=tuple(namespace),
        thread_id=thread_id,
        drafts=drafts,
        redacted=counts,
        heard=[Heard.of(turn) for turn in turns] if listens else [],
        owner=owner,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Remembering:
    """Messages on their way into the file."""

    namespace: Namespace
    thread_id: str
    drafts: list[items.Write]
    redacted: Mapping[str, int]
    heard: list[Heard]
    """Requests in the turns, where that is looked for."""
    owner: str | None
    """Whose turns they are, where it is a rule's to say that some are private."""
    pages: set[tuple[Namespace, str]] = field(default_factory=set)
    """Of the journal, that tell of what is private now."""

    def store(self, core: Core, connection: Connection, writes: list[items.Write]) -> list[str]:
        core.claim_model(connection, writes)
        added = verbatim.store(connection, self.namespace, self.thread_id, writes, now_us())
        keys = (one.key for one in self.drafts)  # as they are stored
        stored = [
            one._replace(turn=replace(one.turn, key=key))
            for one, key in zip(self.heard, keys, strict=bool(self.heard))
            if key in added
        ]
        if stored and self.owner:
            changes = privately(connection, self.namespace, stored, self.owner)
            if changes is not None:
                _, pages = apply_run(connection, changes, Prepared.of(connection, changes))
                self.pages.update(pages)
                logger.info("made_private run=%s memories=%d", changes.run_id, len(changes.changes))
        return added
