"""Whether two names are one, asked of a model: all pairs of a batch in one question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from langmemory.context.escape import one_line, quoted_lines
from langmemory.errors import ExtractionError, ModelUnavailableError
from langmemory.formation.asking.asker import (
    Answered,
    Asker,
    Method,
    Question,
)
from langmemory.formation.asking.verdicts import Given, verdicts_in
from langmemory.formation.entities.identity import Identities, Identity, NamePair, SameName
from langmemory.formation.prompts import prompt
from langmemory.twins import Steps, awaiting, blocking

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
    reason: str = Field(default="", description="at most eight words")


class AnswerNames(BaseModel):
    """Verdicts on pairs of names."""

    verdicts: list[AnswerName]


class ModelNameJudge:
    """Asks a model about all pairs at once, and once more if its answer cannot be used. What it
    leaves out, or is not asked about because it fails, is left to a person.

    Args:
        model: any LangChain chat model; a small one will do.
        method: how it is held to the answer's form; None picks what the model has.
    """

    def __init__(self, model: BaseChatModel, *, method: Method | None = None) -> None:
        self._asker = Asker(model, AnswerNames.model_json_schema(), method=method)

    def _judge(self, pairs: Sequence[NamePair]) -> Steps[Identities]:
        if not pairs:
            return Identities()
        try:
            answered = yield from self._asker.asked(_question(pairs))
        except ExtractionError as error:
            return Identities(model_calls=error.model_calls, failure=str(error))
        except ModelUnavailableError as error:
            return Identities(model_calls=1, failure=str(error))
        return _decided(pairs, answered)

    judge, ajudge = blocking(_judge), awaiting(_judge)


_Read = dict[int, Given[SameName]]


def _question(pairs: Sequence[NamePair]) -> Question[_Read]:
    shown = "\n\n".join(
        f"Pair {number} ({one_line(pair.kind)}):\n"
        f"NEW {_shown(pair.name, pair.said)}\nKNOWN {_shown(pair.other_name, pair.known)}"
        for number, pair in enumerate(pairs, start=1)
    )
    return Question(
        messages=(SystemMessage(prompt("names")), HumanMessage(shown)),
        read=lambda answer: verdicts_in(answer, get_args(SameName)),
    )


def _shown(name: str, statements: Sequence[str]) -> str:
    said = [line for text in statements for line in quoted_lines(text[:MAX_CHARACTERS])]
    return "\n".join(["name:", *quoted_lines(name), "said:" if said else "said: nothing", *said])


def _decided(pairs: Sequence[NamePair], answered: Answered[_Read]) -> Identities:
    return Identities(
        decisions=tuple(
            Identity(
                key=pair.key,
                other=pair.other,
                verdict=given.verdict,
                reason=one_line(given.reason)[:REASON_CHARACTERS],
            )
            for number, pair in enumerate(pairs, start=1)
            if (given := answered.value.get(number)) is not None
        ),
        model_calls=answered.calls,
    )
