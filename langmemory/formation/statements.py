"""Words by which statements say that something is so, was so, may be so or is not so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from langmemory.languages import Topic
from langmemory.languages.tables import NEVER

Words = frozenset[str]
Pattern = re.Pattern[str]
NONE: Words = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StatementWords:
    """Words are case-folded. Those up to ``infinitives`` are looked for in sentences without
    apostrophes ("doesnt")."""

    over: Pattern = NEVER
    """A state is over, whatever the tense."""
    formerly: Pattern = NEVER
    """Puts the sentence into the past."""
    former: tuple[str, ...] = ()
    """Before a role that somebody had: "ex"."""
    instead: tuple[str, ...] = ()
    """Before what something else is to take the place of."""
    episodes: Pattern = NEVER
    """Events of people with an illness: it does not say that the illness is over."""
    ended: Pattern = NEVER
    """Verbs that end what holds between somebody and what comes next after them."""
    off: Pattern = NEVER
    """Before a claim that was planned: the plan is off."""
    not_to_be: Pattern = NEVER
    """After a claim that was planned: the plan is off."""
    ended_after: Pattern = NEVER
    """After a claim: it is over."""
    dead: tuple[str, ...] = ()
    """After the name of somebody who is dead."""
    still: Pattern = NEVER
    """With one of them, the past reaches into the present, or is told from it."""
    reported: Pattern = NEVER
    """After them the past tense may be that of the report: "said that she lived in Kiel"."""
    past_states: Words = NONE
    """Verbs of a state in the past tense; one of a change, as "moved", begins what holds now."""
    remembers: Pattern = NEVER
    """They begin a memory."""
    was: Words = NONE
    states: Words = NONE
    """Words after "was" that tell a state; "was hired by" begins what holds now."""
    plans: Pattern = NEVER
    """It may come to be so, or somebody wants it."""
    supposed: Pattern = NEVER
    """Before a claim they make it a supposition."""
    denied: Pattern = NEVER
    """Before a claim ("it is not true that") they deny it."""
    beside: Words = NONE
    """Words that may stand between a negation and what it denies, or after that."""
    behind: Words = NONE
    """Words after an object that leave a denial as it is."""
    turns: Words = NONE
    """Words after which something else is spoken of, or by which a negation denies something else."""
    goes_on: Words = NONE
    """Those of them that begin no new clause."""
    and_: Words = NONE
    since: Words = NONE
    joining: Words = NONE
    """Words of a relation's name that it shares with any other."""
    articles: Words = NONE
    workdays: Pattern = NEVER
    """When people work as a rule, though it may not be where they live."""
    infinitives: Words = NONE
    """Verbs with which a list of plans goes on: "plans to move to Oslo and work at Hooli"."""
    negations: Words = NONE
    """Words that turn a statement round, each by itself: of "no longer" it is the "no"."""
    negations_apart: Pattern = NEVER
    """A negation of words that are none by themselves: "ne … plus"."""
    negations_within: Words = NONE
    """The same in a script without spaces."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """Without those that mean other things more often ("one", "uno", "elf")."""
    articles_within: Words = NONE
    """Numbers that are mostly an article in a script without spaces."""
    changed: Pattern = NEVER
    """Something is otherwise than before."""
    past: Pattern = NEVER
    """Somebody speaks of what is over."""
    passing: Pattern = NEVER
    """Something is so for a time, or at times, beside what is so as a rule."""
    lasting: Pattern = NEVER
    """With it, it is not: "has lived there for two years"."""
    of_the_day: Pattern = NEVER
    """The same of what is said of the day, unless it begins."""
    begins: Pattern = NEVER
    hosts: tuple[str, ...] = ()
    """Patterns of a sentence by which it is ``<name>`` whom somebody visits, or means to: "will be at
    Lena's in Bonn"."""
    refusals: tuple[str, ...] = ()
    """Patterns of how a model begins that refuses to answer."""
    denied_names: tuple[str, ...] = ()
    """Patterns of how the name of a relation begins that is denied: "does_not"."""
    over_names: tuple[str, ...] = ()
    """And of one that is over: "no_longer"."""
    averse_names: tuple[str, ...] = ()
    """Patterns of the names of relations to what somebody goes without."""
    denied_objects: tuple[str, ...] = ()
    """Patterns of how the object of a claim begins that is denied."""
    over_objects: tuple[str, ...] = ()
    """And of one that was so."""
    not_objects: tuple[str, ...] = ()
    """Patterns of what begins, after an object, another that is none: "not in Bonn"."""
    before_objects: tuple[str, ...] = ()
    """Words that may stand before that."""
    waits: Pattern = NEVER
    """One of `plans` whose negation does not deny it."""
    away: Pattern = NEVER
    """From where somebody visits; ``_`` is the object of the claim."""
    over_surely: Pattern = NEVER
    """One of `formerly` by which a state is over."""
    perfect: Words = NONE
    """Verbs that make a perfect of the participle behind them."""
    participles: tuple[str, ...] = ()
    """Endings of participles."""
    goes_on_with: Words = NONE
    """Words by which what follows "and" goes on with the same verb."""
    tells_nothing: Words = NONE
    """Words that tell nothing beside the claim of a fact."""
    of_denial: Words = NONE
    """Words of a denial that are not of what it denies."""
    light: Words = NONE
    """Words, as `wording` has them, that make no difference between two statements."""
    pronouns: Words = NONE
    """Words that models leave in claims where a name should stand."""
    auxiliaries: Words = NONE
    """Words around a relation that do not change it."""
    death: Words = NONE
    """Objects of a claim about somebody who died."""


_STATEMENTS = Topic(
    StatementWords,
    "statements",
    about="negations, numbers, and words for what is over, planned, supposed or only for a time",
    without="a model's statements are taken as they are",
)


def cues() -> StatementWords:
    """Return the words of all languages: a sentence may be too short to tell its own."""
    return _STATEMENTS.everywhere
