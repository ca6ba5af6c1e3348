"""Forgetting, evaluated: what recall loses where a policy archives a part of the derived memories.

Conversations are replayed in order of time. Some questions are asked on the way: the evidence that
recall finds counts as cited and right. The others are the exam, asked of what a policy has left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product
from typing import Final, Literal

import numpy as np

from benchmarks.forgetting.orders import KEEP_ALL, ORDERS, RANDOM, SEEDS, Order, Situation, going
from langmemory.changes import ChangeSet, SetStatus
from langmemory.lifecycle.retention import classes
from langmemory.operations.maintaining import Maintaining
from langmemory.parts.evals.corpus import APART, Conversation, Corpus, Question
from langmemory.parts.evals.evaluation import Progress, within
from langmemory.parts.evals.metrics import BUDGET_TOKENS, WITHIN_BUDGET, leads
from langmemory.parts.evals.ours import FactsSystem
from langmemory.parts.evals.systems import SearchHit, with_speaker
from langmemory.ports.lifecycle import Aged
from langmemory.timestamps import EPOCH
from langmemory.types import Kind, RecallResult

BUDGETS: Final = (0.75, 0.5, 0.25)
"""Shares of the derived memories that are kept."""
DEPTH: Final = 40
"""Results that a block is made of, as `recall` with a budget takes."""
FIRST: Final = 10
DERIVED: Final[tuple[Kind, ...]] = ("semantic", "procedural", "archival")
SOON: Final = timedelta(minutes=1)
"""After a session its questions are asked; so long after the last question's time the exam begins."""
TIMELESS: Final = "timeless"

RECALL: Final = f"recall@{FIRST}"
FACTS: Final = "facts "
CURRENT: Final = "current first"
WRONG: Final = "wrongly archived"
WRONG_TIMELESS: Final = "timeless archived"
FIGURES: Final = (
    RECALL, WITHIN_BUDGET, FACTS + RECALL, FACTS + WITHIN_BUDGET, CURRENT, WRONG, WRONG_TIMELESS,
)  # fmt: skip
"""Names of the figures of a question, in the order of the table."""

ExamName = Literal["later", "mixed"]
"""Which questions are the exam: the later half by evidence date or ``Question.at``, or every second one of
that order. ``later`` favours keeping what is new, since no old memory is asked about."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What one policy at one budget came to in one question. None where a figure has no meaning."""

    question: Question
    figures: Mapping[str, float | None]


