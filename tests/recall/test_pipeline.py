"""The whole pipeline on a real keyword index and the embedded table."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from rich.console import Console

from langmemory.recall import BALANCED, PRESETS, Preset, default_vocabulary, render
from langmemory.recall.explain import matched_words
from langmemory.recall.intent import read_intent
from langmemory.recall.models import chat_model_expander, chat_model_reranker, compressor_reranker
from langmemory.recall.query import read_query
from langmemory.types import Memory
from langmemory.wire import plain
from tests.recall.memory_source import NOW, MemorySource, ask, memory

VOCABULARY = default_vocabulary()
TALK = [
    ("Ana", "Hi Ben! Did you get a pet in the end?"),
    ("Ben", "Yes! A tortoise, his name is Franklin."),
    ("Ana", "How lovely. I signed up for a pottery class yesterday."),
    ("Ben", "I practise the violin every evening."),
    ("Ana", "My sister moved to Lisbon."),
    ("Ben", "Nice. I read a book about sailing ships."),
]


def talk(thread: str = "t1", first: int = 1, **facets: object) -> list[Memory]:
    return [
        memory(
            first + n, text, speaker=speaker, thread_id=thread, position=n, valid_at=NOW, **facets
        )
        for n, (speaker, text) in enumerate(TALK)
    ]


@pytest.fixture(scope="module")
def source() -> MemorySource:
    return MemorySource(talk())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What is the name of Ben's pet?", "Franklin"),
        ("Which instruments does Ben play?", "violin"),
        ("When did Ana start pottery?", "pottery"),
        ("Where did Ana's sister go?", "Lisbon"),
    ],
)
@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_the_answer_comes_first(
    source: MemorySource, query: str, expected: str, preset: Preset
) -> None:
    """Every preset finds the turn that answers, by words, by related words or by what it replies to."""
    assert expected in ask(source, query, preset=preset).results[0].text


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "?!",
        "\0",
        "😀🎉",
        '"',
        "'; DROP TABLE item; --",
        'a" OR body:* NEAR(x) AND NOT ("',
        "ns:n1 OR ns : n2",
        "*",
        "^pet",
        "{body} : x",
        "猫は何ですか",
        "ما اسم السلحفاة",
        "\ud800 broken",
        "tortoise " * 6000,
        "x" * 50_000,
    ],
)
@pytest.mark.parametrize("embedded", [True, False])
def test_no_query_is_an_error(source: MemorySource, query: str, embedded: bool) -> None:
    """Whatever is asked, with or without a vector, there is an answer within the scope."""
    vector = VOCABULARY.embedder.embed_documents([query])[0] if embedded else None
    recall = ask(source, query, vector=vector, explain=True)
    assert all(result.memory.namespace == ("people", "ada") for result in recall.results)
    json.dumps(plain(recall))


def test_long_queries_are_still_answered(source: MemorySource) -> None:
    """A query of 50,000 characters finds what its words name."""
    assert "tortoise" in ask(source, "tortoise " * 6000).results[0].text


def test_without_a_vector_words_still_find(source: MemorySource) -> None:
    """A degraded recall ranks by keywords and says so."""
    recall = ask(source, "tortoise", vector=None, degraded=("embedder failed: keywords only",))
    assert "Franklin" in recall.results[0].text
    assert recall.trace.degraded == ("embedder failed: keywords only",)


def test_without_a_token_table_recall_works() -> None:
    """Memories without token ids are ranked by the other signals."""
    recall = ask(MemorySource(talk()), "tortoise", vocabulary=None)
    assert "Franklin" in recall.results[0].text


def test_an_empty_store_answers_nothing() -> None:
    """No memories, no results, no error, and the recall is still true."""
    recall = ask(MemorySource([]), "anything", explain=True)
    assert len(recall) == 0
    assert recall


def test_nothing_is_said_twice() -> None:
    """Equal texts of one speaker take one place; explain tells which was left out."""
    source = MemorySource([*talk("t1"), *talk("t2", 11)])
    recall = ask(source, "What is the name of Ben's pet?", limit=12, explain=True)
    assert len({result.text for result in recall.results}) == len(recall.results) == len(TALK)
    assert len(recall.trace.removed) == len(TALK)


def test_scores_are_ordered_and_cut(source: MemorySource) -> None:
    """Scores fall, stay in 0..1, and nothing below min_score is returned."""
    scores = [result.score for result in ask(source, "Ben's pet", limit=10).results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1.1 for score in scores)
    cut = ask(source, "Ben's pet", limit=10, min_score=scores[1])
    assert [result.score for result in cut.results] == scores[:2]


def test_a_time_in_the_query_finds_what_was_said_then() -> None:
    """Without a word in common, "last week" finds what was said last week."""
    source = MemorySource(
        [
            memory(1, "The roof leaks.", valid_at=NOW - timedelta(days=8)),
            *(
                memory(n, f"Sunny spell number {n}.", valid_at=NOW - timedelta(days=100 + n))
                for n in range(2, 90)
            ),
        ]
    )
    recall = ask(
        source, "What did we do last week?", preset=BALANCED.model_copy(update={"depth": 5})
    )
    assert recall.results[0].memory.id == 1


def test_importance_breaks_ties_within_bounds() -> None:
    """Of two alike the more important comes first, yet importance never beats relevance."""
    source = MemorySource(
        [
            memory(1, "The cat sleeps upstairs.", speaker="Ana", importance=0.1),
            memory(2, "The cat sleeps upstairs.", speaker="Ben", importance=0.9),
            memory(3, "Taxes are due in March.", speaker="Ben", importance=1.0),
        ]
    )
    assert [r.memory.id for r in ask(source, "Where does the cat sleep?").results] == [2, 1, 3]


def test_superseded_memories_rank_below_their_successors() -> None:
    """Where the scope lets superseded facts through, they come after what holds."""
    source = MemorySource(
        [
            memory(1, "Ana lives in Porto now.", status="superseded"),
            memory(2, "Ana lives in Lisbon now."),
        ]
    )
    assert [r.memory.id for r in ask(source, "Where does Ana live now?").results] == [2, 1]


def test_explanations_are_complete(source: MemorySource) -> None:
    """With explain every result has ranks, what each signal added to its relevance,
    multipliers and words, and the trace its intent, counts and times; JSON and the terminal show
    them."""
    recall = ask(source, "What is the name of Ben's tortoise?", explain=True)
    first = recall.results[0]
    assert first.explanation is not None
    assert first.explanation.ranks["keyword"] == 1
    assert first.parts["keyword"] > 0
    assert first.explanation.multipliers.keys() == {"importance", "confidence"}
    for one in recall.results:
        assert one.explanation is not None
        added = one.explanation.contributions
        assert list(added.values()) == sorted(added.values(), reverse=True)
        assert sum(added.values()) == pytest.approx(one.parts["relevance"], abs=1e-5)
    assert {"ben", "tortoise"} & set(first.explanation.matched_words)
    assert recall.trace.candidates["ranked"] == len(TALK)
    assert recall.trace.intent["asks"] == ["present", "who"]
    assert {"intent", "candidates", "context", "signals", "total"} <= set(recall.trace.milliseconds)
    assert json.loads(json.dumps(plain(recall)))["results"][0]["memory"]["key"] == first.memory.key
    console = Console(record=True, width=200, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(render(recall))
    shown = console.export_text()
    assert "Franklin" in shown
    assert "found by" in shown


@pytest.mark.parametrize(
    ("asked", "text", "words"),
    [
        ("小猫 鱼", "我家的小猫喜欢吃鱼", ("小猫", "鱼")),
        ("犬", "彼は犬が好きです", ("犬",)),
        ("paint", "She painted it", ("paint",)),
        ("鱼", "我家的小猫", ()),
    ],
)
def test_matched_words_stand_in_the_text(asked: str, text: str, words: tuple[str, ...]) -> None:
    """A word of one character, in a script without spaces, is matched within a word of the text."""
    query = read_query(asked, read_intent(asked, NOW))
    assert matched_words(query, text) == words


def test_an_explained_score_adds_up(source: MemorySource) -> None:
    """The rank score is the relevance times the multipliers."""
    preset = BALANCED.model_copy(update={"fact_sources": False})
    for result in ask(source, "What is Ben's pet called?", preset=preset, explain=True).results:
        assert result.explanation is not None
        score = result.parts["relevance"]
        score *= math.prod(result.explanation.multipliers.values())
        assert result.parts["rank"] == pytest.approx(score, rel=1e-4)


def test_explaining_changes_nothing(source: MemorySource) -> None:
    """The same results in the same order with and without explain."""
    plain, told = (ask(source, "Ben's pet", explain=explain) for explain in (False, True))
    assert [r.memory.id for r in plain.results] == [r.memory.id for r in told.results]
    assert plain.results[0].explanation is None


class Backwards(BaseDocumentCompressor):
    """Returns the documents in reverse, or fails, or as new ones."""

    fails: bool = False
    forgets: bool = False

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: object = None
    ) -> Sequence[Document]:
        if self.fails:
            raise ConnectionError("no route")
        if self.forgets:
            return [Document(page_content=one.page_content) for one in documents]
        return list(reversed(documents))


def test_a_reranker_has_the_last_word(source: MemorySource) -> None:
    """A compressor and a chat model reorder; what the model leaves out stays behind."""
    before = [r.memory.id for r in ask(source, "Ben's pet", limit=6).results]
    turned = ask(source, "Ben's pet", limit=6, reranker=compressor_reranker(Backwards()))
    assert [r.memory.id for r in turned.results] == before[::-1]
    answers = [AIMessage("Sure: [3, 1, 99]"), AIMessage("[4, 6]")]  # the other way round
    model = GenericFakeChatModel(messages=iter(answers))
    chosen = ask(source, "Ben's pet", limit=6, reranker=chat_model_reranker(model))
    assert [r.memory.id for r in chosen.results][:3] == [before[2], before[0], before[1]]


def test_a_graph_does_not_stream_what_rerankers_and_expanders_say(source: MemorySource) -> None:
    """A client that streams a graph's messages gets none of the models that recall asks."""

    def node(state: MessagesState) -> dict[str, Any]:
        answers = [AIMessage("[2, 1]"), AIMessage("2 > 1")]
        ranked = GenericFakeChatModel(messages=iter(answers))
        worded = GenericFakeChatModel(messages=iter([AIMessage("Ben's animal")]))
        preset = BALANCED.model_copy(update={"expansion_threshold": 1.0})
        expander, reranker = chat_model_expander(worded), chat_model_reranker(ranked)
        found = ask(source, "Ben's pet", preset=preset, expander=expander, reranker=reranker)
        assert found.trace.degraded == ()
        return {}

    graph = StateGraph(MessagesState).add_node(node).add_edge(START, "node").compile()
    assert list(graph.stream({"messages": []}, stream_mode="messages")) == []


