"""The memory tools a model gets are chosen by name, and the usual ones cost little."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.utils.function_calling import convert_to_openai_tool

from langmemory.errors import ConfigError
from langmemory.tools import DEFAULT_TOOLS, TOOLS, create_memory_tools

NAMESPACE = ("memories", "{user_id}")


def tokens(tools: list[Any]) -> int:
    return count_tokens_approximately([], tools=[convert_to_openai_tool(one) for one in tools])


def test_the_usual_tools_take_at_most_600_tokens() -> None:
    """Their schemas, by the counter that counts everything else; with all of them it is less than 1,100."""
    usual = create_memory_tools(NAMESPACE)
    assert tokens(usual) <= 600
    assert count_tokens_approximately([], tools=usual) <= 600
    assert [tool.name for tool in usual] == list(DEFAULT_TOOLS)
    assert {"manage_memory", "search_memory"} <= set(DEFAULT_TOOLS)
    assert tokens(create_memory_tools(NAMESPACE, tools=TOOLS)) <= 1100


def test_tools_are_chosen_by_name() -> None:
    """Each can be had, in the order asked for, once."""
    names = ["get_memory", "search_memory", "core_memory_replace", "get_memory"]
    made = create_memory_tools(NAMESPACE, tools=names)
    assert [tool.name for tool in made] == names[:3]
    assert {tool.name for tool in create_memory_tools(NAMESPACE, tools=TOOLS)} == set(TOOLS)
    assert create_memory_tools(NAMESPACE, tools=[]) == []
    assert [tool.name for tool in create_memory_tools(NAMESPACE, core={})] == [
        "manage_memory",
        "search_memory",
    ]


@pytest.mark.parametrize("tools", [["search"], "search_memory", ["search_memory", "forget"]])
def test_a_tool_that_there_is_not_is_refused(tools: Any) -> None:
    """With the name, and those there are."""
    with pytest.raises(
        ConfigError, match=r"pass a list with names of these: manage_memory, search_"
    ):
        create_memory_tools(NAMESPACE, tools=tools)
