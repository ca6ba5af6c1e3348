"""The chat graph end to end, with scripted models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.types import Command, interrupt

from langmemory.context import ContextBudget
from langmemory.context.turns import NO_RESULT
from langmemory.errors import ConfigError
from langmemory.graphs import NoModel, build_chat_graph
from langmemory.nodes import ModelNode, RecallNode, RememberNode, SummarizationNode
from langmemory.parts.langmem import (
    create_memory_manager,
    create_memory_searcher,
    create_memory_store_manager,
    create_thread_extractor,
)
from langmemory.reflection.queue import on_loop
from langmemory.tools import TOOLS, create_memory_tools
from langmemory.types import Namespace
from tests.scripted import ScriptedModel, invoked, tool_call
from tests.stores_in_use import STORES, StoreName, open_store

NAMESPACE = ("memories", "{user_id}")

BUILDERS: dict[str, Callable[[Any], object]] = {
    "chat graph": build_chat_graph,
    "model node": ModelNode,
    "summarization node": lambda model: SummarizationNode(
        model=model, max_tokens=100, max_summary_tokens=20
    ),
    "memory manager": create_memory_manager,
    "store manager": create_memory_store_manager,
    "searcher": create_memory_searcher,
    "thread extractor": create_thread_extractor,
}


@pytest.mark.parametrize("what", BUILDERS)
@pytest.mark.parametrize(
    "model", [None, "", NoModel, 7], ids=["None", "no name", "a class", "a number"]
)
def test_what_is_no_model_is_refused_at_once(what: str, model: Any) -> None:
    """A forgotten model is an error where it was forgotten, and not in the middle of a run."""
    with pytest.raises(ConfigError, match="pass a LangChain chat model"):
        BUILDERS[what](model)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    with open_store(request.param, tmp_path / "memory.db") as opened:
        yield opened


def run(thread: str, user: str = "anna") -> dict[str, Any]:
    return {"configurable": {"thread_id": thread, "user_id": user}}


def say(graph: CompiledStateGraph[Any, Any, Any, Any], text: str, thread: str, user: str) -> Any:
    return graph.invoke({"messages": [HumanMessage(text)]}, run(thread, user))


def system(model: ScriptedModel) -> str:
    """The system message of the last prompt."""
    first = model.prompts[-1][0]
    assert isinstance(first, SystemMessage)
    return first.text


async def test_an_answer_made_anew_does_not_see_the_one_before(tmp_path: Path) -> None:
    """A person who asks for another answer wants one that is not given the first as a memory; what
    other threads said is still there, and another thread may recall the first answer."""
    with open_store("memory_store", tmp_path / "memory.db") as store:
        model = ScriptedModel(script=["Noted.", "Bello the First.", "Bello the Second."])
        graph = build_chat_graph(model, store=store, checkpointer=InMemorySaver())
        say(graph, "My dog is called Bello.", "t0", "anna")
        say(graph, "What is my dog called?", "t1", "anna")
        before = next(
            one
            for one in graph.get_state_history(run("t1"))
            if one.next == ("recall",) and one.values.get("messages")
        )
        config: Any = {"configurable": {**before.config["configurable"], "user_id": "anna"}}
        for answer in (graph.invoke(None, config), await graph.ainvoke(None, config)):
            assert answer["messages"][-1].id is not None
            assert "My dog is called Bello" in system(model)
            assert "the First" not in system(model)
            assert "the Second" not in system(model)
        say(graph, "Is my dog Bello the First?", "t2", "anna")
        assert "the Second" in system(model)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("edited", [0, 1])
async def test_a_branch_that_was_left_is_not_recalled(
    tmp_path: Path, edited: int, asynchronous: bool
) -> None:
    """Whoever edits a message goes on from the checkpoint before it: what was said after that is not
    recalled in this branch, neither at once nor later. In the other branch and in other threads it is."""
    nothing = {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]}
    said = ["My dog is called Bello.", "My dog Bello eats fish."]
    with open_store("memory_store", tmp_path / "memory.db") as store:
        graph = build_chat_graph(ScriptedModel(), store=store, checkpointer=InMemorySaver())

        async def recalled(text: str, config: Any) -> str:
            asked = {"messages": [HumanMessage(text)]}
            state = (
                await graph.ainvoke(asked, config) if asynchronous else graph.invoke(asked, config)
            )
            return str(state["memory_block"]["text"])

        for text in said:
            await recalled(text, run("t1"))
        history = list(graph.get_state_history(run("t1")))
        start = [one.config for one in history if one.next == ("__start__",)][1 - edited]
        config: Any = {"configurable": {**start["configurable"], "user_id": "anna"}}
        assert said[edited] not in await recalled("My dog is called Rex.", config)

        graph.update_state(run("t1"), nothing)
        shown = await recalled("What is my dog Bello called, and what does it eat?", run("t1"))
        assert "Rex" in shown
        assert "fish" not in shown
        assert (said[0] in shown) == (edited == 1)

        graph.update_state(history[0].config, nothing)
        assert "fish" in await recalled("What does my dog Bello eat?", run("t1"))
        assert "fish" in await recalled("What does my dog Bello eat?", run("t2"))


async def test_the_model_sees_what_other_threads_said_and_no_other_user(store: BaseStore) -> None:
    """A user's message is in the prompt of their next thread, sync and async, on every store, and
    never in another user's prompt."""
    model = ScriptedModel()
    graph = build_chat_graph(model, store=store, checkpointer=InMemorySaver())
    say(graph, "My dog is called Bello.", "t1", "anna")
    say(graph, "What is my dog called?", "t2", "anna")
    assert "Bello" in system(model)
    message = {"messages": [HumanMessage("What is my dog called again?")]}
    if not isinstance(store, SqliteStore):  # which has no async methods
        await graph.ainvoke(message, run("t3"))  # type: ignore[arg-type]
        assert "Bello" in system(model)
    say(graph, "What is my dog called?", "t4", "bert")
    assert "Bello" not in str(model.prompts[-1])


