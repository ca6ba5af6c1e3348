"""The hub: one poller for all who follow the feed, and one reader for all who want the same of it.

Every fifth of a second, and when the database tells of a write, the hub asks whether anything happened. Only
then each channel reads on, once for all its subscribers. A subscriber keeps a place and no events: who is
behind what the channel holds reads from the file, so that a slow reader costs no memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from langmemory.errors import DatabaseError
from langmemory.stores import MemoryStore
from langmemory.stores.face import bound
from langmemory.types import FeedEvent, FeedPage, FeedType, Kind, Namespace

logger = logging.getLogger("langmemory.server")

BATCH: Final = 200
"""Events that are read, and sent, at a time."""
KEPT: Final = 1_000
"""Events of a channel that are held for subscribers that have yet to send them."""
TOKEN_CHECK_POLLS: Final = 25
"""Without any change, tokens are looked at again after so many polls: some of them may have expired."""

Reason = Literal["gone", "slow", "token", "failed", "shutdown"]
"""Why a subscription ended: its reader left or takes too long, its token does not count any more, the file
cannot be read, the server stops."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interest:
    """What a subscriber wants to be told of."""

    viewer: str | None
    namespaces: tuple[Namespace, ...]
    types: tuple[FeedType, ...]
    kinds: tuple[Kind, ...] | None


class Channel:
    """The events of one interest."""

    def __init__(self, store: MemoryStore, interest: Interest, position: str) -> None:
        self._feed = bound(store, interest.viewer).feed
        self._interest = interest
        self.position = position
        """The cursor up to which the file was read."""
        self.recent: deque[FeedEvent] = deque(maxlen=KEPT)
        self.number = 0
        """Of events that were read so far."""
        self.subscriptions: set[Subscription] = set()

    @property
    def first(self) -> int:
        """The number of the oldest event that is held."""
        return self.number - len(self.recent)

    async def read(self, after: str, until: str | None = None) -> FeedPage:
        """Return the next events between two places."""
        wanted = self._interest
        return await self._feed.aread(
            after=after,
            until=until,
            limit=BATCH,
            namespaces=wanted.namespaces,
            types=wanted.types,
            kinds=wanted.kinds,
        )

    async def advance(self) -> None:
        """Read what happened since, and wake the subscribers."""
        more = True
        while more:
            page = await self.read(self.position)
            self.recent.extend(page.events)
            self.number += len(page.events)
            self.position, more = page.next, page.more
            if page.events:
                for one in self.subscriptions:
                    one.woken.set()


class Subscription:
    """One subscriber's place in a channel."""

    def __init__(self, channel: Channel, token: str, after: str | None) -> None:
        """``after`` is the cursor to read on from; None is now."""
        self.channel, self.token = channel, token
        self.cursor = channel.position if after is None else after
        """Everything up to it was given out."""
        self.reason: Reason | None = None
        """Why it ended; None while it runs."""
        self.woken = asyncio.Event()
        """Set when there is something to look at."""
        self._number = channel.number if after is None else -1

    def end(self, reason: Reason) -> None:
        """End it, unless it has ended."""
        if self.reason is None:
            self.reason = reason
            self.woken.set()

    async def batches(self, heartbeat_seconds: float) -> AsyncIterator[Sequence[FeedEvent]]:
        """Yield events as they come, and an empty batch where none came for so long, until it ends."""
        channel = self.channel
        while self.reason is None:
            if self._number < channel.first:
                number, until, more = channel.number, channel.position, True
                while more and self.reason is None:
                    page = await channel.read(self.cursor, until)
                    self.cursor, more = page.next, page.more
                    if page.events:
                        yield page.events
                self._number = number
            elif self._number < channel.number:
                start = self._number - channel.first
                batch = tuple(islice(channel.recent, start, start + BATCH))
                self._number += len(batch)
                self.cursor = batch[-1].cursor
                yield batch
            else:
                self.woken.clear()
                try:
                    async with asyncio.timeout(heartbeat_seconds):
                        await self.woken.wait()
                except TimeoutError:
                    yield ()


