"""Words that name nobody by themselves: who they mean depends on who says them. Data per language."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from langmemory.formation.relations.vocabulary import ROLES
from langmemory.languages import Topic, is_unspaced
from langmemory.languages.tables import NEVER


@dataclass(frozen=True, kw_only=True, eq=False)
class PersonWords:
    """Words are case-folded."""

    self: frozenset[str] = frozenset()
    """The person who speaks. "We" at least means them."""
    speaker: frozenset[str] = frozenset()
    """Names that models give in claims to whoever speaks."""
    user: re.Pattern[str] = NEVER
    """How a statement begins that calls somebody "the user"."""
    the_user: tuple[tuple[str, str], ...] = ()
    """Patterns, case-sensitive, of how statements call a speaker without a name, and what takes their
    place: ``{name}``, ``{genitive}``, and groups."""
    nobody: frozenset[str] = frozenset()
    """Words an extractor should have replaced by a name; a claim about one of them is left out."""
    my: frozenset[str] = frozenset()
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Roles that somebody can have for the speaker, each with its words."""
    many: frozenset[str] = frozenset()
    """Roles that mean nobody in particular."""
    titles: frozenset[str] = frozenset()
    """Roles that begin names and titles: "Frau von Stein", "Doctor of Philosophy"."""
    of: frozenset[str] = frozenset()
    of_within: frozenset[str] = frozenset()
    """`of` in a script without spaces, where it stands behind whose it is."""
    speaker_named: tuple[str, ...] = ()
    """How statements call a speaker without a name, in the genitive: "the user" of "the user's"."""

    @cached_property
    def role_of(self) -> Mapping[str, str]:
        """Return the role of each word for one."""
        return {word: role for role, words in self.roles.items() for word in words}

    @cached_property
    def shared(self) -> frozenset[str]:
        """Return the last words of roles that several may hold: "sister", "law" of "sister in law"."""
        last = {role.rpartition(" ")[2] for role in self.roles} | self.many
        return frozenset(last - ROLES.single)

    def is_role(self, word: str) -> bool:
        """Return whether a word is one for a role."""
        return word in self.role_of or word in self.many


_PERSONS = Topic(
    PersonWords,
    "persons",
    about='pronouns, "my", and words for relatives',
    without='"my mother" is nobody',
)


def person_words() -> PersonWords:
    """Return the words of all languages."""
    return _PERSONS.everywhere


_MOST_WORDS = 3
"""Of a role: "sister in law"."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role that somebody has for somebody."""

    whose: str
    what: str

    @property
    def kind(self) -> str | None:
        """Kind of entity that holds it; None where it may be anything ("my office")."""
        if self.what in ROLES.animals:
            return "animal"
        return "person" if self.what in person_words().roles else None


def role_in(name: str, speaker: str | None, *, known: Callable[[str], bool]) -> Role | None:
    """Lena's mother for "my mother", "Mum", "Lena's mum", "mother of Lena"; None for a plain name.

    Args:
        speaker: who says it.
        known: whether somebody has this name; German writes the genitive without apostrophe.
    """
    words = name.casefold().replace("’", "'").split()
    if not words:
        return None
    if speaker is not None and (mine := _mine(words)) is not None:
        return Role(speaker, person_words().role_of.get(mine, mine))
    known_roles = person_words().role_of
    of = re.fullmatch(rf"(\w+) (?:{'|'.join(person_words().of)}) (.+)", name.strip(), re.IGNORECASE)
    role = of[1].casefold() if of else ""
    if of and role in known_roles and role not in person_words().titles:
        return Role(_whose(of[2], speaker), known_roles[role])
    for length in range(min(_MOST_WORDS, len(words) - 1), 0, -1):
        if (role := " ".join(words[-length:])) not in known_roles:
            continue
        head = " ".join(name.split()[:-length])
        for ending in ("'s", "’s", "'", "s"):
            owner = head.removesuffix(ending)
            if owner != head and (ending != "s" or known(owner)):
                return Role(_whose(owner, speaker), known_roles[role])
    return None


def _mine(words: list[str]) -> str | None:
    """The role in what the speaker calls their own: "mother" for "my mother" and "Mum"."""
    if len(words) > 1:
        return " ".join(words[1:]) if words[0] in person_words().my else None
    for mine in filter(is_unspaced, person_words().my):
        rest = words[0].removeprefix(mine)
        if rest != words[0] and person_words().is_role(rest):
            return rest
    return words[0] if person_words().role_of.get(words[0]) in ROLES.spoken_as_names else None


def _whose(name: str, speaker: str | None) -> str:
    return speaker if speaker is not None and name.casefold() in person_words().self else name
