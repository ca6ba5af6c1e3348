"""MemoryMiddleware gives an agent made by `create_agent` the same memory the chat graph has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentState,
    HumanInTheLoopMiddleware,
    SummarizationMiddleware,
    before_model,
    dynamic_prompt,
    wrap_model_call,
)
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
)
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.store.base import BaseStore
from langgraph.types import Command
from pydantic import BaseModel

from langmemory import MemoryStore
from langmemory.errors import ConfigError
from langmemory.middleware import MemoryMiddleware
from langmemory.nodes import RecallNode
from langmemory.nodes.core_memory import CoreMemory
from tests.scripted import ScriptedModel, invoked, tool_call
from tests.stores_in_use import open_store


@pytest.fixture(params=["in_memory", "memory_store"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    with open_store(request.param, tmp_path / "memory.db") as opened:
        yield opened


def run(thread: str, user: str = "anna") -> Any:
    return {"configurable": {"thread_id": thread, "user_id": user}}


def message(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


@pytest.mark.parametrize("where", ["middleware", "agent"])
async def test_an_agent_recalls_and_remembers_across_threads(store: BaseStore, where: str) -> None:
    """Sync and async, with the store given to the middleware or to the agent, an agent's prompt
    holds what other threads said, after its own system prompt, and no other user's words."""
    model = ScriptedModel()
    agent = create_agent(
        model,
        system_prompt="You are Ada.",
        middleware=[MemoryMiddleware(store if where == "middleware" else None)],
        store=store if where == "agent" else None,
        checkpointer=InMemorySaver(),
    )
    agent.invoke(message("My dog is called Bello."), run("t1"))
    for thread, user in (("t2", "anna"), ("t3", "bert")):
        agent.invoke(message("What is my dog called?"), run(thread, user))
        system = model.prompts[-1][0].text
        assert system.startswith("You are Ada.")
        assert ("Bello" in system) == (user == "anna")
    await agent.ainvoke(message("What is my dog called?"), run("t4"))
    assert "Bello" in model.prompts[-1][0].text


async def test_memories_follow_a_prompt_written_by_middleware_before(store: BaseStore) -> None:
    """`@dynamic_prompt` writes the system prompt of every call; memory comes after it."""

    @dynamic_prompt
    def prompt(request: Any) -> str:
        return "You are Ada."

    model = ScriptedModel()
    agent = create_agent(
        model, middleware=[prompt, MemoryMiddleware(store)], checkpointer=InMemorySaver()
    )
    agent.invoke(message("My dog is called Bello."), run("t1"))
    await agent.ainvoke(message("What is my dog called?"), run("t2"))
    system = model.prompts[-1][0].text
    assert system.startswith("You are Ada.")
    assert "Bello" in system


def test_a_system_message_among_the_messages_is_the_only_one(store: BaseStore) -> None:
    """An application that has its prompt there gets the memories behind it, in the same message:
    many models accept no second one."""
    store.put(("memories", "anna"), "dog", {"content": "Anna's dog is called Bello."})
    model = ScriptedModel()
    agent = create_agent(model, middleware=[MemoryMiddleware(store)])
    prompt = SystemMessage("You are Ada.", additional_kwargs={"mine": 1})
    agent.invoke({"messages": [prompt, HumanMessage("What is my dog called?")]}, run("t1"))
    [[system, question]] = model.prompts
    assert system.text.startswith("You are Ada.\n\n<recalled_memories>")
    assert "Bello" in system.text
    assert system.additional_kwargs == {"mine": 1}
    assert question.type == "human"


