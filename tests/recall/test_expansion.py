"""Expansion, sessions and what a recall tells of itself."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from langmemory.errors import ConfigError
from langmemory.ports.candidates import KeywordQuery, ScoredIds
from langmemory.recall import default_vocabulary
from langmemory.recall.models import Expander, UnusableAnswerError, chat_model_expander
from langmemory.stores import MemoryStore
from tests.recall.memory_source import NOW, MemorySource, ask, memory

VOCABULARY = default_vocabulary()
FILLER = [
    memory(n, f"The weather on day {n} was neither good nor bad.", thread_id="f", position=n)
    for n in range(100, 260)
]


def answering(text: str) -> Expander:
    return chat_model_expander(GenericFakeChatModel(messages=iter([AIMessage(text)])))


def test_a_model_expands_what_found_little() -> None:
    """On low signal the first three queries of a model find the memory; the trace names them."""
    source = MemorySource([memory(1, "Franklin eats lettuce under the heat lamp."), *FILLER])
    query = "Tell of the reptile at Ben's"
    model = answering("<think>hm</think>\n1. lettuce lamp\n- tortoise care\n\nheat\nfourth line")
    recall = ask(source, query, vector=None, expander=model, explain=True)
    assert recall.results[0].memory.id == 1
    assert recall.trace.expansions == ("lettuce lamp", "tortoise care", "heat")
    assert recall.trace.degraded == ()


def test_a_model_is_not_asked_where_the_words_were_found() -> None:
    """A query that one memory meets whole costs no model call; an empty one neither."""

    def never(query: str) -> list[str]:
        raise AssertionError(query)

    source = MemorySource([memory(1, "Franklin eats lettuce."), *FILLER])
    assert ask(source, "What lettuce eats Franklin?", expander=never).results[0].memory.id == 1
    ask(source, "?!", expander=never)


def test_a_failing_expander_changes_nothing() -> None:
    """Unreachable, empty or raising: the order before it stands and the trace says so."""
    source = MemorySource([memory(1, "Franklin eats lettuce."), *FILLER])
    query = "reptile upbringing"
    before = [result.memory.id for result in ask(source, query).results]

    def unreachable(query: str) -> list[str]:
        raise UnusableAnswerError("ConnectionError: no route")

    def broken(query: str) -> list[str]:
        raise KeyError(query)

    wrong: tuple[Any, ...] = (broken, lambda query: None, lambda query: [1])
    for expander in (unreachable, answering("<think>only thoughts"), answering(""), *wrong):
        recall = ask(source, query, expander=expander)
        assert [result.memory.id for result in recall.results] == before
        assert "expander failed" in recall.trace.degraded[0]


def test_sessions_are_represented_by_their_best_turn() -> None:
    """One result a session, the turn that fits best; another day of a thread is another session,
    and what has no thread stands for itself."""
    day = timedelta(days=1)
    said = [
        memory(1, "My tortoise is Franklin.", thread_id="a", position=0, valid_at=NOW),
        memory(2, "The tortoise eats.", thread_id="a", position=1, valid_at=NOW),
        memory(3, "My tortoise is Franklin.", thread_id="a", position=2, valid_at=NOW + day),
        memory(4, "A tortoise lives long.", thread_id="b", position=0, valid_at=NOW),
        memory(5, "tortoise"),
        memory(6, "A tortoise is slow."),
    ]
    source = MemorySource(said)
    recall = ask(source, "Franklin the tortoise", limit=10, granularity="session", explain=True)
    assert {result.memory.id for result in recall.results} == {1, 3, 4, 5, 6}
    scores = [result.score for result in recall.results]
    assert scores == sorted(scores, reverse=True)
    assert recall.trace.removed == {}


def test_every_move_is_told_by_its_stage() -> None:
    """Importance, deduplication and a reranker each leave a line at the results they moved."""
    source = MemorySource(
        [
            memory(1, "The cat sleeps upstairs.", importance=0.0),
            memory(2, "The cat sleeps upstairs!", speaker="Ana", importance=1.0),
            memory(3, "the cat sleeps upstairs."),
            memory(4, "A dog."),
        ]
    )
    recall = ask(
        source,
        "Where does the cat sleep?",
        reranker=lambda query, results: [len(results) - 1],
        explain=True,
    )
    moves = {
        result.memory.id: result.explanation.moves
        for result in recall.results
        if result.explanation
    }
    told = {move.split(":")[0] for lines in moves.values() for move in lines}
    assert {"scoring", "dedupe", "rerank"} <= told
    assert moves[4][-1].endswith("-> 1")


def test_evidence_is_taken_from_the_value() -> None:
    """The evidence of a memory is reported, from a list or a single key."""
    source = MemorySource(
        [
            memory(1, "Ana likes tea.", value={"text": "", "evidence": ["m1", "m2"]}),
            memory(2, "Ana likes coffee.", value={"text": "", "message_ids": "m3"}),
            memory(3, "Ana likes milk.", value={"text": "", "evidence": {"odd": 1}}),
        ]
    )
    recall = ask(source, "Ana likes", explain=True)
    evidence = {r.memory.id: r.explanation.evidence for r in recall.results if r.explanation}
    assert evidence == {1: ("m1", "m2"), 2: ("m3",), 3: ()}


class Wordless(MemorySource):
    """A source whose keyword index must not be asked."""

    def keyword(self, query: KeywordQuery, limit: int) -> ScoredIds:
        raise AssertionError(query)


def test_semantic_mode_asks_no_keywords() -> None:
    """With a vector, `semantic` finds by it alone; without one, words are all there is."""
    said = [memory(1, "We flew to Portugal."), *FILLER]
    recall = ask(Wordless(said), "Which countries?", mode="semantic", explain=True)
    assert set(recall.trace.candidates) == {"dense", "ranked", "results"}
    fallback = ask(MemorySource(said), "Portugal", mode="semantic", vector=None)
    assert fallback.results[0].memory.id == 1


async def test_a_store_passes_its_expander_and_granularity_on() -> None:
    """Options of `MemoryStore` reach recall, sync and async; an unknown granularity is refused."""
    with MemoryStore(":memory:", index=False, expander=lambda query: ["lettuce"]) as store:
        for thread in ("a", "b"):
            said = [("user", f"Franklin eats lettuce in {thread}."), ("user", "He likes lettuce.")]
            store.remember(("ana",), said, thread_id=thread)
        found = store.recall("reptile diet", ("ana",), granularity="session", explain=True)
        assert {result.memory.thread_id for result in found.results} == {"a", "b"}
        assert len(found.results) == 2
        assert found.trace.expansions == ("lettuce",)
        again = await store.arecall("reptile diet", ("ana",), granularity="session")
        assert [r.memory.id for r in again.results] == [r.memory.id for r in found.results]
        with pytest.raises(ConfigError, match="granularity is 'day'; pass"):
            store.recall("x", ("ana",), granularity="day")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"limit": "3"}, "limit is '3'"),
        ({"kinds": "semantic"}, "list of strings"),
        ({"kinds": ["facts"]}, "'facts'; allowed are"),
        ({"exclude": "key"}, "list of strings"),
        ({"exclude": ["key", 7]}, "exclude holds 7; keys are strings"),
        ({"since": "2023-05-03"}, "must be a datetime"),
    ],
)
def test_wrong_options_of_a_recall_are_named(options: Any, complaint: str) -> None:
    """A wrong option is a ConfigError that says what it must be, not an error of SQLite's."""
    with MemoryStore(":memory:") as store, pytest.raises(ConfigError, match=complaint):
        store.recall("cats", ("n",), **options)


