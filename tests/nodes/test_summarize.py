"""langmemory does what `langmem.short_term` does right: each case runs on both, sync and async."""

from __future__ import annotations

import inspect
import random
import warnings
from collections.abc import Callable
from typing import Any

import langmem.short_term
import langmem.short_term.summarization as theirs
import pytest
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.prompts import ChatPromptTemplate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

import langmemory.parts.langmem.short_term as ours
import langmemory.short_term
from tests.seeds import examples

Summarize = Callable[..., Any]


class Scribe(FakeMessagesListChatModel):
    """Numbers its summaries, keeps what it was asked, and takes nothing but the messages."""

    asked: list[list[Any]] = []  # noqa: RUF012  # pydantic copies it per instance
    responses: list[Any] = [AIMessage("unused")]  # noqa: RUF012

    def invoke(self, input: Any) -> AIMessage:
        self.asked.append(input)
        return AIMessage(f"summary {len(self.asked)}")

    async def ainvoke(self, input: Any) -> AIMessage:
        return self.invoke(input)


@pytest.fixture
def scribe() -> Scribe:
    return Scribe()


@pytest.fixture(params=[theirs, ours], ids=["langmem", "langmemory"])
def short_term(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=["sync", "async"])
def summarize(request: pytest.FixtureRequest, short_term: Any, scribe: Scribe) -> Summarize:
    """``await summarize(messages, running_summary=…, …)`` whichever way."""

    async def run(messages: list[Any], running_summary: Any = None, **options: Any) -> Any:
        options = {"model": scribe, "token_counter": len, "max_summary_tokens": 1} | options
        if request.param == "sync":
            return short_term.summarize_messages(
                messages, running_summary=running_summary, **options
            )
        return await short_term.asummarize_messages(
            messages, running_summary=running_summary, **options
        )

    return run


@pytest.fixture(params=["sync", "async"])
def make_node(request: pytest.FixtureRequest, short_term: Any, scribe: Scribe) -> Summarize:
    """A node to ``await`` with a state, whichever way."""

    def make(**options: Any) -> Any:
        options = {"model": scribe, "token_counter": len, "max_summary_tokens": 1} | options
        node = short_term.SummarizationNode(**options)

        async def run(state: Any) -> Any:
            return node.invoke(state) if request.param == "sync" else await node.ainvoke(state)

        return run

    return make


def talk(count: int, start: int = 1) -> list[Any]:
    """`count` messages, human and AI in turn, with ids counted from `start`."""
    kinds = (HumanMessage, AIMessage)
    return [kinds[(i - 1) % 2](f"text {i}", id=str(i)) for i in range(start, start + count)]


def texts(messages: list[Any]) -> list[str]:
    return [message.text for message in messages]


async def test_nothing_in_nothing_out(summarize: Summarize, scribe: Scribe) -> None:
    """No messages, or a system message alone, come back as they are."""
    system = SystemMessage("be kind", id="s")
    for messages in ([], [system]):
        result = await summarize(messages, max_tokens=10)
        assert (result.messages, result.running_summary) == (messages, None)
    assert scribe.asked == []


async def test_short_conversation_is_left_alone(summarize: Summarize, scribe: Scribe) -> None:
    """Below the limit the model is not called."""
    result = await summarize(talk(3), max_tokens=10)
    assert (result.messages, result.running_summary) == (talk(3), None)
    assert scribe.asked == []


async def test_the_oldest_messages_become_a_summary(summarize: Summarize, scribe: Scribe) -> None:
    """As many as reach the limit leave; asking again with the summary changes nothing."""
    first = await summarize(talk(9), max_tokens=6)
    assert texts(first.messages[:1]) == ["Summary of the conversation so far: summary 1"]
    assert first.messages[0].type == "system"
    assert first.messages[1:] == talk(9)[6:]
    assert first.running_summary.summary == "summary 1"
    assert first.running_summary.summarized_message_ids == set("123456")
    assert first.running_summary.last_summarized_message_id == "6"
    again = await summarize(talk(9), first.running_summary, max_tokens=6)
    assert (again.messages, again.running_summary) == (first.messages, first.running_summary)
    assert len(scribe.asked) == 1


async def test_more_may_gather_before_summarizing(summarize: Summarize) -> None:
    """max_tokens_before_summary is the trigger and the amount, max_tokens the limit after it."""
    result = await summarize(talk(9), max_tokens=6, max_tokens_before_summary=8)
    assert result.messages[1:] == talk(9)[8:]
    assert result.running_summary.summarized_message_ids == set("12345678")