def test_turns_in_the_window_are_not_shown_twice(store: BaseStore) -> None:
    """The memory block leaves out what the conversation itself still shows."""
    model = ScriptedModel()
    graph = build_chat_graph(model, store=store, checkpointer=InMemorySaver())
    say(graph, "My dog is called Bello.", "t1", "anna")
    state = say(graph, "What is my dog called?", "t1", "anna")
    assert "Bello" not in system(model)
    assert state["memory_block"]["text"] == ""


def test_the_state_explains_itself(store: BaseStore) -> None:
    """Block, trace and budget say what was recalled, by which query, and how full the window is."""
    model = ScriptedModel()
    graph = build_chat_graph(model, store=store, checkpointer=InMemorySaver())
    say(graph, "My dog is called Bello.", "t1", "anna")
    state = say(graph, "What is my dog called?", "t2", "anna")
    assert state["recall_trace"]["query"] == "What is my dog called?"
    assert state["recall_trace"]["shown"] == len(state["memory_block"]["entries"]) > 0
    assert state["recalled"][0]["text"] == "My dog is called Bello."
    assert state["budget"]["level"] == "peak"
    assert state["budget"]["parts"]["retrieved"]["used"] > 0
    assert state["memory_internal"]["remembered_id"] == state["messages"][-1].id


def test_the_model_manages_its_own_memory(store: BaseStore) -> None:
    """Tool calls loop back to the model; what it wrote to core memory is in every later prompt."""
    model = ScriptedModel(
        script=[
            tool_call("core_memory_append", block="human", content="Allergic to peanuts"),
            tool_call("core_memory_append", block="nonsense", content="x"),
            "Noted.",
        ]
    )
    tools = create_memory_tools(NAMESPACE, tools=TOOLS)
    graph = build_chat_graph(model, tools=tools, store=store, checkpointer=InMemorySaver())
    state = say(graph, "Remember that I cannot eat peanuts.", "t1", "anna")
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert [m.status for m in state["messages"] if m.type == "tool"] == ["success", "error"]
    say(graph, "Hello", "t2", "anna")
    assert "| Allergic to peanuts" in system(model)
    say(graph, "Hello", "t3", "bert")
    assert "peanuts" not in system(model)


