"""Facts without a model: what people say outright about themselves and those close to them.

Modest and precise: a clause either matches a rule from its subject on, or it is left alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from datetime import timedelta

from langmemory.formation.batch import MOST_READ, Batch, Turn
from langmemory.formation.extraction.transcript import is_person, without_injected_text
from langmemory.formation.repetition import join_repetitions
from langmemory.formation.rules.game import Game
from langmemory.formation.rules.patterns import GRAMMARS, patterns_of
from langmemory.formation.rules.questions import complete_answer, may_answer, spoken_of
from langmemory.formation.rules.reader import NO_NAMES, Reader, speaker_named
from langmemory.formation.rules.requests import standing_requests
from langmemory.formation.rules.retractions.corrections import corrects_another
from langmemory.formation.rules.retractions.held import Held, Told, told_in
from langmemory.formation.rules.retractions.reader import RECENT, may_take_back, taken_back
from langmemory.formation.rules.value_corrections import (
    Replacement,
    find_corrections,
    spoken_sentences,
)
from langmemory.languages import LANGUAGES, detect_language, split_words
from langmemory.ports.facts import (
    READ_IN_PART,
    TAKEN_BACK,
    Extraction,
    Fact,
    SnapshotKnowledge,
)

logger = logging.getLogger("langmemory.formation")

SHORT_CHARACTERS = 80
"""Up to this length, a text is also tried in other languages it may be in."""

Opened = Callable[[], AbstractContextManager[SnapshotKnowledge | None]]
"""Opens what is known, for reading in the thread that calls it."""

_KNOWN: ContextVar[Opened] = ContextVar("langmemory_known", default=nullcontext)


@contextmanager
def comparing(known: Opened) -> Iterator[None]:
    """Let every `RuleExtractor.extract` within compare with what is known, also one that is called
    by an extractor of somebody's own."""
    token = _KNOWN.set(known)
    try:
        yield
    finally:
        _KNOWN.reset(token)


class RuleExtractor:
    """Extraction by the rules of each language that has them. It writes no summary: a list
    of frequent words is no account of a conversation, and what was learned stands in the facts."""

    def extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
        """`read` of a batch, with what is known where the call stands in `comparing`."""
        with _KNOWN.get()() as told:
            return self.read(batch, names=names, told=told)

    async def aextract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
        return await asyncio.to_thread(self.extract, batch, names=names)

    def read(
        self, batch: Batch, *, names: Sequence[str] = (), told: SnapshotKnowledge | None = None
    ) -> Extraction:
        """What the persons of a batch said for certain, at most one statement a clause. Of a turn
        with more than `MOST_READ` characters of somebody's own words the middle is not read.

        Args:
            batch: turns nobody has read yet.
            names: of entities known already.
            told: what is known by who told it: of that, the turns may take something back. Without
                it, only of what the batch tells itself.
        """
        known: dict[str, str] = {}
        for name in (*names, *(turn.speaker for turn in batch.turns if is_person(turn))):
            if name.strip().casefold() not in NO_NAMES:
                known.setdefault(name.strip().casefold(), name.strip())
        facts: list[Fact] = []
        in_part = 0
        game = Game()
        before_now = Memory(told)
        for turn in batch.before:
            game.hear(turn.text)
        before = batch.before[-1] if batch.before else None
        for asked, turn in zip((before, *batch.turns), batch.turns, strict=False):
            if game.hear(turn.text) or not is_person(turn):
                continue
            found, is_whole = _read(turn, known, asked)
            facts += before_now.heard(turn, found)
            in_part += not is_whole
        if in_part:
            logger.warning(
                "read_in_part turns=%d thread=%s: of each the first and last %d characters",
                in_part, batch.thread_id, MOST_READ // 2,
            )  # fmt: skip
        shortly_before = batch.before if before_now.may_take_back else ()
        kept = list(_as_corrected(facts, shortly_before, batch.turns, known))
        dropped = (READ_IN_PART,) * in_part + (TAKEN_BACK,) * (len(facts) - len(kept))
        return Extraction(facts=tuple(join_repetitions(kept)), dropped=dropped)


def _as_corrected(
    facts: Sequence[Fact], before: Sequence[Turn], turns: Sequence[Turn], known: dict[str, str]
) -> Iterator[Fact]:
    """The facts without those of which the same person later says another number, date or name, unless a
    later fact takes their place anyway; with another number they are read again. So is what was said shortly
    before the batch: it corrects what was read of it then."""
    if not facts and not before:
        return
    persons = [turn for turn in (*before, *turns) if is_person(turn)]
    read_before = sum(map(is_person, before))
    found = find_corrections(spoken_sentences([(turn.speaker, turn.text) for turn in persons]))
    wrong = [one for one in found if one.was_wrong and one.place >= read_before]

    def again(one: Replacement, before: Sequence[str]) -> Iterator[Fact]:
        turn = persons[one.place]
        for fact in _read(replace(turn, text=one.restated), known, None)[0] if one.restated else ():
            yield replace(fact, evidence=(turn.key, *before))

    heard = {key for fact in facts for key in fact.evidence}
    for one in wrong:
        if one.first_place < read_before and persons[one.place].key not in heard:
            for fact in again(one, [persons[one.first_place].key]):
                yield replace(fact, corrects=True)
    for place, fact in enumerate(facts):
        missed = [one for one in wrong if one.is_missed_by(fact.text, fact.language)]
        if not missed or any(_takes_place(one, fact) for one in facts[place + 1 :]):
            yield fact
        else:
            relations = [one.relation for one in fact.claims]
            for restated in again(missed[-1], fact.evidence):
                if [one.relation for one in restated.claims] == relations:
                    yield restated


