"""Whose words the messages of a thread are that several people share.

A turn whose run failed before `RememberNode`, or whose last message was taken out of the thread
since, is remembered by the next run. When that is another person's, it must not become theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langchain_core.messages import AnyMessage
from typing_extensions import TypedDict

from langmemory.context.turns import is_human
from langmemory.nodes.namespaces import AUTHENTICATED, RunScope


class Voice(TypedDict):
    """Messages in a row that runs of one person brought."""

    who: str
    ids: list[str]
    """Of each: any of them may be taken out of the thread."""


def speaker_of(scope: RunScope) -> str:
    """The person a run says it is for; empty when it does not say."""
    return str(scope.value("user_id") or scope.value(AUTHENTICATED) or "")


def heard(voices: Sequence[Voice], messages: Sequence[AnyMessage], who: str) -> list[Voice]:
    """The voices with what is new in `messages`, which is `who`'s. What is not among the messages
    any more is left out."""
    known = _speakers(voices)
    now: list[Voice] = []
    for message in messages:
        if is_human(message) and message.id:
            speaker = known.get(message.id, who)
            if not now or now[-1]["who"] != speaker:
                now.append({"who": speaker, "ids": []})
            now[-1]["ids"].append(message.id)
    return now


def without_others(
    messages: Sequence[AnyMessage], voices: Sequence[Voice], who: str
) -> list[AnyMessage]:
    """The messages without those that others said, and the answers they got. A message is anybody's
    where its run, or this one, did not say for whom it was."""
    speakers = spoken_for(messages, voices, who)
    return [
        message
        for message, speaker in zip(messages, speakers, strict=True)
        if speaker == who or not (speaker and who)
    ]


def spoken_for(messages: Sequence[AnyMessage], voices: Sequence[Voice], who: str) -> Iterator[str]:
    """Of each message, whose it is, or whom it answers: by the voices, else `who`'s."""
    known, speaker = _speakers(voices), who
    for message in messages:
        if is_human(message):
            speaker = known.get(message.id or "", who)
        yield speaker


def _speakers(voices: Sequence[Voice]) -> dict[str, str]:
    """Who said the message of an id."""
    return {id: voice["who"] for voice in voices for id in voice["ids"]}