@dataclass(kw_only=True, slots=True)
class Exam:
    """All answers of one way to part the questions."""

    name: ExamName
    accesses: int = 0
    """Questions that were asked on the way."""
    cited: int = 0
    """Citations of derived memories in these."""
    derived: int = 0
    """Derived memories in all conversations at their end."""
    kept: dict[tuple[str, float], list[float]] = field(default_factory=lambda: defaultdict(list))
    """By policy and budget: the share of the derived memories that was kept, each time."""
    answers: dict[tuple[str, float], list[Answer]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By policy and budget, in the order of the exam."""


class AgeingSystem(FactsSystem):
    """`FactsSystem`, told one session after the other and asked at any time."""

    def told(self, conversation: Conversation) -> Iterator[int]:
        """Remember and reflect a conversation session by session; yield how many were, after each."""
        read = self.reader(conversation)
        for number, session in enumerate(conversation.sessions):
            self._remember(conversation, session, f"thread{number}")
            read(number, session)
            yield number + 1

    def recalled(
        self, question: Question, at: datetime, kinds: tuple[Kind, ...] | None = None
    ) -> Sequence[RecallResult]:
        """Return the first results for a question asked at a time."""
        return self._store.recall(
            question.text,
            self._keys.namespace(question.conversation),
            limit=DEPTH,
            preset=self._preset,
            kinds=kinds,
            now=at,
        ).results

    def found(
        self,
        question: Question,
        at: datetime,
        facts: Mapping[str, tuple[str, ...]],
        kinds: tuple[Kind, ...] | None = None,
    ) -> list[SearchHit]:
        """Return `recalled` by the turns that the results rest on; ``facts``: those of facts, by key."""
        namespace = self._keys.namespace(question.conversation)
        return [
            SearchHit(facts[one.memory.key], one.text, one.score)
            if one.memory.key in facts
            else self._keys.found(namespace, (one.memory.key,), with_speaker(one.speaker, one.text))
            for one in self.recalled(question, at, kinds)
        ]

    def cite(self, question: Question, at: datetime) -> int:
        """Ask a question; the evidence among its first results counts as cited and right.

        Returns:
            How many derived memories were cited.
        """
        namespace = self._keys.namespace(question.conversation)
        results = self.recalled(question, at)[:FIRST]
        cited = 0
        for one, found in zip(results, self._found(namespace, results), strict=True):
            right = not question.evidence.keys().isdisjoint(found.turns)
            cited += right and one.memory.kind in DERIVED
            self._store.admin.count_usage(
                [
                    {
                        "namespace": list(namespace),
                        "key": one.memory.key,
                        "loaded": 1,
                        "referenced": int(right),
                        "succeeded": int(right),
                        "read_tokens": 0,
                        "discovery_tokens": 0,
                        "matched": int(right),
                        "relevance": one.score if right else 0.0,
                        "cited_at_us": _microseconds(at),
                    }
                    if right
                    else {
                        "namespace": list(namespace),
                        "key": one.memory.key,
                        "loaded": 1,
                        "referenced": 0,
                        "succeeded": 0,
                        "read_tokens": 0,
                        "discovery_tokens": 0,
                    }
                ]
            )
        return cited

    def aged(
        self, conversation: Conversation
    ) -> tuple[Aged, dict[str, tuple[str, ...]], dict[str, str]]:
        """Return the derived memories that are not archived, and by key the turns that each rests on and what
        it says."""
        self._store.admin.usage()  # writes the counts
        namespace = self._keys.namespace(conversation.id)
        with Maintaining(self._store).view(namespace) as view:
            aged = view.aged()
            aged = aged.take(~aged.one_of(aged.status, "archived"))
            evidence = view.evidence(aged.ids)
            texts = {one.key: one.text for one in view.memories(aged.ids)}
        turns = {
            key: self._keys.turns(namespace, evidence.get(one, ()))
            for key, one in zip(aged.keys, aged.ids.tolist(), strict=True)
        }
        return aged, turns, texts

    def timeless(self, conversation: Conversation, aged: Aged) -> frozenset[str]:
        """Return the keys of the facts that state what does not change: by our rules, or by the label
        ``timeless`` of their note in the data. What stands beside such a fact in a turn is none."""
        noted = {
            note.text
            for session in conversation.sessions
            for note in session.observations
            if note.more.get(TIMELESS)
        }
        ruled = [key for key, one in zip(aged.keys, classes(aged), strict=True) if one == TIMELESS]
        with Maintaining(self._store).view(self._keys.namespace(conversation.id)) as view:
            told = [one.key for one in view.memories(aged.ids) if one.text in noted]
        return frozenset((*ruled, *told))

    def archive(self, conversation: Conversation, keys: Sequence[str], run: str) -> None:
        """Archive memories in one run."""
        self._store.changes.apply(
            ChangeSet(
                namespace=self._keys.namespace(conversation.id),
                run_id=run,
                kind="maintenance",
                reason="an evaluation of forgetting",
                changes=tuple(SetStatus(key=key, status="archived") for key in keys),
            )
        )

    def undo(self, run: str) -> None:
        """Take back what was archived."""
        self._store.changes.undo(run)


def evaluate_lifecycle(
    corpus: Corpus,
    *,
    exams: Sequence[ExamName] = ("later", "mixed"),
    budgets: Sequence[float] = BUDGETS,
    orders: Mapping[str, Order] = ORDERS,
    system: Callable[[], AgeingSystem] = AgeingSystem,
    progress: Progress | None = None,
) -> list[Exam]:
    """Replay a corpus, once for each way to part its questions, and examine every policy at every budget.

    Args:
        corpus: Dialogues; sessions without a time are taken in their order.
        exams: See `ExamName`.
        budgets: Shares of the derived memories that are kept, 0..1.
        orders: Which memories go first, by the name of the policy.
        system: Opens a fresh one for each conversation.
        progress: Told the exam's name, questions asked so far, and questions in all.
    """
    found = []
    for name in exams:
        exam = Exam(name=name)
        asked = {
            conversation.id: [
                one
                for one in corpus.scored
                if one.conversation == conversation.id and one.category not in APART
            ]
            for conversation in corpus.conversations
        }
        examination = _Examination(
            exam=exam,
            budgets=budgets,
            orders=orders,
            progress=progress,
            questions=sum(map(len, asked.values())),
        )
        for conversation in corpus.conversations:
            opened = system()
            try:
                examination.examine(opened, conversation, asked[conversation.id])
            finally:
                opened.close()
        found.append(exam)
    return found


def parted(
    name: ExamName, conversation: Conversation, questions: Sequence[Question]
) -> tuple[list[tuple[datetime, Question]], list[tuple[datetime, Question]]]:
    """Return the questions asked on the way and those of the exam, each with its time, in that order."""
    said_at = {
        turn.id: at + SOON
        for at, session in zip(_times(conversation), conversation.sessions, strict=True)
        for turn in session.turns
    }
    last = max(said_at.values())
    dated = [(one.at or max(said_at[turn] for turn in one.evidence), one) for one in questions]
    dated.sort(key=lambda pair: pair[0])
    half = len(dated) // 2
    early, late = (dated[:half], dated[half:]) if name == "later" else (dated[::2], dated[1::2])
    return early, [(one.at or last, one) for _, one in late]


def _times(conversation: Conversation) -> list[datetime]:
    """When each session began; days of 1970 where the data does not say."""
    return [
        session.at or EPOCH + timedelta(days=number)
        for number, session in enumerate(conversation.sessions)
    ]


@dataclass(kw_only=True, slots=True)
class _Examination:
    """One exam in progress."""

    exam: Exam
    budgets: Sequence[float]
    orders: Mapping[str, Order]
    progress: Progress | None
    questions: int
    asked: int = 0

    def examine(
        self, system: AgeingSystem, conversation: Conversation, questions: Sequence[Question]
    ) -> None:
        """Replay one conversation; ask each question once all was said that came before it."""
        accesses, exams = parted(self.exam.name, conversation, questions)
        needed = frozenset(turn for _, one in exams for turn in one.evidence)
        gone: dict[tuple[str, float, int], set[str]] = defaultdict(set)
        times = _times(conversation)
        for number in system.told(conversation):
            until = times[number] if number < len(times) else None
            while accesses and (until is None or accesses[0][0] < until):
                at, question = accesses.pop(0)
                self.exam.cited += system.cite(question, at)
                self.exam.accesses += 1
                self._count(1)
            due: list[tuple[datetime, Question]] = []
            while exams and (until is None or exams[0][0] < until):
                due.append(exams.pop(0))
            if due:
                self._ask(system, conversation, due, needed, gone)
                self._count(len(due))
        self.exam.derived += len(system.aged(conversation)[0])

    def _count(self, asked: int) -> None:
        self.asked += asked
        if self.progress:
            self.progress(self.exam.name, self.asked, self.questions)

    def _ask(
        self,
        system: AgeingSystem,
        conversation: Conversation,
        due: Sequence[tuple[datetime, Question]],
        needed: frozenset[str],
        gone: dict[tuple[str, float, int], set[str]],
    ) -> None:
        """Ask some questions of everything, and of what each policy has left at each budget.

        ``gone`` holds what a policy archived at an earlier time of the conversation; that stays so.
        """
        aged, turns, texts = system.aged(conversation)
        timeless = system.timeless(conversation, aged)
        exam, nothing = self.exam, frozenset[str]()
        # Policies that archived the same give the same answers, which are asked for once.
        answers = {
            nothing: [_answer(system, one, at, aged, turns, timeless, nothing) for at, one in due]
        }
        exam.answers[KEEP_ALL, 1.0] += answers[nothing]
        exam.kept[KEEP_ALL, 1.0].append(1.0)
        wanted = frozenset(key for key, one in turns.items() if not needed.isdisjoint(one))
        for (name, order), budget in product(self.orders.items(), self.budgets):
            rounds = []
            for seed in range(SEEDS if name == RANDOM else 1):
                archived = gone[name, budget, seed]
                left = aged.take(np.array([key not in archived for key in aged.keys], np.bool_))
                situation = Situation(
                    now=_microseconds(due[0][0]),
                    keep=round(budget * len(aged)),
                    needed=wanted,
                    texts=texts,
                    seed=seed,
                )
                archived.update(going(order, left, situation))
                same = frozenset(archived)
                if same not in answers:
                    run = f"{exam.name}/{name}/{budget}/{seed}/{due[0][1].id}"
                    system.archive(conversation, sorted(same), run)
                    answers[same] = [
                        _answer(system, one, at, aged, turns, timeless, same) for at, one in due
                    ]
                    system.undo(run)
                rounds.append(answers[same])
                exam.kept[name, budget].append(1 - len(same) / max(len(aged), 1))
            exam.answers[name, budget] += [_mean(one) for one in zip(*rounds, strict=True)]


def _answer(
    system: AgeingSystem,
    question: Question,
    at: datetime,
    aged: Aged,
    turns: Mapping[str, tuple[str, ...]],
    timeless: frozenset[str],
    archived: frozenset[str],
) -> Answer:
    figures: dict[str, float | None] = {}
    evidence = question.evidence.keys()
    for prefix, kinds in (("", None), (FACTS, DERIVED)):
        found = system.found(question, at, turns, kinds)
        ranking = tuple(dict.fromkeys(turn for one in found for turn in one.turns))
        read = {turn for one in within(found, BUDGET_TOKENS) for turn in one.turns}
        figures[prefix + RECALL] = len(evidence & set(ranking[:FIRST])) / len(evidence)
        figures[prefix + WITHIN_BUDGET] = len(evidence & read) / len(evidence)
        if not prefix:
            figures[CURRENT] = (
                float(leads(ranking, evidence, question.rivals)) if question.rivals else None
            )
    facts = [
        (key in archived, key in timeless)
        for key, status in zip(aged.keys, aged.status, strict=True)
        if status == "active" and not evidence.isdisjoint(turns[key])
    ]
    figures[WRONG] = _share([went for went, _ in facts])
    figures[WRONG_TIMELESS] = _share([went for went, one in facts if one])
    return Answer(question=question, figures={name: figures[name] for name in FIGURES})


def _microseconds(moment: datetime) -> int:
    """Since 1970 UTC."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def _mean(answers: Sequence[Answer]) -> Answer:
    """The mean of the same question over random orders."""
    figures: dict[str, float | None] = {}
    for name in FIGURES:
        known = [value for one in answers if (value := one.figures[name]) is not None]
        figures[name] = sum(known) / len(known) if known else None
    return Answer(question=answers[0].question, figures=figures)
