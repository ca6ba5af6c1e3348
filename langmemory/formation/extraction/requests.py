"""How somebody wants to be answered, where a model says so: kept to what can be asked for.

Such a request is shown to its owner's assistant as something to follow. So the model only says which
one it is: its words are ours, and its object is known to be a language, a length, a form; or it is a
few words which the person said in as many words, neither quoted nor pasted. What is not so is no
request, but background like anything else that a model made of a conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from langmemory.formation.batch import Turn
from langmemory.formation.entities.roles import person_words
from langmemory.formation.extraction.transcript import is_person, without_injected_text
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.rules.clauses import own_sentences
from langmemory.formation.rules.patterns import patterns_near, patterns_of
from langmemory.formation.rules.reader import speaker_named
from langmemory.formation.rules.requests import MANNERS, MAX_CHARACTERS, claimed_things
from langmemory.languages import WORLDWIDE, detect_language, is_unspaced, primary, split_words
from langmemory.ports.facts import Claim, Fact

MAX_WORDS = 5
MAX_OBJECT = 40
"""Characters of an object that is no word known here."""
ALLOWS_AGAIN = 0.5
"""Importance up to which the statement of a request takes one back, as "allows emojis again" does."""

_KINDS = {
    "answer_currency": ("money",), "answers_with": ("part", "form"),
    "answers_without": ("part", "form"),
}  # fmt: skip
"""Placeholders of `Manners` that say what can be asked for."""
_AMOUNTS = {"short": "short", "long": "detailed"}
_SAID = ("addressed_as", "not_addressed_as", "answers_with", "answers_without", "answer_tone",
         "answer_currency")  # fmt: skip
"""Relations whose object may be what the person said."""
_PLAIN = re.compile(r"[\w'.&+-]+(?: [\w'.&+-]+)*")


def separate_requests(fact: Fact, turns: Sequence[Turn]) -> Iterator[Fact]:
    """A fact without claims of how to answer somebody, and each of these that can be one, by itself.

    Args:
        fact: as the model told it, with names in its claims.
        turns: its evidence.
    """
    asked = [claim for claim in fact.claims if relation_named(claim.relation).to_assistant]
    if not asked:
        yield fact
        return
    own = [turn for turn in turns if is_person(turn) and turn.owner == fact.owner]
    requests = [] if _is_conditional(fact.text) else [_request(fact, one, own) for one in asked]
    found = [one for one in requests if one is not None]
    rest = tuple(claim for claim in fact.claims if claim not in asked)
    if rest or len(found) < len(asked):
        yield replace(fact, claims=rest)
    yield from found


def _is_conditional(text: str) -> bool:
    words = "|".join(WORLDWIDE.conditions)
    return re.search(rf"\b(?:{words})\b", text, re.IGNORECASE) is not None or any(
        manners.found["conditional"].search(text) for manners in MANNERS.values()
    )


def _request(fact: Fact, claim: Claim, turns: Sequence[Turn]) -> Fact | None:
    """A request in words of ours; None where nobody may ask so."""
    name = relation_named(claim.relation).name
    who = claim.subject.casefold()
    is_self = who in person_words().self
    mine = (one for one in turns if is_self or who == one.speaker.strip().casefold())
    turn = next(mine, None)
    thing = None if turn is None else _thing(name, claim.object, turns)
    if turn is None or thing is None:
        return None
    code = primary(fact.language)
    code = code if code in MANNERS else "en"
    shown, claimed = speaker_named(turn, patterns_of(code))
    object = claimed_things().get(thing.casefold(), thing)
    claim = Claim(subject=claimed, relation=name, object=object, object_is_entity=False)
    if fact.ends:  # to be shown to nobody as more than background
        return replace(fact, claims=(claim,))
    wording = _wording(code, name, thing)
    if wording is None:
        return None
    text = wording.format(s=shown, o=thing)
    return replace(
        fact, text=text[0].upper() + text[1:], kind="procedure", claims=(claim,),
        language=code, speaker=turn.speaker,
    )  # fmt: skip


def _wording(code: str, relation: str, thing: str) -> str | None:
    """The statement of a language, else of another, in which ``{s}`` and ``{o}`` are to stand."""
    for language in dict.fromkeys((code, *MANNERS)):
        for one in MANNERS[language].requests:
            fits = one.relation == relation and one.object in ("{o}", thing) and not one.ends
            if fits and one.importance > ALLOWS_AGAIN:
                return one.text
    return None


def _thing(relation: str, value: str, turns: Sequence[Turn]) -> str | None:
    """The thing asked for, as it is told; None where nobody can ask for it."""
    value = " ".join(value.split()).strip(" .,;:!?。！")
    folded = value.casefold()
    if relation == "answer_length":
        kinds = (_AMOUNTS[kind] for kind in _AMOUNTS if _is_a(kind, value))
        return "detailed" if folded == "detailed" else next(kinds, None)
    if values := [one for manners in MANNERS.values() for one in manners.values.get(relation, ())]:
        words = split_words(value)
        return next((one for one in values if one.casefold() in words), None)
    if relation == "pronouns":
        first = "|".join(one for manners in MANNERS.values() for one in manners.pronouns)
        return value if re.fullmatch(rf"(?:{first})(?:/[^\W\d_]{{1,6}}){{1,2}}", folded) else None
    if relation == "answer_language":
        known = folded in claimed_things() or _is_a("language", value)
        return (
            value if known and _names_language(turns, claimed_things().get(folded, value)) else None
        )
    if any(_is_a(kind, value) for kind in _KINDS.get(relation, ())):
        return value
    if relation not in _SAID or len(value) > MAX_OBJECT or not _PLAIN.fullmatch(value):
        return None
    words = split_words(value)
    said = (
        set(split_words(part))
        for turn in turns
        for part in plainly(without_injected_text(turn.text))
    )
    within = len(words) <= MAX_WORDS and any(set(words) <= one for one in said)
    return value if words and within else None


@cache
def _patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    return tuple(
        one.compile_pattern(f"{{{kind}}}") for one in MANNERS.values() if kind in one.placeholders
    )


def _is_a(kind: str, value: str) -> bool:
    return any(pattern.fullmatch(value) for pattern in _patterns(kind))


def _names_language(turns: Sequence[Turn], name: str) -> bool:
    """Whether somebody names a language in plain words; not every language has words for it here."""
    for turn in turns:
        words = {
            word for part in plainly(without_injected_text(turn.text)) for word in split_words(part)
        }
        if name.casefold() in words or any(claimed_things().get(word) == name for word in words):
            return True
        text = " ".join(plainly(without_injected_text(turn.text)))
        if is_unspaced(text) and any(
            word in text for word, one in claimed_things().items() if one == name
        ):
            return True
        if detect_language(turn.text).code not in MANNERS:
            return True
    return False


def plainly(text: str) -> Iterator[str]:
    """The sentences of a message that are plainly its speaker's own; none of a long message."""
    text = text.replace("’", "'")
    if len(text) > MAX_CHARACTERS:
        return
    code = detect_language(text).code
    yield from own_sentences(text, patterns_near(code))
