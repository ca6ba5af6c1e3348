"""Extraction: from a batch of turns to facts, a summary and suggestions, by a chat model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from langmemory.formation.asking.asker import Answered, Asker, Method, Question
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.answers import (
    SCHEMA,
    AnswerClaim,
    AnswerCore,
    AnswerFact,
    Reading,
    read,
)
from langmemory.formation.extraction.transcript import is_person, label, spoken, transcript
from langmemory.formation.facts import Claim, CoreSuggestion, Extraction, Fact, SessionSummary
from langmemory.formation.ownership import kept_close
from langmemory.formation.prompts import prompt
from langmemory.lexicon import detect_language
from langmemory.lexicon.language import word_set

MAX_NAMES = 100
"""Known names shown to the model."""

_SPEAKER = frozenset({"i", "me", "myself", "user", "the user", "the speaker", "speaker"})
"""What models call the speaker in claims although they were given a name."""
_PRONOUNS = word_set(
    """he she it they we you him her them us his hers its their your this that er sie es wir ihr ich
    él ella ellos ellas yo tú 我 他 她 它 我们 他们 她们"""
)


class Extractor(Protocol):
    """Makes facts of what was said. Junk need not concern it: reflection sifts what it returns."""

    def extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
        """Facts, summary and suggestions of one batch.

        Args:
            batch: Turns nobody has extracted from yet.
            names: Entities known already, so that they are called by the same name.

        Raises:
            ModelUnavailableError: A model could not be asked.
            ExtractionError: A model's answers could not be used.
        """
        ...

    async def aextract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
        """`extract` without blocking the loop."""
        ...


class ModelExtractor:
    """Extraction by a chat model: one call a batch, a second one if its answer cannot be used.

    Args:
        model: Any LangChain chat model. Give it a time limit of its own (``client_kwargs`` or
            ``timeout``): nothing here can end a call that never answers.
        method: How it is held to the answer's schema; None: JSON schema where it has structured
            output. ``function_calling`` for servers that know tools only, ``text`` for neither.
        instructions: What the application wants besides, for example what is worth remembering.
    """

    __slots__ = ("_asker", "_system")

    def __init__(
        self, model: BaseChatModel, *, method: Method | None = None, instructions: str = ""
    ) -> None:
        self._asker = Asker(model, SCHEMA, method=method)
        further = f"\n\n# What this application wants\n\n{instructions}" if instructions else ""
        self._system = prompt("extract") + further

    def extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
        """As `Extractor.extract`. A batch without turns, or with tool results only, asks nobody."""
        if not any(_has_words(turn) for turn in batch.turns):
            return Extraction()
        return _extraction(batch, self._asker.ask(self._question(batch, names)))

    async def aextract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
        """`extract` without blocking the loop."""
        if not any(_has_words(turn) for turn in batch.turns):
            return Extraction()
        return _extraction(batch, await self._asker.aask(self._question(batch, names)))

    def _question(self, batch: Batch, names: Sequence[str]) -> Question[Reading]:
        turns = len(batch.turns)
        return Question(
            messages=(SystemMessage(self._system), HumanMessage(_request(batch, names))),
            read=lambda raw: read(raw, turns=turns),
        )


def _has_words(turn: Turn) -> bool:
    return turn.role.casefold() != "tool" and bool(spoken(turn.text))


def _request(batch: Batch, names: Sequence[str]) -> str:
    """The conversation, and what helps to understand it."""
    parts = []
    if names:
        shown = ", ".join(map(label, names[:MAX_NAMES]))
        parts.append(f"Names known already (use them where they are meant): {shown}")
    if batch.before:
        parts.append(f"# Before the conversation\n\n{transcript(batch.before)}")
    ids = [f"t{number}" for number in range(1, len(batch.turns) + 1)]
    parts.append(f"# Conversation\n\n{transcript(batch.turns, ids=ids)}")
    parts.append(f"# Your notes on {ids[0]} to {ids[-1]}, as one JSON object")
    return "\n\n".join(parts)


def _extraction(batch: Batch, answered: Answered[Reading]) -> Extraction:
    """What the answer means for this batch."""
    answer = answered.value.answer
    dropped = list(answered.value.dropped)
    facts: list[Fact] = []
    for entry in answer.facts:
        turns = _evidence(batch, entry.evidence)
        fact = kept_close(_fact(entry, turns), batch)
        if fact is None:
            dropped.append("rests on private words of several people")
        else:
            facts.append(fact)
    summary = answer.summary
    return Extraction(
        facts=tuple(facts),
        summary=SessionSummary(
            text=summary.text,
            decisions=tuple(summary.decisions),
            open_points=tuple(summary.open_points),
        )
        if summary.text
        else None,
        core=tuple(_suggestion(batch, entry) for entry in answer.core),
        model_calls=answered.calls,
        dropped=tuple(dropped),
    )


def _evidence(batch: Batch, ids: Sequence[str]) -> list[Turn]:
    """The turns of these ids: first what persons said, each part in order."""
    turns = [batch.turns[int(id[1:]) - 1] for id in sorted(ids, key=lambda id: int(id[1:]))]
    return sorted(turns, key=lambda turn: not is_person(turn))


def _fact(entry: AnswerFact, turns: Sequence[Turn]) -> Fact:
    first = turns[0]
    claims = (_claim(each, first.speaker) for each in entry.claims)
    return Fact(
        text=entry.text,
        kind=entry.kind,
        speaker=first.speaker,
        owner=first.owner,
        privacy=entry.privacy,
        confidence=entry.confidence,
        importance=entry.importance,
        language=entry.language or detect_language(f"{entry.text} {first.text}").code,
        evidence=tuple(turn.key for turn in turns),
        said_at=first.said_at,
        time_words=_time_words(entry, turns),
        claims=tuple(claim for claim in claims if claim is not None),
        ends=entry.ends,
        corrects=entry.corrects,
    )


def _claim(entry: AnswerClaim, speaker: str) -> Claim | None:
    """The claim with the speaker's name; None if it is about a pronoun."""

    def named(name: str) -> str:
        return speaker if name.casefold() in _SPEAKER else name

    subject, target = named(entry.subject), named(entry.object)
    if {subject.casefold(), target.casefold()} & _PRONOUNS:
        return None
    return Claim(
        subject=subject,
        relation=entry.relation,
        object=target,
        object_is_entity=entry.object_is_entity,
    )


def _time_words(entry: AnswerFact, turns: Sequence[Turn]) -> str | None:
    """The words that say when, if somebody said them: models like to calculate dates instead."""
    words = _squeezed(entry.time_words)
    if words and any(words in _squeezed(turn.text) for turn in turns):
        return entry.time_words
    return None


def _squeezed(text: str) -> str:
    return " ".join(text.casefold().split())


def _suggestion(batch: Batch, entry: AnswerCore) -> CoreSuggestion:
    turns = _evidence(batch, entry.evidence)
    return CoreSuggestion(
        block=entry.block, text=entry.text, evidence=tuple(turn.key for turn in turns)
    )
