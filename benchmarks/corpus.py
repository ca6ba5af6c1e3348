"""Seeded texts and questions for the benchmark: varied, natural one-sentence memories.

``Corpus(seed).fact(i)`` is the same for ever: text number i does not depend on how many others are
asked for, so embeddings computed for the first 10,000 stay valid when 100,000 are wanted.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

VERSION = 1
"""Part of every cache name: raise it when a text changes."""

VOCABULARY = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text("utf-8"))
GIVEN, SYLLABLES, PLACES, THINGS, TRAITS, JOBS, MONTHS, WEEKDAYS, FEELINGS = (
    words.split() for words in VOCABULARY.values()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One memory and the question somebody would ask to find it again."""

    text: str
    question: str


class Words:
    """Draws of one sentence: names repeat within it, frequencies fall like Zipf's."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def of(self, words: list[str]) -> str:
        """A word, the first ones of the list more often than the last ones."""
        return words[int(len(words) * self.rng.random() ** 1.7)]

    def any(self, *wordings: str) -> str:
        """One of several ways to say it, so that no phrase is in every tenth text."""
        return self.rng.choice(wordings)

    def coined(self, syllables: int) -> str:
        return "".join(self.rng.choice(SYLLABLES) for _ in range(syllables)).capitalize()

    def person(self) -> str:
        given = self.of(GIVEN)
        return f"{given} {self.coined(2)}" if self.rng.random() < 0.6 else given

    def thing(self) -> str:
        thing = self.of(THINGS)
        return f"{self.of(TRAITS)} {thing}" if self.rng.random() < 0.7 else thing

    def day(self) -> str:
        number, month = self.rng.randint(1, 28), self.rng.choice(MONTHS)
        return self.rng.choice(
            (
                f"on {number} {month}",
                f"in {month} {self.rng.randint(1988, 2026)}",
                f"last {self.rng.choice(WEEKDAYS)}",
                f"every {self.rng.choice(WEEKDAYS)}",
                f"{self.rng.randint(2, 40)} weeks ago",
                f"the {number}th of {month}, around {self.rng.randint(6, 22)}:{number:02d}",
            )
        )


def _moved(w: Words) -> tuple[str, str]:
    who, there, work = w.person(), w.of(PLACES), w.of(JOBS)
    went = w.any("moved", "emigrated", "relocated", "went back", "was posted")
    return (
        f"{who} {went} to {there} {w.day()} to start over as a {work}, without the {w.thing()}.",
        f"When did {who} {w.any('move', 'go', 'relocate')} to {there}?",
    )


def _bought(w: Words) -> tuple[str, str]:
    who, what, shop = w.person(), w.thing(), w.coined(2)
    price = w.rng.randint(3, 4800)
    return (
        f"{w.any('I bought', 'We ordered', 'My parents got', 'He rents')} a {what} from {who} at "
        f"{shop}'s {w.any('for', 'and paid', 'at')} {price} euros {w.day()}.",
        f"How {w.any('much', 'expensive')} was the {what} from {shop}'s?",
    )


def _prefers(w: Words) -> tuple[str, str]:
    who, one, other = w.person(), w.thing(), w.thing()
    likes = w.any("prefers", "chose", "would rather keep", "adores", "recommends")
    why = w.any("it reminds her of", "they saw one in", "everybody has one in", "it came from")
    return (
        f"{who} {likes} the {one} over the {other}, {w.any('because', 'since', 'as')} "
        f"{why} {w.of(PLACES)}.",
        f"What does {who} like better than the {other}?",
    )


def _appointment(w: Words) -> tuple[str, str]:
    job, who, day = w.of(JOBS), w.person(), w.day()
    what = w.any("My appointment", "The interview", "Our meeting", "Her check-up", "The lesson")
    return (
        f"{what} with the {job} in {w.of(PLACES)} is {day}; {who} "
        f"{w.any('will drive me there', 'comes along', 'takes notes', 'minds the children')}.",
        f"When do I {w.any('see', 'meet')} the {job}, and what does {who} do?",
    )


def _project(w: Words) -> tuple[str, str]:
    name, who, left = w.coined(3), w.person(), w.rng.randint(2, 90)
    state = w.any("behind", "late", "ahead of plan", "from its release", "over budget")
    return (
        f"{w.any('Project', 'Team', 'The start-up')} {name} is {left} days {state}, so {who} "
        f"{w.any('asked', 'told', 'persuaded')} the {w.of(JOBS)} to "
        f"{w.any('drop', 'finish', 'sell', 'redesign')} the {w.thing()} until "
        f"{w.rng.choice(MONTHS)}.",
        f"Why is {name} {w.any('late', 'changing its plan', 'in trouble')}?",
    )


def _feeling(w: Words) -> tuple[str, str]:
    who, mood, what = w.person(), w.of(FEELINGS), w.thing()
    return (
        f"{w.any('Honestly', 'To be fair', 'As usual', 'Of course')}, {who} "
        f"{w.any('was', 'seemed', 'felt', 'sounded')} {mood} about the {what} after "
        f"{w.any('what happened', 'the argument', 'the wedding', 'the storm', 'the news')} in "
        f"{w.of(PLACES)} {w.day()}.",
        f"Who {w.any('felt', 'was')} {mood} because of the {what}?",
    )


def _recipe(w: Words) -> tuple[str, str]:
    who, grams, dish = w.person(), w.rng.randint(20, 900), w.coined(2)
    food = w.any("cake", "soup", "stew", "bread", "pudding", "pie", "salad")
    stuff = w.any("flour", "rice", "butter", "lentils", "sugar", "beetroot", "cheese")
    return (
        f"For {w.any('grandmother', 'aunt', 'chef')} {who}'s {dish} {food} you need {grams} grams "
        f"of {stuff}, {w.rng.randint(1, 9)} eggs and {w.any('patience', 'saffron', 'a hot oven')}.",
        f"How much {stuff} goes into the {dish} {food}?",
    )


def _lost(w: Words) -> tuple[str, str]:
    who, what = w.person(), w.thing()
    return (
        f"We {w.any('lost', 'forgot', 'left', 'mislaid')} the {what} between {w.of(PLACES)} and "
        f"{w.of(PLACES)}; {who} {w.any('found', 'saw', 'photographed')} it {w.day()} "
        f"{w.any('under', 'behind', 'next to', 'inside')} a {w.thing()}.",
        f"Where was the {what} that {who} {w.any('found', 'saw')}?",
    )


def _promise(w: Words) -> tuple[str, str]:
    who, other, what = w.person(), w.person(), w.thing()
    return (
        f"{who} {w.any('promised', 'offered', 'forgot to remind', 'begged', 'paid')} {other} to "
        f"{w.any('repair', 'paint', 'return', 'insure', 'collect')} the {what} before the "
        f"{w.any('trip', 'conference', 'holiday', 'move')} to {w.of(PLACES)}.",
        f"What was {other} to hear from {who} about the {what}?",
    )


def _family(w: Words) -> tuple[str, str]:
    who, other, age = w.person(), w.person(), w.rng.randint(1, 99)
    relation = w.any("sister", "cousin", "uncle", "neighbour", "flatmate", "godmother", "boss")
    return (
        f"{other} is {who}'s {relation}, turned {age} {w.day()} and "
        f"{w.any('works', 'trained', 'retired', 'volunteers')} as a {w.of(JOBS)} "
        f"{w.any('for', 'with', 'at')} {w.coined(2)} in {w.of(PLACES)}.",
        f"How is {other} related to {who}?",
    )


def _code(w: Words) -> tuple[str, str]:
    who, where = w.person(), w.coined(2)
    what = w.any("code", "password", "serial number", "combination", "booking reference")
    return (
        f"The {what} of the {w.thing()} at {where} {w.any('street', 'lane', 'square')} "
        f"{w.rng.randint(1, 240)} is {w.rng.randint(1000, 9999)}, "
        f"{w.any('please do not tell', 'ask', 'says', 'agreed with')} {who}.",
        f"Which {what} is it at {where}?",
    )


def _learned(w: Words) -> tuple[str, str]:
    who, what, years = w.person(), w.of(THINGS), w.rng.randint(2, 30)
    verb = w.any("learn to handle", "restore", "pay off", "design", "describe")
    return (
        f"It took {who} {years} {w.any('months', 'evenings', 'years')} to {verb} the {what}; the "
        f"{w.of(JOBS)} {w.any('next door', 'upstairs', 'at the market')}, {w.person()}, "
        f"{w.any('gave lessons', 'helped', 'laughed', 'kept count')} {w.day()}.",
        f"How long did {who} need to {verb} the {what}?",
    )


SENTENCES: tuple[Callable[[Words], tuple[str, str]], ...] = (
    _moved,
    _bought,
    _prefers,
    _appointment,
    _project,
    _feeling,
    _recipe,
    _lost,
    _promise,
    _family,
    _code,
    _learned,
)


@dataclass(frozen=True, slots=True)
class Corpus:
    """An endless list of facts, the same one for the same seed."""

    seed: int = 20_26

    def fact(self, i: int) -> Fact:
        """Text number i with its question."""
        rng = random.Random(self.seed * 1_000_003 + i)
        text, question = rng.choice(SENTENCES)(Words(rng))
        return Fact(text=text, question=question)

    def texts(self, start: int, stop: int) -> list[str]:
        """Texts of the facts start … stop-1."""
        return [self.fact(i).text for i in range(start, stop)]

    def questions(self, start: int, stop: int) -> list[str]:
        """Questions that the facts start … stop-1 answer."""
        return [self.fact(i).question for i in range(start, stop)]
