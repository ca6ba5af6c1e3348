"""Whom a turn has mentioned of late, so that "she" is somebody, or nobody for certain."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Literal

from langmemory.formation.relations.vocabulary import ROLES
from langmemory.formation.rules.clauses import MAX_SENTENCE
from langmemory.formation.rules.grammar import CAPITAL, Gender
from langmemory.formation.rules.patterns import Patterns

REACH = 3
"""Sentences behind the present one that a pronoun reaches."""
_GENDERS: tuple[tuple[Gender, tuple[str, ...]], ...] = (
    ("she", tuple(ROLES.women)),
    ("he", tuple(ROLES.men)),
)
"""What roles end with; others may be either."""
_NAME = re.compile(CAPITAL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """Somebody in a sentence."""

    what: Literal["kin", "pet", "named", "stranger"]
    word: str
    """Of a relative or an animal its word, else the name."""
    name: str = ""
    gender: Gender = "either"


@dataclass(slots=True)
class _Seen:
    """A clause; whom it mentions is looked for when somebody asks."""

    text: str
    before: bool = False
    """Whether it is of the turn before."""
    mentions: list[Mention] | None = None


class Persons:
    """The mentions of the last sentences, and whom a pronoun means: the one it may mean, if any."""

    def __init__(
        self,
        known: Mapping[str, str],
        patterns: Patterns,
        *,
        speaker: str,
        called: Mapping[str, Set[str]],
    ) -> None:
        """``called`` has the names of relatives by the word for them."""
        self.known = known
        self.called = called
        self.speaker = speaker
        self.patterns = patterns
        self._sentences: deque[list[_Seen]] = deque([[]], maxlen=REACH + 1)

    def new_sentence(self) -> None:
        self._sentences.append([])

    def see(self, text: str, *, before: bool = False) -> None:
        """Take note of a clause, or of a whole sentence."""
        self._sentences[-1].append(_Seen(text, before))

    def meant(self, gender: Gender) -> Mention | None:
        """The only one mentioned whom "he" or "she" may mean, in this turn or, if there is none in it, in
        the one before."""
        found = self._fitting(gender, before=False) or self._fitting(gender, before=True)
        return found[0] if len(found) == 1 and found[0].what != "stranger" else None

    def _fitting(self, gender: Gender, *, before: bool) -> list[Mention]:
        found: list[Mention] = []
        for one in self._mentions(before=before):
            if "either" in (gender, one.gender) or one.gender == gender:
                again = next((n for n, other in enumerate(found) if _is_one(one, other)), None)
                if again is None:
                    found.append(one)
                elif one.name:
                    found[again] = one
        return found

    @property
    def alone(self) -> bool:
        """Whether the turn spoke of nobody but the speaker."""
        return all(one.what == "pet" for one in self._mentions(before=False))

    def _mentions(self, *, before: bool) -> Iterator[Mention]:
        for sentence in self._sentences:
            for seen in sentence:
                if seen.before != before:
                    continue
                if seen.mentions is None:
                    seen.mentions = self._in(seen.text)
                yield from seen.mentions

    def _in(self, text: str) -> list[Mention]:
        if len(text) > MAX_SENTENCE:
            return [Mention(what="stranger", word="")]
        found: list[Mention] = []
        taken: list[tuple[int, int]] = []
        for match in self.patterns.mention.finditer(text):
            word = match["kin"]
            written = self._known(match.groupdict().get("name") or "")
            name = written or self._called(word)
            role = self.patterns.grammar.kin[word]
            gender: Gender = next(
                (one for one, ends in _GENDERS if role.split()[0].endswith(ends)), "either"
            )
            found.append(Mention(what="kin", word=word, name=name, gender=gender))
            taken.append(match.span() if written else (match.start(), match.end("kin")))
        for match in self.patterns.pet_mention.finditer(text):
            found.append(Mention(what="pet", word=match["pet"]))
            taken.append(match.span())
        for match in self.patterns.others.finditer(text):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                if name := self.apposed(match):
                    found.append(Mention(what="named", word=name, name=name))
                    taken.append((match.start(), match.end() + 1 + len(name)))
                    continue
                found.append(Mention(what="stranger", word=match[0]))
        return found + self._names(text, taken)

    def apposed(self, other: re.Match[str]) -> str:
        """The name behind somebody else's relative, or behind another word for a person: "her boy Nils"."""
        called = _NAME.match(other.string, other.end() + 1)
        is_behind = called is not None and other.string[other.end()] == " "
        return called[0] if called and is_behind and self._is_apposed(called[0], other[0]) else ""

    def _called(self, word: str) -> str:
        """The name of the only relative with a word: "My friend is Amina. She …"."""
        names = self.called.get(word, set())
        return next(iter(names)) if len(names) == 1 else ""

    def _known(self, name: str) -> str:
        """A name as known, or the first word of it."""
        first = name.split()[0] if name else ""
        return self.known.get(name.casefold()) or self.known.get(first.casefold(), "")

    def _names(self, text: str, taken: list[tuple[int, int]]) -> list[Mention]:
        if not self.patterns.grammar.spaced:
            return [
                Mention(what="named", word=name, name=name)
                for name in self.known.values()
                if name != self.speaker
                and name in text
                and not any(name in text[start:end] for start, end in taken)
            ]
        found: list[Mention] = []
        end_of_name = -2
        for match in _NAME.finditer(text):
            word, before = match[0], text[: match.start()]
            if any(start <= match.start() < end for start, end in taken):
                continue
            if match.start() == end_of_name + 1:  # "Ana Ferrer"
                end_of_name = match.end()
                continue
            count = len(found)
            name = self.known.get(word.casefold())
            if name and name != self.speaker:
                found.append(Mention(what="named", word=name, name=name))
            elif not name and self._may_be_name(word, before):
                if self.patterns.before_person.search(before):
                    found.append(Mention(what="named", word=word, name=word))
                elif before.strip() or self.patterns.verb_behind.match(text[match.end() :]):
                    found.append(Mention(what="stranger", word=word))
            if len(found) > count:
                end_of_name = match.end()
        return found

    def _may_be_name(self, word: str, before: str) -> bool:
        return self.patterns.grammar.names_by_capital and self._is_apposed(word, before)

    def _is_apposed(self, word: str, before: str) -> bool:
        """Whether a word behind that for a person may be their name, where every noun has a capital, too."""
        grammar = self.patterns.grammar
        return (
            word.casefold() not in grammar.not_names
            and word.isalpha()
            and not word.isupper()
            and not self.patterns.before_thing.search(before)
        )


def _is_one(one: Mention, other: Mention) -> bool:
    """Whether two mentions are of one: "My sister Ana … my sister …", "a dog … the dog"."""
    if one.name and other.name:
        return one.name == other.name
    return one.what == other.what and one.word == other.word
