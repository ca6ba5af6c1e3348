"""Where `langmem.short_term` goes wrong and langmemory does not (issue numbers are langmem's)."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import langmem.short_term
import pytest
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, MessagesState, StateGraph, add_messages
from langgraph.types import interrupt

from langmemory.context import ContextBudget, is_injected, mark_injected
from langmemory.errors import ConfigError
from langmemory.nodes.summarize import RECALL_FINAL_SUMMARY_PROMPT
from langmemory.short_term import (
    RunningSummary,
    SummarizationNode,
    asummarize_messages,
    summarize_messages,
)
from tests.seeds import examples


class Scribe(FakeMessagesListChatModel):
    """Answers with `say`, a text, a message's content, or an error; keeps what it was asked."""

    asked: list[list[Any]] = []  # noqa: RUF012  # pydantic copies it per instance
    responses: list[Any] = [AIMessage("unused")]  # noqa: RUF012
    say: Any = "the summary"

    def invoke(self, input: Any, *args: Any, **kwargs: Any) -> AIMessage:
        self.asked.append(input)
        if isinstance(self.say, Exception):
            raise self.say
        return AIMessage(self.say)

    async def ainvoke(self, input: Any, *args: Any, **kwargs: Any) -> AIMessage:
        return self.invoke(input)


def call(name: str, *ids: str) -> AIMessage:
    calls: list[Any] = [{"name": "tool", "id": id, "args": {}} for id in ids]
    return AIMessage("calling", id=name, tool_calls=calls)


def result(id: str, text: str = "result") -> ToolMessage:
    return ToolMessage(text, tool_call_id=id, id=f"r{id}")


def human(id: str) -> HumanMessage:
    return HumanMessage(f"question {id}", id=id)


def ai(id: str) -> AIMessage:
    return AIMessage(f"answer {id}", id=id)


def ids(messages: list[Any]) -> list[Any]:
    return [message.id for message in messages if not is_injected(message)]


def summarize(messages: list[Any], running_summary: Any = None, **options: Any) -> Any:
    options = {"model": Scribe(), "token_counter": len, "max_summary_tokens": 1} | options
    return summarize_messages(messages, running_summary=running_summary, **options)


def words(messages: list[AnyMessage]) -> int:
    return sum(len(one.text.split()) for one in messages)


