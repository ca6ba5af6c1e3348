"""What somebody says instead of something told before: "It's Ulm, not Bonn", "I meant Ulm"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.rules.clauses import own_sentences, strip_openers
from langmemory.formation.rules.patterns import Patterns
from langmemory.formation.rules.retractions.frame import FRAMES, Frame, union_of_languages
from langmemory.formation.rules.retractions.held import Held
from langmemory.languages import LANGUAGES, split_words
from langmemory.ports.facts import Fact

_EDGE = " \t,;:.!?–—-，。！？、\"'"
MOST_WORDS = 5
_MOST_WORDS_ALONE = 3
"""Of a value that is all that is said."""
_PAUSE = re.compile(r"[,.:–—-]")
_CLAUSE_END = re.compile(r"\s*[,;–—]\s")


@dataclass(frozen=True, kw_only=True, slots=True)
class Corrected:
    """A fact whose object is another."""

    held: Held
    new: str
    unsure: bool = False


@lru_cache(maxsize=4)
def _patterns(frame: Frame) -> tuple[re.Pattern[str], ...]:
    return tuple(frame.compile_pattern(one) for one in frame.corrections)


def find_corrections(
    sentence: str, frame: Frame, known: Sequence[Held], latest: Sequence[Held]
) -> list[Corrected]:
    """What a sentence corrects of what is known.

    Args:
        sentence: without what leads up to it.
        known: the latest first.
        latest: of it, what was told last and shortly before.
    """
    for pattern in _patterns(frame):
        found = pattern.fullmatch(sentence)
        if found is None:
            continue
        new, old = _clean(found["new"]), _clean(found.groupdict().get("old") or "")
        if not new or len(new.split()) > MOST_WORDS:
            continue
        if old:
            meant = [one for one in known if _is(one, old, frame) and _fits(one, new, frame)]
            if not meant:
                continue
            last = [one for one in meant if one in latest]
            unsure = len(meant) > 1 and len(last) != 1
            return [
                Corrected(held=one, new=new, unsure=unsure)
                for one in (last if len(last) == 1 else meant)
            ]
        if not _is_value(new, frame):
            continue
        fitting = [one for one in latest if _fits(one, new, frame) and not _is(one, new, frame)]
        if fitting:
            return [Corrected(held=one, new=new, unsure=len(fitting) > 1) for one in fitting]
        telling = _is_dated(new, frame) or new[:1].isupper()
        later = [
            one for one in known if telling and _fits(one, new, frame) and not _is(one, new, frame)
        ][:1]
        return [Corrected(held=one, new=new, unsure=True) for one in later]
    return []


def said_instead(sentence: str, frame: Frame, patterns: Patterns) -> str | None:
    """What a sentence says in full that takes something back and then only says a value: "Sorry, Ulm".

    After a date more may follow: "Wait, on 5 May, on the 3rd it is my wife's".
    """
    rest, back = strip_openers(sentence, patterns)
    lead = sentence[: len(sentence) - len(rest)]
    if back is None or not frame.instead or (back == "perhaps" and not _PAUSE.search(lead)):
        return None
    first, *more = _CLAUSE_END.split(_clean(rest))
    new = _clean(first)
    if not (new[:1].isupper() or new[:1].isdigit()) or len(new.split()) > _MOST_WORDS_ALONE:
        return None
    if more and not (back == "surely" and _is_dated(new, frame)):
        return None
    return f"{frame.instead} {new}"


def corrects_another(fact: Fact, text: str, patterns: Patterns, known: Sequence[Held]) -> bool:
    """Whether a text says what is wrong instead of a fact of it, and nothing that is known says that: "Sorry,
    I live in Rome, not Bonn", of somebody who lives in Lyon. It takes nothing back then."""
    frame, names = FRAMES[patterns.grammar.code], split_words(fact.claims[0].object)
    for sentence in own_sentences(text, patterns):
        rest = strip_openers(sentence, patterns)[0].strip(_EDGE)
        for pattern in _patterns(frame):
            found = pattern.fullmatch(rest)
            old = _clean(found.groupdict().get("old") or "") if found else ""
            if found is None or not old:
                continue
            new = split_words(found["new"])
            if set(names) <= set(new) or (
                not frame.spaced and fact.claims[0].object in found["new"]
            ):
                return not any(_is(one, old, frame) for one in known)
    return False


def _clean(text: str) -> str:
    trailing, leading = (
        rf"(?:,? (?:{union_of_languages('trailing')}))+$",
        rf"^(?:(?:{union_of_languages('leading')}) )+",
    )
    bare = re.sub(trailing, "", text.strip(_EDGE), flags=re.IGNORECASE).strip(_EDGE)
    return re.sub(leading, "", bare, flags=re.IGNORECASE).strip(_EDGE)


def _is_value(new: str, frame: Frame) -> bool:
    """Whether something may be the object of a fact by itself: "Ulm", and not "it was nice"."""
    if _is_dated(new, frame):
        return True
    stop = LANGUAGES[frame.code].stop_words
    return not frame.spaced or not any(word in stop for word in split_words(new))


def _about(held: Held) -> str:
    return held.claim.subject if held.to_me else held.claim.object


def _is(held: Held, named: str, frame: Frame) -> bool:
    """Whether a fact says what is named."""
    ours, theirs = split_words(_clean(_about(held))), split_words(named)
    if not frame.spaced:
        return bool(named) and (named in _about(held) or _about(held) in named)
    return bool(theirs) and (
        ours == theirs or (len(theirs) < len(ours) and ours[-len(theirs) :] == theirs)
        or (len(theirs) == 1 and theirs[0] in ours and held.claim.object_is_entity)
    )  # fmt: skip


def _fits(held: Held, new: str, frame: Frame) -> bool:
    """Whether something may stand where the object of a fact does: a date for a date, a name for a name."""
    about = _about(held)
    if held.kind == "plan" or held.to_me:
        return False
    if not frame.spaced:
        return True
    relation = relation_named(held.relation)
    dated = _is_dated(about, frame)
    if dated or _is_dated(new, frame):
        return dated and _is_dated(new, frame)
    if any(c.isdigit() for c in about):
        return any(c.isdigit() for c in new)
    if held.claim.object_is_entity and relation.object != "thing":
        return all(word[:1].isupper() for word in new.split())
    return LANGUAGES[frame.code].capital_nouns or new[:1].isupper() == about[:1].isupper()


def _is_dated(text: str, frame: Frame) -> bool:
    months = LANGUAGES[frame.code].times.months
    return any(word in months for word in split_words(text)) and any(c.isdigit() for c in text)
