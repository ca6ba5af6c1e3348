"""A clause with marks for the parts of a known fact (see `frame`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.rules.retractions.frame import (
    FRAMES,
    Frame,
    M,
    O,
    P,
    S,
    union_of_languages,
)
from langmemory.formation.rules.retractions.held import Held
from langmemory.languages.patterns import compiled

Mention = Literal["named", "noun", "pronoun", "none"]
"""How a clause speaks of the object of a fact: by its name, as "the job", as "it", not at all."""

_WORD = re.compile(r"\w[\w'-]*")
_SHORT = 4
"""Letters of a word that has one ending at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Marked:
    """A clause as it is read for one fact."""

    text: str
    mention: Mention


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """Patterns of what a fact's ends may be called by. They are compiled when they are asked for."""

    subject: str | None
    """None is whoever speaks."""
    object: str | None
    noun: str | None


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


Alike = tuple[str, str, bool, str]
"""Relation, kind, whether the speaker is the object, and the words for the object: facts of the speaker for
which a clause is marked alike where it does not name them."""


def marking_key(clause: str, held: Held, frame: Frame) -> Alike | None:
    """Return what tells how a clause is marked that does not name a fact of the speaker; None where it names
    it, of somebody else, and of plans, which have verbs of their own."""
    if not held.mine or held.kind in ("plan", "decision"):
        return None
    names = _names(held, frame, "")
    if names.object is not None and _compiled(names.object).search(clause):
        return None
    return held.claim.relation, held.kind, held.to_me, names.noun or ""


def is_named(clause: str, held: Held, frame: Frame, kin: str) -> bool:
    """Return whether a clause names the subject or the object of a fact of somebody else."""
    names = _names(held, frame, kin)
    return any(
        one is not None and _compiled(one).search(clause) for one in (names.subject, names.object)
    )


def mark_clause(
    clause: str, held: Held, frame: Frame, *, kin: str, latest: bool
) -> Iterator[Marked]:
    """The clause with marks, once for each way it may speak of the fact's object.

    Args:
        kin: words for the fact's subject where it is somebody else: "sister".
        latest: whether the fact was told last, so that "it" and "she" may mean it.
    """
    names = _names(held, frame, kin)
    for mention, pattern in (("named", names.object), ("noun", names.noun)):
        if pattern is not None and _compiled(pattern).search(clause):
            text = _compiled(pattern).sub(O, clause)
            yield Marked(text=_mark_persons(text, names, frame, latest=latest), mention=mention)  # type: ignore[arg-type]
            if mention == "named":
                return
    kind = "person" if held.to_me else relation_named(held.relation).object
    meant = {"person": frame.them, "animal": f"{frame.them}|{frame.it}"}.get(kind, frame.it)
    it = re.compile(meant, re.IGNORECASE)
    if it.search(clause):
        yield Marked(
            text=_mark_persons(it.sub(O, clause), names, frame, latest=latest), mention="pronoun"
        )
    yield Marked(text=_mark_persons(clause, names, frame, latest=latest), mention="none")


def _mark_persons(text: str, names: Names, frame: Frame, *, latest: bool) -> str:
    """With marks for the subject."""
    me, my, to_me = (re.compile(one, 0 if frame.cased else re.IGNORECASE) for one in
                     (frame.me, frame.my, frame.to_me))  # fmt: skip
    if names.subject is None:
        text = to_me.sub(M, my.sub(P, me.sub(S, text)))
        for pattern in frame.both:
            text = re.sub(pattern, f"{S} and {O}", text)
        return _complete(text, frame)
    text = _compiled(names.subject).sub(S, text)
    for he, his, him in frame.others.values() if latest or S in text or O in text else ():
        text = re.sub(he, S, text, flags=re.IGNORECASE)
        text = re.sub(his, P, text, flags=re.IGNORECASE)
        text = re.sub(him, M, text, flags=re.IGNORECASE)
    return text


def _complete(text: str, frame: Frame) -> str:
    """With the subject that who writes in haste leaves out: "Quit my job"."""
    elided = frame.parts.get("elided")
    if elided and re.match(rf"(?:{elided})\b", text, re.IGNORECASE):
        return f"{S} {text}"
    return text


