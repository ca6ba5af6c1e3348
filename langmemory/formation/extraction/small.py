"""Extraction by a small model: one exchange at a time, a few lines of prompt, one example, short answers.

The model writes sentences and nothing else. Who said them, when, and for whose ears follows from the
turn; kind, claims and times are read from the sentence by rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langmemory.answers import is_finished
from langmemory.errors import ExtractionError
from langmemory.formation.asking.asker import ANSWER_SECONDS, Asker, Method, Question
from langmemory.formation.asking.json_answers import json_object
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.answers import clean
from langmemory.formation.extraction.grounded import talk_of
from langmemory.formation.extraction.requests import separate_requests
from langmemory.formation.extraction.transcript import label, parts, without_injected_text
from langmemory.formation.rules import RuleExtractor
from langmemory.formation.rules.clauses import sentences
from langmemory.formation.rules.patterns import patterns_near
from langmemory.formation.rules.questions import may_answer
from langmemory.formation.rules.reader import speaker_named
from langmemory.formation.statements import cues
from langmemory.formation.times import find
from langmemory.languages import Topic, detect_language, split_words
from langmemory.ports.facts import READ_IN_PART, UNREAD, Extraction, Fact
from langmemory.steps import Steps, awaiting, blocking

MOST_NOTES: Final = 5
NOTE_CHARACTERS: Final = 160
TOKENS: Final = 320
"""Of an answer: its notes at their longest, in most languages."""
MOST_FAILURES: Final = 3
"""Answers one after the other that cannot be read; the rest of the batch is not asked about."""
PART_TOKENS: Final = 300
"""Of a turn, shown at once."""

BROKEN_OFF: Final = "no whole sentence"
"""Why a note is left out that breaks off, or is a title."""

SCHEMA: Final[Mapping[str, Any]] = {
    "title": "Notes",
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "maxItems": MOST_NOTES,
            "items": {"type": "string", "maxLength": NOTE_CHARACTERS},
        }
    },
    "required": ["facts"],
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """Something said by which a model is measured."""

    said: str
    """``{other}`` is a name."""
    tells: tuple[str, ...] = ()
    """Of each note to be made, words that tell it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """Something said, ``{other}`` is a name, and what ``{name}`` is noted to have said."""

    said: str
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SmallPrompt:
    """How a small model is asked in one language; ``{name}`` and ``{other}`` are names that the talk
    does not have, so that a note copied from the example is found out."""

    instructions: tuple[str, ...]
    """Sentences."""
    examples: tuple[Example, ...]
    """With what is noted, told by two persons in turn."""
    nothing: str
    """Something said of which nothing is noted."""
    names: tuple[str, ...]
    trials: tuple[Trial, ...] = ()


PROMPTS: Final[Mapping[str, SmallPrompt]] = Topic(
    SmallPrompt,
    "extraction",
    about="the short prompt for a small model, its example, and what it is measured by",
    without="a small model is asked in English",
)


