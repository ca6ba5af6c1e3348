"""Messages on their way into an open file: `MemoryStore.remember`. Turns that are private by rule become so
in a run of their own, which can be undone."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, get_args

from langmemory import arguments
from langmemory.changes import ChangeSet, Facets, UpdateMemory
from langmemory.errors import ConfigError
from langmemory.formation.confidences import Confidence, confidence_of, means_before
from langmemory.ledger import items, standing, verbatim
from langmemory.ledger.applying import Prepared
from langmemory.ledger.connection import Connection
from langmemory.messages import Message, Turn, as_list, turns_of
from langmemory.namespaces import check_namespace
from langmemory.operations.core import CLAIMING, Core, apply_run
from langmemory.pluralize import count_noun
from langmemory.ports.facts import digest
from langmemory.redaction import log_redacted
from langmemory.steps import Steps
from langmemory.types import Namespace, Privacy, Remembered

WHY: Final[Mapping[Confidence, str]] = {
    "request": "the speaker asked to keep it to themselves",
    "surprise": "a surprise for somebody",
    "health": "about the speaker's health",
    "money": "about the speaker's money",
}
CONFIDED: Final = frozenset((WHY["health"], WHY["money"]))
"""Reasons that are about a sentence of a turn. A surprise may be told by any of its sentences."""
PERSON: Final = "user"


class Heard(NamedTuple):
    """One turn, and what its words ask for."""

    turn: Turn
    why: Confidence | None
    """Why it is its speaker's alone."""
    means_before: bool
    """Whether it asks this for what was said before it."""

    @classmethod
    def of(cls, turn: Turn) -> Heard:
        """Read the words of a turn."""
        why = confidence_of(turn.text) if turn.role == PERSON else None
        return cls(turn, why, why == "request" and means_before(turn.text))


def confided(heard: Sequence[Heard]) -> dict[str, Confidence]:
    """Return why turns are private, by key: what was said in confidence, and what answers it."""
    found: dict[str, Confidence] = {}
    why: Confidence | None = None
    for place, (turn, reason, is_about_before) in enumerate(heard):
        if turn.role == PERSON:
            why = reason
            if why is not None and is_about_before:
                for before, *_ in reversed(heard[:place]):
                    found.setdefault(before.key, why)
                    if before.role == PERSON:
                        break
        if why is not None:
            found.setdefault(turn.key, why)
    return found


def privately(
    connection: Connection, namespace: Namespace, heard: Sequence[Heard], owner: str
) -> ChangeSet | None:
    """Return what makes turns private that were stored just now, what they refer to, and what rests on
    them alone; None where nothing does.

    Args:
        connection: The writer, in the transaction that stored them.
        namespace: Where.
        heard: Of one thread, in order, under the keys they have now.
        owner: Whose they are.
    """
    why = confided(heard)
    first = heard[0].turn
    earlier = standing.said_before(connection, namespace, first.key, owner)
    if first.role != PERSON and earlier and earlier[0].privacy == "private":
        for turn, *_ in heard:
            if turn.role == PERSON:
                break
            why.setdefault(turn.key, "request")
    if heard[0].means_before:
        for one in earlier:
            why[one.key] = "request"
            if one.role == PERSON:
                break
    if not why:
        return None
    derived = standing.resting_on(connection, namespace, list(why), owner)
    changes = tuple(
        UpdateMemory(
            key=key,
            facets=Facets(privacy="private", owner=owner),
            reason=WHY[why[key]] if key in why else "made of what is private",
        )
        for key in (*why, *derived)
    )
    kinds = ", ".join(dict.fromkeys(WHY[one] for one in why.values()))
    return ChangeSet(
        namespace=namespace,
        run_id=f"private/{digest(*namespace, *why)}",
        kind="maintenance",
        reason=f"{count_noun(len(changes), 'memory', 'memories')} made private: {kinds}",
        changes=changes,
        note={"private": len(changes)},
    )


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

    def store(connection: Connection) -> list[str]:
        connection.ahead(CLAIMING)
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
                apply_run(core, connection, changes, Prepared.of(connection, changes))
                logger.info("made_private run=%s memories=%d", changes.run_id, len(changes.changes))
        return added

    added = yield from core.written(store)
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
        return verbatim.new_turns(snapshot.connection, namespace, thread_id, turns, facets["owner"])
