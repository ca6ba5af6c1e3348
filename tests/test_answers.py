"""What small models write, read as what it means, or refused."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_ollama import ChatOllama

from langmemory.answers import (
    UnusableAnswerError,
    answer_lines,
    calls_in_text,
    ranking,
    without_repetitions,
)
from langmemory.chat_models import ask_briefly, bounded
from langmemory.context.budget import ContextBudget
from langmemory.graphs import build_chat_graph
from langmemory.nodes.model import ModelNode
from langmemory.recall.models import (
    chat_model_expander,
    chat_model_planner,
    chat_model_reranker,
    expand_query,
    plan_questions,
    rerank,
)
from langmemory.stores import MemoryStore
from tests.scripted import ScriptedModel

LINES = [
    ("rowing club\ncanoe trip", ["rowing club", "canoe trip"]),
    ("<think>two of them</think>\n1. rowing club\n- canoe trip", ["rowing club", "canoe trip"]),
    ('["rowing club", "canoe trip"]', ["rowing club", "canoe trip"]),
    ('rowing club","canoe trip"]', ["rowing club", "canoe trip"]),
    ('{"queries": ["rowing club", "canoe trip"]}', ["rowing club", "canoe trip"]),
    ('```json\n[{"query": "rowing club", "why": "sport"}]\n```', ["rowing club"]),
    ('{"1": "rowing club", "2": "canoe trip"}', ["rowing club", "canoe trip"]),
    ('["rowing club", "canoe tr', ["rowing club", "canoe tr"]),
    ('Here they are:\n"rowing club"\n**Canoe trip**', ["rowing club", "Canoe trip"]),
    ("Query 1: rowing club\nQuery 2: Rowing club", ["rowing club"]),
    ("Who rows? Who rows? Who rows?", ["Who rows?"]),
    ("[in Kiel] who rows?", ["in Kiel] who rows?"]),
    ("1. Ruderverein\n2. ¿Quién rema?", ["Ruderverein", "Quién rema?"]),
    ("<think>nothing but thoughts", []),
    ("[]", []),
    ("```\n```", []),
]

ORDERS = [
    ("[3, 1, 2]", [3, 1, 2]),
    ("3 > 1 > 2", [3, 1, 2]),
    ("[3] > [1] > [2]", [3, 1, 2]),
    ("3, 1, 2", [3, 1, 2]),
    ("3\n1\n2", [3, 1, 2]),
    ('{"ranking": [3, 1, 2]}', [3, 1, 2]),
    ('{"ranking": ["3", "note 1"]}', [3, 1]),
    ('{"order": [{"note": 3, "score": 0.9}, {"note": 1, "score": 0.2}]}', [3, 1]),
    ("1. [3] because of 12 reasons\n2. [1]", [3, 1]),
    ("- Note 3\n- Note 1", [3, 1]),
    ("note 3, note 1", [3, 1]),
    ("[3, 1, 2", [3, 1, 2]),
    ("```json\n[[3], [1]]\n```", [3, 1]),
    ("Sure, this is the best order: [3, 1, 3, 99]", [3, 1]),
    ("<think>[1, 3]</think>[3, 1]", [3, 1]),
    ("5", [5]),
    ("[4, 2, 1]", [4, 2, 1]),
    ("[1, 2, 3, 4, 5]", None),
    ("[2, 3, 4]", None),
    ("[0, 2, 1]", None),
    ("There are 5 notes.", None),
    ("Said on 2024-05-03.", None),
    ("[99]", None),
    ("I cannot say", None),
    ("", None),
]


@pytest.mark.parametrize(("answer", "lines"), LINES)
def test_lines_of_an_answer(answer: str, lines: list[str]) -> None:
    """Lines, JSON, fences, bullets and repetitions are read as the texts they hold."""
    assert answer_lines(answer) == lines


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("Pia rows on the lake. Pia rows on the lake. Pia rows", "Pia rows on the lake. Pia rows"),
        ("# Done\nNone.\n# Open\nNone.", "# Done\nNone.\n# Open\nNone."),
        ("- Pia has a new boat\n\n- Pia has a new boat", "- Pia has a new boat\n"),
    ],
)
def test_what_is_repeated_is_said_once(text: str, once: str) -> None:
    """A summary of a model that repeats itself has each sentence once."""
    assert without_repetitions(text) == once


@pytest.mark.parametrize(("answer", "order"), ORDERS)
def test_order_of_an_answer(answer: str, order: list[int] | None) -> None:
    """An order is read in every form; counting, and numbers that are no order, are refused."""
    if order is None:
        with pytest.raises(UnusableAnswerError):
            ranking(answer, 5)
    else:
        assert [place + 1 for place in ranking(answer, 5)] == order


def ranked(*answers: str) -> tuple[list[int], bool]:
    """The order of five notes after a model answered, and whether it was of no use."""
    results: Any = [type("Result", (), {"text": f"note {n}"})() for n in range(1, 6)]
    model = ScriptedModel(script=list(answers))
    found, failure = rerank("who rows", results, chat_model_reranker(model))
    return [results.index(one) + 1 for one in found], bool(failure)


@pytest.mark.parametrize(("answer", "order"), ORDERS)
def test_a_reranker_is_never_worse_than_none(answer: str, order: list[int] | None) -> None:
    """What is not named keeps the old order, behind what is; an answer that says nothing changes
    nothing."""
    turned = re.sub(r"(?<![\d.])[1-5](?![\d.])", lambda one: str(6 - int(one[0])), answer)
    named = order or []
    kept = [n for n in range(1, 6) if n not in named]
    assert ranked(answer, turned) == ([*named, *kept], order is None)


@pytest.mark.parametrize(
    ("answer", "turned", "order"),
    [
        ("[5, 1, 2, 3, 4]", "[1, 2, 3]", [1, 2, 3, 4, 5]),  # it only counts, the second time
        ("[5, 4, 3, 2, 1]", "[5, 4, 3, 2, 1]", [1, 2, 3, 4, 5]),
        ("[5]", "[5]", [1, 2, 3, 4, 5]),
        ("[4]", "[4]", [1, 2, 3, 4, 5]),
        ("[5, 2]", "[1, 2]", [5, 1, 2, 3, 4]),
        ("[1, 2]", "", [1, 2, 3, 4, 5]),
    ],
)
def test_a_model_that_prefers_a_place_changes_nothing(
    answer: str, turned: str, order: list[int]
) -> None:
    """Two results change places only where a model says so in both orders in which it sees them."""
    assert ranked(answer, turned)[0] == order


def test_an_expander_says_something_new() -> None:
    """A query in the words of the question is none; without another one, nothing is expanded."""
    model = ScriptedModel(script=["Who rows in Kiel?\nrowing club", '["Rows Kiel", "who?"]'])
    assert expand_query("Who rows in Kiel?", chat_model_expander(model)) == (["rowing club"], ())
    queries, failure = expand_query("Who rows in Kiel?", chat_model_expander(model))
    assert not queries
    assert failure


@pytest.mark.parametrize(
    ("answer", "questions"),
    [
        ("Who rows in Kiel?\nWhen does Pia leave?", ["Who rows in Kiel?", "When does Pia leave?"]),
        ('{"questions": ["Who rows in Kiel?"]}', ["Who rows in Kiel?", "when does Pia leave"]),
        ("Who rows in Kiel?\nPia lives in a small town.\nWhen does Pia leave?",
         ["Who rows in Kiel?", "When does Pia leave?"]),
        ("Who rows in Kiel?\nWhen did Pia leave on 12 March?",
         ["Who rows in Kiel?", "when does Pia leave"]),
        ("The capital of France is Paris.", ["Who rows in Kiel", "when does Pia leave"]),
        ("", ["Who rows in Kiel", "when does Pia leave"]),
    ],
)  # fmt: skip
def test_a_planner_asks_what_was_asked(answer: str, questions: list[str]) -> None:
    """What is not the message's is left out, and what the plan forgets is asked as rules ask it."""
    rules = ["Who rows in Kiel", "when does Pia leave"]
    planner = chat_model_planner(ScriptedModel(script=[answer]))
    found, _ = plan_questions("Who rows in Kiel and when does Pia leave?", planner, rules)
    assert found == questions


