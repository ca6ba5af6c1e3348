"""What the reader of retractions knows about one human language, as plain data.

Patterns are matched from the beginning of a clause in which the parts of a known fact have marks: ``S``
its subject, ``O`` its object, ``P`` "my" of the subject, ``M`` "me". Of "Lena lives in Bonn", "I don't
live in Bonn" is read as ``S do not live in O``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from langmemory.languages import Topic
from langmemory.languages.tables import NEVER

S, O, P, M = "§S", "§O", "§P", "§M"  # noqa: E741
MARKS: Mapping[str, str] = {"S": S, "O": O, "P": P, "M": M}
_MARK = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """One way to say that a fact of these relations holds no more."""

    relations: frozenset[str]
    pattern: str
    unsure: bool = False
    """It may be over: a person is asked."""
    never: bool = False
    """It never was so, where somebody says nothing of a change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Endings:
    """Several ways to say that a fact of these relations holds no more; see `Ending`."""

    relations: frozenset[str]
    patterns: tuple[str, ...]
    unsure: bool = False
    never: bool = False

    def __iter__(self) -> Iterator[Ending]:
        for pattern in self.patterns:
            yield Ending(
                relations=self.relations, pattern=pattern, unsure=self.unsure, never=self.never
            )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Frame:
    """Patterns are regular expressions without groups, unless said otherwise, whatever the case."""

    code: str
    spaced: bool = True
    cues: re.Pattern[str]
    """A text without any of these, and of the words of the rules that take something back, takes nothing
    back."""
    spelled_out: tuple[tuple[str, str], ...] = ()
    """Patterns of short forms and what they stand for: "don't"."""
    skip: re.Pattern[str]
    """A clause with this says nothing for certain: wishes, conditions, plans."""
    doubt: re.Pattern[str]
    """One with this may be so: "I think", "the doctor says"."""
    passing: re.Pattern[str]
    """One with this speaks of a while only, unless it has a word of `ended`."""
    leads: str
    """What may stand before the subject."""
    splits: re.Pattern[str]
    """Between clauses."""
    me: str
    my: str
    to_me: str
    others: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    """"he" and "she" of somebody else: the subject, the possessive, the object."""
    cased: bool = False
    """Whether `me`, `my` and `to_me` tell capital letters."""
    it: str
    """A pronoun that stands for a thing."""
    them: str
    """And for somebody, or an animal."""
    both: tuple[str, ...] = ()
    """Subject and object as one: "Tom and I"."""
    articles: str
    """What may stand before a thing."""
    between: str = ""
    """What may stand between the word for a thing and its name: "the trip to Rome"."""
    nouns: Mapping[str, str] = field(default_factory=dict)
    """Of a relation, the words a fact of it may be called by: "job"."""
    noun_leads: tuple[str, ...] = ()
    """What may stand before such a word in place of an article: "quit"."""
    plan_stem: str = r"(?!)"
    """How the object of a plan begins, in groups its verb without and with a last silent letter."""
    plan_forms: str = ""
    """The verb as it is denied: ``<verb>``, ``<last>`` letter of it, ``<end>``."""
    and_: re.Pattern[str] = NEVER
    """What joins two names as it joins two clauses."""
    plans: tuple[tuple[str, str, str], ...] = ()
    """Of a plan whose object has a word of the first, the nouns it may be called by, and its verbs as
    they are negated."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Placeholders of `endings` and `corrections`."""
    endings: tuple[Endings, ...] = ()
    corrections: tuple[str, ...] = ()
    """Groups ``new`` and, where it is named, ``old``."""
    instead: str = ""
    """What is said in full by "Sorry, Ulm": "I meant"."""
    denials: re.Pattern[str] = NEVER
    """A whole clause that denies what was said last."""
    died: str = r"(?!)"
    """A clause by which the subject, or the object, of a fact is dead."""
    widowed: str = r"(?!)"
    """One by which the speaker's spouse is."""
    forms: tuple[str, ...] = ()
    """Endings a word may take."""
    endings_of_words: str = r"(?!)"
    """What is taken off a word before that; of a short one, `short_ending`."""
    short_ending: str = ""
    denied: re.Pattern[str] = NEVER
    """What denies a clause."""
    changes: re.Pattern[str] = NEVER
    """What says that something is no more, which was so."""
    conditions: str = "(?!)"
    """What begins a sentence that supposes."""
    trailing: str = "(?!)"
    """What may stand behind a correction and is no part of it."""
    leading: str = "(?!)"
    """And before it, or before the object of a fact."""
    amounts: str = "(?!)"
    """Words before a thing that say how many there are."""
    doses: str = "(?!)"
    """Units behind such a number."""
    generic: frozenset[str] = frozenset()
    """Words of names that do not tell them: "university"."""
    species: tuple[str, ...] = ()
    """How a statement says what kind of animal somebody has, in the one group."""
    animals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words for one kind of animal."""
    positions: str = "(?!)"
    """How a statement says as what somebody works somewhere, in the one group."""
    follows: str = ""
    """What may follow a thing: not "boots" after "hiking"."""
    before_verb: str = "(?!)"
    """The beginning of a statement, up to the verb that is to be denied; ``{s}`` is its subject."""
    no_longer: tuple[tuple[str, str, str], ...] = ()
    """Patterns of the rest, with what it is when it is no longer so, and when it never was."""
    otherwise: tuple[str, str] = ("", "")
    """What is written before a statement whose verb is not found, in either case."""

    def compile_pattern(self, pattern: str) -> re.Pattern[str]:
        while found := _MARK.search(pattern):
            pattern = pattern.replace(found[0], MARKS.get(found[1]) or self.parts[found[1]])
        return re.compile(pattern, re.IGNORECASE)


FRAMES: Topic[Frame] = Topic(
    Frame,
    "retractions",
    about="how people take back what they said",
    without="only a model finds them",
)


@lru_cache(maxsize=16)
def union_of_languages(name: str) -> str:
    """Return a pattern of all languages: somebody may speak of a fact in another than its own."""
    return "|".join(getattr(frame, name) for frame in FRAMES.values())
