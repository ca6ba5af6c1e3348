"""What a model reads in a conversation, as far as persons said it.

Which turn says something is found by its words, never taken from the model: speaker, owner, date and
privacy follow from it. A statement stands where a person's own sentence has its words, names and
numbers, and states them for certain; what else it says is left out, with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property, lru_cache
from itertools import combinations, pairwise, takewhile
from typing import Final, Literal

from langmemory.answers import without_repetitions
from langmemory.formation.batch import Batch, Turn, kept_close
from langmemory.formation.confidences import without_request
from langmemory.formation.entities.roles import person_words
from langmemory.formation.extraction.junk import JUNK_WORDS, is_small_talk
from langmemory.formation.extraction.transcript import HEAD, is_person, without_injected_text
from langmemory.formation.grounding import (
    SUPPORTED,
    calendar_words,
    harmful,
    in_first_person,
    sentences,
)
from langmemory.formation.relations.vocabulary import (
    AT_TIMES,
    BY_NAME,
    PLANNED,
    relation_named,
)
from langmemory.formation.relations.vocabulary import WORDS as RELATION_WORDS
from langmemory.formation.replacements import find_replacements
from langmemory.formation.rules.clauses import (
    Clause,
    own_words,
    read_part,
    read_sentences,
    strip_openers,
)
from langmemory.formation.rules.clauses import sentences as split_sentences
from langmemory.formation.rules.game import Game
from langmemory.formation.rules.grammar import TIME
from langmemory.formation.rules.patterns import GRAMMARS, Patterns, patterns_near
from langmemory.formation.rules.questions import answered_question, complete_answer, may_answer
from langmemory.formation.rules.retractions.frame import FRAMES
from langmemory.formation.rules.value_corrections import MAX_CHARACTERS, Replacement
from langmemory.formation.statements import cues
from langmemory.formation.times import find
from langmemory.formation.wording import (
    Wording,
    capitalised_words,
    missing_words,
    singular,
    telling_words,
    wording,
)
from langmemory.languages import (
    LANGUAGES,
    detect_language,
    is_surely,
    is_unspaced,
    split_words,
    word_forms,
)
from langmemory.languages.spelling import normalised_text
from langmemory.ports.facts import (
    TAKEN_BACK,
    Claim,
    CoreSuggestion,
    Extraction,
    Fact,
    SessionSummary,
    When,
)
from langmemory.types import NO_LONGER

SHORT_ANSWER: Final = 8
"""Words up to which a turn may leave to the question before it what it speaks of."""

PLAINLY: Final = 0.4
"""Share of the words of a statement that a passage may lack, beside words for relations."""

UNSAID: Final = "no person said so"
FIRST_PERSON: Final = "in the first person"
SECOND_PERSON: Final = "in the second person"
SAYS_NOTHING: Final = "thanks, praise, or something left open"
OF_NOBODY: Final = "about nobody and nothing that has a name"
QUOTED_HEAD: Final = "a head of the quotation"
REPEATS: Final = "says a sentence again"
OF_ASSISTANT: Final = "repeats the assistant"
OF_OTHERS: Final = "said of somebody else"
EXCHANGED: Final = "said with the names exchanged"
OPPOSITE: Final = "the opposite was said"
NO_NAME: Final = "a name that nobody said"
NO_NUMBER: Final = "a number that nobody said"
NO_DATE: Final = "a date that nobody said"
CONFIDED: Final = "has private words of an earlier turn"
SUPPOSED: Final = "only supposed, wished or reported"

_Sure = Literal["fits", "differs", "lacks"]
"""Of a passage: whether it says the statement, says something else, or not all of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Passage:
    """Words of one turn, or of a short answer with its question."""

    turn: Turn
    clauses: tuple[tuple[str, bool], ...]
    """Each with whether it is certain."""
    code: str
    asked: str = ""
    """The question that it answers."""
    confirms: bool = False
    """What it asks holds with the answer."""

    @property
    def text(self) -> str:
        return " ".join(text for text, _ in self.clauses)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Heard:
    """A turn, as far as a statement may rest on it."""

    turn: Turn
    code: str
    sizes: tuple[tuple[_Passage, ...], ...]
    """Passages, the shortest first."""
    words: frozenset[str]
    """All that it says, questions too."""


