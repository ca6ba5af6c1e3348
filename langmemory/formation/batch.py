"""What one reflection reads: turns of one thread that no run has read before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from langmemory.ports.facts import digest
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
    tokens: int | None = None
    """So many are meant to be read in one call: a longer turn is read in parts. None: whole."""
    again: int = 0
    """How often just these turns were read before: the run was let go, or they were edited."""
    read_at: int | None = None
    """`HistoryEntry.seq` of the newest change there was; None does not check whether a turn was
    edited since."""

    @property
    def run_id(self) -> str:
        """``reflect/<16 hex>`` of namespace, thread, turns and `again`: the same batch is the same
        run."""
        parts = [*self.namespace, "", self.thread_id, *(turn.key for turn in self.turns)]
        return f"reflect/{digest(*parts, *([str(self.again)] if self.again else []))}"

    def turn(self, key: str) -> Turn | None:
        """The turn of this key, among those to be read."""
        return next((turn for turn in self.turns if turn.key == key), None)