def test_a_failing_reranker_keeps_the_order(source: MemorySource) -> None:
    """An unreachable compressor or an answer without numbers degrades to the order before it."""
    before = [r.memory.id for r in ask(source, "Ben's pet").results]
    model = GenericFakeChatModel(messages=iter([AIMessage("I cannot say")]))
    for reranker in (compressor_reranker(Backwards(fails=True)), chat_model_reranker(model)):
        recall = ask(source, "Ben's pet", reranker=reranker)
        assert [r.memory.id for r in recall.results] == before
        assert "reranker failed" in recall.trace.degraded[0]


@pytest.mark.parametrize(
    "answer",
    [
        lambda query, results: [0, 99],
        lambda query, results: [-1],
        lambda query, results: ["1"],
        lambda query, results: None,
        lambda query, results: {}["missing"],
        compressor_reranker(Backwards(forgets=True)),
    ],
)
def test_nonsense_of_a_reranker_keeps_the_order(source: MemorySource, answer: Any) -> None:
    """Strange numbers, no numbers and any error degrade to the order before."""
    before = [r.memory.id for r in ask(source, "Ben's pet").results]
    recall = ask(source, "Ben's pet", reranker=answer)
    assert [r.memory.id for r in recall.results] == before
    assert "reranker failed" in recall.trace.degraded[0]