def _takes_place(fact: Fact, old: Fact) -> bool:
    mine, theirs = fact.claims[:1], old.claims[:1]
    return bool(mine and theirs) and (
        (fact.ends or fact.corrects)
        and (mine[0].subject, mine[0].relation) == (theirs[0].subject, theirs[0].relation)
    )


class Memory:
    """What each speaker told before, for what they take back of it."""

    def __init__(self, told: SnapshotKnowledge | None) -> None:
        self.told = told
        self.may_take_back = False
        """Whether a turn had a word by which something is taken back."""
        self._before: dict[tuple[str, str | None, str], Told] = {}
        self._of_batch: dict[tuple[str, str | None], list[Held]] = {}

    def heard(self, turn: Turn, found: list[Fact]) -> list[Fact]:
        """What a turn says, with what it takes back."""
        who = turn.speaker, turn.owner
        shown, claimed = speaker_named(turn, patterns_of(found[0].language if found else "en"))
        own = [one for fact in found if (one := told_in(fact, shown, claimed)) is not None]
        batch = self._of_batch.setdefault(who, [])
        text = without_injected_text(turn.text)
        if codes := [code for code in _languages(text) if may_take_back(text, code)]:
            self.may_take_back = True
            known = [*reversed(own), *reversed(batch), *self._held(turn, shown)]
            readings = (taken_back(turn, text, code, known, found) for code in codes if known)
            found = next((one for one in readings if one != found), found)
            found = [
                replace(fact, corrects=False)
                if fact.corrects
                and fact.language in codes
                and corrects_another(fact, text, patterns_of(fact.language), known)
                else fact
                for fact in found
            ]
        batch += own
        return found

    def _held(self, turn: Turn, shown: str) -> list[Held]:
        """What the speaker of a turn told before the batch, as far as the turn may take it back."""
        if self.told is None:
            return []
        who = turn.speaker, turn.owner, shown
        if who not in self._before:
            self._before[who] = Told(self.told, *who)
        return self._before[who].held(turn.text)


def _read(turn: Turn, known: dict[str, str], asked: Turn | None) -> tuple[list[Fact], bool]:
    """The facts of one turn, and whether all of it was read; names it tells are added to ``known``.

    Args:
        turn: read.
        known: names by their case-folded form.
        asked: the turn directly before it.
    """
    text, is_whole = without_injected_text(turn.text), True
    before = asked if asked is not None and _goes_on(asked, turn) else None
    if asked is not None and not may_answer(asked, turn):
        asked = None
    for language, said, answers in _readings(turn, text, asked):
        patterns = patterns_of(language)
        named, claimed = speaker_named(turn, patterns)
        wanted, rest = standing_requests(turn, said, patterns, named=named, claimed=claimed)
        reader = Reader(turn, rest, known, patterns, answers=answers)
        if before is not None:
            reader.heard_before(without_injected_text(before.text))
        if asked is not None and (about := spoken_of(asked, turn, text, language)):
            reader.persons.see(about)
        is_whole = not reader.in_part
        facts = [*wanted, *reader.facts()]
        if facts:
            return facts, is_whole
    return [], is_whole


def _goes_on(before: Turn, turn: Turn) -> bool:
    """Whether the same person said a turn shortly after the one before it."""
    soon = timedelta() <= turn.said_at - before.said_at <= RECENT
    return soon and is_person(before) and before.speaker == turn.speaker


def _readings(turn: Turn, text: str, asked: Turn | None) -> Iterator[tuple[str, str, bool]]:
    """Languages a text may be in, the likeliest first, each with the text as it is to be read, and
    whether its first sentence was made of a short answer to what was asked."""
    if asked is not None:
        for code in _languages(asked.text[-SHORT_CHARACTERS:]):  # each has patterns to be made
            if said := complete_answer(asked, turn, text, code):
                yield code, said, True
    for code in _languages(text):
        yield code, text, False


def _languages(text: str) -> list[str]:
    """The languages it may be in, the likeliest first: "Me llamo Ana" is too short to be sure."""
    likely = detect_language(text).code
    if len(text) > SHORT_CHARACTERS:
        return [likely] if likely in GRAMMARS else []
    words = split_words(text)
    known = {code: LANGUAGES[code].stop_words.intersection(words) for code in (likely, *GRAMMARS)}

    def may_be(code: str) -> bool:
        """One word less tells little: "in La Spezia" has an Italian one more than an English one."""
        one, other = known[code] - known[likely], known[likely] - known[code]
        return len(one) >= len(other) - bool(known[code])

    return [
        code for code in dict.fromkeys((likely, *GRAMMARS)) if code in GRAMMARS and may_be(code)
    ]
