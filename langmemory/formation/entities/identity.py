"""Names that may be one: their pairs, asked of a model in one question, and what becomes of the entities.

What is decided the same is a link: nothing is rewritten, and a person can take it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from langmemory.changes import LinkEntities
from langmemory.chat_models import form_of
from langmemory.context.marking import one_line, quoted_lines
from langmemory.errors import ExtractionError, ModelUnavailableError
from langmemory.formation.asking.asker import (
    Method,
    Question,
)
from langmemory.formation.asking.limits import ShortText
from langmemory.formation.asking.verdicts import (
    Given,
    asker_of_pairs,
    verdicts_in,
    without_constant,
)
from langmemory.formation.entities.resolution import AmbiguousName, Resolution
from langmemory.formation.prompts import prompt
from langmemory.ports.facts import Claim, Fact
from langmemory.steps import Steps, awaiting, blocking

SameName = Literal["same", "different", "unsure"]
"""Whether two names mean one."""

STATEMENTS = 3
"""So much of what is said of a name is shown with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NamePair:
    """A name, and somebody known whom it may mean."""

    key: str
    """Of the entity made for the name."""
    other: str
    """Key of the one it may be."""
    name: str
    other_name: str
    kind: str
    """Of the other."""
    said: tuple[str, ...] = ()
    """Texts of facts of the batch that speak of the name."""
    known: tuple[str, ...] = ()
    """Texts that speak of the other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """A model's verdict on a pair of names."""

    key: str
    other: str
    verdict: SameName
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Identities:
    """A model's verdicts on the pairs of a batch. A pair it did not decide is not among them."""

    decisions: tuple[Identity, ...] = ()
    model_calls: int = 0
    failure: str | None = None
    """Why it could not be asked, or its answers not be used."""

    def after(self, before: Identities) -> Identities:
        """With what was decided before."""
        return replace(
            self,
            decisions=(*before.decisions, *self.decisions),
            model_calls=before.model_calls + self.model_calls,
        )


def pairs_of(
    resolution: Resolution, known: Mapping[str, Sequence[str]], *, without: Iterable[Identity] = ()
) -> tuple[NamePair, ...]:
    """The questions whether a name is somebody known, each once. Two that one fact tells apart, as
    it claims something between them, are left to a person.

    Args:
        known: what may be told of entities that were there before, by key.
        without: pairs that are decided.
    """
    seen = {(one.key, one.other) for one in without}
    seen |= {
        pair
        for fact in resolution.facts
        for claim in fact.claims
        if claim.object_is_entity
        for pair in ((claim.subject, claim.object), (claim.object, claim.subject))
    }
    found: list[NamePair] = []
    for unclear in resolution.unclear:
        other = unclear.candidates[0]
        if unclear.key is None or (unclear.key, other.key) in seen:
            continue
        seen.add((unclear.key, other.key))
        told = (*known.get(other.key, ()), *_public_statements(resolution, other.key))
        found.append(
            NamePair(
                key=unclear.key,
                other=other.key,
                name=unclear.name,
                other_name=other.name,
                kind=other.kind,
                said=tuple(_public_statements(resolution, unclear.key))[:STATEMENTS],
                known=tuple(dict.fromkeys(told))[:STATEMENTS],
            )
        )
    return tuple(found)


def _public_statements(resolution: Resolution, key: str) -> Iterator[str]:
    for index, fact in enumerate(resolution.facts):
        if key in resolution.mentions.get(index, ()) and fact.privacy != "private":
            yield fact.text


def apply_identities(resolution: Resolution, decisions: Iterable[Identity]) -> Resolution:
    """The resolution with the decisions taken: links for what is the same, and no question left
    but where nobody was sure."""
    decided = {(one.key, one.other): one for one in decisions if one.verdict != "unsure"}
    same: dict[str, Identity] = {}
    links: dict[str, str] = {}
    unclear: list[AmbiguousName] = []
    for doubt in resolution.unclear:
        one = decided.get((doubt.key or "", doubt.candidates[0].key))
        if one is None:
            unclear.append(doubt)
        elif one.verdict == "same" and _follow_links(one.key, links) != _follow_links(
            one.other, links
        ):
            if one.key in links:
                unclear.append(doubt)  # then two who were known were one, too
            else:
                links[one.key], same[one.key] = one.other, one
    # What was known of an entity before stands under its own key until its link is written: what
    # is new of it is compared with that.
    known = {one.key for one in resolution.unclear if one.was_known}
    moved = {key: _follow_links(key, links) for key in links if key not in known}
    facts = tuple(
        replace(fact, claims=tuple(_relink_claim(claim, moved) for claim in fact.claims))
        for fact in resolution.facts
    )
    own = {
        index: written
        for index, fact in enumerate(resolution.facts)
        if (written := _own(fact, resolution.own.get(index, {}), moved))
    }
    return replace(
        resolution,
        facts=facts,
        changes=(
            *resolution.changes,
            *(
                LinkEntities(
                    key=key,
                    same_as=_follow_links(key, links),
                    reason=f"a model: {same[key].reason}"
                    if same[key].reason
                    else "a model says so",
                )
                for key in links
            ),
        ),
        unclear=tuple(unclear),
        own=own,
        speakers={who: moved.get(key, key) for who, key in resolution.speakers.items()},
    )


