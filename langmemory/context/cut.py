"""Where to cut a conversation: which messages are to be summarized, which stay.

The cut is LangMem's (the first place where enough has gathered and what remains fits), moved so
that no exchange of tool calls is torn apart and the person's last message stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, ToolMessage

from langmemory.context.turns import exchange_ends, turn_starts

TURNS_SLACK = 1.5
"""With ``keep_turns``, so many times as many turns gather before all but ``keep_turns`` leave: one
call of the model every few turns instead of one every turn."""

TOKENS_KEPT = 2 / 3
"""So much of the room for messages stays filled after a summarization that LangMem's rule does not
ask for (with ``keep_turns``, or when summary and messages only together are too long)."""


def choose(
    messages: Sequence[AnyMessage],
    *,
    cumulative: Sequence[int],
    total: int,
    fixed: int,
    room: int,
    max_tokens: int,
    trigger: int,
    window: int | None,
    summary: int,
    keep_turns: int | None,
) -> list[int]:
    """Indices of the messages to summarize, rising; empty when none have to be.

    All numbers are tokens.

    Args:
        messages: what no summary covers yet; not empty.
        cumulative: of the messages up to and including each.
        total: of all messages together.
        fixed: of system message and existing summary.
        room: for the messages that stay.
        max_tokens: for everything.
        trigger: so many in `messages` start a summarization, and go into it at least.
        window: so many go into it at least instead, and `trigger` counts the `summary` too.
        summary: of the existing summary.
        keep_turns: see `summarize_messages`.
    """
    starts = turn_starts(messages)
    triggered = cumulative[-1] + (summary if window is not None else 0) >= trigger
    overfull = fixed + total > max(max_tokens, trigger)
    crowded = keep_turns is not None and len(starts) > keep_turns * TURNS_SLACK
    if not (triggered or overfull or crowded):
        return []
    first, least, most = 0, 0, room * TOKENS_KEPT
    if keep_turns is not None:
        first = starts[-keep_turns] - 1 if len(starts) > keep_turns else 0
    elif triggered:
        least, most = trigger if window is None else window, room

    ends = exchange_ends(messages)
    last = len(messages) - 1

    def boundary(index: int) -> int:
        """Where the exchange around `index` ends; if it is open, where the one before does."""
        while index >= 0 and ends[index] > last:
            index -= 1
        return ends[index] if index >= 0 else -1

    def cut(start: int, held_back: int = 0) -> int:
        """The first place from `start` on after which what stays fits; the last one if none is."""
        for index in range(start, len(messages)):
            stays = total - cumulative[index] + held_back
            if cumulative[index] >= least and stays <= most:
                return boundary(index)
        return boundary(last)

    human = starts[-1] if starts else len(messages)
    end = cut(max(first, 0))
    if end < human:
        return list(range(end + 1))

    before = human - 1
    while before >= 0 and ends[before] != before:
        before -= 1
    if before >= 0 and total - cumulative[before] <= room:
        return list(range(before + 1))
    if fixed + total <= max_tokens:
        return []
    # What followed the person's last message is too long by itself: its oldest part leaves too, but
    # not the results that the model is still to read.
    spoken = cumulative[human] - (cumulative[human - 1] if human else 0)
    end = cut(human + 1, held_back=spoken)
    if isinstance(messages[last], ToolMessage):
        end = min(end, ends.index(last) - 1)
    return [index for index in range(end + 1) if index != human]
