"""Answers, not only evidence: a model reads what each system finds and answers, and a model judges it.

Every system hands over what its search finds first, up to one number of tokens. So only what was found
differs, never how it is written. Beside the systems stands the conversation itself, as much of its end as
the reader takes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, Literal
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import LLMResult

from langmemory.answers import answer_text
from langmemory.chat_models import bounded
from langmemory.errors import ConfigError, ModelUnavailableError
from langmemory.languages import split_words
from langmemory.parts.evals.corpus import APART, Conversation, Corpus, Question
from langmemory.parts.evals.evaluation import Progress, portions, within
from langmemory.parts.evals.metrics import BUDGET_TOKENS
from langmemory.parts.evals.systems import (
    SearchHit,
    System,
    SystemFactory,
    SystemUnavailableError,
    with_speaker,
)

FULL_CONTEXT: Final = "full context"
"""The name of what reads the conversation itself."""
FULL_TOKENS: Final = 16_000
"""Of a conversation that is read whole, counted from its end."""
DEPTH: Final = 50
"""Results asked of a search: more than `BUDGET_TOKENS` have room for."""
ANSWER_TOKENS: Final = 200
READ: Final = """Answer the question from these notes of past conversations. \
Answer in a few words. If the notes do not tell, say that you do not know.

{notes}

Question{when}: {question}
Answer:"""
JUDGE: Final = """Does the answer say the same as the right answer? It may use other words and say more. \
Reply with one word: yes or no.

Question: {question}
Right answer: {right}
Answer: {answer}
Same:"""
_VERDICT: Final = re.compile(r"\b(yes|no)\b", re.IGNORECASE)

Verdict = Literal["right", "wrong", "unclear"]


@dataclass
class Cost(BaseCallbackHandler):
    """Counts what a model is asked, where it is among its callbacks."""

    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    failures: int = 0
    seconds: float = 0.0

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        self.calls += 1
        used = getattr(response.generations[0][0], "message", AIMessage("")).usage_metadata or {}
        self.prompt_tokens += used.get("input_tokens", 0)
        self.answer_tokens += used.get("output_tokens", 0)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.calls += 1
        self.failures += 1

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """One question that was answered."""

    question: str
    category: str
    answer: str
    verdict: Verdict
    overlap: float
    """See `word_overlap`; 0..1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemAnswers:
    """What a reader answered from what one system finds."""

    name: str
    unavailable: str | None = None
    answered: tuple[Answered, ...] = ()
    cost: Cost = field(default_factory=Cost)
    """Of search and reader, without the judge. Tokens are 0 where the model does not report them."""
    judging: Cost = field(default_factory=Cost)
    """Of the judge, without its time."""

    def share(self, verdict: Verdict, category: str | None = None) -> float:
        """The share of the questions, of one category or all, with a verdict."""
        verdicts = [one.verdict for one in self.answered if category in (None, one.category)]
        return verdicts.count(verdict) / len(verdicts) if verdicts else 0.0

    @property
    def overlap(self) -> float:
        """The mean overlap of words with the right answers, 0..1."""
        return sum(one.overlap for one in self.answered) / max(1, len(self.answered))


class FullContext:
    """Hands over the end of the conversation, whatever is asked."""

    def __init__(self) -> None:
        self._turns: dict[str, list[SearchHit]] = {}

    def ingest(self, conversation: Conversation) -> None:
        self._turns[conversation.id] = [
            SearchHit((turn.id,), with_speaker(turn.speaker, turn.text))
            for turn in conversation.turns
        ]

    def search(self, question: Question, k: int) -> list[SearchHit]:
        """Every turn, the last first."""
        return self._turns[question.conversation][::-1]

    def close(self) -> None: ...