def assert_calls_answered(messages: list[AnyMessage], open_calls: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    calls = {c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
    results = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    assert calls - open_calls == results


@pytest.mark.parametrize("limit", range(2, 12))
def test_parallel_calls_and_results_are_never_torn_apart(limit: int) -> None:
    """Wherever the cut falls (126), each call is on the same side as all of its results."""
    messages = [
        human("1"), call("2", "a", "b"), result("a"), result("b"), ai("3"),
        human("4"), call("5", "c"), result("c"), call("6", "d", "e", "f"),
        result("f"), result("d"), result("e"), ai("7"), human("8"),
    ]  # fmt: skip
    outcome = summarize(messages, max_tokens=limit, max_tokens_before_summary=limit)
    assert len(outcome.messages) <= max(limit, 2)
    assert_calls_answered(outcome.messages)
    assert ids(outcome.messages)[-1] == "8"


def test_a_call_under_way_stays() -> None:
    """A call whose results have not all come in is not summarized, else they would arrive
    orphaned; an abandoned one does not block."""
    messages = [human("1"), ai("2"), human("3"), call("4", "a", "b"), result("a")]
    outcome = summarize(messages, max_tokens=4)
    assert ids(outcome.messages) == ["3", "4", "ra"]
    abandoned = [human("1"), call("2", "a"), human("3"), ai("4"), human("5")]
    outcome = summarize(abandoned, max_tokens=3)
    assert ids(outcome.messages) == ["4", "5"]


@pytest.mark.parametrize("before", [None, 2, 6])
def test_the_last_question_survives_a_long_tool_loop(before: int | None) -> None:
    """The person's last message stays word for word however many tool steps follow (77, 111), and
    leaves in its turn once there is a newer one."""
    loop = [m for i in range(6) for m in (call(f"c{i}", f"{i}"), result(f"{i}"))]
    first = summarize([human("q"), *loop], max_tokens=6, max_tokens_before_summary=before)
    assert ids(first.messages)[0] == "q"
    assert len(first.messages) <= 6
    assert "q" not in first.running_summary.summarized_message_ids
    assert_calls_answered(first.messages)
    after = [human("q"), *loop, ai("x"), human("y"), ai("z"), human("last")]
    model = Scribe()
    second = summarize(after, first.running_summary, model=model, max_tokens=4)
    assert ids(second.messages)[-1] == "last"
    assert "q" in second.running_summary.summarized_message_ids
    assert "question q" in model.asked[0][0].text


def test_results_are_read_before_they_are_summarized() -> None:
    """Results of tools that the model has not answered to stay, however long they are; what came before
    them leaves, and they do once there is an answer."""
    count = count_tokens_approximately
    long = "x" * 8_000
    asked = [human("q"), call("c", "a", "b"), result("a", long), result("b", long)]
    outcome = summarize(asked, max_tokens=300, token_counter=count)
    assert ids(outcome.messages) == ["q", "c", "ra", "rb"]
    outcome = summarize(
        [*asked, call("d", "e"), result("e", long)], max_tokens=300, token_counter=count
    )
    assert ids(outcome.messages) == ["q", "d", "re"]
    outcome = summarize([*asked, ai("x")], max_tokens=300, token_counter=count)
    assert ids(outcome.messages) == ["q", "x"]


def test_a_thread_goes_on_after_a_question_that_stayed_has_left_alone() -> None:
    """A question that stayed word for word leaves by itself, after what followed it was summarized:
    nothing counts as summarized twice, then or later."""
    options = {"max_tokens": 5, "summary_window": 1}
    loop = [m for i in range(6) for m in (call(f"c{i}", f"{i}"), result(f"{i}"))]
    messages = [human("q"), *loop]
    first = summarize(messages, **options)
    messages += [ai("x"), human("y")]
    second = summarize(messages, first.running_summary, **options)
    covered = second.running_summary.summarized_message_ids
    assert covered - first.running_summary.summarized_message_ids == {"q"}
    messages += [ai("z"), human("last")]
    third = summarize(messages, second.running_summary, **options)
    assert third.running_summary.summarized_message_ids.isdisjoint(ids(third.messages))
    assert ids(third.messages)[-1] == "last"


def test_a_question_with_a_short_answer_is_not_split() -> None:
    """The answer to the last question does not leave without it while both fit (77)."""
    messages = [HumanMessage("Hello world!", id="1"), AIMessage("Bye bye world!", id="2")]
    outcome = summarize(
        messages,
        max_tokens=20,
        max_tokens_before_summary=10,
        max_summary_tokens=5,
        token_counter=count_tokens_approximately,
    )
    assert (outcome.messages, outcome.running_summary) == (messages, None)


def test_an_old_summary_among_the_messages_is_not_repeated() -> None:
    """Behind the system prompt, with an id from a reducer, with or without our mark, with or
    without running summary in the state: the new summary replaces it (118)."""
    system = SystemMessage("be kind", id="s")
    first = summarize([system, *(human(f"{i}") for i in range(7))], max_tokens=6)
    stored = add_messages([], first.messages)
    unmarked = [m.model_copy(update={"additional_kwargs": {}}) for m in stored]
    for messages, state in ((stored, first.running_summary), (stored, None), (unmarked, None)):
        if messages is unmarked:
            state = first.running_summary
        model = Scribe(say="the new summary")
        new = [human(f"new {i}") for i in range(6)]
        unsummarized = summarize([*messages, new[0]], state, model=model, max_tokens=6)
        assert [m.text for m in unsummarized.messages].count(
            "Summary of the conversation so far: the summary"
        ) == 1
        second = summarize([*messages, *new], state, model=model, max_tokens=6)
        assert "the summary" in model.asked[0][-1].text
        assert [m.text for m in second.messages[:2]] == [
            "be kind",
            "Summary of the conversation so far: the new summary",
        ]
        assert not [m for m in second.messages[2:] if m.type == "system"]


def test_a_system_prompt_that_quotes_the_summary_stays() -> None:
    """Only a message that shows the summary and nothing else is taken for it."""
    first = summarize([human(f"{i}") for i in range(7)], max_tokens=6)
    system = SystemMessage("be kind, and mind the summary", id="s")
    outcome = summarize([system, human("8")], first.running_summary, max_tokens=6)
    assert outcome.messages[0] == system


def test_summary_and_messages_together_stay_within_the_limit() -> None:
    """Also when the new messages alone are below it, over a long thread with two keys (101)."""
    dice, messages, summary = random.Random(3), [SystemMessage("s" * 40, id="s")], None
    for i in range(150):
        messages += [HumanMessage("q" * dice.randint(1, 200), id=f"h{i}")]
        outcome = summarize(
            messages,
            summary,
            model=Scribe(say="s" * dice.randint(1, 400)),
            max_tokens=300,
            max_summary_tokens=100,
            token_counter=count_tokens_approximately,
        )
        assert count_tokens_approximately(outcome.messages) <= 300
        assert outcome.messages[-1] == messages[-1]
        summary = outcome.running_summary
        messages += [AIMessage("a" * dice.randint(1, 200), id=f"a{i}")]
    assert summary is not None


def test_a_summary_longer_than_agreed_is_cut() -> None:
    """A model that ignores its limit cannot push the result over max_tokens."""
    messages = [human(f"{i}") for i in range(40)]
    outcome = summarize(
        messages,
        model=Scribe(say="word " * 5000),
        max_tokens=200,
        max_summary_tokens=50,
        token_counter=count_tokens_approximately,
    )
    assert count_tokens_approximately(outcome.messages) <= 200
    assert outcome.running_summary.summary.endswith(" …")


def test_a_huge_tool_result_does_not_overflow_the_summarizing_model() -> None:
    """A turn too long for any cut becomes a transcript within the limit (69, 156)."""
    model = Scribe()
    messages = [human("1"), call("2", "a"), result("a", "x" * 40_000), ai("3"), human("4")]
    summarize(messages, model=model, max_tokens=500, token_counter=count_tokens_approximately)
    prompt = model.asked[0]
    assert count_tokens_approximately(prompt) <= 520
    assert prompt[0].text.startswith("human: question 1\nai: calling\ntool: xxx")


def test_a_grounded_summary_says_what_was_said() -> None:
    """Sentences that nobody said are left out. Where none is left, what persons stated is the summary, the
    latest of it as far as it fits; where nobody stated anything, the conversation stays whole."""
    messages = [
        HumanMessage("Ben rows on Sundays.", id="1"),
        ai("2"),
        human("3"),
        ai("4"),
        human("5"),
    ]
    scribe = Scribe(say="Ben rows on Sundays. He won 14 medals.")
    options: dict[str, Any] = {"max_tokens": 3, "grounded": True}
    found = summarize(messages, model=scribe, **options)
    assert found.running_summary.summary == "Ben rows on Sundays."
    invents = Scribe(say="Clara won 14 medals.")
    found = summarize(messages, model=invents, **options)
    assert found.running_summary.summary == "human: Ben rows on Sundays."
    talk = [HumanMessage(text, id=text) for text in ("I own a kayak. I own a canoe.", "Good!")]
    limits = {"max_summary_tokens": 6, "max_tokens": 20, "max_tokens_before_summary": 1}
    found = summarize(talk, model=invents, token_counter=words, grounded=True, **limits)
    assert found.running_summary.summary == "human: I own a canoe."
    messages[0] = HumanMessage("Hello! Does Ben row?", id="1")
    messages[2] = HumanMessage("Thanks!", id="3")
    found = summarize(messages, model=invents, **options)
    assert (found.messages, found.running_summary) == (messages, None)
    assert found.error == "nobody said what the model's summary says"


@pytest.mark.parametrize(
    "say", [RuntimeError("model not found"), "  ", "<think>hm</think>"], ids=["error", "", "think"]
)
async def test_a_failing_model_keeps_the_conversation_whole(say: Any) -> None:
    """Error or empty answer: all messages and the old summary stay, result and state say why, and
    the next success clears it."""
    messages = [human("1"), ai("2"), human("3"), ai("4"), human("5")]
    before = RunningSummary("older", {"0"}, "0")
    node = SummarizationNode(
        model=Scribe(say=say), max_tokens=3, max_summary_tokens=1, token_counter=len
    )
    for update in (
        node.invoke({"messages": messages, "context": {"running_summary": before}}),
        await node.ainvoke({"messages": messages, "context": {"running_summary": before}}),
    ):
        shown = update["summarized_messages"]
        assert shown[0].text == "Summary of the conversation so far: older"
        assert shown[1:] == messages
        assert update["context"]["running_summary"] == before
        error = update["context"]["summarization_error"]
        assert error in ("RuntimeError: model not found", "the model returned an empty summary")
    node.model = Scribe()
    again = node.invoke({"messages": messages, "context": update["context"]})
    assert set(again["context"]) == {"running_summary"}
    first = await asummarize_messages(
        messages, running_summary=None, model=Scribe(say=say), max_tokens=3,
        max_summary_tokens=1, token_counter=len,
    )  # fmt: skip
    assert (first.messages, first.running_summary) == (messages, None)
    assert first.error


def as_dict(summary: RunningSummary) -> Any:
    return {**vars(summary), "summarized_message_ids": sorted(summary.summarized_message_ids)}


@pytest.mark.parametrize(
    "restore",
    [
        as_dict,
        lambda summary: {"lc": 2, "type": "constructor", "id": [], "kwargs": as_dict(summary)},
        lambda summary: langmem.short_term.RunningSummary(**vars(summary)),
    ],
    ids=["dict", "constructor", "langmem"],
)
def test_a_restored_summary_is_understood(restore: Callable[[Any], Any]) -> None:
    """Whatever a checkpointer makes of it, and LangMem's from before the import line changed."""
    messages = [human(f"{i}") for i in range(9)]
    first = summarize(messages, max_tokens=6)
    again = summarize(messages, restore(first.running_summary), max_tokens=6)
    assert again == first
    with pytest.raises(ValueError, match="running_summary has no 'summarized_message_ids'"):
        summarize(messages, {"summary": "x"}, max_tokens=6)


@pytest.mark.parametrize("strict", [False, True])
def test_a_thread_survives_the_checkpointer(strict: bool) -> None:
    """Both with LangGraph's permissive serializer and with the strict one, which restores plain
    data only, run after run continues the summary; both with one key and with two."""

    class State(MessagesState):
        summarized_messages: list[Any]
        context: dict[str, Any]

    for key in ("messages", "summarized_messages"):
        seen: list[list[Any]] = []

        def model(state: State, key: str = key, seen: list[Any] = seen) -> dict[str, Any]:
            seen.append(state[key])  # type: ignore[literal-required]
            return {"messages": [AIMessage("fine")]}

        graph = StateGraph(State)
        graph.add_node(
            "summarize",
            SummarizationNode(
                model=Scribe(), max_tokens=6, max_summary_tokens=1, token_counter=len,
                output_messages_key=key,
            ),
        )  # fmt: skip
        graph.add_node("model", model)
        graph.add_edge(START, "summarize")
        graph.add_edge("summarize", "model")
        serde = JsonPlusSerializer(allowed_msgpack_modules=None if strict else True)
        app = graph.compile(checkpointer=InMemorySaver(serde=serde))
        for i in range(12):
            app.invoke(
                {"messages": [HumanMessage(f"question {i}")]}, {"configurable": {"thread_id": key}}
            )
        assert all(len(messages) <= 6 for messages in seen)
        assert [m.type for m in seen[-1]].count("system") == 1
        assert seen[-1][-1].text == "question 11"


def test_a_deleted_message_does_not_start_it_all_over() -> None:
    """When the last summarized message was removed from the history, the others are still known."""
    messages = [human(f"{i}") for i in range(9)]
    first = summarize(messages, max_tokens=6)
    left = add_messages(messages, [RemoveMessage("5")])
    again = summarize(left, first.running_summary, max_tokens=6)
    assert ids(again.messages) == ["6", "7", "8"]
    loop = [human("q"), *(m for i in "abcd" for m in (call(f"c{i}", i), result(i)))]
    first = summarize(loop, max_tokens=5)
    left = add_messages(loop, [RemoveMessage(first.running_summary.last_summarized_message_id)])
    again = summarize(left, first.running_summary, max_tokens=5)
    assert ids(again.messages) == ids(first.messages)


def test_answers_in_blocks_and_thoughts_become_plain_text() -> None:
    """Content blocks and a thinking prelude do not end up in the summary."""
    messages = [human(f"{i}") for i in range(9)]
    for say in ([{"type": "text", "text": "short"}], "<think>long\nthoughts</think>\nshort"):
        outcome = summarize(messages, model=Scribe(say=say), max_tokens=6)
        assert outcome.running_summary.summary == "short"


def test_the_summary_is_marked_and_says_where_the_rest_is() -> None:
    """The summary message is never remembered as said; with the recall prompt it tells the model
    that the messages can be recalled. A memory block among the messages is not summarized."""
    model = Scribe()
    block = mark_injected(HumanMessage("[M:1a2b3c4d] a fact", id="block"))
    outcome = summarize(
        [block, *(human(f"{i}") for i in range(9))],
        model=model,
        max_tokens=6,
        final_prompt=RECALL_FINAL_SUMMARY_PROMPT,
    )
    assert is_injected(outcome.messages[0])
    assert "word for word in memory" in outcome.messages[0].text
    assert "a fact" not in str(model.asked)


def test_keep_turns_leaves_the_newest_turns_word_for_word() -> None:
    """With the context budget's settings ten turns stay, summarizing happens every few turns, and
    tokens go before turns."""
    model = Scribe()
    options: Any = ContextBudget(window_tokens=128_000).summarization
    messages: list[Any] = []
    summary = None
    for i in range(60):
        messages.append(human(f"{i}"))
        outcome = summarize(
            messages, summary, model=model, **{**options, "token_counter": lambda m: 10 * len(m)}
        )
        summary = outcome.running_summary
        turns = sum(m.type == "human" for m in outcome.messages)
        assert min(10, i + 1) <= turns <= 15
        messages.append(ai(f"a{i}"))
    assert len(model.asked) == 8
    tight = summarize(
        messages, model=model, **{**options, "token_counter": lambda m: 1000 * len(m)}
    )
    assert len(tight.messages) <= 8


def test_an_interrupt_is_not_a_failure() -> None:
    """A model that interrupts the graph for a person's approval does."""

    class State(MessagesState):
        summarized_messages: list[Any]

    class Asking(Scribe):
        def invoke(self, input: Any, *args: Any, **kwargs: Any) -> AIMessage:
            return AIMessage(interrupt("may I?"))

    graph = StateGraph(State)
    graph.add_node(
        "summarize",
        SummarizationNode(model=Asking(), max_tokens=3, max_summary_tokens=1, token_counter=len),
    )
    graph.add_edge(START, "summarize")
    app = graph.compile(checkpointer=InMemorySaver())
    state = app.invoke(
        {"messages": [human("1"), ai("2"), human("3"), ai("4"), human("5")]},
        {"configurable": {"thread_id": "1"}},
    )
    assert state["__interrupt__"][0].value == "may I?"


@pytest.mark.parametrize("keep_turns", [None, 10])
def test_a_long_agent_thread_stays_whole_and_within_the_limit(keep_turns: int | None) -> None:
    """Many turns with parallel tool calls, summarized before every model call: each prompt is within
    max_tokens, ends with the newest messages, has all calls answered and the person's last message;
    every message is either shown or covered by the summary."""
    dice, model = random.Random(5), Scribe(say="s" * 300)
    messages: list[Any] = [SystemMessage("be kind", id="s")]
    summary: Any = None
    for turn in range(examples(200, first=60)):
        question = HumanMessage("q" * dice.randint(1, 300), id=f"h{turn}")
        messages.append(question)
        for step in range(dice.choice([0, 0, 1, 3])):
            names = [f"{turn}-{step}-{i}" for i in range(dice.randint(1, 3))]
            messages += [call(f"c{turn}-{step}", *names)]
            messages += [result(name, "r" * dice.randint(1, 400)) for name in names]
            outcome = summarize(
                messages,
                summary,
                model=model,
                max_tokens=1000,
                max_summary_tokens=100,
                token_counter=count_tokens_approximately,
                keep_turns=keep_turns,
            )
            summary = outcome.running_summary
            assert count_tokens_approximately(outcome.messages) <= 1000
            assert question in outcome.messages
            assert_calls_answered(outcome.messages)
            covered = summary.summarized_message_ids if summary else set()
            assert set(ids(outcome.messages)) | covered == set(ids(messages))
        messages.append(AIMessage("a" * dice.randint(1, 300), id=f"a{turn}"))
    prompts = [count_tokens_approximately(prompt) for prompt in model.asked]
    assert max(prompts) <= 1000 + 200
    assert len(prompts) < 120


def test_a_summary_of_another_middleware_is_summarized() -> None:
    """A summary by LangChain's middleware is nobody's statement, but it stands for messages: the
    next summary covers it as it covers them."""
    scribe = Scribe()
    theirs = HumanMessage(
        "They talked about bees.", id="s", additional_kwargs={"lc_source": "summarization"}
    )
    summarize([theirs, ai("1"), human("2"), ai("3"), human("4")], model=scribe, max_tokens=4)
    assert any("about bees" in message.text for message in scribe.asked[0])


def test_a_model_may_be_given_by_its_name() -> None:
    """A name that no model has is told when the node is made: asked as if it were a model, it would
    fail like one, and the conversation would grow and grow."""
    node = SummarizationNode(model="ollama:qwen3:8b", max_tokens=3, max_summary_tokens=1)
    assert node.model.model == "qwen3:8b"
    with pytest.raises(ConfigError, match="'nobody:x' cannot be made"):
        SummarizationNode(model="nobody:x", max_tokens=3, max_summary_tokens=1)
    with pytest.raises(ConfigError, match="'nobody:x' cannot be made"):
        summarize([human("1"), ai("2"), human("3"), ai("4")], model="nobody:x", max_tokens=2)
