"""Extraction: from a batch of turns to facts, a summary and suggestions, by a chat model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from langmemory.errors import ExtractionError
from langmemory.formation.asking.asker import (
    ANSWER_SECONDS,
    Answered,
    Asker,
    Method,
    Question,
)
from langmemory.formation.asking.json_answers import BadAnswerError
from langmemory.formation.batch import MOST_READ, Batch, Turn, kept_close
from langmemory.formation.entities.roles import person_words
from langmemory.formation.extraction.answers import (
    AnswerFact,
    Reading,
    read,
    schema_of,
)
from langmemory.formation.extraction.claims import claims_of_entry
from langmemory.formation.extraction.junk import DANGLES, without_junk
from langmemory.formation.extraction.requests import separate_requests
from langmemory.formation.extraction.transcript import (
    is_person,
    label,
    parts,
    transcript,
    unread_batch,
    without_injected_text,
)
from langmemory.formation.prompts import prompt
from langmemory.formation.repetition import join_repetitions
from langmemory.formation.times import find
from langmemory.languages import detect_language
from langmemory.ports.facts import (
    READ_IN_PART,
    UNREAD,
    Extraction,
    Fact,
    SessionSummary,
)
from langmemory.steps import Steps, awaiting, blocking

logger = logging.getLogger("langmemory.formation")

MAX_NAMES = 100
"""Known names shown to the model."""


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
    """Extraction by a chat model: one call a batch, a second one if its answer cannot be used. A turn
    that is longer than a batch is meant to be (`Batch.tokens`) takes one call a part, see `parts`;
    an answer that breaks off, at a limit of tokens, one more for the turns it did not come to.

    Args:
        model: Any LangChain chat model. Give it a time limit of its own (``client_kwargs`` or
            ``timeout``): nothing here can end a call that never answers.
        method: How it is held to the answer's schema; None: JSON schema where it has structured
            output. ``function_calling`` for servers that know tools only, ``text`` for neither.
        instructions: What the application wants besides, for example what is worth remembering.
        seconds: One answer may take.
    """

    __slots__ = ("_asker", "_system")

    def __init__(
        self,
        model: BaseChatModel,
        *,
        method: Method | None = None,
        instructions: str = "",
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        def asker(turns: int) -> Asker:
            return Asker(model, schema_of(turns), method=method, seconds=seconds)

        asker(1)  # says at once what the model cannot be held to
        self._asker = asker
        further = f"\n\n# What this application wants\n\n{instructions}" if instructions else ""
        self._system = prompt("extract") + further

    def _extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Steps[Extraction]:
        """Do as `Extractor.extract`. A batch without turns, or with tool results only, asks nobody."""
        if not any(_has_words(turn) for turn in batch.turns):
            return Extraction()
        asked, cut = parts(batch)
        found: list[Extraction] = []
        for part in asked:
            left: Batch | None = part
            while left is not None:
                try:
                    asker = self._asker(len(left.turns))
                    answered = yield from asker.asked(self._question(left, names))
                except ExtractionError as error:
                    if not found:
                        raise
                    unread = (UNREAD,) if left is part else ()
                    found.append(Extraction(model_calls=error.model_calls, dropped=unread))
                    break  # what was finished stays
                found.append(_extraction(left, answered))
                left = _unread_rest(left, answered.value)
        return _together(batch, found, cut)

    extract, aextract = blocking(_extract), awaiting(_extract)

    def _question(self, batch: Batch, names: Sequence[str]) -> Question[Reading]:
        texts = [without_injected_text(turn.text) for turn in batch.turns]
        return Question(
            messages=(SystemMessage(self._system), HumanMessage(_request(batch, names))),
            read=lambda raw: _readable(read(_remove_labels(raw, batch), turns=texts), batch),
        )


def _readable(reading: Reading, batch: Batch) -> Reading:
    """The reading. Raises `BadAnswerError` where all that was told is told so that nobody else
    understands it: "I have a dog"."""
    found = _extraction(batch, Answered(value=reading, calls=1))
    if found.facts:
        left = without_junk(found, batch)
        if not left.facts and DANGLES in left.dropped:
            raise BadAnswerError(
                "none of its facts can be understood alone. Call everybody by name, never I, she or my"
            )
    return reading


def _unread_rest(batch: Batch, reading: Reading) -> Batch | None:
    """The turns of a batch that an answer did not come to, because it broke off; None if it did."""
    if not reading.unfinished:
        return None
    left = unread_batch(batch, max(_number(id) for fact in reading.facts for id in fact.evidence))
    return left if left is not None and any(map(_has_words, left.turns)) else None


def _together(batch: Batch, found: Sequence[Extraction], cut: int) -> Extraction:
    """Join the extractions of the parts of a batch, ``cut`` turns of which were not read whole."""
    if cut:
        logger.warning(
            "read_in_part turns=%d thread=%s: of each the first and last %d characters",
            cut, batch.thread_id, MOST_READ // 2,
        )  # fmt: skip
    if len(found) == 1:
        return found[0]
    summaries = [one.summary for one in found if one.summary is not None]
    return Extraction(
        facts=tuple(join_repetitions(fact for one in found for fact in one.facts)),
        summary=SessionSummary(
            text=" ".join(one.text for one in summaries),
            decisions=tuple(each for one in summaries for each in one.decisions),
            open_points=tuple(each for one in summaries for each in one.open_points),
        )
        if summaries
        else None,
        core=tuple(each for one in found for each in one.core),
        model_calls=sum(one.model_calls for one in found),
        dropped=(*(each for one in found for each in one.dropped), *(READ_IN_PART,) * cut),
    )


def _has_words(turn: Turn) -> bool:
    return turn.role.casefold() != "tool" and bool(without_injected_text(turn.text))


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
    """The extraction that an answer is for this batch."""
    reading = answered.value
    dropped = list(reading.dropped)
    facts: list[Fact] = []
    for entry in reading.facts:
        turns = _evidence(batch, entry.evidence)
        fact = kept_close(_fact(entry, turns), batch)
        if fact is None:
            dropped.append("rests on private words of several people")
        else:
            facts.extend(separate_requests(fact, turns))
    return Extraction(
        facts=tuple(facts),
        summary=reading.summary,
        core=tuple(
            replace(one, evidence=tuple(turn.key for turn in _evidence(batch, one.evidence)))
            for one in reading.core
        ),
        model_calls=answered.calls,
        dropped=tuple(dropped),
    )


def _remove_labels(raw: str, batch: Batch) -> str:
    """The answer with "Maria" for "Maria (user)", as the head of a turn has it."""
    for turn in batch.turns:
        name = label(turn.speaker)
        raw = raw.replace(f"{name} ({label(turn.role)})", name)
    return raw


def _evidence(batch: Batch, ids: Sequence[str]) -> list[Turn]:
    """The turns of these ids: first what persons said, each part in order."""
    turns = [batch.turns[_number(id) - 1] for id in sorted(ids, key=_number)]
    return sorted(turns, key=lambda turn: not is_person(turn))


def _number(id: str) -> int:
    """7 of ``t7``."""
    return int(id[1:])


def _fact(entry: AnswerFact, turns: Sequence[Turn]) -> Fact:
    turns, teller = _told_by(entry, turns)
    first = turns[0]
    language = entry.language or detect_language(f"{entry.text} {first.text}").code
    text = entry.text if teller is None else _named_text(entry, teller)
    said = [without_injected_text(turn.text) for turn in turns if is_person(turn)]
    found = claims_of_entry(entry, text, teller, language, said)
    return Fact(
        text=text,
        kind=entry.kind,
        speaker=first.speaker,
        owner=first.owner,
        privacy=entry.privacy,
        confidence=entry.confidence,
        importance=entry.importance,
        language=language,
        evidence=tuple(turn.key for turn in turns),
        said_at=first.said_at,
        time_words=_time_words(entry, turns, language),
        claims=found.claims,
        ends=found.ends,
        corrects=entry.corrects and not found.over,
        implied=found.implied,
        temporal_class=entry.temporal_class,
    )


def _told_by(entry: AnswerFact, turns: Sequence[Turn]) -> tuple[Sequence[Turn], str | None]:
    """The turns, first those of who tells it, and who that is; None where several may be. Of several
    people whose turns are named ("Where do you live, Tom?", "In Bonn"), it is the one the fact is about.
    """
    speakers = dict.fromkeys(turn.speaker for turn in turns if is_person(turn))
    subject = entry.claims[0].subject.casefold() if entry.claims else ""
    text = entry.text.casefold()
    about = [
        one for one in speakers if subject == one.casefold() or text.startswith(one.casefold())
    ]
    if len(about) == 1:
        mine = sorted(turns, key=lambda turn: (not is_person(turn), turn.speaker != about[0]))
        return mine, mine[0].speaker
    return turns, turns[0].speaker if len(speakers) < 2 else None


def _named_text(entry: AnswerFact, speaker: str) -> str:
    """The text with the speaker's name, where it says "The user" of somebody who has one."""
    begun = person_words().user.match(entry.text)
    subjects = (claim.subject.casefold() for claim in entry.claims)
    if begun is None or speaker.casefold() in person_words().self:
        return entry.text
    if not any(
        one in person_words().self | person_words().speaker or person_words().user.match(one)
        for one in subjects
    ):
        return entry.text
    return speaker + entry.text[begun.end() :]


def _time_words(entry: AnswerFact, turns: Sequence[Turn], language: str) -> str | None:
    """The words that say when, as somebody said them. Models like to calculate dates instead: then
    those count that mean the same time, or the only ones of the text. Where a model leaves them in
    the text alone, they count as far as they say when it happened, or since when it is so.
    """
    words = _fold_whitespace(entry.time_words)
    if words and any(words in _fold_whitespace(turn.text) for turn in turns):
        return entry.time_words
    said_at = turns[0].said_at
    meant = {(one.when.start, one.when.end) for one in find(entry.time_words, said_at=said_at)}
    for turn in turns if meant else ():
        for one in find(turn.text, said_at=turn.said_at):
            if (one.when.start, one.when.end) in meant:
                return turn.text[one.start : one.end]
    found = find(entry.text, said_at=said_at, language=language)
    if len(found) != 1 or not (words or found[0].role == "since" or entry.kind == "event"):
        return None
    told = entry.text[found[0].start : found[0].end]
    return (
        told
        if any(_fold_whitespace(told) in _fold_whitespace(turn.text) for turn in turns)
        else None
    )


def _fold_whitespace(text: str) -> str:
    return " ".join(text.casefold().split())
