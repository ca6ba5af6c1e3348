"""Questions that a reflection leaves to a person, each with the changes that answer it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from langmemory.changes import (
    AddMemory,
    Change,
    Facets,
    LinkEntities,
    Merge,
    OpenReview,
    SetStatus,
    WithdrawReview,
)
from langmemory.formation.batch import owner_of
from langmemory.formation.contradiction.comparable import fact_key
from langmemory.formation.contradiction.pairs import Pair
from langmemory.formation.entities.resolution import AmbiguousName
from langmemory.formation.planning.comparison import supersedes_known, which_holds
from langmemory.formation.planning.consequences import question_id
from langmemory.formation.planning.outcome import Outcome
from langmemory.formation.planning.writing import edges
from langmemory.pluralize import count_noun
from langmemory.ports.facts import CoreSuggestion, digest
from langmemory.types import Entity, Namespace

Options = dict[str, tuple[Change, ...]]


def undecided_reviews(outcome: Outcome) -> Iterator[OpenReview]:
    """Pairs nobody decided, of facts that do not wait anyway."""
    for one in outcome.pairs:
        pair = one.pair
        waits = outcome.waits(pair.new.key) or outcome.waits(pair.old.key)
        if one.verdict == "unclear" and not waits and not pair.old.past:
            rest = _residual_changes(outcome, pair, supersedes_known(pair))
            yield which_holds(outcome.batch.namespace, pair, rest)


def approvals(outcome: Outcome) -> Iterator[OpenReview]:
    """Facts that wait. Approved, they do to others what they would have done."""
    for key, against in outcome.against.items():
        if against is None:
            continue
        active = SetStatus(key=key, status="active")
        pairs = [
            (one.pair, change)
            for one in outcome.pairs
            if one.pair.new.key == key
            and (one.verdict == "supersedes" or one.pair.old.protected)
            and (change := outcome.supersede(one.pair)) is not None
        ]
        gone = {change.key: change for _, change in pairs}
        rest = (each for pair, one in pairs for each in _residual_changes(outcome, pair, one))
        options: Options = {"approve": (active, *rest, *gone.values())}
        if gone:
            options["both"] = (active,)
        options["reject"] = (SetStatus(key=key, status="archived"),)
        yield OpenReview(
            id=_id(outcome, "approval", key),
            about="approval",
            question=f"May this be believed? It {against.says}.",
            memories=(key, *gone),
            options=options,
        )


def confirmed(outcome: Outcome) -> Iterator[Change]:
    """Merge what a model alone read into what was said again, and ask nobody about it any more."""
    for key, waiting in outcome.confirmed():
        yield Merge(key=key, others=(waiting,), reason="said again")
        yield WithdrawReview(id=_id(outcome, "approval", waiting), reason="said again")


def names(outcome: Outcome) -> Iterator[OpenReview]:
    """Names that may mean somebody known."""
    keys = [fact_key(fact) for fact in outcome.resolution.facts]
    for unclear in outcome.resolution.unclear:
        fact = keys[unclear.fact]
        if fact in outcome.facts:
            question, options = _who(unclear, fact)
            because = (
                one
                for one in unclear.because
                if one in outcome.facts or outcome.knowledge.by_key(one)
            )
            yield OpenReview(
                id=name_question(outcome.batch.namespace, unclear.key or fact, unclear.candidates),
                about="entity",
                question=question,
                memories=tuple(dict.fromkeys((fact, *because))),
                options=options,
            )


def name_question(namespace: Namespace, who: str, candidates: Iterable[Entity]) -> str:
    """Id of the question whom a name means, by the key of what stands for the name."""
    return question_id("entity", namespace, who, *(entity.key for entity in candidates))


def core(outcome: Outcome, suggestion: CoreSuggestion) -> OpenReview:
    """A line for a core block; accepted, it is a memory that is always disclosed."""
    key = f"core/{suggestion.block}/{digest(suggestion.text)}"
    found = (outcome.batch.turn(one) for one in suggestion.evidence)
    owner, private = owner_of([turn for turn in found if turn is not None]) or (None, True)
    value: dict[str, Any] = {"text": suggestion.text, "block": suggestion.block}
    if private:
        value |= {"owner": owner, "privacy": "private"}
    facets = Facets(
        owner=owner,
        privacy="private" if private else "shared",
        priority="mandate",
        status="active",
    )
    add = AddMemory(key=key, value=value, facets=facets, evidence=suggestion.evidence)
    return OpenReview(
        id=_id(outcome, "core", key),
        about="core",
        question=f"Should the block {suggestion.block!r} always say: {suggestion.text}",
        memories=suggestion.evidence,
        options={"add": (add,), "leave": ()},
    )


def whole_run(
    outcome: Outcome, failures: Sequence[str], held_back: Sequence[Change]
) -> OpenReview | None:
    """Whether to believe a run of which a step failed; None where it learned nothing."""
    approved = [key for key in outcome.facts if not outcome.waits(key)]
    if not approved and not held_back:
        return None
    graduate = (SetStatus(key=key, status="active") for key in approved)
    return OpenReview(
        id=_id(outcome, "run", outcome.batch.thread_id, *(t.key for t in outcome.batch.turns)),
        about="run",
        question=(
            f"Steps of this reflection failed ({'; '.join(failures)}). "
            f"Should its {count_noun(len(approved), 'fact')} be believed all the same?"
        ),
        memories=tuple(approved) or tuple(turn.key for turn in outcome.batch.turns),
        options={
            "believe": (*graduate, *held_back),
            "drop": tuple(SetStatus(key=key, status="archived") for key in approved),
        },
    )


def _id(outcome: Outcome, about: str, *parts: str) -> str:
    return question_id(about, outcome.batch.namespace, *parts)


def _residual_changes(outcome: Outcome, pair: Pair, change: Change) -> Iterator[Change]:
    """Memories for the residual claims of the known fact of a pair, when it is superseded."""
    if getattr(change, "key", None) == pair.old.key:
        rest = dict(outcome.rest(pair.old, change, set(pair.new.claims)))
        yield from outcome.rest_memories(rest)


def _who(unclear: AmbiguousName, fact: str) -> tuple[str, Options]:
    if unclear.key is not None:
        other = unclear.candidates[0]
        same = LinkEntities(key=unclear.key, same_as=other.key)
        if unclear.who:
            one, two = unclear.who[other.key], unclear.who[unclear.key]
            question = f"Are these one person: {other.name}, {one}, and {unclear.name}, {two}?"
            return question, {"same": (same,), "different": ()}
        question = f"Is {unclear.name!r} the same as {other.name!r} ({other.kind})?"
        return question, {"same": (same,), "different": ()}
    options: Options = {
        entity.key: tuple(edges(fact, unclear.claims[entity.key], {}))
        for entity in unclear.candidates
    }
    told = "".join(f" {key} is {who}." for key, who in unclear.who.items())
    return f"Who is meant by {unclear.name!r}?{told}", options | {"none": ()}
