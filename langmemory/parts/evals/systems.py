"""The Protocol of evaluated systems, and LangGraph's own stores behind it; `ours` has langmemory.

Every system stores texts under opaque keys and keeps the way back to turn ids in a `TurnKeys`
outside of the store, so no id of the data set can be found by searching for it.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore

from langmemory.parts.evals.corpus import Conversation, Question, Turn
from langmemory.types import Namespace


class SystemUnavailableError(Exception):
    """A system cannot run here; the message is the reason the table shows."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result of a search."""

    turns: tuple[str, ...]
    """Ids of what it says: the turn, or the turns a fact rests on."""
    text: str
    """The text of the result, with the speaker where it was said by one."""
    score: float | None = None
    """How sure the system says it is; None where it does not say."""


@dataclass(frozen=True, slots=True)
class Block:
    """The memory block of a prompt."""

    entries: tuple[tuple[str, ...], ...]
    """Ids of the turns that each memory in it speaks of."""
    tokens: int


class System(Protocol):
    """Something that can be given conversations and asked questions."""

    def ingest(self, conversation: Conversation) -> None:
        """Store a conversation, in order."""

    def search(self, question: Question, k: int) -> list[SearchHit]:
        """At most `k` results of the question's conversation, best first."""

    def close(self) -> None:
        """Give back what it holds."""


@runtime_checkable
class BlockSystem(Protocol):
    """A system that also makes the block of memories an agent's prompt would have."""

    @property
    def makes_blocks(self) -> bool:
        """Whether it does in this configuration."""

    def search(self, question: Question, k: int) -> list[SearchHit]: ...

    def block(self, question: Question) -> Block:
        """The block of the question's conversation for a prompt with this text."""


BATCH = 500
"""Items put at once: SqliteStore writes a batch as one statement, whose variables are limited."""

SystemFactory = Callable[[], System]
"""Opens a fresh, empty system; raises SystemUnavailableError where it cannot run."""


class TurnKeys:
    """Opaque keys and namespaces instead of the data set's ids, and the way back."""

    def __init__(self) -> None:
        self._turns: dict[tuple[Namespace, str], str] = {}
        self._namespaces: dict[str, Namespace] = {}

    def namespace(self, conversation: str) -> Namespace:
        """One namespace per conversation, numbered by arrival."""
        number = len(self._namespaces)
        return self._namespaces.setdefault(conversation, ("evaluation", f"conversation{number}"))

    def new(self, namespace: Namespace, turn: Turn) -> str:
        """A key for a turn that is stored with `put`."""
        key = f"item{len(self._turns)}"
        self.bind(namespace, key, turn)
        return key

    def bind(self, namespace: Namespace, key: str, turn: Turn) -> None:
        """Remember which turn the store keeps under its own key."""
        self._turns[namespace, key] = turn.id

    def found(
        self, namespace: Namespace, keys: Sequence[str], text: str, score: float | None = None
    ) -> SearchHit:
        """A result that says what the turns under these keys say."""
        return SearchHit(self.turns(namespace, keys), text, score)

    def turns(self, namespace: Namespace, keys: Sequence[str]) -> tuple[str, ...]:
        """Ids of the turns that are stored under these keys."""
        return tuple(self._turns[namespace, key] for key in keys)


class StoreSystem:
    """Any `BaseStore`, through its own `put` and `search`, one item a turn: "Speaker: text"."""

    def __init__(self, store: BaseStore, resources: ExitStack | None = None) -> None:
        self._store = store
        self._resources = resources or ExitStack()
        self._keys = TurnKeys()

    def ingest(self, conversation: Conversation) -> None:
        namespace = self._keys.namespace(conversation.id)
        puts: dict[str, PutOp] = {}
        for turn in conversation.turns:
            text = with_speaker(turn.speaker, turn.text)
            # LangGraph's InMemoryStore refuses a batch that says the same twice.
            if text in puts or len(puts) == BATCH:
                self._store.batch(puts.values())
                puts.clear()
            puts[text] = PutOp(namespace, self._keys.new(namespace, turn), {"text": text})
        self._store.batch(puts.values())

    def search(self, question: Question, k: int) -> list[SearchHit]:
        namespace = self._keys.namespace(question.conversation)
        items = self._store.search(namespace, query=question.text, limit=k)
        return [self._keys.found(namespace, [item.key], item.value["text"]) for item in items]

    def close(self) -> None:
        self._resources.close()


def with_speaker(speaker: str | None, text: str) -> str:
    """ "Speaker: text"."""
    return f"{speaker}: {text}" if speaker else text


def _index(embeddings: Embeddings) -> Any:
    """Index the same text in both stores: InMemoryStore reads `fields`, SqliteStore `text_fields`
    (langgraph-checkpoint-sqlite 3.1 ignores `fields` and would embed the item's JSON)."""
    dims = len(embeddings.embed_query("dimensions"))
    return {"dims": dims, "embed": embeddings, "fields": ["text"], "text_fields": ["text"]}


def in_memory_store(embeddings: Embeddings) -> StoreSystem:
    """LangGraph's `InMemoryStore`."""
    return StoreSystem(InMemoryStore(index=_index(embeddings)))


def sqlite_store(embeddings: Embeddings) -> StoreSystem:
    """LangGraph's `SqliteStore`, on a file that is thrown away.

    It needs a sqlite3 module that can load extensions: Python's own where it was built so, else
    pysqlite3.
    """
    try:
        from langgraph.store.sqlite import SqliteStore
    except ImportError:
        raise SystemUnavailableError(
            "langgraph-checkpoint-sqlite is not installed (pip install langgraph-checkpoint-sqlite)"
        ) from None
    sqlite = _sqlite_with_extensions()
    resources = ExitStack()
    folder = resources.enter_context(tempfile.TemporaryDirectory(prefix="langmemory-eval-"))
    connection = sqlite.connect(
        Path(folder) / "store.db", check_same_thread=False, isolation_level=None
    )
    resources.callback(connection.close)
    store = SqliteStore(connection, index=_index(embeddings))
    store.setup()
    return StoreSystem(store, resources)


def _sqlite_with_extensions() -> Any:
    """The first sqlite3 module whose connections can load sqlite-vec."""
    for name in ("sqlite3", "pysqlite3"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(module.Connection, "enable_load_extension"):
            return module
    raise SystemUnavailableError(
        "this Python's sqlite3 cannot load extensions and pysqlite3 is not installed "
        "(pip install pysqlite3-binary)"
    )
