"""Run systems over a corpus and score what they find."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter

from langmemory.context.tokens import count_text
from langmemory.parts.evals.corpus import Conversation, Corpus, Question
from langmemory.parts.evals.metrics import BUDGET_TOKENS, DEPTHS, leads, score
from langmemory.parts.evals.prompts import PromptOutcome, prompt_figures, prompt_outcomes
from langmemory.parts.evals.report import Outcome, Report, Split, SystemReport, summarise
from langmemory.parts.evals.systems import (
    BlockSystem,
    SearchHit,
    System,
    SystemFactory,
    SystemUnavailableError,
)
from langmemory.types import Granularity

SESSION_TURNS = 50
"""How many turns a ranking of sessions is made from; 100 find no more of them (measured)."""

Progress = Callable[[str, int, int], None]
"""Called with the system's name, questions asked so far, and questions in all."""


def evaluate(
    corpus: Corpus,
    systems: Mapping[str, SystemFactory],
    *,
    ablations: Mapping[str, SystemFactory] | None = None,
    granularity: Granularity = "turn",
    asked_before: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Give every system the whole corpus, ask every question, and score the rankings.

    Each system is opened fresh, so that the order of evaluation does not matter, and for each
    conversation where these are isolated. A system that cannot run here is part of the report,
    with the reason.

    Args:
        corpus: see `load`.
        systems: factories by the name the report shows; all are compared with the first.
        ablations: variants of the first system, reported next to the others.
        granularity: "session" ranks each session by its best turn.
        asked_before: run every system again on `Corpus.asked_before`, reported as a system of its own.
        progress: told when a system begins, and about every question.
    """

    asked = corpus if granularity == "turn" else corpus.of_sessions()

    def run(
        corpus: Corpus, factories: Mapping[str, SystemFactory], *, blocks: bool = True
    ) -> tuple[SystemReport, ...]:
        return tuple(
            _run(corpus, name, factory, granularity, blocks, progress)
            for name, factory in factories.items()
        )

    compared = run(asked, systems)
    if asked_before:
        again = {f"{name}, asked before": factory for name, factory in systems.items()}
        compared += run(asked.asked_before(), again)

    return Report(
        corpus=corpus.name,
        granularity=granularity,
        conversations=len(corpus.conversations),
        turns=sum(len(conversation.turns) for conversation in corpus.conversations),
        questions=len(asked.scored),
        unanswerable=tuple(q.id for q in asked.questions if not q.evidence and not q.label),
        known_by_session=sum(1 for q in asked.questions if q.sessions and not q.evidence),
        missing_evidence={q.id: q.missing for q in asked.questions if q.missing},
        tuning=tuple(c.id for c in corpus.conversations if c.id in corpus.tuning),
        systems=compared,
        ablations=run(asked, ablations or {}, blocks=False),
    )


def _run(
    corpus: Corpus,
    name: str,
    factory: SystemFactory,
    granularity: Granularity,
    blocks: bool,
    progress: Progress | None,
) -> SystemReport:
    total = len(corpus.scored)
    if progress:
        progress(name, 0, total)
    ingest_seconds = 0.0
    outcomes: list[Outcome] = []
    prompts: list[PromptOutcome] = []
    for conversations, questions in portions(corpus):
        try:
            system = factory()
        except SystemUnavailableError as reason:
            return SystemReport(name=name, unavailable=str(reason))
        try:
            started = perf_counter()
            for conversation in conversations:
                system.ingest(conversation)
            ingest_seconds += perf_counter() - started
            sessions = {c.id: c.session_of for c in conversations} if granularity != "turn" else {}
            scored = [question for question in questions if question.evidence]
            for outcome in _ask(corpus, scored, system, sessions):
                outcomes.append(outcome)
                if progress:
                    progress(name, len(outcomes), total)
            if blocks and isinstance(system, BlockSystem) and system.makes_blocks:
                prompts.extend(prompt_outcomes(questions, system))
        finally:
            system.close()
    return SystemReport(
        name=name,
        outcomes=tuple(outcomes),
        groups=summarise(outcomes, corpus.categories),
        ingest_seconds=ingest_seconds,
        prompts=prompt_figures(prompts) if prompts else None,
    )


def portions(
    corpus: Corpus,
) -> Iterator[tuple[Sequence[Conversation], Sequence[Question]]]:
    """Yield the conversations and questions for one system: all, or one conversation at a time."""
    if not corpus.isolated:
        yield corpus.conversations, corpus.questions
        return
    questions: dict[str, list[Question]] = defaultdict(list)
    for question in corpus.questions:
        questions[question.conversation].append(question)
    for conversation in corpus.conversations:
        asked = questions[conversation.id]
        if any(question.evidence or question.label for question in asked):
            yield (conversation,), asked


def _ask(
    corpus: Corpus,
    questions: Sequence[Question],
    system: System,
    sessions: Mapping[str, Mapping[str, str]],
) -> Iterator[Outcome]:
    """The outcomes of questions; with `sessions`, by turn, these are what is ranked."""
    depth = SESSION_TURNS if sessions else max(DEPTHS)
    if questions:  # what the first search loads or builds is not the price of a search
        system.search(questions[0], depth)
    for question in questions:
        started = perf_counter()
        found = system.search(question, depth)
        milliseconds = (perf_counter() - started) * 1000
        name = sessions[question.conversation].__getitem__ if sessions else str
        ranking = _distinct(name(turn) for one in found for turn in one.turns)[: max(DEPTHS)]
        read = {name(turn) for one in within(found, BUDGET_TOKENS) for turn in one.turns}
        yield Outcome(
            question=question.id,
            category=question.category,
            split=_split(corpus, question),
            ranking=ranking,
            scores=score(ranking, question.evidence, read),
            milliseconds=milliseconds,
            leads=leads(ranking, question.evidence, question.rivals) if question.rivals else None,
        )


def within(found: Sequence[SearchHit], budget_tokens: int) -> Iterator[SearchHit]:
    """The best results, up to the first that is too long for what is left."""
    left = budget_tokens
    for one in found:
        left -= count_text(one.text)
        if left < 0:
            return
        yield one


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _split(corpus: Corpus, question: Question) -> Split:
    if not corpus.tuning:
        return "all"
    return "tuning" if question.conversation in corpus.tuning else "held-out"
