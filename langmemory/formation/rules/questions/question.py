"""What there is to know of a language to complete short answers in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Answer = Literal["name", "word", "time", "yes"]
"""What answers a question: the name of a place, a firm, a person or a language, whose capital stays;
a phrase, which begins in lower case within a sentence; a date; or a "yes", with nothing but a time
behind it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One way to ask, as a regular expression over a whole question, whatever the case of the first
    letter.

    ``{placeholders}`` are those of the grammar. Group ``kin`` is a word for somebody of the one asked,
    ``name`` somebody by name; ``pet`` and ``rest`` are for use in what is said.
    """

    asks: str
    said: str
    """The sentence: ``{answer}``, ``{who}`` for "My sister" or the name, ``{pet}``, ``{rest}``."""
    answer: Answer
    lead: str = r"(?!)"
    """What an answer may begin with that the sentence has. Case-insensitive."""
    tail: str = r"(?!)"
    """What it may end with. Case-insensitive."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How one asks and answers in a language. Regular expressions without groups, whatever the case
    of the letters."""

    code: str
    questions: tuple[Question, ...]
    ends: str
    """What may stand behind a question: "now", "by the way"."""
    yes: str
    no: str
    """What begins an answer that says nothing, or not that: "No", "Nowhere"."""
    evades: str
    """What begins one that does not answer: "Guess", "Far away"."""
    trails: str
    """What may stand behind an answer and changes nothing: "originally"."""
    back: str
    """A question that asks the same in return: "You?"."""
    mine: tuple[tuple[str, str], ...]
    """From "your" to "my"."""
    who: str = "My {kin}"
