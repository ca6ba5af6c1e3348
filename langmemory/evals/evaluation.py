"""Run systems over a corpus and score what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter

from langmemory.context.tokens import count_text
from langmemory.evals.corpus import Corpus, Question
from langmemory.evals.metrics import BUDGET_TOKENS, DEPTHS, score
from langmemory.evals.report import Granularity, Outcome, Report, Split, SystemReport, summarise
from langmemory.evals.systems import Found, System, SystemFactory, SystemUnavailableError

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
    progress: Progress | None = None,
) -> Report:
    """Give every system the whole corpus, ask every question, and score the rankings.

    Each system is opened fresh, so that the order of evaluation does not matter. A system that
    cannot run here is part of the report, with the reason.

    Args:
        corpus: see `load`.
        systems: factories by the name the report shows; all are compared with the first.
        ablations: variants of the first system, reported next to the others.
        granularity: "session" ranks each session by its best turn.
        progress: told about every question.
    """

    def run(factories: Mapping[str, SystemFactory]) -> tuple[SystemReport, ...]:
        return tuple(
            _run(corpus, name, factory, granularity, progress)
            for name, factory in factories.items()
        )

    return Report(
        corpus=corpus.name,
        granularity=granularity,
        conversations=len(corpus.conversations),
        turns=sum(len(conversation.turns) for conversation in corpus.conversations),
        questions=len(corpus.scored),
        unanswerable=tuple(q.id for q in corpus.questions if not q.evidence),
        missing_evidence={q.id: q.missing for q in corpus.questions if q.missing},
        tuning=tuple(c.id for c in corpus.conversations if c.id in corpus.tuning),
        systems=run(systems),
        ablations=run(ablations or {}),
    )


def _run(
    corpus: Corpus,
    name: str,
    factory: SystemFactory,
    granularity: Granularity,
    progress: Progress | None,
) -> SystemReport:
    try:
        system = factory()
    except SystemUnavailableError as reason:
        return SystemReport(name=name, unavailable=str(reason))
    try:
        started = perf_counter()
        for conversation in corpus.conversations:
            system.ingest(conversation)
        ingest_seconds = perf_counter() - started
        outcomes = _ask(
            corpus, system, granularity, lambda n, of: progress and progress(name, n, of)
        )
    finally:
        system.close()
    return SystemReport(
        name=name,
        outcomes=outcomes,
        groups=summarise(outcomes, corpus.categories),
        ingest_seconds=ingest_seconds,
    )


def _ask(
    corpus: Corpus,
    system: System,
    granularity: Granularity,
    progress: Callable[[int, int], object],
) -> tuple[Outcome, ...]:
    questions = corpus.scored
    of_turns = granularity == "turn"
    sessions = {c.id: {} if of_turns else c.session_of for c in corpus.conversations}
    depth = max(DEPTHS) if of_turns else SESSION_TURNS
    if questions:  # what the first search loads or builds is not the price of a search
        system.search(questions[0], depth)
    outcomes = []
    for number, question in enumerate(questions, start=1):
        started = perf_counter()
        found = system.search(question, depth)
        milliseconds = (perf_counter() - started) * 1000
        name, evidence = _units(question, sessions[question.conversation])
        ranking = _distinct(name(turn) for one in found for turn in one.turns)[: max(DEPTHS)]
        read = {name(turn) for one in _within(found, BUDGET_TOKENS) for turn in one.turns}
        outcomes.append(
            Outcome(
                question=question.id,
                category=question.category,
                split=_split(corpus, question),
                ranking=ranking,
                scores=score(ranking, evidence, read),
                milliseconds=milliseconds,
            )
        )
        progress(number, len(questions))
    return tuple(outcomes)


def _units(
    question: Question, session_of: Mapping[str, str]
) -> tuple[Callable[[str], str], Mapping[str, float]]:
    """What is ranked, by turn, and the evidence in it: turns, or the sessions of these turns."""
    if not session_of:
        return str, question.evidence
    gains: dict[str, float] = {}
    for turn, gain in question.evidence.items():
        gains[session_of[turn]] = max(gain, gains.get(session_of[turn], 0.0))
    return session_of.__getitem__, gains


def _within(found: Sequence[Found], budget_tokens: int) -> Iterator[Found]:
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