async def test_the_system_message_stays_in_front(summarize: Summarize, scribe: Scribe) -> None:
    """It is not summarized, not shown to the summarizing model, and precedes the summary."""
    system = SystemMessage("be kind", id="s")
    result = await summarize([system, *talk(9)], max_tokens=6)
    assert result.messages[0] == system
    assert texts(result.messages[1:2]) == ["Summary of the conversation so far: summary 1"]
    assert result.messages[2:] == talk(9)[6:]
    assert scribe.asked == [[*talk(6), HumanMessage("Create a summary of the conversation above:")]]


async def test_approximate_counting(summarize: Summarize) -> None:
    """LangChain's approximate counter and empty messages work."""
    messages = talk(9)
    messages[0].content = messages[3].content = ""
    result = await summarize(
        messages,
        max_tokens=49,
        max_summary_tokens=10,
        token_counter=count_tokens_approximately,
    )
    assert result.messages[1:] == messages[-1:]


async def test_a_summary_is_extended(summarize: Summarize, scribe: Scribe) -> None:
    """Only new messages go to the model, the oldest dropped to what it can read, with the old
    summary; the ids add up."""
    first = await summarize(talk(7), max_tokens=6)
    second = await summarize(talk(15), first.running_summary, max_tokens=6)
    asked = scribe.asked[1]
    assert texts(asked[:-1]) == ["text 9", "text 10", "text 11", "text 12"]
    assert asked[-1].text == (
        "This is summary of the conversation so far: summary 1\n\n"
        "Extend this summary by taking into account the new messages above:"
    )
    assert texts(second.messages) == [
        "Summary of the conversation so far: summary 2",
        "text 13",
        "text 14",
        "text 15",
    ]
    assert second.running_summary.summarized_message_ids == {str(i) for i in range(1, 13)}


async def test_summarized_messages_may_be_handed_back(summarize: Summarize) -> None:
    """When the result is the next input, its summary message is replaced, not kept beside the new
    one."""
    first = await summarize(talk(7), max_tokens=6)
    second = await summarize([*first.messages, *talk(8, 8)], first.running_summary, max_tokens=6)
    assert texts(second.messages) == [
        "Summary of the conversation so far: summary 2",
        "text 13",
        "text 14",
        "text 15",
    ]


async def test_results_follow_their_call(summarize: Summarize) -> None:
    """When the cut falls on a message with tool calls, their results leave with it."""
    messages = [
        HumanMessage("q", id="1"),
        AIMessage(
            "",
            id="2",
            tool_calls=[{"name": "t", "id": "a", "args": {}}, {"name": "t", "id": "b", "args": {}}],
        ),
        ToolMessage("A", tool_call_id="a", id="3"),
        ToolMessage("B", tool_call_id="b", id="4"),
        AIMessage("answer", id="5"),
        HumanMessage("more", id="6"),
    ]
    result = await summarize(messages, max_tokens=6, max_tokens_before_summary=2)
    assert result.messages[1:] == messages[4:]
    assert result.running_summary.summarized_message_ids == set("1234")


async def test_own_prompts(summarize: Summarize, scribe: Scribe) -> None:
    """All three templates can be replaced."""
    options = {
        "max_tokens": 6,
        "initial_summary_prompt": ChatPromptTemplate(
            [("placeholder", "{messages}"), ("user", "Begin")]
        ),
        "existing_summary_prompt": ChatPromptTemplate(
            [("placeholder", "{messages}"), ("user", "Go on from {existing_summary}")]
        ),
        "final_prompt": ChatPromptTemplate(
            [("placeholder", "{system_message}"), ("user", "Before: {summary}"),
             ("placeholder", "{messages}")]
        ),
    }  # fmt: skip
    first = await summarize(talk(7), **options)
    second = await summarize(talk(15), first.running_summary, **options)
    assert [asked[-1].text for asked in scribe.asked] == ["Begin", "Go on from summary 1"]
    assert texts(second.messages[:1]) == ["Before: summary 2"]
    assert second.messages[0].type == "human"


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([*talk(3), AIMessage("b")], "Messages are required to have ID field"),
        ([*talk(3), HumanMessage("c", id="1")], "Message with ID 1 has already been summarized"),
    ],
)
async def test_bad_ids_are_refused(summarize: Summarize, messages: list[Any], says: str) -> None:
    """Without an id, or with that of a summarized message, the call fails and says which."""
    first = await summarize(talk(3), max_tokens=2)
    with pytest.raises(ValueError, match=says):
        await summarize(messages, first.running_summary, max_tokens=5)