@pytest.mark.parametrize("two", [False, True], ids=["one", "two"])
@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_what_the_model_is_not_shown_of_the_thread_can_be_recalled(
    store: BaseStore, call: str, two: bool
) -> None:
    """Middleware may leave old messages out of the requests and keep them in the thread. What it leaves
    out is recalled, what the model sees is not, nor anything of the thread once it is shown whole."""
    keep = 2

    @wrap_model_call
    def trim(request: Any, handler: Any) -> Any:
        return handler(request.override(messages=request.messages[-keep:]))

    @wrap_model_call
    async def atrim(request: Any, handler: Any) -> Any:
        return await handler(request.override(messages=request.messages[-keep:]))

    model = ScriptedModel()

    class TeamMemory(MemoryMiddleware):
        """LangChain tells the middleware of an agent apart by its class."""

    trimming = trim if call == "invoke" else atrim
    agent = create_agent(
        model,
        middleware=[
            trimming,
            MemoryMiddleware(store, tools=False),
            *([TeamMemory(store, namespace=("team",), tools=False)] if two else []),
        ],
        checkpointer=InMemorySaver(),
    )

    async def say(text: str) -> str:
        await invoked(agent, call, message(text), run("t1"))
        return "".join(m.text for m in model.prompts[-1] if isinstance(m, SystemMessage))

    for text in ("My dog is called Bello.", "My cat is called Minka.", "It rains in Ulm today."):
        await say(text)
    recalled = await say("What are the names of my dog and my cat?")
    assert "Bello" in recalled
    assert "Minka" in recalled
    assert "Ulm" not in recalled
    keep = 100
    await say("And whose dog is it?")
    assert "Bello" not in await say("Is my dog called Bello?")


class Pet(BaseModel):
    """An animal of somebody's."""

    called: str
    age: int


@tool(return_direct=True)
def departure(flight: str) -> str:
    """When a flight leaves."""
    if flight == "none":
        raise ToolException("There is no such flight.")
    return f"Flight {flight} leaves at nine."


departure.handle_tool_error = True

PET = {"called": "Béla", "age": 7}
BY_TOOL = ToolStrategy(Pet, tool_message_content="Noted.")


@pytest.mark.parametrize(
    ("script", "response_format", "answer"),
    [
        ([tool_call("departure", flight="A1")], None, ["Flight A1 leaves at nine."]),
        ([tool_call("departure", flight="none")], None, []),
        ([tool_call("Pet", **PET)], BY_TOOL, ['{"called": "Béla", "age": 7}']),
        (
            [AIMessage('{"called": "Béla", "age": 7}')],
            ProviderStrategy(Pet),
            ['{"called": "Béla", "age": 7}'],
        ),
        (
            [
                AIMessage(
                    "",
                    tool_calls=[
                        {"name": "search_memory", "args": {"query": "Béla"}, "id": "1"},
                        {"name": "Pet", "args": PET, "id": "2"},
                    ],
                )
            ],
            ToolStrategy(Pet),
            ['{"called": "Béla", "age": 7}'],
        ),
    ],
    ids=[
        "directly",
        "directly, an error",
        "structure",
        "structure of the provider",
        "structure and search",
    ],
)
@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_an_answer_that_a_tool_gives_is_what_the_assistant_said(
    store: BaseStore, call: str, script: list[Any], response_format: Any, answer: list[str]
) -> None:
    """The result of a tool that returns directly, and an answer in a structure, are remembered once, in
    their place; an error is not, nor what a tool called beside it found."""
    agent = create_agent(
        ScriptedModel(script=list(script)),
        [departure],
        middleware=[MemoryMiddleware(store)],
        response_format=response_format,
        checkpointer=InMemorySaver(),
    )
    await invoked(agent, call, message("Tell me."), run("t1"))
    items = store.search(("memories", "anna"), limit=100)
    stored = sorted((item.value["role"], item.value["content"]) for item in items)
    assert stored == [*(("assistant", text) for text in answer), ("user", "Tell me.")]


