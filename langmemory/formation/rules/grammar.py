"""What the rule extractor knows about one human language, as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from langmemory.languages import ordinary_words
from langmemory.languages.tables import NEVER
from langmemory.languages.temporal.calendar import Prefer
from langmemory.ports.facts import FactKind

Times = Literal["bounds", "any", "must", "over", "long"]
"""Which times of its clause a rule takes: since when and until when, any; it needs one; it needs one
that says until when; one that says since which month or year."""

Gender = Literal["he", "she", "either"]

CAPITAL = r"[^\W\d_a-zß-öø-ÿªºµ](?:[\w&-]|['’](?!s\b))+"
"""A word that begins with a capital, or in a script of its own: "Łukasz", "Борис", "李明"."""
TIME = "[\ue000-\ue1ff]"
"""A time of the sentence: the characters stand for its first, second … time (see `clauses`). More of
them than a sentence has characters, and no more: the range is in every gap of every pattern, and
compiling takes as long as it is wide."""
REASON = "\ue200"
"""Stands for the reason of a decision within its clause."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Grammar:
    """Patterns are regular expressions without groups, unless said otherwise. A `re.Pattern` matches whatever
    the case and has no placeholders; the others tell capital letters."""

    code: str
    spaced: bool = True
    respelled: tuple[tuple[str, str], ...] = ()
    """Patterns of what people write in haste, or in another country, and how the rules know it."""
    frames: re.Pattern[str] = NEVER
    """From a sentence with this on, a turn tells of what is not: "Imagine", "my character"."""
    plays: str = r"(?!)"
    """A turn with this begins a game, in which whoever speaks is somebody else."""
    plays_no_more: str = r"(?!)"
    """A turn with this ends it."""
    void: re.Pattern[str]
    """A sentence with this says nothing for certain: conditions, fiction, jokes, what it takes back
    itself."""
    withdraws: re.Pattern[str] = NEVER
    """A sentence with this takes back the one before it: "Just kidding"."""
    places: tuple[str, ...] = ()
    """Places written without a capital that are read as if they had one: "moved to leeds"."""
    unclear: re.Pattern[str]
    """Nor does a clause with this, and what hangs on it: wishes, doubts, reports of what others say."""
    but: re.Pattern[str]
    """Before a clause, what ends the reach of a doubt."""
    anew: re.Pattern[str]
    """Before a clause, what a later doubt does not reach back over."""
    asks: re.Pattern[str] = NEVER
    """Where a question begins that follows a statement: ", so what"."""
    openers: re.Pattern[str]
    """What may stand before the subject and changes nothing."""
    closers: re.Pattern[str] = NEVER
    """What may stand at the end of a clause and changes nothing."""
    takes_back: re.Pattern[str]
    """An opener by which the speaker takes back what was said before."""
    no: re.Pattern[str]
    """One that may as well answer a question, and takes back only what cannot change."""
    announces: re.Pattern[str]
    """Before a colon, what says that the speaker's own words follow, where others quote somebody, or
    paste what is to be translated."""
    denied: re.Pattern[str] = NEVER
    """After what a rule matched, a negation by which it is not so."""
    breaks: str
    """What separates clauses; each begins with a subject or a verb of `carried`."""
    half: str = r"(?!)"
    """A clause, with what follows it, that is only half of a subject: "my husband and"."""
    carried: str
    """Verbs that may begin a clause whose subject is that of the clause before."""
    dropped: str = r"(?!)"
    """A verb with which a sentence may begin whose subject is the speaker: "Moved to Rome."."""
    naming: str = r"(?!)"
    """What names in small letters follow, up to their end; each group is a name or a list of them: "is
    called katrin", "two cats, mia and leo"."""
    i: str
    we: str
    """With "my husband and I"."""
    names_by_capital: bool = True
    """Whether a word with a capital within a sentence is mostly a name."""
    before_thing: re.Pattern[str] = NEVER
    """The end of what stands before a name that is a place, a firm or a thing."""
    before_person: re.Pattern[str] = NEVER
    """And before one that is somebody's."""
    he: str = r"(?!)"
    she: str = r"(?!)"
    either: str = r"(?!)"
    """A verb, or a pronoun, that is of somebody mentioned before, man or woman."""
    my: str
    kin: Mapping[str, str]
    """"sister" to the role "sister"; ``langmemory.formation.entities.roles`` knows the roles."""
    kin_adjectives: str
    pets: tuple[str, ...]
    """Words for them: "greyhound"."""
    numbers: Mapping[str, int]
    """Words for the years somebody has: "forty-two"."""
    user: str
    """What a speaker without a name is called."""
    we_text: str
    """Who decides when "we" do; ``{s}`` is the speaker."""
    reasoned: str = r"(?!)"
    """A decision in a sentence with its reason, group ``reason``, which may hold several clauses."""
    reason_texts: tuple[str, str] = ("", "")
    """A decision with a reason that reads the same whoever tells it, and with one that is quoted because of
    `first_person`: ``{text}`` is the decision without its stop, ``{reason}`` the reason."""
    first_person: re.Pattern[str] = NEVER
    """In a reason, words of the first and second person."""
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
    not_of_others: str = r"(?!)"
    """A verb, as it is never said of another person: "Tom like that"."""
    inverted: str = r"(?!)"
    """A clause that begins with its verb: groups ``verb`` and ``subject``, which change places."""
    gone: str = r"(?!)"
    """Behind when something of the speaker's life began, what says, with a later time, that it ended and
    names it no more: "quit in 2016"."""
    aside: str = r"(?!)"
    """After somebody without a name, what may stand before the verb: ", who"."""
    resumed: str
    """After a name, what may stand between a subject and its verb: the surname, "he"."""
    time_lead: re.Pattern[str]
    """Prepositions of a date that are no part of it."""
    relative: str
    """A clause about somebody of the speaker's: groups ``kin`` and ``name``."""
    leaning: re.Pattern[str]
    """Words that lean on what was said before."""
    kin_name: str
    """Somebody of the speaker's by name, anywhere in a sentence: groups ``kin`` and ``name``, or
    ``kin2`` and ``name2``."""
    mention: str
    """Somebody of the speaker's, named or not: groups ``kin`` and ``name``."""
    pet_mention: str
    """An animal: group ``pet``."""
    others: str
    """Somebody else whom "he" or "she" may mean: "her boss", "a friend"."""
    its_name: str = r"(?!)"
    """How somebody just mentioned is called: "She's called Luna"; group ``name`` or ``name2``."""
    pet_name: str
    with_mine: str = r"(?!)"
    """Behind a short answer, what says with whom, before a word for them: "with my"."""
    verb_behind: str = r"(?!)"
    """After the first word of a clause, what makes it a name: a verb, "and"."""
    leaning_things: bool = False
    """Whether a liked thing with a word of `leaning` is none."""
    died: re.Pattern[str]
    """A sentence with this names no pet that somebody has."""
    no_names: frozenset[str] = frozenset()
    """Words with a capital that name nobody, beside `ordinary_words`, case-folded."""
    names: frozenset[str] = frozenset()
    """Ordinary words that are names, too: "Jan"."""
    no_allergens: re.Pattern[str] = NEVER
    """What nobody is allergic to but in jest: "commitment"."""
    not_things: re.Pattern[str]
    """What a liked or disliked thing may not begin with or contain."""
    doing: str = r"(?!)"
    """A liked thing that is something to do, of which the rest belongs to it: "throwing"."""
    done: str = r"(?!)"
    """The rest of it."""
    narrows: str = r"(?!)"
    """After a thing, what makes it another: "that"."""
    verb_or_noun: str = r"(?!)"
    """A verb of `carried` that may be a noun as well: "love"."""
    listed: str = r"(?!)"
    """In the clause before, what makes it one: "so much"."""
    theirs: Mapping[str, str] = field(default_factory=dict)
    """Words of the first person to those of the third, within an object."""
    placeholders: Mapping[str, str]
    rules: tuple[Rule, ...]
    and_: str
    """What stands between the items of a list."""
    not_places: frozenset[str] = frozenset()
    """Words with a capital that are neither places nor organisations, case-folded."""

    @property
    def not_names(self) -> frozenset[str]:
        """Every word with a capital that names nobody, case-folded."""
        return _not_names(self.code, self.spaced, self.no_names, self.names)

    def compile_pattern(self, pattern: str) -> re.Pattern[str]:
        """A pattern of this grammar with its placeholders filled; white space may hold times."""
        parts = {
            "kin": one_of(self.kin), "pet": one_of(self.pets), "my": self.my,
            "number": one_of(self.numbers),
            "adjectives": self.kin_adjectives, "time": TIME, "reason": REASON, "Word": CAPITAL,
            **self.placeholders,
        }  # fmt: skip
        pattern = _OBJECT.sub(r"(?P<object>{\1})", pattern)
        while found := re.search(r"\{([A-Za-z]+)\}", pattern):
            pattern = pattern.replace(found[0], parts[found[1]])
        gap = rf"(?:\s|{TIME}){'+' if self.spaced else '*'}"
        return re.compile(_SET_OR_SPACE.sub(lambda m: gap if m[0] == " " else m[0], pattern))


@cache
def _not_names(
    code: str, spaced: bool, no_names: frozenset[str], names: frozenset[str]
) -> frozenset[str]:
    return (no_names | ordinary_words(code) if spaced else no_names) - names


def one_of(words: Iterable[str]) -> str:
    """An alternation of plain words, the longest first."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))
