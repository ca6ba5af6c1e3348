"""Judges: what to make of facts that structure alone does not settle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel

from langmemory.chat_models import form_of
from langmemory.context.marking import quoted_lines
from langmemory.errors import ExtractionError, ModelUnavailableError
from langmemory.formation.asking.asker import Method, Question
from langmemory.formation.asking.json_answers import BadAnswerError
from langmemory.formation.asking.verdicts import asker_of_pairs, verdicts_in, without_constant
from langmemory.formation.contradiction.comparable import BEGINNING, END, ComparableFact
from langmemory.formation.contradiction.pairs import Group, Pair, Verdict, speaks_of_change
from langmemory.formation.prompts import prompt
from langmemory.formation.wording import missing_words, wording
from langmemory.steps import Steps, awaiting, blocking

MAX_CHARACTERS = 600
"""Of a statement, shown to a judge."""
SAME_WORDS = 0.5
"""Share of words of statements that differ in a number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """The verdict on a pair."""

    pair: Pair
    verdict: Verdict
    by: Literal["structure", "model"] | None
    """None: nobody decided, so it is as the pair says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdicts:
    """A group, decided."""

    group: Group
    decisions: tuple[Decision, ...]
    """One a pair, in the group's order."""
    model_calls: int = 0
    failure: str | None = None
    """Why the model could not be asked; what it was to decide is unclear then."""
    problem: str | None = None
    """Why its answer could not be understood, with the same consequence."""


class Judge(Protocol):
    """Decides the pairs of a group. Never raises for a model that fails."""

    def judge(self, group: Group) -> Verdicts: ...

    async def ajudge(self, group: Group) -> Verdicts: ...


class StructuralJudge:
    """Leaves open what structure leaves open."""

    def judge(self, group: Group) -> Verdicts:
        return apply_verdicts(group, {})

    async def ajudge(self, group: Group) -> Verdicts:
        return self.judge(group)


class AnswerVerdict(BaseModel):
    pair: int
    verdict: Verdict


class AnswerVerdicts(BaseModel):
    """Verdicts on pairs of statements."""

    verdicts: list[AnswerVerdict]


class ModelJudge:
    """Asks a model, once for each group that structure leaves something open of; about a single pair
    once more with its statements in the other order, since small models answer the same to everything.
    Verdicts that differ then, or are all the same of several pairs, are none.

    A small model is believed that a statement replaces another only where words tell of a change: one that
    calls everything a change would hide all that was said before.

    An answer that cannot be read is not asked for again: what is unclear becomes a question to a
    person, which costs less than a wrong verdict.

    Args:
        model: any LangChain chat model.
        method: how it is held to the answer's form; None picks what the model has.
    """

    def __init__(self, model: BaseChatModel, *, method: Method | None = None) -> None:
        self._asker = asker_of_pairs(model, AnswerVerdicts, method)
        self._is_small = form_of(model) == "small"

    def _judge(self, group: Group) -> Steps[Verdicts]:
        if not group.open:
            return apply_verdicts(group, {})
        calls, read = 0, list[_Read]()
        for turned in (False, True) if len(group.open) == 1 else (False,):
            try:
                asker = self._asker(len(group.open))
                answered = yield from asker.asked(_question(group, turned=turned))
            except (ModelUnavailableError, ExtractionError) as error:
                return replace(apply_verdicts(group, {}), model_calls=calls + 1, failure=str(error))
            calls += answered.calls
            read.append(answered.value)
        first, last = read[0][0], read[-1][0]
        verdicts = {number: one for number, one in first.items() if last.get(number) == one}
        found = apply_verdicts(
            group, without_constant(verdicts), answered=True, by_small=self._is_small
        )
        problem = next((problem for _, problem in read if problem is not None), None)
        return replace(found, model_calls=calls, problem=problem)

    judge, ajudge = blocking(_judge), awaiting(_judge)


def apply_verdicts(
    group: Group,
    verdicts: Mapping[int, Verdict],
    *,
    answered: bool = False,
    by_small: bool = False,
) -> Verdicts:
    """The group with verdicts on its open pairs, numbered from 1, as far as their words bear them. Without
    one a pair is what it says, unclear as a rule; of what a model was asked and gave no answer to, it always
    is. One that a small model gives has to be borne by more, see `_words_bear`."""
    decisions: list[Decision] = []
    number = 0
    for pair in group.pairs:
        if pair.verdict is not None:
            decisions.append(Decision(pair=pair, verdict=pair.verdict, by="structure"))
            continue
        number += 1
        verdict = verdicts.get(number)
        if verdict is not None and not _words_bear(pair, verdict, by_small=by_small):
            verdict = None
        undecided = "unclear" if answered else pair.undecided
        decisions.append(
            Decision(pair=pair, verdict=verdict or undecided, by="model" if verdict else None)
        )
    return Verdicts(group=group, decisions=tuple(decisions))


def _words_bear(pair: Pair, verdict: Verdict, *, by_small: bool) -> bool:
    """Whether the words of a pair bear the verdict of a model: small ones say the same of every pair.

    Both hold, or have nothing to do with each other, only where no word says that something changed and
    neither denies what the other says. What is taken for a repetition would be lost: its numbers and dates,
    and half of its words, are those of the old statement. That one replaces the other a small model is
    believed where a word says that something changed, one denies just what the other says, or the same is
    said with another number or date.
    """
    new = wording(pair.new.text, pair.new.language)
    old = wording(pair.old.text, pair.old.language)
    if verdict == "duplicate":
        repeated = 2 * len(new.words - old.words) <= len(new.words)
        return repeated and new.numbers <= old.numbers and new.dates <= old.dates
    changed = any(map(speaks_of_change, (pair.new, pair.old)))
    if verdict in ("both_true", "unrelated"):
        return not changed and new.negated == old.negated
    if changed or not (by_small and verdict == "supersedes"):
        return True
    exact = new.numbers | new.dates, old.numbers | old.dates
    if all(exact) and exact[0] != exact[1] and new.overlap(old) >= SAME_WORDS:
        return True
    others = missing_words(new.words, old.words) or missing_words(old.words, new.words)
    return new.negated != old.negated and not others


_Read = tuple[Mapping[int, Verdict], str | None]
"""Verdicts by number, and what was wrong with the answer."""


def _question(group: Group, *, turned: bool = False) -> Question[_Read]:
    """The question about the open pairs; ``turned``, the old statement of each stands first."""
    shown: list[str] = []
    for number, pair in enumerate(group.open, start=1):
        both = [f"NEW {_describe_statement(pair.new)}", f"OLD {_describe_statement(pair.old)}"]
        shown.append("\n".join([f"Pair {number}:", *(reversed(both) if turned else both)]))
    messages = (SystemMessage(prompt("judge")), HumanMessage("\n\n".join(shown)))
    return Question(messages=messages, read=_read)


def _describe_statement(statement: ComparableFact) -> str:
    since = "" if statement.start == BEGINNING else f" since {statement.start.date()}"
    until = "" if statement.end == END else f" until {statement.end.date()}"
    head = f"(holds{since}{until}; said {statement.said_at.date()})"
    return "\n".join([head, *quoted_lines(statement.text[:MAX_CHARACTERS])])


def _read(answer: str) -> _Read:
    """The verdicts that make sense."""
    try:
        found = verdicts_in(answer, get_args(Verdict))
    except BadAnswerError as error:
        return {}, f"the judge's answer cannot be used: {error}"
    return {number: given.verdict for number, given in found.items()}, None