def _follow_links(key: str, links: Mapping[str, str]) -> str:
    while key in links:
        key = links[key]
    return key


def _relink_claim(claim: Claim, moved: Mapping[str, str]) -> Claim:
    return replace(
        claim,
        subject=moved.get(claim.subject, claim.subject),
        object=moved.get(claim.object, claim.object) if claim.object_is_entity else claim.object,
    )


def _own(fact: Fact, own: Mapping[str, str], moved: Mapping[str, str]) -> dict[str, str]:
    """`Resolution.own` of a fact whose claims are moved."""
    ends = {
        key
        for claim in fact.claims
        for key in (claim.subject, claim.object if claim.object_is_entity else claim.subject)
    }
    written = {moved[key]: key for key in sorted(ends) if key in moved}
    return written | {moved.get(key, key): one for key, one in own.items()}


MAX_CHARACTERS = 300
"""Of a statement, shown to a model."""
REASON_CHARACTERS = 120
"""Of the reason it gives, kept."""


class NameJudge(Protocol):
    """Decides pairs of names. Never raises for a model that fails."""

    def judge(self, pairs: Sequence[NamePair]) -> Identities: ...

    async def ajudge(self, pairs: Sequence[NamePair]) -> Identities: ...


class AnswerName(BaseModel):
    pair: int
    verdict: SameName
    reason: ShortText = Field(default="", description="at most eight words")


class AnswerNames(BaseModel):
    """Verdicts on pairs of names."""

    verdicts: list[AnswerName]


class ModelNameJudge:
    """Asks a model about all pairs at once, and once more if its answer cannot be used; of those it
    calls the same once more with the names of each exchanged, since a link is made at once. What it
    leaves out, decides otherwise then, or decides alike for all of several pairs is left to a person,
    as is everything where it fails. A small model is not asked: a sister and a colleague are the same
    to it.

    Args:
        model: any LangChain chat model.
        method: how it is held to the answer's form; None picks what the model has.
    """

    def __init__(self, model: BaseChatModel, *, method: Method | None = None) -> None:
        self._asker = asker_of_pairs(model, AnswerNames, method)
        self._is_small = form_of(model) == "small"

    def _judge(self, pairs: Sequence[NamePair]) -> Steps[Identities]:
        if not pairs or self._is_small:
            return Identities()
        calls = 0
        try:
            answered = yield from self._asker(len(pairs)).asked(_question(pairs))
            calls, given = answered.calls, answered.value
            verdicts = without_constant({number: one.verdict for number, one in given.items()})
            found = {number: given[number] for number in verdicts if number <= len(pairs)}
            same = [number for number, one in found.items() if one.verdict == "same"]
            if same:
                turned = [_turned(pairs[number - 1]) for number in same]
                again = yield from self._asker(len(turned)).asked(_question(turned))
                calls += again.calls
                for place, number in enumerate(same, start=1):
                    if place not in again.value or again.value[place].verdict != "same":
                        del found[number]
        except ExtractionError as error:
            return Identities(model_calls=calls + error.model_calls, failure=str(error))
        except ModelUnavailableError as error:
            return Identities(model_calls=calls + 1, failure=str(error))
        decisions = tuple(
            Identity(
                key=pair.key,
                other=pair.other,
                verdict=one.verdict,
                reason=one_line(one.reason)[:REASON_CHARACTERS],
            )
            for number, pair in enumerate(pairs, start=1)
            if (one := found.get(number)) is not None
        )
        return Identities(decisions=decisions, model_calls=calls)

    judge, ajudge = blocking(_judge), awaiting(_judge)


_Read = dict[int, Given[SameName]]


def _turned(pair: NamePair) -> NamePair:
    """A pair with its names exchanged."""
    return replace(
        pair, name=pair.other_name, other_name=pair.name, said=pair.known, known=pair.said
    )


def _question(pairs: Sequence[NamePair]) -> Question[_Read]:
    shown = "\n\n".join(
        f"Pair {number} ({one_line(pair.kind)}):\n"
        f"NEW {_describe_name(pair.name, pair.said)}\nKNOWN {_describe_name(pair.other_name, pair.known)}"
        for number, pair in enumerate(pairs, start=1)
    )
    return Question(
        messages=(SystemMessage(prompt("names")), HumanMessage(shown)),
        read=lambda answer: verdicts_in(answer, get_args(SameName)),
    )


def _describe_name(name: str, statements: Sequence[str]) -> str:
    said = [line for text in statements for line in quoted_lines(text[:MAX_CHARACTERS])]
    return "\n".join(["name:", *quoted_lines(name), "said:" if said else "said: nothing", *said])
