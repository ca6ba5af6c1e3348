"""The patterns of the grammars, each compiled once a process, when it is first used."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from langmemory.formation.rules.grammar import CAPITAL, Gender, Grammar, Rule, one_of
from langmemory.languages import Topic

GRAMMARS: Topic[Grammar] = Topic(
    Grammar,
    "rules",
    about="patterns for facts, without a model",
    without="only a model finds facts",
)


class Patterns:
    """A grammar, with the regular expression of each of its fields that is one under its name."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar

    def __getattr__(self, name: str) -> re.Pattern[str]:
        field: str | re.Pattern[str] = getattr(self.grammar, name)
        made = field if isinstance(field, re.Pattern) else self.grammar.compile_pattern(field)
        setattr(self, name, made)
        return made

    @cached_property
    def rules(self) -> tuple[tuple[Rule, re.Pattern[str]], ...]:
        """Each rule with its pattern."""
        return tuple(
            (rule, self.grammar.compile_pattern(rule.pattern)) for rule in self.grammar.rules
        )

    @cached_property
    def pronouns(self) -> tuple[tuple[Gender, re.Pattern[str]], ...]:
        """The patterns of "he", "she" and what may be either."""
        return ("he", self.he), ("she", self.she), ("either", self.either)

    @cached_property
    def places(self) -> re.Pattern[str]:
        """A place that is written without a capital."""
        return re.compile(rf"(?<= )(?:{one_of(self.grammar.places) or '(?!)'})\b")

    @cached_property
    def name(self) -> re.Pattern[str]:
        """Somebody's name."""
        return self.grammar.compile_pattern("{Name}")

    @cached_property
    def rest_of_answer(self) -> re.Pattern[str]:
        """What may stand behind a short answer: "Cork, Ireland", "Cork, with my sister"."""
        company = rf"(?:{self.grammar.with_mine})\s[^\W\d]+"
        return re.compile(rf"\W*(?:(?<=, )(?:{CAPITAL}|{company}))?\W*")

    @cached_property
    def and_(self) -> re.Pattern[str]:
        """What stands between the items of a list."""
        return re.compile(self.grammar.and_)


@lru_cache(maxsize=16)
def patterns_of(code: str) -> Patterns:
    """The patterns of a language of `GRAMMARS`."""
    return Patterns(GRAMMARS[code])


def patterns_near(code: str) -> Patterns:
    """The patterns of a language; where it has none, those of English."""
    return patterns_of(code if code in GRAMMARS else "en")
