"""A person and an assistant: LongMemEval, where each question has a history of its own.

Wu et al. 2024, "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from langmemory.errors import ImportFormatError
from langmemory.parts.evals.corpus import Conversation, Corpus, Question, Session, Turn, evenly
from langmemory.parts.evals.loaders.plain import right_answers, samples

ABSTENTION = "_abs"
"""Ends the id of a question that its history does not answer."""


def load_longmemeval(path: Path, *, limit_questions: int | None = None) -> Corpus:
    """A list of questions, each with its `haystack_sessions`.

    A turn is evidence where it `has_answer`, a session where `answer_session_ids` names it. The
    first turn of session "s7" is "s7_1". Questions are asked at their `question_date`; those that
    cannot be answered are the category "abstention".

    Args:
        path: the file, whatever its name ends in.
        limit_questions: so many, evenly spread; the histories of the others are not held.
    """
    picked = None
    if limit_questions:
        picked = set(evenly(sum(1 for _ in samples(path)), limit_questions))
    conversations: list[Conversation] = []
    questions: list[Question] = []
    # The same sessions fill up many histories, and are held once.
    shared: dict[tuple[Turn, ...], tuple[Turn, ...]] = {}
    for number, sample in enumerate(samples(path)):
        if picked is not None and number not in picked:
            continue
        try:
            history = _History(sample)
            questions.append(history.question())
            conversations.append(history.conversation(shared))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ImportFormatError(
                f"{path.name}: question {sample.get('question_id', number)} is not "
                f"LongMemEval-shaped: {error!r}"
            ) from error
    return Corpus(
        name=path.stem,
        kind="dialogue",
        conversations=tuple(conversations),
        questions=tuple(questions),
        isolated=True,
    )


class _History:
    """One question and the sessions it is asked about."""

    def __init__(self, sample: Mapping[str, Any]) -> None:
        self._sample = sample
        self._id = str(sample["question_id"])
        sessions = sample["haystack_sessions"]
        times: Counter[str] = Counter()
        self._names = []
        for name in map(str, sample["haystack_session_ids"]):
            times[name] += 1
            self._names.append(name if times[name] == 1 else f"{name}#{times[name]}")
        dates = sample.get("haystack_dates") or [None] * len(sessions)
        self._sessions = list(zip(self._names, map(_time, dates), sessions, strict=True))

    def conversation(self, shared: dict[tuple[Turn, ...], tuple[Turn, ...]]) -> Conversation:
        """Its sessions in order of time, as far as that is known."""
        sessions = []
        for name, at, session in self._sessions:
            turns = tuple(
                Turn(id=f"{name}_{number}", speaker=turn["role"], text=turn["content"])
                for number, turn in enumerate(session, start=1)
            )
            sessions.append(Session(id=name, at=at, turns=shared.setdefault(turns, turns)))
        if all(session.at for session in sessions):
            sessions.sort(key=lambda session: session.at or datetime.min)
        return Conversation(id=self._id, sessions=tuple(sessions))

    def question(self) -> Question:
        answering = list(map(str, self._sample.get("answer_session_ids") or ()))
        there = {name: name.partition("#")[0] for name in self._names}
        return Question(
            id=self._id,
            conversation=self._id,
            text=self._sample["question"],
            category="abstention"
            if self._id.endswith(ABSTENTION)
            else str(self._sample["question_type"]),
            evidence=MappingProxyType(
                {
                    f"{name}_{number}": 1.0
                    for name, _, session in self._sessions
                    for number, turn in enumerate(session, start=1)
                    if turn.get("has_answer")
                }
            ),
            sessions=MappingProxyType(
                {name: 1.0 for name, given in there.items() if given in answering}
            ),
            missing=tuple(one for one in answering if one not in there),
            at=_time(self._sample.get("question_date")),
            answers=right_answers(self._sample),
        )


def _time(text: str | None) -> datetime | None:
    """ "2023/05/20 (Sat) 02:21", in UTC."""
    if not text:
        return None
    plain = re.sub(r"\s*\(\w*\)\s*", " ", text)
    return datetime.strptime(plain, "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
