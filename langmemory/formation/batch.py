"""What one reflection reads: turns of one thread that no run has read before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from langmemory.types import Namespace, Privacy


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One remembered message."""

    key: str
    text: str
    role: str
    """``user``, ``assistant`` or another; what an assistant says about a person is no evidence."""
    speaker: str
    said_at: datetime
    """Timezone-aware, in the speaker's timezone where the message told it, else UTC."""
    owner: str | None = None
    privacy: Privacy = "shared"


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Turns that fit into one model call."""

    namespace: Namespace
    thread_id: str
    turns: tuple[Turn, ...]
    """In the order they were said."""
    before: tuple[Turn, ...] = ()
    """A few turns before them, read by an earlier run: for understanding, not for facts."""

    def turn(self, key: str) -> Turn | None:
        """The turn of this key, among those to be read."""
        return next((turn for turn in self.turns if turn.key == key), None)