@pytest.mark.parametrize("memory_first", [True, False])
@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_what_is_summarized_within_a_run_is_remembered(
    store: BaseStore, call: str, memory_first: bool
) -> None:
    """In a run of many steps other middleware takes out of the messages what the person said; it is
    remembered once, as the model was shown it."""

    @before_model
    def redact(state: Any, runtime: Any) -> dict[str, Any]:
        said = (m for m in state["messages"] if isinstance(m, HumanMessage))
        hidden = (m.model_copy(update={"content": m.text.replace("1234", "****")}) for m in said)
        return {"messages": list(hidden)}

    steps = [tool_call("search_memory", f"call-{number}", query="Mia") for number in range(8)]
    others = [
        redact,
        SummarizationMiddleware(
            ScriptedModel(otherwise="A summary"), trigger=("messages", 6), keep=("messages", 2)
        ),
    ]
    memory = MemoryMiddleware(store)
    agent = create_agent(
        ScriptedModel(script=[*steps, "On Monday."]),
        middleware=[memory, *others] if memory_first else [*others, memory],
        checkpointer=InMemorySaver(),
    )
    for text in ("My daughter Mia starts school on Monday. PIN 1234.", "Thanks."):
        result = await invoked(agent, call, message(text), run("t1"))
    assert "My daughter" not in "".join(m.text for m in result["messages"])
    assert sorted(item.value["content"] for item in store.search(("memories", "anna"))) == [
        "My daughter Mia starts school on Monday. PIN ****.",
        "On Monday.",
        "Thanks.",
        "Understood.",
    ]
    assert agent.get_state(run("t1")).values["memory_internal"]["said"] == []