async def test_impossible_limits_are_refused(summarize: Summarize) -> None:
    """The summary must be allowed less than the whole."""
    with pytest.raises(ValueError, match="`max_summary_tokens` must be less than `max_tokens`"):
        await summarize(talk(3), max_tokens=5, max_summary_tokens=5)


async def test_node_writes_another_key(make_node: Summarize) -> None:
    """By default the history is not touched and the rest of the context is kept."""
    node = make_node(max_tokens=6)
    update = await node({"messages": talk(9), "context": {"mine": 1}})
    assert set(update) == {"summarized_messages", "context"}
    assert update["summarized_messages"][1:] == talk(9)[6:]
    assert update["context"]["mine"] == 1
    assert update["context"]["running_summary"].summary == "summary 1"
    again = await node({"messages": talk(9), "context": update["context"]})
    assert again == update


async def test_node_leaves_a_short_conversation(make_node: Summarize) -> None:
    """Without a summary there is nothing to write into the context."""
    update = await make_node(max_tokens=6)({"messages": talk(3)})
    assert update == {"summarized_messages": talk(3)}


async def test_node_overwrites_the_same_key(make_node: Summarize) -> None:
    """With one key for input and output the history is replaced, time after time."""
    node = make_node(max_tokens=6, output_messages_key="messages")
    first = await node({"messages": talk(7)})
    assert [message.type for message in first["messages"]] == ["remove", "system", "human"]
    state = {"messages": first["messages"][1:] + talk(8, 8), "context": first["context"]}
    second = await node(state)
    assert texts(second["messages"][1:]) == [
        "Summary of the conversation so far: summary 2",
        "text 13",
        "text 14",
        "text 15",
    ]
    assert len(second["context"]["running_summary"].summarized_message_ids) == 12


async def test_node_reads_pydantic_state(make_node: Summarize) -> None:
    """The state may be a pydantic model; a missing key is named."""

    class State(BaseModel):
        log: list[Any] | None = None
        context: dict[str, Any] = {}

    node = make_node(max_tokens=6, input_messages_key="log")
    update = await node(State(log=talk(9)))
    assert update["summarized_messages"][1:] == talk(9)[6:]
    with pytest.raises(ValueError, match="Missing required field `log`"):
        await node(State())


async def test_node_in_a_graph(short_term: Any, scribe: Scribe) -> None:
    """Added by name only, it runs in a graph, and a checkpointer carries its summary from run to
    run."""
    seen = []

    class State(MessagesState):
        summarized_messages: list[Any]
        context: dict[str, Any]

    def model(state: State) -> dict[str, Any]:
        seen.append(texts(state["summarized_messages"]))
        return {"messages": [AIMessage(f"answer {len(seen)}")]}

    graph = StateGraph(State)
    graph.add_node(short_term.SummarizationNode(
        model=scribe, max_tokens=4, max_summary_tokens=1, token_counter=len
    ))  # fmt: skip
    graph.add_node(model)
    graph.add_edge(START, "summarization")
    graph.add_edge("summarization", "model")
    app = graph.compile(checkpointer=InMemorySaver())
    for i in range(1, 5):
        config = {"configurable": {"thread_id": "1"}}
        state = await app.ainvoke({"messages": [HumanMessage(f"question {i}")]}, config)
    assert seen[-1] == [
        "Summary of the conversation so far: summary 1",
        "question 3",
        "answer 3",
        "question 4",
    ]
    assert len(state["messages"]) == 8


def test_names_and_parameters_are_langmems() -> None:
    """Every public name and parameter of langmem.short_term exists here, with the same default."""
    for name in langmem.short_term.__all__:
        their_object = getattr(langmem.short_term, name)
        our_object = getattr(langmemory.short_term, name)
        their_parameters = inspect.signature(their_object).parameters
        our_parameters = inspect.signature(our_object).parameters
        assert list(our_parameters)[: len(their_parameters)] == list(their_parameters)
        for parameter, theirs_is in their_parameters.items():
            default = theirs_is.default
            if not isinstance(default, ChatPromptTemplate):
                assert our_parameters[parameter].default == default
            assert our_parameters[parameter].kind == theirs_is.kind


