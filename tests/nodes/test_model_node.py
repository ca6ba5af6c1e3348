"""ModelNode: the prompt it sends, and how it keeps it within the window."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from langmemory.context import ContextBudget
from langmemory.nodes import ModelNode
from tests.scripted import ScriptedModel

BUDGET = ContextBudget(window_tokens=16_000)


def turn(number: int, words: int) -> list[AnyMessage]:
    return [HumanMessage(f"Q{number} " + "word " * words), AIMessage(f"A{number}")]


def test_the_prompt_is_system_core_memories_conversation() -> None:
    """One system message with prompt, core memory, memory block and, once there is one, the summary;
    then the conversation."""
    model = ScriptedModel()
    node = ModelNode(model, prompt="PROMPT")
    state = {
        "messages": [HumanMessage("whole")],
        "core_memory": "CORE",
        "memory_block": {"text": "BLOCK"},
    }
    node.invoke(state)
    node.invoke({**state, "summarized_messages": [SystemMessage("SUMMARY"), HumanMessage("new")]})
    assert [[m.text for m in prompt] for prompt in model.prompts] == [
        ["PROMPT\n\nCORE\n\nBLOCK", "whole"],
        ["PROMPT\n\nCORE\n\nBLOCK\n\nSUMMARY", "new"],
    ]


async def test_a_prompt_never_reaches_into_the_reserve() -> None:
    """Oldest turns go first, a summary and the last turn stay, and the report says what left."""
    model = ScriptedModel()
    node = ModelNode(model, budget=BUDGET)
    messages = [SystemMessage("SUMMARY"), *(m for n in range(40) for m in turn(n, 500))]
    update = await node.ainvoke({"messages": [*messages, HumanMessage("now")]})
    sent = model.prompts[-1]
    assert count_tokens_approximately(sent) <= BUDGET.hard_limit_tokens
    assert sent[0].text.endswith("SUMMARY")
    assert sent[1].type == "human"
    assert sent[-1].text == "now"
    assert update["budget"]["over"] == ["conversation"]
    left = len(messages) + 1 - len(sent)
    assert f"the {left} oldest messages did not fit" in update["budget"]["notices"][-1]


def test_old_tool_outputs_are_cleared_before_any_turn_is_lost() -> None:
    """A huge old tool result is cleared; its call and all turns stay."""
    model = ScriptedModel()
    call = {"name": "read", "args": {}, "id": "c1", "type": "tool_call"}
    messages: list[AnyMessage] = [
        HumanMessage("Read it"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("data " * 50_000, tool_call_id="c1"),
        AIMessage("I read it."),
        HumanMessage("now"),
    ]
    update = ModelNode(model, budget=BUDGET).invoke({"messages": messages})
    assert len(model.prompts[-1]) == 1 + len(messages)
    assert len(model.prompts[-1][3].text) < 1000
    assert update["budget"]["level"] == "peak"