def test_new_turns_are_handed_to_reflection_once() -> None:
    """The queue gets the keys of each turn exactly once, with namespace and thread."""
    submitted: list[tuple[Namespace, str, list[str]]] = []

    class Queue:
        def submit(self, namespace: Namespace, *, thread_id: str, keys: Any) -> None:
            submitted.append((namespace, thread_id, list(keys)))

    store = InMemoryStore()
    graph = build_chat_graph(
        ScriptedModel(), reflection=Queue(), store=store, checkpointer=InMemorySaver()
    )
    for text in ("One", "Two"):
        say(graph, text, "t1", "anna")
    assert [(namespace, thread) for namespace, thread, _ in submitted] == [
        (("memories", "anna"), "t1")
    ] * 2
    keys = [key for _, _, keys in submitted for key in keys]
    assert len(keys) == len(set(keys)) == 4
    assert set(keys) == {item.key for item in store.search(("memories", "anna"))}


@pytest.mark.parametrize("name", ["memory_store", "in_memory_no_index"])
async def test_an_awaited_turn_is_queued_for_good_when_its_run_ends(
    name: StoreName, tmp_path: Path
) -> None:
    """The queue is handed the turn off the event loop, where it waits until the job is in the file: a
    process that is killed after the answer has lost none."""
    handed_on_loop = []

    class Queue:
        def submit(self, namespace: Namespace, *, thread_id: str, keys: Any) -> None:
            handed_on_loop.append(on_loop())

    said: Any = {"messages": [HumanMessage("I live in Lyon.")]}
    with open_store(name, tmp_path / "memory.db") as store:
        graph = build_chat_graph(ScriptedModel(), reflection=Queue(), store=store)
        await graph.ainvoke(said, run("t1"))
    assert handed_on_loop == [False]


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: build_chat_graph(ScriptedModel(), budget=1000), "memory_budget="),
        (
            lambda: build_chat_graph(ScriptedModel(), reflection=build_chat_graph(NoModel())),
            "is a CompiledStateGraph; pass ReflectionExecutor",
        ),
        (
            lambda: build_chat_graph(ScriptedModel(), core=False),
            "core blocks are False; pass a dict",
        ),  # type: ignore[arg-type]
        (lambda: RecallNode(min_score="high"), "min_score is 'high'; it must be a number"),  # type: ignore[arg-type]
        (lambda: RecallNode(kinds=["fact"]), "kinds holds 'fact'; allowed are core"),  # type: ignore[list-item]
        (lambda: RecallNode(limit=-1), "limit is -1; it must be a whole number"),
        (lambda: RecallNode(InMemoryStore()), "is a InMemoryStore; pass a tuple .* store="),
        (lambda: RememberNode(InMemoryStore()), "is a InMemoryStore; pass a tuple .* store="),
    ],
)
def test_an_argument_that_is_taken_for_another_is_named_at_once(build: Any, words: str) -> None:
    """When the graph or node is made, not by its first run, and the error says what to pass."""
    with pytest.raises(ConfigError, match=words):
        build()


def test_a_turn_whose_model_failed_is_remembered_with_the_next(store: BaseStore) -> None:
    """When the model fails the run fails, and what the person said is not lost."""
    model = ScriptedModel(script=[RuntimeError("overloaded"), "Fine."])
    graph = build_chat_graph(model, store=store, checkpointer=InMemorySaver())
    with pytest.raises(RuntimeError, match="overloaded"):
        say(graph, "My locker number is 7.", "t1", "anna")
    say(graph, "Are you there?", "t1", "anna")
    said = [i.value["content"] for i in store.search(("memories", "anna"))]
    assert sorted(said) == ["Are you there?", "Fine.", "My locker number is 7."]


def test_a_summary_is_not_streamed_to_the_person() -> None:
    """Streaming messages shows the answer alone, while a summary is written too, of any type."""
    summarizer = ScriptedModel(otherwise="THE SUMMARY")
    graph = build_chat_graph(
        ScriptedModel(otherwise="word " * 60),
        summary_model=summarizer,
        budget=ContextBudget(window_tokens=16_000),
        store=InMemoryStore(),
        checkpointer=InMemorySaver(),
    )
    shown = ""
    for _ in range(20):
        message = {"messages": [HumanMessage("Tell me more about it, please. " * 5)]}
        for chunk, _ in graph.stream(message, run("t1"), stream_mode="messages"):  # type: ignore[arg-type]
            shown += chunk.text
    assert summarizer.prompts
    assert "word" in shown
    assert "THE SUMMARY" not in shown