class Endless(GenericFakeChatModel):
    """Repeats itself for ever."""

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[Any]:
        while True:
            time.sleep(0.001)
            yield ChatGenerationChunk(message=AIMessageChunk("again "))


def test_an_endless_answer_ends() -> None:
    """The limit is for the whole answer, also where each piece comes in time; and Ollama's answers have a
    limit of tokens, unless the application sets one."""
    model = Endless(messages=iter([AIMessage("")]))
    with pytest.raises(UnusableAnswerError, match=r"within 0\.01 s"):
        ask_briefly(model, "Who rows?", seconds=0.01)
    assert bounded(ChatOllama(model="m")).num_predict  # type: ignore[attr-defined]
    assert bounded(ChatOllama(model="m", num_predict=7)).num_predict == 7  # type: ignore[attr-defined]
    assert bounded(model) is model
    assert bounded(ChatOllama(model="m"), temperature=None).temperature is None  # type: ignore[attr-defined]


def test_the_answer_of_a_chat_ends_with_the_window() -> None:
    """An Ollama model without a limit of its own is cut off where the reserve for its answer ends."""
    budget = ContextBudget(window_tokens=16_000)
    node: Any = ModelNode(ChatOllama(model="m"), budget=budget, citations="keep")
    assert node.model.num_predict == budget.window_tokens - budget.hard_limit_tokens