def answer(
    corpus: Corpus,
    systems: Mapping[str, SystemFactory],
    reader: BaseChatModel,
    judge: BaseChatModel | None = None,
    *,
    full_tokens: int = FULL_TOKENS,
    progress: Progress | None = None,
) -> tuple[SystemAnswers, ...]:
    """Let a model answer every question whose right answer is known, once from what each system finds.

    Args:
        corpus: see `load`. Questions without a true answer (`APART`) are left out.
        systems: factories by the name that is shown; `FULL_CONTEXT` is added.
        reader: answers.
        judge: says whether an answer is right; the reader where none is given.
        full_tokens: of the conversation that `FULL_CONTEXT` hands over, at most; 0 leaves it out.
        progress: told when a system begins, and about every question.

    Raises:
        ConfigError: no question of the corpus has a right answer.
    """
    asked = [one for one in corpus.questions if one.answers and one.category not in APART]
    if not asked:
        raise ConfigError(
            f"no question of {corpus.name} has a right answer: give each an 'answer', or leave out --answers"
        )
    factories: dict[str, SystemFactory] = dict(systems)
    if full_tokens:
        factories[FULL_CONTEXT] = FullContext
    return tuple(
        _answer(
            corpus,
            asked,
            name,
            factory,
            bounded(reader, ANSWER_TOKENS),
            bounded(judge or reader, ANSWER_TOKENS),
            full_tokens if name == FULL_CONTEXT else BUDGET_TOKENS,
            progress or (lambda name, done, total: None),
        )
        for name, factory in factories.items()
    )


def _answer(
    corpus: Corpus,
    asked: Sequence[Question],
    name: str,
    factory: SystemFactory,
    reader: BaseChatModel,
    judge: BaseChatModel,
    tokens: int,
    progress: Progress,
) -> SystemAnswers:
    progress(name, 0, len(asked))
    cost, judging = Cost(), Cost()
    answered: list[Answered] = []
    for conversations, questions in portions(corpus):
        chosen = [one for one in questions if one in asked]
        if not chosen:
            continue
        try:
            system = factory()
        except SystemUnavailableError as reason:
            return SystemAnswers(name=name, unavailable=str(reason))
        try:
            for conversation in conversations:
                system.ingest(conversation)
            notes = _notes_of(system, conversations, tokens)
            for question in chosen:
                begun = monotonic()
                when = f" (asked on {question.at:%Y-%m-%d})" if question.at else ""
                prompt = READ.format(notes=notes(question), when=when, question=question.text)
                given = _asked(reader, prompt, cost)
                cost.seconds += monotonic() - begun
                answered.append(
                    Answered(
                        question=question.id,
                        category=question.category,
                        answer=given or "",
                        verdict="unclear"
                        if given is None
                        else _judged(judge, question, given, judging),
                        overlap=max(word_overlap(given or "", one) for one in question.answers),
                    )
                )
                progress(name, len(answered), len(asked))
        finally:
            system.close()
    return SystemAnswers(name=name, answered=tuple(answered), cost=cost, judging=judging)


def _notes_of(
    system: System, conversations: Sequence[Conversation], tokens: int
) -> Callable[[Question], str]:
    """Return what a reader is shown: what the system finds, each with its day, the earliest first."""
    place = {
        (conversation.id, turn.id): (number, session.at)
        for conversation in conversations
        for number, (session, turn) in enumerate(
            (session, turn) for session in conversation.sessions for turn in session.turns
        )
    }

    def notes(question: Question) -> str:
        lines = []
        for hit in within(system.search(question, DEPTH), tokens):
            number, at = place[question.conversation, hit.turns[0]] if hit.turns else (-1, None)
            lines.append((number, f"[{at:%Y-%m-%d}] {hit.text}" if at else hit.text))
        return "\n".join(line for _, line in sorted(lines))

    return notes


def _asked(model: BaseChatModel, prompt: str, cost: Cost) -> str | None:
    """Return what a model answers; None where it failed, though it answered before.

    Raises:
        ModelUnavailableError: It never answered.
    """
    try:
        return answer_text(model.invoke(prompt, {"callbacks": [cost]})).strip()
    except Exception as error:
        if cost.calls > cost.failures:
            return None
        raise ModelUnavailableError(
            f"the model does not answer: {error}. Check that its server runs and that its name is right"
        ) from error


def _judged(judge: BaseChatModel, question: Question, given: str, judging: Cost) -> Verdict:
    if not given:
        return "wrong"
    right = " / ".join(question.answers)
    prompt = JUDGE.format(question=question.text, right=right, answer=given)
    verdict = _asked(judge, prompt, judging) or ""
    found = {one.casefold() for one in _VERDICT.findall(verdict)}
    return "unclear" if len(found) != 1 else "right" if found == {"yes"} else "wrong"


def word_overlap(answer: str, right: str) -> float:
    """F1 of the words of two answers, 0..1, without regard to order (Rajpurkar et al. 2016)."""
    given, wanted = Counter(split_words(answer)), Counter(split_words(right))
    common = (given & wanted).total()
    return 2 * common / (given.total() + wanted.total()) if common else 0.0
