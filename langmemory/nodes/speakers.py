"""Whose words the messages of a thread are that several people share.

A turn whose run failed before `RememberNode`, or whose last message was taken out of the thread
since, is remembered by the next run. When that is another person's, it must not become theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AnyMessage
from typing_extensions import TypedDict

from langmemory.context.turns import is_human
from langmemory.nodes.namespaces import AUTHENTICATED, RunScope


class Voice(TypedDict):
    """Messages in a row that runs of one person brought."""

    who: str
    ids: list[str]
    """Of each: any of them may be taken out of the thread."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """The n messages of a thread as a run sees them, and whose each is."""

    messages: list[AnyMessage]
    who: str
    """Whose run it is; empty when it does not say."""
    speakers: list[str]
    """n: of each message, who said it, or whom it answers: by `message_speakers`, else ``who``."""
    own_ids: frozenset[str | None]
    """Ids of the messages that nobody else said, and that answer nobody else. A message is anybody's
    where its run, or this one, did not say for whom it was."""

    @classmethod
    def of(cls, messages: list[AnyMessage], message_speakers: Sequence[Voice], who: str) -> Thread:
        known, speaker = _speakers(message_speakers), who
        speakers = []
        for message in messages:
            if is_human(message):
                speaker = known.get(message.id or "", who)
            speakers.append(speaker)
        own = (
            message.id
            for message, speaker in zip(messages, speakers, strict=True)
            if speaker == who or not (speaker and who)
        )
        return cls(messages=messages, who=who, speakers=speakers, own_ids=frozenset(own))


def speaker_of(scope: RunScope) -> str:
    """The person a run says it is for; empty when it does not say."""
    return str(scope.value("user_id") or scope.value(AUTHENTICATED) or "")


def heard(
    message_speakers: Sequence[Voice], messages: Sequence[AnyMessage], who: str
) -> list[Voice]:
    """Return `message_speakers` with the new ones of `messages`, which `who` said. What is not among these
    any more is left out."""
    known = _speakers(message_speakers)
    now: list[Voice] = []
    for message in messages:
        if is_human(message) and message.id:
            speaker = known.get(message.id, who)
            if not now or now[-1]["who"] != speaker:
                now.append({"who": speaker, "ids": []})
            now[-1]["ids"].append(message.id)
    return now


def _speakers(message_speakers: Sequence[Voice]) -> dict[str, str]:
    """Who said the message of an id."""
    return {id: voice["who"] for voice in message_speakers for id in voice["ids"]}
