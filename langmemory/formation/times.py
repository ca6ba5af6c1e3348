"""When: times people name, resolved against the moment and the timezone they were named in.

A time is an interval ``[start, end)`` with the precision of its words: "last May" is a month,
"two weeks ago" the calendar week that lies so far back, "in the 90s" a decade. Nothing is ever
resolved against now. Conventions where usage varies:

* "last Friday", "last May": the latest that is over. "next Friday": the first after today, never
  today. "this Friday": the one of this week, Monday to Sunday. "next week": the week after this.
* "Friday of next week", 下周五: of the calendar week named. "heute in acht Tagen", "hace quince
  días": the week that lies there.
* "on Friday", "on 3 March", "in May" without a year: by ``prefer``, else the nearest. What a fact
  tells is ahead or behind by its tense and kind: "the wedding is on 3 March" is the next one.
* "a few weeks ago": two to five of them.
* "since 2019" and "until 2019": the interval holds the moment at which the state began or ended.
* "last night", "Friday evening": those hours of the day, with the precision of an hour.
* "on Tuesday at 5": nobody knows which 5, so it is the day. "At 5 pm" and "at 17:00" are hours.
* Seasons are those of the northern hemisphere, by whole months.
* 3/4/2021 in English is no time, since it may be either day; 25/4/2021 is one.
* A duration of what lasts still begins so long ago: "has worked here for three years", "llevo tres
  años aquí", 工作了十年. Any other ("worked there for three years") is no time.
* Recurring times ("every Friday") and times only the speaker knows ("on my birthday") are no times.

Patterns of our own (`languages.temporal`) find and resolve the languages that have them. What they do
not know, and every other language, goes to dateparser: whole expressions only, for its search takes
"may", "second" and "3.11" for times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.statements import cues
from langmemory.languages import detect_language, primary
from langmemory.languages.temporal.calendar import Prefer, Span
from langmemory.languages.temporal.parsing import parse
from langmemory.languages.temporal.scanning import is_all, scan
from langmemory.languages.temporal.words import TIME_WORDS, Role
from langmemory.ports.facts import Fact, FactKind, When
from langmemory.types import NO_LONGER

MAX_CHARACTERS = 80
"""Longer words for a time are a sentence, not a time."""

PREFER: dict[FactKind, Prefer] = {"plan": "future", "decision": "future", "event": "past"}


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeInText:
    """A time in a text."""

    start: int
    """Characters ``[start, end)`` of the text, prepositions included."""
    end: int
    when: When
    role: Role
    """Whether it fixes a moment, begins something ("since"), ends it ("until"), or both."""


def find(
    text: str, *, said_at: datetime, language: str | None = None, prefer: Prefer | None = None
) -> list[TimeInText]:
    """The times a text names, in order.

    Args:
        said_at: Timezone-aware; its timezone is the speaker's.
        language: BCP 47 code; None detects it. Languages without patterns have no times here.
        prefer: Whether "on Friday" is behind or ahead.
    """
    words = TIME_WORDS.get(primary(language or "") or detect_language(text).code)
    if words is None:
        return []
    return [
        TimeInText(
            start=one.start,
            end=one.end,
            when=_when(text[one.start : one.end], one.span, said_at),
            role=one.role,
        )
        for one in scan(text, words, said_at, prefer)
        if one.strong
    ]


def resolve(
    words: str, *, said_at: datetime, language: str | None = None, prefer: Prefer | None = None
) -> When | None:
    """Return the time that words mean, said at this moment in its timezone; None if they name none.

    Args:
        words: The time alone: "last May", "since 2019", "vor drei Wochen".
    """
    found = _resolve(words, said_at, language, prefer)
    return found[0] if found else None


def resolve_times(fact: Fact, *, said_at: datetime) -> Fact:
    """The fact with ``when``, ``valid_at`` and ``invalid_at`` filled from its ``time_words``.

    * A time, or "since" one: true from its start on, also when that is yet to come.
    * "until": no longer true from its end on; since when is not known. Of what is so now, "until
      Friday" is the next one.
    * A statement that something ``ends``, as "worked at Initech from 2015 to 2019" says too, is itself
      true from the moment at which it ended.
    * A plan is one from the moment it was told, a preference, decision or procedure too unless it
      tells since when: ``when`` holds the time they speak of, ``valid_at`` stays open.
    * Without a time both stay open: whoever stores it takes the moment it was said.

    What the fact has already is left as it is.
    """
    when, role = fact.when, "at"
    over = fact.ends or (fact.kind in ("fact", "event") and _ends_another(fact))
    if fact.time_words:
        prefer = _preferred_direction(fact)
        found = _resolve(fact.time_words, said_at, fact.language, prefer)
        found = found or _find_in_text(fact, said_at, prefer)
        if found is not None and _goes_on(fact, found, said_at):
            found = _resolve(fact.time_words, said_at, fact.language, "future")
        if found is not None:
            when, role = when or found[0], found[1]
    if when is None:
        return fact
    begins = stops = None
    if over:
        begins = when.end if role in ("until", "from_to") else when.start
    elif role == "since" or fact.kind in ("fact", "event"):
        begins = None if role == "until" else when.start
        stops = when.end if fact.kind == "fact" and role in ("until", "from_to") else None
        if fact.kind == "fact" and stops is None:
            stops = _over_since(fact, when, said_at)
    return replace(
        fact,
        when=when,
        valid_at=fact.valid_at or begins,
        invalid_at=fact.invalid_at or stops,
    )


def _find_in_text(fact: Fact, said_at: datetime, prefer: Prefer | None) -> tuple[When, Role] | None:
    """The time of words that are one only in their statement: "has worked here for three years"."""
    for one in find(fact.text, said_at=said_at, language=fact.language, prefer=prefer):
        if (fact.time_words or "").strip() in fact.text[one.start : one.end]:
            return one.when, one.role
    return None


def _over_since(fact: Fact, begun: When, said_at: datetime) -> datetime | None:
    """When a statement says itself that it was over: "started there in 2012 and quit in 2016"."""
    meant = {"", *cues().pronouns, *(claim.object.casefold() for claim in fact.claims)}
    before = 0
    for one in find(fact.text, said_at=said_at, language=fact.language, prefer="past"):
        said, behind = fact.text[before : one.start], fact.text[one.end :].lstrip()
        before = one.end
        if one.role != "at" or not begun.end <= one.when.start < said_at:
            continue
        for pattern in (cues().over, cues().ended):
            ends = (said[found.end() :].strip() for found in pattern.finditer(said))
            if any(rest.casefold() in meant for rest in ends) or pattern.match(behind):
                return one.when.end
    return None


def _preferred_direction(fact: Fact) -> Prefer | None:
    """Whether a day without a year is behind or ahead: by the tense of an event, and by the kind of what
    else is told. A state says nothing of it: "works at Initech" may have begun "in March"."""
    if fact.kind not in ("event", "fact") or fact.ends:
        return PREFER.get(fact.kind)
    if fact.claims and relation_named(fact.claims[0].relation).timeless:
        return PREFER.get(fact.kind)
    words = TIME_WORDS.get(primary(fact.language))
    tenses = words and words.tenses
    tense = tenses and tenses.of(fact.text, is_event=fact.kind == "event")
    return tense or PREFER.get(fact.kind)


def _ends_another(fact: Fact) -> bool:
    """Whether what it claims is that something else is over: "worked at", "divorced from"."""
    if not fact.claims:
        return False
    relation = fact.claims[0].relation
    return relation.startswith(NO_LONGER) or relation_named(relation).ends is not None


def _goes_on(fact: Fact, found: tuple[When, Role], said_at: datetime) -> bool:
    """Whether a day until which something is so has to be ahead: "Lena is in Rome until Friday"."""
    when, role = found
    return (
        fact.kind == "fact"
        and not fact.ends
        and role in ("until", "from_to")
        and when.end <= said_at
        and when.precision in ("day", "hour")
        and cues().past.search(fact.text) is None
    )


def _resolve(
    words: str, said_at: datetime, language: str | None, prefer: Prefer | None
) -> tuple[When, Role] | None:
    spoken = words.strip()
    if not spoken or len(spoken) > MAX_CHARACTERS:
        return None
    code = primary(language) if language else None
    order = [code or detect_language(spoken).code]
    if code is None and any(character.isalpha() for character in spoken):
        order.extend(TIME_WORDS)
    for table in (TIME_WORDS[known] for known in dict.fromkeys(order) if known in TIME_WORDS):
        for one in scan(spoken, table, said_at, prefer):
            if is_all(one, spoken, table):
                return _when(spoken, one.span, said_at), one.role
    now = said_at.replace(tzinfo=None)
    span = parse(spoken, now, code, prefer, dated=code is None or code in TIME_WORDS)
    return (_when(spoken, span, said_at), "at") if span else None


def _when(words: str, span: Span, said_at: datetime) -> When:
    return When(
        words=words.strip(),
        start=span.start.replace(tzinfo=said_at.tzinfo),
        end=span.end.replace(tzinfo=said_at.tzinfo),
        precision=span.precision,
    )
