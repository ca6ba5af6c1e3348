"""Reads of a store for reflection: which turns nobody has read yet, and what is known already."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol, cast

from langmemory.context.tokens import count_text
from langmemory.errors import ConfigError
from langmemory.formation.batch import Batch, Turn
from langmemory.ledger import history, namespaces, runs, verbatim
from langmemory.ledger.connection import Connection
from langmemory.ledger.knowledge import StoreKnowledge
from langmemory.ledger.values import from_us, to_us
from langmemory.ledger.verbatim import TurnRow
from langmemory.messages import speaker_of
from langmemory.namespaces import check_namespace
from langmemory.operations.core import Core
from langmemory.operations.remembering import CONFIDED
from langmemory.search.searching import now_us
from langmemory.types import Namespace, Privacy
from langmemory.values import readable_text

BATCH_TOKENS = 2_000
"""Of what was said, by the approximate counter: enough to understand a conversation by, and little
enough that a small model forgets no part of it."""

TURNS_BEFORE = 4
"""Turns read earlier that are shown once more, so that "yes, in May" means something."""


class OpenStore(Protocol):
    """A store over an open file."""

    @property
    def _core(self) -> Core: ...


class Gathering:
    """Reads for reflection: turns that were not read yet, and what is known already."""

    __slots__ = ("_core",)

    def __init__(self, store: OpenStore) -> None:
        self._core = store._core

    def turns_read(self, run_id: str) -> list[str]:
        """Return the keys of the turns that a reflection has read, as far as they are there and were
        not let go since by `read_again`."""
        with self._core.engine.read() as snapshot:
            return verbatim.read_by(snapshot.connection, run_id)

    def are_unread(self, batch: Batch) -> dict[str, bool]:
        """Return, of those of its turns that are there, by key, whether nobody has read them."""
        keys, alive_at_us = [turn.key for turn in batch.turns], self._core.searching.alive_at_us()
        with self._core.engine.read() as snapshot:
            place = namespaces.find(snapshot.connection, batch.namespace) or 0
            return verbatim.are_unread(snapshot.connection, place, keys, now_us(), alive_at_us)

    def next_batch(
        self,
        namespace: Namespace,
        thread_id: str | None = None,
        *,
        batch_tokens: int = BATCH_TOKENS,
        turns_before: int = TURNS_BEFORE,
        after: Batch | None = None,
        only: Collection[str] | None = None,
    ) -> Batch | None:
        """Return the next turns to reflect on: unread, of one thread, in order, of so many tokens.

        Args:
            namespace: Exactly this one.
            thread_id: None takes the thread whose unread turn is the oldest.
            batch_tokens: At most so many, but one turn at least.
            turns_before: So many turns before them go along, for understanding.
            after: A batch that was next a moment ago: what comes before its first turn is taken to
                be read, so that a long conversation is not looked through for each of its batches.
            only: Keys of the turns that are meant; None means every unread one.

        Returns:
            None when everything has been read; with ``after``, when everything from there on has.

        Raises:
            ConfigError: ``batch_tokens`` or ``turns_before`` is out of range.
        """
        if batch_tokens < 1 or turns_before < 0:
            raise ConfigError(
                f"batch_tokens is {batch_tokens} and turns_before {turns_before}; they must be at "
                "least 1 and 0."
            )
        namespace = check_namespace(namespace)
        now = now_us()
        with self._core.engine.read() as snapshot:
            connection = snapshot.connection
            found = namespaces.find(connection, namespace)
            if found is None:
                return None
            if thread_id is None:
                since = to_us(min(turn.said_at for turn in after.turns)) if after else None
                place = verbatim.oldest(connection, found, now, since)
            else:
                named = namespaces.find_thread(connection, found, thread_id)
                place = None if named is None else (named, thread_id)
            if place is None:
                return None
            thread, name = place
            begin = verbatim.position(connection, thread, found, after.turns[0].key) if after else 0
            unread = verbatim.unread(connection, thread, now, begin)
            meant = (row for row in unread if only is None or row.key in only)
            rows = _fitting(meant, batch_tokens)
            if not rows:
                return None
            earlier = verbatim.before(connection, thread, rows[0].position, turns_before, now)
            turns = tuple(
                _turn(row, namespace, confided=_is_confided(connection, found, row)) for row in rows
            )
            owners = {turn.owner for turn in turns}
            batch = Batch(
                namespace=namespace,
                thread_id=name,
                turns=turns,
                read_at=history.newest(connection),
                before=tuple(
                    turn
                    for turn in (_turn(row, namespace) for row in earlier)
                    if turn.privacy != "private" or turn.owner in owners
                ),
            )
            while _was_read(connection, batch):
                batch = replace(batch, again=batch.again + 1)
            return batch

    def knowledge(self, namespace: Namespace) -> StoreKnowledge:
        """Return knowledge of a namespace, for planning changes to it: `ports.facts.Knowledge`.

        For ``with``, in a worker thread; everything is read on one snapshot. Texts that are to be
        compared by meaning are best given to ``prepare`` first, to be embedded in one call.
        """
        return self._core.knowledge(check_namespace(namespace))


def _was_read(connection: Connection, batch: Batch) -> bool:
    """Return whether a run read just these turns: it was let go, or they say something else since."""
    ids = (batch.run_id, runs.AGAIN + batch.run_id)
    return any(runs.find(connection, one) is not None for one in ids)


def _fitting(rows: Iterable[TurnRow], batch_tokens: int) -> list[TurnRow]:
    """Return turns in a row as far as they fit. What is read again for its new words is not read as
    if what comes much later in the thread had been said next."""
    taken: list[TurnRow] = []
    tokens = 0
    for row in rows:
        tokens += count_text(_text(row.value))
        if taken and tokens > batch_tokens:
            break
        if taken and taken[-1].read_before and row.position > taken[-1].position + 1:
            break
        taken.append(row)
    return taken


def _turn(row: TurnRow, namespace: Namespace, *, confided: bool = False) -> Turn:
    role = str(row.value.get("role") or "user")
    speaker = row.speaker or role
    return Turn(
        key=row.key,
        text=_text(row.value),
        role=role,
        # Files of earlier versions call everybody without a name the user.
        speaker=speaker_of(role, row.owner, namespace) if speaker == role else speaker,
        said_at=_said_at(row),
        owner=row.owner,
        privacy=cast("Privacy", row.privacy),
        confided=confided,
    )


def _is_confided(connection: Connection, namespace: int, row: TurnRow) -> bool:
    """Return whether a turn is private by rule for what it says, and nobody asked for it."""
    reason = row.privacy == "private" and history.newest_reason(connection, namespace, row.key)
    return reason in CONFIDED


def _text(value: dict[str, Any]) -> str:
    content = value.get("content")
    return content if isinstance(content, str) else readable_text(value)


def _said_at(row: TurnRow) -> datetime:
    """Return when it was said, in the timezone of then if the turn still tells the same moment."""
    moment = from_us(row.valid_at_us)
    try:
        told = datetime.fromisoformat(str(row.value.get("at")))
    except ValueError:
        return moment
    return told if told.tzinfo is not None and told == moment else moment
