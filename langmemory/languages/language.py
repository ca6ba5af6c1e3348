"""Words of one human language that steer a query: the topic ``words`` of its folder.

All words are lower case (`str.casefold`), without punctuation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Question = Literal[
    "when",
    "where",
    "who",
    "why",
    "how",
    "count",
    "preference",
    "relation",
    "now",
    "before",
    "first",
    "present",
    "change",
]
"""What a question asks for. Of what changes, ``now`` is what holds at last, ``before`` what held,
``first`` what held at first, ``present`` what holds without a word for it, and ``change`` how one became
the other. A statement or an unrecognised question asks for none of them."""

Unit = Literal["day", "weekend", "week", "month", "year"]

Edge = Literal["until", "since", "after", "before", "around"]
"""What a date is to a stretch of time: its last part ("by May"), its first ("since May"), what ends just
before it or begins just after, or the middle of a neighbourhood."""

Part = Literal["first", "middle", "last"]
"""A third of a stretch of time: "early May", "mid-May", "the end of May"."""

Counted = Literal["ago", "lately"]
"""Whether counted units lead to a time ("two weeks ago") or fill the time until now ("the last two
weeks")."""


def primary(tag: str) -> str:
    """The language of a BCP 47 tag, without region and script: "pt" of "pt-BR", also of "pt_BR"."""
    return tag.replace("_", "-").partition("-")[0].lower()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Language:
    """Words of one language that steer a query; every table may be empty."""

    code: str
    """BCP 47, e.g. ``"en"``."""
    never: str = ""
    """Regular expression of characters that no text of it has: kana in Chinese."""
    stop_words: frozenset[str] = frozenset()
    """Words too common to search for. They also decide which language a query is in."""
    stop_names: frozenset[str] = frozenset()
    """Stop words that are somebody's name where they are capitalised within a sentence: "Will"."""
    endings: tuple[str, ...] = ()
    """Endings of inflection, without marks; ``""`` where a word also stands without one. A query's
    word is looked up with each of them. English needs none: the keyword index stems it."""
    spellings: Mapping[str, str] = field(default_factory=dict)
    """Letters to what is written for them where the keyboard lacks them: ``"ü"`` to ``"ue"``."""
    questions: Mapping[Question, tuple[str, ...]] = field(default_factory=dict)
    """Regular expressions (over case-folded text) by what the question asks for; first hit wins."""
    months: Mapping[str, int] = field(default_factory=dict)
    """Month name to 1..12."""
    weekdays: Mapping[str, int] = field(default_factory=dict)
    """Weekday name to 1 (Monday) .. 7."""
    seasons: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Season name to (first month, number of months), northern hemisphere."""
    relative: Mapping[str, tuple[Unit, int]] = field(default_factory=dict)
    """Regular expression to (unit, offset): ``"last week"`` is ``("week", -1)``; first hit wins."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """Number words to numbers; digits are known."""
    units: Mapping[str, Unit] = field(default_factory=dict)
    """Units of time as they stand behind a number."""
    counted: Mapping[str, Counted] = field(default_factory=dict)
    """Regular expression with ``{n}`` for a number and ``{unit}`` for a unit to what it means."""
    last: frozenset[str] = frozenset()
    """Words that put a month, season or weekday beside them into the past ("last spring")."""
    since: tuple[str, ...] = ()
    """Regular expressions of what opens a range at the beginning of the following date ("since May");
    in a script without spaces of the date before it, as in the next ones."""
    onwards: Mapping[str, str] = field(default_factory=dict)
    """Words that do so only where something behind the date does, too, a regular expression:
    ``"from"`` to ``"on"``."""
    after: tuple[str, ...] = ()
    """What opens a range at the end of a date ("after May")."""
    before: tuple[str, ...] = ()
    """What ends a range at the beginning of a date ("before May")."""
    until: tuple[str, ...] = ()
    """What ends a range at the end of a date ("by May", "as of May")."""
    around: tuple[str, ...] = ()
    """What means the time around a date ("around May")."""
    other_side: Mapping[Edge, str] = field(default_factory=dict)
    """Edge to a regular expression of what says the same on the other side of the date: "14 May at the
    latest", in a script without spaces "截至5月14日"."""
    between: str = r"(?!)"
    """Regular expression of what may stand between these words and the date: "by noon on 14 May"."""
    parts: Mapping[Part, str] = field(default_factory=dict)
    """Regular expressions of what takes a third of the following month, season or year ("the end of");
    in a script without spaces of that before it."""
    shifted: Mapping[str, int] = field(default_factory=dict)
    """Regular expression with ``{n}`` and ``{unit}`` before a date, in a script without spaces behind it,
    to -1 or 1 for so many units before or after it: "two weeks before 11 August"."""
    coming: str = r"(?!)"
    """Regular expression of what shows that a date without a year is still to come: "must", "due"."""
    ranges: Mapping[str, str] = field(default_factory=dict)
    """Regular expression before the first of two dates to the one between them, where both are the
    ends of a range: ``"between"`` to ``"and"``."""
    persons: str = r"(?!)"
    """Regular expression of what shows that ``{month}``, alone, is somebody's name or another word:
    "who is June", "May I"."""
    verbs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Month or season that is a verb, too, to the words behind which it is none where it is written
    small; behind those for an edge or the past it is none either."""
    day_first: bool = True
    """Whether 5/7/2023 is 5 July; with points it always is."""
    temporal_words: frozenset[str] = frozenset()
    """Words by which a text says when something happens ("yesterday", "weekend")."""
    asks_listener: tuple[str, ...] = ()
    """Regular expressions by which somebody asks the other side what it said before ("did you
    recommend"), not what it would say now ("can you recommend")."""
    capital_nouns: bool = False
    """Whether every noun is written with a capital letter, so that one tells no name."""
    own: str = r"(?!)"
    """Regular expression whose one group is what belongs to whom asks: "dog" in "my dog"."""
    courtesies: Mapping[str, str] = field(default_factory=dict)
    """What people say around a question and do not ask ("Good morning!", "could you tell me", "if you
    remember", "thanks"): a piece that is in it, in small letters, to a regular expression for it,
    whatever the capitals."""
    fillers: frozenset[str] = frozenset()
    """Words of greetings, thanks, praise and assent. A message of these and stop words says nothing."""
    unknowing: frozenset[str] = frozenset()
    """Words by which somebody says that they do not know ("know", "idea", "told"), beside a word of
    ``negations``."""
    negations: frozenset[str] = frozenset()
    """Words that negate, as `split_words` has them: "don" of "don't"."""
    reworks: tuple[str, ...] = ()
    """Regular expressions (over case-folded text) for messages that ask for the last answer in another
    form and for nothing else."""
    question_words: frozenset[str] = frozenset()
    """Words that ask: who, what, when."""
    requests: frozenset[str] = frozenset()
    """Other words that open a question or a request: "does", "tell"."""
    impersonal: tuple[str, ...] = ()
    """Regular expressions (over case-folded text) for questions in the first person that anybody might
    ask: "how do i"."""
    first_person: frozenset[str] = frozenset()
    """Words that refer to the person who speaks: "my"."""
    references: frozenset[str] = frozenset()
    """Words that refer to something both sides know: "that"."""
    corrections: tuple[str, ...] = ()
    """Regular expressions by which somebody rejects or corrects what they were just told."""
    phrases: tuple[str, ...] = ()
    """For languages without spaces: function phrases cut out of a query, longest first."""
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Word for a kind of thing to things of that kind: ``"city"`` to ``"rome"`` and others."""

    @property
    def edges(self) -> Mapping[Edge, tuple[str, ...]]:
        """What makes a date each edge, in the order to look: "not later than" before "later than"."""
        return {
            "until": self.until,
            "since": self.since,
            "after": self.after,
            "before": self.before,
            "around": self.around,
        }


def word_set(text: str) -> frozenset[str]:
    """The words of a space-separated list."""
    return frozenset(text.split())


def ordered(text: str) -> tuple[str, ...]:
    """The words of a space-separated list, in order."""
    return tuple(text.split())
