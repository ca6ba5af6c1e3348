"""What a sentence says of its claim: models claim "lives in Bonn" of "never lived in Bonn", too.

Such a claim would end what is known ("lives in Kiel"), so it is taken only as far as its sentence
goes. Looked at is what stands between a negation, or a wish, and the claim's object: where that is
nothing but words of the relation, it is the claim that is denied, or wished for. In English, German
and Spanish; what is not recognised holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from langmemory.formation.entities.roles import MANY_ROLES, ROLE_OF
from langmemory.formation.relations.vocabulary import normalised, snake
from langmemory.formation.wording import NEGATIONS, without_apostrophes
from langmemory.lexicon import LANGUAGES, primary, split_words
from langmemory.lexicon.language import word_set

Stance = Literal["holds", "over", "unsaid", "wished"]
"""It is so; it is so no more; it is denied, or said of somebody else; it may come to be so."""

_OVER = re.compile(
    r"\b(?:no longer|stopped|quit|(?:not|never|\w+n[’']?t)\b.*\b(?:any ?more|any longer)"
    r"|(?:nicht|kein\w*)\b.*\bmehr|ya no)\b",
    re.IGNORECASE,
)
_WISHES = word_set(
    """would could might want wants wanted wish wishes hope hopes hoping dream dreams dreaming
    considering considers intends intending planning thinking
    würde würden könnte möchte möchten hofft träumt überlegt
    querría quisiera quiere espera sueña piensa"""
)
_BESIDES = word_set(
    "really even also too ever actually currently yet longer mehr auch noch eigentlich también más"
)
_WISHED = word_set("like love rather one day someday gern gerne lieber eines tages algún día")
"""Words that may stand between a wish and what is wished for."""
_TURNS = word_set(
    """and but or because that who which while although if whether only just sure
    und aber oder weil dass ob nur sicher y pero o porque que si solo sólo"""
)
"""Words after which something else is spoken of, or by which a negation denies something else."""


def stance(text: str, subject: str, relation: str, object: str, *, language: str = "en") -> Stance:
    """What a sentence says of a claim.

    Args:
        subject: name of the claim's subject, as the sentence has it.
        relation: a name or phrase of the relation.
        language: BCP 47 of the sentence.
    """
    named = normalised(relation)
    own = frozenset(snake(relation).split("_"))
    said = own | {word for phrase in named.phrases for word in phrase.split("_")}
    if named.is_single and _is_of_another(text, subject, said):
        return "unsaid"
    words, target = (split_words(without_apostrophes(one)) for one in (text, object))
    code = primary(language)
    besides = _BESIDES | (LANGUAGES[code].stop_words if code in LANGUAGES else frozenset())
    places = range(len(words) if target else 0)
    ends = [at for at in places if words[at : at + len(target)] == target]
    negated = sum(word in NEGATIONS for word in words) % 2 == 1
    if negated and named.ends is None and not own & NEGATIONS:
        for at in ends:
            if _governs(NEGATIONS, words[:at], said, besides):
                alone = all(word in besides for word in words[at + len(target) :])
                over = _OVER.search(text) is not None and (alone or named.is_single)
                return "over" if over else "unsaid"
    if not own & _WISHES:
        for at in ends:
            if _governs(_WISHES, words[:at], said, besides | _WISHED):
                return "wished"
    return "holds"


def _governs(
    cues: frozenset[str], before: Sequence[str], said: frozenset[str], besides: frozenset[str]
) -> bool:
    """Whether one of the cues stands before an object with nothing but the relation in between."""
    for word in reversed(before):
        if word in cues:
            return True
        if word in _TURNS or not (word in besides or _is_form_of(word, said)):
            return False
    return False


def _is_form_of(word: str, said: frozenset[str]) -> bool:
    """Whether a word is one of the relation, endings aside ("live", "lives")."""
    return any(len(one) > 2 and word.startswith(one[: max(3, len(one) - 3)]) for one in said)


def _is_of_another(text: str, subject: str, said: frozenset[str]) -> bool:
    """Whether a sentence names the subject only for whose mother, boss or dog it speaks of: "Lena's
    mother lives in Bonn". A role that the relation itself names is what it says of the subject."""
    name = re.escape(subject.strip())
    begun = re.match(rf"\W*{name}(?:['’]s?|s) (?=(\w+)(?: (\w+))?)", text, re.IGNORECASE)
    if begun is None or re.search(rf"\b{name}\b", text[begun.end() :], re.IGNORECASE):
        return False
    words = (word.casefold() for word in begun.groups() if word)  # the first may be "older"
    role = next((word for word in words if word in ROLE_OF or word in MANY_ROLES), None)
    return role is not None and role not in said