@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_a_window_is_summarized_at_a_time(mode: str, scribe: Scribe) -> None:
    """`summary_window` (LangMem's after 0.0.30): nothing before the trigger; then the oldest messages
    of so many tokens, more only as far as the rest must fit; the summary counts towards the trigger,
    and what it covers is not summarized again."""
    node = ours.SummarizationNode(
        model=scribe, max_tokens=8, max_tokens_before_summary=6, max_summary_tokens=1,
        token_counter=len, summary_window=2,
    )  # fmt: skip

    async def run(state: dict[str, Any]) -> Any:
        return node.invoke(state) if mode == "sync" else await node.ainvoke(state)

    def covered(result: Any) -> set[str]:
        ids: set[str] = result["context"]["running_summary"].summarized_message_ids
        return ids

    assert "context" not in await run({"messages": talk(5)})
    first = await run({"messages": talk(6)})
    assert covered(first) == {"1", "2"}
    assert texts(first["summarized_messages"])[1:] == texts(talk(4, start=3))
    second = await run({"messages": talk(7), "context": first["context"]})
    assert covered(second) == {"1", "2", "3", "4"}
    assert len(scribe.asked) == 2
    node.max_tokens = 6
    assert covered(await run({"messages": talk(8)})) == {"1", "2", "3"}
    with pytest.raises(ValueError, match="summary_window=0"):
        ours.summarize_messages(
            talk(1), running_summary=None, model=scribe, max_tokens=400, summary_window=0
        )


@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_a_summary_covers_turns_up_to_an_age(mode: str, scribe: Scribe) -> None:
    """With `summarised_turns` a summary is made anew of the turns that are young enough and do not
    stay word for word; what is older is not in it. Where so many do not fit into the question, or
    the thread was cut, the summary is extended as ever."""
    options: dict[str, Any] = {"max_tokens": 40, "keep_turns": 2, "summarised_turns": 5}

    async def run(messages: list[Any], summary: Any = None, **changes: Any) -> Any:
        given = {"model": scribe, "token_counter": len, "max_summary_tokens": 1}
        given |= options | changes
        if mode == "sync":
            return ours.summarize_messages(messages, running_summary=summary, **given)
        return await ours.asummarize_messages(messages, running_summary=summary, **given)

    def asked() -> list[str]:
        return texts(scribe.asked[-1])

    first = await run(talk(8))  # four turns: too few to be too old
    assert asked() == [*texts(talk(4)), "Create a summary of the conversation above:"]
    second = await run(talk(16), first.running_summary)
    assert asked() == [*texts(talk(6, start=7)), "Create a summary of the conversation above:"]
    assert texts(second.messages)[1:] == texts(talk(4, start=13))
    assert second.running_summary.summarized_message_ids == {str(n) for n in range(1, 13)}
    for changes in ({"max_tokens": 5}, {"summarised_turns": None}):
        await run(talk(16), first.running_summary, **changes)
        assert "summary 1" in asked()[-1]
    with pytest.raises(ValueError, match="summarised_turns=2 must be above keep_turns=2"):
        await run(talk(1), summarised_turns=2)


THREADS = examples(600, first=150)


def test_random_conversations_end_the_same() -> None:
    """Over up to 600 random threads of six runs, results and prompts are LangMem's word for word, unless
    LangMem lost the person's last message, went over max_tokens, or showed its model more than it
    was allowed to."""
    dice = random.Random(7)
    compared = agreed = 0
    for _ in range(THREADS):
        counter = dice.choice([len, count_tokens_approximately])
        unit = 1 if counter is len else 8
        options = {
            "max_tokens": dice.randint(3, 10) * unit,
            "max_summary_tokens": dice.randint(1, 2) * unit,
            "max_tokens_before_summary": dice.choice([None, dice.randint(2, 12) * unit]),
            "token_counter": counter,
        }
        messages: list[Any] = [SystemMessage("system", id="s")] * dice.randint(0, 1)
        summaries: list[Any] = [None, None]
        for _ in range(6):
            for _ in range(dice.randint(1, 4)):
                length = dice.randint(1, 12)
                place = len(messages)
                messages.append(HumanMessage("q " * length, id=f"{place}"))
                messages.append(AIMessage("a " * length, id=f"{place + 1}"))
            messages.append(HumanMessage("last", id=f"{len(messages)}"))
            results, asked = [], []
            for side, module in enumerate((theirs, ours)):
                scribe = Scribe()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    result = module.summarize_messages(
                        messages, running_summary=summaries[side], model=scribe, **options
                    )
                summaries[side] = result.running_summary
                results.append(result)
                asked.append([texts(prompt)[:-1] for prompt in scribe.asked])
            their_result, our_result = results
            wrong = (
                messages[-1] not in their_result.messages
                or counter(their_result.messages) > options["max_tokens"]
            )
            dropped = any("human: " in text or "ai: " in text for p in asked[1] for text in p)
            if wrong or dropped:
                break
            compared += 1
            assert texts(our_result.messages) == texts(their_result.messages)
            assert asked[1] == asked[0]
            agreed += 1
    assert agreed == compared > 2.5 * THREADS