@pytest.mark.parametrize("memory_first", [True, False])
@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_what_a_failed_run_left_is_remembered_though_it_is_summarized(
    store: BaseStore, call: str, memory_first: bool
) -> None:
    """The model fails before its first answer; the next run takes the message out of the thread
    before anybody has seen it. It is remembered all the same, once."""
    summary = SummarizationMiddleware(
        ScriptedModel(otherwise="A summary"), trigger=("messages", 4), keep=("messages", 1)
    )
    memory = MemoryMiddleware(store, tools=False)
    agent = create_agent(
        ScriptedModel(script=["Hello.", ConnectionError("no model")]),
        middleware=[memory, summary] if memory_first else [summary, memory],
        checkpointer=InMemorySaver(),
    )
    for text in ("Good morning.", "My son is called Tim.", "Are you there?"):
        with suppress(ConnectionError):
            result = await invoked(agent, call, message(text), run("t1"))
    assert "Tim" not in "".join(m.text for m in result["messages"])
    items = store.search(("memories", "anna"), filter={"role": "user"})
    assert sorted(item.value["content"] for item in items) == [
        "Are you there?",
        "Good morning.",
        "My son is called Tim.",
    ]


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_what_is_taken_out_of_the_middle_is_remembered(store: BaseStore, call: str) -> None:
    """Middleware that keeps the first message and the newest ones takes out what the person said after
    the last message that is remembered. It is remembered all the same, once."""

    @before_model
    def trim(state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": [RemoveMessage(each.id) for each in state["messages"][1:-2]]}

    steps = [tool_call("search_memory", f"call-{number}", query="Mia") for number in range(3)]
    agent = create_agent(
        ScriptedModel(script=["", *steps, "On Monday."]),
        middleware=[trim, MemoryMiddleware(store)],
        checkpointer=InMemorySaver(),
    )
    for text in ("This is Anna.", "My daughter Mia starts school on Monday."):
        result = await invoked(agent, call, message(text), run("t1"))
    assert "My daughter" not in "".join(m.text for m in result["messages"])
    assert sorted(item.value["content"] for item in store.search(("memories", "anna"))) == [
        "My daughter Mia starts school on Monday.",
        "On Monday.",
        "This is Anna.",
    ]


@pytest.mark.parametrize("memory_first", [True, False])
@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_what_gets_a_new_id_at_every_step_is_remembered_once(
    store: BaseStore, call: str, memory_first: bool
) -> None:
    """Middleware that writes the messages anew before every call of the model gives them other ids;
    what a person said is remembered as the model was shown it, and not once for every step."""

    @before_model
    def redact(state: Any, runtime: Any) -> dict[str, Any]:
        anew = [
            HumanMessage(each.text.replace("1234", "****"))
            if isinstance(each, HumanMessage)
            else each
            for each in state["messages"]
        ]
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *anew]}

    steps = [tool_call("search_memory", f"call-{number}", query="PIN") for number in range(6)]
    memory = MemoryMiddleware(store)
    agent = create_agent(
        ScriptedModel(script=[*steps[:3], "I see.", *steps[3:], "You are welcome."]),
        middleware=[memory, redact] if memory_first else [redact, memory],
        checkpointer=InMemorySaver(),
    )
    for text in ("My desk is 1234.", "Thanks."):
        await invoked(agent, call, message(text), run("t1"))
    assert sorted(item.value["content"] for item in store.search(("memories", "anna"))) == [
        "I see.",
        "My desk is ****.",
        "Thanks.",
        "You are welcome.",
    ]


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_memory_for_one_and_for_all_both_remember(store: BaseStore, call: str) -> None:
    """Two of them in one agent, a person's and the team's, each remember everything once."""

    class TeamMemory(MemoryMiddleware):
        """LangChain tells the middleware of an agent apart by its class."""

    agent = create_agent(
        ScriptedModel(),
        middleware=[MemoryMiddleware(store), TeamMemory(store, namespace=("team",), tools=False)],
        checkpointer=InMemorySaver(),
    )
    for text in ("My dog is called Bello.", "He eats everything."):
        await invoked(agent, call, message(text), run("t1"))
    for where in (("memories", "anna"), ("team",)):
        assert sorted(item.value["content"] for item in store.search(where)) == [
            "He eats everything.",
            "My dog is called Bello.",
            "Understood.",
            "Understood.",
        ]


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_what_two_of_them_recall_is_shown_once_each(store: BaseStore, call: str) -> None:
    """Of two of them in one agent each puts what it recalls into the prompt, in every turn."""

    class TeamMemory(MemoryMiddleware):
        """LangChain tells the middleware of an agent apart by its class."""

    store.put(("memories", "anna"), "dog", {"content": "Anna's dog is called Bello."})
    store.put(("team",), "dog", {"content": "The team's dog is called Rex."})
    model = ScriptedModel()
    team = TeamMemory(store, namespace=("team",), tools=False)
    agent = create_agent(
        model, middleware=[MemoryMiddleware(store), team], checkpointer=InMemorySaver()
    )
    for text in ("What is the dog called?", "And the dog's name again?"):
        await invoked(agent, call, message(text), run("t1"))
        system = model.prompts[-1][0].text
        assert [system.count(name) for name in ("Bello", "Rex", "<recalled_memories>")] == [1, 1, 2]


