"""The data of an evaluation: conversations, their turns, and questions with known evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal

CorpusKind = Literal["dialogue", "documents"]
"""Turns that follow each other and are spoken, or texts that stand alone."""

APART = frozenset({"abstention", "adversarial"})
"""Categories reported by themselves and never pooled: their questions have no true answer, the
evidence is only the turn they were twisted from."""

CHAIN = "chain"
"""Category of questions answered by two turns said far apart, of which the first leads to the second:
reported by how often both are found."""

Label = Literal["answerable", "idle", "general", "foreign"]
"""The kind of a prompt: one that memories answer, a filler ("ok"), a question whose answer is no memory
("What is the capital of France?"), or a personal one about what nobody ever told."""

NO_ANSWER = "I don't know."
"""How a question was answered that is said to have been asked before."""

NAMED = 20
"""Conversations that are named to who asked for another one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One message of a conversation, or one document. Its id is known to the evaluation only."""

    id: str
    """Unique within its conversation."""
    text: str
    speaker: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """A note that a model made while reading a session."""

    text: str
    evidence: tuple[str, ...]
    """Ids of the turns it rests on."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the extraction prompt's answer, such as ``claims`` and ``ends``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """Turns said in one sitting."""

    id: str
    """Unique within its conversation."""
    turns: tuple[Turn, ...]
    at: datetime | None = None
    """When it began, timezone-aware; None when unknown."""
    observations: tuple[Observation, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """Sessions in order of time: what one search ranges over."""

    id: str
    sessions: tuple[Session, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn for session in self.sessions for turn in session.turns)

    @property
    def session_of(self) -> dict[str, str]:
        """Session id by turn id."""
        return {turn.id: session.id for session in self.sessions for turn in session.turns}


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question to one conversation and the turns that answer it."""

    id: str
    conversation: str
    text: str
    category: str
    evidence: Mapping[str, float]
    """Gain (> 0, usually 1) by id of a turn that exists in the conversation."""
    missing: tuple[str, ...] = ()
    """Evidence the data names that is not in the conversation: reported, never scored."""
    sessions: Mapping[str, float] | None = None
    """Gain by session id where the data judges sessions by themselves; else those of the turns."""
    at: datetime | None = None
    """When it is asked, timezone-aware; None: after the conversation."""
    before: tuple[Turn, ...] = ()
    """What was said before it in its own thread, which is not remembered."""
    label: Label | None = None
    """The kind of prompt, as the data says; None where it does not say."""
    rivals: tuple[str, ...] = ()
    """Turns that must not stand before the evidence: outdated ones, or ones about something else."""
    answers: tuple[str, ...] = ()
    """Right answers, any of which will do; none where the data does not say."""

    @property
    def prompt(self) -> Label | None:
        """The label; "answerable" for a question with evidence and a true answer; else None."""
        if self.label is None and self.evidence and self.category not in APART:
            return "answerable"
        return self.label

    @classmethod
    def resolve(
        cls,
        *,
        id: str,
        conversation: str,
        text: str,
        category: str,
        evidence: Mapping[str, float],
        turn_ids: AbstractSet[str],
        label: Label | None = None,
        rivals: tuple[str, ...] = (),
        answers: tuple[str, ...] = (),
    ) -> Question:
        """The question with its evidence parted into turns that exist and ids that do not."""
        return cls(
            id=id,
            conversation=conversation,
            text=text,
            category=category,
            evidence=MappingProxyType({k: v for k, v in evidence.items() if k in turn_ids}),
            missing=tuple(k for k in evidence if k not in turn_ids),
            label=label,
            rivals=rivals,
            answers=answers,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """A whole data set."""

    name: str
    kind: CorpusKind
    conversations: tuple[Conversation, ...]
    questions: tuple[Question, ...]
    tuning: frozenset[str] = frozenset()
    """Ids of the conversations constants may be chosen on; empty: nothing is held out."""
    isolated: bool = False
    """Whether each conversation is given to a system of its own, and that is closed before the
    next: many histories that have nothing to do with each other. Else one system has them all."""

    @property
    def scored(self) -> tuple[Question, ...]:
        """The questions with at least one existing piece of evidence."""
        return tuple(question for question in self.questions if question.evidence)

    @property
    def categories(self) -> tuple[str, ...]:
        """Names of the categories, sorted, the ones that are reported apart at the end."""
        names = {question.category for question in self.questions}
        return (*sorted(names - APART), *sorted(names & APART))

    def limited(self, count: int) -> Corpus:
        """The corpus with `count` of its questions, evenly spread over all of them."""
        picked = tuple(self.questions[i] for i in evenly(len(self.questions), count))
        return replace(self, questions=picked)

    def of_sessions(self) -> Corpus:
        """The corpus with sessions as evidence instead of turns."""
        by_id = {conversation.id: conversation for conversation in self.conversations}
        return replace(
            self,
            questions=tuple(
                replace(one, evidence=_sessions(one, by_id[one.conversation]))
                for one in self.questions
            ),
        )

    def asked_before(self) -> Corpus:
        """The corpus with every question asked once before, in a thread of its own, without success.

        These threads come after everything that was said. Fillers are not asked.
        """
        return replace(
            self,
            conversations=tuple(
                replace(one, sessions=(*one.sessions, *_asked_before(one, self.questions)))
                for one in self.conversations
            ),
        )

    def with_tuning(self, tuning: Sequence[str]) -> Corpus:
        """The corpus with other tuning conversations.

        Raises:
            ValueError: no such conversation.
        """
        known = sorted(conversation.id for conversation in self.conversations)
        if unknown := sorted(set(tuning) - set(known)):
            others = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
            raise ValueError(
                f"no conversation called {', '.join(unknown)} in {self.name}; "
                f"it has {', '.join(known[:NAMED])}{others}"
            )
        return replace(self, tuning=frozenset(tuning))


def evenly(total: int, count: int) -> list[int]:
    """`count` places, evenly spread over `total`; all where there are no more."""
    return [i * total // count for i in range(count)] if count < total else list(range(total))


def _asked_before(conversation: Conversation, questions: Sequence[Question]) -> Iterator[Session]:
    """A session for each question to a conversation: the question, and `NO_ANSWER`."""
    times = [session.at for session in conversation.sessions if session.at]
    at = max(times) + timedelta(hours=1) if times else None
    asked = (q for q in questions if q.conversation == conversation.id and q.label != "idle")
    for number, question in enumerate(asked):
        name = f"asked before {number}"
        yield Session(
            id=name,
            at=at,
            turns=(
                Turn(id=f"{name}.1", speaker="user", text=question.text),
                Turn(id=f"{name}.2", speaker="assistant", text=NO_ANSWER),
            ),
        )


def _sessions(question: Question, conversation: Conversation) -> Mapping[str, float]:
    if question.sessions is not None:
        return question.sessions
    session_of = conversation.session_of
    gains: dict[str, float] = {}
    for turn, gain in question.evidence.items():
        gains[session_of[turn]] = max(gain, gains.get(session_of[turn], 0.0))
    return MappingProxyType(gains)