def test_no_kinds_find_nothing_and_a_now_without_timezone_is_utc() -> None:
    """An empty choice of kinds is no error, nor is a naive now with a date in the query."""
    with MemoryStore(":memory:") as store:
        store.put(("n",), "k", {"text": "Ada likes cats."})
        assert not store.recall("cats last spring", ("n",), kinds=[]).results
        now = datetime(2030, 1, 1)
        assert store.recall("cats since May 2020, or last spring", ("n",), now=now).results


def test_a_thread_is_given_the_same_key_of_another_namespace() -> None:
    """Memories shown to a thread are tracked by namespace: Bob's profile is not Ada's."""
    with MemoryStore(":memory:") as store:
        for name in ("ada", "bob"):
            store.put(("u", name), "profile", {"text": f"{name} likes cats."})
        for name in ("ada", "bob"):
            assert len(store.recall("cats", ("u", name), thread_id="t")) == 1
        assert len(store.recall("cats", ("u",), thread_id="t")) == 0


def test_somebody_called_like_a_stop_word_is_asked_for_by_name() -> None:
    """ "Will" within a question is a person; at its beginning, or in "Don't", it is a word."""
    talk = [("Ann", "I adore pizza with olives."), ("Will", "I adore sushi.")]
    with MemoryStore(":memory:") as store:
        messages = [{"role": "user", "name": name, "content": text} for name, text in talk]
        store.remember(("n",), messages, thread_id="t")
        found = store.recall("What food does Will adore?", ("n",), explain=True)
        assert found.results[0].speaker == "Will"
        for query in ("Will Ann adore this?", "Why I Don't adore it"):
            terms = store.recall(query, ("n",), explain=True).trace.intent["terms"]
            assert not {"will", "don"} & set(terms)


@pytest.mark.parametrize(
    "query", ["What does Zoe adore in a cafe?", "What does Zoë adore in a café?"]
)
def test_a_speaker_is_named_with_or_without_accents(query: str) -> None:
    """Who is meant, and which words matched, does not hang on a keyboard."""
    with MemoryStore(":memory:") as store:
        talk = [("Ann", "I adore tea in a cafe."), ("Zoë", "I adore cocoa in a café.")]
        messages = [{"role": "user", "name": name, "content": text} for name, text in talk]
        store.remember(("n",), messages, thread_id="t")
        best = store.recall(query, ("n",), explain=True).results[0]
        assert best.speaker == "Zoë"
        assert best.explanation is not None
        assert len(best.explanation.matched_words) == 2
