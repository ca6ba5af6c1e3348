"""What there is to know of a language to read standing requests in it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from langmemory.languages import ordinary_words

Lasting = Literal["if said", "if alone", "always"]
"""When something asked for is meant for good: only where words say so, also where the turn has nothing
else that it may belong to, or by its nature ("call me Bob"). "From now on" says so in any case, and
"always" where the turn has nothing else."""

_OBJECT = re.compile(r"(?<!P)<(\w+)>")
_PLACE = re.compile(r"\{([A-Za-z]+)\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One way to ask for something, as a regular expression over a whole clause.

    The clause comes without its words for "from now on" and "please" (`Manners`). ``{placeholders}``
    are those of its language, and ``<Name>`` is ``{Name}`` as the object; each alternative may have
    its own. Whatever the case of the letters, unless the pattern says otherwise.
    """

    pattern: str
    text: str
    """The statement: ``{s}`` is who asks, ``{o}`` the object."""
    relation: str
    """Of `relations`."""
    object: str = "{o}"
    """The claim's object: a word of its own where there are many words for it."""
    lasts: Lasting = "if said"
    ends: bool = False
    """Takes back what was asked for."""
    importance: float = 0.7


@dataclass(frozen=True, kw_only=True)
class Manners:
    """How one asks for something in a language. Regular expressions without groups, whatever the
    case of the letters."""

    code: str
    spaced: bool = True
    for_good: str
    """Words by which something is asked for from now on."""
    habit: str
    """Words by which it is asked for always: of answers, or of what else the turn is about."""
    fillers: str
    """Words that change nothing."""
    leads: str
    """What a clause that asks for something may begin with: "I want you to"."""
    polite: str
    """A lead that is a question: "could you". It asks for something for good only with words that say
    so, or by what it asks for: "could you stop calling me madam"."""
    tags: str
    """A clause that makes no question of the sentence before it: "okay?"."""
    splits: str
    """What separates clauses."""
    ands: str
    """What may join two of them besides."""
    when: str
    """A clause that begins so says on what occasions something is asked for."""
    somewhere: str
    """A clause that begins so says for what it is asked: "In the essay, always cite sources"."""
    unclear: str
    """A sentence with this asks for nothing for certain: conditions, reports of what others say, jokes."""
    elsewhere: str
    """A turn with this is about a text or a game, and so may be what it asks for."""
    tasks: str
    """A clause that begins so asks for something to be done now."""
    company: str
    """A sentence that begins so speaks of who speaks, or to the assistant. Beside any other, such as
    a heading, what is asked for may be meant for that."""
    same: Mapping[str, str] = field(default_factory=dict)
    """Objects by another word for them, case-folded."""
    no_names: frozenset[str] = frozenset()
    """What nobody is called beside `ordinary_words`, case-folded: "Call me ASAP"."""
    placeholders: Mapping[str, str]
    requests: tuple[Request, ...]

    @cached_property
    def not_names(self) -> frozenset[str]:
        """All words that nobody is called, case-folded."""
        return self.no_names | ordinary_words(self.code) if self.spaced else self.no_names

    @cached_property
    def patterns(self) -> tuple[tuple[Request, re.Pattern[str]], ...]:
        """Each request and its regular expression."""
        return tuple((one, self.compiled(one.pattern)) for one in self.requests)

    def compiled(self, pattern: str) -> re.Pattern[str]:
        numbers = itertools.count()
        pattern = _OBJECT.sub(lambda o: f"(?P<object{next(numbers)}>{{{o[1]}}})", pattern)
        while found := _PLACE.search(pattern):
            pattern = pattern.replace(found[0], f"(?:{self.placeholders[found[1]]})")
        return re.compile(pattern, re.IGNORECASE)

    @cached_property
    def found(self) -> Mapping[str, re.Pattern[str]]:
        """The expressions of the fields above, by field; at word ends where words are spaced."""
        edge = (r"(?<!\w)(?:", r")(?!\w)") if self.spaced else ("(?:", ")")
        parts = {
            "for_good": self.for_good, "habit": self.habit, "company": self.company,
            "fillers": self.fillers, "leads": self.leads, "polite": self.polite, "tags": self.tags,
            "when": self.when, "somewhere": self.somewhere, "unclear": self.unclear,
            "elsewhere": self.elsewhere, "tasks": self.tasks,
        }  # fmt: skip
        whole = {name: part.join(edge) for name, part in parts.items()}
        whole |= {"splits": self.splits, "ands": self.ands}
        return {name: re.compile(part, re.IGNORECASE) for name, part in whole.items()}
