"""Names as they are compared and as a text has them, and the keys entities get from them."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from rapidfuzz import fuzz

from langmemory.formation.batch import Turn
from langmemory.languages import is_unspaced
from langmemory.languages.spelling import name_key
from langmemory.ports.facts import Fact
from langmemory.types import Entity

SAME_SPELLING: Final = 0.92
"""At least this alike (`alike`, 0..1), names of things are linked; names of persons never are by
spelling."""
MAYBE_SPELLING: Final = 0.85
"""At least this alike, the names are asked about."""
MIN_LENGTH: Final = 8
"""Shorter names are not compared by spelling: one letter makes another name of "Max"."""
MIN_ENTROPY_BITS: Final = 2.3
"""Shannon entropy of a name's letters below which it is not compared by spelling ("Nananana")."""
MAYBE_MEANING: Final = 0.9
"""At least this cosine, names of things are asked about."""


def entity_key(
    name: str, kind: str, *, owner: str | None = None, digits: int = 4, apart: str = ""
) -> str:
    """``person/lena-1f3a``: the same for the same name, kind and owner, in every namespace.

    Args:
        owner: of the private fact that first names it; None for one anybody may know.
        digits: hex digits that tell apart what looks the same.
        apart: what tells it from others of this name; four digits more.
    """
    norm = name_key(name)
    seed = "\0".join((kind, norm, "" if owner is None else f"private to {owner}"))
    told = _hex(seed)[:digits] + (_hex(apart)[:4] if apart else "")
    return f"{kind}/{norm.replace(' ', '-')[:40]}-{told}"


def _hex(seed: str) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()


def within_reach(entity: Entity, fact: Fact | Turn) -> bool:
    """Whether a fact or turn may speak of an entity: one first named in private is its owner's
    alone."""
    owner = fact.owner if fact.privacy == "private" else None
    return any(
        entity.key.startswith(entity_key(entity.name, kind, owner=whose))
        for kind in {entity.kind, entity.key.partition("/")[0]}
        for whose in {None, owner}
    ) or not _is_derived(entity.key)


def is_private(entity: Entity, fact: Fact) -> bool:
    """Whether an entity was first named in a private fact of this fact's owner."""
    if fact.owner is None:
        return False
    return entity.key.startswith(entity_key(entity.name, entity.kind, owner=fact.owner))


def _is_derived(key: str) -> bool:
    """Whether a key has the form of `entity_key`; others were chosen by a person or an import."""
    digits = key.rpartition("-")[2]
    return "/" in key and len(digits) >= 4 and all(c in "0123456789abcdef" for c in digits)


def comparable(norm: str) -> bool:
    """Whether a name is long and varied enough for its spelling to identify it."""
    letters = norm.replace(" ", "")
    if len(letters) < MIN_LENGTH:
        return False
    counts = Counter(letters)
    bits = -sum(n / len(letters) * math.log2(n / len(letters)) for n in counts.values())
    return bits >= MIN_ENTROPY_BITS


def name_similarity(one: str, other: str, *, person: bool) -> float:
    """How alike two normalised names are spelled, 0..1; 0 where a difference is meant.

    Different numbers tell things apart ("Studio 54", "Studio 55"), and of persons every part
    of the name has to be alike: one first name with two surnames is two people.
    """
    if numbers(one) != numbers(other):
        return 0.0
    if person:
        ours, theirs = one.split(), other.split()
        if len(ours) != len(theirs):
            return 0.0
        if sorted(ours) == sorted(theirs):
            return 1.0
        parts = [fuzz.ratio(a, b) / 100 for a, b in zip(ours, theirs, strict=True)]
        return min(parts)
    return fuzz.ratio(one, other) / 100


def surely_one(likeness: float, *, person: bool) -> bool:
    """Whether names so alike (`alike`) are linked without a question: of persons only the same words in
    another order."""
    return likeness == 1.0 or (not person and likeness >= SAME_SPELLING)


def numbers(norm: str) -> list[str]:
    """Return the digits of each word of a name that has some: different ones tell things apart."""
    return [
        "".join(c for c in word if c.isdigit())
        for word in norm.split()
        if any(map(str.isdigit, word))
    ]


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def names_in(text: str) -> Iterator[str]:
    """Runs of up to four words that may be a name, the text's own spelling kept; in unspaced
    scripts every run of two to six characters."""
    words = list(_WORD.finditer(text))
    for start, first in enumerate(words):
        for end in range(start, min(start + 4, len(words))):
            run = text[first.start() : words[end].end()]
            yield run
            for possessive in ("'s", "’s"):
                if run.endswith(possessive):
                    yield run.removesuffix(possessive)
        if is_unspaced(first[0]):
            word = first[0]
            for at in range(len(word)):
                for length in range(2, 7):
                    if at + length <= len(word):
                        yield word[at : at + length]


def written_as(entity: Entity, name: str) -> bool:
    """A name with a capital is only meant by one with a capital: "Will" is not "will"."""
    spelled = (n for n in (entity.name, *entity.aliases) if name_key(n) == name_key(name))
    return any(name[:1].isupper() or not n[:1].isupper() for n in spelled)
