"""Whose words the messages of a thread are that several people share.

A turn whose run failed before `RememberNode`, or whose last message was taken out of the thread
since, is remembered by the next run. When that is another person's, it must not become theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage
from typing_extensions import TypedDict

from langmemory.context.turns import is_human
from langmemory.nodes.namespaces import AUTHENTICATED, RunScope


class Voice(TypedDict):
    """Messages that runs of one person brought."""

    who: str
    until: str
    """Id of the last of them; the first follows the voice before."""


def speaker_of(scope: RunScope) -> str:
    """The person a run says it is for; empty when it does not say."""
    return str(scope.value("user_id") or scope.value(AUTHENTICATED) or "")


def heard(voices: Sequence[Voice], messages: Sequence[AnyMessage], who: str) -> list[Voice]:
    """The voices with what is new in `messages`, which is `who`'s. One voice as long as nobody else
    speaks; what is not among the messages any more is left out."""
    said = [message.id for message in messages if is_human(message) and message.id]
    known = [voice for voice in voices if voice["until"] in said]
    if not said or (known and known[-1]["until"] == said[-1]):
        return known
    before = known[:-1] if known and known[-1]["who"] == who else known
    return [*before, {"who": who, "until": str(said[-1])}]


def without_others(
    messages: Sequence[AnyMessage], voices: Sequence[Voice], who: str
) -> list[AnyMessage]:
    """The messages without those that others said, and the answers they got. A message is anybody's
    where its run, or this one, did not say for whom it was."""
    ids = {message.id for message in messages}
    left = [voice for voice in voices if voice["until"] in ids]
    own, speaker = [], who
    for message in messages:
        if is_human(message):
            speaker = left[0]["who"] if left else who
            if left and message.id == left[0]["until"]:
                left.pop(0)
        if speaker == who or not (speaker and who):
            own.append(message)
    return own