CALLS = [
    ('{"name": "search_memory", "arguments": {"query": "tea"}}', ["search_memory"]),
    ('```json\n{"name": "search_memory", "parameters": {}}\n```', ["search_memory"]),
    ('<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>', ["a"]),
    ('[{"name": "a", "arguments": {}}, {"name": "b", "arguments": {"x": [1]}}]', ["a", "b"]),
    ('{"name": "a", "arguments": {}}\n{"name": "b", "arguments": {}}', ["a", "b"]),
    ('<think>I search</think>{"type": "function", "name": "a", "arguments": {}}', ["a"]),
    ('{"name": "Lena", "age": 30}', []),
    ('{"name": "Lena", "arguments": "many"}', []),
    ('Call {"name": "a", "arguments": {}}', []),
    ("You like tea.", []),
    ('{"name": "a", "arguments": {"query": "tea", "filter": {"enum": ["tea", "tea", "te', ["a"]),
    ('{"name": "a", "arguments": {"query": "tea"}', ["a"]),
    ('{"name": "Lena", "age": 3', []),
    ("[]", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "names"), CALLS)
def test_a_call_written_as_an_answer_is_read(text: str, names: list[str]) -> None:
    """As one object or several, in fences and tags; an object that is something else is none."""
    assert [call["name"] for call in calls_in_text(text)] == names


def test_a_call_that_broke_off_has_the_arguments_that_were_finished() -> None:
    """The one under way may be half of what was meant."""
    [cut] = calls_in_text(
        '{"name": "a", "arguments": {"query": "tea", "limit": 4, "filter": {"enum": ["te'
    )
    [whole] = calls_in_text('{"name": "a", "arguments": {"query": "tea"}')
    assert (cut["args"], whole["args"]) == ({"query": "tea", "limit": 4}, {"query": "tea"})


def written_call(query: str, tool: str = "search_memory") -> str:
    return f'{{"name": "{tool}", "arguments": {{"query": "{query}"}}}}'


CHATS = {
    "calls, also a tool that is not there": (
        [written_call("tea"), written_call("a", "none")],
        2,
        False,
    ),
    "a call again": ([written_call("tea")] * 2, 1, True),
    "calls without end": ([written_call(str(n)) for n in range(5)], 4, True),
    "nothing": ([""], 0, True),
}


@pytest.mark.parametrize(("script", "results", "asked_without"), CHATS.values(), ids=CHATS)
def test_a_chat_makes_the_calls_that_a_small_model_writes(
    script: list[str], results: int, asked_without: bool
) -> None:
    """What it calls gets an answer. Where a call leads nowhere, the model is asked without tools, and shown
    their results as text; so each turn ends with an answer, and no call is remembered."""
    model = ScriptedModel(script=[*script, "Green tea."])
    with MemoryStore(":memory:") as store:
        store.put(("memories", "lena"), "k", {"content": "Lena likes green tea."})
        chat = build_chat_graph(model, tools=["search_memory"], store=store)
        config: Any = {"configurable": {"user_id": "lena", "thread_id": "t"}}
        messages = chat.invoke({"messages": [("user", "Which tea do I like?")]}, config)["messages"]
        assert messages[-1].text == "Green tea."
        assert sum(isinstance(one, ToolMessage) for one in messages) == results
        last = model.prompts[-1]
        assert any(isinstance(one, ToolMessage) for one in last) == (not asked_without)
        assert ("Found for this:\n| " in last[-1].text) == (asked_without and results > 0)
        said = {item.value["content"] for item in store.search(("memories", "lena"))}
        assert said == {"Lena likes green tea.", "Which tea do I like?", "Green tea."}


def test_a_model_that_only_writes_calls_is_not_remembered() -> None:
    """Asked without tools as well."""
    model = ScriptedModel(otherwise=written_call("tea"))
    with MemoryStore(":memory:") as store:
        chat = build_chat_graph(model, tools=["search_memory"], store=store)
        config: Any = {"configurable": {"user_id": "lena", "thread_id": "t"}}
        chat.invoke({"messages": [("user", "Which tea do I like?")]}, config)
        assert len(model.prompts) == 3
        said = {item.value["content"] for item in store.search(("memories", "lena"))}
        assert said == {"Which tea do I like?"}