def test_an_agent_counts_over_all_its_turns_what_it_showed(store: BaseStore) -> None:
    """How often a memory was shown, and cited by an answer that did well, adds up over the turns of a
    thread, as in the chat graph."""

    def cite(prompt: list[BaseMessage]) -> str:
        [label] = re.findall(r"\[R:\w+\]", prompt[0].text)
        return f"Bello. {label}"

    store.put(("memories", "anna"), "dog", {"content": "Anna's dog is called Bello."})
    model = ScriptedModel(otherwise=cite)
    agent = create_agent(
        model, middleware=[MemoryMiddleware(store, tools=False)], checkpointer=InMemorySaver()
    )
    for text in ("What is my dog called?", "My dog is called what?", "What is my dog's name?"):
        agent.invoke(message(text), run("t1"))
    [dog] = agent.get_state(run("t1")).values["memory_usage"]
    assert (dog["loaded"], dog["referenced"], dog["succeeded"]) == (3, 3, 3)


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_what_is_summarized_stays_with_who_said_it(store: BaseStore, call: str) -> None:
    """In a thread that two people share, what one said in a run that failed is taken out of the
    messages while the other talks: it never becomes theirs, and is remembered when the person who
    said it speaks again."""
    summary = SummarizationMiddleware(
        ScriptedModel(otherwise="A summary"), trigger=("messages", 4), keep=("messages", 1)
    )
    model = ScriptedModel(
        script=[tool_call("search_memory", query="me"), ConnectionError("no model")]
    )
    agent = create_agent(
        model, middleware=[MemoryMiddleware(store), summary], checkpointer=InMemorySaver()
    )
    for text, user in (
        ("I am ill.", "bert"),
        ("Anna here.", "anna"),
        ("Anna again.", "anna"),
        ("Thanks.", "bert"),
    ):
        with suppress(ConnectionError):
            await invoked(agent, call, message(text), run("t1", user))
    for user, texts in (
        ("anna", ["Anna again.", "Anna here."]),
        ("bert", ["I am ill.", "Thanks."]),
    ):
        items = store.search(("memories", user), filter={"role": "user"})
        assert sorted(item.value["content"] for item in items) == texts


async def test_an_agent_edits_its_core_memory(store: BaseStore) -> None:
    """The memory tools come with the middleware; a bad call is answered and the run goes on."""
    model = ScriptedModel(
        script=[
            tool_call("core_memory_append", block="human", content="Allergic to peanuts"),
            tool_call("get_memory", id="R:00000000"),
            "Noted.",
        ]
    )
    memory = MemoryMiddleware(store, tools=["get_memory", "core_memory_append"])
    agent = create_agent(model, middleware=[memory], checkpointer=InMemorySaver())
    result = await agent.ainvoke(message("No peanuts for me, please."), run("t1"))
    assert "There is no memory" in result["messages"][-2].text
    agent.invoke(message("Hello"), run("t2"))
    assert "| Allergic to peanuts" in model.prompts[-1][0].text


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_a_nearly_full_core_block_is_rewritten(store: BaseStore, call: str) -> None:
    """With a summary model, a block at 90 % of its limit is shorter after the run; what the model
    wrote is not in the agent's answer."""
    core = CoreMemory(store, ("memories", "anna"), limits={"human": 100})
    core.rethink("human", "Likes tea. " * 9)
    memory = MemoryMiddleware(store, summary_model=ScriptedModel(otherwise="Likes tea."))
    agent = create_agent(ScriptedModel(), middleware=[memory])
    for _ in range(2):
        result = await invoked(agent, call, message("Hello"), run("t1"))
    assert [m.text for m in result["messages"]] == ["Hello", "Understood."]
    assert core.block("human").content == "Likes tea."
    assert core.block("human").version == 2


@pytest.mark.parametrize("given", ["memory.db", MemoryStore])
def test_what_is_no_store_is_said_to_be_none(given: Any) -> None:
    """A path, or the class: the error names it and says what to pass."""
    agent = create_agent(ScriptedModel(), middleware=[MemoryMiddleware(given)])
    with pytest.raises(ConfigError, match=r"no store but .*MemoryStore\(\"memory.db\"\)"):
        agent.invoke(message("Hi"), run("t1"))


def test_what_is_no_budget_and_no_blocks_is_named(store: BaseStore) -> None:
    """Names alone for the core blocks, and a budget that is text, are named with what to pass."""
    names: Any = ["human", "task"]
    with pytest.raises(ConfigError, match=r"\['human', 'task'\]; pass a dict of their labels"):
        MemoryMiddleware(store, core=names)
    with pytest.raises(ConfigError, match=r"\['human', 'task'\]; pass a dict of their labels"):
        RecallNode(store=store, core=names).invoke(message("Hi"), run("t1"))
    text: Any = "400"
    agent = create_agent(ScriptedModel(), middleware=[MemoryMiddleware(store, budget=text)])
    with pytest.raises(ConfigError, match="budget is '400'; pass tokens"):
        agent.invoke(message("Hi"), run("t1"))


