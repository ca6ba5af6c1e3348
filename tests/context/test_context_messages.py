"""Turns, exchanges and tool outputs of a conversation."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from langmemory.context import fit_tool_outputs, mark_injected
from langmemory.context.turns import CLEARED, exchange_ends, tool_call_ids, turn_starts
from tests.seeds import examples

pieces = st.lists(
    st.sampled_from(["human", "ai"])
    | st.tuples(st.just("call"), st.sets(st.sampled_from("abcdef"), min_size=1, max_size=3))
    | st.tuples(st.just("result"), st.sampled_from("abcdef")),
    max_size=14,
)


def build(pieces: list[Any]) -> list[Any]:
    messages: list[Any] = []
    for piece in pieces:
        if piece == "human":
            messages.append(HumanMessage("q"))
        elif piece == "ai":
            messages.append(AIMessage("a"))
        elif piece[0] == "call":
            calls: Any = [{"name": "t", "id": id, "args": {}} for id in sorted(piece[1])]
            messages.append(AIMessage("", tool_calls=calls))
        else:
            messages.append(ToolMessage("r", tool_call_id=piece[1]))
    return messages


@settings(max_examples=examples(300, first=75), deadline=None)
@given(pieces)
def test_a_cut_never_separates_a_call_from_its_results(pieces: list[Any]) -> None:
    """For any conversation, even a broken one: after a place to cut comes no result of a call
    before it, and the ends never fall back."""
    messages = build(pieces)
    ends = exchange_ends(messages)
    assert len(ends) == len(messages)
    assert ends == sorted(ends)
    for index, end in enumerate(ends):
        assert end >= index
        if end == index:
            before = set().union(*(tool_call_ids(m) for m in messages[: index + 1]))
            for message in messages[index + 1 :]:
                before -= tool_call_ids(message)  # called anew
                assert not isinstance(message, ToolMessage) or message.tool_call_id not in before


def test_ids_used_again_do_not_tie_turns_together() -> None:
    """A result belongs to the last call with its id."""
    turn = [("call", "a"), ("result", "a"), "ai", "human"]
    assert exchange_ends(build(turn * 2)) == [1, 1, 2, 3, 5, 5, 6, 7]
    assert exchange_ends(build([*turn, ("call", "a")])) == [1, 1, 2, 3, 5]


def test_turns_start_where_a_person_speaks() -> None:
    """Injected messages do not start a turn."""
    block = mark_injected(HumanMessage("[R:1a2b3c4d] a fact"))
    assert turn_starts([AIMessage("hi"), HumanMessage("q"), block, AIMessage("a")]) == [1]


def conversation() -> list[Any]:
    messages: list[Any] = []
    for i in range(4):
        calls: Any = [{"name": "search", "id": f"{i}", "args": {}}]
        messages += [
            HumanMessage(f"question {i}"),
            AIMessage("", tool_calls=calls),
            ToolMessage("head " + "x" * 4000 + " tail", tool_call_id=f"{i}"),
        ]
    return messages


def test_tool_outputs_are_trimmed_before_they_are_cleared() -> None:
    """Oldest first, no further than needed; the output not yet answered to is never touched, the
    given messages neither."""
    messages = conversation()
    total = count_tokens_approximately(messages)
    assert fit_tool_outputs(messages, max_tokens=total) == messages

    def outputs(max_tokens: int) -> list[str]:
        fitted = fit_tool_outputs(messages, max_tokens=max_tokens)
        assert [m.type for m in fitted] == [m.type for m in messages]
        assert count_tokens_approximately(fitted) <= max(max_tokens, 1200)
        return [
            "cleared" if m.text == CLEARED else "trimmed" if "trimmed]" in m.text else "whole"
            for m in fitted
            if isinstance(m, ToolMessage)
        ]

    assert outputs(total - 1) == ["trimmed", "whole", "whole", "whole"]
    assert outputs(total - 1000) == ["trimmed", "trimmed", "whole", "whole"]
    assert outputs(1600) == ["cleared", "trimmed", "trimmed", "whole"]
    assert outputs(0) == ["cleared", "cleared", "cleared", "whole"]
    trimmed = fit_tool_outputs(messages, max_tokens=total - 1)[2].text
    assert trimmed.startswith("head xxx")
    assert trimmed.endswith("x tail")
    assert "[3,210 characters trimmed]" in trimmed
    assert messages == conversation()
