"""Words of one human language that steer a query: the topic ``words`` of its folder.

All words are lower case (`str.casefold`), without punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final, Literal

from langmemory.languages.tables import NEVER, read
from langmemory.languages.temporal.words import TIME_WORDS, TimeWords

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
    "self",
]
"""What a question asks for. Of what changes, ``now`` is what holds at last, ``before`` what held,
``first`` what held at first, ``present`` what holds without a word for it, and ``change`` how one became
the other; ``self`` asks for all that is known of who asks. A statement or an unrecognised question asks for
none of them."""


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
    temporal_words: frozenset[str] = frozenset()
    """Words by which a text says when something happens ("yesterday", "weekend")."""
    prepositions: frozenset[str] = frozenset()
    """Words that say from where, whither, with whom or by whom: "from". With them "than"."""
    qualifiers: frozenset[str] = frozenset()
    """Words that say how far a statement goes: "only", "all", "may", "was"."""
    minus: frozenset[str] = frozenset()
    """Words for the sign of a number below zero."""
    inverts: bool = False
    """Whether the verb may stand before its subject where something else begins the sentence."""
    looks_back: tuple[str, ...] = ()
    """Regular expressions by which a question speaks of the past, or of what was said: "did", "told"."""
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
    unknowing: tuple[str, ...] = ()
    """Regular expressions (over a whole sentence, case-folded) for sentences by which an assistant says that
    it does not know, and nothing else."""
    links: frozenset[str] = frozenset()
    """Words that may stand before a question or a request: "and"."""
    addressed: frozenset[str] = frozenset()
    """Words for who is asked or asked about. Behind a word of ``requests`` they make a question of it ("did
    you"), behind a word of ``question_words`` a statement ("when I was young")."""
    reworks: tuple[str, ...] = ()
    """Regular expressions (over case-folded text) for messages that ask for the last answer in another
    form and for nothing else."""
    translations: tuple[str, ...] = ()
    """Regular expressions for a request to translate a text, up to where that begins."""
    question_words: frozenset[str] = frozenset()
    """Words that ask: who, what, when."""
    requests: frozenset[str] = frozenset()
    """Other words that open a question or a request: "does", "tell"."""
    reminders: tuple[str, ...] = ()
    """Regular expressions (over case-folded text) for requests that say themselves what somebody is to be
    reminded of: "remind me that"."""
    impersonal: tuple[str, ...] = ()
    """Regular expressions (over case-folded text) for questions in the first person that anybody might
    ask: "how do i"."""
    first_person: frozenset[str] = frozenset()
    """Words that refer to the person who speaks: "my"."""
    second_person: frozenset[str] = frozenset()
    """Words that refer to whoever is spoken to: "your"."""
    speaker_alone: frozenset[str] = frozenset()
    """Those of them that mean nobody beside the speaker, as "my wife" and "we" do: "i"."""
    references: frozenset[str] = frozenset()
    """Words that refer to somebody or something that both sides know: "the", "she", "my"."""
    indefinite: frozenset[str] = frozenset()
    """Words that refer to anything of a kind: "a"."""
    corrections: tuple[str, ...] = ()
    """Regular expressions by which somebody rejects or corrects what they were just told."""
    declines: re.Pattern[str] = NEVER
    """A polite no at the beginning, which corrects nothing: "No, thanks"."""
    phrases: tuple[str, ...] = ()
    """For languages without spaces: function phrases cut out of a query, longest first."""
    articles: frozenset[str] = frozenset()
    """Those that a name may begin with."""
    titles: frozenset[str] = frozenset()
    """And the titles: "dr"."""
    abbreviations: tuple[str, ...] = ()
    """Words whose point ends no sentence, without it: "Dr"."""
    letter_headers: tuple[str, ...] = ()
    """Regular expressions of what begins a line of a letter before a colon: "subject"."""
    letter_openings: tuple[str, ...] = ()
    """And of a line by which one begins that somebody else may have written: "forwarded message"."""
    cites: tuple[str, ...] = ()
    """Regular expressions of what may stand before what is cited: "see"."""
    ands: frozenset[str] = frozenset()
    """What may stand between two things of a list."""
    countries: frozenset[str] = frozenset()
    """Names of countries: who lives in one may live in a town of it as well."""

    @property
    def times(self) -> TimeWords:
        """Return how the language names times."""
        return TIME_WORDS.get(self.code) or TimeWords(code=self.code)

    def __post_init__(self) -> None:
        """Fold the words as texts are: "weißt" is "weisst"."""
        for one in fields(self):
            words = getattr(self, one.name)
            if isinstance(words, frozenset):
                object.__setattr__(self, one.name, frozenset(map(str.casefold, words)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Worldwide:
    """Words of languages of which nothing else is known."""

    courtesies: frozenset[str]
    """Words of greetings, thanks and assent."""
    first_person: frozenset[str]
    """Words by which somebody speaks of themselves."""
    refusals: tuple[str, ...]
    """Regular expressions of how a model begins that refuses to answer."""
    conditions: tuple[str, ...]
    """Words by which a sentence supposes something."""
    legal_forms: frozenset[str]
    """What an organisation's name may end with, left out in comparing."""
    corrections: tuple[str, ...]
    """Regular expressions by which somebody corrects what was said before; see `Language.corrections`."""
    declines: re.Pattern[str]
    """A polite no, which corrects nothing."""


WORLDWIDE: Final = read(Worldwide, Path(__file__).with_name("worldwide.toml"))
