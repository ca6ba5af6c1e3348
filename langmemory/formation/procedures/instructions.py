"""Procedures that a person tells: "No, first run the tests, then push", "always lint before you commit".

Rules, for the languages that have ``procedures.toml``. Only what a person says in plain words counts, and
only for good: as a correction, or with words such as "always" or "whenever you deploy". The steps are the
person's words, and nothing is added to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.transcript import is_person, without_injected_text
from langmemory.formation.rules.clauses import own_words, plain_sentences
from langmemory.formation.rules.game import Game
from langmemory.formation.rules.patterns import GRAMMARS, patterns_of
from langmemory.formation.rules.requests import MANNERS, MAX_CHARACTERS
from langmemory.languages import Topic, detect_language
from langmemory.procedures import Draft, Step


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class InstructionWords:
    """How a language says in which order something is done. Regular expressions, whatever the case."""

    code: str
    corrects: re.Pattern[str]
    """Begins a sentence that corrects the one who did it: "no", "wrong order"."""
    always: re.Pattern[str]
    """Says that it is meant for good."""
    first: re.Pattern[str]
    """Stands in the first step."""
    then: re.Pattern[str]
    """Stands between two steps."""
    before: re.Pattern[str]
    """Two steps in the groups ``first…`` and ``last…``: "run the tests before you push"."""
    occasion: re.Pattern[str]
    """Begins a sentence and says in a group ``task…`` what is done: "when you deploy, …"."""
    fillers: re.Pattern[str]
    """Words that are no part of a step."""
    no_step: re.Pattern[str]
    """What is found in no step: it tells of somebody, asks, or gives orders about orders."""


WORDS: Final = Topic(
    InstructionWords,
    "procedures",
    about="how people say in which order something is done",
    without="only a model finds how-to",
)

MOST_STEPS: Final = 10
MOST_CHARACTERS: Final = 120
"""Of a step or a task: longer ones are no instruction."""
_EDGE: Final = " \t\n,;:.!¡–—-，。！；：、"


def read_instructions(batch: Batch) -> list[Draft]:
    """Return the procedures that the persons of a batch tell, in the order they were said; each is as private
    as its turn."""
    found = [tuple(_drafts_of_turn(turn)) if is_person(turn) else () for turn in batch.turns]
    if not any(found):
        return []
    game = Game()
    for turn in batch.before:
        game.hear(turn.text)
    played = [game.hear(turn.text) for turn in batch.turns]
    return [
        draft
        for drafts, is_play in zip(found, played, strict=True)
        if not is_play
        for draft in drafts
    ]


def _drafts_of_turn(turn: Turn) -> Iterator[Draft]:
    text = without_injected_text(turn.text).replace("’", "'")
    if len(text) > MAX_CHARACTERS:
        return
    detected = detect_language(text).code
    sentences: dict[str, list[str]] = {}
    """By the speaker's own words, which are the same in most languages."""
    for code in dict.fromkeys((detected, *WORDS)):
        if code not in WORDS or code not in GRAMMARS or code not in MANNERS:
            continue
        if MANNERS[code].found["elsewhere"].search(text):
            return
        own = own_words(text, patterns_of(code))
        if own not in sentences:
            sentences[own] = list(plain_sentences(own))
        told = list(_in_language(turn, sentences[own], WORDS[code]))
        if told:
            yield from told
            return


def _in_language(turn: Turn, sentences: Iterable[str], words: InstructionWords) -> Iterator[Draft]:
    unclear = MANNERS[words.code].found["unclear"]
    corrected = False
    for sentence in sentences:
        opened = words.corrects.match(sentence)
        said = sentence[opened.end() :] if opened else sentence
        corrected = corrected or opened is not None
        found = _steps(said, words)
        told_of = words.occasion.search(said.strip(_EDGE))
        rest = said if told_of is None else said.replace(told_of[0], " ", 1)
        if found is None or unclear.search(rest):
            continue
        task, steps = found
        if corrected or words.always.search(said) or task is not None:
            yield Draft(
                task=task or steps[-1],
                steps=tuple(Step(text=one) for one in steps),
                owner=turn.owner,
                privacy="private" if turn.privacy == "private" else "shared",
                evidence=(turn.key,),
                in_order=True,
            )


def _steps(sentence: str, words: InstructionWords) -> tuple[str | None, list[str]] | None:
    """Return the task, where the sentence names it, and the steps; None where it tells of none."""
    text, task = sentence.strip(_EDGE), None
    text = words.always.sub(" ", text).strip(_EDGE)
    if (occasion := words.occasion.match(text)) is not None:
        task = next(_clean(one, words) for one in occasion.groups() if one)
        text = text[occasion.end() :].strip(_EDGE)
    parts = words.then.split(text)
    if len(parts) > 1 and words.first.search(parts[0]):
        steps = [words.first.sub(" ", parts[0], count=1), *parts[1:]]
    elif (pair := words.before.match(text)) is not None:
        named = {name: one for name, one in pair.groupdict().items() if one}
        ends = [next(one for n, one in named.items() if n.startswith(e)) for e in ("first", "last")]
        steps = [words.first.sub(" ", ends[0], count=1), ends[1]]
    else:
        return None
    cleaned = [_clean(one, words) for one in steps]
    known = [*cleaned, *([task] if task is not None else [])]
    if not 2 <= len(cleaned) <= MOST_STEPS or not all(
        0 < len(one) <= MOST_CHARACTERS for one in known
    ):
        return None
    if any(words.no_step.search(one) for one in cleaned):
        return None
    return task, cleaned


def _clean(text: str, words: InstructionWords) -> str:
    return " ".join(words.fillers.sub(" ", text).split()).strip(_EDGE)
