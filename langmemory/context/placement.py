"""Where the memory block stands in a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from langmemory.context.marking import mark_injected
from langmemory.context.turns import is_human

Placement = Literal["system", "message"]
"""``system``: at the end of the system prompt. ``message``: in a message of its own before the person's
last one, so that what anybody once said does not stand among privileged instructions."""


def block_message(text: str) -> HumanMessage:
    """Return a memory block as a message of its own, marked so that nothing remembers it as said."""
    return mark_injected(HumanMessage(text), "memories")


def with_block(messages: Sequence[AnyMessage], text: str) -> list[AnyMessage]:
    """Return the messages with a memory block before the person's last one, or else before the first
    that is no system message."""
    humans = (at for at, one in enumerate(messages) if is_human(one))
    place = max(humans, default=None)
    if place is None:
        others = (at for at, one in enumerate(messages) if not isinstance(one, SystemMessage))
        place = next(others, len(messages))
    return [*messages[:place], block_message(text), *messages[place:]]