class Hub:
    """All who follow the feed of one open store, on one event loop."""

    def __init__(self, store: MemoryStore, *, poll_seconds: float = 0.2) -> None:
        """``poll_seconds`` is how late an event is at most, beside the time to read it."""
        self._store, self._poll_seconds = store, poll_seconds
        self._channels: dict[Interest, Channel] = {}
        self._one_at_a_time = asyncio.Lock()
        self._seen: str | None = None
        self._polls = self._whole = 0
        self._poller: asyncio.Task[None] | None = None
        self._written = asyncio.Event()
        self._closed = False
        self.clock = store.tokens.clock

    @property
    def subscriptions(self) -> list[Subscription]:
        """Return all who follow."""
        return [one for channel in self._channels.values() for one in channel.subscriptions]

    async def subscribe(
        self, interest: Interest, *, token: str, after: str | None = None
    ) -> Subscription:
        """Return a new subscription; `leave` ends it.

        Args:
            interest: What it is told of.
            token: The id of the token it was let in with.
            after: The cursor to read on from; None is now.

        Raises:
            ConfigError: The cursor is none of this file.
        """
        feed = self._store.feed
        if after is not None:
            await asyncio.to_thread(feed.moved_since, after)
        asked_at = self._polls
        async with self._one_at_a_time:
            if self._whole <= asked_at:  # else a poll has begun since: of many, one asks the file
                await self._advance()  # so that no cursor is beyond the position of a channel
            channel = self._channels.get(interest)
            if channel is None:
                channel = Channel(self._store, interest, await feed.aend())
                self._channels[interest] = channel
            subscription = Subscription(channel, token, after)
            channel.subscriptions.add(subscription)
        if self._closed:
            subscription.end("shutdown")
        elif self._poller is None:
            self._poller = asyncio.create_task(self._poll())
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """Forget a subscription, and its channel with the last one."""
        channel = subscription.channel
        channel.subscriptions.discard(subscription)
        self._channels = {
            interest: one for interest, one in self._channels.items() if one.subscriptions
        }
        if not self._channels and self._poller is not None:
            self._poller.cancel()
            self._poller = None

    def close(self, reason: Reason = "shutdown") -> None:
        """End all subscriptions, and every later one at once."""
        self._closed = True
        for one in self.subscriptions:
            one.end(reason)

    async def _poll(self) -> None:
        loop = asyncio.get_running_loop()
        end_listening = self._store.feed.listen(
            lambda: loop.call_soon_threadsafe(self._written.set)
        )
        try:
            await self._poll_on()
        finally:
            end_listening()

    async def _poll_on(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll_seconds):
                    await self._written.wait()
            self._written.clear()
            try:
                async with self._one_at_a_time:
                    await self._advance()
            except DatabaseError as error:  # busy, maybe: the next poll tries again
                logger.warning("feed_unread error=%s", type(error).__name__)
            except Exception as error:
                logger.error("feed_failed error=%s", type(error).__name__)
                for one in self.subscriptions:
                    one.end("failed")
                self._poller = None
                return

    async def _advance(self) -> None:
        """Let all channels read on, if anything happened."""
        feed = self._store.feed
        self._polls += 1
        number = self._polls
        moved = self._seen is None or await asyncio.to_thread(feed.moved_since, self._seen)
        if moved or self._polls % TOKEN_CHECK_POLLS == 0:
            await self._end_refused()
        if moved:
            seen = await feed.aend()
            for channel in list(self._channels.values()):
                await channel.advance()
            self._seen = seen  # not before: where a channel fails, the next poll tries again
        self._whole = number

    async def _end_refused(self) -> None:
        """End the subscriptions of tokens that were revoked or have expired."""
        followed = [one for one in self.subscriptions if one.token != "local"]
        if not followed:
            return
        now = self.clock()
        known = {
            one.id
            for one in await asyncio.to_thread(self._store.tokens.listed)
            if one.expires_at is None or one.expires_at > now
        }
        for one in followed:
            if one.token not in known:
                one.end("token")
