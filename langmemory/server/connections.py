"""Connections: how many there are, how long a client may take to ask, and to read what it asked for.

uvicorn waits for the head of a request as long as it likes to come, takes as much of it as there is, waits
for a reader as long as that sleeps, and beyond its limit refuses everybody. Each of these would let one
client take the server from all others.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from langmemory.server.problems import Problem

if TYPE_CHECKING:
    Base: Any
else:
    Base = object

logger = logging.getLogger("langmemory.server")

CONNECTIONS: Final = 4_096
"""More at a time are answered with 503 and closed: each open event stream is one."""
HEAD_SECONDS: Final = 20.0
"""A client may take so long to send the head of a request; also the first, which it connects for."""
HEAD_BYTES: Final = 64 * 1024
UNREAD_BYTES: Final = 32 * 1024 * 1024
"""Of a body that was refused so much is taken, and thrown away: who still sends cannot read why."""
READER_SECONDS: Final = 30.0
"""Who accepts nothing of an answer for so long is cut off."""


class Bounded(Base):  # type: ignore[misc]
    """Bounds for one connection of a client, whichever of uvicorn's protocols serves it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._head_due: asyncio.TimerHandle | None = None
        self._reader_due: asyncio.TimerHandle | None = None
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            self._refuse(Problem(503, "unavailable", "Too many connections; come back later."))
        else:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""
        super().data_received(data)
        if not self._is_asking():
            self._head_bytes = 0
            if self._head_due is not None:
                self._head_due.cancel()
                self._head_due = None
            return
        self._head_bytes += len(data)
        if self._head_due is None:
            self._await_head()
        refused_body = self.cycle is not None and self.cycle.more_body
        most = UNREAD_BYTES if refused_body else HEAD_BYTES
        if self._head_bytes > most:
            said = f"The head of a request is larger than {HEAD_BYTES:,} bytes."
            self._refuse(Problem(431, "too-large", said))

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        if self._reader_due is None:
            self._reader_due = self.loop.call_later(READER_SECONDS, self._drop)

    def resume_writing(self) -> None:
        """Go on, since the client has read."""
        super().resume_writing()
        self._stop_waiting_for_reader()

    def connection_lost(self, error: Exception | None) -> None:
        """End."""
        super().connection_lost(error)
        self._stop_waiting_for_reader()
        if self._head_due is not None:
            self._head_due.cancel()

    def _is_asking(self) -> bool:
        """Whether no request is being answered, so that what comes is the head of the next; or the rest
        of a body that was refused. After an upgrade a WebSocket has the connection."""
        mine: bool = self.transport.get_protocol() is self and not self.transport.is_closing()
        return mine and (self.cycle is None or self.cycle.response_complete)

    def _await_head(self) -> None:
        late = Problem(408, "too-slow", f"A request came too slowly: {HEAD_SECONDS:g} s.")
        self._head_due = self.loop.call_later(HEAD_SECONDS, self._refuse, late)

    def _refuse(self, problem: Problem) -> None:
        self._head_due = None
        if self._is_asking():
            if self._head_bytes or problem.status == 503:  # else nobody has asked
                self.transport.write(_raw(problem))
            self.transport.close()

    def _drop(self) -> None:
        logger.warning("reader_dropped reason=slow")
        self.transport.abort()

    def _stop_waiting_for_reader(self) -> None:
        if self._reader_due is not None:
            self._reader_due.cancel()
            self._reader_due = None


class BoundedConnection(Bounded, AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection as the server has it: of httptools, where that is installed."""


def _raw(problem: Problem) -> bytes:
    """Return an answer as it is sent, where there is no request to answer."""
    answer = problem.response()
    title = json.loads(bytes(answer.body))["title"]
    names = [*answer.raw_headers, (b"connection", b"close")]
    head = b"".join(b"%s: %s\r\n" % one for one in names)
    return b"HTTP/1.1 %d %s\r\n%s\r\n%s" % (problem.status, title.encode(), head, answer.body)