class SmallExtractor:
    """Extraction by a small model: one call for each turn in which a person states something.

    Args:
        model: Any LangChain chat model.
        method: How it is held to the answer's schema; None picks what the model has.
        seconds: One answer may take.
    """

    __slots__ = ("_asker",)

    def __init__(
        self,
        model: BaseChatModel,
        *,
        method: Method | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._asker = Asker(model, SCHEMA, method=method, seconds=seconds, tokens=TOKENS)

    def _extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Steps[Extraction]:
        """Do as `Extractor.extract`.

        Raises:
            ExtractionError: No answer could be used.
        """
        asked, cut = parts(replace(batch, tokens=min(batch.tokens or PART_TOKENS, PART_TOKENS)))
        stated = {turn.key for turn in talk_of(batch, tuple(names)).statements()}
        facts: list[Fact] = []
        dropped: list[str] = []
        calls = read = failed = unread = 0
        problem: ExtractionError | None = None
        for before, turn in _exchanges(asked):
            if turn.key not in stated:
                continue
            if failed >= MOST_FAILURES:
                unread += 1
                continue
            try:
                answered = yield from self._asker.asked(_question(before, turn, batch))
            except ExtractionError as error:
                calls, failed, unread, problem = (
                    calls + error.model_calls,
                    failed + 1,
                    unread + 1,
                    error,
                )
                continue
            calls, read, failed = calls + answered.calls, read + 1, 0
            whole = [text for text in answered.value if is_finished(text)]
            dropped += [BROKEN_OFF] * (len(answered.value) - len(whole))
            facts += chain.from_iterable(_facts(text, turn) for text in whole)
        if problem is not None and not read:
            problem.model_calls = calls
            raise problem
        dropped += [UNREAD] * unread + [READ_IN_PART] * cut
        return Extraction(facts=tuple(facts), model_calls=calls, dropped=tuple(dropped))

    extract, aextract = blocking(_extract), awaiting(_extract)


def _exchanges(batches: Sequence[Batch]) -> Iterator[tuple[Turn | None, Turn]]:
    """Each turn, in parts where it is long, with the one before it."""
    before: Turn | None = next((turn for batch in batches for turn in batch.before[-1:]), None)
    for batch in batches:
        for turn in batch.turns:
            yield before, turn
            before = turn


def _question(before: Turn | None, turn: Turn, batch: Batch) -> Question[tuple[str, ...]]:
    said = without_injected_text(turn.text)
    code = detect_language(said).code
    code = code if code in PROMPTS else "en"
    asked = ""
    if before is not None and may_answer(before, turn):
        *_, last = filter(None, sentences(without_injected_text(before.text)))
        asked = f"{_shown(before, code)}: {last}\n"
    shown = f"{asked}{_shown(turn, code)}: {said}"
    return Question(messages=(*_lead(code, batch), HumanMessage(shown)), read=_notes)


def _lead(code: str, batch: Batch) -> list[BaseMessage]:
    """What stands before the exchange: always the same, so that a server need not read it again."""
    asked = PROMPTS[code]
    words = {
        word
        for turn in (*batch.before, *batch.turns)
        for word in split_words(f"{turn.speaker} {turn.text}")
    }
    free = [name for name in asked.names if words.isdisjoint(split_words(name))] or asked.names
    name, other = free[0], free[-1]
    shown: list[tuple[str, str, list[str]]] = []
    for number, one in enumerate(asked.examples):
        speaker, named = (other, name) if number % 2 else (name, other)
        notes = [note.format(name=speaker, other=named) for note in one.notes]
        shown.append((speaker, one.said.format(other=named), notes))
    shown.insert(1, (other, asked.nothing, []))
    return [
        SystemMessage(" ".join(asked.instructions)),
        *chain.from_iterable(
            (HumanMessage(f"{speaker}: {said}"), AIMessage(_as_json(notes)))
            for speaker, said, notes in shown
        ),
    ]


def _as_json(notes: Sequence[str]) -> str:
    import json

    return json.dumps({"facts": list(notes)}, ensure_ascii=False)


def _shown(turn: Turn, code: str) -> str:
    patterns = patterns_near(code)
    return label(speaker_named(turn, patterns)[0])


def _notes(raw: str) -> tuple[str, ...]:
    """The notes of an answer, each once. Raises `BadAnswerError`."""
    entries = json_object(raw, field="facts", entry="text").value["facts"]
    texts = (one.get("text", one.get("fact")) if isinstance(one, dict) else one for one in entries)
    notes = (clean(text) for text in texts if isinstance(text, str))
    return tuple(dict.fromkeys(note for note in notes if any(map(str.isalnum, note))))


def _facts(text: str, turn: Turn) -> Iterator[Fact]:
    """The fact of a note: what rules read in its sentence, as far as they do."""
    language = detect_language(f"{text} {turn.text}").code
    fact = Fact(
        text=text,
        kind="plan" if cues().plans.search(text) else "fact",
        speaker=turn.speaker,
        owner=turn.owner,
        language=language,
        evidence=(turn.key,),
        said_at=turn.said_at,
        time_words=_time_words(text, turn, language),
    )
    alone = Batch(namespace=(), thread_id="", turns=(replace(turn, text=text),))
    read = RuleExtractor().read(alone, names=(turn.speaker,)).facts
    if read:
        first = read[0]
        fact = replace(
            fact,
            kind=first.kind,
            claims=tuple(claim for one in read if one.ends == first.ends for claim in one.claims),
            ends=first.ends,
            implied=first.implied,
            importance=first.importance,
            temporal_class=first.temporal_class,
            time_words=first.time_words or fact.time_words,
        )
    yield from separate_requests(fact, [turn])


def _time_words(text: str, turn: Turn, language: str) -> str | None:
    """The words that say when, where it is one time and the turn has them, too."""
    found = [
        text[one.start : one.end] for one in find(text, said_at=turn.said_at, language=language)
    ]
    said = " ".join(turn.text.casefold().split())
    return found[0] if len(found) == 1 and " ".join(found[0].casefold().split()) in said else None