class Talk:
    """A batch, as far as statements about it may rest on it.

    Args:
        batch: The turns.
        names: Of entities known before.
    """

    def __init__(self, batch: Batch, names: Iterable[str] = ()) -> None:
        self.batch = batch
        everyone = (*batch.before, *batch.turns)
        self._speakers = {turn.speaker: _words_of(turn.speaker) for turn in everyone}
        self._known = frozenset(word for name in names for word in _words_of(name))
        game = Game()
        played = {turn.key for turn in everyone if game.hear(turn.text)}
        before: Mapping[str, Turn | None] = {
            turn.key: asked for asked, turn in pairwise((None, *everyone)) if turn is not None
        }
        self._persons = [
            _heard(turn, before[turn.key])
            for turn in batch.turns
            if is_person(turn) and turn.key not in played
        ]
        self._assistants = [
            _heard(turn, None) for turn in batch.turns if turn.role.casefold() == "assistant"
        ]
        persons = frozenset(
            word for turn in everyone if is_person(turn) for word in _words_of(turn.text)
        )
        self._of_assistants = (
            frozenset(
                word
                for turn in everyone
                if turn.role.casefold() == "assistant"
                for word in _words_of(turn.text)
            )
            - persons
        )
        shared = self._known.union(
            *(
                _words_of(f"{one.speaker} {one.text}")
                for one in everyone
                if one.privacy != "private"
            )
        )
        self._secrets = {
            turn: frozenset(missing_words(_words_of(turn.text), shared))
            for turn in everyone
            if turn.privacy == "private" and is_person(turn)
        }
        self._names = self._known | persons | frozenset().union(*self._speakers.values())

    def ground(self, text: str) -> tuple[Turn, ...] | str:
        """Return the turns that say what a text says; or why none does."""
        said = [turn.text for turn in self.batch.turns]
        if any(text.startswith(f"{name}:") for name in self._speakers):
            return QUOTED_HEAD
        if HEAD.search(text) and not any(text in one for one in said):
            return QUOTED_HEAD
        if (reason := harmful(text, said)) is not None:
            return reason
        if normalised_text(without_repetitions(text, short=0)) != normalised_text(text):
            return REPEATS
        several = [one for part in sentences(text).values() for one in _with_own_names(part)]
        if len(several) > 1:
            return self._all_of(several)
        found: list[Turn] = []
        worst = UNSAID
        for heard in self._assistants if self.is_of_an_assistant(text) else self._persons:
            verdict = self._says(heard, text)
            if verdict is None:
                found.append(heard.turn)
            elif verdict != UNSAID:
                worst = verdict
        if not found:
            return worst
        language = detect_language(text).code
        if any(one.is_missed_by(text, language) for one in self._replacements):
            return TAKEN_BACK
        told = [turn for turn in found if self._speakers[turn.speaker] & _words_of(text)] or found
        confided = [turn for turn in self._confided(text) if turn not in told]
        if any(turn not in self.batch.turns for turn in confided):
            return CONFIDED
        return (*told, *confided)

    @cached_property
    def _ordinary(self) -> frozenset[str]:
        """The words that somebody wrote small, so that they are no names."""
        everyone = (*self.batch.before, *self.batch.turns)
        small = (
            word
            for turn in everyone
            for word in turn.text[:MAX_CHARACTERS].split()
            if word[:1].islower()
        )
        return _words_of(" ".join(small))

    @cached_property
    def _replacements(self) -> list[Replacement]:
        """What persons said otherwise afterwards."""
        everyone = (*self.batch.before, *self.batch.turns)
        return find_replacements(
            [(turn.speaker, turn.text) for turn in everyone if is_person(turn)]
        )

    def _confided(self, text: str) -> Iterator[Turn]:
        """The private turns that have words of a text which nobody says to all: it may rest on other turns
        for the most part, and is private with them."""
        words = wording(text, detect_language(text).code).words
        for turn, theirs in self._secrets.items():
            if words - missing_words(words, theirs):
                yield turn

    def _all_of(self, texts: Iterable[str]) -> tuple[Turn, ...] | str:
        """The turns that say several sentences, each of them one at least."""
        found: dict[str, Turn] = {}
        for text in texts:
            turns = self.ground(text)
            if isinstance(turns, str):
                return turns
            found |= {turn.key: turn for turn in turns}
        return tuple(found.values())

    def statements(self) -> Iterator[Turn]:
        """Yield the turns in which a person states something."""
        names = frozenset().union(*map(split_words, self._speakers))
        for heard in self._persons:
            said = without_injected_text(heard.turn.text)
            smallest = (one for passages in heard.sizes[:2] for one in passages)
            if any(map(self._tells_of_somebody, smallest)) and not is_small_talk(said, names):
                yield heard.turn

    def _tells_of_somebody(self, passage: _Passage) -> bool:
        """Whether a passage tells of somebody or something with a name, other than who is spoken to. What may
        be in a language of which nothing is known, does."""
        text, code = passage.text, passage.code
        if passage.asked or _speaks_of_itself(passage) or not is_surely(text, code):
            return True
        patterns = (pattern for _, pattern in patterns_near(code).pronouns)
        if any(_has_word(text, pattern) for pattern in patterns):
            return True
        if any(map(person_words().is_role, split_words(text))):
            return True
        others = self.others(passage.turn.speaker)
        called = [words for name, words in others.items() if not _tells_of(name, text)]
        return bool(capitalised_words(text) - frozenset().union(*called))

    def is_of_an_assistant(self, text: str) -> bool:
        """Whether a text begins with an assistant: what that does itself, or said."""
        named = (turn.turn.speaker for turn in self._assistants)
        words = (words.assistant for words in JUNK_WORDS.values())
        either = "|".join((*map(re.escape, named), *words))
        return re.match(rf"(?:{either})(?!\w)", text, re.IGNORECASE) is not None

    def _says(self, heard: _Heard, text: str) -> str | None:
        """Why a turn does not say what a text says; None where it does."""
        if in_first_person(text, heard.code):
            return FIRST_PERSON
        known = LANGUAGES.get(heard.code)
        if known is not None and not known.second_person.isdisjoint(split_words(text)):
            return SECOND_PERSON
        own = _Statement.of(text, heard, self)
        if own.says_nothing:
            return SAYS_NOTHING
        named = own.names_speaker or own.names - self._ordinary
        if not (named or own.roles or own.numbers or own.dates):
            return OF_NOBODY
        reason = UNSAID
        for passages in heard.sizes:
            differs = None
            for passage in passages:
                verdict, why = own.compare(passage)
                if verdict == "fits":
                    return None
                if verdict == "differs":
                    differs = why
                elif why != UNSAID:
                    reason = why
            if differs is not None:
                return differs
        return reason

    def is_known_name(self, word: str) -> bool:
        return not missing_words({word}, self._names)

    def said_until(self, turn: Turn) -> frozenset[str]:
        """The words of all that was said up to a turn, and of names known before."""
        everyone = (*self.batch.before, *self.batch.turns)
        until = everyone[: everyone.index(turn) + 1]
        return self._known.union(*(_words_of(one.text) | _words_of(one.speaker) for one in until))

    def is_of_assistant(self, words: Iterable[str]) -> bool:
        return bool(self._of_assistants.intersection(words))

    def others(self, speaker: str) -> Mapping[str, frozenset[str]]:
        """The names of those who speak beside somebody, as words."""
        mine = self._speakers[speaker]
        return {one: words for one, words in self._speakers.items() if words and not words & mine}

    @property
    def people(self) -> frozenset[str]:
        """Words of names that are surely some: of speakers, and of what is known."""
        return self._known.union(*self._speakers.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Statement:
    """A text of a model, taken apart to be looked for in a turn."""

    text: str
    heard: _Heard
    talk: Talk
    patterns: Patterns
    speaker: frozenset[str]
    names_speaker: bool
    names: frozenset[str]
    """Without the speaker's."""
    subject: frozenset[str]
    """Those of them that stand before anything else is told."""
    numbers: frozenset[str]
    dates: frozenset[str]
    """Both without those of a time that the turn names in other words."""
    telling: frozenset[str]
    plain: frozenset[str]
    """Those of the telling words that stand for no relation."""
    roles: frozenset[str]
    negated: bool
    hedged: bool
    words: frozenset[str]

    @classmethod
    def of(cls, text: str, heard: _Heard, talk: Talk) -> _Statement:
        code, patterns = heard.code, patterns_near(heard.code)
        if begun := person_words().user.match(text):
            text = text[begun.end() :]
        own = wording(text, code)
        speaker = _words_of(heard.turn.speaker)
        numbers, dates = own.numbers, frozenset(calendar_words(own, code))
        numbers, dates = _underived(text, heard, numbers, dates)
        light = cues().tells_nothing | cues().light
        calendar = frozenset(calendar_words(own, code))
        names = _names(text, code) - calendar - light - speaker - own.numbers
        telling = own.words - own.numbers - calendar - names - speaker - light
        first = takewhile(lambda word: not _words_of(word) & telling, text.split())
        return cls(
            text=text,
            heard=heard,
            talk=talk,
            patterns=patterns,
            speaker=speaker,
            names_speaker=bool(_words_of(text) & speaker) or begun is not None,
            names=names,
            subject=frozenset(word for one in first for word in _words_of(one) & names),
            numbers=numbers,
            dates=dates,
            telling=telling,
            plain=frozenset(word for word in telling if not _families({word}, code)),
            roles=frozenset(filter(person_words().is_role, split_words(text))),
            negated=_is_negated(patterns.breaks.split(text), code),
            hedged=bool(patterns.unclear.search(text) or cues().plans.search(text)),
            words=own.words | own.dates,
        )

    @property
    def says_nothing(self) -> bool:
        """Whether it only thanks, agrees or praises, or leaves open what it is about: "Ann chose it"."""
        known = LANGUAGES.get(self.heard.code)
        if known is None or self.numbers or self.dates or self.roles:
            return False
        fillers = {singular(word) for word in known.fillers}
        only_fillers = self.telling and {singular(word) for word in self.telling} <= fillers
        if only_fillers and not self.names - self.subject:
            return True
        last = split_words(self.text)[-1:]
        frame = FRAMES.get(self.heard.code)
        return bool(last and frame and re.fullmatch(frame.it, last[0], re.IGNORECASE))

    def compare(self, passage: _Passage) -> tuple[_Sure, str]:
        """Whether a passage says it, and if not, why."""
        code = passage.code
        theirs = wording(passage.text, code)
        question = wording(passage.asked, code)
        known = theirs.words | theirs.dates | theirs.numbers | self.speaker
        known |= {one.lstrip("0") or one for one in theirs.numbers}
        if passage.confirms:
            known |= question.words | question.dates | question.numbers
        if not (self.telling or self.names or self.numbers or self.dates):
            return "lacks", UNSAID
        missing = missing_words(self.telling, known | question.words)
        missing -= {word for word in missing if _forms(word, code) & theirs.words}
        roles = set(filter(person_words().is_role, theirs.words))
        families = _families((theirs.words | question.words) - roles, code)
        akin = {word for word in missing if _families({word}, code) & families}
        missing -= akin
        if self.numbers and self.numbers <= known and not families:  # "he is 12", of how old he is
            missing = missing & self.plain - self._units(theirs)
        if self.talk.is_of_assistant(missing):
            return "lacks", OF_ASSISTANT
        unsaid = len(missing & self.plain)
        if len(missing) > SUPPORTED * len(self.telling) or unsaid > PLAINLY * len(self.plain):
            return "lacks", UNSAID
        if families and missing - self.plain:
            return "lacks", UNSAID  # "likes", of what somebody hates
        role_of = person_words().role_of
        told = {role_of.get(word, word) for word in split_words(passage.text)}
        if any(role_of.get(word, word) not in told for word in self.roles) or self._is_own_kin():
            return "lacks", OF_OTHERS
        if self._is_of_others(passage, theirs):
            return "differs", OF_OTHERS
        names = missing_words(self.names, known)
        numbers = self.numbers - known
        days = question.dates if passage.confirms else frozenset[str]()
        dates = self.dates - (days | theirs.dates | calendar_words(theirs, code))
        shares = not self.names or names != self.names or bool(self.numbers - numbers)
        foreign = self._foreign_names(passage, theirs)
        if names:
            if not all(map(self.talk.is_known_name, names)):
                return "lacks", NO_NAME
            leads = self._leads(passage) and bool(names & self.subject)
            if (shares and (foreign or leads)) or (leads and self.plain and not missing):
                return "differs", OF_OTHERS
            spoken_of = self.talk.said_until(self.heard.turn)
            leans = self._leans(passage) and not missing_words(names, spoken_of)
            if leads or names - self.subject or not leans:
                return "lacks", OF_OTHERS
        if self._exchanges_names(passage):
            return "differs", EXCHANGED
        if numbers:
            return ("differs" if shares and theirs.numbers - self.numbers else "lacks"), NO_NUMBER
        if dates:
            return ("differs" if shares and calendar_words(theirs, code) else "lacks"), NO_DATE
        telling = [(text, certain) for text, certain in passage.clauses if self._shares(text, code)]
        if not self.hedged and not all(certain for _, certain in telling):
            return "lacks", SUPPOSED
        if not passage.asked and self.negated != _is_negated(
            (strip_openers(text, self.patterns)[0] for text, _ in telling), code
        ):
            return ("lacks" if missing else "differs"), OPPOSITE
        return "fits", ""

    def _is_yours(self, passage: _Passage) -> bool:
        """Whether what is first told of the speaker is who is spoken to's: "Your help means a lot to me"."""
        known = LANGUAGES.get(passage.code)
        if known is None:
            return False
        first = next(
            (one for word in split_words(self.text) if (one := _words_of(word) & self.telling)),
            None,
        )
        yours, mine = (
            _behind(words, passage.text) for words in (known.second_person, known.first_person)
        )
        return bool(first and first & yours and not first & mine)

    def _units(self, theirs: Wording) -> frozenset[str]:
        """Words for time of the statement, where a passage has none that could be others."""
        known = LANGUAGES.get(self.heard.code)
        units = known.temporal_words if known is not None else frozenset[str]()
        return frozenset() if theirs.words & units else self.telling & units

    def _is_own_kin(self) -> bool:
        """Whether somebody is said to be their own sister."""
        named = [word for one in self.text.split() for word in _words_of(one) & self.names]
        return bool(self.roles) and len(named) > len(set(named))

    def _shares(self, text: str, code: str) -> bool:
        theirs = wording(text, code)
        mine = self.telling | self.names | self.numbers | self.dates
        there = theirs.words | theirs.dates | theirs.numbers
        return not mine or len(missing_words(mine, there)) < len(mine)

    def _leads(self, passage: _Passage) -> bool:
        """Whether a passage speaks of whoever says it."""
        return any(
            _has_word(text, pattern, spaced=self.patterns.grammar.spaced)
            for text, _ in passage.clauses
            for pattern in (self.patterns.i, self.patterns.we)
        )

    def _leans(self, passage: _Passage) -> bool:
        """Whether a passage leaves open of whom it speaks: "She lives there", "In Kiel"."""
        begins = strip_openers(passage.text, self.patterns)[0]
        return bool(passage.asked) or any(
            pattern.match(begins) for _, pattern in self.patterns.pronouns
        )

    def _foreign_names(self, passage: _Passage, theirs: Wording) -> frozenset[str]:
        """Names of a passage that the statement does not speak of."""
        known = LANGUAGES.get(passage.code)
        names = theirs.names
        if known is not None and known.capital_nouns:
            names = capitalised_words(passage.text) & self.talk.people
        return frozenset(missing_words(names - self.speaker, self.words | self.names))

    def _exchanges_names(self, passage: _Passage) -> bool:
        """Whether two names have each other's place: "Kim lent Lee" and "Lee lent Kim", "from Bonn to
        Kiel" and "from Kiel to Bonn"."""
        names = self.names | self.speaker
        mine = _places(self.text, names, passage.code)
        said = passage.text
        if self.patterns.i.match(strip_openers(said, self.patterns)[0]):
            said = f"{self.heard.turn.speaker} {said}"
        theirs = _places(said, names, passage.code)
        for one, other in combinations([name for name in mine if name in theirs], 2):
            (at, lead), (behind, led) = mine[one], mine[other]
            (their_at, their_lead), (their_behind, their_led) = theirs[one], theirs[other]
            if lead and led and lead != led and (lead, led) == (their_led, their_lead):
                return True
            turned = (at < behind) != (their_at < their_behind)
            if turned and {lead, led, their_lead, their_led} == {""}:
                return True
        return False

    def _is_of_others(self, passage: _Passage, theirs: Wording) -> bool:
        """Whether the statement is about another than who the passage is about."""
        there = theirs.words | self.heard.words
        leads = self._leads(passage)
        for name, words in self.talk.others(self.heard.turn.speaker).items():
            if words & self.names and missing_words(words & self.names, there):
                return True
            # Who takes part in a talk tells of themselves; that they are addressed says nothing of them.
            if words & self.subject and (leads or not _tells_of(name, passage.text)):
                return True
        if passage.asked:
            return False
        about_speaker = bool(_words_of(self.text.split(maxsplit=1)[0]) & self.speaker)
        if about_speaker and (_speaks_to_others(passage) or self._is_yours(passage)):
            return True
        if leads or not about_speaker:
            return False
        role_of = person_words().role_of
        spoken = filter(person_words().is_role, split_words(passage.text))
        of = {role_of.get(word, word) for word in spoken}
        mine = {role_of.get(word, word) for word in self.roles}
        begins = strip_openers(passage.text, self.patterns)[0]
        others = any(pattern.match(begins) for _, pattern in self.patterns.pronouns)
        foreign = _names(begins.split(maxsplit=1)[0], passage.code) if begins else frozenset()
        return bool(of - mine) or others or bool(foreign & self._foreign_names(passage, theirs))


def _has_word(text: str, pattern: re.Pattern[str], *, spaced: bool = True) -> bool:
    """Whether a pattern of the beginning of words matches somewhere in a text."""
    begins = (found.start() for found in pattern.finditer(text))
    return any(not spaced or not at or not text[at - 1].isalnum() for at in begins)


def _speaks_of_itself(passage: _Passage) -> bool:
    """Whether a passage is in the first person, anywhere."""
    return any(in_first_person(text, passage.code) for text, _ in passage.clauses)


def _speaks_to_others(passage: _Passage) -> bool:
    """Whether a passage speaks of who is spoken to, and not of whoever says it."""
    known = LANGUAGES.get(passage.code)
    spoken = known.second_person if known is not None else frozenset[str]()
    return not spoken.isdisjoint(split_words(passage.text)) and not _speaks_of_itself(passage)


def _behind(words: frozenset[str], text: str) -> frozenset[str]:
    """The words that stand right behind one of these."""
    pairs = pairwise(split_words(text))
    return frozenset(
        word for before, after in pairs if before in words for word in _words_of(after)
    )


def _tells_of(name: str, text: str) -> bool:
    """Whether a text goes on behind somebody's name, instead of only calling them: "Thanks, Ben!"."""
    space = r"\s*" if is_unspaced(text) else r"(?:['’]?s)?\s+"
    either = "|".join(map(re.escape, name.split())) or "(?!)"
    return re.search(rf"(?<!\w)(?:{either}){space}\w", text, re.IGNORECASE) is not None


@lru_cache(maxsize=2)
def talk_of(batch: Batch, names: tuple[str, ...]) -> Talk:
    """Return the talk of a batch, which a small model is asked by and grounded in."""
    return Talk(batch, names)


def grounded(extraction: Extraction, batch: Batch, names: Sequence[str] = ()) -> Extraction:
    """Return a model's extraction as far as it is grounded, and why the rest is not."""
    talk = talk_of(batch, tuple(names))
    dropped = list(extraction.dropped)
    facts: list[Fact] = []
    for fact in extraction.facts:
        turns = talk.ground(fact.text)
        if isinstance(turns, str):
            dropped.append(turns)
            continue
        kept = kept_close(_resting_on(fact, turns), batch)
        if kept is None:
            dropped.append("rests on private words of several people")
        else:
            facts.append(kept)
    core: list[CoreSuggestion] = []
    for line in extraction.core:
        turns = talk.ground(line.text)
        if isinstance(turns, str):
            dropped.append(f"core: {turns}")
        else:
            core.append(replace(line, evidence=tuple(turn.key for turn in turns)))
    return replace(
        extraction,
        facts=tuple(facts),
        core=tuple(core),
        summary=_grounded_summary(extraction.summary, talk, dropped),
        dropped=tuple(dropped),
    )


def _grounded_summary(
    summary: SessionSummary | None, talk: Talk, dropped: list[str]
) -> SessionSummary | None:
    """The sentences of a summary that persons said; None where none is left."""

    def kept(texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            reason = talk.ground(text)
            if isinstance(reason, str):
                dropped.append(f"summary: {reason}")
            else:
                yield text

    if summary is None:
        return None
    text = " ".join(kept(sentences(summary.text).values()))
    decisions, points = tuple(kept(summary.decisions)), tuple(kept(summary.open_points))
    return SessionSummary(text=text, decisions=decisions, open_points=points) if text else None


def _resting_on(fact: Fact, turns: Sequence[Turn]) -> Fact:
    """The fact with what follows from the turns that say it."""
    first = turns[0]
    said = [" ".join(turn.text.casefold().split()) for turn in turns]
    words = " ".join((fact.time_words or "").casefold().split())
    return replace(
        fact,
        speaker=first.speaker,
        owner=first.owner,
        said_at=first.said_at,
        evidence=tuple(turn.key for turn in turns),
        time_words=fact.time_words if words and any(words in one for one in said) else None,
        claims=tuple(claim for claim in fact.claims if _is_of_text(claim, fact.text, first)),
    )


def _is_of_text(claim: Claim, text: str, turn: Turn) -> bool:
    """Whether a text names both ends of a claim, and its relation is known or named, too."""
    relation = claim.relation
    for prefix in (NO_LONGER, PLANNED, AT_TIMES):
        relation = relation.removeprefix(prefix)
    there = _words_of(text) | _words_of(turn.speaker)
    user = claim.subject.casefold() in person_words().speaker | person_words().self
    ends = _words_of(claim.object) | (frozenset() if user else _words_of(claim.subject))
    if claim.relation.startswith(("died", "has_died")):
        ends = _words_of(claim.subject)
    if missing_words(ends, there):
        return False
    name = relation_named(relation).name
    favourite = name.removeprefix("favourite_")
    return name in BY_NAME or not missing_words(split_words(favourite.replace("_", " ")), there)


def _heard(turn: Turn, asked: Turn | None) -> _Heard:
    said = without_request(without_injected_text(turn.text))
    text = re.sub(TIME, " ", said.replace("’", "'"))
    code = detect_language(text).code
    patterns = patterns_near(code)
    stated = [
        tuple((_unmasked(one), one.certain) for one in sentence.clauses)
        for sentence in read_sentences(own_words(text, patterns), patterns, turn.said_at)
        if sentence.clauses
    ]

    def passage(*several: tuple[tuple[str, bool], ...]) -> _Passage:
        return _Passage(
            turn=turn, clauses=tuple(one for each in several for one in each), code=code
        )

    sizes = [
        [passage((clause,)) for sentence in stated for clause in sentence],
        [passage(sentence) for sentence in stated],
        [passage(*pair) for pair in pairwise(stated)],
        [passage(*stated)] if len(stated) > 2 else [],
    ]
    if asked is not None and may_answer(asked, turn):
        sizes.insert(0, list(_answers(asked, turn, text, code)))
    return _Heard(
        turn=turn,
        code=code,
        sizes=tuple(tuple(each) for each in sizes if each),
        words=_words_of(read_part(text)),
    )


def _answers(asked: Turn, turn: Turn, text: str, code: str) -> Iterator[_Passage]:
    """A short answer with its question: as the rules complete it, and as it stands."""
    codes = dict.fromkeys((detect_language(asked.text).code, code))
    for one in codes:
        if one in GRAMMARS and (said := complete_answer(asked, turn, text, one)):
            answer = next(filter(None, split_sentences(said)))
            yield _Passage(turn=turn, clauses=((answer, True),), code=one)
    first = next(filter(None, split_sentences(text)), "")
    if len(split_words(first)) > SHORT_ANSWER:
        return
    for one in codes:
        found = answered_question(asked, turn, first, one)
        if found is not None:
            question, confirms = found
            clauses = ((first, True),)
            yield _Passage(turn=turn, clauses=clauses, code=one, asked=question, confirms=confirms)


def _unmasked(clause: Clause) -> str:
    """The text of a clause with the words of its times."""
    return re.sub(TIME, lambda found: clause.time(found[0]).when.words, clause.text)


def _words_of(text: str) -> frozenset[str]:
    """The words of a text, as they are compared, stop words too."""
    return telling_words(text, "")


def _names(text: str, code: str) -> frozenset[str]:
    """Words with a capital, also at the beginning of a sentence where no ordinary word of it stands."""
    stop = LANGUAGES[code].stop_words if code in LANGUAGES else frozenset[str]()
    first = {
        word
        for found in re.finditer(r"(?:\A|[.!?:]\s+)[\"'“„«(]*([^\W\d_][\w'’-]*)", text)
        if found[1][0].isupper() and stop.isdisjoint(split_words(found[1])[:1])
        for word in _words_of(found[1])
    }
    units = LANGUAGES[code].temporal_words if code in LANGUAGES else frozenset[str]()
    return (capitalised_words(text) | first) - units


def _with_own_names(sentence: str) -> Iterator[str]:
    """The clauses of a sentence, where each begins with a name: "Rex is four and Mimi is nine"; else the
    sentence."""
    code = detect_language(sentence).code
    clauses = [one for one in patterns_near(code).breaks.split(sentence) if one and one.strip()]
    named = all(_names(one.split(maxsplit=1)[0], code) for one in clauses)
    yield from clauses if named else [sentence] if sentence.strip() else []


def _places(text: str, names: frozenset[str], code: str) -> dict[str, tuple[int, str]]:
    """The place of each name that a text has once, and the word that makes it more than who does something or
    whom it is done to: a preposition before it, "and", or the mark of what is theirs."""
    known = LANGUAGES.get(code)
    words = split_words(text)
    found: dict[str, tuple[int, str]] = {}
    for at, word in enumerate(words):
        for name in _words_of(word) & names:
            before, after = words[at - 1 : at], words[at + 1 : at + 2]
            marks = known.prepositions | known.ands if known is not None else frozenset[str]()
            lead = next((one for one in before if one in marks), "")
            if (
                not lead
                and known is not None
                and (after == ["s"] or not known.ands.isdisjoint(after))
            ):
                lead = after[0]
            found[name] = (-1, "") if name in found else (at, lead)
    return {name: place for name, place in found.items() if place[0] >= 0}


def _is_negated(clauses: Iterable[str], code: str) -> bool:
    return any(wording(clause, code).negated for clause in clauses if clause)


@lru_cache(maxsize=64)
def _times_of(turn: Turn, code: str) -> list[tuple[datetime, datetime]]:
    """Beginnings and ends of the times that a turn names, in the part of it that rules read."""
    found = find(read_part(turn.text), said_at=turn.said_at, language=code)
    return [(one.when.start, one.when.end) for one in found]


def _underived(
    text: str, heard: _Heard, numbers: frozenset[str], dates: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The numbers and dates of a text without those of times that the turn names, in whatever words."""
    turn, code = heard.turn, heard.code
    if not numbers | dates:
        return numbers, dates
    meant = _times_of(turn, code)

    def is_meant(when: When) -> bool:
        return any(
            (start <= when.start and when.end <= end) or (when.start <= start and end <= when.end)
            for start, end in meant
        )

    for one in find(text, said_at=turn.said_at, language=code) if meant else ():
        if is_meant(one.when):
            named = wording(text[one.start : one.end], code)
            numbers -= named.numbers
            dates -= named.dates | calendar_words(named, code)
    return numbers, dates


@cache
def _relations_by_word(code: str) -> Mapping[str, frozenset[str]]:
    """The relations that a word of a language is used for."""
    idle = cues().joining | cues().articles | cues().auxiliaries
    found: dict[str, set[str]] = {}
    for name, phrases in RELATION_WORDS[code].phrases.items() if code in RELATION_WORDS else ():
        for word in {word for phrase in phrases for word in _words_of(phrase)} - idle:
            found.setdefault(_beginning(word), set()).add(name)
    return {word: frozenset(names) for word, names in found.items()}


def _beginning(word: str) -> str:
    """A word without what may be its ending."""
    return word[: max(3, len(word) - 2)]


@lru_cache(maxsize=4096)
def _forms(word: str, code: str) -> frozenset[str]:
    """Other forms of a word, as its language has them."""
    return frozenset(word_forms((word,), LANGUAGES[code])) if code in LANGUAGES else frozenset()


def _families(words: Iterable[str], code: str) -> frozenset[str]:
    """The relations that words may stand for."""
    known = _relations_by_word(code)
    return frozenset[str]().union(*(known.get(_beginning(word), frozenset()) for word in words))