def test_memory_stays_out_of_the_agents_input_and_output(store: BaseStore) -> None:
    """Memory's state keys are neither required from callers nor returned to them."""
    agent = create_agent(ScriptedModel(), middleware=[MemoryMiddleware(store)])
    assert set(agent.get_input_jsonschema()["properties"]) == {"messages"}
    assert set(agent.invoke(message("Hi"), run("t1"))) == {"messages"}


def test_an_agent_without_memory_tools(store: BaseStore) -> None:
    """`tools=False` leaves memory to the program."""
    model = ScriptedModel()
    agent = create_agent(model, middleware=[MemoryMiddleware(store, tools=False)])
    agent.invoke(message("Hi"), run("t1"))
    assert model.tool_names == []


@pytest.mark.parametrize("first", ["summary", "memory"])
def test_a_summary_by_langchains_middleware_is_not_what_the_person_said(
    store: BaseStore, first: str
) -> None:
    """LangChain puts its summary among the messages as a human message. It is neither remembered
    nor looked up, whatever the order of the two; what it stands for is remembered once."""
    summary = SummarizationMiddleware(
        ScriptedModel(otherwise="They talk about bees."),
        trigger=("messages", 4),
        keep=("messages", 1),
    )
    memory = MemoryMiddleware(store, tools=False)
    agent = create_agent(
        ScriptedModel(),
        middleware=[summary, memory] if first == "summary" else [memory, summary],
        checkpointer=InMemorySaver(),
    )
    texts = [f"The {number}. hive is mine." for number in range(6)]
    for text in texts:
        state = agent.invoke(message(text), run("t1"))
    assert any("about bees" in each.text for each in state["messages"])
    items = store.search(("memories", "anna"), filter={"thread_id": "t1"}, limit=100)
    by_role: dict[str, list[str]] = {"user": [], "assistant": []}
    for item in items:
        by_role[item.value["role"]].append(item.value["content"])
    assert sorted(by_role["user"]) == texts
    assert len(by_role["assistant"]) == len(texts)


def test_an_approval_by_somebody_else_leaves_the_words_with_who_said_them(
    store: BaseStore,
) -> None:
    """Who resumes another person's interrupted turn does not get it into their memory; the person
    who said it does."""

    @tool
    def pay(euros: int) -> str:
        """Pay."""
        return f"Paid {euros}."

    model = ScriptedModel(script=[tool_call("pay", euros=90), "Paid."])
    agent = create_agent(
        model,
        [pay],
        middleware=[
            MemoryMiddleware(tools=False),
            HumanInTheLoopMiddleware(interrupt_on={"pay": True}),
        ],
        store=store,
        checkpointer=InMemorySaver(),
    )
    agent.invoke(message("Pay my therapist."), run("t1"))
    approved: Any = Command(resume={"decisions": [{"type": "approve"}]})
    agent.invoke(approved, run("t1", "boss"))
    assert store.search(("memories", "boss")) == []
    agent.invoke(message("Thanks."), run("t1"))
    said = {item.value["content"] for item in store.search(("memories", "anna"))}
    assert said == {"Pay my therapist.", "Paid.", "Thanks.", "Understood."}


def test_an_applications_own_key_is_left_alone(tmp_path: Path) -> None:
    """An agent whose state has a topic of its own keeps it: what memory notes stands under its own keys."""

    class OwnState(AgentState[Any]):
        topic: str

    with MemoryStore(tmp_path / "memory.db") as store:
        agent = create_agent(
            ScriptedModel(), state_schema=OwnState, middleware=[MemoryMiddleware()], store=store
        )
        asked: Any = {"messages": [HumanMessage("I live in Lyon.")], "topic": "moving"}
        assert agent.invoke(asked, {"configurable": {"user_id": "ana"}})["topic"] == "moving"