@lru_cache(maxsize=2048)
def _names(held: Held, frame: Frame, kin: str) -> Names:
    claim = held.claim
    about = claim.subject if held.to_me else claim.object
    subject = None
    if not held.mine:
        role = rf"|{frame.my} (?:[a-z]+ )?(?:{kin})\b" if kin else ""
        subject = f"{_spelling_pattern(claim.subject, frame, is_name=True)}{role}"
    nouns = "|".join(_nouns(held, frame))
    core = _object(held, about, frame)
    article = rf"\b(?:{frame.articles})"
    space = r"\s*" if not frame.spaced else " "
    of = rf"(?:(?:{nouns})\b(?:{space}{frame.between})?,?{space})?" if nouns else ""
    leads = "".join(f"|(?<={one} )" for one in frame.noun_leads)
    behind = rf"(?:,?{space}(?:{nouns})\b)?" if nouns else ""
    if core and frame.spaced:
        named = rf"(?:{article} (?:{frame.my} )?)?(?:[a-z]+ )??{of}(?<!\w){core}{behind}"
        named = rf"(?:{article} )?{of}(?<!\w){core}{behind}(?:{_follow(held, frame)})"
    else:
        named = core
    called = rf"(?:{frame.articles})(?:{nouns})"
    if frame.spaced:
        called = rf"(?:{article} (?:[a-z]+ )?{leads})(?:{nouns})\b"
    return Names(
        subject=subject,
        object=named or None,
        noun=called if nouns else None,
    )


def _follow(held: Held, frame: Frame) -> str:
    free = held.claim.object_is_entity or held.to_me or not frame.follows
    return (r"(?!'s [a-z])" if free else frame.follows) + "(?!-)"


def _nouns(held: Held, frame: Frame) -> Sequence[str]:
    """What a fact may be called by besides its name, the longest first."""
    found: list[str] = []
    if held.kind in ("plan", "decision"):
        for words, nouns, _ in frame.plans:
            if re.search(words, held.claim.object, re.IGNORECASE):
                found += nouns.split("|")
        found += [
            word for word in _WORD.findall(held.claim.object.casefold())[-1:] if len(word) > 3
        ]
    else:
        found += frame.nouns.get(held.relation, "").split("|")
    if held.relation == "has_pet":
        known = FRAMES.everywhere
        for one in compiled("|".join(known.species)).finditer(held.text):
            word = next(word for word in one.groups() if word)
            found += next((kind for kind in known.animals.values() if word in kind), [word])
    if held.to_me and (role := re.search(r"(?:'s?|s) ([a-z -]+)\.$", held.text)):
        found.append(role[1])
    return sorted(
        {re.escape(one) if " " in one else one for one in found if one}, key=len, reverse=True
    )


def _object(held: Held, about: str, frame: Frame) -> str:
    """A pattern of the object's words; empty where it has none that tell it."""
    if held.kind in ("plan", "decision"):
        words = [one for one in _WORD.findall(about) if one[0].isupper() or not about.isascii()]
        if not frame.spaced:
            return re.escape(about)
        return rf"(?:{_spelling_pattern(words[-1], frame, is_name=True)})" if words else ""
    if held.relation in ("has_hobby", "workplace") and " in " in about:
        about = about.rpartition(" ")[2]
    is_name = held.claim.object_is_entity or about[:1].isupper()
    return f"(?:{_spelling_pattern(about, frame, is_name=is_name)})"


def _spelling_pattern(text: str, frame: Frame, *, is_name: bool) -> str:
    """A pattern of a name or thing as people write it again."""
    if not frame.spaced:
        return re.escape(text)
    doses, amounts = union_of_languages("doses"), union_of_languages("amounts")
    amount = rf"\d[\d.,]* ?(?:{doses})\s*|(?:\d[\d.,]*|{amounts})\s+"
    bare = text if is_name else re.sub(amount, "", text, flags=re.IGNORECASE)
    words = [word.strip(".") for word in bare.split() if word.strip(".")] or text.split()
    if is_name:
        parts = [
            word
            for word in words
            if word.casefold() not in FRAMES.everywhere.generic and len(word) > 2
        ]
        joined = r"\.? ".join(map(re.escape, words))
        return "|".join(dict.fromkeys([rf"{joined}\b", *(rf"{re.escape(one)}\b" for one in parts)]))
    last = words[-1]
    stem = last.removesuffix(frame.short_ending)
    if len(last) > _SHORT:
        stem = re.sub(rf"(?:{frame.endings_of_words})$", "", last)
    forms = "|".join(frame.forms)
    before = "".join(rf"{re.escape(word)} " for word in words[:-1])
    return rf"{before}{re.escape(stem)}(?:{stem[-1]}?(?:{forms}))?\b"
