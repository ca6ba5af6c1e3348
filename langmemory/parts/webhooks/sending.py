"""Sends the events of a feed to one address, as Standard Webhooks (standardwebhooks.com) has it.

Events go one after the other. One that the receiver did not take is sent again, later and later, and those
behind it wait: nothing is left out, and an event may come twice, with the same ``webhook-id``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Final

import httpx

from langmemory import __version__
from langmemory.errors import ConfigError
from langmemory.operations.events import Feed
from langmemory.remote.connection import Backoff, retry_after
from langmemory.types import FeedEvent, FeedType, Kind, Namespace
from langmemory.wire import to_bytes

logger = logging.getLogger("langmemory.webhooks")

SECRET: Final = "LANGMEMORY_WEBHOOK_SECRET"
PREFIX: Final = "whsec_"
POLL_SECONDS: Final = 0.5
TIMEOUT_SECONDS: Final = 15.0
BACKOFF: Final = Backoff(first_seconds=1.0, longest_seconds=300.0)
GONE: Final = 410
"""With this status a receiver says that it wants no more."""


def secret_of(text: str | None) -> bytes:
    """Return the bytes of a secret as it is written: ``whsec_`` and base64.

    Raises:
        ConfigError: There is none, or it is written otherwise or shorter than 24 bytes.
    """
    hint = f'Make one with: echo "{PREFIX}$(openssl rand -base64 32)"'
    if not text:
        raise ConfigError(f"Set {SECRET} to the secret that signs events. {hint}")
    try:
        secret = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        secret = b""
    if not text.startswith(PREFIX) or len(secret) < 24:
        raise ConfigError(f"{SECRET} is not {PREFIX} and at least 24 bytes in base64. {hint}")
    return secret


def signature(secret: bytes, id: str, timestamp: int, body: bytes) -> str:
    """Return the header ``webhook-signature`` of a message."""
    signed = f"{id}.{timestamp}.".encode() + body
    return f"v1,{base64.b64encode(hmac.digest(secret, signed, 'sha256')).decode()}"


class Webhook:
    """One receiver, and how far it has read."""

    def __init__(
        self,
        address: str,
        secret: bytes,
        state: Path,
        *,
        backoff: Backoff = BACKOFF,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``state`` is the file of the cursor.

        Raises:
            ConfigError: The address is none of HTTP.
        """
        if httpx.URL(address).scheme not in ("http", "https"):
            raise ConfigError(
                f"{address:.80} is no address of HTTP, such as https://example.com/hook."
            )
        self._address, self._secret, self._state = address, secret, state
        self._backoff, self._clock = backoff, clock

    def follow(
        self,
        feed: Feed,
        stop: threading.Event,
        *,
        namespaces: Sequence[Namespace] = ((),),
        types: Sequence[FeedType] | None = None,
        kinds: Sequence[Kind] | None = None,
        until_read: bool = False,
    ) -> None:
        """Send what happens, from where the last call ended, and for the first time from now.

        Args:
            feed: What is sent.
            stop: Ends it when it is set.
            namespaces: As `Feed.read` takes them, and so ``types`` and ``kinds``.
            types: See there.
            kinds: See there.
            until_read: End when everything was sent.

        Raises:
            ConfigError: The receiver answers that it is gone; or the cursor is of another file.
        """
        cursor = self._cursor()
        if cursor is None:
            cursor = self._keep(feed.end())
        with httpx.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False) as client:
            while not stop.is_set():
                if not feed.moved_since(cursor):
                    if until_read:
                        return
                    stop.wait(POLL_SECONDS)
                    continue
                page = feed.read(after=cursor, namespaces=namespaces, types=types, kinds=kinds)
                for event in page.events:
                    if not self._delivered(client, event, stop):
                        return
                    self._keep(event.cursor)
                cursor = self._keep(page.next)

    def _delivered(self, client: httpx.Client, event: FeedEvent, stop: threading.Event) -> bool:
        """Send an event until the receiver takes it; False where it was stopped before."""
        body = to_bytes(event, FeedEvent)
        id = f"msg_{hashlib.sha256(event.cursor.encode()).hexdigest()[:32]}"
        for attempt in count(1):
            failure, asked = self._sent(client, id, body)
            if failure is None:
                return True
            wait = self._backoff.seconds(attempt, asked)
            logger.warning(
                "webhook_failed reason=%s attempt=%d again_in=%.0fs", failure, attempt, wait
            )
            if stop.wait(wait):
                break
        return False

    def _sent(self, client: httpx.Client, id: str, body: bytes) -> tuple[str | None, float | None]:
        """Send a message once; why it failed, and after how many seconds the receiver wants it again."""
        timestamp = int(self._clock())
        headers = {
            "content-type": "application/json", "user-agent": f"langmemory/{__version__}",
            "webhook-id": id, "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(self._secret, id, timestamp, body),
        }  # fmt: skip
        try:
            answer = client.post(self._address, content=body, headers=headers)
        except httpx.HTTPError as error:
            return type(error).__name__, None
        if answer.status_code == GONE:
            raise ConfigError(
                f"{self._address} answers 410: it wants no more events. End this webhook."
            )
        if answer.is_success:
            return None, None
        return f"status {answer.status_code}", retry_after(answer)

    def _cursor(self) -> str | None:
        try:
            return self._state.read_text("utf-8").strip() or None
        except FileNotFoundError:
            return None

    def _keep(self, cursor: str) -> str:
        """Write the cursor down, whole or not at all."""
        partial = self._state.with_name(f"{self._state.name}.part")
        partial.write_text(cursor, "utf-8")
        os.replace(partial, self._state)
        return cursor