def test_no_model_answers_from_memory_and_is_not_remembered(store: BaseStore) -> None:
    """Without a model the graph recalls, says that no model is configured, and does not feed on
    its own answers."""
    graph = build_chat_graph(NoModel(), store=store, checkpointer=InMemorySaver())
    say(graph, "My dog is called Bello.", "t1", "anna")
    say(graph, "What is my dog called?", "t2", "anna")
    answer = say(graph, "What is my dog called?", "t3", "anna")["messages"][-1]
    assert isinstance(answer, AIMessage)
    assert "Bello" in answer.text
    assert "No chat model is configured" in answer.text
    stored = [item.value["content"] for item in store.search(("memories", "anna"))]
    assert sorted(stored) == [
        "My dog is called Bello.",
        "What is my dog called?",
        "What is my dog called?",
    ]


def test_a_graph_without_a_store_says_what_to_do() -> None:
    """A graph that runs without a store fails with the next step in the message."""
    graph = build_chat_graph(NoModel())
    with pytest.raises(ConfigError, match="compile the graph with store="):
        say(graph, "Hi", "t1", "anna")


def test_studio_can_read_the_schemas_and_the_steps() -> None:
    """The JSON schemas Studio asks for exist, context is a form with user_id, and the drawing shows
    every step."""
    graph = build_chat_graph(ScriptedModel(), tools=create_memory_tools(NAMESPACE, tools=TOOLS))
    schema = graph.get_output_jsonschema()
    properties = schema["properties"]
    assert {"messages", "memory_block", "recall_trace", "budget", "context"} <= set(properties)
    assert properties["memory_usage"]["items"] == {"$ref": "#/$defs/Usage"}
    assert {"level", "fill", "parts", "notices"} <= set(
        schema["$defs"]["BudgetReport"]["properties"]
    )
    assert set(graph.get_input_jsonschema()["properties"]) == {"messages"}
    asked: Any = graph.get_context_jsonschema()
    assert set(asked["properties"]) == {"user_id", "project"}
    assert "Whose memories" in asked["properties"]["user_id"]["description"]
    nodes = set(graph.get_graph().nodes) - {"__start__", "__end__"}
    assert nodes == {"recall", "summarize", "model", "tools", "remember", "condense"}


@pytest.mark.parametrize(
    "called", [["timetable"], ["timetable"] * 2, ["timetable", "search_memory"]]
)
def test_the_result_of_a_tool_that_returns_directly_is_the_answer(
    tmp_path: Path, called: list[str]
) -> None:
    """The model is not asked again, unless it called another tool with it; what the person was answered
    is remembered."""

    @tool(return_direct=True)
    def timetable(query: str) -> str:
        """When trains leave."""
        return "The train leaves at nine."

    model = ScriptedModel(
        script=[
            AIMessage(
                "",
                tool_calls=[
                    {"name": name, "args": {"query": "train"}, "id": f"call-{number}"}
                    for number, name in enumerate(called)
                ],
            ),
            "At nine.",
        ]
    )
    with open_store("memory_store", tmp_path / "memory.db") as store:
        tools = [*create_memory_tools(NAMESPACE, tools=TOOLS), timetable]
        graph = build_chat_graph(model, tools=tools, store=store, checkpointer=InMemorySaver())
        graph.invoke({"messages": [HumanMessage("When?")]}, run("t1"))
        items = store.search(("memories", "anna"), filter={"role": "assistant"})
    answers = [item.value["content"] for item in items]
    if "search_memory" in called:
        assert answers == ["At nine."]
    else:
        assert answers == ["The train leaves at nine."] * len(called)
        assert len(model.prompts) == 1


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_a_tool_call_is_not_made_again_when_another_is_resumed(
    tmp_path: Path, call: str
) -> None:
    """Of several calls in one answer one waits for a person; what the others did is done once."""

    @tool
    def ask(question: str) -> str:
        """Ask the person."""
        return str(interrupt(question))

    calls = [
        tool_call("manage_memory", "call-1", content="Anna likes Barolo."),
        tool_call("core_memory_append", "call-2", block="human", content="Likes Barolo."),
        tool_call("ask", "call-3", question="Really?"),
    ]
    thread: Any = run("t1")
    together = AIMessage("", tool_calls=[each.tool_calls[0] for each in calls])
    with open_store("memory_store", tmp_path / "memory.db") as store:
        graph = build_chat_graph(
            ScriptedModel(script=[together, "Noted."]),
            tools=[*create_memory_tools(NAMESPACE, tools=TOOLS), ask],
            store=store,
            checkpointer=InMemorySaver(),
        )
        given: list[Any] = [{"messages": [HumanMessage("I like Barolo.")]}, Command(resume="Yes.")]
        for each in given:
            state = await invoked(graph, call, each, thread)
        texts = [item.value["content"] for item in store.search(("memories", "anna"), limit=50)]
    assert sorted(texts) == ["Anna likes Barolo.", "I like Barolo.", "Likes Barolo.", "Noted."]
    answers = [m.text for m in state["messages"] if m.type == "tool"]
    assert [text.partition(" ")[0] for text in answers] == ["created", "Block", "Yes."]


