"""Replay: a request that is sent again with its Idempotency-Key gets the answer of the first.

As draft-ietf-httpapi-idempotency-key-header has it: 409 while the first is under way, 422 where another
request has the key. Answers are kept in memory alone, so that nothing a person has forgotten stays in a
table of answers. After a restart operations are safe to repeat by what they are: a message is known by its
id, a memory that is added by its key, which is derived from the Idempotency-Key.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

from starlette.responses import Response

from langmemory.server.problems import Problem

KEPT: Final = 10_000
"""Answers that are kept."""
KEPT_BYTES: Final = 32 * 1024 * 1024
KEPT_SECONDS: Final = 24 * 3_600
LONGEST_KEY: Final = 255


@dataclass(kw_only=True, slots=True)
class _Request:
    digest: bytes
    at: float
    response: Response | None = None
    """None while it is under way."""


class Replays:
    """The answers to requests with an Idempotency-Key. One event loop uses it."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[tuple[str, str], _Request] = OrderedDict()
        self._bytes = 0

    def begin(self, sender: str, key: str, request: bytes) -> Response | None:
        """Return the answer that a request had before; None where it is new, and is under way from now
        on until `end` or `fail`.

        Raises:
            Problem: The first is under way, or the key belongs to another request.
        """
        if not key or len(key) > LONGEST_KEY or not key.isprintable():
            raise Problem("malformed", f"Idempotency-Key is to be 1 to {LONGEST_KEY} characters.")
        self._tidy()
        digest = hashlib.sha256(request).digest()
        found = self._known.get((sender, key))
        if found is None:
            self._known[sender, key] = _Request(digest=digest, at=self._clock())
            return None
        if found.digest != digest:
            raise Problem(
                "key-reused", "This Idempotency-Key belongs to another request; take a new one."
            )
        if found.response is None:
            raise Problem(
                "under-way",
                "The first request with this Idempotency-Key is under way; ask again later.",
                headers={"Retry-After": "1"},
            )
        return found.response

    def end(self, sender: str, key: str, response: Response) -> None:
        """Keep an answer."""
        if (found := self._known.get((sender, key))) is not None:
            found.response = response
            self._bytes += len(response.body)

    def fail(self, sender: str, key: str) -> None:
        """Forget a request that came to nothing: the next one is the first."""
        self._known.pop((sender, key), None)

    def clear(self) -> None:
        """Forget all answers, which may quote what is forgotten now."""
        for place in [place for place, one in self._known.items() if one.response is not None]:
            del self._known[place]
        self._bytes = 0

    def _tidy(self) -> None:
        oldest = self._clock() - KEPT_SECONDS
        while self._known:
            place, first = next(iter(self._known.items()))
            full = len(self._known) > KEPT or self._bytes > KEPT_BYTES
            if first.at > oldest and not full:
                return
            del self._known[place]
            self._bytes -= 0 if first.response is None else len(first.response.body)


def derived_key(sender: str, idempotency_key: str | None, fresh: str) -> str:
    """Return the key of a memory that is added: the same for a request that is sent again."""
    if idempotency_key is None:
        return fresh
    return hashlib.sha256(f"{sender}\0{idempotency_key}".encode()).hexdigest()[:32]
