"""Planning a summarization: which messages leave, what the model is asked, what remains.

Pure functions on plain values; the model is called by `langmemory.nodes.summarize`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.utils import trim_messages
from langchain_core.prompts.chat import ChatPromptTemplate

from langmemory.answers import answer_text, without_repetitions
from langmemory.context.marking import injected_details, is_ours, mark_injected
from langmemory.context.tokens import ELLIPSIS, TokenCounter, longest
from langmemory.context.turns import exchange_ends, turn_starts, with_missing_results
from langmemory.formation.retelling import Said, SummarizedTalk

log = logging.getLogger(__name__)

DEFAULT_INITIAL_SUMMARY_PROMPT = ChatPromptTemplate.from_messages(
    [
        ("placeholder", "{messages}"),
        ("user", "Create a summary of the conversation above:"),
    ]
)
"""Variables: ``messages``."""

DEFAULT_EXISTING_SUMMARY_PROMPT = ChatPromptTemplate.from_messages(
    [
        ("placeholder", "{messages}"),
        (
            "user",
            "This is summary of the conversation so far: {existing_summary}\n\n"
            "Extend this summary by taking into account the new messages above:",
        ),
    ]
)
"""Variables: ``messages``, ``existing_summary``."""

DEFAULT_FINAL_SUMMARY_PROMPT = ChatPromptTemplate.from_messages(
    [
        ("placeholder", "{system_message}"),
        ("system", "Summary of the conversation so far: {summary}"),
        ("placeholder", "{messages}"),
    ]
)
"""Variables: ``system_message`` (list of none or one), ``summary``, ``messages``."""

GROUNDED_INITIAL_SUMMARY_PROMPT = ChatPromptTemplate.from_messages(
    [
        ("placeholder", "{messages}"),
        (
            "user",
            "Summarize the conversation above in its language, in the third person, with names. Say only "
            "what was said:",
        ),
    ]
)
"""As the default, for summaries of which only what was said is kept, see `SummarizationNode`."""

GROUNDED_EXISTING_SUMMARY_PROMPT = ChatPromptTemplate.from_messages(
    [
        ("placeholder", "{messages}"),
        (
            "user",
            "This is a summary of the conversation so far: {existing_summary}\n\n"
            "Extend it by what the new messages above say, in their language, in the third person, with "
            "names. Say only what was said:",
        ),
    ]
)
"""Likewise."""

RECALL_FINAL_SUMMARY_PROMPT = ChatPromptTemplate.from_messages(
    [
        ("placeholder", "{system_message}"),
        (
            "system",
            "Summary of the conversation so far: {summary}\n"
            "(The messages it stands for are kept word for word in memory and can be recalled.)",
        ),
        ("placeholder", "{messages}"),
    ]
)
"""As the default, and tells the model that what it no longer sees is within reach of recall. For
graphs that remember every message."""

TRANSCRIPT_LINE_CHARS = 120
"""At least so much of each message stands in a transcript; the oldest are left out instead."""

MOST_HEARD = 200
"""Messages in which is looked for what replaces something that a summary says: a quarter of a second."""

TURNS_SLACK = 1.5
"""With ``keep_turns``, so many times as many turns gather before all but ``keep_turns`` leave: one
call of the model every few turns instead of one every turn."""

TOKENS_KEPT = 2 / 3
"""So much of the room for messages stays filled after a summarization that LangMem's rule does not
ask for (with ``keep_turns``, or when summary and messages only together are too long)."""

_SUMMARY = "summary"


@dataclass
class RunningSummary:
    """The summary so far and what it covers; hand it back on the next call."""

    summary: str
    """Text of the latest summary."""
    summarized_message_ids: set[str]
    """Ids of all messages it covers."""
    last_summarized_message_id: str | None
    """Id of the newest of them."""


@dataclass
class SummarizationResult:
    """The messages for the model now, and the summary to keep for the next call."""

    messages: list[AnyMessage]
    """System message if there was one, summary if there is one, the other messages."""
    running_summary: RunningSummary | None = None
    """None as long as nothing was ever summarized."""
    error: str | None = None
    """Why a summarization that was due did not happen; `messages` is then the whole conversation.
    It is tried again on the next call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Arguments of `summarize_messages` that do not change from call to call."""

    max_tokens: int
    max_tokens_before_summary: int | None
    max_summary_tokens: int
    token_counter: TokenCounter
    initial_summary_prompt: ChatPromptTemplate
    existing_summary_prompt: ChatPromptTemplate
    final_prompt: ChatPromptTemplate
    summary_window: int | None
    keep_turns: int | None
    summarised_turns: int | None
    grounded: bool = False

    def __post_init__(self) -> None:
        if self.max_summary_tokens >= self.max_tokens:
            raise ValueError(
                f"`max_summary_tokens` must be less than `max_tokens`: "
                f"{self.max_summary_tokens} is not less than {self.max_tokens}"
            )
        if self.keep_turns is not None and self.keep_turns < 1:
            raise ValueError(f"keep_turns={self.keep_turns} must be at least 1, or None")
        if self.summary_window is not None and self.summary_window < 1:
            raise ValueError(f"summary_window={self.summary_window} must be at least 1, or None")
        if self.summarised_turns is not None and self.summarised_turns <= (self.keep_turns or 0):
            raise ValueError(
                f"summarised_turns={self.summarised_turns} must be above keep_turns="
                f"{self.keep_turns}, or None"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A summarization prepared: what to ask, and what to make of the answer."""

    settings: Settings
    system: SystemMessage | None
    existing: RunningSummary | None
    pending: list[AnyMessage]
    """Messages no summary covers yet, without system message and old summaries."""
    heard: list[AnyMessage]
    """All messages that are still there, those that a summary covers too."""
    stayed: int
    """How many of them, the first, stand before the last one that a summary covers."""
    chosen: list[int]
    """Indices into `pending`, rising: what the new summary is to cover."""
    prompt: list[BaseMessage] | None
    """For the model; None when nothing is to be summarized."""

    def unchanged(self, error: str | None = None) -> SummarizationResult:
        """The conversation as it is, behind the summary that already exists."""
        if self.existing is None:
            messages = [*self._systems(), *self.pending]
        else:
            messages = self._framed(self.existing.summary, self.pending)
        return SummarizationResult(messages=messages, running_summary=self.existing, error=error)

    def failed(self, error: Exception | str) -> SummarizationResult:
        """The conversation whole, and why."""
        name = error if isinstance(error, str) else type(error).__name__
        log.warning("summarization_failed error=%s messages=%d", name, len(self.pending))
        return self.unchanged(error if isinstance(error, str) else f"{name}: {error}")

    def summarized(self, answer: BaseMessage | str) -> SummarizationResult:
        """The conversation with the chosen messages replaced by the model's `answer`."""
        text = without_repetitions(answer_text(answer))
        if not text:
            return self.failed("the model returned an empty summary")
        covered = [self.pending[index] for index in self.chosen]
        if self.settings.grounded and not (text := self._retold(text, covered)):
            return self.failed("nobody said what the model's summary says")
        ids = {str(message.id) for message in covered}
        leaving = set(self.chosen)
        kept = [message for index, message in enumerate(self.pending) if index not in leaving]
        text = self._fitted(text, kept)
        last = covered[-1].id
        if self.existing is not None and self.chosen[-1] < self.stayed:
            last = self.existing.last_summarized_message_id
        return SummarizationResult(
            messages=self._framed(text, kept),
            running_summary=RunningSummary(
                summary=text,
                summarized_message_ids=ids
                | (self.existing.summarized_message_ids if self.existing else set()),
                last_summarized_message_id=last,
            ),
        )

    def _retold(self, text: str, covered: Sequence[AnyMessage]) -> str:
        """The summary as far as it says what was said, and with what replaced it; where that is nothing, what
        persons stated, the latest of it, so that a model that cannot sum up is not asked again each time."""
        earlier, said = self.existing.summary if self.existing else "", _said(covered)
        prompts = (self.settings.initial_summary_prompt, self.settings.existing_summary_prompt)
        asked = (
            message.text
            for prompt in prompts
            for message in prompt.invoke({"messages": [], "existing_summary": ""}).to_messages()
        )
        talk = SummarizedTalk(
            said,
            earlier=earlier,
            heard=_said(self.heard[-MOST_HEARD:]),
            asked="\n".join(asked),
        )
        kept = talk.retold(text)
        if kept != text:
            log.warning("summary_unsaid chars=%d kept_chars=%d", len(text), len(kept))
        if kept:
            return kept
        count, most = self.settings.token_counter, self.settings.max_summary_tokens
        lines = [*earlier.splitlines(), *talk.statements()]
        while lines and count([SystemMessage("\n".join(lines))]) > most:
            del lines[0]
        return talk.retold("\n".join(lines))

    def _systems(self) -> list[AnyMessage]:
        return [] if self.system is None else [self.system]

    def _framed(self, summary: str, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
        return _framed(self.settings.final_prompt, self._systems(), summary, messages)

    def _fitted(self, summary: str, kept: Sequence[AnyMessage]) -> str:
        """`summary`, cut if the result would exceed `max_tokens` and cutting helps."""
        settings = self.settings

        def fits(text: str) -> bool:
            return settings.token_counter(self._framed(text, kept)) <= settings.max_tokens

        fitted = longest(summary, fits)
        if fitted != summary:
            log.warning(
                "summary_too_long chars=%d kept_chars=%d max_tokens=%d",
                len(summary),
                len(fitted or summary),
                settings.max_tokens,
            )
        return fitted or summary


def _said(messages: Sequence[AnyMessage]) -> list[Said]:
    return [
        Said(speaker=one.name or one.type, text=one.text, is_person=isinstance(one, HumanMessage))
        for one in messages
        if not is_ours(one)
    ]


def plan(
    messages: Sequence[AnyMessage],
    running_summary: RunningSummary | Mapping[str, Any] | None,
    settings: Settings,
) -> Plan:
    """Prepare a summarization of `messages`.

    Raises:
        ValueError: a message has no id, or was summarized before.
    """
    existing = restored(running_summary)
    shown = [m for m in messages if injected_details(m).get("injected") == _SUMMARY]
    if existing is None and shown:
        # The graph's state has no ``context`` to keep it in; the mark on the message has it too.
        existing = RunningSummary(str(injected_details(shown[-1])[_SUMMARY]), set(), None)
    rest = [m for m in messages if not any(m is old for old in shown)]
    if existing is not None:
        rest = _without_renderings(rest, existing.summary, settings.final_prompt)
    system = rest[0] if rest and isinstance(rest[0], SystemMessage) else None
    stayed, new = _pending(rest if system is None else rest[1:], existing)
    pending = [*stayed, *new]
    chosen = _choose(system, existing, pending, settings)
    prompt = None
    if chosen:
        recent = _recent(rest, pending, chosen, settings)
        if recent is None:
            prompt = _prompt([pending[i] for i in chosen], existing, settings)
        else:
            prompt = _prompt(recent, None, settings)
    return Plan(
        settings=settings,
        system=system,
        existing=existing,
        pending=pending,
        heard=rest if system is None else rest[1:],
        stayed=len(stayed),
        chosen=chosen,
        prompt=prompt,
    )


def _recent(
    messages: Sequence[AnyMessage],
    pending: Sequence[AnyMessage],
    chosen: Sequence[int],
    settings: Settings,
) -> list[AnyMessage] | None:
    """Return what a summary is made of anew where the old one also covers turns that are too old for it:
    the turns young enough that do not stay word for word. None where the old one is extended, as it
    is also when the model cannot read so many at once."""
    starts = turn_starts(messages)
    if settings.summarised_turns is None or len(starts) <= settings.summarised_turns:
        return None
    leaving = set(chosen)
    staying = {id(message) for index, message in enumerate(pending) if index not in leaving}
    young = messages[starts[-settings.summarised_turns] :]
    recent = [m for m in young if id(m) not in staying and not is_ours(m)]
    return recent if settings.token_counter(recent) <= settings.max_tokens else None


def restored(running_summary: Any) -> RunningSummary | None:
    """A running summary from what a checkpointer made of it: the object itself (LangMem's too), a
    mapping of its fields, or a serialized constructor call with these as ``kwargs``.

    Raises:
        ValueError: it is neither.
    """
    if not running_summary or isinstance(running_summary, RunningSummary):
        return running_summary or None
    fields = (
        running_summary
        if isinstance(running_summary, Mapping)
        else getattr(running_summary, "__dict__", {})
    )
    if "summary" not in fields and isinstance(fields.get("kwargs"), Mapping):
        fields = fields["kwargs"]
    try:
        return RunningSummary(
            summary=str(fields["summary"]),
            summarized_message_ids=set(fields["summarized_message_ids"]),
            last_summarized_message_id=fields["last_summarized_message_id"],
        )
    except KeyError as error:
        raise ValueError(
            f"running_summary has no {error}, only {sorted(fields)}: pass what the last call "
            f"returned, or None"
        ) from None


def _framed(
    final_prompt: ChatPromptTemplate,
    systems: Sequence[AnyMessage],
    summary: str,
    messages: Sequence[AnyMessage],
) -> list[AnyMessage]:
    """System message, summary and messages, the summary's own marked as injected."""
    framed: list[Any] = final_prompt.invoke(
        {"system_message": list(systems), "summary": summary, "messages": list(messages)}
    ).to_messages()
    given = {id(message) for message in (*systems, *messages)}
    return [
        message if id(message) in given else mark_injected(message, _SUMMARY, **{_SUMMARY: summary})
        for message in framed
    ]


def _without_renderings(
    messages: Sequence[AnyMessage], summary: str, final_prompt: ChatPromptTemplate
) -> list[AnyMessage]:
    """Without system messages that show `summary` but lost, or (LangMem's) never had, the mark."""
    renderings = {message.text for message in _framed(final_prompt, [], summary, [])}
    return [m for m in messages if not (isinstance(m, SystemMessage) and m.text in renderings)]


def _pending(
    messages: Sequence[AnyMessage], existing: RunningSummary | None
) -> tuple[list[AnyMessage], list[AnyMessage]]:
    """Return what `existing` does not cover: before the last message that it covers, and after it."""
    ids: set[str] = existing.summarized_message_ids if existing else set()
    last = existing.last_summarized_message_id if existing else None
    start = next((i + 1 for i, m in enumerate(messages) if last is not None and m.id == last), 0)
    if start == 0:  # that message was deleted since: go by the others
        start = max((i + 1 for i, m in enumerate(messages) if m.id in ids), default=0)
    for place, message in enumerate(messages[start:], start):
        if message.id is None:
            raise ValueError(
                f"Messages are required to have ID field: message {place} ({message.type}) has "
                f"none. Keep messages in a state key with the add_messages reducer, which gives "
                f"ids, or set id yourself"
            )
        if message.id in ids:
            raise ValueError(
                f"Message with ID {message.id} has already been summarized: ids must be unique "
                f"within a conversation"
            )
    # A person's message that was the last one then stayed word for word, although later ones left.
    stayed = [m for m in messages[:start] if m.id is not None and m.id not in ids]
    return stayed, list(messages[start:])


def _choose(
    system: SystemMessage | None,
    existing: RunningSummary | None,
    pending: Sequence[AnyMessage],
    settings: Settings,
) -> list[int]:
    """Return the places of the messages to summarize, rising; none when none have to be.

    The cut is LangMem's (the first place where enough has gathered and what remains fits), moved so that no
    exchange of tool calls is torn apart and the person's last message stays.
    """
    if not pending:
        return []
    count, keep_turns = settings.token_counter, settings.keep_turns
    systems: list[AnyMessage] = [] if system is None else [system]
    fixed = system_tokens = count(systems) if systems else 0
    if existing is not None:
        fixed = count(_framed(settings.final_prompt, systems, existing.summary, []))
    cumulative = list(accumulate(count([message]) for message in pending))
    total = count(pending)
    room = settings.max_tokens - settings.max_summary_tokens - system_tokens
    trigger = settings.max_tokens_before_summary
    trigger = settings.max_tokens if trigger is None else trigger
    gathered = cumulative[-1]
    if settings.summary_window is not None:  # then the existing summary counts, too
        gathered += fixed - system_tokens
    starts = turn_starts(pending)
    triggered = gathered >= trigger
    overfull = fixed + total > max(settings.max_tokens, trigger)
    crowded = keep_turns is not None and len(starts) > keep_turns * TURNS_SLACK
    if not (triggered or overfull or crowded):
        return []
    first, least, most = 0, 0, room * TOKENS_KEPT
    if keep_turns is not None:
        first = starts[-keep_turns] - 1 if len(starts) > keep_turns else 0
    elif triggered:
        least, most = trigger if settings.summary_window is None else settings.summary_window, room

    ends = exchange_ends(pending)
    last = len(pending) - 1

    def boundary(index: int) -> int:
        """Where the exchange around `index` ends; if it is open, where the one before does."""
        while index >= 0 and ends[index] > last:
            index -= 1
        return ends[index] if index >= 0 else -1

    def cut(start: int, held_back: int = 0) -> int:
        """The first place from `start` on after which what stays fits; the last one if none is."""
        for index in range(start, len(pending)):
            stays = total - cumulative[index] + held_back
            if cumulative[index] >= least and stays <= most:
                return boundary(index)
        return boundary(last)

    human = starts[-1] if starts else len(pending)
    end = cut(max(first, 0))
    if end < human:
        return list(range(end + 1))

    before = human - 1
    while before >= 0 and ends[before] != before:
        before -= 1
    if before >= 0 and total - cumulative[before] <= room:
        return list(range(before + 1))
    if fixed + total <= settings.max_tokens:
        return []
    # What followed the person's last message is too long by itself: its oldest part leaves too, but
    # not the results that the model is still to read.
    spoken = cumulative[human] - (cumulative[human - 1] if human else 0)
    end = cut(human + 1, held_back=spoken)
    if isinstance(pending[last], ToolMessage):
        end = min(end, ends.index(last) - 1)
    return [index for index in range(end + 1) if index != human]


def _prompt(
    chosen: Sequence[AnyMessage], existing: RunningSummary | None, settings: Settings
) -> list[BaseMessage]:
    room = settings.max_tokens
    if existing is not None:
        room -= settings.token_counter([SystemMessage(content=existing.summary)])
    said = with_missing_results([message for message in chosen if not is_ours(message)])
    messages = _at_most(said, room, settings.token_counter)
    if existing is None:
        return settings.initial_summary_prompt.invoke({"messages": messages}).to_messages()
    return settings.existing_summary_prompt.invoke(
        {"messages": messages, "existing_summary": existing.summary}
    ).to_messages()


def _at_most(
    messages: list[AnyMessage], max_tokens: int, token_counter: TokenCounter
) -> list[BaseMessage]:
    """Return the messages that the model can read: the newest from a person's message on; where no such
    beginning fits, a transcript of all in one message, long ones cut."""
    if sum(token_counter([message]) for message in messages) <= max_tokens:
        return list(messages)
    newest = trim_messages(
        messages,
        max_tokens=max_tokens,
        token_counter=token_counter,
        start_on="human",
        strategy="last",
        allow_partial=True,
    )
    if newest:
        return newest

    def transcript(chars: int, first: int = 0) -> list[BaseMessage]:
        lines = [
            f"{m.type}: {m.text[:chars] + ELLIPSIS if len(m.text) > chars else m.text}"
            for m in messages[first:]
        ]
        return [HumanMessage(content="\n".join(lines))]

    low, high = TRANSCRIPT_LINE_CHARS, max(len(message.text) for message in messages)
    while low < high:
        middle = (low + high + 1) // 2
        if token_counter(transcript(middle)) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    first = 0
    while first < len(messages) - 1 and token_counter(transcript(low, first)) > max_tokens:
        first += 1
    return transcript(low, first)