def test_a_reranker_cannot_repeat_a_result(source: MemorySource) -> None:
    """A result that the reranker names twice appears once, and none is lost."""
    before = [r.memory.id for r in ask(source, "Ben's pet", limit=6).results]
    recall = ask(source, "Ben's pet", limit=6, reranker=lambda query, results: [1, 1, 0, 1])
    shown = [r.memory.id for r in recall.results]
    assert shown == [before[1], before[0], *before[2:]]


def test_a_narrow_terminal_shows_results_under_each_other(source: MemorySource) -> None:
    """In 40 columns no score, date or text is cut off."""
    recall = ask(source, "Ben's pet", limit=2, explain=True)
    console = Console(width=40, file=io.StringIO())
    console.print(render(recall))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in shown
    assert f"{recall.results[0].score:.3f}" in shown
    assert max(map(len, shown.splitlines())) <= 40


def test_what_was_left_out_does_not_fill_the_terminal(source: MemorySource) -> None:
    """Ten lines tell what was left out and why, one how many more; the JSON has all."""
    recall = ask(source, "Ben's pet", limit=2, explain=True)
    removed = {f"key{n}": "dedupe: says the same as key" for n in range(25)}
    recall = replace(recall, trace=replace(recall.trace, removed=removed))
    console = Console(width=80, file=io.StringIO())
    console.print(render(recall))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert shown.count("left out key") == 10
    assert "left out 15 more" in shown
    assert len(plain(recall)["trace"]["removed"]) == 25