def test_a_model_reads_the_long_result_it_asked_for() -> None:
    """A result longer than the conversation's share of the window reaches the model that called the
    tool, before it is summarized."""

    @tool
    def look(q: str) -> str:
        """Look it up."""
        return "secret number 42. " + "word " * 1_500

    model = ScriptedModel(script=[tool_call("look", q="x")], otherwise="It is 42.")
    graph = build_chat_graph(
        model,
        tools=[look],
        summary_model=ScriptedModel(otherwise="A summary."),
        budget=ContextBudget(window_tokens=16_000),
        store=InMemoryStore(),
    )
    graph.invoke({"messages": [HumanMessage("Look it up.")]}, run("t"))
    assert "secret number 42" in model.prompts[-1][-1].text


def unanswered(prompt: list[BaseMessage]) -> set[str]:
    """Ids of the calls in a prompt whose results do not follow at once; providers refuse one."""
    left: set[str] = set()
    waiting: set[str] = set()
    for message in [*prompt, HumanMessage("")]:
        if isinstance(message, ToolMessage):
            waiting.discard(message.tool_call_id)
            continue
        left |= waiting
        waiting = {
            str(each["id"]) for each in getattr(message, "tool_calls", ()) if each["id"] is not None
        }
    return left


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_a_thread_goes_on_after_a_call_that_was_broken_off(call: str) -> None:
    """A tool fails, or a person says something else instead of answering the tool that asks: every later
    prompt is one that providers accept, the summary's too, and says that there is no result."""

    @tool
    def look(q: str) -> str:
        """Look it up."""
        raise ConnectionError(q)

    @tool
    def ask(question: str) -> str:
        """Ask the person."""
        return str(interrupt(question))

    asked = [tool_call("ask", "call-2", question="Sure?"), tool_call("ask", "call-3", question="?")]
    both = AIMessage("", tool_calls=[each.tool_calls[0] for each in asked])
    model = ScriptedModel(
        script=[tool_call("look", "call-1", q="x"), both], otherwise="word " * 300
    )
    writer = ScriptedModel(otherwise="A summary.")
    graph = build_chat_graph(
        model,
        tools=[look, ask],
        summary_model=writer,
        budget=ContextBudget(window_tokens=16_000),
        store=InMemoryStore(),
        checkpointer=InMemorySaver(),
    )
    thread: Any = run("t1")
    for number in range(8):
        given: Any = {"messages": [HumanMessage(f"{number}. Go on.")]}
        with suppress(ConnectionError):
            await invoked(graph, call, given, thread)
    assert [unanswered(prompt) for prompt in [*model.prompts, *writer.prompts]] == [set()] * (
        len(model.prompts) + len(writer.prompts)
    )
    assert [m.text for m in model.prompts[2] if m.type == "tool"] == [NO_RESULT] * 3
    assert any(m.type == "tool" for m in writer.prompts[0])
    assert not any(m.type == "tool" for m in graph.get_state(thread).values["messages"])
