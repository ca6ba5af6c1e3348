"""The grammars compiled, once a process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from langmemory.formation.rules.grammar import Gender, Grammar, Rule, one_of
from langmemory.languages import Topic

GRAMMARS: Mapping[str, Grammar] = Topic(Grammar, "rules")


@dataclass(frozen=True, kw_only=True, slots=True)
class Patterns:
    """A grammar and its regular expressions."""

    grammar: Grammar
    rules: tuple[tuple[Rule, re.Pattern[str]], ...]
    frames: re.Pattern[str]
    void: re.Pattern[str]
    withdraws: re.Pattern[str]
    unclear: re.Pattern[str]
    but: re.Pattern[str]
    anew: re.Pattern[str]
    asks: re.Pattern[str]
    openers: re.Pattern[str]
    takes_back: re.Pattern[str]
    no: re.Pattern[str]
    announces: re.Pattern[str]
    denied: re.Pattern[str]
    places: re.Pattern[str]
    breaks: re.Pattern[str]
    half: re.Pattern[str]
    carried: re.Pattern[str]
    dropped: re.Pattern[str]
    i: re.Pattern[str]
    we: re.Pattern[str]
    before_thing: re.Pattern[str]
    before_person: re.Pattern[str]
    pronouns: tuple[tuple[Gender, re.Pattern[str]], ...]
    not_of_others: re.Pattern[str]
    inverted: re.Pattern[str]
    relative: re.Pattern[str]
    """A clause about somebody of the speaker's: groups ``kin`` and ``name``."""
    name: re.Pattern[str]
    kin_name: re.Pattern[str]
    mention: re.Pattern[str]
    pet_mention: re.Pattern[str]
    others: re.Pattern[str]
    its_name: re.Pattern[str]
    pet_name: re.Pattern[str]
    died: re.Pattern[str]
    and_: re.Pattern[str]
    no_allergens: re.Pattern[str]
    not_things: re.Pattern[str]
    leaning: re.Pattern[str]
    aside: re.Pattern[str]
    resumed: re.Pattern[str]
    time_lead: re.Pattern[str]


@lru_cache(maxsize=16)
def patterns_of(code: str) -> Patterns:
    """The patterns of a language of `GRAMMARS`."""
    grammar = GRAMMARS[code]
    whatever_case = re.IGNORECASE
    return Patterns(
        grammar=grammar,
        rules=tuple((rule, grammar.compiled(rule.pattern)) for rule in grammar.rules),
        frames=re.compile(grammar.frames, whatever_case),
        void=re.compile(grammar.void, whatever_case),
        withdraws=re.compile(grammar.withdraws, whatever_case),
        unclear=re.compile(grammar.unclear, whatever_case),
        but=re.compile(grammar.but, whatever_case),
        anew=re.compile(grammar.anew, whatever_case),
        asks=re.compile(grammar.asks, whatever_case),
        openers=re.compile(grammar.openers, whatever_case),
        takes_back=re.compile(grammar.takes_back, whatever_case),
        no=re.compile(grammar.no, whatever_case),
        announces=re.compile(grammar.announces, whatever_case),
        denied=re.compile(grammar.denied, whatever_case),
        places=re.compile(rf"(?<= )(?:{one_of(grammar.places) or '(?!)'})\b"),
        breaks=grammar.compiled(grammar.breaks),
        half=grammar.compiled(grammar.half),
        carried=grammar.compiled(grammar.carried),
        dropped=grammar.compiled(grammar.dropped),
        i=grammar.compiled(grammar.i),
        we=grammar.compiled(grammar.we),
        before_thing=re.compile(grammar.before_thing, whatever_case),
        before_person=re.compile(grammar.before_person, whatever_case),
        pronouns=(
            ("he", grammar.compiled(grammar.he)),
            ("she", grammar.compiled(grammar.she)),
            ("either", grammar.compiled(grammar.either)),
        ),
        not_of_others=grammar.compiled(grammar.not_of_others),
        inverted=grammar.compiled(grammar.inverted),
        relative=grammar.compiled(grammar.relative),
        name=grammar.compiled("{Name}"),
        kin_name=grammar.compiled(grammar.kin_name),
        mention=grammar.compiled(grammar.mention),
        pet_mention=grammar.compiled(grammar.pet_mention),
        others=grammar.compiled(grammar.others),
        its_name=grammar.compiled(grammar.its_name),
        pet_name=grammar.compiled(grammar.pet_name),
        died=re.compile(grammar.died, whatever_case),
        and_=re.compile(grammar.and_),
        no_allergens=re.compile(grammar.no_allergens, whatever_case),
        not_things=re.compile(grammar.not_things, whatever_case),
        aside=grammar.compiled(grammar.aside),
        resumed=grammar.compiled(grammar.resumed),
        time_lead=re.compile(grammar.time_lead, whatever_case),
        leaning=re.compile(grammar.leaning, whatever_case),
    )
