"""`store.prompts`: what models were given of memory, when, and what it cost."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from langmemory.arguments import whole_number
from langmemory.declaring import operation, room
from langmemory.declaring.fields import Most, Number, Positive, Text
from langmemory.ledger import namespaces
from langmemory.ledger.connection import Connection
from langmemory.ledger.values import from_us
from langmemory.lifecycle.retention import DAY_US
from langmemory.namespaces import check_namespace
from langmemory.operations.core import Core
from langmemory.redaction import redact_and_log
from langmemory.steps import twin
from langmemory.types import Namespace

Milliseconds = Annotated[float, Field(ge=0, le=86_400_000, allow_inf_nan=False)]
EVERY_US: Final = 5_000_000
"""So long after the last time the next prompts are written, however few they are."""
KEEP_US: Final = 30 * DAY_US
"""How far the log goes back."""
AT_ONCE: Final = 64
"""Prompts from which it is time to write."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A memory block that a model was given."""

    seq: int
    """Its place in the log; later ones are higher."""
    at: datetime
    namespace: Namespace
    owner: str | None
    """For whom it was made; None is the application."""
    query: str | None
    """None where the log keeps no texts (`recall.prompt_log`)."""
    block: str | None
    """Likewise."""
    memories: int
    """How many stood in it; 0 is a question for which nothing was likely enough."""
    tokens: int
    milliseconds: float
    """From the question to the block."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptDay:
    """The prompts of one day, in UTC."""

    day: str
    prompts: int
    tokens: int
    median_milliseconds: float
    slowest_milliseconds: float


class _Row(NamedTuple):
    at: int
    path: Namespace
    owner: str | None
    query: str | None
    block: str | None
    memories: int
    tokens: int
    milliseconds: float


class PromptLog:
    """Prompts on their way into the file: kept in memory and written in batches, off the hot path. A crash
    loses some. Thread-safe."""

    def __init__(self, passed: None = None) -> None:
        """An application passes nothing: the configuration says what is kept."""
        self._lock = threading.Lock()
        self._rows: list[_Row] = []
        self._due_at = 0

    def note(self, row: _Row) -> bool:
        """Take a prompt; whether it is time to write."""
        with self._lock:
            self._rows.append(row)
            return len(self._rows) >= AT_ONCE or row.at >= self._due_at

    @property
    def pending(self) -> bool:
        """Whether something is to be written."""
        return bool(self._rows)

    def write(self, connection: Connection) -> None:
        """Write what was noted, and drop what is older than the log goes back."""
        with self._lock:
            rows, self._rows = self._rows, []
            self._due_at = max((one.at for one in rows), default=0) + EVERY_US
        connection.executemany(
            "INSERT INTO prompt (at, namespace, owner, query, block, memories, tokens, milliseconds) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(one.at, namespaces.intern(connection, one.path), *one[2:]) for one in rows],
        )
        if rows:
            connection.execute("DELETE FROM prompt WHERE at < ?", (rows[-1].at - KEEP_US,))


@room("prompts", tag="Prompts")
class Prompts:
    """What models were given of memory: when, how much, how fast, and, where `recall.prompt_log` is
    ``"texts"``, in which words."""

    __slots__ = ("_core", "_viewer")

    def __init__(self, core: Core, viewer: str | None) -> None:
        """``viewer`` None is the application, which sees the prompts of all."""
        self._core, self._viewer = core, viewer

    @operation("write", "POST /prompts")
    def note(
        self,
        namespace: Namespace,
        query: Text,
        block: Text,
        *,
        memories: Number,
        tokens: Number,
        milliseconds: Milliseconds,
    ) -> None:
        """Note that a model was given a memory block. `RecallNode` and `POST /context/inject` do it by
        themselves. Returns at once; the file learns of it some seconds later.

        Args:
            namespace: Exactly the one that was asked.
            query: What was asked.
            block: What the model was given of memory; empty is nothing.
            memories: How many memories stood in it.
            tokens: How long it was.
            milliseconds: How long it took to make.
        """
        place, settings = check_namespace(namespace), self._core.config.recall
        if settings.prompt_log == "off" or self._core.engine.reads_only:
            return
        texts: tuple[str | None, str | None] = None, None
        if settings.prompt_log == "texts":
            redactor = self._core.redactor
            texts = redact_and_log(query, redactor), redact_and_log(block, redactor)
        row = _Row(
            self._core.now_us(), place, self._viewer or None, *texts, memories, tokens, milliseconds
        )
        if self._log.note(row):
            self._core.write_later(self._log.write)

    @operation("read", "GET /prompts")
    def list(
        self, namespace: Namespace = (), *, limit: Most = 50, before: Positive | None = None
    ) -> tuple[Prompt, ...]:
        """Return what models were given, the newest first; of a viewer what was made for them.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            limit: At most so many.
            before: Only prompts with a lower `Prompt.seq`: the next page.
        """
        earlier = "" if before is None else "AND p.seq < ? "
        rows = self._rows(
            namespace,
            "p.seq, p.at, n.path, p.owner, p.query, p.block, p.memories, p.tokens, p.milliseconds",
            f"{earlier}ORDER BY p.seq DESC LIMIT ?",
            *(() if before is None else (before,)),
            whole_number("limit", limit, least=1),
        )
        return tuple(
            Prompt(
                seq=row[0], at=from_us(row[1]), namespace=namespaces.from_path(row[2]), owner=row[3],
                query=row[4], block=row[5], memories=row[6], tokens=row[7], milliseconds=row[8],
            )
            for row in rows
        )  # fmt: skip

    alist = twin(list)

    @operation("read", "GET /prompts/days")
    def days(self, namespace: Namespace = (), *, limit: Most = 30) -> tuple[PromptDay, ...]:
        """Return how many prompts each day had, their tokens and how long they took; the oldest day first.

        Args:
            namespace: Prefix by whole labels; ``()`` is the whole store.
            limit: At most so many of the latest days; those without a prompt are left out.
        """
        day = f"p.at / {DAY_US}"
        rows = self._rows(
            namespace, f"{day}, p.milliseconds, p.tokens", f"AND {day} > ? ORDER BY 1, 2",
            self._core.now_us() // DAY_US - whole_number("limit", limit, least=1),
        )  # fmt: skip
        found = []
        for number, of_day in groupby(rows, key=lambda row: row[0]):
            prompts = [*of_day]
            found.append(
                PromptDay(
                    day=from_us(number * DAY_US).date().isoformat(),
                    prompts=len(prompts),
                    tokens=sum(one[2] for one in prompts),
                    median_milliseconds=prompts[len(prompts) // 2][1],
                    slowest_milliseconds=prompts[-1][1],
                )
            )
        return tuple(found)

    adays = twin(days)

    @property
    def _log(self) -> PromptLog:
        log: PromptLog = self._core.option("prompt_log")
        return log

    def _rows(self, namespace: Namespace, columns: str, rest: str, *bindings: Any) -> Any:
        """Return columns of the prompts of a namespace that the viewer may know of."""
        prefix = check_namespace(namespace, may_be_empty=True)
        if self._log.pending:
            with self._core.engine.write() as connection:
                self._log.write(connection)
        where, labels = namespaces.inside("p.namespace", prefix)
        if self._viewer is not None:
            where, labels = f"{where} AND p.owner = ?", (*labels, self._viewer)
        with self._core.engine.read() as snapshot:
            return snapshot.connection.execute(
                f"SELECT {columns} FROM prompt p JOIN namespace n ON n.id = p.namespace "
                f"WHERE {where} {rest}",
                (*labels, *bindings),
            ).fetchall()
