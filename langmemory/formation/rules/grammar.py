"""What the rule extractor knows about one human language, as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from langmemory.formation.dates.spans import Prefer
from langmemory.formation.facts import FactKind

Times = Literal["bounds", "any", "must", "over"]
"""Which times of its clause a rule takes: since when and until when, any; it needs one; it needs one
that says until when."""

CAPITAL = r"[A-ZÀ-ÖØ-Þ](?:[\w&-]|['’](?!s\b))+"
TIME = "[\ue000-\uf8ff]"
"""A time of the sentence: the characters stand for its first, second … time (see `clauses`)."""

_OBJECT = re.compile(r"(?<!P)<(\w+)>")
_SET_OR_SPACE = re.compile(r"\[(?:\\.|[^\]\\])*\]| ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One way to say something, as a regular expression over what follows the subject of a clause.

    ``{placeholders}`` are those of its grammar, and ``<Place>`` is ``{Place}`` in the group ``object``.
    Other groups: ``other``, which text and relation may use; ``kinship`` and ``pet`` for a word of
    those tables; ``name`` for who the statement is about when that is not the subject.
    """

    pattern: str
    text: str
    """The statement: ``{s}`` is the subject, ``{o}`` the object, ``{other}`` the group; ``{time}``
    an object that is a time with its preposition."""
    relation: str
    """Of `relations`; ``kin`` and ``pet`` for the name of somebody with a word of those tables."""
    kind: FactKind = "fact"
    entity: bool = True
    """Whether the object is somebody or something, rather than a word or a date."""
    ends: bool = False
    times: Times = "bounds"
    if_me: bool = False
    """Only when the object begins with the speaker's name, or the speaker has none."""
    prefer: Prefer | None = None
    """Whether a time like "on Friday" is behind or ahead."""
    also: bool = False
    """Tried also after another rule has matched the clause."""
    whole: bool = False
    """Matched from the beginning of the clause, subject and all; about the speaker or ``kin``."""
    importance: float = 0.5
    claimed: str = "{o}"
    """The claim's object."""


def rule(pattern: str, text: str, relation: str, **more: object) -> Rule:
    return Rule(pattern=pattern, text=text, relation=relation, **more)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, slots=True)
class Grammar:
    """Patterns are case-sensitive regular expressions without groups, unless said otherwise."""

    code: str
    spaced: bool = True
    respelled: tuple[tuple[str, str], ...] = ()
    """Patterns of what people write in haste, or in another country, and how the rules know it."""
    unclear: str
    """A sentence with this, or a question, says nothing for certain: conditions, wishes, reports
    of what others say, doubts, jokes. Case-insensitive."""
    openers: str
    """What may stand before the subject and changes nothing. Case-insensitive."""
    takes_back: str
    """An opener by which the speaker takes back what was said before. Case-insensitive."""
    no: str
    """One that may as well answer a question, and takes back only what cannot change. Likewise."""
    announces: str
    """Before a colon, what says that the speaker's own words follow, where others quote somebody, or
    paste what is to be translated. Case-insensitive."""
    denied: str = r"(?!)"
    """After what a rule matched, a negation by which it is not so. Case-insensitive."""
    breaks: str
    """What separates clauses; each begins with a subject or a verb of `carried`."""
    carried: str
    """Verbs that may begin a clause whose subject is that of the clause before."""
    i: str
    we: str
    my: str
    kin: Mapping[str, str]
    """"sister" to the role "sister"; ``langmemory.formation.entities.roles`` knows the roles."""
    kin_adjectives: str
    pets: tuple[str, ...]
    """Words for them: "greyhound"."""
    user: str
    """What a speaker without a name is called."""
    we_text: str
    """Who decides when "we" do; ``{s}`` is the speaker."""
    tidied: tuple[tuple[str, str], ...] = ()
    """Patterns of what statements come out as, and how it is written."""
    genitive: tuple[str, str, str]
    """Of a name, of one that ends in an s, of ``user``; ``{s}`` is the name."""
    whose: str
    """``{g}``, the genitive, and ``{kin}``: "Lena's sister"."""
    kin_text: str
    """``{o}`` is the name, ``{whose}`` the role."""
    pet_text: str
    """``{s}``, ``{kin}``, ``{o}``: "Lena has a dog called Churro."."""
    inverted: str = r"(?!)"
    """A clause that begins with its verb: groups ``verb`` and ``subject``, which change places."""
    resumed: str
    """What may stand between a subject and its verb: the surname, "he"."""
    time_lead: str
    """Prepositions of a date that are no part of it. Case-insensitive."""
    relative: str
    """A clause about somebody of the speaker's: groups ``kin`` and ``name``."""
    leaning: str
    """Words that lean on what was said before. Case-insensitive."""
    kin_name: str
    """Somebody of the speaker's by name, anywhere in a sentence: groups ``kin`` and ``name``."""
    pet_name: str
    died: str
    """A sentence with this names no pet that somebody has. Case-insensitive."""
    not_names: frozenset[str]
    """Words with a capital that name nobody, case-folded."""
    not_things: str
    """What a liked or disliked thing may not begin with or contain. Case-insensitive."""
    theirs: Mapping[str, str] = field(default_factory=dict)
    """Words of the first person to those of the third, within an object."""
    placeholders: Mapping[str, str]
    rules: tuple[Rule, ...]
    and_: str
    """What stands between the items of a list."""
    not_places: frozenset[str] = frozenset()
    """Words with a capital that are neither places nor organisations, case-folded."""

    def compiled(self, pattern: str) -> re.Pattern[str]:
        """A pattern of this grammar with its placeholders filled; white space may hold times."""
        parts = {
            "kin": one_of(self.kin), "pet": one_of(self.pets), "my": self.my,
            "adjectives": self.kin_adjectives, "time": TIME, "Word": CAPITAL, **self.placeholders,
        }  # fmt: skip
        pattern = _OBJECT.sub(r"(?P<object>{\1})", pattern)
        while found := re.search(r"\{([A-Za-z]+)\}", pattern):
            pattern = pattern.replace(found[0], parts[found[1]])
        gap = rf"(?:\s|{TIME}){'+' if self.spaced else '*'}"
        return re.compile(_SET_OR_SPACE.sub(lambda m: gap if m[0] == " " else m[0], pattern))


def one_of(words: Iterable[str]) -> str:
    """An alternation of plain words, the longest first."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))
