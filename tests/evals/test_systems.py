from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langgraph.store.memory import InMemoryStore

from langmemory.parts.evals import SAMPLE, Question, SystemUnavailableError, evaluate, load
from langmemory.parts.evals.corpus import Conversation, CorpusKind, Session, Turn
from langmemory.parts.evals.ours import MemorySystem
from langmemory.parts.evals.systems import SearchHit, StoreSystem, in_memory_store, sqlite_store


class Letters(Embeddings):
    """Counts letters, and remembers every text it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [[text.lower().count(letter) + 0.01 for letter in "aeiounst"] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def _turns(found: list[SearchHit]) -> list[str]:
    return [turn for one in found for turn in one.turns]


def _ids() -> set[str]:
    """Every id the sample uses, for turns and conversations."""
    conversations = load(SAMPLE).conversations
    return {turn.id for c in conversations for turn in c.turns} | {c.id for c in conversations}


@pytest.mark.parametrize("open_system", [in_memory_store, sqlite_store])
def test_langgraph_stores_answer_with_turn_ids_they_have_never_seen(
    open_system: Callable[[Embeddings], StoreSystem],
) -> None:
    """Embedded texts and stored keys, values and namespaces contain no id of the data set."""
    embeddings = Letters()
    try:
        system = open_system(embeddings)
    except SystemUnavailableError as reason:
        pytest.skip(str(reason))
    corpus = load(SAMPLE)
    for conversation in corpus.conversations:
        system.ingest(conversation)
    embedded = list(embeddings.texts)
    found = system.search(corpus.questions[0], 20)
    stored = system._store.search((), limit=1000)
    system.close()
    assert sorted(_turns(found)) == sorted(turn.id for turn in corpus.conversations[0].turns)
    assert len(stored) == sum(len(c.turns) for c in corpus.conversations)
    words = " ".join(
        [*embedded, *(json.dumps([item.namespace, item.key, item.value]) for item in stored)]
    )
    assert not {id for id in _ids() if re.search(rf"\b{id}\b", words)}


@pytest.mark.parametrize("kind", ["dialogue", "documents"])
def test_langmemory_answers_with_turn_ids_it_has_never_seen(kind: CorpusKind) -> None:
    """Embedded, stored and keyword-indexed texts contain no id of the data set."""
    embeddings = Letters()
    system = MemorySystem(kind=kind, embed=embeddings)
    corpus = load(SAMPLE)
    for conversation in corpus.conversations:
        system.ingest(conversation)
    stored = json.dumps(list(system._store.admin.export()))
    words = " ".join([*embeddings.texts, stored])
    assert not {id for id in _ids() if re.search(rf"\b{id}\b", words)}
    assert set(_turns(system.search(corpus.questions[0], 20))) <= {
        turn.id for turn in corpus.conversations[0].turns
    }
    system.close()
    keywords = MemorySystem(kind=kind, mode="keyword")
    for conversation in corpus.conversations:
        keywords.ingest(conversation)
    asked = Question(id="", conversation="garden", text="a3 garden", category="", evidence={})
    assert keywords.search(asked, 20) == []
    keywords.close()


def test_a_question_is_asked_after_the_last_session_wherever_it_stands_in_the_file() -> None:
    """ "Last week" is counted from the day after the latest session, not the last one of the file."""
    days = {"later": datetime(2025, 3, 9, tzinfo=UTC), "earlier": datetime(2024, 1, 1, tzinfo=UTC)}
    sessions = tuple(
        Session(id=id, at=at, turns=(Turn(id=id, text=f"We flew kites, {id}."),))
        for id, at in days.items()
    )
    system = MemorySystem(mode="keyword")
    system.ingest(Conversation(id="x", sessions=sessions))
    asked = Question(
        id="", conversation="x", text="What did we fly last week?", category="", evidence={}
    )
    assert _turns(system.search(asked, 2))[0] == "later"
    assert system._now["x"] == datetime(2025, 3, 10, tzinfo=UTC)
    system.close()


def test_a_turn_that_is_not_remembered_does_not_stop_an_evaluation() -> None:
    """A turn without words, or one that is a whole memory block, is there to be asked for and is not
    found; those around it are."""
    texts = {"a": " ", "b": "<recalled_memories>\n[R:1a2b3c4d] kites\n</recalled_memories>"}
    texts["c"] = "Kites fly."
    turns = tuple(Turn(id=id, text=text, speaker="Ada") for id, text in texts.items())
    conversation = Conversation(id="x", sessions=(Session(id="s", turns=turns),))
    system = MemorySystem()
    system.ingest(conversation)
    asked = Question(id="", conversation="x", text="kites", category="", evidence={"c": 1.0})
    assert _turns(system.search(asked, 20)) == ["c"]
    system.close()


def test_both_langgraph_stores_index_the_same_text_and_so_agree() -> None:
    """With one embedder their rankings differ at most in ties: the comparison is a fair one."""
    corpus = load(SAMPLE)
    report = evaluate(
        corpus,
        {
            "InMemoryStore": lambda: in_memory_store(Letters()),
            "SqliteStore": lambda: sqlite_store(Letters()),
        },
    )
    if report.systems[1].unavailable:
        pytest.skip(report.systems[1].unavailable)
    memory, sqlite = (system.group().metrics["recall@5"] for system in report.systems)
    assert memory == sqlite


def test_what_is_said_twice_does_not_stop_an_evaluation() -> None:
    """LangGraph's InMemoryStore refuses a batch with the same text twice; it is given two."""
    turns = tuple(Turn(id=str(n), speaker="Ada", text=text) for n, text in enumerate("aab"))
    system = in_memory_store(Letters())
    conversation = Conversation(id="c", sessions=(Session(id="s", at=None, turns=turns),))
    system.ingest(conversation)
    question = Question(id="q", conversation="c", text="a", category="", evidence=("0", "1"))
    assert sorted(_turns(system.search(question, 3))) == ["0", "1", "2"]
    system.close()


def test_sqlite_store_says_why_it_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without extension loading and pysqlite3 the reason names both, and the way out."""

    class Connection:
        """As many Pythons build it: without enable_load_extension."""

    monkeypatch.setattr(sqlite3, "Connection", Connection)
    monkeypatch.setitem(sys.modules, "pysqlite3", None)
    with pytest.raises(SystemUnavailableError, match="pip install pysqlite3-binary"):
        sqlite_store(Letters())


def test_search_stays_in_the_conversation_that_was_asked() -> None:
    """Conversations share one store and never answer for each other."""
    system = StoreSystem(InMemoryStore(index=_index(Letters())))
    corpus = load(SAMPLE)
    for conversation in corpus.conversations:
        system.ingest(conversation)
    office = {turn.id for turn in corpus.conversations[1].turns}
    question = next(q for q in corpus.questions if q.conversation == "office")
    assert set(_turns(system.search(question, 100))) == office


def _index(embeddings: Embeddings) -> Any:
    return {"dims": 8, "embed": embeddings, "fields": ["text"]}
