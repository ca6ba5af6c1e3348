"""Files of conversations whose structure is not what it should be."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from langmemory.errors import ImportFormatError
from langmemory.parts.importing.chatgpt import read_chatgpt
from langmemory.parts.importing.langgraph import read_langgraph

MESSAGE = {
    "id": "m",
    "author": {"role": "user"},
    "content": {"content_type": "text", "parts": ["hi"]},
}


def file(value: Any) -> io.BytesIO:
    found = io.BytesIO(json.dumps(value).encode())
    found.name = "talk.json"
    return found


@pytest.mark.parametrize("wrong", [5, True, [[]], {"a": 1}])
@pytest.mark.parametrize("field", ["parent", "children", "current_node"])
def test_a_link_between_nodes_that_is_none_is_named(field: str, wrong: Any) -> None:
    """A ChatGPT export with a broken link is refused with its file, line, field and value."""
    node = {"parent": None, "children": [], "message": MESSAGE}
    talk: dict[str, Any] = {"mapping": {"n": node}, "current_node": "n"}
    (talk if field == "current_node" else node)[field] = wrong
    with pytest.raises(ImportFormatError, match=r"talk\.json, line 1.* is .*; expected"):
        list(read_chatgpt(file([talk])))


@pytest.mark.parametrize("config", [5, "x", [1], {"configurable": 5}, {"configurable": ["x"]}])
@pytest.mark.parametrize("in_list", [True, False])
def test_a_config_of_a_state_that_is_none_is_named(config: Any, in_list: bool) -> None:
    """A thread state with a broken config is refused with its file, line, field and value."""
    state = {"values": {"messages": []}, "config": config}
    with pytest.raises(ImportFormatError, match=r"talk\.json, line 1: config.* is .*; expected"):
        list(read_langgraph(file([state] if in_list else state)))
